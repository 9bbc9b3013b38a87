"""Reports: what they are given, what they give back, and the two places the rows come from.

A report is a pure function over tidy rows. The desk, the command and the API call ``run_report``;
``run_report_from`` feeds the same function from an export, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from studies.exported import Exported
from studies.exports import snapshot
from studies.models import Study
from studies.registry import Report, datasets, reports
from turingsite.errors import Invalid, NotFound

Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, Rows]
Format = Literal["text", "count", "figure", "p"]

#: Stored rules over verdicts; ``all`` is the headline unless a study says otherwise.
ANALYSIS_SETS = ("all", "published", "first_round", "per_protocol")


@dataclass(frozen=True)
class Options:
    """What a reader may choose. ``language``: of the dialogues, "" for all."""

    analysis_set: str = "all"
    language: str = ""


@dataclass(frozen=True)
class Heading:
    """A column of a report's table. ``label`` is for people, ``key`` stays the same in every language.

    ``words`` says what a value is called when people read it; files keep the value.
    """

    key: str
    label: Any
    format: Format = "figure"
    words: Mapping[str, Any] = field(default_factory=dict)


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
    except for breaks of protocol, of which a verdict may have several."""

    n: int
    persons: int
    dialogues: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    excluded_total: int = 0


@dataclass(frozen=True)
class ReportResult:
    """A report as computed: the analysis set it names, what it rests on, its tables."""

    key: str
    title: Any
    study: str
    analysis_set: str
    language: str
    basis: Basis
    tables: tuple[ReportTable, ...]
    notes: tuple[Any, ...] = ()


def run_report(key: str, study: Study, options: Options | None = None) -> ReportResult:
    """The report computed from the database. NotFound for an unknown name, Invalid for unknown options."""
    report = access_report(key)
    with snapshot():
        tables: Tables = {name: list(datasets.get(name).rows(study)) for name in report.datasets}
    return _build(report, tables, study.slug, options or Options())


def run_report_from(key: str, path: Path, options: Options | None = None) -> ReportResult:
    """The report computed from an export. Also Invalid where the file is no export, or was changed."""
    report = access_report(key)
    with Exported(path) as export:
        tables: Tables = {name: list(export.table(name)) for name in report.datasets}
        return _build(report, tables, export.study, options or Options())


def access_report(key: str) -> Report:
    if key not in reports:
        raise NotFound(
            "no_report",
            _("There is no report “%(name)s”. There are: %(known)s."),
            {"name": key, "known": ", ".join(sorted(reports.keys()))},
        )
    return reports.get(key)


def _build(report: Report, tables: Tables, study: str, options: Options) -> ReportResult:
    if options.analysis_set not in ANALYSIS_SETS:
        raise Invalid(
            "no_such_set",
            _("There is no analysis set “%(name)s”. There are: %(known)s."),
            {"name": options.analysis_set, "known": ", ".join(ANALYSIS_SETS)},
        )
    result = report.build(tables, study=study, options=options)
    assert isinstance(result, ReportResult)  # noqa: S101  (what a registered report gives)
    return result
