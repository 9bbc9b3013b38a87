"""From a report's result to its figures: tables and words read, what it rests on; empty ones left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.figures.panels import finished
from studies.figures.shapes import Axis, Figure, Panel, Spec, drawn
from turingsite.errors import NotFound

if TYPE_CHECKING:
    from studies.reports import ReportResult, ReportTable

TOLD = 12  # marks that the text alternative names

Row = Mapping[str, Any]
#: Draws panels, wide or narrow.
Drawer = Callable[[Sequence[Panel], Axis, bool], Spec]


def figures_of(result: ReportResult) -> list[Figure]:
    """The figures of a report's result, in the order of its tables."""
    from studies.registry import reports

    return list(reports.get(result.key).figures(result))


def access_figure(result: ReportResult, key: str) -> Figure:
    """The figure of that key, the first one for "". NotFound names those there are."""
    figures = figures_of(result)
    if not figures:
        raise NotFound("no_figure", gettext_lazy("This report has too little data for a figure."))
    chosen = next((one for one in figures if key in ("", one.key)), None)
    if chosen is None:
        raise NotFound(
            "no_figure",
            gettext_lazy("There is no figure “%(name)s”. There are: %(known)s."),
            {"name": key, "known": ", ".join(one.key for one in figures)},
        )
    return chosen


def figure(
    result: ReportResult,
    table: str,
    panels: Sequence[Panel],
    axis: Axis,
    draw: Drawer,
    *,
    key: str = "",
    title: object = "",
    fewest: int = 1,
) -> list[Figure]:
    """The figure of a table's panels that have ``fewest`` values; none where no panel has."""
    shown = drawn(panels, fewest)
    if not shown:
        return []
    words = str(title or getattr(found(result, table), "title", ""))
    wide, narrow = draw(shown, axis, False), draw(shown, axis, True)
    below = rests_on(result)
    return [
        Figure(
            key=key or table,
            table=table,
            title=words,
            alt=_told(words, shown, axis),
            spec=finished(wide, words, below),
            narrow=finished(narrow, words, below),
        )
    ]


def rests_on(result: ReportResult) -> str:
    """What a saved figure says of itself below its title."""
    basis = result.basis
    if basis.n:
        said_of = read_of(result)
    elif basis.dialogues:
        said_of = _("Study %(study)s: %(dialogues)s dialogues.") % {
            "study": result.study,
            "dialogues": basis.dialogues,
        }
    else:
        said_of = _("Study %(study)s.") % {"study": result.study}
    return str(said_of)


def read_of(result: ReportResult, *, quoted: bool = False) -> str:
    """The study, the set or layer that was read, how much that is. ``quoted``: names as Markdown's code."""
    basis, mark = result.basis, "`" if quoted else ""
    known = {
        "study": f"{mark}{result.study}{mark}",
        "set": f"{mark}{result.analysis_set}{mark}",
        "layer": f"{mark}{result.layer}{mark}",
        "n": basis.n,
        "persons": basis.persons,
        "dialogues": basis.dialogues,
    }
    if basis.of == "games":
        words = _("Study %(study)s: %(n)s games with %(persons)s people.")
    elif result.layer:
        words = _(
            "Study %(study)s, layer %(layer)s: %(n)s scores by %(persons)s raters on %(dialogues)s dialogues."
        )
    else:
        words = _(
            "Study %(study)s, analysis set %(set)s: %(n)s verdicts by %(persons)s persons on %(dialogues)s "
            "dialogues."
        )
    return words % known


def found(result: ReportResult, key: str) -> ReportTable | None:
    """The table of that key, or None: reports differ, and a figure of a missing table is not drawn."""
    return next((table for table in result.tables if table.key == key), None)


def listed(result: ReportResult, key: str) -> Sequence[Row]:
    table = found(result, key)
    return () if table is None else table.rows


def said(result: ReportResult, table: str, row: Row, column: str) -> str:
    """A cell in the words people read."""
    holder = found(result, table)
    value = row.get(column)
    for heading in () if holder is None else holder.headings:
        if heading.key == column and isinstance(value, str) and value in heading.words:
            return str(heading.words[value])
    return "" if value is None else str(value)


def scoped(
    result: ReportResult, table: str, rows: Iterable[Row], column: str = "language"
) -> list[tuple[str, str, list[Row]]]:
    """Rows that stand together in the table's order: the value of the column, its words, the rows."""
    together = [(value, list(own)) for value, own in groupby(rows, key=lambda row: row.get(column))]
    return [(str(value or ""), said(result, table, own[0], column), own) for value, own in together]


def _told(title: str, panels: Sequence[Panel], axis: Axis) -> str:
    """The text alternative: the first panel's values, and where the others are."""
    panel = panels[0]
    scale = panel.axis or axis
    values = []
    for mark in panel.marks[:TOLD]:
        if mark.value is None:
            values.append(f"{mark.name}: {mark.note or '–'}")
        elif mark.low is None or mark.high is None:
            values.append(f"{mark.name}: {scale.words(mark.value)}")
        else:
            values.append(
                f"{mark.name}: {scale.words(mark.value)} [{scale.words(mark.low)}, {scale.words(mark.high)}]"
            )
    head = f"{title}. {panel.title}: " if panel.title else f"{title}. "
    return head + "; ".join(values) + ". " + _("Every number stands in the table below.")
