"""The waiting room: who is seated when, and what becomes of those who wait in vain."""

from __future__ import annotations

import pytest

from games.group import selectors, views
from games.group.models import BotCall, Game, Ticket
from games.group.services.settings import change_group_settings
from games.room.models import Seat
from studies import services
from studies.models import EndState, Study
from tests.group.conftest import Player

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def seated(*players: Player) -> list[bool]:
    return [Seat.objects.filter(participant=one.participant).exists() for one in players]


def test_the_people_ready_longest_play_and_the_next_one_waits_on(study, players, clock):
    change_group_settings(study=study, people=3, least_people=3, least_present=2)
    late, *others = players(study, 4)
    late.get("group/wait/")  # came first, is ready last
    for one in others[:2]:
        clock.pass_(1)
        one.come()
        late.look()
    assert not Game.objects.exists()  # two people, and an agent that counts for nothing
    state = late.look()
    assert (state["here"], state["ready_now"], state["people"], state["ready"]) == (3, 2, 3, False)
    assert state["starts_in"] is None
    assert others[2].come()["goto"] == "/s/table/group/room/"
    assert seated(late, *others) == [False, True, True, True]
    game = Game.objects.get()
    assert (game.number, game.people, game.room.seats.count()) == (1, 3, 4)
    assert game.room.seats.filter(nature="machine").count() == 1
    assert late.come()["ready"]  # the room is full: the next game
    assert Game.objects.count() == 1
    assert others[0].where() == "group/room/"
    assert others[0].get("group/wait/").url.endswith("/group/room/")


def test_with_enough_people_a_game_starts_after_a_while_also_without_a_full_table(
    study, players, clock, sweep
):
    change_group_settings(study=study, people=5, least_people=3, start_after=30)
    came = players(study, 4)
    for one in came[:3]:
        one.come()
        clock.pass_(4)
    assert came[0].look()["starts_in"] == 26.0  # since the third was ready, 4 seconds ago
    clock.pass_(25)
    for one in came[:3]:
        one.look()
    came[3].get("group/wait/")  # there, but not ready: the game neither waits nor takes them
    sweep()
    assert not Game.objects.exists()
    clock.pass_(1)
    sweep()  # nobody has to ask: the sweep starts it
    assert seated(*came) == [True, True, True, False]
    assert came[3].look()["here"] == 1


def test_a_second_tab_and_a_second_device_are_the_same_person(study, players, clock):
    change_group_settings(study=study, people=2, least_people=2)
    one, other = players(study, 2)
    one.come()
    phone = Player(one.participant)  # the code from last time
    phone.come()
    assert phone.look()["ready_now"] == 1
    assert Ticket.objects.count() == 1
    assert one.form("group/ready/").status_code == 302
    other.come()
    assert Seat.objects.filter(participant=one.participant).count() == 1
    for tab in (one, phone):
        assert tab.where() == "group/room/"
        assert tab.form("group/again/").status_code == 302  # refused, and sent back to the game
        assert tab.post("group/again/").json()["error"]["code"] == "playing"
        assert tab.post("group/ready/").json()["error"]["code"] == "not_waiting"


def test_who_has_closed_the_page_is_not_seated_and_keeps_their_place_when_they_return(
    study, players, clock, sweep
):
    change_group_settings(study=study, people=3, least_people=3)
    asleep, *others = players(study, 4)
    asleep.come()
    clock.pass_(25)
    for one in others[:2]:
        one.come()
    sweep()
    assert not Game.objects.exists()
    assert others[0].look()["ready_now"] == 2
    others[2].come()
    assert seated(asleep, *others) == [False, True, True, True]
    assert asleep.look()["ready"]
    clock.pass_(200)
    sweep()
    ticket = Ticket.objects.get(participant=asleep.participant)
    assert ticket.state == Ticket.State.LEFT
    assert ticket.closed_at == ticket.seen_at  # waited until then
    assert not asleep.look()["ready"]  # a new ticket
    assert asleep.participant.tickets.count() == 2


def test_who_waits_too_long_may_go_on_or_leave_with_a_code(study, players, clock):
    change_group_settings(study=study, wait_minutes=10)
    patient, tired, leaver = players(study, 3)
    for one in (patient, tired, leaver):
        one.come()
    assert tired.post("group/stop_waiting/").json()["error"]["code"] == "not_asked"
    patient.form("group/keep_waiting/")
    assert Ticket.objects.get(participant=patient.participant).patience_until == clock.now + (
        Ticket.objects.get(participant=tired.participant).patience_until - clock.now
    )
    assert leaver.get("leave/").status_code == 200
    clock.pass_(600)
    assert [one.look()["ask"] for one in (patient, tired)] == [True, True]
    page = patient.get("group/wait/").content.decode()
    assert "keep_waiting" in page
    assert "stop_waiting" in page
    assert patient.form("group/keep_waiting/").status_code == 302
    assert not patient.look()["ask"]
    assert tired.form("group/stop_waiting/").status_code == 302
    assert tired.where() == "debrief/"
    assert "CODE-WAITED" in tired.get("debrief/").content.decode()
    assert tired.end == EndState.WAITED
    leaver.form("leave/", choice="stop")
    assert leaver.end == EndState.WAITED
    assert patient.look()["here"] == 1
    assert tired.form("group/ready/").status_code == 410


