"""The blind desk of the group game: while a study runs, what its lists show is the same however games end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from games.group.models import Elimination, Game, Vote
from games.room.models import Concern, Room
from studies.models import Study
from tests import factories
from tests.group.at_the_desk import at, said, step
from tests.rooms import GameFactory, GroupSettingsFactory
from tests.site.test_blind_desk import address, crawl


def played(study: Study, end: str, *, rounds: int) -> Game:
    now = timezone.now()
    over = {"room__closed_at": now, "room__writable": False, "room__phase": "end", "room__deadline": None}
    game = GameFactory(
        room__study=study,
        room__opened_at=now - timedelta(minutes=9),
        room__round=rounds,
        **(over if end else {}),
        end=end,
        ended_at=now if end else None,
    )
    for n in range(1, 4):
        event = said(game, n, f"line {n}", round=1, phase="discussion")
    Concern.objects.create(room=game.room, seat=at(game, 0), event=event, text="Look at this", at=now)
    step(game)
    return game


def flip() -> None:
    """The AI survives where it was out, goes out where it survived; every vote and round follows."""
    for game in Game.objects.exclude(end="cancelled"):
        survives = game.end == "agent_out" or (not game.end and game.room.round == 1)
        out = at(game, 0 if survives else 2)
        Elimination.objects.filter(game=game).update(seat=out)
        Vote.objects.filter(game=game).exclude(voter=out).update(target=out)
        game.room.seats.update(out_at=None, out_round=None)
        game.room.seats.filter(pk=out.pk).update(out_at=game.room.opened_at, out_round=1)
        said(game, 1, "one more line", round=2, phase="discussion")
        Room.objects.filter(pk=game.room_id).update(round=2 if survives else 1)
        if game.ended_at is not None:
            later = game.ended_at + timedelta(seconds=90)
            Room.objects.filter(pk=game.room_id).update(closed_at=later)
            Game.objects.filter(pk=game.pk).update(
                end="survived" if survives else "agent_out", ended_at=later
            )


@pytest.fixture
def study(db: None) -> Study:
    study = factories.StudyFactory(activities=["group"])
    GroupSettingsFactory(study=study)
    games = [
        played(study, "agent_out", rounds=1),
        played(study, "survived", rounds=4),
        played(study, "cancelled", rounds=1),
        played(study, "", rounds=1),
        played(study, "", rounds=2),
    ]
    for game in games:
        seat = at(game, 1)
        Vote.objects.create(game=game, round=1, voter=at(game, 0), target=seat, at=game.room.opened_at)
        Elimination.objects.create(game=game, round=1, seat=seat, living=6, at=game.room.opened_at)
    return study


def test_no_list_differs_by_how_games_end_and_an_opened_game_does(client: Client, study: Study) -> None:
    client.force_login(factories.StudyMemberFactory(study=study).user)
    starts = [
        address("group", study.slug),
        address("group", study.slug) + "?state=played",
        address("group_concerns", study.slug) + "?all=1",
        address("group_waiting", study.slug),
        address("live", study.slug),
        address("participants", study.slug),
        address("study", study.slug),
    ]
    before = crawl(client, starts)
    flip()
    after = crawl(client, starts)
    monitors = [path for path in before if "/group/games/" in path]
    assert len(monitors) >= 5
    assert set(before) == set(after)
    assert [path for path in before if before[path] != after[path]] == []

    def opened(game: Game) -> Any:
        return client.post(address("group_watch", study.slug, game.code), follow=True).content

    over = Game.objects.get(end="survived")
    seen = opened(over)
    flip()
    assert opened(over) != seen, "whoever opens a game sees how it ended"
