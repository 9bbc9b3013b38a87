"""The annotation as an activity of a study: what the study's pages, debrief and erasure ask of it.

The debrief has no rows of single answers: the truth of a dialogue would spoil its hidden repeat and the gold
items for whoever tells or is told, and scores have no truth.
"""

from __future__ import annotations

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation import places
from annotation.models import AnnotationSettings, Annotator, Batch
from annotation.selectors import work_done
from annotation.selectors_raters import earned
from annotation.services import batches, calibration, leases, queue
from annotation.services.annotators import ACTIVITY
from annotation.services.readiness import ready
from annotation.services.settings import prepare
from studies import registry
from studies.models import Participant, Study


def next_url(participant: Participant) -> str:
    return reverse("annotation:play", args=[participant.study.slug])


def _row(participant: Participant) -> tuple[Annotator, AnnotationSettings] | None:
    annotator = Annotator.objects.filter(participant=participant).first()
    settings = AnnotationSettings.objects.filter(study=participant.study_id).first()
    if annotator is None or settings is None:
        return None
    annotator.participant = participant
    settings.study = participant.study
    return annotator, settings


def is_complete(participant: Participant) -> bool:
    """Whether nothing more is to do: all batches were done and looked back on, or calibration was not passed
    (whoever has other activities goes on with those). Never where the study sets no limit.
    """
    row = _row(participant)
    if row is None:
        return False
    annotator, settings = row
    if annotator.batches.filter(seen_at__isnull=True).exists():
        return False
    return annotator.state == Annotator.State.FAILED or batches.is_over(annotator, settings)


def is_enough(participant: Participant) -> bool:
    """So many finished batches of work as count as done."""
    row = _row(participant)
    if row is None:
        return False
    annotator, settings = row
    return queue.finished_batches(annotator).count() >= max(settings.least_batches, 1)


def hindered(participant: Participant) -> bool:
    """Whether there was nothing for somebody who would have worked: no dialogue left, or no calibration."""
    row = _row(participant)
    if row is None:
        return False
    annotator, settings = row
    if calibration.is_out_of_material(annotator, settings):
        return True
    if annotator.state != Annotator.State.WORKING:
        return False
    if annotator.batches.exclude(state=Batch.State.FINISHED).exists():
        return False
    return batches.why_waiting(annotator, settings, now=timezone.now()) in ("nothing", "sound")


def debrief_facts(participant: Participant) -> list[tuple[registry.Text, str]]:
    """Dialogues, minutes and what they come to, of somebody who annotated."""
    row = _row(participant)
    if row is None:
        return []
    total, pay = work_done(row[0]), earned(*row)
    minutes = ngettext("%(n)s minute", "%(n)s minutes", total["minutes"]) % {"n": total["minutes"]}
    facts: list[tuple[registry.Text, str]] = [(_("Dialogues"), str(total["dialogues"])), (_("Work"), minutes)]
    return [*facts, (_("Pay for your time"), pay)] if pay else facts


def left(participant: Participant) -> None:
    """Somebody withdrew: what they had in hand goes to others at once."""
    for annotator in Annotator.objects.filter(participant=participant):
        leases.leave(annotator)


def _prepare(study: Study) -> None:
    prepare(study)


def register() -> None:
    """Called once when the app starts."""
    registry.activities.add(
        registry.Activity(
            key=ACTIVITY,
            title=_("Annotation"),
            start_url_name="annotation:play",
            next_url=next_url,
            is_complete=is_complete,
            is_enough=is_enough,
            ready=ready,
            prepare=_prepare,
            place_names=places.NAMES,
            places=places.places,
            hindered=hindered,
            debrief_facts=debrief_facts,
            left=left,
        )
    )
