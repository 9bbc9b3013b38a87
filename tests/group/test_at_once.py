"""The same at once from many connections: one game, one seat, one end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from games.group.models import Elimination, Game, Ticket, Vote
from games.group.services import lobby
from games.group.services.readiness import prepare
from games.group.services.settings import change_group_settings
from games.group.services.starting import start_game
from games.group.services.voting import cast_vote
from games.room.models import Room, Seat
from games.room.services import advance
from studies import services
from studies.models import Participant, Study
from tests import factories
from turingsite.errors import DomainError

pytestmark = [pytest.mark.django_db(transaction=True)]


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """All ``actions``, each in a thread of its own, started together; what they gave or raised."""
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> Any:
        try:
            barrier.wait(timeout=30)
            return action()
        except DomainError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


@pytest.fixture
def study(transactional_db: None) -> Study:
    study: Study = factories.StudyFactory(activities=["group"], languages=["en"])
    prepare(study)
    change_group_settings(study=study, people=3, least_people=3, agent_votes=False)
    return study


def fresh(participant: Participant) -> Participant:
    return Participant.objects.select_related("study", "rater").get(pk=participant.pk)


def test_many_who_are_ready_at_once_fill_games_and_nobody_sits_twice(study: Study) -> None:
    people = [factories.ParticipantFactory(study=study) for _ in range(8)]

    def come(person: Participant) -> Callable[[], None]:
        def run() -> None:
            for _tab in range(2):
                lobby.join(participant=fresh(person), now=timezone.now())
            lobby.ready(participant=fresh(person), now=timezone.now())
            lobby.start_all(study=study, language="en", now=timezone.now())

        return run

    assert [one for one in at_once(*map(come, people)) if one is not None] == []
    assert sorted(Game.objects.values_list("number", flat=True)) == [1, 2]
    assert Seat.objects.exclude(participant=None).values("participant").distinct().count() == 6
    assert Seat.objects.count() == 8
    assert Ticket.objects.filter(state=Ticket.State.READY).count() == 2


def test_who_withdraws_while_a_game_starts_is_seated_and_gone_or_not_at_all(study: Study) -> None:
    for _time in range(4):
        people = [factories.ParticipantFactory(study=study) for _ in range(3)]
        for person in people:
            lobby.join(participant=person, now=timezone.now())
            lobby.ready(participant=person, now=timezone.now())
        leaver = people[0]
        found = at_once(
            lambda: lobby.start_all(study=study, language="en", now=timezone.now()),
            partial(services.withdraw, participant=fresh(leaver), erase_answers=False),
        )
        assert not [one for one in found if isinstance(one, DomainError)]
        seat = Seat.objects.filter(participant=leaver).first()
        assert seat is None or seat.left_why == Seat.Left.WITHDREW
        assert not Ticket.objects.filter(participant=leaver, state__in=Ticket.OPEN).exists()
        Ticket.objects.filter(state__in=Ticket.OPEN).update(state=Ticket.State.LEFT)


def test_the_last_votes_at_once_with_the_deadline_close_one_round_once(study: Study) -> None:
    people = [factories.ParticipantFactory(study=study) for _ in range(3)]
    game = start_game(study=study, language="en", participants=people, now=timezone.now())
    room = game.room
    advance(room_id=room.pk, phase_number=1, now=timezone.now(), by_hand=True)
    seats = list(room.seats.filter(nature="human"))
    target = room.seats.get(nature="machine").code

    def vote(seat: Seat) -> Callable[[], Any]:
        return lambda: cast_vote(seat=seat, target_code=target, round=1, now=timezone.now())

    found = at_once(
        *[vote(seat) for seat in seats for _tab in range(2)],
        lambda: advance(room_id=room.pk, phase_number=2, now=timezone.now(), by_hand=True),
    )
    refused = {one.code for one in found if isinstance(one, DomainError)}
    assert refused <= {"no_vote_now", "out"}  # the hand may come first, and chance with it
    assert Elimination.objects.count() == 1
    assert Room.objects.get().phase == "reveal"
    votes = Vote.objects.values_list("voter", flat=True)
    assert len(votes) == len(set(votes))
    assert sum(Elimination.objects.get().tally.values()) == len(votes)
