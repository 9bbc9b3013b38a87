"""Families of comparisons: whose p values are adjusted together. A frozen plan may name them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from studies.reports import Heading

#: By report, then by table, which is also what a row says under ``family``.
FAMILIES: dict[str, dict[str, Any]] = {
    "success-rate": {
        "success": _("All systems against .5, per language and pooled"),
        "difference": _("All systems against human speakers, per language and pooled"),
        "strategies": _("All strategies against the others, per language and pooled"),
    },
    "accuracy": {"factors": _("All demographic factors")},
    "discrimination": {
        "discrimination": _("d′ of all systems against 0, per language and pooled"),
        "between": _("All pairs of systems, per language and pooled"),
    },
}
HEADINGS = (
    Heading("p_holm", _("p (Holm)"), "p"),
    Heading(
        "family",
        _("family"),
        "text",
        {table: words for tables in FAMILIES.values() for table, words in tables.items()},
    ),
)
