"""Who annotates in a study: everybody, as an activity of it, or invited people alone."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.services.settings import KEY, prepare, settings_of
from studies import audit
from studies.models import Study
from turingsite.errors import Conflict


def why_settled(study: Study) -> str:
    """Why it can't be changed who annotates; empty where it can."""
    if study.status != Study.Status.DRAFT:
        return _("Who annotates is settled: the study is no draft any more.")
    if study.activities == [KEY]:
        return _("Annotation is the only activity of this study, so everybody annotates.")
    return ""


@transaction.atomic
def let_everybody(*, study: Study, annotate: bool, user: Any = None) -> bool:
    """Make annotating an activity of everybody, or of invited people alone; whether that changed anything.

    Conflict ``settled`` outside a draft, and where nothing else is left to do.
    """
    locked = Study.objects.select_for_update().get(pk=study.pk)
    settings_of(locked)
    if annotate == (KEY in locked.activities):
        return False
    if words := why_settled(locked):
        raise Conflict("settled", words)
    before = list(locked.activities)
    locked.activities = [*before, KEY] if annotate else [one for one in before if one != KEY]
    locked.save(update_fields=["activities"])
    study.activities = locked.activities
    prepare(locked, user=user)  # whoever is invited beside something else agrees to texts of their own
    audit.record(
        "annotation.settings", study=locked, user=user, target=locked.slug, changed=["activities"],
        values={"activities": [", ".join(before), ", ".join(locked.activities)]},
    )  # fmt: skip
    return True
