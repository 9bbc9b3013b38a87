"""What in a rater's figures wants a look: rules with their numbers. A flag hints, it never excludes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.template.defaultfilters import floatformat
from django.utils.translation import gettext_lazy as _

from annotation.models import AnnotationSettings
from annotation.rater_figures import Figures

FEWEST = 5  # dialogues without which nothing is said of speed and straight-lining
FEWEST_GOLD = 3  # known dialogues
FEWEST_REPEATS = 2  # hidden repeats
FEWEST_FOR_DRIFT = 10  # dialogues
BEYOND = 30.0  # seconds beyond the sound's length: what 18 scores and a choice take at least
MOST_USED = 0.8
FLAT = 0.1
RUN_DIALOGUES = 2  # dialogues' worth of equal answers in a row
RETEST_KAPPA = 0.4
MOVED = 0.5  # steps of the scale over all the work
CORRELATION = 0.2
FEWEST_LEFT_OUT = 3  # dialogues
LEFT_OUT = 0.2


class Flag(NamedTuple):
    """``label``: short, for the list. ``words``: the number with its rule, for the sheet."""

    key: str
    label: Any
    words: str


class Rule(NamedTuple):
    """``number``: what is compared; None where nothing is to be said. ``places``: after the point."""

    key: str
    label: Any
    number: Callable[[Figures, AnnotationSettings], float | None]
    places: int
    words: Any


def _fast(figures: Figures, settings: AnnotationSettings) -> float | None:
    beyond = figures.speed.beyond
    return beyond if figures.speed.n >= FEWEST and beyond is not None and beyond < BEYOND else None


def _most_used(figures: Figures, settings: AnnotationSettings) -> float | None:
    share = figures.straight.most_used_share
    enough = figures.straight.dialogues >= FEWEST
    return 100 * share if enough and share is not None and share >= MOST_USED else None


def _flat(figures: Figures, settings: AnnotationSettings) -> float | None:
    share = figures.straight.flat_share
    enough = figures.straight.dialogues >= FEWEST
    return 100 * share if enough and share is not None and share >= FLAT else None


def _run(figures: Figures, settings: AnnotationSettings) -> float | None:
    straight = figures.straight
    if straight.longest_run is None or straight.dialogues < FEWEST:
        return None
    # Answers a dialogue, so that the rule fits taxonomies of any length.
    limit = RUN_DIALOGUES * straight.n / straight.dialogues
    return float(straight.longest_run) if straight.longest_run >= limit else None


def _gold_difference(figures: Figures, settings: AnnotationSettings) -> float | None:
    value = figures.gold.difference.value
    enough = figures.gold.items >= FEWEST_GOLD
    return value if enough and value is not None and value > settings.calibration_difference else None


def _gold_clear(figures: Figures, settings: AnnotationSettings) -> float | None:
    value = figures.gold.clear.value
    enough = figures.gold.items >= FEWEST_GOLD
    return 100 * value if enough and value is not None and value < settings.calibration_clear else None


def _retest(figures: Figures, settings: AnnotationSettings) -> float | None:
    value = figures.retest.kappa.value
    return value if figures.repeats >= FEWEST_REPEATS and value is not None and value < RETEST_KAPPA else None


def _drift(figures: Figures, settings: AnnotationSettings) -> float | None:
    slope = figures.drift
    if slope.value is None or slope.low is None or slope.high is None or slope.n < FEWEST_FOR_DRIFT:
        return None
    moved = slope.value * (slope.n - 1)
    return moved if slope.low * slope.high > 0 and abs(moved) >= MOVED else None


def _apart(figures: Figures, settings: AnnotationSettings) -> float | None:
    found = figures.others.correlation
    enough = figures.dialogues >= FEWEST
    return found.value if enough and found.value is not None and found.value < CORRELATION else None


def _left_out(figures: Figures, settings: AnnotationSettings) -> float | None:
    n, met = figures.left
    return float(n) if n >= FEWEST_LEFT_OUT and n >= LEFT_OUT * met else None


RULES = (
    Rule(
        "fast", _("fast"), _fast, 0,
        _("Half the dialogues took less than %(number)s s beyond their sound. The rule: 30 s."),
    ),
    Rule(
        "most_used", _("one answer"), _most_used, 0,
        _("One answer makes up %(number)s %% of all. The rule: 80 %%."),
    ),
    Rule(
        "flat", _("flat"), _flat, 0,
        _("%(number)s %% of the dialogues got the same answer throughout. The rule: 10 %%."),
    ),
    Rule(
        "run", _("long run"), _run, 0,
        _("The same answer came %(number)s times in a row. The rule: two dialogues' worth."),
    ),
    Rule(
        "gold_difference", _("gold: far off"), _gold_difference, 2,
        _("Scores are %(number)s off the known ones on average. The rule: as in calibration."),
    ),
    Rule(
        "gold_clear", _("gold: wrong side"), _gold_clear, 0,
        _("%(number)s %% of the known clear scores are on the right side. The rule: as in calibration."),
    ),
    Rule(
        "retest", _("unlike before"), _retest, 2,
        _("On hidden repeats the weighted kappa is %(number)s. The rule: .4."),
    ),
    Rule(
        "drift", _("drifts"), _drift, 2,
        _("Against the others the scores moved by %(number)s in all. The rule: .5, interval without 0."),
    ),
    Rule(
        "apart", _("unlike the others"), _apart, 2,
        _("The rank correlation with the others is %(number)s. The rule: .2."),
    ),
    Rule(
        "left_out", _("many left out"), _left_out, 0,
        _("%(number)s dialogues were left out as known or failing. The rule: three, and a fifth of all."),
    ),
)  # fmt: skip


def flags_of(figures: Figures, settings: AnnotationSettings) -> list[Flag]:
    """The rules that speak, in their order, each with its number."""
    found = [(rule, rule.number(figures, settings)) for rule in RULES]
    return [
        Flag(rule.key, rule.label, str(rule.words) % {"number": floatformat(number, rule.places)})
        for rule, number in found
        if number is not None
    ]
