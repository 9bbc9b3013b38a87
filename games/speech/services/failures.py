"""“The sound fails”: the trial is kept without verdict, another dialogue takes its place. When it is ours."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from games.speech.assignment import pool
from games.speech.models import Trial
from games.speech.services.players import access_trial, locked_player, moved_on, settings_of
from games.speech.services.playing import FAILURES, Place, current_place
from games.speech.services.verdicts import storable
from studies.models import Participant
from studies.services.holding import refuse_if_over

UNSAID = "unsaid"


@transaction.atomic
def report_failure(*, participant: Participant, code: str, why: str, now: datetime) -> Place:
    """Close a trial whose sound failed and give another dialogue; sent twice, it says where the person is
    now.

    Conflict ``moved_on`` for a trial that was answered and left. An answer already given to a current trial
    stays with its verdict: then nothing failed, and the person stays where they are.
    """
    refuse_if_over(participant)
    settings = settings_of(participant.study)
    player = locked_player(participant)
    trial = access_trial(participant, code)
    if trial.state == Trial.State.DONE:
        raise moved_on()
    if trial.state == Trial.State.CURRENT and not trial.answer:
        trial.state = Trial.State.FAILED
        trial.failure = storable(why.strip(), 40) or UNSAID
        trial.closed_at = now
        trial.save(update_fields=["state", "failure", "closed_at"])
    return current_place(player, trial.round, settings, now=now)


def kept_from_playing(participant: Participant) -> bool:
    """Whether somebody who stops now does so because of us: the sound failed, or there was nothing to hear.

    Read from their last answer on: a conversation that played and did not fail speaks against it. Without any
    answer one failure is enough; after one, as many as send a person to the pause (``FAILURES``), because by
    then the sound had worked. Nothing to hear: the person began, and their language has no conversations.
    """
    served = (
        Trial.objects.filter(round__player__participant=participant)
        .exclude(state=Trial.State.DRAWN)
        .order_by("-pk")
        .values_list("state", "answer", "heard")
    )
    failed, answered = 0, False
    for state, answer, heard in served:
        if answer:
            answered = True
            break
        if state == Trial.State.FAILED:
            failed += 1
        elif heard > 0:
            return False
    if not served:
        began = participant.state == Participant.State.ACTIVE
        return began and not pool(participant.study, participant.judging_language)
    return failed >= (FAILURES if answered else 1)
