"""Tidy rows by hand, as reports are given them: no database, every number in sight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.reports import Options, ReportResult
from studies.tables import Table

WORDS = {"rhythm": "节奏", "accent": "口音", "stress": "重音"}


class Rows:
    """Dialogues, scores, choices; every dimension of ``dimensions`` is in the taxonomy."""

    def __init__(self, dimensions: tuple[str, ...] = ("rhythm", "accent"), raters: int = 3) -> None:
        self.scores: list[dict[str, Any]] = []
        self.items: list[dict[str, Any]] = []
        self.dialogues: list[dict[str, Any]] = []
        self.systems = [{"system": "parrot", "name": "Parrot"}, {"system": "mynah", "name": "Mynah"}]
        self.settings = [{"taxonomy": "own", "taxonomy_version": 1, "raters": raters, "expert_raters": 2}]
        self.dimensions = [
            {
                "taxonomy": "own", "taxonomy_version": 1, "dimension": key, "position": place,
                "category": "voice", "category_en": "Voice", "category_zh": "声音",
                "name_en": key.capitalize(), "name_zh": WORDS.get(key, key),
            }
            for place, key in enumerate(dimensions, 1)
        ]  # fmt: skip

    def dialogue(
        self, code: str, kind: str = "human_human", *, system: str = "", language: str = "en"
    ) -> None:
        self.dialogues.append({"dialogue": code, "kind": kind, "system": system, "language": language})

    def score(self, rater: str, dialogue: str, dimension: str, value: int | None, **more: Any) -> None:
        """``value`` None: no evidence."""
        self.scores.append(
            {
                "rater": rater, "rater_kind": "participant", "dialogue": dialogue, "dimension": dimension,
                "taxonomy": "own", "taxonomy_version": 1, "layer": "raw", "repeat": 0, "purpose": "work",
                "score": value or 3, "evidence": value is not None, "exclusion": "",
            }
            | more
        )  # fmt: skip

    def choice(self, rater: str, dialogue: str, choice: str, **more: Any) -> None:
        self.items.append(
            {
                "rater": rater, "rater_kind": "participant", "dialogue": dialogue, "layer": "raw",
                "repeat": 0, "purpose": "work", "choice": choice, "exclusion": "",
            }
            | more
        )  # fmt: skip

    @property
    def tables(self) -> Mapping[str, Table]:
        return {
            "scores": Table.of(self.scores),
            "annotation_items": Table.of(self.items),
            "dialogues": Table.of(self.dialogues),
            "systems": Table.of(self.systems),
            "annotation_settings": Table.of(self.settings),
            "dimensions": Table.of(self.dimensions),
        }

    def report(self, build: Any, layer: str = "raw", language: str = "") -> ReportResult:
        result = build(self.tables, study="by-hand", options=Options(layer=layer, language=language))
        assert isinstance(result, ReportResult)
        return result


def rows_of(result: ReportResult, table: str) -> list[Mapping[str, Any]]:
    """The rows of a table, the notes in words."""
    (found,) = (one for one in result.tables if one.key == table)
    return list(found.rows)


def row_of(result: ReportResult, table: str, **wanted: Any) -> Mapping[str, Any]:
    (found,) = (
        row for row in rows_of(result, table) if all(row.get(name) == value for name, value in wanted.items())
    )
    return found