def test_people_wait_with_those_of_their_language_and_kind(make_study, players, clock):
    study = make_study(
        fields={"languages": ["en", "zh"], "test_participants": True}, people=2, least_people=2
    )
    (en,) = players(study, 1)
    (zh,) = players(study, 1, judging_language="zh")
    (pilot,) = players(study, 1, is_pilot=True)
    (test,) = players(study, 1, is_test=True)
    everybody = (en, zh, pilot, test)
    for one in everybody:
        one.come()
    assert not Game.objects.exists()
    assert [one.look()["here"] for one in everybody] == [1, 1, 1, 1]
    (other,) = players(study, 1, is_test=True)
    other.come()
    game = Game.objects.get()
    assert game.room.is_test
    assert seated(*everybody, other) == [False, False, False, True, True]
    (second,) = players(study, 1, judging_language="zh")
    second.come()
    assert Game.objects.latest("pk").room.language == "zh"
    assert not Game.objects.latest("pk").room.is_test


def test_bots_are_called_once_and_fill_the_seats_beside_somebody_who_waited(
    make_study, players, clock, sweep
):
    study = make_study(fields={"test_participants": True}, people=3, least_people=3, bots_after=20)
    (person,) = players(study, 1)
    person.come()
    sweep()
    assert not BotCall.objects.exists()
    clock.pass_(20)
    person.look()
    sweep()
    sweep()
    call = BotCall.objects.get()
    assert (call.bots, call.language, call.state, call.user) == (2, "en", "queued", None)
    bots = players(study, 2, is_test=True)
    for one in bots:
        one.come()
    assert seated(person, *bots) == [True, True, True]
    assert Game.objects.get().room.is_test
    sweep()
    assert BotCall.objects.count() == 1
    # The next person does not wait for that game to end, nor for a minute to pass.
    (second,) = players(study, 1)
    second.come()
    clock.pass_(20)
    second.look()
    sweep()
    assert [one.bots for one in BotCall.objects.order_by("pk")] == [2, 2]


def test_a_study_that_pauses_starts_nothing_and_lets_nobody_new_in(study, players, clock, sweep):
    change_group_settings(study=study, people=2, least_people=2)
    one, other, third = players(study, 3)
    one.come()
    Study.objects.update(status=Study.Status.PAUSED)
    assert third.get("group/wait/").status_code == 503
    assert one.get("group/wait/").status_code == 200
    Study.objects.update(status=Study.Status.OPEN)
    other.get("group/wait/")
    Study.objects.update(status=Study.Status.PAUSED)
    other.form("group/ready/")
    sweep()
    assert not Game.objects.exists()
    Study.objects.update(status=Study.Status.OPEN)
    sweep()
    assert seated(one, other) == [True, True]


def test_who_withdraws_while_waiting_is_not_seated(study, players, clock):
    change_group_settings(study=study, people=2, least_people=2)
    one, other = players(study, 2)
    one.come()
    services.withdraw(participant=one.participant, erase_answers=True)
    other.come()
    assert not Game.objects.exists()
    assert other.look()["here"] == 1
    assert not Ticket.objects.filter(participant=one.participant).exists()


def test_there_is_no_waiting_room_for_people_who_do_something_else(study, players, clock):
    (person,) = players(study, 1, activities=["annotation"])
    assert person.get("group/wait/").status_code == 404
    assert not Ticket.objects.exists()


def test_people_play_once_or_again_as_the_study_says(make_study, table, clock):
    study = make_study("again", play_once=False)
    game = table(study, 2)
    game.to_the("vote")
    game.all_vote(game.agent)
    game.to_the("end")
    one, other = game.players
    for player in game.players:
        assert player.where() == "group/survey/"
        assert player.form("group/survey/").url.endswith("/group/over/")
    page = one.get("group/over/")
    assert page.status_code == 200
    assert "group/again/" in page.content.decode()
    for player in game.players:
        player.form("group/again/")
        player.come()
    second = Game.objects.latest("number")
    assert (second.number, Game.objects.count()) == (2, 2)
    assert one.where() == "group/room/"
    other.form("leave/", choice="stop")  # one game was enough
    assert other.end == EndState.DONE


def test_nobody_plays_twice_where_each_plays_once(table, study):
    game = table(study, 2)
    game.to_the("vote")
    game.all_vote(game.agent)
    game.to_the("end")
    (one, _other) = game.players
    assert one.post("group/again/").json()["error"]["code"] == "played_once"
    one.form("group/survey/")
    assert one.where() == "debrief/"
    assert one.get("group/wait/").status_code == 410


def test_a_page_that_asks_while_the_game_begins_is_led_to_it(study, players, clock, monkeypatch):
    change_group_settings(study=study, people=2, least_people=2)
    one, other = players(study, 2)
    one.come()
    before = selectors.place_of(one.participant)
    monkeypatch.setattr(views, "place_of", lambda participant: before._replace(ticket=None))
    other.come()
    response = one.get("group/wait/")
    assert (response.status_code, response.url) == (302, f"/s/{study.slug}/group/")
