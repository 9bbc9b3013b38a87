"""Agents as data: one version for each change, and what ships is stored once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from games.group.models import Agent
from games.group.services.agents import ensure_offline_agent, offline_data, publish_agent
from studies.models import AuditLine, MachineConfig, Rater

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
