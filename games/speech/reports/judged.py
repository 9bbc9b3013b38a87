"""Verdicts of people in the speech game joined with what was judged, as arrays of one entry per verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogues import analysis_sets
from dialogues.models import Choice, Kind
from studies.reports import Basis, Options, Tables

ACTIVITY = "speech"
KINDS: tuple[tuple[str, str], ...] = (
    ("H-H", Kind.HUMAN_HUMAN),
    ("H-M", Kind.HUMAN_MACHINE),
    ("PH", Kind.PSEUDO_HUMAN),
)
#: The rule under which a dialogue is flagged where B says what it is.
LEAK = "identity-disclosure"

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """One entry per verdict in every array. ``human`` and ``correct`` are 0 or 1 as floats."""

    person: NDArray[np.intp]
    dialogue: NDArray[np.intp]
    human: NDArray[np.float64]
    correct: NDArray[np.float64]
    is_human: Mask
    kind: NDArray[Any]
    language: NDArray[Any]
    system: NDArray[Any]
    strategy: NDArray[Any]
    topic: NDArray[Any]
    origin: NDArray[Any]
    source: NDArray[Any]
    length: NDArray[np.float64]
    round_number: NDArray[np.intp]
    rounds_played: NDArray[np.intp]
    given_at: NDArray[Any]
    leaks: Mask

    @property
    def n(self) -> int:
        return int(self.person.size)

    def where(self, mask: Mask) -> Judged:
        """Only the verdicts of the mask."""
        return Judged(**{one.name: getattr(self, one.name)[mask] for one in fields(self)})

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


def given(tables: Tables, options: Options, *, with_published: bool = False) -> Given:
    """Verdicts of the chosen set and language; on request the set ``published`` to stand beside it.

    ``published`` is ``None`` where it is the chosen set, or not asked for.
    """
    dialogues = {str(row["dialogue"]): row for row in tables["dialogues"]}
    verdicts = [
        row
        for row in tables["verdicts"]
        if row["activity"] == ACTIVITY
        and row["rater_kind"] == "participant"
        and (not options.language or dialogues[row["dialogue"]]["language"] == options.language)
    ]
    rounds: dict[str, set[int]] = {}
    for row in verdicts:
        rounds.setdefault(row["rater"], set()).add(row["round_number"])
    people = {str(row["participant"]): row for row in tables["participants"]}

    stayed = {rater: len(seen) for rater, seen in rounds.items()}
    leaks = leaking(tables)

    def join(kept: list[Mapping[str, Any]]) -> Judged:
        return _join(kept, dialogues, people, stayed, leaks)

    chosen = analysis_sets.select(verdicts, options.analysis_set)
    judged = join(chosen.kept)
    beside = with_published and options.analysis_set != "published"
    used = {row["dialogue"] for row in tables["items"]} | {row["dialogue"] for row in verdicts}
    languages = sorted({str(dialogues[code]["language"]) for code in used if code in dialogues})
    return Given(
        judged=judged,
        published=join(analysis_sets.select(verdicts, "published").kept) if beside else None,
        basis=Basis(
            n=judged.n,
            persons=int(np.unique(judged.person).size),
            dialogues=int(np.unique(judged.dialogue).size),
            excluded=chosen.excluded,
            excluded_total=chosen.excluded_total,
        ),
        languages=(options.language,) if options.language else tuple(languages),
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
    """Codes of the dialogues in which B gives itself away, as far as the report was given flags."""
    return frozenset(str(row["dialogue"]) for row in tables.get("flags", ()) if row["rule"] == LEAK)


def _join(
    kept: list[Mapping[str, Any]],
    dialogues: Mapping[str, Mapping[str, Any]],
    people: Mapping[str, Mapping[str, Any]],
    rounds: Mapping[str, int],
    leaks: frozenset[str],
) -> Judged:
    # What hangs on the dialogue or the person is looked up once for each, not for every verdict.
    clip, clips = _numbered(row["dialogue"] for row in kept)
    person, raters = _numbered(row["rater"] for row in kept)
    about = [dialogues[code] for code in clips]
    sources = [people.get(code, {}).get("source") for code in raters]

    def of_clip(column: str) -> NDArray[Any]:
        return _words(one[column] for one in about)[clip]

    is_human = np.array([one["kind"] == Kind.HUMAN_HUMAN for one in about], dtype=np.bool_)[clip]
    human = np.array([row["choice"] == Choice.HUMAN for row in kept], dtype=np.float64)
    now = np.array([_seconds(one["duration"]) for one in about], dtype=np.float64)[clip]
    then = np.array([_seconds(row.get("length")) for row in kept], dtype=np.float64)
    given_at = np.empty(len(kept), dtype=object)
    given_at[:] = [row["given_at"] for row in kept]
    return Judged(
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
        source=_words(sources)[person],
        # The clip's length when it was judged; as it is now where that was not stored; NaN where unknown.
        length=np.where(np.isfinite(then), then, now),
        round_number=np.array([row["round_number"] for row in kept], dtype=np.intp),
        rounds_played=np.array([rounds[code] for code in raters], dtype=np.intp)[person],
        given_at=given_at,
        leaks=np.array([code in leaks for code in clips], dtype=np.bool_)[clip],
    )


def _words(values: Iterable[Any]) -> NDArray[Any]:
    """Text of fixed width, which compares many times faster than objects; nothing is ""."""
    return np.array([str(value or "") for value in values], dtype=np.str_)


def _seconds(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _numbered(labels: Iterable[str]) -> tuple[NDArray[np.intp], list[str]]:
    """Labels as whole numbers in order of appearance, and what each stands for."""
    seen: dict[str, int] = {}
    numbers = np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.intp)
    return numbers, list(seen)
