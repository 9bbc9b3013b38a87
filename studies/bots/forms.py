"""Forms of a page, read with the standard library: which fields they have and what a browser would send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Field:
    """One control. Radios and boxes have one ``Field`` each, so a name may come several times."""

    name: str
    kind: str
    value: str = ""
    checked: bool = False
    required: bool = False


@dataclass
class Form:
    action: str
    method: str
    fields: list[Field] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return {one.name for one in self.fields}

    def options(self, name: str) -> list[str]:
        """What may be chosen for ``name``, in order."""
        return [one.value for one in self.fields if one.name == name]

    def groups(self) -> list[str]:
        """Names of the radio groups, in order."""
        return list(dict.fromkeys(one.name for one in self.fields if one.kind == "radio"))

    def boxes(self) -> list[Field]:
        return [one for one in self.fields if one.kind == "checkbox"]

    def filled(self, values: Mapping[str, str | list[str]], button: str = "") -> list[tuple[str, str]]:
        """What a browser sends: ``values`` instead of what is there, and ``button`` or the first one."""
        pairs: list[tuple[str, str]] = []
        for one in self.fields:
            if one.kind in ("submit", "button") or one.name in values:
                continue
            if one.kind in ("radio", "checkbox") and not one.checked:
                continue
            pairs.append((one.name, one.value))
        for name, value in values.items():
            pairs += [(name, item) for item in ([value] if isinstance(value, str) else value)]
        pressed = button or next(
            (f"{one.name}={one.value}" for one in self.fields if one.kind == "submit"), ""
        )
        name, _, value = pressed.partition("=")
        if name and name not in values:
            pairs.append((name, value))
        return pairs

    def buttons(self) -> list[str]:
        """The named buttons, as "name=value", in order."""
        return [f"{one.name}={one.value}" for one in self.fields if one.kind == "submit" and one.name]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open: Form | None = None
        self._select: Field | None = None
        self._text: Field | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(at.get("action", ""), at.get("method", "get").lower())
            self.forms.append(self._open)
        if self._open is None:
            return
        name, required = at.get("name", ""), "required" in at
        if tag == "input" and name and at.get("type") != "submit":
            kind = at.get("type", "text")
            default = "on" if kind == "checkbox" else ""
            self._open.fields.append(Field(name, kind, at.get("value", default), "checked" in at, required))
        elif tag == "button" or (tag == "input" and at.get("type") == "submit"):
            if at.get("type", "submit") == "submit":
                self._open.fields.append(Field(name, "submit", at.get("value", "")))
        elif tag == "textarea" and name:
            self._text = Field(name, "textarea", required=required)
            self._open.fields.append(self._text)
        elif tag == "select" and name:
            self._select = Field(name, "select", required=required)
            self._open.fields.append(self._select)
        elif tag == "option" and self._select is not None and ("selected" in at or not self._select.value):
            self._select.value = at.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select":
            self._select = None
        elif tag == "textarea":
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.value += data


def read_forms(html: str) -> list[Form]:
    """Every form of the page, in order."""
    reader = _Reader()
    reader.feed(html)
    return reader.forms
