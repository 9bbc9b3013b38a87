"""The game's steps of a study's funnel, and what goes wrong while people listen. Counts only, no outcomes."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from django.db.models import Count, Max, Q
from django.utils.translation import gettext_lazy as _

from dialogues.models import Verdict
from games.speech.models import Round, SpeechPlayer, Trial
from studies.funnel import Step
from studies.models import Study

SHOWN_ROUNDS = 3
RECENT = 2000  # rounds the median length is taken over


class Listening(NamedTuple):
    """Trials answered, replaced as the sound failed, unlocked by waiting; a round's median length."""

    answered: int
    failed: int
    waited: int
    known: int
    minutes: float | None


def steps_of(study: Study) -> list[Step]:
    """Sound check, first verdict, and how many finished at least so many rounds."""
    players = SpeechPlayer.objects.filter(participant__study=study, participant__is_test=False)
    judged = Verdict.objects.filter(study=study, rater__participant__is_test=False, activity="speech")
    most = (
        players.annotate(most=Max("rounds__number", filter=Q(rounds__state=Round.State.FINISHED)))
        .exclude(most=None)
        .values_list("most", flat=True)
    )
    rounds = list(most)
    return [
        Step("sound", _("Did the sound check"), players.exclude(sound_passed=None).count()),
        Step("verdict", _("Gave a verdict"), judged.values("rater").distinct().count()),
        *(
            Step(f"round_{n}", _("Finished round 1") if n == 1 else _ROUNDS[n], sum(r >= n for r in rounds))
            for n in range(1, SHOWN_ROUNDS + 1)
        ),
    ]


_ROUNDS = {2: _("Finished round 2"), 3: _("Finished round 3")}


def listening_of(study: Study) -> Listening:
    """What the trials of a study came to, test participants left out as in the steps above them."""
    trials = Trial.objects.filter(
        round__player__participant__study=study, round__player__participant__is_test=False, expected=""
    ).aggregate(
        answered=Count("pk", filter=Q(state=Trial.State.DONE)),
        failed=Count("pk", filter=Q(state=Trial.State.FAILED)),
        waited=Count("pk", filter=Q(gate=Trial.Gate.TIMEOUT)),
        known=Count("pk", filter=Q(known=True)),
    )
    times = (
        Round.objects.filter(
            player__participant__study=study, player__participant__is_test=False, finished_at__isnull=False
        )
        .order_by("-finished_at")
        .values_list("started_at", "finished_at")[:RECENT]
    )
    minutes = [(end - start).total_seconds() / 60 for start, end in times if end is not None]
    return Listening(**trials, minutes=round(median(minutes), 1) if minutes else None)
