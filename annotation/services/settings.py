"""How a study annotates: its settings, made with the protocol's defaults, changed from the desk."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import AnnotationSettings, Attempt, Batch, Taxonomy
from annotation.services.taxonomies import default_taxonomy
from studies import audit, builtin
from studies.models import Study
from studies.services.opening import publish_consent_text, settle_texts
from studies.services.setting import store
from turingsite.errors import Invalid, NotFound

KEY = "annotation"
SETTINGS = (
    "batch_size", "raters", "expert_raters", "reviewers", "lease_minutes", "max_batches", "least_batches",
    "calibration", "calibration_dialogues", "calibration_difference", "calibration_clear",
    "calibration_against", "calibration_tries", "repeat_share", "repeat_after_batches", "repeat_after_hours",
    "gold_share", "break_minutes", "idle_seconds", "rate_per_hour",
)  # fmt: skip
#: What scores mean: fixed with the first batch.
FIXED_ONCE_WORKED = ("taxonomy",)
#: What it takes to pass: fixed with the first calibration. Whether people calibrate may change: often the
#: first raters' dialogues, once reviewed, are what later ones calibrate on.
FIXED_ONCE_CALIBRATED = ("calibration_dialogues", "calibration_difference", "calibration_clear")


def settings_of(study: Study) -> AnnotationSettings:
    """The study's settings; NotFound where it does not annotate."""
    found = AnnotationSettings.objects.select_related("taxonomy").filter(study=study).first()
    if found is None:
        raise NotFound("no_annotation", gettext_lazy("This study does not annotate."))
    return found


@transaction.atomic
def prepare(study: Study, *, user: Any = None) -> AnnotationSettings:
    """Give a study the protocol's settings and the taxonomy that ships, where it has none yet; and the texts
    of the annotation, where people are invited to it beside something else.
    """
    found = AnnotationSettings.objects.select_related("taxonomy").filter(study=study).first()
    if found is None:
        found, _made = AnnotationSettings.objects.get_or_create(
            study=study, defaults={"taxonomy": default_taxonomy()}
        )
    if lacks_text(study):
        publish_consent_text(study=study, body=shipped_text(), activity=KEY, user=user)
        _settle(study)
    return found


def by_invitation(study: Study) -> bool:
    """Whether people annotate here by an invitation only, beside what everybody does."""
    return bool(study.activities) and KEY not in study.activities


def lacks_text(study: Study) -> bool:
    """Whether people who are invited would agree to a text that is about something else."""
    return by_invitation(study) and not study.consent_texts.filter(activity=KEY).exists()


def shipped_text() -> dict[str, Any]:
    """Welcome, consent and debrief of the annotation as they ship, with their places open."""
    return deepcopy(builtin.load(KEY)["consent"])


def _settle(study: Study) -> None:
    """People come in already: what they read has nothing left open, and a hash."""
    if study.status in Study.JOINABLE:
        settle_texts(study)


def refusal(study: Study, name: str) -> str:
    """Why the setting ``name`` may not change now; empty where it may."""
    theirs = {"annotator__participant__study": study}
    if name in FIXED_ONCE_WORKED and Batch.objects.filter(**theirs).exists():
        return _("This can't be changed any more: people have annotated.")
    if name in FIXED_ONCE_CALIBRATED and Attempt.objects.filter(**theirs).exists():
        return _("This can't be changed any more: people have calibrated.")
    return ""


@transaction.atomic
def change_annotation_settings(
    *, study: Study, user: Any = None, taxonomy: Taxonomy | None = None, **fields: Any
) -> list[str]:
    """Set how ``study`` annotates; the names of what changed. Invalid with what is wrong by field."""
    if set(fields) - set(SETTINGS):
        raise ValueError("not settings of the annotation")
    settings = prepare(study, user=user)
    if taxonomy is not None:
        fields["taxonomy"] = taxonomy
    changed = [name for name in fields if fields[name] != getattr(settings, name)]
    fixed = {name: why for name in changed if (why := refusal(study, name))}
    if fixed:
        raise Invalid("fixed", next(iter(fixed.values())), fields=fixed)
    before = str(settings.taxonomy)
    values = store(settings, {name: fields[name] for name in changed})
    if "taxonomy" in changed:
        values["taxonomy"] = [before, str(taxonomy)]
    if "rate_per_hour" in changed:
        _settle(study)  # who reads the consent now reads the new rate, who agreed keeps the old text
    if changed:
        audit.record(
            "annotation.settings", study=study, user=user, target=study.slug, changed=changed, values=values
        )
    return changed
