"""Seats: drawn by the room's seed, opened by their own people alone, left without a word to the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dialogues.models import Nature
from games.room import hub, pseudonyms, services
from games.room.models import Concern, Event, Room, Seat
from games.room.presenters import room_state
from games.room.rules import rules
from games.room.selectors import access_seat, is_present
from studies.models import AuditLine, Language
from tests import factories
from tests.factories import NOW
from tests.room.live import PLAIN, plain_room
from turingsite.errors import DomainError, NotFound

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def opened(seed: int = 7, people: int = 5, language: str = "en", **more: Any) -> Room:
    study = factories.StudyFactory(activities=[])
    who = [services.NewSeat(Nature.HUMAN, factories.ParticipantFactory(study=study)) for _ in range(people)]
    return services.open_room(
        study=study,
        game="plain",
        language=language,
        seats=[*who, services.NewSeat(Nature.MACHINE)],
        seed=seed,
        phase="talk",
        seconds=150,
        writable=True,
        now=NOW,
        **more,
    )


def test_names_are_enough_different_and_say_nothing_of_a_person() -> None:
    assert {language for language, _ in pseudonyms.NAMES.items()} == set(Language.values)
    for names in pseudonyms.NAMES.values():
        assert len(names) == len(set(names)) >= 13
    english = pseudonyms.names("en")
    assert all(name.isascii() and name.isalpha() and name.istitle() for name in english)
    assert all(len(name) == 2 for name in pseudonyms.names("zh"))


def test_order_and_names_are_drawn_by_the_seed_and_nothing_else_tells_seats_apart() -> None:
    rooms = [opened(seed) for seed in range(20)]
    again = [opened(seed) for seed in range(3)]

    def drawn(room: Room) -> list[tuple[str, str]]:
        return [(seat.nature, seat.pseudonym) for seat in room.seats.order_by("position")]

    assert [drawn(room) for room in again] == [drawn(room) for room in rooms[:3]]
    machines = [room.seats.get(nature="machine") for room in rooms]
    assert {seat.position for seat in machines} == set(range(6))
    assert len({seat.pseudonym for seat in machines}) > 8
    for room in rooms[:3]:
        seats = list(room.seats.order_by("pk"))
        assert [seat.position for seat in seats] == list(range(6)), "keys grow as places do"
        assert {(seat.seen_at, seat.left_at, seat.out_at) for seat in seats} == {(NOW, None, None)}
        for seat in seats:
            assert (seat.rater_id is None) == (seat.participant_id is None) == (seat.nature == "machine")
            assert seat.participant is None or seat.rater == seat.participant.rater
    assert len(set(Seat.objects.values_list("code", flat=True))) == 23 * 6


def test_a_room_opens_with_its_limits_and_first_line_in_either_language() -> None:
    room = opened(people=12, language="zh", limits=services.Limits(99, 2, 3), typing=True, is_test=True)
    assert (room.max_length, room.rate_count, room.rate_seconds) == (99, 2, 3)
    assert (room.typing, room.is_test, room.is_preview, room.last_seq) == (True, True, False, 1)
    assert {seat.pseudonym for seat in room.seats.all()} <= set(pseudonyms.names("zh"))
    line = Event.objects.get()
    assert (line.seq, line.kind, line.phase, line.at, line.data) == (
        1,
        "phase",
        "talk",
        NOW,
        {"seconds": 150},
    )
    with pytest.raises(DomainError) as refused:
        opened(people=len(pseudonyms.names("en")))
    assert refused.value.code == "too_many_seats"


def test_people_open_their_own_newest_seat_and_no_other() -> None:
    first, (own, other) = plain_room(2)
    person = own.participant
    assert person is not None
    newer = services.open_room(
        study=first.study,
        game="plain",
        language="en",
        seats=[services.NewSeat(Nature.HUMAN, person)],
        seed=1,
        phase="talk",
        seconds=None,
        writable=True,
        now=first.opened_at + timedelta(hours=1),
    )
    assert access_seat(person).room == newer
    assert access_seat(person, first.code) == own
    assert access_seat(other.participant, first.code) == other  # type: ignore[arg-type]
    stranger = factories.ParticipantFactory(study=first.study)
    for who, code in (
        (stranger, None),
        (stranger, first.code),
        (other.participant, newer.code),
        (person, ""),
    ):
        with pytest.raises(NotFound) as refused:
            access_seat(who, code)  # type: ignore[arg-type]
        assert refused.value.code == "no_seat"


def test_a_seat_is_there_while_its_page_gives_signs_and_a_machine_always() -> None:
    room = opened()
    person, machine = room.seats.filter(nature="human")[0], room.seats.get(nature="machine")
    at = NOW + timedelta(minutes=5)
    assert (is_present(person, at), is_present(machine, at)) == (False, True)
    ids = [person.pk, machine.pk]
    assert services.note_seen(seat_ids=ids, now=at) == 2
    assert services.note_seen(seat_ids=ids, now=at + timedelta(seconds=3)) == 0, "kept to some seconds"
    assert services.note_seen(seat_ids=ids, now=at + timedelta(seconds=5)) == 2
    assert services.note_seen(seat_ids=[], now=at + timedelta(minutes=1)) == 0
    person.refresh_from_db()
    assert person.seen_at == at + timedelta(seconds=5)
    assert is_present(person, at + timedelta(seconds=25))
    assert not is_present(person, at + timedelta(seconds=26))
    services.leave_seat(seat=person, why=Seat.Left.LEFT, now=at)
    assert not is_present(person, at)


def test_leaving_is_noted_once_and_told_to_the_game_but_not_to_the_others(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[Any] = []
    monkeypatch.setitem(
        rules._items, "plain", replace(PLAIN, left=lambda seat, now: told.append((seat, seat.left_why)))
    )
    monkeypatch.setattr(hub, "dismiss", lambda *who: told.append(who))
    room, (leaver, removed, late) = plain_room(3)
    before = {**room_state(late), "remaining": None}
    researcher = factories.UserFactory(is_staff=True)
    with django_capture_on_commit_callbacks(execute=True):
        assert services.leave_seat(seat=leaver, why=Seat.Left.LEFT, now=NOW)
        assert not services.leave_seat(seat=leaver, why=Seat.Left.GONE, now=NOW)
        assert services.leave_seat(seat=removed, why=Seat.Left.REMOVED, user=researcher, now=NOW)
    assert told == [(leaver, "left"), (removed, "removed"), (room.pk, leaver.code), (room.pk, removed.code)]
    assert (leaver.left_at, leaver.left_why) == (NOW, "left")
    assert {**room_state(late), "remaining": None} == before, "the others see nothing of it"
    line = AuditLine.objects.get()
    assert (line.action, line.actor, line.target) == ("seat.removed", researcher, room.code)
    services.close_room(room=room, now=NOW)
    assert not services.leave_seat(seat=late, why=Seat.Left.WITHDREW, now=NOW)


def test_state_has_one_shape_and_tells_nobody_apart_but_by_what_everybody_saw() -> None:
    room = opened()
    first, *rest = room.seats.order_by("position")
    services.put_out(room=services.hold(room.pk), seat=first, data={"nature": first.nature}, now=NOW)
    Seat.objects.filter(pk=rest[0].pk).update(left_at=NOW, left_why="gone")
    now = NOW + timedelta(seconds=50.5)
    states = [room_state(seat, now) for seat in room.seats.order_by("position")]
    assert states[0] == {
        "type": "state",
        "room": room.code,
        "game": "plain",
        "phase": "talk",
        "phase_number": 1,
        "round": 1,
        "writable": True,
        "remaining": 99.5,
        "last_seq": 2,
        "max_length": 500,
        "typing": False,
        "closed": False,
        "you": {"seat": first.code, "out": True, "may_write": False, "may_read": False},
        "seats": [
            {
                "seat": seat.code,
                "name": seat.pseudonym,
                "out": seat == first,
                "out_round": 1 if seat == first else None,
            }
            for seat in [first, *rest]
        ],
        "play": {},
    }
    assert [state["you"]["may_write"] for state in states] == [False, False, True, True, True, True]
    same = [{**state, "you": None} for state in states]
    assert all(state == same[0] for state in same)
    assert room_state(first, NOW + timedelta(hours=1))["remaining"] == 0.0
    line = Event.objects.get(seq=2)
    assert (line.kind, line.seat, line.data) == ("out", first, {"nature": first.nature})


def test_what_is_reported_reaches_staff_once() -> None:
    room, (seat, other) = plain_room(2)
    sent = services.send_message(seat_id=other.pk, text="Something rude", client_id="a", now=room.opened_at)

    def report(seq: int | None, text: str = "", second: int = 1) -> Concern:
        return services.raise_concern(
            seat=seat, event_seq=seq, text=text, now=NOW + timedelta(seconds=second)
        )

    concern = report(sent.seq, " It is \x00rude ")
    assert (concern.room, concern.seat, concern.text) == (room, seat, "It is rude")
    assert concern.event is not None
    assert concern.event.seq == sent.seq
    assert report(sent.seq, "It is rude") == concern
    assert report(None, "x" * 1000).text == "x" * 500
    for wrong in (1, sent.seq + 1):  # a phase, nothing
        with pytest.raises(NotFound):
            report(wrong)
    assert Event.objects.count() == 2
    for number in range(28):
        report(None, f"again {number}")
    with pytest.raises(DomainError) as refused:
        report(None, "and again")
    assert (refused.value.code, Concern.objects.count()) == ("too_many", 30)
