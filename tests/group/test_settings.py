"""A study's settings of the group game: what may change when, what keeps it from opening, its file."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from games.group import study_file
from games.group.models import Game, GroupSettings
from games.group.services.agents import ensure_offline_agent
from games.group.services.readiness import ready
from games.group.services.settings import FIXED_ONCE_PLAYED, SETTINGS, change_group_settings
from games.group.services.starting import start_game
from studies import files, selectors
from studies.files import as_yaml, check, describe
from studies.models import AuditLine, EndState, Study
from studies.services import change_status, create_study
from studies.services.filing import apply_study_file
from tests import factories
from tests.rooms import AgentFactory
from turingsite.errors import Conflict, Invalid

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def new_study(slug: str = "built-in", **fields: Any) -> Study:
    study = create_study(
        slug=slug, title_en="Find the AI", user=None, template="group", host="A university",
        contact="study@example.org", **fields,
    )  # fmt: skip
    return study


def test_the_built_in_study_opens_with_its_texts_filled_in():
    study = new_study()
    assert selectors.opening_problems(study) == []
    change_status(study=study, to=Study.Status.OPEN)
    text = selectors.current_consent_text(study)
    assert text is not None
    for language, words in (
        ("en", ("150 seconds", "5 as a rule", "20 minutes")),
        ("zh", ("150 秒", "通常为 5 人", "20 分钟")),
    ):
        whole = str(text.body[language])
        assert "{" not in str([text.body[language][part] for part in ("welcome", "sections", "debrief")])
        assert all(word in whole for word in words)
    keys = study.questionnaires.filter(is_current=True).values_list("key", flat=True)
    assert set(keys) == {"profile", "after-group"}
    asked = study.questionnaires.get(key="after-group").questions
    assert [one["key"] for one in asked] == [
        "human_likeness", "timing", "relevance", "enjoyment", "gave_away",
    ]  # fmt: skip
    assert not any(one["required"] for one in asked)
    assert study.group.agents.get().key == "offline"


def test_what_keeps_a_study_from_opening_is_said_in_words():
    study = new_study(min_age=16)
    assert any("minimum age to 18" in str(one) for one in ready(study))
    with pytest.raises(Conflict):
        change_status(study=study, to=Study.Status.PILOT)
    study.group.agents.clear()
    GroupSettings.objects.update(bots_after=10, least_people=7)
    sheet = study.questionnaires.get(key="after-group")
    sheet.questions[0]["required"] = True
    sheet.save()
    study.refresh_from_db()
    assert len(ready(study)) == 5
    study.group.agents.add(AgentFactory())  # without words for the debrief
    assert any("what it was told" in str(one) for one in ready(study))


def test_what_people_meet_is_fixed_with_the_first_game(study, players):
    first = AgentFactory(told_en="Be one of them.", told_zh="混在其中。")
    changed = change_group_settings(study=study, people=4, topic_en="Food", agents=[first], bots_after=None)
    assert changed == ["people", "topic_en", "agents"]
    line = AuditLine.objects.filter(action="group.settings").latest("pk")
    assert line.detail["values"]["people"] == [5, 4]
    assert "Food" not in str(line.detail)
    people = [one.participant for one in players(study, 4)]
    game = start_game(study=study, language="en", participants=people, now=factories.NOW)
    assert (game.agent, game.rules["people"], game.rules["topic_en"]) == (first, 4, "Food")
    for name, value in (("people", 5), ("vote_seconds", 60), ("agent_votes", False), ("play_once", False)):
        one: dict[str, Any] = {name: value}
        with pytest.raises(Invalid) as refused:
            change_group_settings(study=study, **one)
        assert set(refused.value.fields) == {name}
    with pytest.raises(Invalid):
        change_group_settings(study=study, agents=[AgentFactory()])
    assert change_group_settings(study=study, people=4, start_after=5) == ["start_after"]
    assert study_file.refusal(study, "people")
    assert not study_file.refusal(study, "start_after")


def test_a_preview_fixes_nothing(study):
    start_game(study=study, language="en", participants=[None, None], now=factories.NOW, is_preview=True)
    assert Game.objects.get().room.seats.filter(participant=None).count() == 3
    assert change_group_settings(study=study, people=3, least_people=2) == ["people", "least_people"]


def test_settings_that_do_not_go_together_are_refused(study):
    for fields, wrong in (
        ({"people": 3}, "least_people"),
        ({"least_present": 5}, "least_present"),
        ({"people": 13}, "people"),
        ({"discussion_seconds": 5}, "discussion_seconds"),
    ):
        changed: dict[str, Any] = {**fields}
        with pytest.raises(Invalid) as refused:
            change_group_settings(study=study, **changed)
        assert wrong in refused.value.fields
    assert GroupSettings.objects.get().people == 5


def test_a_study_file_has_every_setting_and_makes_the_same_study():
    columns = {one.name for one in GroupSettings._meta.get_fields()} - {"id", "study"}
    assert columns == set(SETTINGS) == set(study_file.FIELDS)
    assert set(FIXED_ONCE_PLAYED) < set(SETTINGS)
    values = files.template("group")
    values |= {"slug": "from-file", "host": "A university", "contact": "study@example.org"}
    values["settings"]["group"] |= {"people": 4, "topic_zh": "吃的", "bots_after": 30}
    values["test_participants"] = True
    checked = check(as_yaml(values).encode())
    assert checked.values is not None, checked.problems
    study, _changes = apply_study_file(values=checked.values)
    settings = study.group
    assert (settings.people, settings.topic_zh, settings.bots_after) == (4, "吃的", 30)
    assert study.questionnaires.get(key="after-group").version == 1
    assert selectors.opening_problems(study) == []
    assert {one["end_state"] for one in study.completions.values("end_state")} == set(EndState.values)
    again = describe(study)
    assert again["settings"]["group"] == {**values["settings"]["group"]}
    read = check(as_yaml(again).encode()).values
    assert read is not None
    _same, changes = apply_study_file(values=read)
    assert not [one for one in changes if one.state in ("changed", "new")]
    bad = as_yaml({**again, "settings": {"group": {**again["settings"]["group"], "agents": ["nobody 1"]}}})
    assert any("nobody 1" in str(one) for one in check(bad.encode()).errors)


def test_agents_are_drawn_with_the_studys_seed_and_each_gets_its_turn(study, players):
    agents = [AgentFactory() for _ in range(3)]
    change_group_settings(study=study, agents=agents, people=2, least_people=2)
    drawn = [
        start_game(study=study, language="en", participants=[None, None], now=factories.NOW).agent_id
        for _ in range(12)
    ]
    assert set(drawn) == {one.pk for one in agents}
    assert [game.number for game in Game.objects.order_by("pk")] == list(range(1, 13))
    twin = factories.StudyFactory(slug="twin", activities=["group"], languages=["en"], seed=study.seed)
    GroupSettings.objects.create(study=twin).agents.set(agents)
    again = [
        start_game(study=twin, language="en", participants=[None, None], now=factories.NOW).agent_id
        for _ in range(12)
    ]
    assert again == drawn


def test_a_study_of_the_group_game_is_made_at_the_desk(client):
    client.force_login(factories.UserFactory(is_staff=True))
    fields = {"template": "group", "title_en": "Find the AI", "slug": "find-it", "languages": ["en", "zh"]}
    page = client.post(
        reverse("admin:desk_create"), {**fields, "host": "A university", "contact": "study@example.org"}
    )
    assert page.status_code == 302, page.content[:300]
    study = Study.objects.get(slug="find-it")
    assert study.activities == ["group"]
    assert study.group.agents.exists()


def test_an_agent_of_an_imported_game_is_not_for_playing(client, cast):
    GroupSettings.objects.create(study=cast.study)
    ensure_offline_agent()
    imported = AgentFactory(key="elsewhere", name="Elsewhere", thinking="imported")
    with pytest.raises(Invalid) as refused:
        change_group_settings(study=cast.study, agents=[imported])
    assert set(refused.value.fields) == {"agents"}
    client.force_login(cast.researcher)
    page = client.get(reverse("admin:desk_group_settings", args=[cast.study.slug])).content.decode()
    assert "Script" in page or "script" in page
    assert "Elsewhere" not in page
