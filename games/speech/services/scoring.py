"""Points of a round, its end, and the sums the leaderboard ranks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from dialogues.models import Choice, Verdict
from games.speech.models import Round, SpeechPlayer, SpeechSettings, Standing, Trial
from studies.models import Participant
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
    round, add it to the player's standings; whoever has done enough by it counts in the soft launch.
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
    add_up(round_.player, of=round_)
    note_done(participant=round_.player.participant, now=now)


def add_up(player: SpeechPlayer, *, of: Round | None = None) -> None:
    """Make the player's standings from their rounds: those of the boards ``of`` is on, or all of them.

    Called while the player is locked, so that two rounds are never added up at once. Rounds for fun and
    rounds without an answer count nowhere.
    """
    study = player.participant.study
    zone = ZoneInfo(study.time_zone)
    rounds = player.rounds.filter(state=Round.State.FINISHED, for_fun=False, answered__gt=0)
    boards: dict[tuple[str, str], list[Round]] = {}
    for one in rounds:
        assert one.finished_at is not None  # noqa: S101  (finish_round sets it with the state)
        day = one.finished_at.astimezone(zone).date().isoformat()
        for board in ((lang, span) for lang in (one.language, Standing.ALL) for span in (day, Standing.ALL)):
            boards.setdefault(board, []).append(one)
    changed = {board: its for board, its in boards.items() if of is None or of in its}
    Standing.objects.bulk_create(
        [_standing(player, board, its) for board, its in changed.items()],
        update_conflicts=True,
        unique_fields=["player", "language", "period"],
        update_fields=["points", "per_cent", "rounds", "reached_at", "shown"],
    )


def _standing(player: SpeechPlayer, board: tuple[str, str], rounds: list[Round]) -> Standing:
    person = player.participant
    answers = sum(one.answered for one in rounds)
    return Standing(
        study_id=person.study_id,
        player=player,
        language=board[0],
        period=board[1],
        shown=not (person.is_pilot or person.is_test),
        points=sum(one.points for one in rounds),
        per_cent=round(100 * sum(one.correct for one in rounds) / answers),
        rounds=len(rounds),
        reached_at=max(one.finished_at for one in rounds if one.finished_at),
    )


def leave_boards(participant: Participant) -> None:
    """Take somebody who withdrew off every board, whatever else is kept."""
    Standing.objects.filter(player__participant=participant).delete()
