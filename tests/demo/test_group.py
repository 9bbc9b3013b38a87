"""The demo of the group game: finished games to look at, a study to play in."""

from __future__ import annotations

import pytest
from django.utils import timezone

from games.group.bots.checks import wrong_in
from games.group.models import Game, GroupSettings
from studies.models import Answer, EndState, Study
from turingsite.demo import group, seed


@pytest.mark.both
@pytest.mark.django_db
def test_the_demo_has_games_that_people_and_the_agent_played_to_the_end():
    user, until = seed.researcher(), timezone.now()
    study = group.opened(group.study(user), user, until=until)
    assert group.games(study, wanted=2, until=until, say=lambda line: None) == 2
    games = list(Game.objects.filter(study=study).select_related("room"))
    assert wrong_in(game.room.code for game in games) == []
    assert {game.end for game in games} <= set(Game.PLAYED)
    for game in games:
        said = game.room.events.messages()
        people = said.filter(seat__nature="human").values("seat").distinct().count()
        assert said.filter(seat__nature="machine").exists()
        assert people == game.people
        assert game.steps.filter(outcome="sent").exists()
        assert not game.steps.filter(outcome="").exists()
        assert game.ended_at is not None
        assert game.room.opened_at < game.ended_at < until
    assert set(study.participants.values_list("end_state", flat=True)) == {EndState.DONE}
    assert Answer.objects.filter(about__in=[game.code for game in games]).exists()
    # Made again, nothing is added; the same rows whatever else is on the machine.
    assert group.games(group.study(user), wanted=2, until=until, say=lambda line: None) == 0


@pytest.mark.django_db
def test_a_visitor_need_not_wait_in_the_demo():
    user = seed.researcher()
    study = group.opened(group.study(user), user, until=timezone.now())
    settings = GroupSettings.objects.get(study=study)
    assert study.status == Study.Status.OPEN
    assert study.test_participants
    assert settings.bots_after is not None
    assert settings.bots_after <= 2
