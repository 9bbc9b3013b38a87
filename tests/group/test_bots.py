"""Bots against a running site: whole games with faults end well, and bots say so where something is wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from games.group.agent.running import Runner
from games.group.bots.checks import wrong_in
from games.group.bots.log import KEYS, Log
from games.group.bots.trouble import WEIGHTS, Habit
from games.group.models import Game, GroupSettings, Ticket, Vote
from games.group.services.agents import offline_data, publish_agent
from games.room.models import Event
from studies import services as studies
from studies.models import Participant, Study
from tests.group.test_agent_running import QUICK
from tests.room.live import server


@pytest.fixture
def study(transactional_db: None) -> Study:
    """An open study from the built-in template with short phases and a quick agent."""
    made = studies.create_study(
        slug="bots",
        title_en="Bots",
        user=None,
        template="group",
        host="A university",
        contact="a@example.org",
        test_participants=True,
    )
    agent = publish_agent(data=replace(offline_data(), key="quick", delays=QUICK))
    settings = GroupSettings.objects.get(study=made)
    settings.agents.set([agent])
    # Shorter than any form lets them be: the rules are the same.
    GroupSettings.objects.update(
        people=3, least_people=2, start_after=2, discussion_seconds=2, vote_seconds=2, reveal_seconds=0
    )
    return studies.change_status(study=made, to=Study.Status.OPEN)


@pytest.fixture
def site(study: Study) -> Iterator[str]:
    runner = Runner()
    runner.start()
    try:
        with server() as running:
            yield running.origin
    finally:
        runner.stop()


def play(site: str, **options: Any) -> str:
    out = io.StringIO()
    given = {"games": 2, "bots": 3, "seed": 5, "pace": 0.7, "sleep": 1.5, "at_once": 2, "patience": 8}
    call_command("play_group_game", study="bots", base_url=site, stdout=out, **{**given, **options})
    return out.getvalue()


def test_games_with_faults_end_and_nothing_is_found_wrong(study: Study, site: str) -> None:
    said = play(site)
    assert "Nothing found wrong" in said
    games = Game.objects.filter(study=study)
    assert games
    assert {game.end for game in games} <= {*Game.PLAYED, Game.End.ABANDONED}
    assert all(game.room.is_test for game in games)
    assert not Ticket.objects.filter(state__in=Ticket.OPEN)
    assert Participant.objects.filter(study=study).count() == 6
    assert not Participant.objects.filter(study=study, is_test=False)
    assert Event.objects.filter(kind="message", seat__nature="human")


def test_the_rows_of_a_game_are_checked(study: Study, site: str) -> None:
    play(site, games=1, steady=True)
    game = Game.objects.get()
    assert wrong_in([game.room.code]) == []
    first = game.eliminations.order_by("round")[0]
    Vote.objects.filter(game=game, round=first.round, target=first.seat).delete()
    Event.objects.filter(room=game.room, seq=2).delete()
    wrong = "\n".join(wrong_in([game.room.code]))
    assert "was decided by" in wrong
    assert "lines up to" in wrong


def test_bots_say_what_cannot_be_right(study: Study) -> None:
    with pytest.raises(CommandError, match="no connection"):
        play("http://127.0.0.1:9", games=1, bots=1)
    with pytest.raises(CommandError, match="no address"):
        play("nowhere")
    with pytest.raises(CommandError, match="At least one game"):
        play("http://127.0.0.1:9", games=0)


def test_a_log_is_held_to_be_whole_and_to_tell_nothing() -> None:
    found: list[str] = []
    log = Log(found.append)

    def line(seq: int, **changes: Any) -> dict[str, Any]:
        plain = dict.fromkeys(KEYS, "") | {"seq": seq, "kind": "message", "data": {}}
        return plain | changes

    assert log.take(line(1), 0) == 1
    assert log.take(line(2), 1) == 2
    assert found == []
    log.take(line(2), 2)
    log.take(line(5), 2)
    log.take(line(6, nature="machine"), 5)
    log.take(line(7, data={"seats": [{"client_at": 3}]}), 6)
    log.take(line(1, text="another"), 0)
    assert [what.split(" ", 2)[2] for what in found] == [
        "came after line 2",
        "came after line 2",
        "has ['nature'] unlike the others",
        "tells client_at",
        "is not what it was before",
    ]
    assert log.equals([line(1), line(2), line(4)]).startswith("the server's line 3")
    assert log.equals([line(1), line(2, text="no")]) == "line 2 is another on the server"
    assert log.equals([]) == "lines [3, 4] never came"


def test_every_habit_comes_up() -> None:
    assert set(WEIGHTS) == set(Habit)
