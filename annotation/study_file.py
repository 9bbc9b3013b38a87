"""The annotation's part of a study file: its settings and its taxonomy, under ``settings.annotation``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml
from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, Taxonomy
from annotation.services.settings import SETTINGS, change_annotation_settings
from annotation.services.settings import refusal as fixed
from annotation.services.taxonomies import default_taxonomy, shipped
from annotation.services.taxonomy_editing import choose_taxonomy
from studies.files.shapes import Flag, Found, Number, Shape, Text, Whole
from studies.models import Study
from studies.registry import StudyPart, study_parts

KEY = "annotation"
MOST = 32_767  # what the column holds
NAMED = re.compile(r"(?P<name>[-a-zA-Z0-9_]+) v(?P<version>[0-9]{1,6})")


@dataclass(frozen=True)
class Version:
    """A taxonomy by name and version, as ``human-likeness-18 v1``, that is on this site."""

    def check(self, node: yaml.Node, key: str, found: Found) -> str:
        before = len(found.problems)
        text = Text(80, blank=False).check(node, key, found)
        if text and len(found.problems) == before and taxonomy_called(text) is None:
            words = _("There is no taxonomy “%(name)s” here. Load its file first.") % {"name": text}
            found.add(node, key, words)
        return text


def taxonomy_called(text: str) -> Taxonomy | None:
    """The taxonomy of that name and version; what ships is stored when it is asked for by its name."""
    named = NAMED.fullmatch(text)
    if named is None:
        return None
    if named["name"] == shipped()["name"]:
        default_taxonomy()
    return Taxonomy.objects.filter(name=named["name"], version=int(named["version"])).first()


FIELDS: dict[str, Shape] = {
    "taxonomy": Version(),
    "batch_size": Whole(1, 20),
    "raters": Whole(1, 50),
    "expert_raters": Whole(0, 50),
    "reviewers": Whole(1, 20),
    "lease_minutes": Whole(5, MOST),
    "max_batches": Whole(0, MOST),
    "least_batches": Whole(0, MOST),
    "calibration": Flag(),
    "calibration_dialogues": Whole(1, 100),
    "calibration_difference": Number(0, 4),
    "calibration_clear": Number(0, 1),
    "calibration_against": Number(0, 1),
    "calibration_tries": Whole(1, MOST),
    "repeat_share": Number(0, 0.5),
    "repeat_after_batches": Whole(0, MOST),
    "repeat_after_hours": Whole(0, MOST),
    "gold_share": Number(0, 0.5),
    "break_minutes": Whole(0, MOST),
    "idle_seconds": Whole(10, MOST),
    "rate_per_hour": Number(0, 999_999.99, blank=True),
}


def _values(settings: AnnotationSettings, taxonomy: str) -> dict[str, Any]:
    found = {name: getattr(settings, name) for name in SETTINGS}
    rate = found["rate_per_hour"]
    return {"taxonomy": taxonomy} | found | {"rate_per_hour": None if rate is None else float(rate)}


def read(study: Study) -> dict[str, Any]:
    """The study's settings, the defaults where it has none yet."""
    found = AnnotationSettings.objects.select_related("taxonomy").filter(study=study).first()
    return defaults() if found is None else _values(found, str(found.taxonomy))


def defaults() -> dict[str, Any]:
    return _values(AnnotationSettings(), str(default_taxonomy()))


def has(study: Study) -> bool:
    return AnnotationSettings.objects.filter(study=study).exists()


def refusal(study: Study, name: str) -> Any:
    """Why the setting may not change now; empty where it may."""
    return fixed(study, name)


def write(study: Study, values: Mapping[str, Any], user: Any) -> None:
    fields = dict(values)
    named = taxonomy_called(fields.pop("taxonomy", ""))
    if named is not None:
        choose_taxonomy(study=study, taxonomy=named, user=user)
    rate = fields.get("rate_per_hour")
    if rate is not None:
        fields["rate_per_hour"] = round(Decimal(str(rate)), 2)
    if fields:
        change_annotation_settings(study=study, user=user, **fields)


def register() -> None:
    assert set(FIELDS) == {*SETTINGS, "taxonomy"}  # noqa: S101  (a setting without a place would be lost)
    study_parts.add(StudyPart(KEY, FIELDS, read, defaults, refusal, write, has))
