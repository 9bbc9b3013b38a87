"""A report's result as its page shows it: tables in groups of rows, figures drawn; a figure as a file."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from studies.figures import Figure, Spec, access_figure, as_png, as_svg, figures_of, on_page
from studies.report_formats import in_words
from studies.reports import Heading, ReportResult

Cells = list[tuple[str, bool, bool]]  # and whether each is a number, and stays in view

EMPTY = "–"  # a cell without a value, as people read it


def tables_of(result: ReportResult) -> list[dict[str, Any]]:
    """The tables of a report as its page shows them, each with its figures drawn wide and narrow.

    Columns of words that are empty in every row are left out; rows are taken together by their first column.
    """
    figures = figures_of(result)
    shown = []
    for table in result.tables:
        headings, rows = in_words(table)
        kept = [
            place
            for place, heading in enumerate(headings)
            if heading.format != "text" or any(row[place] != EMPTY for row in rows)
        ]
        stays = _names_of(headings)
        cells = [
            [(row[place], headings[place].format != "text", place == stays) for place in kept] for row in rows
        ]
        shown.append(
            {
                "table": table,
                "headings": [(headings[place], place == stays) for place in kept],
                "rows": cells,
                "groups": _together(cells),
                "figures": [
                    {"figure": one, "wide": _inline(one.spec), "narrow": _inline(one.narrow)}
                    for one in figures
                    if one.table == table.key
                ],
            }
        )
    return shown


def _names_of(headings: list[Heading]) -> int:
    """Place of the column that names a row, which stays in view where the others scroll: the first, unless
    there is one of names."""
    return next((place for place, heading in enumerate(headings) if heading.key == "name"), 0)


def _together(rows: list[Cells]) -> list[list[Cells]]:
    """Neighbours with the same first cell; all rows as one where none has such a neighbour."""
    groups = [list(own) for _first, own in groupby(rows, key=lambda row: row[:1])]
    return groups if len(groups) < len(rows) else [rows]


def picture_file(result: ReportResult, wanted: str, key: str) -> tuple[Figure, bytes, str]:
    """A figure as a file: which one, its bytes, their type. NotFound where there is none of that key."""
    figure = access_figure(result, key)
    if wanted == "png":
        return figure, as_png(figure), "image/png"
    return figure, as_svg(figure).encode(), "image/svg+xml"


def _inline(spec: Spec) -> SafeString:
    # What people typed is text in the specification, and Vega escapes text where it writes SVG.
    return mark_safe(on_page(spec))  # noqa: S308
