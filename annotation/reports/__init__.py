"""Reports on the annotation: pure functions over tidy rows. They know columns, not rows of the database.

``given``: scores as arrays, ``levels``: words as numbers. ``agreement``, ``revision``, ``profile``,
``quality``: the four reports.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotation.models import Layer
from annotation.outcomes import annotates
from annotation.reports import agreement, given, pictures, profile, quality, revision, working
from annotation.reports.parts import FAMILIES
from studies.registry import Report, reports

LAYERS = dict(Layer.choices)
SHOWN = {Layer.TRUTH_SHOWN.value: Layer.TRUTH_SHOWN.label}
#: Figures that a plan may name as the primary outcome, by report.
OUTCOMES = {
    "agreement": {"alpha": _("Krippendorff's alpha, by dimension")},
    "revision-impact": {"share": _("Share of scores that review changed")},
    "dimension-profile": {"gap": _("Machines minus people, by dimension")},
}


def register() -> None:
    """Called once when the app starts."""
    with_choices = (*given.DATASETS, "annotation_items")
    for key, title, tables, build, figures, layers, columns in (
        (
            "agreement", _("Agreement"), with_choices, agreement.build, pictures.agreement, LAYERS,
            given.COLUMNS,
        ),
        (
            "revision-impact", _("Revision impact"), given.DATASETS, revision.build,
            pictures.revision_impact, SHOWN, given.COLUMNS,
        ),
        (
            "dimension-profile", _("Dimension profile"), with_choices, profile.build,
            pictures.dimension_profile, LAYERS, given.COLUMNS,
        ),
        (
            "rater-quality", _("Rater quality"), working.DATASETS, quality.build, pictures.rater_quality,
            quality.LAYERS, working.COLUMNS,
        ),
    ):  # fmt: skip
        reports.add(
            Report(
                key,
                title,
                tables,
                build,
                OUTCOMES.get(key, {}),
                FAMILIES.get(key, {}),
                figures=figures,
                columns=columns,
                # How far raters agree says nothing of what they heard in whom.
                blind=key in ("agreement", "rater-quality"),
                layers=layers,
                of="scores",
                has=annotates,
            )
        )
