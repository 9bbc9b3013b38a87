"""What goes when a person asks for it: every app's rows through its eraser; exports on disk become stale."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies import audit, codes, registry
from studies.models import Answer, Consent, ExportFile, Participant, Rater, Study
from studies.selectors import local_day
from studies.texts import day_text
from turingsite.errors import Conflict


@transaction.atomic
def erase(*, participant: Participant, now: datetime | None = None) -> None:
    """Remove all the person gave. A row without content stays: their cookie and codes get a true answer.

    Its public code is drawn anew: nothing in an earlier export can be joined to what remains.
    """
    now = now or timezone.now()
    check_erasure_date(participant.study, now)
    rows = sum(eraser.erase(participant) for eraser in registry.erasers)
    Participant.objects.filter(pk=participant.pk).update(
        code=codes.participant_code(),
        user=None,
        interface_language="en",
        judging_language="",
        recruiter={},
        recruiter_key="",
        source="",
        nickname="",
        nickname_key="",
        device_class="",
        joined_at=now,
        consented_at=now,
        completed_at=None,
        withdrawn_at=now,
        erased_at=now,
    )
    stale = ExportFile.objects.filter(study=participant.study, stale_since=None).update(stale_since=now)
    audit.record(
        "participant.erased",
        study=participant.study,
        by="participant",
        now=now,
        rows=rows,
        stale_exports=stale,
    )
    participant.refresh_from_db()


def check_erasure_date(study: Study, now: datetime) -> None:
    """Conflict ``erasure_over`` after the last day for erasure, in the study's time zone."""
    if study.erasure_until is not None and local_day(study, now) > study.erasure_until:
        raise Conflict(
            "erasure_over",
            _(
                "Answers could be erased until %(day)s; since then the data set is fixed, in a form in which "
                "nobody can be recognised. You can still stop, so that nothing more is stored."
            ),
            {"day": day_text(study.erasure_until)},
        )


def erase_own_rows(participant: Participant) -> int:
    """This floor's part: answers, consent, and the rater on which every opinion hangs."""
    counts = [
        Answer.objects.filter(rater__participant=participant).delete()[0],
        Consent.objects.filter(participant=participant).delete()[0],
        Rater.objects.filter(participant=participant).delete()[0],
    ]
    return sum(counts)


def register() -> None:
    """Called once when the app starts; the apps above have registered before, so the rater goes last."""
    registry.erasers.add(
        registry.Eraser(
            key="studies",
            models=("studies.Participant", "studies.Rater", "studies.Consent", "studies.Answer"),
            erase=erase_own_rows,
        )
    )
