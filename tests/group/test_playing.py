"""A group game from the waiting room to the debrief, through the pages people use."""

from __future__ import annotations

import pytest

from games.group.models import Elimination, Game, Vote
from studies.models import EndState

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def test_a_game_is_played_to_the_end_and_everybody_reaches_survey_and_debrief(table, study, sweep):
    game = table(study, 3)
    assert game.room.phase == "discussion"
    assert game.room.writable
    assert game.room.seats.count() == 4
    victim = game.players[0].seat
    game.to_the("vote")
    for player in game.players:
        target = victim if player.seat != victim else game.agent
        answer = player.vote(target)
        assert answer.status_code == 200, answer.content
    assert game.room.phase == "vote"  # the agent, who votes here, has not yet
    game.to_the("reveal")
    out = Elimination.objects.get()
    assert (out.seat, out.living, out.tied) == (victim, 4, [])
    assert out.tally == {victim.code: 2, game.agent.code: 1}
    game.to_the("discussion")
    assert game.room.round == 2
    assert game.player_of(victim).where() == "group/room/"  # watches

    game.to_the("vote")
    game.all_vote(game.agent)
    game.to_the("end")
    assert game.end == Game.End.AGENT_OUT
    assert Vote.objects.filter(round=2).count() == 3
    name = game.agent.pseudonym
    for player in game.players:
        assert player.where() == "group/survey/"
        answered = player.form("group/survey/", human_likeness="4", gave_away="It was too polite.")
        assert answered.url == player.url("go/")
        assert player.where() == "debrief/"
        page = player.get("debrief/").content.decode()
        assert name in page
        assert "CODE-DONE" in page
        assert player.end == EndState.DONE
