"""Points of a round, and its end."""

from __future__ import annotations

from datetime import datetime

from dialogues.models import Choice, Verdict
from games.speech.models import Round, SpeechSettings, Trial
from studies.services import note_done
from turingsite.errors import Conflict, gettext_noop

A_ROUND = 10
A_RIGHT_ONE = 10  # beyond half


def points(rule: str, correct: int, answered: int) -> int:
    """``beyond_half``: 10 a round and 10 per right verdict beyond half (4 of 5: 25). ``accuracy``: per cent
    right.
    """
    if not answered:
        return 0
    if rule == SpeechSettings.Points.ACCURACY:
        return round(100 * correct / answered)
    return A_ROUND + int(A_RIGHT_ONE * max(0.0, correct - answered / 2))


def finish_round(round_: Round, *, settings: SpeechSettings, now: datetime) -> None:
    """Close the round: count what was right, give points (none for fun), mark its verdicts as of a finished
    round; whoever has done enough by it counts in the soft launch.
    """
    trials = list(
        Trial.objects.filter(round=round_, state=Trial.State.DONE, expected="")
        .exclude(answer="")
        .select_related("dialogue")
    )
    answered = [trial for trial in trials if trial.answer in Choice.values]
    correct = sum(trial.answer == trial.dialogue.truth for trial in answered)
    changed = Round.objects.filter(pk=round_.pk, state=Round.State.OPEN).update(
        state=Round.State.FINISHED,
        finished_at=now,
        answered=len(answered),
        correct=correct,
        points=0 if round_.for_fun else points(settings.points, correct, len(answered)),
    )
    if not changed:
        raise Conflict("moved_on", gettext_noop("This round is over."))
    Verdict.objects.filter(speech_trial__round=round_).update(round_finished=True)
    round_.refresh_from_db()
    note_done(participant=round_.player.participant, now=now)
