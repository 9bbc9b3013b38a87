"""Runners: who plays which game, what a killed one costs, what goes on after a fault."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from dialogues.models import Nature
from games.group.agent import claims
from games.group.agent.running import Runner
from games.group.agent.thinking import Ballot, Decision, Kind, Proposal, Review, kinds
from games.group.agent.view import View
from games.group.models import AgentStep, BotCall, Game
from games.group.services.agents import offline_data, publish_agent
from games.room.models import Event
from tests.factories import StudyFactory
from tests.rooms import GameFactory, RoomFactory

ROOT = Path(__file__).resolve().parents[2]
QUICK = {
    "typing": {"mean": 0.002, "sd": 0.0},
    "first": [0.0, 0.1],
    "look": [0.05, 0.1],
    "read": [0.0, 0.0],
    "vote": [0.1, 0.2],
}
real_time = [pytest.mark.django_db(transaction=True), pytest.mark.both]


class Counting:
    """Says "message n" in each turn; breaks or waits where a test wants it to."""

    breaks: Sequence[Exception] = ()
    gate: threading.Event | None = None
    held: list[bool] = []

    def decide(self, view: View) -> Decision:
        type(self).held.append(connection.connection is not None)
        if self.gate is not None:
            self.gate.wait(10)
        if self.breaks:
            problem, *type(self).breaks = self.breaks
            raise problem
        return Decision(True, "always")

    def propose(self, view: View) -> list[Proposal]:
        return [Proposal("count", f"message {len(view.own) + 1}")]

    def review(self, view: View, candidates: Sequence[Proposal]) -> Review:
        return Review(0, "")

    def vote(self, view: View) -> Ballot:
        return Ballot(view.votes_for[0], "")


@pytest.fixture
def counting(monkeypatch) -> type[Counting]:
    """A way to think of this test alone."""
    fresh = type("Fresh", (Counting,), {"breaks": (), "gate": None, "held": []})
    monkeypatch.setitem(kinds._items, "counting", Kind("counting", "counting", lambda agent, report: fresh()))
    return fresh


@pytest.fixture
def started(monkeypatch) -> Iterator[Callable[..., Runner]]:
    monkeypatch.setattr(claims, "RENEW", 0.2)
    runners = []

    def start(**given: Any) -> Runner:
        runner = Runner(**given)
        runner.start()
        runners.append(runner)
        return runner

    yield start
    for runner in runners:
        runner.stop()


def new_game(thinking: str = "counting", **delays: Any) -> Game:
    """A game that begins now and lasts an hour, with an agent that is quick."""
    now = timezone.now()
    agent = publish_agent(
        data=replace(offline_data(), key=thinking, thinking=thinking, delays={**QUICK, **delays})
    )
    room = RoomFactory(phase_started_at=now, opened_at=now, deadline=now + timedelta(hours=1), last_seq=1)
    type(room).objects.filter(pk=room.pk).update(rate_count=1000)
    Event.objects.create(room=room, seq=1, kind="phase", round=1, phase="discussion", at=now)
    return GameFactory(room=room, agent=agent, people=3)


def until(done: Callable[[], Any], seconds: float = 15) -> Any:
    end = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)
    return found


def said(game: Game) -> list[str]:
    own = Event.objects.messages().filter(room=game.room_id, seat__nature=Nature.MACHINE)
    return list(own.order_by("seq").values_list("text", flat=True))


def in_order(texts: list[str]) -> bool:
    return texts == [f"message {n}" for n in range(1, len(texts) + 1)]


@pytest.mark.django_db
@pytest.mark.both
def test_a_game_is_claimed_by_one_until_the_lease_runs_out(counting) -> None:
    game, now = new_game(), timezone.now()

    def claim(runner: str, after: float = 0.0, most: int = 10) -> dict[int, str]:
        return claims.claim_games(runner=runner, turn=1, most=most, now=now + timedelta(seconds=after))

    def renew(runner: str, after: float) -> dict[int, str]:
        return claims.renew_games(runner=runner, games=[game.pk], now=now + timedelta(seconds=after))

    assert claim("a") == {game.pk: "a.1"}
    assert claim("b") == {}
    assert renew("a", 3) == {game.pk: "a.1"}
    assert claim("b", 7) == {}
    assert claims.abandoned_games(now + timedelta(seconds=7), timedelta(seconds=15)) == 0
    assert claims.abandoned_games(now + timedelta(seconds=30), timedelta(seconds=15)) == 1
    assert claims.LEASE.total_seconds() + claims.RENEW <= 6
    assert claim("b", 7.6) == {game.pk: "b.1"}
    assert renew("a", 8) == {}
    assert claims.free_games(runner="b") == 1
    assert claim("c", most=0) == {}
    assert claim("c") == {game.pk: "c.1"}
    Game.objects.update(end="cancelled", ended_at=now, agent_claim="", agent_lease_until=None)
    assert claim("c") == {}


class TestInRealTime:
    pytestmark = real_time

    def test_two_runners_share_the_games_and_what_one_gives_back_the_other_takes(
        self, counting, started
    ) -> None:
        games = [new_game() for _ in range(6)]
        first, second = started(most=3), started(most=6)
        until(lambda: len(first.plays) + len(second.plays) == 6)
        assert not set(first.plays) & set(second.plays)
        until(lambda: all(len(said(game)) >= 2 for game in games))
        first.stop()
        until(lambda: len(second.plays) == 6, 4)
        counts = [len(said(game)) for game in games]
        until(lambda: all(len(said(game)) > n for game, n in zip(games, counts, strict=True)))
        second.stop()
        for game in games:
            assert in_order(said(game)), said(game)
            assert set(game.steps.values_list("outcome", flat=True)) <= {"sent", "", "cut"}
            assert game.steps.filter(outcome="sent").count() == len(said(game))
        assert set(Game.objects.values_list("agent_claim", flat=True)) == {""}
        assert not any(counting.held), "a connection is held while it thinks"

    def test_a_game_that_ends_is_left_and_one_that_begins_is_found(self, counting, started) -> None:
        runner = started()
        game = new_game()
        until(lambda: said(game))
        Game.objects.filter(pk=game.pk).update(end="cancelled", ended_at=timezone.now())
        until(lambda: not runner.plays)
        written = len(said(game))
        other = new_game()
        until(lambda: len(said(other)) >= 2)
        assert len(said(game)) == written

    def test_what_breaks_is_noted_and_the_game_goes_on(self, counting, started, monkeypatch) -> None:
        counting.breaks = (KeyError("choices"), OperationalError("gone"))
        game, well = new_game(), new_game("offline")
        real, failures = claims.renew_games, iter([OperationalError("gone")])

        def renew(**given: Any) -> dict[int, str]:
            for failure in failures:
                raise failure
            return real(**given)

        monkeypatch.setattr(claims, "renew_games", renew)
        started()
        until(lambda: len(said(game)) >= 2)
        until(lambda: well.steps.exclude(outcome="").exists())
        outcomes = dict(game.steps.values_list("outcome", "why"))
        assert outcomes["failed"] == "KeyError: 'choices'"
        assert in_order(said(game))

    def test_one_that_was_stopped_in_the_middle_of_a_thought_never_writes_again(
        self, counting, started
    ) -> None:
        """Its lease has run out while it thought: another has the game, and only that one speaks."""
        counting.gate = threading.Event()
        game = new_game()
        slow = started()
        until(lambda: game.steps.exists())
        Game.objects.filter(pk=game.pk).update(
            agent_claim="other", agent_lease_until=timezone.now() + timedelta(seconds=3)
        )
        counting.gate.set()
        until(lambda: not slow.plays)
        slow.stop()
        assert [text for text in said(game) if text] == []
        counting.gate = None
        started()
        until(lambda: len(said(game)) >= 2)
        assert in_order(said(game))
        first = game.steps.order_by("number")[0]
        assert first.outcome in ("sent", "cut"), "what was thought is typed on by the other, or cut"

    def test_calls_for_bots_are_run_once_and_noted(self, started) -> None:
        now, study, sent = timezone.now(), StudyFactory(), []

        def call(seed: int, **given: Any) -> BotCall:
            return BotCall.objects.create(
                study=study, language="en", bots=3, seed=seed, created_at=now, **given
            )

        def bots(one: BotCall, stopped: Callable[[], bool]) -> list[str]:
            sent.append(one.pk)
            if one.seed == 2:
                raise ValueError("no such page")
            while one.seed == 3 and not stopped():
                time.sleep(0.01)
            return [f"bot 1 of {one.study.slug}: a gap"] if one.seed == 1 else []

        good, bad, long = call(1), call(2), call(3)
        lost = call(4, state="running", claim="killed", lease_until=now - timedelta(seconds=1))
        runners = [started(send_bots=bots), started(send_bots=bots)]
        until(lambda: not BotCall.objects.filter(state="queued").exists())
        until(lambda: BotCall.objects.filter(state="running").count() == 1)
        for runner in runners:
            runner.stop()
        found = {one.pk: (one.state, one.findings) for one in BotCall.objects.all()}
        assert found == {
            good.pk: ("done", [f"bot 1 of {study.slug}: a gap"]),
            bad.pk: ("failed", ["ValueError: no such page"]),
            long.pk: ("failed", ["the process stopped"]),
            lost.pk: ("failed", ["the process stopped"]),
        }
        assert sorted(sent) == sorted([good.pk, bad.pk, long.pk])


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_runner_is_replaced_within_six_seconds_and_nothing_is_said_twice(started, tmp_path) -> None:
    """Two processes; the one that plays is killed while it types."""
    games = [new_game("offline", read=[1.0, 1.0], look=[0.1, 0.2]) for _ in range(4)]
    database = connection.settings_dict
    host = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgres://{host}/{database['NAME']}",
        "TEST_VAR_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "turingsite.settings.test",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "run_agents"], cwd=ROOT, env=environment, stderr=log, stdout=log
        )
    try:
        typed = AgentStep.objects.filter(outcome="").exclude(client_id="")
        until(lambda: typed.count() >= 2, 60)
        assert (tmp_path / "heartbeat-agents").exists()
        started()
        claimed = set(Game.objects.values_list("agent_claim", flat=True))
        process.send_signal(signal.SIGKILL)
        process.wait()
        begun = list(typed)
    finally:
        process.kill()
        process.wait()
    killed = time.monotonic()
    until(lambda: not claimed & set(Game.objects.values_list("agent_claim", flat=True)))
    assert time.monotonic() - killed < 6
    until(lambda: not AgentStep.objects.filter(pk__in=[step.pk for step in begun], outcome="").exists())
    assert {step.outcome for step in AgentStep.objects.filter(pk__in=[step.pk for step in begun])} <= {
        "sent",
        "dropped",
    }
    for game in games:
        assert len(said(game)) == len(set(said(game)))
        assert game.steps.filter(outcome="sent").count() == len(said(game))
