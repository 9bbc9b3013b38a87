"""People around a group game: browsers with their cookies, a clock that moves when told, a whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from games.group.models import Game, Ticket, Vote
from games.group.services.readiness import prepare
from games.group.services.settings import change_group_settings
from games.group.services.voting import cast_vote
from games.group.tasks import sweep_games, sweep_lobbies
from games.room import services as rooms
from games.room.models import Room, Seat
from studies import access, builtin
from studies.models import Participant, Study
from tests import factories
from tests.clock import Clock


class Player:
    """A participant with a browser."""

    def __init__(self, participant: Participant) -> None:
        self.participant = participant
        self.study = participant.study
        self.client = Client()
        slug = self.study.slug
        key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{slug}")
        self.client.cookies[access.cookie_name(slug)] = key

    def url(self, path: str = "") -> str:
        return f"/s/{self.study.slug}/{path}"

    def get(self, path: str = "") -> Any:
        return self.client.get(self.url(path))

    def form(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data)

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data, content_type="application/json")

    def look(self) -> dict[str, Any]:
        """What the waiting room says to a script."""
        return dict(self.client.get(self.url("group/wait/"), {"format": "json"}).json())

    def come(self) -> dict[str, Any]:
        """Enter the waiting room and say “ready”."""
        self.get("group/wait/")
        assert self.form("group/ready/").status_code == 302
        return self.look()

    def where(self) -> str:
        """The page the server sends this person to."""
        response = self.client.get(self.url("go/"), follow=True)
        assert response.status_code == 200, response.content[:400]
        return str(response.request["PATH_INFO"]).removeprefix(self.url())

    def vote(self, target: Seat | str | None, round: int = 1, **more: Any) -> Any:
        code = target.code if isinstance(target, Seat) else target
        return self.post("room/act/", id="v", do="vote", target=code, round=round, **more)

    @property
    def seat(self) -> Seat:
        return Seat.objects.filter(participant=self.participant).order_by("-pk")[0]

    @property
    def end(self) -> str:
        self.participant.refresh_from_db()
        return self.participant.end_state


class Table:
    """A game under way with its players in seat order; time passes for all of them."""

    def __init__(self, players: Sequence[Player], clock: Clock) -> None:
        self.players = list(players)
        self.clock = clock
        self.game = Game.objects.get(room=self.players[0].seat.room)
        self.players.sort(key=lambda one: one.seat.position)

    @property
    def room(self) -> Room:
        return Room.objects.get(pk=self.game.room_id)

    @property
    def agent(self) -> Seat:
        return self.room.seats.get(nature="machine")

    @property
    def end(self) -> str:
        self.game.refresh_from_db()
        return self.game.end

    def seen(self, *players: Player) -> None:
        """The pages of these people give a sign (of all who have not left, unless some are named)."""
        seats = [one.seat for one in players] or self.room.seats.filter(nature="human", left_at=None)
        rooms.note_seen(seat_ids=[one.pk for one in seats], now=self.clock.now)

    def to_the(self, phase: str) -> None:
        """Let the time of phases run out until this one has begun, everybody here."""
        for _step in range(8):
            room = self.room
            if room.phase == phase:
                return
            assert room.deadline is not None, room.phase
            self.clock.pass_((room.deadline - self.clock.now).total_seconds())
            rooms.sweep(self.clock.now)
            self.seen()
        raise AssertionError(f"no {phase}, but {self.room.phase}")

    def all_vote(self, target: Seat, other: Seat | None = None) -> None:
        """Everybody who may votes for ``target``, who votes for ``other`` or the first one they may."""
        room = self.room
        silent = None if self.game.rules["agent_votes"] else self.agent
        voters = list(room.seats.living().filter(left_at=None).order_by("position"))
        for seat in voters:
            if seat == silent or Vote.objects.filter(voter=seat, round=room.round).exists():
                continue
            choice = target if seat != target else other or next(one for one in voters if one != seat)
            if self.room.phase == "vote":
                cast_vote(seat=seat, target_code=choice.code, round=room.round, now=self.clock.now)

    def player_of(self, seat: Seat) -> Player:
        return next(one for one in self.players if one.seat == seat)


@pytest.fixture
def sweep(clock: Clock, django_capture_on_commit_callbacks: Any) -> Callable[[], None]:
    """What runs every five seconds, with what waits for the commit."""

    def run() -> None:
        with django_capture_on_commit_callbacks(execute=True):
            rooms.sweep(clock.now)
            sweep_lobbies()
            sweep_games()

    return run


@pytest.fixture
def make_study(db: None) -> Callable[..., Study]:
    def make(slug: str = "table", *, fields: dict[str, Any] | None = None, **settings: Any) -> Study:
        study: Study = factories.StudyFactory(
            slug=slug, activities=["group"], **({"languages": ["en"]} | (fields or {}))
        )
        prepare(study)
        change_group_settings(study=study, **settings)
        survey = builtin.load("group")["surveys"][0]
        factories.QuestionnaireFactory(study=study, key=survey["key"], questions=survey["questions"])
        for state in ("done", "technical", "waited", "timed_out", "cancelled", "withdrew", "screened_out"):
            factories.CompletionFactory(study=study, end_state=state)
        factories.ConsentTextFactory(study=study)
        return study

    return make


@pytest.fixture
def study(make_study: Any) -> Study:
    return make_study()


@pytest.fixture
def players(clock: Clock) -> Callable[..., list[Player]]:
    def make(study: Study, n: int, **fields: Any) -> list[Player]:
        text = study.consent_texts.get()
        made = [factories.ParticipantFactory(study=study, **fields) for _ in range(n)]
        for one in made:
            factories.ConsentFactory(participant=one, text=text)
        return [Player(one) for one in made]

    return make


@pytest.fixture
def table(clock: Clock, players: Any) -> Callable[..., Table]:
    """A game that has just begun with ``n`` people, who came through the waiting room."""

    def start(study: Study, n: int = 5, **fields: Any) -> Table:
        change_group_settings(study=study, people=n, least_people=min(n, 4))
        came = players(study, n, **fields)
        for one in came:
            one.come()
        assert not Ticket.objects.filter(state__in=Ticket.OPEN).exists()
        return Table(came, clock)

    return start
