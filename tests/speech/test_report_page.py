"""A report's page: languages of the study only, names in words, as many decimals as in the figures."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from studies.figures import figures_of
from studies.models import Study
from studies.report_formats import as_csv, as_markdown
from studies.reports import run_report
from tests import factories
from tests.speech.played import Played

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(db: None) -> Played:
    played = Played()
    Study.objects.filter(pk=played.study.pk).update(status="closed")
    strategies = [factories.StrategyFactory(code=code) for code in ("role_play", "human_guided")]
    for place, dialogue in enumerate(played.machine):
        dialogue.strategy = strategies[place // 3]
        dialogue.save(update_fields=["strategy"])
    return played


@pytest.fixture
def desk(client: Client, played: Played) -> Client:
    client.force_login(factories.UserFactory(is_superuser=True, is_staff=True))
    return client


def page(desk: Client, key: str = "success-rate", **chosen: str) -> str:
    address = reverse("admin:desk_report", args=["worked", key])
    return desk.get(address, chosen).content.decode()


@pytest.mark.parametrize(("languages", "offered"), [(["en", "zh"], ["", "en", "zh"]), (["en"], [])])
def test_only_languages_of_the_study_are_offered(
    desk: Client, played: Played, languages: list[str], offered: list[str]
) -> None:
    Study.objects.filter(pk=played.study.pk).update(languages=languages)
    assert re.findall(r'name="language" value="(\w*)"', page(desk)) == offered


def test_a_figure_has_three_decimals_on_the_page_and_all_in_files(desk: Client, played: Played) -> None:
    shown = page(desk)
    assert 'class="r">0.425</td>' in shown
    assert "0.425 [0.158, 0.744]" in shown
    result = run_report("success-rate", played.study)
    assert "| 0.4250 |" in as_markdown(result)
    assert re.search(r",0\.158\d{8}", as_csv(result))


def test_strategies_are_called_as_on_the_page_of_a_dialogue(desk: Client, played: Played) -> None:
    shown = page(desk)
    assert "role play" in shown
    assert "human-guided" in shown
    assert "role_play" not in shown
    assert "role_play" in as_csv(run_report("success-rate", played.study))
    with translation.override("zh-hans"):
        [drawn] = [
            one for one in figures_of(run_report("success-rate", played.study)) if one.key == "strategies"
        ]
    assert "角色扮演" in drawn.alt


def test_without_scores_there_is_no_section_but_a_note(desk: Client, played: Played) -> None:
    assert 'id="benchmark"' not in page(desk)
    assert "give systems their scores" in page(desk)
    played.system.benchmark = {"MMAU-Pro": 46.6}
    played.system.save(update_fields=["benchmark"])
    assert 'id="benchmark"' in page(desk)
    assert "give systems their scores" not in page(desk)


def test_the_column_of_names_stays_in_view(desk: Client) -> None:
    assert '<td class="stays">Talker</td>' in page(desk)
