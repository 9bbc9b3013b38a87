"""Rater quality: how each rater works, against known scores, against themselves, against the others."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Layer
from annotation.reports import against
from annotation.reports.working import RATER, Work, work
from studies.estimates import FEWEST_OPINIONS, NOTE, not_enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables

#: Raters' own work; what was revised is nobody's.
LAYERS = {value: label for value, label in Layer.choices if value != Layer.TRUTH_SHOWN}
NO_EVIDENCE = {"0": gettext_lazy("no evidence")}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Flags first, then work, agreement with the others, drift, repeats, halo, known scores."""
    found = work(tables, options)
    return ReportResult(
        key="rater-quality",
        title=_("Rater quality"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=found.basis,
        tables=(
            _overview(found),
            *_flags(found),
            _speed(found),
            against.others(found),
            against.drift(found),
            against.retest(found),
            against.halo(found),
            against.known(tables, found, options),
        ),
        notes=(
            _("A flag hints at a look, it excludes nobody. Setting scores aside is decided on the desk."),
            _("Nothing here knows the truth about a dialogue."),
            _("Order of work: by batch and place in it; scores that a file brought have none."),
        ),
        layer=options.layer,
    )


def _overview(found: Work) -> ReportTable:
    rows = [
        {
            "rater": one.code,
            "dialogues": one.figures.dialogues,
            "gold": one.gold,
            "repeats": one.figures.repeats,
            "flags": len(one.flags),
            "which": " · ".join(str(flag.label) for flag in one.flags),
        }
        for one in found.workers
    ]
    return ReportTable(
        "raters",
        gettext_lazy("Raters"),
        (
            RATER,
            Heading("dialogues", gettext_lazy("dialogues"), "count"),
            Heading("gold", gettext_lazy("gold items"), "count"),
            Heading("repeats", gettext_lazy("hidden repeats"), "count"),
            Heading("flags", gettext_lazy("flags"), "count"),
            Heading("which", gettext_lazy("which"), "text"),
        ),
        tuple(rows),
        gettext_lazy("Finished dialogues of ordinary work, with known scores, and given once more."),
    )


def _flags(found: Work) -> list[ReportTable]:
    """Every flag with its number and its rule; no table where there is none."""
    rows = [
        {"rater": one.code, "flag": str(flag.label), "words": flag.words}
        for one in found.workers
        for flag in one.flags
    ]
    if not rows:
        return []
    return [
        ReportTable(
            "flags",
            gettext_lazy("Flags, with their rules"),
            (
                RATER,
                Heading("flag", gettext_lazy("flag"), "text"),
                Heading("words", gettext_lazy("what was seen"), "text"),
            ),
            tuple(rows),
            gettext_lazy(
                "Flags need five dialogues, ten for drift, three gold items, two repeats. The same rules as "
                "on the rater's sheet."
            ),
        )
    ]


def _speed(found: Work) -> ReportTable:
    rows = []
    for one in found.workers:
        speed, straight = one.figures.speed, one.figures.straight
        timed = speed.n >= FEWEST_OPINIONS
        enough = straight.dialogues >= FEWEST_OPINIONS
        rows.append(
            {
                "rater": one.code,
                "timed": speed.n,
                "seconds": speed.seconds if timed else None,
                "beyond": speed.beyond if timed else None,
                "n": straight.n,
                "most_used": _answer(straight.most_used) if enough else "",
                "share": straight.most_used_share if enough else None,
                "flat": straight.flat_share if enough else None,
                "run": straight.longest_run if enough else None,
                "note": "" if timed else not_enough(speed.n),
            }
        )
    return ReportTable(
        "work",
        gettext_lazy("Speed and straight-lining"),
        (
            RATER,
            Heading("timed", gettext_lazy("dialogues timed"), "count"),
            Heading("seconds", gettext_lazy("active s per dialogue, median"), decimals=1),
            Heading("beyond", gettext_lazy("beyond its sound (s), median"), decimals=1),
            Heading("n", gettext_lazy("answers"), "count"),
            Heading(
                "most_used", gettext_lazy("most used answer"), "text", {"0": gettext_lazy("no evidence")}
            ),
            Heading("share", gettext_lazy("its share")),
            Heading("flat", gettext_lazy("dialogues with one answer throughout (share)")),
            Heading("run", gettext_lazy("longest run of one answer"), "count"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Active time: from sign to sign, gaps cut. Runs go by the order in which the person saw the "
            "dimensions, on from one dialogue to the next; “no evidence” is an answer of its own."
        ),
    )


def _answer(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"
