"""How the game of one study goes at this moment, in counts: who plays, who left, which sounds failed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from games.speech.models import Round, Trial
from studies.models import Participant, Study

PLAYING = timedelta(minutes=10)  # since the last sign of somebody who plays
LEFT = timedelta(minutes=30)  # without a sign, and somebody without a finished round has left
RECENT = timedelta(hours=1)


class Live(NamedTuple):
    """Counts of people and of trials, test participants left out.

    ``left``: of those who agreed (``consented``), who finished no round and ended, or gave no sign for half
    an hour. People with activities of their own, as invited annotators, are in ``joined`` and ``done`` alone.
    ``served`` and ``failed``: conversations of the last hour.
    """

    playing: int
    consented: int
    joined: int
    done: int
    left: int
    served: int
    failed: int


def live_of(study: Study, *, now: datetime) -> Live:
    own = {"round__player__participant__study": study, "round__player__participant__is_test": False}
    moved = Q(served_at__gte=now - PLAYING) | Q(first_play_at__gte=now - PLAYING)
    moved |= Q(unlocked_at__gte=now - PLAYING)
    # By the lease, which is in the index: a lease never ends before the trial was served.
    current = Trial.objects.filter(moved, state=Trial.State.CURRENT, lease_until__gte=now - PLAYING, **own)
    since = now - RECENT
    recent = Trial.objects.filter(
        state__in=(Trial.State.CURRENT, Trial.State.DONE, Trial.State.FAILED),
        lease_until__gte=since,
        served_at__gte=since,
        **own,
    ).aggregate(served=Count("pk"), failed=Count("pk", filter=Q(state=Trial.State.FAILED)))
    people = Participant.objects.filter(study=study, is_test=False, consented_at__isnull=False)
    of_the_game = people.filter(activities=[])
    counts = people.aggregate(
        joined=Count("pk", filter=Q(consented_at__gte=since)),
        done=Count("pk", filter=Q(end_state="done")),
    )
    return Live(
        playing=current.aggregate(n=Count("round__player", distinct=True))["n"],
        consented=of_the_game.count(),
        left=_left(of_the_game, now),
        **counts,
        **recent,
    )


def _left(people: QuerySet[Participant], now: datetime) -> int:
    of_person = {"round__player__participant": OuterRef("pk")}
    finished = Round.objects.filter(player__participant=OuterRef("pk"), state=Round.State.FINISHED)
    lately = Trial.objects.filter(served_at__gte=now - LEFT, **of_person)
    away = Q(consented_at__lt=now - LEFT) & ~Exists(lately)
    return people.filter(~Exists(finished), ~Q(end_state="") | away).count()
