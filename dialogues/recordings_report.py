"""Report ``recordings``: how the sound of a study's dialogues came in and how it plays, kind beside kind.

What differs between the kinds and is not the talk may give the answer away: it stands here in one table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from statistics import median, quantiles
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues import pictures
from dialogues.models import Dialogue, Flag, Kind
from studies.registry import Report, reports
from studies.reports import Basis, Heading, Options, ReportResult, ReportTable, Tables

Row = Mapping[str, Any]
Quality = Mapping[str, Any]

KINDS = (("H-H", Kind.HUMAN_HUMAN), ("H-M", Kind.HUMAN_MACHINE), ("PH", Kind.PSEUDO_HUMAN))
KIND = Heading("kind", gettext_lazy("kind"), "text", {"all": gettext_lazy("all")})
COUNT = Heading("n", gettext_lazy("dialogues"), "count")
NOTE = Heading("note", gettext_lazy("note"), "text")

#: Heading and how a quality report gives the number; None where it could not be measured.
FIGURES: tuple[tuple[Heading, Callable[[Quality], float | None]], ...] = (
    (Heading("duration", gettext_lazy("length (s)"), decimals=1), lambda q: q["play"]["duration"]),
    (Heading("turns", gettext_lazy("turns"), decimals=1), lambda q: q["result"]["turn_count"]),
    (
        Heading("gap_before", gettext_lazy("mean gap before (s)"), decimals=2),
        lambda q: q["gaps"]["heard"]["mean"],
    ),
    (
        Heading("gap_after", gettext_lazy("mean gap after (s)"), decimals=2),
        lambda q: q["gaps"]["after"]["mean"],
    ),
    (Heading("overlaps", gettext_lazy("overlaps"), decimals=1), lambda q: q["result"]["overlaps"]["count"]),
    (
        Heading("a_before", gettext_lazy("A before (LUFS)"), decimals=1),
        lambda q: q["loudness"]["before"].get("A"),
    ),
    (
        Heading("a_after", gettext_lazy("A after (LUFS)"), decimals=1),
        lambda q: q["loudness"]["after"].get("A"),
    ),
    (
        Heading("b_before", gettext_lazy("B before (LUFS)"), decimals=1),
        lambda q: q["loudness"]["before"].get("B"),
    ),
    (
        Heading("b_after", gettext_lazy("B after (LUFS)"), decimals=1),
        lambda q: q["loudness"]["after"].get("B"),
    ),
    (
        Heading("b_share", gettext_lazy("B's part of the talk"), decimals=2),
        lambda q: q["result"]["speech_share"].get("B"),
    ),
    (
        Heading("noise_a", gettext_lazy("noise in A (dBFS)"), decimals=1),
        lambda q: q["result"]["noise_floor"].get("A"),
    ),
    (
        Heading("noise_b", gettext_lazy("noise in B (dBFS)"), decimals=1),
        lambda q: q["result"]["noise_floor"].get("B"),
    ),
    (Heading("bandwidth", gettext_lazy("bandwidth (Hz)"), decimals=0), lambda q: q["result"]["bandwidth_hz"]),
    (
        Heading("leading", gettext_lazy("silence in front (s)"), decimals=2),
        lambda q: q["result"]["leading_silence"],
    ),
    (Heading("bytes", gettext_lazy("bytes a second"), decimals=0), lambda q: q["play"]["bytes_per_second"]),
)


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Medians by kind, states, sources and flags. The analysis set plays no part: no verdict is looked at."""
    rows = [
        row
        for row in tables["dialogues"]
        if row["modality"] == "speech" and options.language in ("", row["language"])
    ]
    chosen = {row["dialogue"] for row in rows}
    flags = [f for f in tables["flags"] if f["dialogue"] in chosen and f["source"] == "quality"]
    return ReportResult(
        key="recordings",
        title=_("Recordings"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=Basis(n=0, persons=0, dialogues=len(rows)),
        tables=(_figures(rows), _spread(rows), _states(rows), _sources(rows), _flags(rows, flags)),
        notes=(
            _("Middle values over the dialogues that have been processed."),
            _("What differs between kinds and is not the talk can give the answer away."),
        ),
    )


def _by_kind(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    for label, kind in KINDS:
        own = [row for row in rows if row["kind"] == kind]
        if own:
            yield label, own
    yield "all", rows


def _figures(rows: list[Row]) -> ReportTable:
    made: list[dict[str, Any]] = []
    for label, own in _by_kind(rows):
        measured = [row["quality"] for row in own if _is_processed(row)]
        cells: dict[str, Any] = {"kind": label, "n": len(measured)}
        for heading, read in FIGURES:
            values = [value for value in map(read, measured) if value is not None]
            cells[heading.key] = float(median(values)) if values else None
        cells["note"] = "" if measured else _("none processed")
        made.append(cells)
    headings = (KIND, COUNT, *(heading for heading, _read in FIGURES), NOTE)
    return ReportTable("sound", _("Sound by kind"), headings, tuple(made))


def _spread(rows: list[Row]) -> ReportTable:
    """Least, quarters and most of every figure: a middle hides two heaps."""
    made: list[dict[str, Any]] = []
    for heading, read in FIGURES:
        for label, own in _by_kind(rows):
            measured = map(read, (row["quality"] for row in own if _is_processed(row)))
            values = sorted(float(value) for value in measured if value is not None)
            quarters = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [None] * 3
            made.append(
                {
                    "feature": heading.key,
                    "kind": label,
                    "n": len(values),
                    "least": values[0] if values else None,
                    "quarter": quarters[0],
                    "middle": median(values) if values else None,
                    "three_quarters": quarters[2],
                    "most": values[-1] if values else None,
                    "note": "" if values else _("none processed"),
                }
            )
    feature = Heading(
        "feature", gettext_lazy("figure"), "text", {heading.key: heading.label for heading, _read in FIGURES}
    )
    headings = (
        feature,
        KIND,
        COUNT,
        Heading("least", gettext_lazy("least"), decimals=2),
        Heading("quarter", gettext_lazy("lower quarter"), decimals=2),
        Heading("middle", gettext_lazy("middle"), decimals=2),
        Heading("three_quarters", gettext_lazy("upper quarter"), decimals=2),
        Heading("most", gettext_lazy("most"), decimals=2),
        NOTE,
    )
    return ReportTable(
        "spread",
        _("How far the sound spreads, by kind"),
        headings,
        tuple(made),
        gettext_lazy(
            "Half of the dialogues lie between the quarters (in the figure the thick line), all between the "
            "least and the most (the thin line)."
        ),
    )


def _states(rows: list[Row]) -> ReportTable:
    made = [
        {"kind": label, "state": state, "n": count}
        for label, own in _by_kind(rows)
        for state, count in sorted(Counter(row["state"] for row in own).items())
    ]
    state = Heading("state", gettext_lazy("state"), "text", dict(Dialogue.State.choices))
    return ReportTable("states", _("States"), (KIND, state, COUNT), tuple(made))


def _sources(rows: list[Row]) -> ReportTable:
    def source(row: Row) -> tuple[str, int, int]:
        found = row["quality"]["source"]
        return f"{found['format']} {found['subtype']}", found["sample_rate"], found["channels"]

    made = [
        {"kind": label, "codec": codec, "rate": rate, "channels": channels, "n": count}
        for label, own in _by_kind(rows)
        for (codec, rate, channels), count in sorted(
            Counter(source(row) for row in own if _is_processed(row)).items()
        )
    ]
    headings = (
        KIND,
        Heading("codec", gettext_lazy("codec"), "text"),
        Heading("rate", gettext_lazy("sample rate (Hz)"), "count"),
        Heading("channels", gettext_lazy("channels"), "count"),
        COUNT,
    )
    return ReportTable(
        "sources",
        _("Files as received"),
        headings,
        tuple(made),
        gettext_lazy("Of turns that came as files of their own: the recording joined from them."),
    )


def _flags(rows: list[Row], flags: list[Row]) -> ReportTable:
    made = []
    for label, own in _by_kind(rows):
        codes = {row["dialogue"] for row in own}
        there = [flag for flag in flags if flag["dialogue"] in codes]
        rejected = Counter(flag["rule"] for flag in there if flag["review"] == Flag.Review.REJECTED)
        counts = Counter(flag["rule"] for flag in there)
        made += [
            {
                "kind": label,
                "rule": rule,
                "n": count - rejected[rule],
                "share": (count - rejected[rule]) / len(own),
                "rejected": rejected[rule],
            }
            for rule, count in sorted(counts.items())
        ]
    headings = (
        KIND,
        Heading("rule", gettext_lazy("rule"), "text"),
        COUNT,
        Heading("share", gettext_lazy("share")),
        Heading("rejected", gettext_lazy("rejected by a person, not counted"), "count"),
    )
    return ReportTable("flags", _("Flags"), headings, tuple(made))


def _is_processed(row: Row) -> bool:
    return bool(row["quality"]) and "play" in row["quality"]


def register() -> None:
    reports.add(
        Report(
            "recordings",
            gettext_lazy("Recordings"),
            ("dialogues", "flags"),
            build,
            figures=pictures.recordings,
        )
    )
