"""What the script can say and hear in a language: its file, with patterns compiled and lines filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from games.group.agent.filter import is_said, letters
from games.group.agent.view import View

#: Lines by purpose, as "deny" or "ask".
Lines = Mapping[str, Sequence[str]]

_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Topic:
    when: re.Pattern[str]
    lines: Lines


@dataclass(frozen=True)
class Talk:
    """One language. ``said``: lines by what was heard; ``topics``: by what it was about."""

    language: str
    facts: Mapping[str, Sequence[str]]  # what the agent makes up of itself
    suspect: re.Pattern[str]
    unsure: re.Pattern[str]
    question: re.Pattern[str]
    you: re.Pattern[str]
    stop: frozenset[str]
    heard: Sequence[tuple[str, re.Pattern[str]]]
    said: Mapping[str, Lines]
    topics: Sequence[Topic]

    def every_line(self) -> list[str]:
        """All it could ever say, places not filled in."""
        groups = [*self.said.values(), *(topic.lines for topic in self.topics)]
        return [line for group in groups for lines in group.values() for line in lines]


@cache
def talk_in(language: str) -> Talk:
    """The talk of a room's language; English where it has none of its own."""
    folder = Path(__file__).parent
    path = folder / f"{language}.yaml"
    with (path if path.exists() else folder / "en.yaml").open(encoding="utf-8") as file:
        body: dict[str, Any] = yaml.safe_load(file)
    always = {name: body[name] for name in ("question", "statement", "topic", "silence")}
    return Talk(
        language=language,
        facts=body["self"],
        suspect=re.compile(body["suspect"]),
        unsure=re.compile(body["unsure"]),
        question=re.compile(body["asks"]),
        you=re.compile(body["you"]),
        stop=frozenset(body["stop"]),
        heard=[(key, re.compile(when)) for key, when in body["heard"]],
        said={**body["said"], **always},
        topics=[
            Topic(re.compile(topic.pop("when")), topic) for topic in (dict(one) for one in body["topics"])
        ],
    )


class Mouth:
    """Picks lines for one view: filled in, in this agent's manner, none that it has used before."""

    def __init__(self, view: View, talk: Talk) -> None:
        self.view = view
        self.facts = {
            name: view.chance("self", name).choice(list(values)) for name, values in talk.facts.items()
        }
        self.capital = talk.language == "en" and view.chance("manner").random() < 0.4
        self._own = [line.text for line in view.own]

    def pick(self, lines: Sequence[str], names: Mapping[str, str], chance: Random) -> str:
        """One of the lines that is new and can be filled in; empty where there is none left."""
        order = list(lines)
        chance.shuffle(order)
        for line in order:
            if any(not self._value(place, names) for place in _PLACE.findall(line)) or self._used(line):
                continue
            text = _PLACE.sub(lambda match: self._value(match[1], names), line)
            if not is_said(text, (said.text for said in self.view.said)):
                return text[:1].upper() + text[1:] if self.capital else text
        return ""

    def _value(self, place: str, names: Mapping[str, str]) -> str:
        return names.get(place, "") or self.facts.get(place, "")

    def _used(self, line: str) -> bool:
        shape = _shape(line)
        return shape is not None and any(shape.fullmatch(letters(text)) for text in self._own)


@cache
def _shape(line: str) -> re.Pattern[str] | None:
    """The line in letters alone, whatever fills its places; None where it has no words of its own."""
    parts = [letters(part) for part in _PLACE.split(line)[::2]]
    return re.compile(".*".join(map(re.escape, parts))) if any(parts) else None
