"""Which runner plays which game and sends which bots: leases in the rows, so that a kill costs seconds."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Q

from games.group.models import BotCall, Game

LEASE = timedelta(seconds=4.5)
RENEW = 1.0  # seconds between two looks; with the lease a game is taken over within 6
FREE = ""
STOPPED = "the process stopped"

State = BotCall.State


def new_name() -> str:
    """A name for one runner, told apart from all others; at most 30 characters."""
    return f"{socket.gethostname()[:12]}-{os.getpid() % 10**8}-{secrets.token_hex(4)}"


def _of(runner: str) -> Q:
    return Q(agent_claim__startswith=f"{runner}.")


def _due(now: datetime) -> Q:
    return Q(agent_lease_until=None) | Q(agent_lease_until__lte=now)


def claim_games(*, runner: str, turn: int, most: int, now: datetime) -> dict[int, str]:
    """Take up to ``most`` games that have an agent and nobody who plays it: their keys and claims.

    A claim is the runner's name with the ``turn`` in which it took the game: a runner that lost a game and
    has it again is another one, too, to what it began before.
    """
    claim = f"{runner}.{turn}"
    if most <= 0:
        return {}
    played = Game.objects.filter(end="", room__closed_at=None, agent__isnull=False)
    found = list(played.filter(_due(now)).order_by("pk").values_list("pk", flat=True)[:most])
    if not found:
        return {}
    free = Game.objects.filter(pk__in=found, end="").filter(
        _due(now)
    )  # asked again of each row as it is changed
    free.update(agent_claim=claim, agent_lease_until=now + LEASE)
    return dict.fromkeys(
        Game.objects.filter(pk__in=found, agent_claim=claim).values_list("pk", flat=True), claim
    )


def renew_games(*, runner: str, games: Collection[int], now: datetime) -> dict[int, str]:
    """Go on playing these; those that are still this runner's, with their claims."""
    if not games:
        return {}
    own = Game.objects.filter(_of(runner), pk__in=games)
    own.filter(end="").update(agent_lease_until=now + LEASE)
    return dict(own.values_list("pk", "agent_claim"))


def free_games(*, runner: str) -> int:
    """Let others have what this runner plays, at once."""
    own = Game.objects.filter(_of(runner), end="")
    return own.update(agent_claim=FREE, agent_lease_until=None)


def abandoned_games(now: datetime, since: timedelta) -> int:
    """Games that should have had a runner for so long and have none."""
    late = Q(agent_lease_until=None, room__opened_at__lte=now - since) | Q(agent_lease_until__lte=now - since)
    return Game.objects.filter(late, end="", room__closed_at=None, agent__isnull=False).count()


def claim_call(*, runner: str, now: datetime) -> BotCall | None:
    """Take one call for bots that waits."""
    for pk in BotCall.objects.filter(state=State.QUEUED).order_by("pk").values_list("pk", flat=True)[:5]:
        free = BotCall.objects.filter(pk=pk, state=State.QUEUED)
        if free.update(state=State.RUNNING, claim=runner, lease_until=now + LEASE):
            return BotCall.objects.select_related("study").get(pk=pk)
    return None


def end_lost_calls(now: datetime) -> int:
    """Calls whose runner has stopped: their bots are gone from their games, and others would not fit in.

    Where people still wait, the waiting room calls anew.
    """
    lost = BotCall.objects.filter(state=State.RUNNING, lease_until__lte=now)
    return lost.update(state=State.FAILED, findings=[STOPPED], finished_at=now, lease_until=None)


def renew_calls(*, runner: str, calls: Collection[int], now: datetime) -> set[int]:
    """Go on with these; which of them are still this runner's."""
    if not calls:
        return set()
    own = BotCall.objects.filter(pk__in=calls, claim=runner, state=State.RUNNING)
    own.update(lease_until=now + LEASE)
    return set(own.values_list("pk", flat=True))


def finish_call(*, call_id: int, runner: str, findings: list[str], failed: bool, now: datetime) -> bool:
    """Note what the bots found; whether the call was still this runner's."""
    done = BotCall.objects.filter(pk=call_id, claim=runner, state=State.RUNNING).update(
        state=State.FAILED if failed else State.DONE, findings=findings, finished_at=now, lease_until=None
    )
    return bool(done)
