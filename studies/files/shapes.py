"""Shapes of values in a YAML file. Each checks a node and says at which line and column what is wrong."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Protocol

import yaml
from django.utils.translation import gettext as _

from studies.characters import cleaned, refusal

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Problem:
    """What is wrong at a place, counted from 1. A hint (``is_error`` false) does not keep the file out."""

    line: int
    column: int
    key: str
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        where = f"{self.line}:{self.column}"
        return f"{where} {self.key}: {self.message}" if self.key else f"{where} {self.message}"


@dataclass(frozen=True)
class Checked:
    """A file as read: its values where nothing is wrong, else ``None``, and all that was found."""

    values: dict[str, Any] | None
    problems: list[Problem]

    @property
    def errors(self) -> list[Problem]:
        return [one for one in self.problems if one.is_error]


@dataclass
class Found:
    """The problems of one file while it is checked."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, node: yaml.Node, key: str, message: str, *, is_error: bool = True) -> None:
        mark = node.start_mark
        # Unknown keys and words are quoted, and a page cannot be sent with half a surrogate pair.
        self.problems.append(
            Problem(mark.line + 1, mark.column + 1, cleaned(key), cleaned(message), is_error)
        )


class Shape(Protocol):
    """``check`` gives the node's value; where it cannot, it has added a problem and the value is unused."""

    def check(self, node: yaml.Node, key: str, found: Found) -> Any: ...


def meant(word: str, known: Collection[str]) -> str:
    """The known word that was probably meant, as a sentence; else which there are, if few."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    if close:
        return _("Did you mean “%(word)s”?") % {"word": close[0]}
    return _("There are: %(known)s.") % {"known": ", ".join(known)} if 0 < len(known) <= 20 else ""


def _value(node: yaml.Node) -> Any:
    """A scalar as YAML reads it: text, whole number, number, yes or no, day, nothing. ``...`` if it can't."""
    if not isinstance(node, yaml.ScalarNode):
        return ...
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, yaml.YAMLError):
        return ...


def _called(node: yaml.Node) -> str:
    """What a node is, for people."""
    if isinstance(node, yaml.MappingNode):
        return _("a group of keys")
    if isinstance(node, yaml.SequenceNode):
        return _("a list")
    kinds = {
        "str": _("text"), "int": _("a whole number"), "float": _("a number"), "bool": _("yes or no"),
        "null": _("nothing"), "timestamp": _("a day"),
    }  # fmt: skip
    return kinds.get(node.tag.removeprefix(_TAG), node.tag)


def _wrong(node: yaml.Node, key: str, found: Found, wanted: str) -> None:
    found.add(
        node,
        key,
        _("This should be %(wanted)s, but is %(given)s.") % {"wanted": wanted, "given": _called(node)},
    )


def _listed(known: Collection[str] | Callable[[], Collection[str]]) -> Collection[str]:
    return known() if callable(known) else known


