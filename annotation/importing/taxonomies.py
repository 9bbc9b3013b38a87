"""The taxonomies that a file may name, and the words by which a dimension is known in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from annotation.models import Taxonomy
from dialogues.builtin import folded

_NAMED = re.compile(r"(?P<name>.*?)(?:(?:\s*[@:]\s*|\s+)v?(?P<version>\d+))?", re.IGNORECASE)


class Dim(NamedTuple):
    """A dimension as far as a score needs it."""

    pk: int
    key: str


class Words:
    """The dimensions of one taxonomy, by key or by name in either language."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        rows = list(taxonomy.dimensions.order_by("position"))
        self.dims = [Dim(row.pk, row.key) for row in rows]
        self.names = {row.key: [name for name in (row.name_en, row.name_zh) if name] for row in rows}
        self._by_word: dict[str, Dim] = {}
        self._asked: dict[str, Dim | None] = {}
        for row, dim in zip(rows, self.dims, strict=True):
            for word in (row.name_zh, row.name_en, row.key):
                if key := folded(word):
                    self._by_word[key] = dim

    def find(self, text: str) -> Dim | None:
        if text not in self._asked:  # a file writes the same few words on all its lines
            self._asked[text] = self._by_word.get(folded(text))
        return self._asked[text]

    def meant(self, text: str) -> str:
        """The key of the dimension that somebody who wrote ``text`` probably meant; empty without one."""
        close = difflib.get_close_matches(folded(text), list(self._by_word), n=1, cutoff=0.6)
        return self._by_word[close[0]].key if close else ""


class Taxonomies:
    """Every taxonomy by name and version, read when first asked for. ``default``: of rows that name none."""

    def __init__(self, default: Taxonomy) -> None:
        self.default = Words(default)
        self._read: dict[int, Words] = {default.pk: self.default}

    @cached_property
    def _all(self) -> list[Taxonomy]:
        return list(Taxonomy.objects.order_by("name", "version"))

    def of(self, name: str, version: str) -> Words | None:
        """The words of a taxonomy, of the newest version where none is named; None where there is none."""
        if not name:
            return self.default
        found = named(self._all, name, version)
        if found is None:
            return None
        return self._read.setdefault(found.pk, self._read.get(found.pk) or Words(found))

    def close(self, name: str) -> str:
        close = difflib.get_close_matches(name, [one.name for one in self._all], n=1, cutoff=0.6)
        return close[0] if close else ""


def named(taxonomies: Iterable[Taxonomy], name: str, version: str = "") -> Taxonomy | None:
    """The taxonomy called so: by name and version, or “name v2” in one; the newest without a version."""
    known = list(taxonomies)
    for wanted, number in dict.fromkeys(((name, version), _divided(name))):
        found = [one for one in known if one.name.casefold() == wanted.casefold()]
        if number:
            found = [one for one in found if str(one.version) == number]
        if found:
            return max(found, key=lambda one: one.version)
    return None


def _divided(name: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(name.strip())
    return (match["name"].strip(), match["version"] or "") if match else (name, "")
