"""What is removed of a player who asks for erasure: waiting, and votes. The room removes the rest."""

from __future__ import annotations

from games.group.models import Elimination, Ticket, Vote
from games.room.models import Event
from studies.models import Participant


def erase_player(participant: Participant) -> int:
    """Remove tickets and votes, the votes from the tallies, too: what is left of a round must not tell them.

    Who went out stays as it was decided.
    """
    removed = Ticket.objects.filter(participant=participant).delete()[0]
    votes = Vote.objects.filter(voter__participant=participant).select_related("target", "game")
    for vote in votes:
        if vote.target is not None:
            _uncount(vote, vote.target.code)
    return removed + votes.delete()[0]


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
