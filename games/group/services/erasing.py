"""What is removed of a player who asks for erasure: waiting, votes, and what the agent noted of the talk.

The room removes their messages; a round that is over stays decided as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from games.group.models import AgentNote, AgentStep, Candidate, Elimination, Game, Ticket, Vote
from games.room.models import Event
from studies.models import Participant

ERASED = "erased, since a player asked for it"


def erase_player(participant: Participant) -> int:
    """Remove tickets and votes, the votes from the tallies, too: what is left of a round must not tell them.

    The agent may have quoted anybody in its notes and thoughts: those of the person's games are emptied, the
    messages it sent stay.
    """
    removed = Ticket.objects.filter(participant=participant).delete()[0]
    votes = Vote.objects.filter(voter__participant=participant).select_related("target", "game")
    for vote in votes:
        if vote.target is not None:
            _uncount(vote, vote.target.code)
    games = Game.objects.filter(room__seats__participant=participant)
    return removed + votes.delete()[0] + forget(list(games.values_list("pk", flat=True)))


def forget(games: Sequence[int]) -> int:
    """Empty what the agent wrote down in these games; how many rows. What it cost and when stays.

    A note of a game under way is marked, too, so that no agent reads it.
    """
    steps = AgentStep.objects.filter(game__in=games)
    notes = AgentNote.objects.filter(game__in=games)
    return sum(
        (
            Candidate.objects.filter(step__game__in=games).update(text="", verdict=""),
            steps.update(reason="", review=""),
            notes.exclude(finished_at=None).filter(game__end="").update(value={}, failure=ERASED),
            notes.exclude(game__end="").update(value={}),
        )
    )


def _uncount(vote: Vote, code: str) -> None:
    for row in Elimination.objects.filter(game=vote.game, round=vote.round):
        row.tally = _less(row.tally, code)
        row.save(update_fields=["tally"])
    lines = Event.objects.filter(room=vote.game.room_id, kind=Event.Kind.OUT, round=vote.round)
    for line in lines:
        if "tally" in line.data:
            line.data = {**line.data, "tally": _less(line.data["tally"], code)}
            line.save(update_fields=["data"])


def _less(tally: dict[str, int], code: str) -> dict[str, int]:
    fewer = {**tally, code: tally.get(code, 0) - 1}
    return {key: n for key, n in fewer.items() if n > 0}
