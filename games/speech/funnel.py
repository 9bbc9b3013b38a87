"""The game's steps of a study's funnel, and what goes wrong while people listen. Counts only, no outcomes."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from dialogues.models import Verdict
from games.speech.models import Round, SpeechPlayer, Trial
from games.speech.services.verdicts import CHECKS_FAILED
from studies.funnel import Step
from studies.models import Participant, Study

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
    people = Participant.objects.filter(study=study, is_test=False, erased_at=None)
    players = SpeechPlayer.objects.filter(participant__in=people)
    judged = Verdict.objects.filter(study=study, rater__participant__in=people, activity="speech")
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


def listening_of(study: Study, people: QuerySet[Participant] | None = None) -> Listening:
    """What the trials of a study came to, of the people whom the steps above them count, or of ``people``."""
    players = SpeechPlayer.objects.filter(
        participant__study=study, participant__is_test=False, participant__erased_at=None
    )
    if people is not None:
        players = players.filter(participant__in=people.filter(is_pilot=False))
    trials = Trial.objects.filter(round__player__in=players, expected="").aggregate(
        answered=Count("pk", filter=Q(state=Trial.State.DONE)),
        failed=Count("pk", filter=Q(state=Trial.State.FAILED)),
        waited=Count("pk", filter=Q(gate=Trial.Gate.TIMEOUT)),
        known=Count("pk", filter=Q(known=True)),
    )
    times = (
        Round.objects.filter(player__in=players, finished_at__isnull=False)
        .order_by("-finished_at")
        .values_list("started_at", "finished_at")[:RECENT]
    )
    minutes = [(end - start).total_seconds() / 60 for start, end in times if end is not None]
    return Listening(**trials, minutes=round(median(minutes), 1) if minutes else None)


class Technical(NamedTuple):
    """How the game went for people whose verdicts count: what a soft launch is looked at for, no outcomes."""

    consented: int
    judged: int
    finished: int
    left: int
    answered: int
    failed: int
    gates: dict[str, int]
    sound_passed: int
    sound_failed: int
    checks_asked: int
    checks_failed: int
    flagged: int
    devices: dict[str, int]


def technical_of(study: Study, people: QuerySet[Participant] | None = None) -> Technical:
    """Drop-out, sounds that failed, gates, checks and devices; people of pilots and tests left out.

    ``people``: of them alone.

    ``left``: consented, finished no round, and ended or left. ``flagged``: people whom two checks found out.
    """
    counted = {"study": study, "is_test": False, "is_pilot": False, "consented_at__isnull": False}
    whole = (Participant.objects.all() if people is None else people).filter(**counted)
    people = whole.filter(erased_at=None)
    players = SpeechPlayer.objects.filter(participant__in=whole)
    rounds = Round.objects.filter(player__in=players.values("pk"), state=Round.State.FINISHED, answered__gt=0)
    finished = set(rounds.values_list("player__participant", flat=True))
    trials = Trial.objects.filter(round__player__in=players.values("pk"), expected="")
    gates = trials.exclude(gate="").values_list("gate").annotate(n=Count("pk")).order_by("gate")
    sums = players.aggregate(
        passed=Count("pk", filter=Q(sound_passed=True)),
        failed=Count("pk", filter=Q(sound_passed=False)),
        asked=Sum("checks_asked"),
        wrong=Sum("checks_failed"),
        flagged=Count("pk", filter=Q(checks_failed__gte=CHECKS_FAILED)),
    )
    return Technical(
        consented=people.count(),
        judged=trials.exclude(verdict=None).values("round__player").distinct().count(),
        finished=len(finished),
        left=people.exclude(end_state="").exclude(pk__in=finished).count(),
        answered=trials.filter(state=Trial.State.DONE).count(),
        failed=trials.filter(state=Trial.State.FAILED).count(),
        gates=dict(gates),
        sound_passed=sums["passed"],
        sound_failed=sums["failed"],
        checks_asked=sums["asked"] or 0,
        checks_failed=sums["wrong"] or 0,
        flagged=sums["flagged"],
        devices=dict(people.values_list("device_class").annotate(n=Count("pk")).order_by("device_class")),
    )
