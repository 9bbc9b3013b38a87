"""The clock: a phase is ended once, when its time is up or by hand; the log says so without a gap."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from games.room import services, tasks
from games.room.models import Event, Room
from games.room.rules import rules
from games.room.selectors import events_after
from studies.models import AuditLine
from tests import factories
from tests.factories import NOW
from tests.room.live import PLAIN, plain_room
from turingsite.errors import DomainError

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def log(room: Room) -> list[tuple[int, str, str, dict[str, object]]]:
    return [(one.seq, one.kind, one.phase, one.data) for one in events_after(room.pk, 0)]


def test_a_phase_ends_when_its_time_is_up_and_not_before() -> None:
    room, _seats = plain_room(2, seconds=60)
    opened, end = room.opened_at, room.deadline
    assert end == opened + timedelta(seconds=60)
    early = end - timedelta(microseconds=1)
    assert services.sweep(early) == 0
    assert not services.advance(room_id=room.pk, phase_number=1, now=early)
    assert not services.advance(room_id=room.pk, phase_number=2, now=end)
    assert services.advance(room_id=room.pk, phase_number=1, now=end)
    assert not services.advance(room_id=room.pk, phase_number=1, now=end)
    room.refresh_from_db()
    assert (room.phase, room.phase_number, room.round) == ("after", 2, 1)
    assert (room.phase_started_at, room.deadline, room.last_seq) == (end, None, 2)
    assert not services.advance(room_id=room.pk, phase_number=2, now=end), "it has no end of its own"
    assert services.advance(room_id=room.pk, phase_number=2, now=end, by_hand=True)
    assert not services.advance(room_id=room.pk, phase_number=2, now=end, by_hand=True)
    assert log(room) == [
        (1, "phase", "talk", {"seconds": 60}),
        (2, "phase", "after", {"seconds": None}),
        (3, "phase", "after", {"seconds": None}),
    ]
    with pytest.raises(DomainError) as missing:
        services.advance(room_id=room.pk + 1, phase_number=1, now=end)
    assert missing.value.code == "no_room"


def test_a_stale_copy_of_the_room_does_no_harm() -> None:
    room, _seats = plain_room(2)
    stale = Room.objects.get(pk=room.pk)
    services.set_phase(room=room, phase="vote", seconds=45, writable=False, round=2, now=NOW)
    services.append(room=stale, kind="notice", data={"notice": "x"}, now=NOW)
    services.set_phase(room=stale, phase="talk", seconds=None, writable=True, data={"topic": "y"}, now=NOW)
    assert (stale.phase_number, stale.round, stale.last_seq) == (3, 1, 4)
    services.close_room(room=room, data={"end": "over"}, now=NOW)
    assert [(seq, phase) for seq, _kind, phase, _data in log(room)] == [
        (1, "talk"),
        (2, "vote"),
        (3, "talk"),
        (4, "talk"),
        (5, "end"),
    ]
    assert log(room)[3][3] == {"seconds": None, "topic": "y"}
    assert log(room)[4][1:] == ("end", "end", {"end": "over"})
    room.refresh_from_db()
    assert (room.closed_at, room.writable, room.deadline, room.phase_number) == (NOW, False, None, 4)
    with pytest.raises(DomainError, match="over"):
        services.close_room(room=stale, now=NOW)
    with pytest.raises(DomainError, match="over"):
        services.set_phase(room=stale, phase="x", seconds=1, writable=True, now=NOW)
    assert not services.advance(room_id=room.pk, phase_number=4, now=NOW, by_hand=True)


def test_the_sweep_moves_on_all_that_is_overdue_though_one_room_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = factories.StudyFactory(activities=[])
    made = [plain_room(2, study=study, seconds=seconds)[0] for seconds in (10, 20, 30, None, 600)]
    order: list[int] = []

    def over(room: Room, now: datetime) -> None:
        order.append(room.pk)
        services.set_phase(room=room, phase="after", seconds=None, writable=True, now=now)
        if room.pk == made[1].pk:
            raise RuntimeError("this room's rules are broken")

    monkeypatch.setitem(rules._items, "plain", replace(PLAIN, phase_over=over))
    now = made[0].opened_at + timedelta(seconds=60)
    with pytest.raises(RuntimeError):
        services.sweep(now)
    assert order == [room.pk for room in made[:3]]
    phases = list(Room.objects.order_by("pk").values_list("phase", flat=True))
    assert phases == ["after", "talk", "after", "talk", "talk"], "the one that failed is as it was"
    monkeypatch.undo()
    assert services.sweep(now) == 1
    assert services.sweep(now) == 0


def test_the_task_that_runs_on_a_clock_sweeps() -> None:
    room, _seats = plain_room(2, seconds=60)
    Room.objects.update(deadline=room.opened_at)
    tasks.sweep_rooms()
    room.refresh_from_db()
    assert room.phase == "after"


def test_more_time_is_given_told_and_noted() -> None:
    room, _seats = plain_room(2, seconds=60)
    researcher = factories.UserFactory(is_staff=True)
    end = room.deadline
    assert end is not None
    services.extend(room=room, seconds=30, user=researcher, now=room.opened_at)
    room.refresh_from_db()
    assert room.deadline == end + timedelta(seconds=30)
    assert log(room)[-1][1:] == ("notice", "talk", {"notice": "extended", "seconds": 30})
    line = AuditLine.objects.get()
    assert (line.action, line.actor, line.target) == ("room.extended", researcher, room.code)
    late = room.deadline + timedelta(seconds=4)  # nobody has noticed yet: the time begins now
    services.extend(room=room, seconds=30, user=researcher, now=late)
    room.refresh_from_db()
    assert room.deadline == late + timedelta(seconds=30)
    services.set_phase(room=room, phase="after", seconds=None, writable=True, now=late)
    with pytest.raises(DomainError) as refused:
        services.extend(room=room, seconds=30, user=researcher, now=late)
    assert refused.value.code == "no_clock"
    assert Event.objects.count() == 4
