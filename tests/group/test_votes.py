"""The vote through the door players use: what counts, what is refused and how, when it closes."""

from __future__ import annotations

import pytest

from games.group.models import Elimination, Vote
from games.group.presenters import play_state
from games.group.services.settings import change_group_settings
from games.group.services.voting import cast_vote
from games.room.models import Event
from turingsite.errors import Conflict

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def refusal(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_votes_that_may_not_be_are_refused_each_with_its_reason(table, study, make_study):
    other = table(make_study("elsewhere"), 2)
    game = table(study, 4)
    one, two, three, four = game.players
    assert refusal(one.vote(two.seat)) == (409, "no_vote_now")  # people still talk
    game.to_the("vote")
    assert refusal(one.vote(one.seat)) == (400, "yourself")
    assert refusal(one.vote(other.players[0].seat)) == (400, "other_room")
    assert refusal(one.vote("nobody")) == (400, "other_room")
    assert refusal(one.vote(None)) == (400, "choose")  # nobody abstains here
    assert refusal(one.post("room/act/", id="v", do="vote", target=7, round=1)) == (400, "unreadable")
    assert refusal(one.post("room/act/", id="v", do="vote", target=two.seat.code)) == (400, "unreadable")
    assert refusal(one.post("room/act/", id="v", do="vote", target=two.seat.code, round=1.5)) == (
        400,
        "unreadable",
    )
    assert refusal(one.post("room/act/", id="v", do="win", round=1)) == (400, "unknown_action")
    assert refusal(one.vote(two.seat, round=2)) == (409, "no_vote_now")
    assert not Vote.objects.filter(game=game.game).exists()

    assert one.vote(two.seat).json()["target"] == two.seat.code
    again = one.vote(three.seat)  # the first one stands
    assert (again.status_code, again.json()["target"]) == (200, two.seat.code)
    for player in (three, four):
        player.vote(two.seat)
    game.to_the("reveal")
    assert one.vote(three.seat).json()["target"] == two.seat.code  # sent again after the end: the same answer
    assert refusal(two.vote(one.seat)) == (409, "out")
    game.to_the("vote")
    assert refusal(two.vote(one.seat, round=2)) == (409, "out")
    assert refusal(one.vote(two.seat, round=2)) == (400, "not_living")
    # The clock has run out, but nobody has noticed: a vote that comes late is late all the same.
    game.clock.pass_(60)
    assert refusal(one.vote(three.seat, round=2)) == (409, "no_vote_now")
    assert game.room.phase == "reveal"
    assert Elimination.objects.filter(game=game.game).count() == 2


def test_a_vote_tells_the_others_nothing_and_its_sender_that_it_stands(table, study):
    game = table(study, 3)
    one, two, three = game.players
    game.to_the("vote")
    before = game.room.last_seq
    state = one.get("room/log/").json()["state"]
    assert state["play"]["voted"] is False
    assert set(state["play"]["votes_for"]) == {two.seat.code, three.seat.code, game.agent.code}
    one.vote(two.seat)
    assert game.room.last_seq == before
    state = one.get("room/log/").json()["state"]
    assert (state["play"]["voted"], state["play"]["votes_for"]) == (True, [])
    assert two.get("room/log/").json()["state"]["play"]["voted"] is False
    game.all_vote(two.seat)
    line = Event.objects.get(room=game.room, kind="out")
    assert line.data == {"nature": "human"}  # who is out and what they were, no tally
    assert line.seat == two.seat


def test_tallies_are_shown_and_people_may_abstain_where_the_study_says_so(make_study, table):
    game = table(make_study("shown", show_tallies=True, abstain_button=True, agent_votes=False), 3)
    one, two, three = game.players
    game.to_the("vote")
    one.form("room/act/", do="vote", round="1")  # “Vote” without a choice is no abstention
    assert refusal(one.post("room/act/", id="v", do="vote", round=1)) == (400, "choose")
    assert not Vote.objects.exists()
    one.form("room/act/", do="vote", round="1", target="")
    two.vote(game.agent)
    assert Vote.objects.get(voter=one.seat).target is None
    assert game.room.phase == "vote"
    three.vote(game.agent)  # the last one closes it; a silent agent is not waited for
    assert game.room.phase == "reveal"
    line = Event.objects.get(room=game.room, kind="out")
    assert line.data == {"nature": "machine", "tally": {game.agent.code: 2}}
    assert one.get("room/log/").json()["state"]["play"]["out"] == [
        {"seat": game.agent.code, "nature": "machine", "round": 1, "tally": {game.agent.code: 2}}
    ]


def test_the_vote_closes_with_the_last_one_that_is_there(make_study, table, sweep):
    game = table(make_study("there", agent_votes=False), 4)
    one, two, three, four = game.players
    game.to_the("vote")
    one.vote(two.seat)
    three.vote(two.seat)
    game.clock.pass_(21)  # two sleeps, and so do the others' pages, but these come back
    game.seen(one, three, four)
    assert game.room.phase == "vote"
    four.vote(two.seat)
    assert game.room.phase == "reveal"
    assert not Vote.objects.filter(voter=two.seat).exists()

    game.to_the("vote")
    one.vote(three.seat, round=2)
    game.clock.pass_(21)
    game.seen(one)
    sweep()  # nobody who is there still has to vote
    assert game.room.phase == "reveal"


def test_where_all_connections_broke_the_deadline_decides(table, study, sweep):
    game = table(study, 3)
    game.to_the("vote")
    game.clock.pass_(30)  # the agent alone is there
    sweep()
    assert game.room.phase == "vote"
    game.clock.pass_(15)
    sweep()
    assert game.room.phase == "reveal"
    out = Elimination.objects.get()
    assert out.tally == {}
    assert len(out.tied) == 4  # nobody voted: all of them, in seat order
    assert out.tied == list(game.room.seats.order_by("position").values_list("code", flat=True))
    assert out.seat.code == out.tied[out.draw["index"]]


def test_the_only_voter_may_leave_and_somebody_who_left_can_be_voted_out(make_study, table):
    game = table(make_study("leaving", agent_votes=False, least_present=1), 3)
    one, two, three = game.players
    game.to_the("vote")
    one.vote(three.seat)
    assert two.form("room/leave/").status_code == 302
    assert refusal(two.vote(three.seat)) == (410, "left")
    assert game.room.phase == "vote"
    assert three.form("room/leave/").status_code == 302  # nobody is left who has not voted
    assert game.room.phase == "reveal"
    assert Elimination.objects.get().seat == three.seat


def test_the_agent_has_no_vote_where_the_study_gives_it_none(make_study, table):
    game = table(make_study("silent", agent_votes=False), 3)
    game.to_the("vote")
    with pytest.raises(Conflict) as refused:
        cast_vote(seat=game.agent, target_code=game.players[0].seat.code, round=1, now=game.clock.now)
    assert refused.value.code == "no_vote_now"


def test_every_seat_gets_the_same_keys_in_every_phase(table, study):
    game = table(study, 3)
    for phase in ("discussion", "vote", "reveal", "discussion", "vote", "reveal", "end"):
        if phase == "vote" and game.room.round == 1:
            change_group_settings(study=study, reveal_seconds=9)  # of later games: this one keeps its rules
        if phase == "reveal":
            game.all_vote(game.agent if game.room.round == 2 else game.players[0].seat)
        game.to_the(phase)
        room = game.room
        shapes = set()
        for seat in room.seats.all():
            state = play_state(seat)
            shapes.add(tuple(sorted((key, type(value).__name__) for key, value in state.items())))
        assert len(shapes) == 1, phase
    assert game.game.rules["reveal_seconds"] == 8
