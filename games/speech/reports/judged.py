"""Verdicts of people in the speech game joined with what was judged, as arrays of one entry per verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogues import analysis_sets
from dialogues.models import Choice, Kind
from games.speech.reports import names
from studies.reports import Basis, Options, Tables
from turingsite.stats.arrays import clusters

ACTIVITY = "speech"
KINDS: tuple[tuple[str, str], ...] = (
    ("H-H", Kind.HUMAN_HUMAN),
    ("H-M", Kind.HUMAN_MACHINE),
    ("PH", Kind.PSEUDO_HUMAN),
)
#: The rule under which a dialogue is flagged where B says what it is.
LEAK = "identity-disclosure"
#: What is read of the large tables.
COLUMNS = {
    "verdicts": (
        "rater",
        "rater_kind",
        "dialogue",
        "activity",
        *analysis_sets.COLUMNS,
        "length",
        "given_at",
    ),
    "dialogues": (
        *("dialogue", "kind", "system", "language", "topic", "strategy", "origin", "duration"),
        *names.COLUMNS,
    ),
    "participants": ("participant", "source"),
}

Mask = NDArray[np.bool_]
Numbers = NDArray[np.intp]


class Labels:
    """A word for every verdict, kept as the number of its level: numbers compare many times faster."""

    __slots__ = ("levels", "numbers")

    def __init__(self, numbers: Numbers, levels: Sequence[str]) -> None:
        self.numbers, self.levels = numbers, levels

    @classmethod
    def of(cls, words: Iterable[Any], place: Numbers) -> Labels:
        """From the words of dialogues or people, and which of these each verdict has; nothing is ""."""
        numbers, levels = _numbered([str(word or "") for word in words])
        return cls(numbers[place], levels)

    def __eq__(self, word: object) -> Mask:  # type: ignore[override]
        if word not in self.levels:
            return np.zeros(self.numbers.size, dtype=np.bool_)
        same: Mask = self.numbers == self.levels.index(str(word))
        return same

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, which: Mask | Numbers) -> Labels:
        return Labels(self.numbers[which], self.levels)

    def tolist(self) -> list[str]:
        return [self.levels[number] for number in self.numbers.tolist()]

    def among(self, mask: Mask) -> list[str]:
        """The words that verdicts of the mask have, sorted."""
        counted = np.bincount(self.numbers[mask], minlength=len(self.levels))
        return sorted(word for word, n in zip(self.levels, counted.tolist(), strict=True) if n)


@dataclass(frozen=True)
class Judged:
    """One entry per verdict in every array. ``human`` and ``correct`` are 0 or 1, ``given_at`` is in seconds.
    ``raters`` are the people's codes by their numbers in ``person``."""

    raters: Sequence[str]
    person: Numbers
    dialogue: Numbers
    human: NDArray[np.float64]
    correct: NDArray[np.float64]
    is_human: Mask
    kind: Labels
    language: Labels
    system: Labels
    strategy: Labels
    topic: Labels
    origin: Labels
    source: Labels
    length: NDArray[np.float64]
    round_number: Numbers
    rounds_played: Numbers
    given_at: NDArray[np.float64]
    leaks: Mask

    @property
    def n(self) -> int:
        return int(self.person.size)

    def where(self, mask: Mask) -> Judged:
        """Only the verdicts of the mask."""
        if mask.all():
            return self
        at = np.flatnonzero(mask)  # found once, not in each array anew
        arrays = {one.name: getattr(self, one.name)[at] for one in fields(self) if one.name != "raters"}
        return Judged(raters=self.raters, **arrays)

    @property
    def all(self) -> Mask:
        return np.ones(self.n, dtype=bool)


@dataclass(frozen=True)
class Given:
    """What a report of the game works on: its set, the set ``published`` beside it, and what both rest on."""

    judged: Judged
    published: Judged | None
    basis: Basis
    languages: tuple[str, ...]
    names: Mapping[str, str]  # of strategies and topics, by code


def given(tables: Tables, options: Options, *, with_published: bool = False) -> Given:
    """Verdicts of the chosen set and language; on request the set ``published`` to stand beside it.

    ``published`` is ``None`` where it is the chosen set, or not asked for.
    """
    verdicts = tables["verdicts"]
    everything, inside = _joined(tables), np.ones(len(verdicts), dtype=np.bool_)
    for column, only in (("activity", ACTIVITY), ("rater_kind", "participant")):
        inside &= analysis_sets.equal(verdicts.column(column), only)
    if options.language:
        inside &= everything.language == options.language
    everything = _with_rounds_played(everything, inside)
    sets = analysis_sets.Sets(verdicts, inside)
    chosen = sets.select(options.analysis_set)
    judged = everything.where(chosen.kept)
    published = None
    if with_published and options.analysis_set != "published":
        published = everything.where(sets.select("published").kept)
    language = dict(
        zip(tables["dialogues"].column("dialogue"), tables["dialogues"].column("language"), strict=True)
    )
    used = {language[code] for code in tables["items"].column("dialogue") if code in language}
    languages = sorted(used | set(everything.language.among(inside)))
    return Given(
        judged=judged,
        published=published,
        basis=Basis(
            n=judged.n,
            persons=clusters(judged.person),
            dialogues=clusters(judged.dialogue),
            excluded=chosen.excluded,
            excluded_total=chosen.excluded_total,
        ),
        languages=(options.language,) if options.language else tuple(languages),
        names=names.names_of(tables["dialogues"]),
    )


