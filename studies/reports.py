"""Reports: what they are given, what they give back, and the two places the rows come from.

A report is a pure function over tidy rows. The desk, the command and the API call ``run_report``;
``run_report_from`` feeds the same function from an export, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from studies.export_files import snapshot
from studies.exported import Exported
from studies.models import Study
from studies.plans import ANALYSIS_SETS, HEADLINE, PlanNote, note_of, read_note
from studies.registry import Report, datasets, reports
from studies.tables import Table
from turingsite.errors import Invalid, NotFound

__all__ = [
    "ANALYSIS_SETS",
    "Basis",
    "Heading",
    "Options",
    "ReportResult",
    "ReportTable",
    "Tables",
    "access_report",
    "run_report",
    "run_report_from",
]

Tables = Mapping[str, Table]
Format = Literal["text", "count", "figure", "p"]


@dataclass(frozen=True)
class Options:
    """What a reader may choose. ``language``: of the dialogues, "" for all.

    ``analysis_set`` "": the headline, which is the set of the frozen plan, else ``all``. ``margin`` is the
    frozen plan's, ``None`` for the study's setting; only ``run_report`` sets it. ``layer``: of labels, for
    the reports that have some, "" for their first.
    """

    analysis_set: str = ""
    language: str = ""
    margin: float | None = None
    layer: str = ""


@dataclass(frozen=True)
class Heading:
    """A column of a report's table. ``label`` is for people, ``key`` stays the same in every language.

    ``words`` says what a value is called when people read it; files keep the value. ``decimals``: of a figure
    below 10, for people; larger ones have fewer.
    """

    key: str
    label: Any
    format: Format = "figure"
    words: Mapping[str, Any] = field(default_factory=dict)
    decimals: int = 4


@dataclass(frozen=True)
class ReportTable:
    """One table. A row whose figure has no value says why under ``note``."""

    key: str
    title: Any
    headings: tuple[Heading, ...]
    rows: tuple[Mapping[str, Any], ...]
    how: Any = ""


@dataclass(frozen=True)
class Basis:
    """What every figure rests on. ``excluded`` counts verdicts by reason; a reason is listed once per verdict
    except for breaks of protocol, of which a verdict may have several. ``of``: what ``n`` counts; games have
    no dialogues."""

    n: int
    persons: int
    dialogues: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    excluded_total: int = 0
    of: Literal["verdicts", "scores", "games"] = "verdicts"


@dataclass(frozen=True)
class ReportResult:
    """A report as computed: the analysis set it names, or the layer of labels in its place, or neither; what
    it rests on, its tables; the frozen plan."""

    key: str
    title: Any
    study: str
    analysis_set: str
    language: str
    basis: Basis
    tables: tuple[ReportTable, ...]
    notes: tuple[Any, ...] = ()
    plan: PlanNote | None = None
    layer: str = ""


def run_report(key: str, study: Study, options: Options | None = None) -> ReportResult:
    """The report computed from the database. NotFound for an unknown name, Invalid for unknown options."""
    report = access_report(key)
    with snapshot():
        tables: Tables = {
            name: datasets.get(name).table(study, report.columns.get(name)) for name in report.datasets
        }
        plan = note_of(study)
    return _build(report, tables, study.slug, options or Options(), plan)


def run_report_from(key: str, path: Path, options: Options | None = None) -> ReportResult:
    """The report computed from an export. Also Invalid where the file is no export, or was changed."""
    report = access_report(key)
    with Exported(path) as export:
        tables: Tables = {
            name: Table.of(export.table(name, report.columns.get(name))) for name in report.datasets
        }
        try:
            plan = read_note(export.manifest.get("plan"))
        except ValueError as problem:
            raise Invalid(
                "damaged_plan",
                _("What the manifest of %(path)s says of the plan is damaged."),
                {"path": path},
            ) from problem
        return _build(report, tables, export.study, options or Options(), plan)


def access_report(key: str) -> Report:
    if key not in reports:
        raise NotFound(
            "no_report",
            _("There is no report “%(name)s”. There are: %(known)s."),
            {"name": key, "known": ", ".join(sorted(reports.keys()))},
        )
    return reports.get(key)


def _build(
    report: Report, tables: Tables, study: str, options: Options, plan: PlanNote | None
) -> ReportResult:
    headline = plan.analysis_set if plan is not None else HEADLINE
    options = replace(
        options,
        analysis_set=options.analysis_set or headline,
        margin=plan.margin if plan is not None else None,
    )
    if options.analysis_set not in ANALYSIS_SETS:
        raise Invalid(
            "no_such_set",
            _("There is no analysis set “%(name)s”. There are: %(known)s."),
            {"name": options.analysis_set, "known": ", ".join(ANALYSIS_SETS)},
        )
    if not report.sets:
        options = replace(options, analysis_set="")
    if report.layers:
        options = replace(options, layer=options.layer or next(iter(report.layers)))
        if options.layer not in report.layers:
            raise Invalid(
                "no_such_layer",
                _("There is no layer “%(name)s”. There are: %(known)s."),
                {"name": options.layer, "known": ", ".join(report.layers)},
            )
    result = report.build(tables, study=study, options=options)
    assert isinstance(result, ReportResult)  # noqa: S101  (what a registered report gives)
    return replace(result, plan=plan)
