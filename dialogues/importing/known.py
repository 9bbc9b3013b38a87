"""Match names in a manifest with known systems, topics and strategies, in the database or built in."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import Any

from django.utils.text import slugify

from dialogues import builtin
from dialogues.builtin import folded
from dialogues.models import Speaker, Strategy, System, Topic


class Known:
    """A look-up table made once per import; ``refresh`` after something was added."""

    def __init__(self) -> None:
        self.newcomers: dict[str, Speaker] = {}  # code → a speaker whom a row brings, as it would be stored
        self.refresh()

    def refresh(self) -> None:
        self._systems: dict[str, dict[str, Any]] = {}
        for entry in builtin.systems():
            self._add(self._systems, entry, entry["code"], entry["name"], *entry["aliases"])
        for system in System.objects.all():
            self._add(self._systems, _fields(system), system.code, system.name, *system.aliases)
        self._topics: dict[str, dict[str, Any]] = {}
        for entry in builtin.topics():
            self._add(
                self._topics, entry, entry["code"], entry["label_en"], entry["label_zh"], *entry["aliases"]
            )
        for topic in Topic.objects.all():
            entry = {"code": topic.code, "label_en": topic.label_en, "label_zh": topic.label_zh}
            self._add(self._topics, entry, topic.code, topic.label_en, topic.label_zh)
        self.strategies = {entry["code"]: entry for entry in builtin.strategies()}
        for strategy in Strategy.objects.all():
            self.strategies[strategy.code] = {"code": strategy.code}

    @staticmethod
    def _add(table: dict[str, dict[str, Any]], entry: dict[str, Any], *names: str) -> None:
        for name in names:
            if key := folded(name):
                table[key] = entry

    def system(self, name: str) -> dict[str, Any] | None:
        return self._systems.get(folded(name))

    def topic(self, name: str) -> dict[str, Any] | None:
        return self._topics.get(folded(name))

    def close_systems(self, name: str) -> list[str]:
        """Up to three known systems whose names are like ``name``."""
        keys = difflib.get_close_matches(folded(name), list(self._systems), n=6, cutoff=0.6)
        return list(dict.fromkeys(self._systems[key]["name"] for key in keys))[:3]


def _fields(system: System) -> dict[str, Any]:
    return {"code": system.code, "name": system.name, "languages": system.languages, "role": system.role}


def new_code(name: str, *, taken: Any) -> str:
    """A code for something new called ``name``: ASCII where it can be, unique by ``taken(code) -> bool``."""
    plain = unicodedata.normalize("NFKC", name).strip()
    # Chinese names have no ASCII form: their code points tell them apart and stay stable
    stem = slugify(plain)[:50] or "u" + "-".join(f"{ord(c):x}" for c in re.sub(r"\s", "", plain)[:8])
    code, number = stem, 2
    while taken(code):
        code, number = f"{stem}-{number}", number + 1
    return code
