"""Scores of people as arrays: one row for a rater's scores of a dialogue, one column for each dimension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.models import Layer
from annotation.reports.levels import Mask, Numbers, equal, numbered, together
from dialogues.models import Kind
from studies.reports import Basis, Options, Tables
from studies.tables import Table
from studies.texts import pick

#: What is read of the tables.
COLUMNS = {
    "scores": (
        "rater", "rater_kind", "dialogue", "dimension", "taxonomy", "taxonomy_version", "layer", "repeat",
        "purpose", "score", "evidence", "exclusion",
    ),
    "dialogues": ("dialogue", "kind", "system", "language"),
    "annotation_settings": ("taxonomy", "taxonomy_version", "raters", "expert_raters"),
    "dimensions": (
        "taxonomy", "taxonomy_version", "dimension", "position", "category", "category_en", "category_zh",
        "name_en", "name_zh",
    ),
    "annotation_items": (
        "rater", "rater_kind", "dialogue", "layer", "repeat", "purpose", "choice", "exclusion",
    ),
}  # fmt: skip
DATASETS = ("scores", "dialogues", "annotation_settings", "dimensions", "systems")
#: Purposes of ordinary work; files may not say what for.
ORDINARY = ("work", "")
PEOPLE = "participant"
DEFAULT_RATERS = 3

Floats = NDArray[np.float64]


class Dimension(NamedTuple):
    """A column of the scores, with its words in the reader's language."""

    key: str
    name: str
    category: str
    category_name: str


class About(NamedTuple):
    """What is known of a dialogue; ``kind`` is empty where it is in the study no longer."""

    kind: str
    system: str
    language: str