@dataclass(frozen=True)
class Text:
    """Text; one of ``known`` where given, of the form ``pattern`` where given (``form`` says it in words)."""

    most: int = 0
    known: Collection[str] | Callable[[], Collection[str]] = ()
    pattern: str = ""
    form: Any = ""
    blank: bool = True

    def check(self, node: yaml.Node, key: str, found: Found) -> str:
        value = _value(node)
        if not isinstance(value, str):
            if isinstance(node, yaml.ScalarNode) and value is not None and value is not ...:
                found.add(
                    node,
                    key,
                    _('This should be text. Put it in quotes: "%(text)s".') % {"text": node.value},
                )
            else:
                _wrong(node, key, found, _("text"))
            return ""
        if words := refusal(value):
            found.add(node, key, words)
            return cleaned(value)  # so that nothing is said of a text that seems to be missing
        if not value.strip():
            if not self.blank:
                found.add(node, key, _("This is empty."))
            return value
        known = _listed(self.known)
        if known and value not in known:
            words = _("“%(word)s” is not known here.") % {"word": value}
            found.add(node, key, f"{words} {meant(value, known)}".strip())
        if self.most and len(value) > self.most:
            found.add(
                node,
                key,
                _("This has %(n)s characters; %(most)s is the most.") % {"n": len(value), "most": self.most},
            )
        if self.pattern and not re.fullmatch(self.pattern, value):
            found.add(node, key, str(self.form))
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number within bounds."""

    least: int = 0
    most: int = 2**62

    def check(self, node: yaml.Node, key: str, found: Found) -> int:
        value = _value(node)
        if not isinstance(value, int) or isinstance(value, bool):
            _wrong(node, key, found, _("a whole number"))
            return 0
        _within(value, self.least, self.most, node, key, found)
        return value


@dataclass(frozen=True)
class Number:
    """A number within bounds; ``blank``: or nothing."""

    least: float
    most: float
    blank: bool = False

    def check(self, node: yaml.Node, key: str, found: Found) -> float | None:
        value = _value(node)
        if value is None and self.blank:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            _wrong(node, key, found, _("a number"))
            return 0
        _within(value, self.least, self.most, node, key, found)
        return float(value)


def _within(value: float, least: float, most: float, node: yaml.Node, key: str, found: Found) -> None:
    if not least <= value <= most:
        found.add(
            node,
            key,
            _("%(value)s lies outside of %(least)s to %(most)s.")
            % {"value": value, "least": least, "most": most},
        )


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def check(self, node: yaml.Node, key: str, found: Found) -> bool:
        value = _value(node)
        if not isinstance(value, bool):
            _wrong(node, key, found, _("true or false"))
            return False
        return value


@dataclass(frozen=True)
class Day:
    """A day, or nothing."""

    def check(self, node: yaml.Node, key: str, found: Found) -> date | None:
        value = _value(node)
        if value is None:
            return None
        if not isinstance(value, date) or isinstance(value, datetime):
            found.add(node, key, _("This should be a day, like 2027-03-31."))
            return None
        return value


@dataclass(frozen=True)
class Many:
    """A list. ``by`` names the key that tells entries apart; plain entries stand once each."""

    of: Shape
    least: int = 0
    by: str = ""

    def check(self, node: yaml.Node, key: str, found: Found) -> list[Any]:
        if not isinstance(node, yaml.SequenceNode):
            _wrong(node, key, found, _("a list"))
            return []
        if len(node.value) < self.least:
            found.add(node, key, _("This list needs an entry."))
        values: list[Any] = []
        seen: list[Any] = []
        for at, entry in enumerate(node.value):
            value = self.of.check(entry, f"{key}[{at + 1}]", found)
            mark = value.get(self.by) if self.by and isinstance(value, dict) else value
            if mark in seen and mark not in ("", None) and not isinstance(mark, list):
                found.add(entry, f"{key}[{at + 1}]", _("“%(word)s” stands here twice.") % {"word": mark})
            seen.append(mark)
            values.append(value)
        return values


@dataclass(frozen=True)
class Pairs:
    """A list of two texts each: a label or heading, and the words that go with it."""

    least: int = 1

    def check(self, node: yaml.Node, key: str, found: Found) -> list[list[str]]:
        if not isinstance(node, yaml.SequenceNode):
            _wrong(node, key, found, _("a list"))
            return []
        if len(node.value) < self.least:
            found.add(node, key, _("This list needs an entry."))
        values = []
        for at, entry in enumerate(node.value):
            place = f"{key}[{at + 1}]"
            if not isinstance(entry, yaml.SequenceNode) or len(entry.value) != 2:
                found.add(entry, place, _("This should be two texts: a heading and the words for it."))
                continue
            values.append([Text().check(one, place, found) for one in entry.value])
        return values


@dataclass(frozen=True)
class Words:
    """The same in English and Chinese. Missing Chinese is an error where ``both``, else a hint.

    ``fill``: a language that is not given counts as empty text.
    """

    most: int = 0
    both: bool = False
    blank: bool = False
    fill: bool = False

    def check(self, node: yaml.Node, key: str, found: Found) -> dict[str, str]:
        if not isinstance(node, yaml.MappingNode):
            found.add(node, key, _("This should have en and zh below it, one text each."))
            return {}
        shape = Text(self.most)
        values = Fields({}, {"en": shape, "zh": shape}).check(node, key, found)
        if not self.blank and not values.get("en", "").strip():
            found.add(node, key, _("English is missing (en)."))
        if values.get("en", "").strip() and not values.get("zh", "").strip():
            found.add(
                node,
                key,
                _("Chinese is missing (zh).")
                if self.both
                else _("Chinese is missing (zh): people who read Chinese would get the English."),
                is_error=self.both,
            )
        return {"en": "", "zh": "", **values} if self.fill else values


@dataclass(frozen=True)
class Fields:
    """Named values. Unknown keys are told with what was probably meant; ``lacking`` words a missing one."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)
    lacking: Callable[[str], str] | None = None

    def check(self, node: yaml.Node, key: str, found: Found) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            _wrong(node, key, found, _("a group of keys"))
            return {}
        shapes = {**self.required, **self.optional}
        values: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value) if isinstance(name_node, yaml.ScalarNode) else ""
            place = f"{key}.{name}" if key else name
            if name in values:
                found.add(name_node, place, _("This key stands here twice."))
            elif name not in shapes:
                words = _("There is no key “%(name)s” here.") % {"name": name}
                left = [one for one in shapes if one not in values]
                found.add(name_node, place, f"{words} {meant(name, left)}".strip())
            else:
                values[name] = shapes[name].check(value_node, place, found)
        for name in self.required:
            if name not in values:
                words = (
                    self.lacking(name)
                    if self.lacking
                    else _("The key “%(name)s” is missing.") % {"name": name}
                )
                found.add(node, key, words)
        return values
