"""What one annotator's sheet shows: time course, distribution of scores, known scores, repeats, flags."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from annotation.models import AnnotationSettings, Annotator
from annotation.rater_figures import Figures, Sheet, figures_of, others_of
from annotation.rater_flags import flags_of
from annotation.selectors_raters import categories_of, pay_of, seen_order, sheet_of
from dialogues.models import Dialogue

ANSWERS = (1, 2, 3, 4, 5, 0)  # as the bars show them, no evidence last
BATCHES = 60  # the newest of them


class Spread(NamedTuple):
    """One dimension: ``bars`` are (answer, start, width) in percent; ``apart``: mean gap to the others."""

    name: str
    n: int
    counts: list[int]
    bars: list[tuple[int, str, str]]
    apart: float | None


class Stretch(NamedTuple):
    """A batch of the time course."""

    number: int
    at: datetime
    dialogues: int
    minutes: float | None
    apart: float | None


class Known(NamedTuple):
    """A dialogue that the person scored and somebody else, or they before, had scored."""

    dialogue: str
    code: str
    compared: int
    difference: float | None
    exact: float | None


def sheet_context(settings: AnnotationSettings, person: Annotator, zone: ZoneInfo) -> dict[str, Any]:
    """All of it for the page. One reading of the study's rows gives every figure."""
    sheet = sheet_of(settings)
    others = others_of(sheet)
    rater, order = person.participant.rater.pk, seen_order(categories_of(settings), person)
    figures = figures_of(sheet, rater, others, order, deep=True)
    return {
        "person": person,
        "attempts": list(person.attempts.order_by("number")),
        "pay": next(one for one in pay_of(settings) if one.annotator.pk == person.pk),
        "figures": figures,
        "moved": _moved(figures),
        "flags": flags_of(figures, settings),
        "spreads": _spreads(settings, sheet, others, rater),
        "stretches": _stretches(sheet, others, rater, zone),
        "gold": _gold(sheet, rater),
        "repeats": _repeats(sheet, rater),
        "answers": ANSWERS,
        "breaks": sum(one.breaks_taken for one in person.sessions.all()),
        "sessions": person.sessions.count(),
    }


def _moved(figures: Figures) -> tuple[float, ...]:
    """Drift over all the work with its interval, in steps of the scale; empty where there is none."""
    slope = figures.drift
    bounds = (slope.value, slope.low, slope.high)
    known = [bound * (slope.n - 1) for bound in bounds if bound is not None]
    return tuple(known) if len(known) == len(bounds) else ()


def _spreads(settings: AnnotationSettings, sheet: Sheet, others: Any, rater: int) -> list[Spread]:
    places = sheet.of(rater, ("work", "gold"))
    answers, gaps = sheet.answers[places], sheet.scores[places] - others[places]
    found = []
    for at, dimension in enumerate(settings.taxonomy.dimensions.order_by("position")):
        column, gap = answers[:, at], gaps[:, at]
        counts = [int((column == answer).sum()) for answer in ANSWERS]
        known = gap[~np.isnan(gap)]
        found.append(
            Spread(
                dimension.name,
                sum(counts),
                counts,
                _bars(counts),
                float(known.mean()) if known.size else None,
            )
        )
    return found


def _bars(counts: list[int]) -> list[tuple[int, str, str]]:
    total, start, bars = sum(counts), 0.0, []
    for answer, count in zip(ANSWERS, counts, strict=True):
        width = 100 * count / total if total else 0.0
        if count:
            bars.append((answer, f"{start:.2f}%", f"{width:.2f}%"))
        start += width
    return bars


def _stretches(sheet: Sheet, others: Any, rater: int, zone: ZoneInfo) -> list[Stretch]:
    batches: dict[int, list[int]] = {}
    for at in sheet.of(rater, ("work", "gold", "repeat")):
        batches.setdefault(sheet.items[at].batch, []).append(at)
    found = []
    for number, places in sorted(batches.items())[-BATCHES:]:
        items = [sheet.items[at] for at in places]
        seconds = [one.seconds for one in items if one.seconds > 0]
        gaps = sheet.scores[places] - others[places]
        known = gaps[~np.isnan(gaps)]
        found.append(
            Stretch(
                number,
                max(one.at for one in items).astimezone(zone),
                len(places),
                float(np.mean(seconds)) / 60 if seconds else None,
                float(known.mean()) if known.size else None,
            )
        )
    return found[::-1]


def _gold(sheet: Sheet, rater: int) -> list[Known]:
    pairs = [
        (sheet.items[at].dialogue, sheet.scores[at], sheet.references[sheet.items[at].dialogue])
        for at in sheet.of(rater, ("gold",))
        if sheet.items[at].dialogue in sheet.references
    ]
    return _known(pairs)


def _repeats(sheet: Sheet, rater: int) -> list[Known]:
    first = {sheet.items[at].dialogue: at for at in sheet.of(rater, ("work", "gold"))}
    again = [(sheet.items[at].dialogue, at) for at in sheet.of(rater, ("repeat",))]
    return _known([(d, sheet.scores[at], sheet.scores[first[d]]) for d, at in again if d in first])


def _known(pairs: list[tuple[int, Any, Any]]) -> list[Known]:
    rows = Dialogue.objects.filter(pk__in=[dialogue for dialogue, _given, _wanted in pairs])
    names = {row.pk: (row.external_id, row.code) for row in rows}
    found = []
    for dialogue, given, wanted in pairs:
        apart = np.abs(given - wanted)
        apart = apart[~np.isnan(apart)]
        found.append(
            Known(
                *names[dialogue],
                int(apart.size),
                float(apart.mean()) if apart.size else None,
                100 * float((apart == 0).mean()) if apart.size else None,
            )
        )
    return found
