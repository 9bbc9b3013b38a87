"""The rows of every rater's work: dialogues in the order of work with their answers, and their figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy

from annotation.models import AnnotationSettings
from annotation.rater_figures import NONE, Figures, Floats, Item, LeftOut, Sheet, figures_of, others_of
from annotation.rater_flags import Flag, flags_of
from annotation.reports.given import (
    PEOPLE,
    Dimension,
    columns_in,
    dimensions_of,
    taxonomy_of,
)
from annotation.reports.levels import numbered, together
from studies.reports import Basis, Heading, Options, Tables
from turingsite import stats

COLUMNS = {
    "scores": (
        "rater", "rater_kind", "dialogue", "dimension", "taxonomy", "taxonomy_version", "layer", "repeat",
        "purpose", "score", "evidence", "exclusion",
    ),
    "annotation_items": (
        "rater", "rater_kind", "dialogue", "batch", "position", "purpose", "layer", "repeat", "state",
        "active_seconds", "exclusion",
    ),
    "dialogues": ("dialogue", "language", "duration"),
    "reference_scores": (
        "dialogue", "dimension", "taxonomy", "taxonomy_version", "score", "evidence",
    ),
}  # fmt: skip
DATASETS = (
    "scores", "annotation_items", "dialogues", "annotation_settings", "dimensions", "annotators",
    "calibrations", "reference_scores",
)  # fmt: skip
RATER = Heading("rater", gettext_lazy("rater"), "text")
#: Purposes that show how somebody works.
COUNTED = ("work", "gold", "repeat")


@dataclass(frozen=True)
class Worker:
    """One rater. ``ordered``: the order of work is known, which scores from a file lack."""

    code: str
    figures: Figures
    flags: Sequence[Flag]
    gold: int
    ordered: bool


@dataclass(frozen=True)
class Work:
    workers: Sequence[Worker]
    dimensions: Sequence[Dimension]
    basis: Basis


def work(tables: Tables, options: Options) -> Work:
    """Figures and flags of every rater of the layer, of dialogues in the language asked for."""
    taxonomy = taxonomy_of(tables)
    dimensions = dimensions_of(tables, taxonomy)
    spoken = {
        row["dialogue"]: row["duration"]
        for row in tables["dialogues"]
        if options.language in ("", row["language"])
    }
    found = _Items(tables, options, spoken)
    answers = found.answers(tables, dimensions, taxonomy)
    codes = [one.dialogue for one in found.items]
    place, dialogues = numbered(codes)
    who, raters = numbered([one.rater for one in found.items])
    references = _references(tables, dimensions, taxonomy)
    items = tuple(
        Item(
            at, int(who[at]), int(place[at]), options.layer, one.purpose, one.repeat, one.analysed,
            one.seconds, spoken.get(one.dialogue), one.batch, None,
        )
        for at, one in enumerate(found.items)
    )  # fmt: skip
    known = {at: references[code] for at, code in enumerate(dialogues) if code in references}
    others = others_of(Sheet(items, answers, known))
    orders = _orders(tables, dimensions)
    limits = _limits(tables)
    workers = []
    for number, code in enumerate(raters):
        own = np.flatnonzero(who == number)
        left = {number: LeftOut(found.skipped[code], found.met[code])}
        sheet = Sheet(tuple(items[at] for at in own), answers[own], known, left)
        order = orders.get(code, list(range(len(dimensions))))
        figures = figures_of(sheet, number, others[own], order, deep=True)
        ordered = any(found.items[at].batch for at in own)
        if not ordered:
            figures = _without_order(figures)
        gold = len(sheet.of(number, ("gold",)))
        workers.append(Worker(code, figures, flags_of(figures, limits), gold, ordered))
    return Work(
        workers,
        dimensions,
        Basis(
            n=int((~np.isnan(answers)).sum()),
            persons=len(raters),
            dialogues=len(dialogues),
            of="scores",
        ),
    )


@dataclass(frozen=True)
class _Given:
    """A dialogue that a rater has finished."""

    rater: str
    dialogue: str
    purpose: str
    repeat: int
    batch: int
    position: int
    seconds: float
    analysed: bool


class _Items:
    """Finished dialogues of a layer, by batch and place in it; those that a file brought have neither.

    ``skipped``, ``met``: dialogues left out by rater, and those with all finished ones, for any purpose.
    """

    def __init__(self, tables: Tables, options: Options, spoken: Mapping[str, Any]) -> None:
        self._seen: set[tuple[str, str, int]] = set()
        self.skipped: Counter[str] = Counter()
        self.met: Counter[str] = Counter()
        found = []
        table = tables["annotation_items"]
        for row in zip(*(table.column(name) for name in COLUMNS["annotation_items"]), strict=True):
            rater, kind, dialogue, batch, position, purpose, layer, repeat, state, seconds, why = row
            self._seen.add((rater, dialogue, repeat))
            if (kind, layer) != (PEOPLE, options.layer) or dialogue not in spoken:
                continue
            self.skipped[rater] += state == "skipped"
            self.met[rater] += state in ("skipped", "finished")
            if state == "finished" and purpose in COUNTED:
                found.append(
                    _Given(rater, dialogue, purpose, repeat, batch, position, seconds or 0.0, not why)
                )
        self.layer = options.layer
        self.items = [*found, *self._brought(tables, spoken)]
        self.items.sort(key=lambda one: (one.rater, one.batch, one.position, one.dialogue, one.repeat))

    def _brought(self, tables: Tables, spoken: Mapping[str, Any]) -> Iterable[_Given]:
        """What stands in the scores without having been given here."""
        scores = tables["scores"]
        names = ("rater", "rater_kind", "dialogue", "layer", "repeat", "purpose", "exclusion")
        rows = dict.fromkeys(zip(*(scores.column(name) for name in names), strict=True))
        for rater, kind, dialogue, layer, repeat, purpose, why in rows:
            key = (rater, dialogue, repeat)
            if kind != PEOPLE or layer != self.layer or key in self._seen or dialogue not in spoken:
                continue
            purpose = purpose or ("repeat" if repeat else "work")
            if purpose in COUNTED:
                self._seen.add(key)
                yield _Given(rater, dialogue, purpose, repeat, 0, 0, 0.0, not why)

    def answers(self, tables: Tables, dimensions: Sequence[Dimension], taxonomy: Any) -> Floats:
        """Items × dimensions: the scores, 0 without evidence, NaN unanswered."""
        scores = tables["scores"]
        names = ("rater", "dialogue", "repeat", "layer", "taxonomy", "taxonomy_version")
        number, known = together([scores.column(name) for name in names])
        line = {(one.rater, one.dialogue, one.repeat): at for at, one in enumerate(self.items)}
        lines = np.array(
            [
                line.get((rater, dialogue, repeat), -1) if (layer, of) == (self.layer, taxonomy) else -1
                for rater, dialogue, repeat, layer, *version in known
                for of in [tuple(version)]
            ],
            dtype=np.intp,
        )[number]
        column = columns_in(scores.column("dimension"), dimensions)
        evidence = np.array(scores.column("evidence"), dtype=np.bool_)
        value = np.where(evidence, np.array(scores.column("score"), dtype=np.float64), NONE)
        kept = (lines >= 0) & (column >= 0)
        found = np.full((len(self.items), len(dimensions)), np.nan)
        found[lines[kept], column[kept]] = value[kept]
        return found


def _references(tables: Tables, dimensions: Sequence[Dimension], taxonomy: Any) -> dict[str, Floats]:
    """Known scores by dialogue, NaN where there is no evidence or nothing is known."""
    column = {one.key: at for at, one in enumerate(dimensions)}
    found: dict[str, Floats] = defaultdict(lambda: np.full(len(dimensions), np.nan))
    for row in tables["reference_scores"]:
        if row["evidence"] and (row["taxonomy"], row["taxonomy_version"]) == taxonomy:
            found[row["dialogue"]][column[row["dimension"]]] = row["score"]
    return dict(found)


def _orders(tables: Tables, dimensions: Sequence[Dimension]) -> dict[str, list[int]]:
    """Places of the dimensions as each person met them, by their own order of categories."""
    found = {}
    for row in tables["annotators"]:
        place = {key: at for at, key in enumerate(row["category_order"] or ())}
        found[row["participant"]] = sorted(
            range(len(dimensions)), key=lambda at: (place.get(dimensions[at].category, len(place)), at)
        )
    return found


def _limits(tables: Tables) -> AnnotationSettings:
    """The limits of calibration, which two of the flags go by. Nothing is read from the database."""
    names = ("calibration_difference", "calibration_clear")
    own = {name: row[name] for row in tables["annotation_settings"] for name in names}
    return AnnotationSettings(**own)


def _without_order(figures: Figures) -> Figures:
    """Figures of somebody whose order of work is not known."""
    return replace(
        figures,
        straight=replace(figures.straight, longest_run=None),
        drift=stats.Estimate(None, figures.drift.n, lack="no_data"),
    )
