"""What must be true of the rows after bots have played, where the study is in this database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db.models import Count, Max

from games.group.models import Game, Vote
from games.room.models import Event


def wrong_in(rooms: Iterable[str]) -> list[str]:
    """Everything that is wrong in the games of these rooms (codes), in words."""
    found: list[str] = []
    for game in Game.objects.filter(room__code__in=set(rooms)).select_related("room"):
        found += [f"game {game.number}: {line}" for line in _wrong(game)]
    return found


def _wrong(game: Game) -> list[str]:
    found = []
    log = Event.objects.filter(room=game.room).aggregate(count=Count("id"), last=Max("seq"))
    if not log["count"] == log["last"] == game.room.last_seq:
        found.append(f"{log['count']} lines up to {log['last']}, the room says {game.room.last_seq}")
    if not game.end or game.room.closed_at is None:
        found.append(f"has not ended: {game.room.phase} of round {game.room.round}")
    votes = Counter(Vote.objects.filter(game=game).values_list("voter", "round"))
    found += [f"seat {seat} has {n} votes in round {number}" for (seat, number), n in votes.items() if n > 1]
    for one in game.eliminations.select_related("seat"):
        counted = Counter(
            game.votes.filter(round=one.round).exclude(target=None).values_list("target__code", flat=True)
        )
        if {code: n for code, n in one.tally.items() if n} != dict(counted):
            found.append(f"round {one.round} was decided by {one.tally}, the votes are {dict(counted)}")
        most = max(counted.values(), default=0)
        if counted and counted[one.seat.code] != most:
            found.append(f"round {one.round} went against {one.seat.code}, who had not the most votes")
    if game.end == Game.End.AGENT_OUT and not game.room.seats.filter(nature="machine", out_at__isnull=False):
        found.append("ended with the AI voted out, who is not out")
    return found


def seats_drawn(rooms: Iterable[str]) -> tuple[int, int]:
    """How many ties there were, and how many of them took the first of those tied."""
    ties = [
        (one.tied, one.seat.code)
        for game in Game.objects.filter(room__code__in=set(rooms))
        for one in game.eliminations.select_related("seat")
        if len(one.tied) > 1
    ]
    return len(ties), sum(code == tied[0] for tied, code in ties)