def scopes(languages: tuple[str, ...]) -> list[str]:
    """Languages of a table's rows: pooled ("all") first where there are several."""
    return ["all", *languages] if len(languages) != 1 else list(languages)


def in_scope(judged: Judged, scope: str) -> Mask:
    return judged.all if scope == "all" else judged.language == scope


def kinds(judged: Judged) -> Iterator[tuple[str, Mask]]:
    """Label and verdicts of every kind, then of all."""
    for label, kind in KINDS:
        yield label, judged.kind == kind
    yield "all", judged.all


def leaking(tables: Tables) -> frozenset[str]:
    """Codes of the dialogues in which B gives itself away, as far as the report was given flags.

    A flag that a person rejected is none. Exports made before flags were reviewed have no such column.
    """
    return frozenset(
        str(row["dialogue"])
        for row in tables.get("flags", ())
        if row["rule"] == LEAK and row.get("review") != "rejected"
    )


def seconds(moment: Any) -> float:
    """A time as seconds; of a day (which is all that the public tier has) its number."""
    return float(moment.timestamp() if isinstance(moment, datetime) else moment.toordinal())


def _all_seconds(moments: Sequence[Any]) -> NDArray[np.float64]:
    """``seconds`` of each; of a column of times, which has them all, without a call of ours for every one."""
    one = datetime.timestamp if set(map(type, moments)) == {datetime} else seconds
    return np.fromiter(map(one, moments), np.float64, len(moments))


def _joined(tables: Tables) -> Judged:
    """All verdicts, of whatever activity and set."""
    verdicts = tables["verdicts"]
    about: Mapping[str, Mapping[str, Any]] = {str(row["dialogue"]): row for row in tables["dialogues"]}
    sources = dict(
        zip(
            tables["participants"].column("participant"), tables["participants"].column("source"), strict=True
        )
    )
    leaks = leaking(tables)
    # What hangs on the dialogue or the person is looked up once for each, not for every verdict.
    clip, clips = _numbered(verdicts.column("dialogue"))
    person, raters = _numbered(verdicts.column("rater"))
    heard = [about[code] for code in clips]

    def of_clip(column: str) -> Labels:
        return Labels.of((one[column] for one in heard), clip)

    is_human = np.array([one["kind"] == Kind.HUMAN_HUMAN for one in heard], dtype=np.bool_)[clip]
    human = analysis_sets.equal(verdicts.column("choice"), Choice.HUMAN).astype(np.float64)
    now = np.array([one["duration"] for one in heard], dtype=np.float64)[clip]
    then = np.array(verdicts.column("length"), dtype=np.float64)
    return Judged(
        raters=raters,
        person=person,
        dialogue=clip,
        human=human,
        correct=np.where(is_human, human, 1 - human),
        is_human=is_human,
        kind=of_clip("kind"),
        language=of_clip("language"),
        system=of_clip("system"),
        strategy=of_clip("strategy"),
        topic=of_clip("topic"),
        origin=of_clip("origin"),
        source=Labels.of((sources.get(code) for code in raters), person),
        # The clip's length when it was judged; as it is now where that was not stored; NaN where unknown.
        length=np.where(np.isfinite(then), then, now),
        round_number=np.array(verdicts.column("round_number"), dtype=np.intp),
        rounds_played=np.zeros(person.size, dtype=np.intp),
        given_at=_all_seconds(verdicts.column("given_at")),
        leaks=np.array([code in leaks for code in clips], dtype=np.bool_)[clip],
    )


def _with_rounds_played(judged: Judged, inside: Mask) -> Judged:
    """With the number of different rounds that each person has verdicts in, of those ``inside``."""
    width = int(judged.round_number.max(initial=0)) + 1
    seen = np.unique(judged.person[inside] * width + judged.round_number[inside])
    played = np.bincount(seen // width, minlength=len(judged.raters))
    return replace(judged, rounds_played=played[judged.person])


def _numbered(labels: Sequence[str]) -> tuple[Numbers, list[str]]:
    """Labels as whole numbers in order of appearance, and what each stands for."""
    levels = list(dict.fromkeys(labels))
    place = {level: number for number, level in enumerate(levels)}
    return np.fromiter(map(place.__getitem__, labels), np.intp, len(labels)), levels
