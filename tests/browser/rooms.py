"""What the browser tests of live rooms do again and again: a table of people, moves without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from games.group.models import Game as GroupGame
from games.group.models import Vote
from games.group.services import lobby
from games.group.services.levers import next_phase
from games.group.services.readiness import prepare
from games.group.services.settings import change_group_settings
from games.group.services.starting import start_game
from games.group.services.voting import cast_vote
from games.room.models import Event, Seat
from games.room.services import note_seen, send_message
from studies import builtin, codes
from tests import factories
from tests.browser.playing import Game, rows
from tests.browser.serving import ALL, serving

Contexts = Callable[..., BrowserContext]
#: A browser that has no sockets, or a network that lets none through.
NO_SOCKETS = "window.WebSocket = class { constructor() { throw new Error('no sockets here'); } };"


@pytest.fixture(scope="session")
def site(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """As the browser tests' own, with sockets."""
    with django_db_blocker.unblock():
        if connection.vendor != "postgresql":
            pytest.skip("the browser tests' server shares a PostgreSQL test database")
        database = connection.settings_dict
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(ALL, database, log) as address:
        yield address


@dataclass
class Player(Game):
    """One person of a table, as ``context(game=…)`` wants them."""

    seat: Seat | None = None

    def sits(self) -> Seat:
        """Their seat; asked of the database where the game began in a browser."""
        if self.seat is None:
            self.seat = rows(lambda: Seat.objects.select_related("room").get(participant=self.participant))
        return self.seat


@dataclass
class Table:
    """People of one study. ``begin`` seats them at once; else they come through the waiting room."""

    site: str
    study: Any
    people: list[Player]

    def begin(self, language: str = "en") -> Table:
        """Before a browser is open."""
        start_game(
            study=self.study,
            language=language,
            participants=[one.participant for one in self.people],
            now=timezone.now(),
        )
        for one in self.people:
            one.seat = Seat.objects.select_related("room").get(participant=one.participant)
        note_seen(seat_ids=[one.sits().pk for one in self.people], now=timezone.now())
        return self

    # -- read and moved while browsers are open

    @property
    def game(self) -> GroupGame:
        return rows(lambda: GroupGame.objects.select_related("room").get(study=self.study))

    @property
    def agent(self) -> Seat:
        return rows(lambda: Seat.objects.get(room__study=self.study, nature="machine"))

    def log(self) -> list[str]:
        return rows(
            lambda: list(
                Event.objects.messages()
                .filter(room__study=self.study)
                .order_by("seq")
                .values_list("text", flat=True)
            )
        )

    def votes(self) -> int:
        return rows(lambda: Vote.objects.filter(game__study=self.study).count())

    def comes(self, player: Player) -> None:
        """Somebody enters the waiting room and is ready."""

        def come() -> None:
            now = timezone.now()
            lobby.join(participant=player.participant, now=now)
            lobby.ready(participant=player.participant, now=now)

        rows(come)

    def says(self, who: Player | Seat, text: str) -> None:
        seat = who if isinstance(who, Seat) else who.sits()
        rows(
            lambda: send_message(
                seat_id=seat.pk, text=text, client_id=codes.public_code(), now=timezone.now()
            )
        )

    def votes_for(self, who: Player | Seat, target: Player | Seat) -> None:
        """A vote of somebody whose page is open elsewhere."""
        seat = who if isinstance(who, Seat) else who.sits()
        aim = target if isinstance(target, Seat) else target.sits()

        def vote() -> None:
            now = timezone.now()
            note_seen(seat_ids=[seat.pk], now=now)
            fresh = Seat.objects.select_related("room__group_game").get(pk=seat.pk)
            cast_vote(seat=fresh, target_code=aim.code, round=fresh.room.round, now=now)

        rows(vote)

    def moves_on(self) -> None:
        """The phase ends now, by the lever of the desk."""
        game = self.game
        rows(lambda: next_phase(game=game, user=None, now=timezone.now()))


def seed_table(site: str, people: int = 3, *, languages: tuple[str, ...] = ("en",), **given: Any) -> Table:
    """An open study with its settings, survey and pay, and people past everything but the game itself."""
    study = factories.StudyFactory(slug="table", activities=["group"], languages=list(languages))
    prepare(study)
    settings = {
        "people": people,
        "least_people": people,
        "agent_votes": False,
        "discussion_seconds": 600,
        "vote_seconds": 300,
        "reveal_seconds": 120,
        "least_present": 1,
    }
    change_group_settings(study=study, **(settings | given))
    survey = builtin.load("group")["surveys"][0]
    factories.QuestionnaireFactory(study=study, key=survey["key"], questions=survey["questions"])
    for state in ("done", "technical", "waited", "timed_out", "cancelled", "withdrew", "screened_out"):
        factories.CompletionFactory(study=study, end_state=state)
    text = factories.ConsentTextFactory(study=study)
    made = []
    for _ in range(people):
        participant = factories.ParticipantFactory(study=study)
        factories.ConsentFactory(participant=participant, text=text)
        made.append(Player(site, study, participant))
    return Table(site, study, made)


def enter(context: BrowserContext, player: Player) -> Page:
    """The room, with everything there that was said so far."""
    page = context.new_page()
    page.goto(player.url("group/room/"))
    expect(page.locator("#lines > li").first).to_be_visible()
    return page


def say(page: Page, text: str) -> None:
    page.locator("#say").fill(text)
    page.locator("#say").press("Enter")


def texts(page: Page) -> list[str]:
    """What the log shows, in its order, without what is on its way."""
    return page.locator("#lines .msg p").all_inner_texts()


def settled(page: Page) -> None:
    """Everything written has arrived."""
    expect(page.locator("#waiting > li")).to_have_count(0)


def choose(page: Page, seat: Seat) -> None:
    """Tap a face on the vote's sheet."""
    page.locator("#faces label", has_text=seat.pseudonym).click()
