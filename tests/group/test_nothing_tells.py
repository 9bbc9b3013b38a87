"""Whoever is the agent, players get the same: every page and frame of a game, with the agent on one seat and
on another, until a vote has shown it.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from django.db import transaction

from games.group.agent.loop import TYPING_EVERY
from games.group.models import Game
from games.group.services.readiness import prepare
from games.group.services.voting import cast_vote
from games.room import services as rooms
from games.room.models import Room, Seat
from studies import codes
from tests import factories
from tests.clock import START, Clock
from tests.group.conftest import Player
from tests.rooms import GameFactory

pytestmark = [pytest.mark.both, pytest.mark.django_db]

SECRET = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|form-[0-9a-f]{16}')


class Walk:
    """One game of five people, its agent on the seat ``agent_at``; all that two of them are sent."""

    def __init__(self, agent_at: int, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        numbers = itertools.count(1)
        monkeypatch.setattr(codes, "_code", lambda length: f"{next(numbers):0{length}d}")
        clock.travel.move_to(START)
        self.clock = clock
        self.seen: list[tuple[str, Any]] = []
        study = factories.StudyFactory(slug="swapped", activities=["group"], languages=["en"])
        prepare(study)
        factories.QuestionnaireFactory(study=study, key="after-group", questions=[])
        self.game: Game = GameFactory(
            room__study=study,
            room__opened_at=START,
            room__phase_started_at=START,
            room__code="room",
            room__typing=True,
            agent_at=agent_at,
            number=1,
            code="game",
        )
        for seat in self.game.room.seats.all():
            Seat.objects.filter(pk=seat.pk).update(code=f"seat-{seat.position}", seen_at=clock.now)
        for position, seat in enumerate(self.people()):
            assert seat.participant is not None
            seat.participant.resume_code = f"resume-{position}"
            seat.participant.save()
            factories.ConsentFactory(
                participant=seat.participant, text=study.consent_texts.first() or self.text(study)
            )
        # Their seats are the first two in both games, so the agent's is one of the others.
        self.viewers = [Player(seat.participant) for seat in self.people()[:2] if seat.participant]

    def text(self, study: Any) -> Any:
        return factories.ConsentTextFactory(study=study)

    def people(self) -> list[Seat]:
        found = self.game.room.seats.filter(nature="human").select_related("participant__study")
        return list(found.order_by("position"))

    def look(self, *pages: str) -> None:
        """What the viewers can ask for at this moment: frames, the room, other ``pages``."""
        for number, viewer in enumerate(self.viewers):
            for path in ("room/log/?after=0", "group/room/", *pages):
                answer = viewer.get(path)
                body = answer.content.decode()
                told = (answer.status_code, answer.headers.get("Location", ""), SECRET.sub("", body))
                self.seen.append((f"{self.room.phase} {self.room.round} {number} {path}", told))

    @property
    def room(self) -> Room:
        return Room.objects.get(pk=self.game.room_id)

    def talk(self) -> None:
        """Everybody says something at the same pace; the agent as agents do."""
        for seat in self.room.seats.living().order_by("position"):
            self.clock.pass_(2)
            machine = seat.nature == "machine"
            rooms.send_message(
                seat_id=seat.pk,
                text=f"I am {seat.pseudonym}",
                client_id=f"{'agent' if machine else 'page'}-{seat.pk}-{self.room.round}",
                client_at=None if machine else self.clock.now,
                edited=machine,
                now=self.clock.now,
            )
            rooms.note_seen(seat_ids=[one.pk for one in self.people()], now=self.clock.now)

    def vote(self, against: int) -> None:
        seats = list(self.room.seats.living().order_by("position"))
        for seat in seats:
            target = against if seat.position != against else seats[0].position
            cast_vote(seat=seat, target_code=f"seat-{target}", round=self.room.round, now=self.clock.now)
            if seat.position == 0:
                self.look()

    def next_phase(self) -> None:
        rooms.advance(
            room_id=self.room.pk, phase_number=self.room.phase_number, now=self.clock.now, by_hand=True
        )

    def go(self) -> list[tuple[str, Any]]:
        self.look()
        for against in (1, 5):
            self.talk()
            self.look()
            self.next_phase()
            self.look()
            self.vote(against)
            self.look("group/survey/", "group/", "group/wait/", "group/over/", "leave/")
            self.next_phase()
        return self.seen


def test_the_agents_seat_changes_nothing_that_players_get(clock, monkeypatch):
    walks = []
    for agent_at in (2, 4):
        with transaction.atomic():
            walks.append(Walk(agent_at, clock, monkeypatch).go())
            transaction.set_rollback(True)
    first = walks[0]
    assert len(first) > 40
    assert {answer[0] for _what, answer in first} == {200, 302}
    assert any("I am" in answer[2] for _what, answer in first)
    for other in walks[1:]:
        for (what, expected), (also, found) in zip(first, other, strict=True):
            assert (also, found) == (what, expected)


def test_the_agent_shows_that_it_types_no_faster_than_a_page(settings):
    page = (settings.BASE_DIR / "static/js/room/composer.js").read_text()
    found = re.search(r"const TYPING = (\d+); // ms", page)
    assert found is not None
    assert int(found[1]) / 1000 == TYPING_EVERY
