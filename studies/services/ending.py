"""How a participation goes on and ends: begun, completed, screened out, stopped, withdrawn."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from studies import audit
from studies.models import EndState, Participant
from studies.selectors import activities_for, counts_as_done, end_if_stopped
from studies.services.erasing import check_erasure_date, erase
from studies.services.launching import note_done

State = Participant.State


def begin(*, participant: Participant) -> None:
    """Mark that the person started the first activity."""
    if Participant.objects.filter(pk=participant.pk, state=State.CONSENTED).update(state=State.ACTIVE):
        participant.state = State.ACTIVE


def complete(*, participant: Participant, now: datetime | None = None) -> bool:
    """End as done. Whether this call did it; False for people who had ended before."""
    with transaction.atomic():
        ended = _end(participant, State.COMPLETED, EndState.DONE, now)
        if ended:
            note_done(participant=participant, now=now)
    return ended


def screen_out(
    *, participant: Participant, end_state: str = EndState.SCREENED_OUT, now: datetime | None = None
) -> bool:
    """End for a reason that lies with the study's conditions, a check, the technique or us."""
    return _end(participant, State.SCREENED_OUT, end_state, now)


def let_go_on(*, participant: Participant) -> bool:
    """Take back that somebody ended by a failed check: a researcher lets them try again. False for others."""
    changed = Participant.objects.filter(
        pk=participant.pk, end_state=EndState.FAILED_CHECK, withdrawn_at=None
    ).update(state=State.ACTIVE, end_state="", completed_at=None)
    participant.refresh_from_db(fields=["state", "end_state", "completed_at", "withdrawn_at"])
    return bool(changed)


@transaction.atomic
def stop(*, participant: Participant, now: datetime | None = None) -> None:
    """Stop here: done where enough has been done, technical where we have kept the person from it, as the
    activity says where it knows, else a withdrawal that keeps what was given.
    """
    if participant.end_state:
        return
    end = end_if_stopped(participant)
    if end == EndState.DONE:
        complete(participant=participant, now=now)
    elif end != EndState.WITHDREW:
        screen_out(participant=participant, end_state=end, now=now)
    else:
        withdraw(participant=participant, erase_answers=False, now=now)


def close(*, participant: Participant, now: datetime | None = None) -> None:
    """End because the study closed: done where enough has been done, else cancelled by us."""
    if counts_as_done(participant):
        complete(participant=participant, now=now)
    else:
        screen_out(participant=participant, end_state=EndState.CANCELLED, now=now)


@transaction.atomic
def withdraw(*, participant: Participant, erase_answers: bool, now: datetime | None = None) -> None:
    """Leave the study for good: nothing more is stored; with ``erase_answers`` what was given goes, too.

    Somebody who finished keeps that end state and its pay. Withdrawing twice is withdrawing once; erasure
    can be asked for later. Conflict ``erasure_over`` after the study's last date for erasure: then nothing
    is changed.
    """
    now = now or timezone.now()
    # The person alone: others go on writing rows that point to the person or to the study.
    rows = Participant.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("study").get(pk=participant.pk)
    if erase_answers and row.erased_at is None:
        check_erasure_date(row.study, now)
    if row.withdrawn_at is None:
        row.withdrawn_at = now
        row.state = State.WITHDRAWN
        row.end_state = row.end_state or EndState.WITHDREW
        # A name or a place on a leaderboard goes at once, whatever is kept.
        row.nickname = row.nickname_key = ""
        row.save(update_fields=["withdrawn_at", "state", "end_state", "nickname", "nickname_key"])
        for activity in activities_for(row):
            activity.left(row)
        audit.record("participant.withdrew", study=row.study, by="participant", now=now)
    if erase_answers and row.erased_at is None:
        erase(participant=row, now=now)
    participant.refresh_from_db()


def _end(participant: Participant, state: str, end_state: str, now: datetime | None) -> bool:
    changed = Participant.objects.filter(pk=participant.pk, end_state="", withdrawn_at=None).update(
        state=state, end_state=end_state, completed_at=now or timezone.now()
    )
    participant.refresh_from_db(fields=["state", "end_state", "completed_at", "withdrawn_at"])
    return bool(changed)
