"""How games end, and what each of their people gets: end state, code, survey, debrief."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogues.models import Turn
from games.group.agent.trace import newest_notes
from games.group.models import Elimination, Game, Vote
from games.group.services import levers
from games.room.models import Event, Seat
from studies import services
from studies.models import Answer, AuditLine, EndState, Study
from tests import factories
from tests.group.conftest import Player, Table
from turingsite.errors import Conflict, Invalid

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def reaches_the_debrief(player: Player, code: str, agent: str) -> None:
    """Through the survey, which takes anything or nothing, to the debrief with this code and the truth."""
    assert player.end == ""
    assert player.where() == "group/survey/"
    assert f"CODE-{code.upper()}" not in player.get("group/survey/").content.decode()
    assert player.form("group/survey/", enjoyment="2").status_code == 302
    assert player.where() == "debrief/"
    page = player.get("debrief/").content.decode()
    assert f"CODE-{code.upper()}" in page
    assert agent in page
    assert Answer.objects.get(rater=player.participant.rater, question="enjoyment").value == "2"
    assert Answer.objects.get(rater=player.participant.rater, question="timing").value in (None, "")
    assert player.end == code


def out_with(game: Table, seat: Seat) -> None:
    game.to_the("vote")
    game.all_vote(seat)
    assert Elimination.objects.filter(seat=seat).exists()


def test_the_agent_survives_when_one_person_is_left_with_it(table, study):
    game = table(study, 3)
    first, second, last = game.players
    out_with(game, first.seat)
    game.to_the("discussion")
    out_with(game, second.seat)
    assert not game.end  # first everybody sees who it was
    game.to_the("end")
    assert game.end == Game.End.SURVIVED
    room = game.room
    assert (room.closed_at, room.writable, room.deadline) == (game.clock.now, False, None)
    assert Event.objects.get(room=room, kind="end").data == {"end": "survived"}
    game.clock.pass_(1)
    last.form("room/leave/")  # a room that has closed: nothing is lost by it
    for player in game.players:
        page = player.get("group/survey/").content.decode()
        assert game.agent.pseudonym in page
        reaches_the_debrief(player, EndState.DONE, game.agent.pseudonym)
    rows = last.get("debrief/").content.decode()
    assert first.seat.pseudonym in rows
    assert second.seat.pseudonym in rows
    assert "What the AI was told" in rows


def test_who_is_out_may_watch_or_go_at_once_and_learns_who_it_was_when_the_others_have_finished(table, study):
    game = table(study, 3)
    first, *others = game.players
    out_with(game, first.seat)
    game.to_the("discussion")
    assert first.where() == "group/room/"
    state = first.get("room/log/").json()["state"]
    assert (state["you"]["out"], state["you"]["may_write"], state["you"]["may_read"]) == (True, False, True)
    assert state["play"]["next"] == first.url("group/survey/")
    assert first.post("room/send/", id="a", text="hello").json()["error"]["code"] == "out"
    assert others[0].get("room/log/").json()["state"]["play"]["next"] == ""
    page = first.get("group/survey/").content.decode()
    assert game.agent.pseudonym not in page  # the others are still playing
    first.form("group/survey/")
    assert first.where() == "debrief/"
    page = first.get("debrief/").content.decode()
    assert "CODE-DONE" in page
    assert game.agent.pseudonym not in page
    assert "The others are still playing" in page
    out_with(game, game.agent)
    game.to_the("end")
    assert game.agent.pseudonym in first.get("debrief/").content.decode()


def test_where_nobody_watches_who_is_out_is_sent_on(make_study, table):
    game = table(make_study("unseen", spectators=False), 3)
    first = game.players[0]
    out_with(game, first.seat)
    assert first.where() == "group/survey/"
    assert first.get("group/room/").url == first.url("group/survey/")


def test_with_too_few_people_a_game_is_abandoned_and_nobody_pays_for_the_others(table, study, sweep):
    game = table(study, 3)
    out, leaver, stayer = game.players
    out_with(game, out.seat)
    game.to_the("discussion")
    assert leaver.form("room/leave/").status_code == 302
    assert game.end == Game.End.ABANDONED
    sweep()
    agent = game.agent.pseudonym
    assert stayer.get("group/room/").url == stayer.url("group/survey/")
    for player, end in ((leaver, EndState.WITHDREW), (stayer, EndState.TECHNICAL), (out, EndState.DONE)):
        reaches_the_debrief(player, end, agent)


def test_a_game_goes_on_without_who_has_left_and_the_others_are_not_told(table, study, sweep):
    game = table(study, 4)
    leaver, *others = game.players
    before = others[0].get("room/log/").json()
    leaver.form("room/leave/")
    sweep()
    after = others[0].get("room/log/").json()
    assert after == before  # seats, log, clock: nothing has happened
    assert leaver.where() == "group/survey/"
    assert game.agent.pseudonym not in leaver.get("group/survey/").content.decode()
    game.to_the("vote")
    game.all_vote(leaver.seat)
    assert Elimination.objects.get().seat == leaver.seat  # still at the table for the others
    assert leaver.where() == "group/survey/"
    leaver.form("group/survey/")
    assert leaver.end == EndState.WITHDREW  # to be voted out in one's absence is not to have played
    assert leaver.get("room/log/").url == leaver.url("group/")
    assert game.end == ""


def test_everybody_closes_the_page(table, study, sweep):
    game = table(study, 3)
    game.clock.pass_(175)
    sweep()  # the talk is over, the vote has begun
    assert game.end == ""
    game.clock.pass_(10)
    sweep()
    assert game.end == Game.End.ABANDONED
    assert {one.seat.left_why for one in game.players} == {Seat.Left.GONE}
    game.clock.pass_(29 * 60)
    sweep()
    reaches_the_debrief(game.players[0], EndState.TIMED_OUT, game.agent.pseudonym)
    game.clock.pass_(2 * 60)
    sweep()  # the others do not come
    assert {one.end for one in game.players} == {EndState.TIMED_OUT}
    assert game.players[1].where() == "debrief/"
    assert game.players[1].get("group/survey/").status_code == 200  # still open to them


def test_who_is_gone_for_long_is_not_waited_for_and_cannot_come_back(table, study, sweep):
    game = table(study, 4)
    gone, *others = game.players
    game.clock.pass_(149)
    game.seen(*others)
    game.clock.pass_(32)
    sweep()
    assert gone.seat.left_why == Seat.Left.GONE
    assert game.end == ""
    assert gone.where() == "group/survey/"
    page = gone.get("group/survey/").content.decode()
    assert "went on without you" in page
    assert game.agent.pseudonym not in page


def test_somebody_withdraws_and_erases_in_the_middle(make_study, table, sweep):
    game = table(make_study("erased", show_tallies=True, agent_votes=False), 4)
    leaver, *others = game.players
    leaver.post("room/send/", id="a", text="I am Ann")
    game.to_the("vote")
    leaver.vote(others[0].seat)
    for player in others[1:]:
        player.vote(others[0].seat)
    others[0].vote(game.agent)
    game.to_the("discussion")
    step = game.game.steps.create(
        number=1, round=1, phase="discussion", after_seq=2, reason="Ann asks", started_at=game.clock.now
    )
    step.candidates.create(position=0, purpose="answer", text="Hi Ann", chosen=True)
    times = {"started_at": game.clock.now, "finished_at": game.clock.now}
    game.game.notes.create(worker="claims", value={"claims": ["Ann"]}, **times)
    services.withdraw(participant=leaver.participant, erase_answers=True)
    sweep()
    assert newest_notes(game.game.pk) == {}
    game.game.notes.create(worker="claims", value={"claims": ["Ann"]}, **times)  # from what it had read
    assert game.end == ""
    assert Vote.objects.filter(game=game.game, target=others[0].seat).count() == 2
    assert Elimination.objects.get().tally == {others[0].seat.code: 2, game.agent.code: 1}
    assert Event.objects.get(room=game.room, kind="out").data["tally"] == Elimination.objects.get().tally
    assert not Event.objects.filter(room=game.room, text__contains="Ann").exists()
    assert game.room.seats.count() == 5  # their seat stays to the others
    game.to_the("vote")
    game.all_vote(game.agent)
    game.to_the("end")
    assert game.end == Game.End.AGENT_OUT
    assert [note.value for note in game.game.notes.all()] == [{}, {}]
    assert list(game.game.steps.values_list("reason", "candidates__text")) == [("", "")]


def test_staff_move_a_game_by_levers_and_each_leaves_its_line(table, study, sweep):
    user = factories.StudyMemberFactory(study=study).user
    game = table(study, 4)
    now = game.clock.now
    deadline = game.room.deadline
    levers.extend(game=game.game, seconds=30, user=user, now=now)
    assert game.room.deadline == deadline + timedelta(seconds=30)
    with pytest.raises(Invalid):
        levers.extend(game=game.game, seconds=0, user=user, now=now)
    number = game.room.phase_number
    assert levers.next_phase(game=game.game, phase_number=number, user=user, now=now)
    assert not levers.next_phase(game=game.game, phase_number=number, user=user, now=now)  # a double click
    assert game.room.phase == "vote"
    removed, *others = game.players
    with pytest.raises(Invalid):
        levers.remove_player(game=game.game, seat=game.agent, user=user, now=now)
    assert levers.remove_player(game=game.game, seat=removed.seat, user=user, now=now)
    assert not levers.remove_player(game=game.game, seat=removed.seat, user=user, now=now)
    sweep()
    assert game.end == ""
    assert levers.cancel(game=game.game, user=user, now=now)
    assert not levers.cancel(game=game.game, user=user, now=now)
    with pytest.raises(Conflict):
        levers.extend(game=game.game, seconds=30, user=user, now=now)
    sweep()
    assert game.end == Game.End.CANCELLED
    agent = game.agent.pseudonym
    for player in others:
        reaches_the_debrief(player, EndState.CANCELLED, agent)
    reaches_the_debrief(removed, EndState.SCREENED_OUT, agent)
    lines = AuditLine.objects.filter(study=study, actor=user).order_by("pk").values_list("action", flat=True)
    assert list(lines) == ["room.extended", "group.next_phase", "seat.removed", "group.cancelled"]


def test_a_study_that_closes_takes_its_games_along(table, study, sweep):
    game = table(study, 2)
    Study.objects.filter(pk=study.pk).update(status=Study.Status.CLOSED)
    sweep()
    assert game.end == Game.End.CANCELLED
    one, other = game.players
    assert one.where() == "debrief/"
    assert "CODE-CANCELLED" in one.get("debrief/").content.decode()
    game.clock.pass_(31 * 60)
    sweep()
    assert other.end == EndState.CANCELLED


def test_who_played_and_never_comes_for_the_survey_is_done_after_a_while(table, study, sweep):
    game = table(study, 2)
    out_with(game, game.agent)
    game.to_the("end")
    game.clock.pass_(60)
    sweep()
    assert [one.end for one in game.players] == ["", ""]
    game.clock.pass_(30 * 60)
    sweep()
    one, other = game.players
    assert [one.end, other.end] == [EndState.DONE] * 2
    assert one.form("group/survey/", enjoyment="3").status_code == 302  # they may still answer
    assert Answer.objects.get(rater=one.participant.rater, question="enjoyment").value == "3"
    assert one.where() == "debrief/"


def test_a_soft_launch_counts_people_who_played(make_study, table):
    study = make_study("soft", fields={"status": Study.Status.SOFT_LAUNCH, "soft_launch_n": 2})
    game = table(study, 2)
    out_with(game, game.agent)
    game.to_the("end")
    for player in game.players:
        player.form("group/survey/")
        assert player.where() == "debrief/"
    study.refresh_from_db()
    assert study.status == Study.Status.PAUSED


def test_who_leaves_the_study_after_a_game_that_failed_is_paid_by_how_it_failed(table, study, sweep):
    user = factories.StudyMemberFactory(study=study).user
    game = table(study, 3)
    leaver, *others = game.players
    leaver.form("room/leave/")
    levers.cancel(game=game.game, user=user, now=game.clock.now)
    for player in others:
        player.form("leave/", choice="stop")
        assert player.end == EndState.CANCELLED
    leaver.form("leave/", choice="stop")
    assert leaver.end == EndState.WITHDREW


def test_a_study_without_a_survey_leads_straight_to_the_debrief(table, study, sweep):
    study.questionnaires.all().delete()
    game = table(study, 3)
    out, leaver, stayer = game.players
    out_with(game, out.seat)
    game.to_the("discussion")
    assert out.get("group/survey/").url == out.url("go/")
    leaver.form("room/leave/")
    ends = {player: player.where() and player.end for player in (out, leaver, stayer)}
    assert list(ends.values()) == [EndState.DONE, EndState.WITHDREW, EndState.TECHNICAL]
    assert stayer.where() == "debrief/"


def test_a_game_that_was_played_is_kept_as_a_dialogue_also_when_its_process_stops(table, study, sweep):
    game = table(study, 2)
    game.players[0].post("room/send/", id="a", text="hello all")
    out_with(game, game.agent)
    game.to_the("end")
    game.game.refresh_from_db()
    assert game.game.dialogue is None  # what runs after the commit never ran
    game.clock.pass_(11)
    sweep()
    game.game.refresh_from_db()
    turns = Turn.objects.filter(dialogue__group_game=game.game)
    assert [turn.text for turn in turns] == ["hello all"]


def test_a_game_goes_on_while_the_study_pauses_by_forms_too(table, study):
    one, two, _three = table(study, 3).players
    Study.objects.filter(pk=study.pk).update(status=Study.Status.PAUSED)
    for path, data in (
        ("send", {"text": "hello"}),
        ("send", {"text": ""}),
        ("act", {"do": "vote", "round": "1"}),
    ):
        page = one.client.post(one.url(f"room/{path}/"), data, follow=True)
        assert (page.status_code, page.request["PATH_INFO"]) == (200, one.url("group/room/"))
    for _twice in range(2):
        page = two.client.post(two.url("room/leave/"), follow=True)
        assert (page.status_code, page.request["PATH_INFO"]) == (200, two.url("group/survey/"))
