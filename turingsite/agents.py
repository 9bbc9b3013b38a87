"""The runner of the group game's agents: in the one process where embedded, else ``manage.py run_agents``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from django.conf import settings

from games.group.agent.running import MOST_GAMES, THREADS, Runner
from games.group.bots.calls import run_call
from turingsite import heartbeat


def runner(*, threads: int = THREADS, most: int = MOST_GAMES) -> Runner:
    """One with bots and a heartbeat."""
    return Runner(
        send_bots=run_call, beat=partial(heartbeat.beat, heartbeat.AGENTS), threads=threads, most=most
    )


@asynccontextmanager
async def agents() -> AsyncIterator[None]:
    """Beside the pages where the settings ask for one process that does all."""
    if not settings.EMBEDDED_WORKER:
        yield
        return
    one = runner()
    one.start()
    try:
        yield
    finally:
        await asyncio.to_thread(one.stop)
