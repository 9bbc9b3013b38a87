"""A report as JSON, CSV or Markdown. What has no value is null, an empty cell, or its reason in words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from studies.cells import guarded
from studies.figures.given import read_of
from studies.figures.shapes import numeral
from studies.markdown import as_markdown_text
from studies.outcomes import counted_words
from studies.plans import LABELS, PlanNote
from studies.reports import Heading, ReportResult, ReportTable


def as_json(result: ReportResult) -> str:
    """Keys stay English in every language; titles and notes are in the reader's."""
    basis = result.basis
    return (
        json.dumps(
            {
                "report": result.key,
                "title": str(result.title),
                "study": result.study,
                "set": result.analysis_set or None,
                "layer": result.layer or None,
                "language": result.language or None,
                "plan": result.plan.as_data() if result.plan is not None else None,
                "n": basis.n,
                "of": basis.of,
                "persons": basis.persons,
                "dialogues": basis.dialogues,
                "excluded": dict(basis.excluded),
                "excluded_total": basis.excluded_total,
                "tables": [
                    {
                        "table": table.key,
                        "title": str(table.title),
                        "how": str(table.how),
                        "columns": [heading.key for heading in table.headings],
                        "rows": [_plain_row(table, row) for row in table.rows],
                    }
                    for table in result.tables
                ],
                "notes": [str(note) for note in result.notes],
            },
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
    )


def as_csv(result: ReportResult) -> str:
    """One table for all: every row names its table, set, and language; columns of other tables stay empty."""
    columns = list(dict.fromkeys(heading.key for table in result.tables for heading in table.headings))
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(["report", "study", "layer" if result.layer else "set", "table", *columns])
    first = (result.key, result.study, result.layer or result.analysis_set)
    for table in result.tables:
        for row in table.rows:
            plain = _plain_row(table, row)
            sheet.writerow(
                [_cell(value) for value in (*first, table.key, *(plain.get(key) for key in columns))]
            )
    return text.getvalue()


def as_markdown(result: ReportResult) -> str:
    basis = result.basis
    lines = [
        f"# {as_markdown_text(result.title)}",
        "",
        read_of(result, quoted=True),
    ]
    lines.append(_plan_line(result.plan))
    if result.language:
        lines.append(_("Dialogues in %(language)s only.") % {"language": f"`{result.language}`"})
    if basis.excluded:
        reasons = ", ".join(f"{reason} {count}" for reason, count in basis.excluded.items())
        lines.append(
            _("Left out: %(total)s (%(reasons)s).") % {"total": basis.excluded_total, "reasons": reasons}
        )
    else:
        lines.append(_("Nothing left out."))
    for table in result.tables:
        lines += ["", f"## {as_markdown_text(table.title)}", ""]
        lines += _markdown_table(table)
        if table.how:
            lines += ["", as_markdown_text(table.how)]
    if result.notes:
        lines += ["", *(f"- {as_markdown_text(note)}" for note in result.notes)]
    return "\n".join(lines) + "\n"


def plan_words(plan: PlanNote | None) -> list[str]:
    """What stands beside every figure: when the plan was frozen, its hash, what was changed since and why."""
    if plan is None:
        return [_("No frozen plan: exploratory.")]
    first = plan.first
    said = [
        _("Plan frozen on %(day)s, SHA-256 %(hash)s, at %(counted)s.")
        % {"day": first.frozen_at[:10], "hash": first.sha256, "counted": counted_words(first.counts)}
    ]
    if plan.exploratory:
        said.append(_("There were answers before it: exploratory."))
    said += [
        _(
            "Version %(version)s on %(day)s, at %(counted)s, changed %(what)s because: %(why)s "
            "SHA-256 %(hash)s."
        )
        % {
            "version": one.version,
            "day": one.frozen_at[:10],
            "counted": counted_words(one.counts),
            "what": ", ".join(str(LABELS.get(key, key)) for key in one.changed) or _("nothing"),
            "why": one.reason if one.reason.endswith((".", "。")) else f"{one.reason}.",
            "hash": one.sha256,
        }
        for one in plan.changes
    ]
    said += [
        _("Reopened on %(day)s after outcomes had been read at %(counted)s.")
        % {"day": one.at[:10], "counted": counted_words(one.counts)}
        for one in plan.reopened
    ]
    return said


def _plan_line(plan: PlanNote | None) -> str:
    return as_markdown_text(" ".join(plan_words(plan)))


PAGE_DECIMALS = 3  # of a figure on a page or in a picture; Markdown has one more, files have all
FORMATS: Mapping[str, Callable[[ReportResult], str]] = {
    "json": as_json,
    "csv": as_csv,
    "md": as_markdown,
}


def in_words(table: ReportTable) -> tuple[list[Heading], list[list[str]]]:
    """A table as a page shows it: the headings and the cells of each row, figures as in the pictures."""
    shown = [
        replace(heading, decimals=min(heading.decimals, PAGE_DECIMALS))
        if heading.format == "figure"
        else heading
        for heading in table.headings
        if heading.key != "note"
    ]
    return shown, [_words(shown, row) for row in table.rows]


def _markdown_table(table: ReportTable) -> list[str]:
    if not table.rows:
        return [_("No data.")]
    shown = [heading for heading in table.headings if heading.key != "note"]
    rules = ["---" if heading.format == "text" else "---:" for heading in shown]
    lines = [
        "| " + " | ".join(as_markdown_text(heading.label) for heading in shown) + " |",
        "|" + "|".join(rules) + "|",
    ]
    for row in table.rows:
        lines.append("| " + " | ".join(as_markdown_text(cell) for cell in _words(shown, row)) + " |")
    return lines


def _words(shown: list[Heading], row: Mapping[str, Any]) -> list[str]:
    """The row's cells; the reason why there is no figure stands where the first figure would."""
    note = str(row.get("note") or "")
    cells = []
    for heading in shown:
        value = row.get(heading.key)
        if value is None and heading.format == "figure" and note:
            cells.append(note)
            note = ""
        else:
            cells.append(_word(heading, value))
    if note:
        cells[-1] = f"{cells[-1]} ({note})"
    return cells


def _word(heading: Heading, value: Any) -> str:
    if value in heading.words:
        return str(heading.words[value])
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, float):
        if heading.format == "p" and value < 0.0001:
            return "< 0.0001"
        return numeral(value, heading.decimals)
    return str(value)


def _plain_row(table: ReportTable, row: Mapping[str, Any]) -> dict[str, Any]:
    return {heading.key: _plain(row.get(heading.key)) for heading in table.headings}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(value) if isinstance(value, str) else repr(value)
