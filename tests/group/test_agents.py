"""Agents as data: a version for each change, what a version may say, who plays it and who misses that."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random
from statistics import stdev
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from games.group.agent.delays import Delays, delays_of
from games.group.agent.filter import stopped
from games.group.agent.running import Runner
from games.group.models import Agent, Game
from games.group.services.agents import ensure_offline_agent, offline_data, publish_agent
from studies.models import AuditLine, MachineConfig, Rater
from tests.group.test_agent_talk import room
from tests.rooms import GameFactory, GroupSettingsFactory
from turingsite import heartbeat
from turingsite.agents import agents as beside_the_pages
from turingsite.doctor.agents import agents
from turingsite.errors import Invalid

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def test_the_agent_that_ships_is_stored_once_with_its_rater_and_says_that_it_is_a_script() -> None:
    agent = ensure_offline_agent()
    assert ensure_offline_agent() == agent
    assert Agent.objects.count() == MachineConfig.objects.count() == Rater.objects.count() == 1
    assert agent.machine.parameters["delays"] == agent.delays
    assert agent.machine.rater.participant is None
    assert "script" in agent.told_en
    assert "脚本" in agent.told_zh
    assert [line.target for line in AuditLine.objects.filter(action="agent.published")] == ["offline 1"]


def test_changed_data_make_a_version_and_old_data_are_the_old_one() -> None:
    first = ensure_offline_agent()
    slower = publish_agent(data=replace(offline_data(), delays={"typing": {"mean": 0.5, "sd": 0.05}}))
    assert (slower.key, slower.version, first.version) == (first.key, 2, 1)
    assert slower.machine != first.machine
    assert ensure_offline_agent() == first
    assert Agent.objects.count() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"thinking": "telepathy"},
        {"delays": {"look": [5, 1]}},
        {"delays": {"look": [0, 0]}},
        {"delays": {"typing": {"mean": "slow"}}},
        {"delays": {"sleep": [1, 2]}},
        {"workers": [{"worker": "nobody"}]},
        {"workers": [{"worker": "participation"}, {"worker": "participation"}]},
        {"workers": [{"worker": "participation", "every": 0.1}]},
    ],
)
def test_data_that_no_runner_could_play_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        publish_agent(data=replace(offline_data(), **wrong))
    assert not Agent.objects.exists()


def test_typing_takes_longer_for_longer_texts_up_to_a_limit_in_characters_or_words() -> None:
    chance = Random(1)
    by_character = delays_of({"typing": {"mean": 0.3, "sd": 0.03, "longest": 20}})
    seconds = [by_character.typing("x" * 40, chance) for _ in range(400)]
    assert 11.9 < sum(seconds) / len(seconds) < 12.1
    assert 1.0 < stdev(seconds) < 1.4
    assert by_character.typing("x" * 400, chance) == 20
    by_word = delays_of({"typing": {"words_per_second": 2}})
    assert by_word.typing("four words, don't you", chance) == pytest.approx(2.5)
    assert by_word.typing("四个汉字", chance) == pytest.approx(2)
    votes = [Delays().voting(12.0, chance) for _ in range(200)]
    assert min(votes) >= 4
    assert max(votes) <= 8, "within the first two thirds"


def test_the_filter_stops_what_gives_it_away_and_lets_people_talk_pass() -> None:
    view = room("en", (2, 0, "I had toast, you?"), (4, 1, "same"))
    stops = {
        "As an AI language model, I don't eat": "itself",
        "I'm just a bot lol": "itself",
        "我是一个人工智能": "itself",
        "作为AI，我不吃早饭": "itself",
        "my training data ends there": "itself",
        "Error: 429 Too Many Requests": "workings",
        '{"message": "hi"}': "workings",
        "Instructions: blend in": "workings",
        "I'm sorry, but I can't help with that": "workings",
        "hi {name}": "workings",
        "系统提示：装成人": "workings",
        "Elm: hello": "transcript",
        "i had TOAST you": "repeats",
        "  ": "empty",
        "x" * 501: "too_long",
        "I'm not an AI": "",
        "who is the bot? not me": "",
        "do you think I'm a robot?": "",
        "I am a machine learning engineer": "",
        "我不是机器人": "",
        "我是程序员": "",
        "same": "",
        "Elm is a bot": "",
    }
    assert {text: stopped(text, view) for text in stops} == stops


def test_the_doctor_misses_a_runner_where_one_is_needed(settings) -> None:
    def said() -> list[tuple[str, str]]:
        return [(one.level.value, one.text) for one in agents()]

    [(level, _text)] = said()
    assert level == "note"
    game = GameFactory(agent=ensure_offline_agent())
    GroupSettingsFactory(study=game.study)
    levels = [level for level, _text in said()]
    assert levels == ["error", "error"], "nobody plays, and a game waits"
    settings.EMBEDDED_WORKER = True
    assert [level for level, _text in said()] == ["error", "warning"]
    heartbeat.beat(heartbeat.AGENTS)
    Game.objects.update(agent_lease_until=timezone.now())
    [(level, text)] = said()
    assert level == "ok"
    assert "sign of life 0 s ago" in text
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert [level for level, _text in said()] == ["error", "warning"]
    heartbeat.path(heartbeat.AGENTS).unlink()


async def test_beside_the_pages_a_runner_runs_only_where_one_process_does_all(settings, monkeypatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Runner, "start", lambda self: told.append("started"))
    monkeypatch.setattr(Runner, "stop", lambda self, seconds=0: told.append("stopped"))
    async with beside_the_pages():
        assert told == []
    settings.EMBEDDED_WORKER = True
    async with beside_the_pages():
        assert told == ["started"]
    assert told == ["started", "stopped"]
