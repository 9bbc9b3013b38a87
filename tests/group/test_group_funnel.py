"""A study's page counts how far people of the group game come, and nothing of dialogues it has none of."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from games.room.models import Seat
from tests import factories
from tests.rooms import GameFactory, GroupSettingsFactory

pytestmark = pytest.mark.django_db


def test_steps_count_people_and_say_nothing_of_how_games_end(client: Any, cast: Any) -> None:
    study, now = cast.study, timezone.now()
    study.activities = ["group"]
    study.save()
    GroupSettingsFactory(study=study)
    client.force_login(cast.researcher)
    page = reverse("admin:desk_study", args=[study.slug])

    def steps() -> dict[str, int]:
        answer = client.get(page)
        return {row["step"].key: row["step"].people for row in answer.context["steps"]}

    assert (steps()["waited"], steps()["seated"], steps()["game_over"]) == (0, 0, 0)
    people = [factories.ParticipantFactory(study=study) for _ in range(3)]
    people.append(factories.ParticipantFactory(study=study, is_test=True))
    for person in people:
        study.tickets.create(
            participant=person, language="en", joined_at=now, seen_at=now, patience_until=now
        )
    running, over = GameFactory(room__study=study), GameFactory(room__study=study)
    for game, person in ((running, people[0]), (over, people[1]), (over, people[3])):
        seat = game.room.seats.filter(nature="human", participant=None).first()
        seat = seat or game.room.seats.filter(nature="human").first()
        seat.participant = person
        seat.save()
    before = steps()
    # Voted out, while the AI is still in: nothing that may be seen in a blind study moves.
    Seat.objects.filter(room=running.room, participant=people[0]).update(out_at=now, out_round=1)
    assert steps() == before
    type(over).objects.filter(pk=over.pk).update(end="survived", ended_at=now)
    assert steps() == before | {"game_over": before["game_over"] + over_people(over)}
    assert not {"sound", "verdict", "round_1"} & set(before)

    text = client.get(page).content.decode()
    for words in ("verdicts analysed", "minutes a round", "Dialogues ready to play", "Listening"):
        assert words not in text, words
    assert "games played to the end" in text


def over_people(game: Any) -> int:
    return int(game.room.seats.filter(participant__is_test=False).count())


def test_a_study_with_dialogues_beside_keeps_their_figures(client: Any, cast: Any) -> None:
    cast.study.activities = ["speech", "group"]
    cast.study.save()
    client.force_login(cast.researcher)
    answer = client.get(reverse("admin:desk_study", args=[cast.study.slug]))
    keys = [row["step"].key for row in answer.context["steps"]]
    assert {"sound", "verdict", "waited", "seated"} <= set(keys)
    assert "verdicts analysed" in answer.content.decode()