@dataclass(frozen=True)
class Labels:
    """Scores of one layer. ``rater`` and ``dialogue`` are one number for each row, ``published`` and
    ``evidence`` rows × dimensions: 3, or NaN, where there is no evidence; NaN where there is no score.

    Rows stand by dialogue, then by rater, so that a seeded bootstrap draws the same from an export.
    """

    rater: Numbers
    dialogue: Numbers
    published: Floats
    evidence: Floats

    def where(self, mask: Mask) -> Labels:
        """Only the rows of the mask."""
        return Labels(self.rater[mask], self.dialogue[mask], self.published[mask], self.evidence[mask])

    @property
    def none(self) -> Floats:
        """1 where there is no evidence, 0 where there is; NaN where there is no score."""
        return np.where(np.isnan(self.published), np.nan, np.isnan(self.evidence).astype(np.float64))

    def slots(self, scores: Floats) -> Floats:
        """``scores`` (rows × dimensions) as dialogues × the first, second … rater × dimensions."""
        unit = np.unique(self.dialogue, return_inverse=True)[1]
        sizes = np.bincount(unit)
        slot = np.arange(unit.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        array = np.full((sizes.size, int(sizes.max(initial=0)), scores.shape[1]), np.nan)
        array[unit, slot] = scores
        return array

    def by_rater(self, scores: Floats) -> Floats:
        """``scores`` (rows × dimensions) as dialogues × raters × dimensions."""
        units, unit = np.unique(self.dialogue, return_inverse=True)
        raters, rater = np.unique(self.rater, return_inverse=True)
        array = np.full((units.size, raters.size, scores.shape[1]), np.nan)
        array[unit, rater] = scores
        return array


@dataclass(frozen=True)
class Given:
    """What a report works on: labels of the layer it reads, all layers there are, what both rest on.

    ``raters`` and ``dialogues`` are codes by number, ``about`` is known of each dialogue. ``k``: raters that
    a dialogue of the layer gets.
    """

    labels: Labels
    layers: Mapping[str, Labels]
    dimensions: tuple[Dimension, ...]
    raters: Sequence[str]
    dialogues: Sequence[str]
    about: Sequence[About]
    basis: Basis
    k: int

    @property
    def names(self) -> dict[str, str]:
        """Words of the dimensions by key."""
        return {one.key: one.name for one in self.dimensions}

    @property
    def is_human(self) -> Mask:
        """By dialogue."""
        return np.array([one.kind == Kind.HUMAN_HUMAN for one in self.about], dtype=np.bool_)

    @property
    def is_machine(self) -> Mask:
        """By dialogue; a pseudo-human speaker is a machine."""
        kinds = (Kind.HUMAN_MACHINE, Kind.PSEUDO_HUMAN)
        return np.array([one.kind in kinds for one in self.about], dtype=np.bool_)


def given(tables: Tables, options: Options, layer: str = "") -> Given:
    """Scores of people in ordinary work, of the language asked for. ``layer``: in place of the option's."""
    scores = tables["scores"]
    layer = layer or options.layer
    dialogue, dialogues = numbered(scores.column("dialogue"))
    rater, raters = numbered(scores.column("rater"))
    known = {row["dialogue"]: _about(row) for row in tables["dialogues"]}
    about = [known.get(code, About("", "", "")) for code in dialogues]
    taxonomy = taxonomy_of(tables)
    dimensions = dimensions_of(tables, taxonomy)
    inside = equal(scores.column("rater_kind"), PEOPLE)
    if options.language:
        spoken = np.array([one.language == options.language for one in about], dtype=np.bool_)
        inside &= spoken[dialogue]
    why, reasons = _reasons(scores, taxonomy)
    ordinary = inside & np.array([not reason for reason in reasons], dtype=np.bool_)[why]
    column = columns_in(scores.column("dimension"), dimensions)
    value = np.array(scores.column("score"), dtype=np.float64)
    evidence = np.array(scores.column("evidence"), dtype=np.bool_)
    found = {}
    in_layer = np.zeros(len(scores), dtype=np.bool_)
    for name in Layer.values:
        of_it = equal(scores.column("layer"), name)
        if name == layer:
            in_layer = inside & of_it
        kept = ordinary & of_it & (column >= 0)
        if kept.any() or name == layer:
            found[name] = _labels(
                rater[kept], dialogue[kept], column[kept], value[kept], evidence[kept], len(dimensions)
            )
    labels = found[layer]
    left_out: Counter[str] = Counter()
    for number, n in enumerate(np.bincount(why[in_layer & ~ordinary], minlength=len(reasons)).tolist()):
        left_out[reasons[number]] += n
    return Given(
        labels=labels,
        layers=found,
        dimensions=dimensions,
        raters=raters,
        dialogues=dialogues,
        about=about,
        basis=Basis(
            n=int((~np.isnan(labels.published)).sum()),
            persons=np.unique(labels.rater).size,
            dialogues=np.unique(labels.dialogue).size,
            excluded={reason: n for reason, n in sorted(left_out.items()) if n},
            excluded_total=left_out.total(),
            of="scores",
        ),
        k=_raters_per_dialogue(tables, layer),
    )


def choices(tables: Tables, data: Given, layer: str) -> Floats:
    """What each row's rater chose in the end: 1 human, 0 machine; NaN where there is no choice.

    Rows of ``data.labels``. ``layer``: the blind one that the choices were made in.
    """
    items = tables["annotation_items"]
    rows = zip(*(items.column(name) for name in COLUMNS["annotation_items"]), strict=True)
    made = {
        (rater, dialogue): float(choice == "human")
        for rater, kind, dialogue, of, repeat, purpose, choice, why in rows
        if kind == PEOPLE and of == layer and not repeat and purpose in ORDINARY and choice and not why
    }
    pairs = zip(data.labels.rater.tolist(), data.labels.dialogue.tolist(), strict=True)
    return np.array(
        [made.get((data.raters[r], data.dialogues[d]), np.nan) for r, d in pairs], dtype=np.float64
    )


def dimensions_of(tables: Tables, taxonomy: tuple[str, int] | None) -> tuple[Dimension, ...]:
    """The dimensions of a taxonomy in its order, in the reader's language."""
    rows = [row for row in tables["dimensions"] if (row["taxonomy"], row["taxonomy_version"]) == taxonomy]
    return tuple(
        Dimension(
            row["dimension"],
            pick({"en": row["name_en"], "zh": row["name_zh"]}),
            row["category"],
            pick({"en": row["category_en"], "zh": row["category_zh"]}),
        )
        for row in sorted(rows, key=lambda row: row["position"])
    )


def columns_in(keys: Sequence[str], dimensions: Sequence[Dimension]) -> Numbers:
    """The place of each key among the dimensions; −1 where it is none of them."""
    number, levels = numbered(keys)
    place = {one.key: at for at, one in enumerate(dimensions)}
    places: Numbers = np.array([place.get(level, -1) for level in levels], dtype=np.intp)[number]
    return places


def _about(row: Mapping[str, Any]) -> About:
    return About(str(row["kind"]), str(row["system"] or ""), str(row["language"]))


def taxonomy_of(tables: Tables) -> tuple[str, int] | None:
    """By which taxonomy and version the study scores: that of its settings, else of most of its scores.

    Scores by another one stay apart: a dimension of the same name need not mean the same.
    """
    scores = tables["scores"]
    used = Counter(zip(scores.column("taxonomy"), scores.column("taxonomy_version"), strict=True))
    for row in tables["annotation_settings"]:
        own = (row["taxonomy"], row["taxonomy_version"])
        if own in used or not used:
            return own
    return max(used, key=lambda one: (used[one], one)) if used else None


def _reasons(scores: Table, taxonomy: tuple[str, int] | None) -> tuple[Numbers, list[str]]:
    """Why each score is in no layer, empty where it is: stored, or what else it was scored for; by number."""
    columns = ("exclusion", "purpose", "repeat", "taxonomy", "taxonomy_version")
    kinds, known = together([scores.column(name) for name in columns])
    reasons = []
    for stored, purpose, repeat, *of in known:
        other = "repeat" if repeat else "" if tuple(of) == taxonomy else "taxonomy"
        reasons.append(str(stored or (purpose if purpose not in ORDINARY else other)))
    return kinds, reasons


def _labels(
    rater: Numbers, dialogue: Numbers, column: Numbers, value: Floats, evidence: Mask, width: int
) -> Labels:
    wide = int(rater.max(initial=-1)) + 1
    keys, row = np.unique(dialogue * wide + rater, return_inverse=True)
    published, heard = np.full((keys.size, width), np.nan), np.full((keys.size, width), np.nan)
    published[row, column] = value
    heard[row, column] = np.where(evidence, value, np.nan)
    return Labels(keys % max(1, wide), keys // max(1, wide), published, heard)


def _raters_per_dialogue(tables: Tables, layer: str) -> int:
    column = "expert_raters" if layer == Layer.BLIND_EXPERT else "raters"
    return next((int(row[column]) for row in tables["annotation_settings"]), DEFAULT_RATERS)
