"""What people read about the size and number of rounds fits the settings, in both languages."""

from __future__ import annotations

import pytest
from django.test import Client

from dialogues.models import Dialogue
from games.speech.models import SpeechSettings
from studies import builtin
from studies.models import EndState, Study
from studies.services import change_status, create_study
from studies.texts import has_places
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def fresh() -> Study:
    return create_study(
        slug="fresh", title_en="Fresh", user=None, host="A university", contact="study@example.org"
    )


def words(study: Study, page: str, language: str) -> str:
    """A page as somebody of the desk sees it while the study is a draft."""
    client = Client(headers={"accept-language": {"en": "en", "zh": "zh-hans"}[language]})
    client.force_login(factories.UserFactory(is_superuser=True, is_staff=True))
    return client.get(f"/s/{study.slug}/{page}").content.decode()


@pytest.mark.parametrize(
    ("size", "rounds", "length", "en", "zh"),
    [
        (5, 0, None, ["About 4 minutes a round, as many rounds as you like", "5 of them"], ["5 段为一轮"]),
        (
            3,
            2,
            None,
            ["About 2 minutes a round, 2 rounds", "3 of them"],
            ["每轮约 2 分钟，共 2 轮", "3 段为一轮"],
        ),
        (1, 1, 20.0, ["About 1 minute a round, 1 round", "1 of them"], ["每轮约 1 分钟，共 1 轮"]),
        (20, 0, 55.0, ["About 21 minutes a round", "20 of them"], ["每轮约 21 分钟，轮数由您决定"]),
    ],
)
def test_texts_fit_the_settings(fresh: Study, size, rounds, length, en, zh) -> None:
    SpeechSettings.objects.update(round_size=size, max_rounds=rounds)
    if length is not None:
        item = factories.StudyItemFactory(study=fresh)
        Dialogue.objects.filter(pk=item.dialogue_id).update(state=Dialogue.State.READY, play_duration=length)
    for language, expected in (("en", en), ("zh", zh)):
        text = words(fresh, "consent/copy/", language)
        assert all(one in text for one in expected), text
        assert "{" not in text + words(fresh, "", language).split("<main")[1]


def test_opening_settles_the_numbers_and_new_settings_settle_them_anew() -> None:
    study = factories.speech_study()
    factories.ConsentTextFactory(study=study, body=builtin.load("speech")["consent"])
    for state in EndState.values:
        factories.CompletionFactory(study=study, end_state=state)
    change_status(study=study, to="paused")
    for size in (4, 3):
        SpeechSettings.objects.update(round_size=size)
        change_status(study=study, to="open")
        settled = study.consent_texts.order_by("-version")[0].body
        assert f"A round has {size} of them." in str(settled["en"])
        assert not has_places(settled)
        change_status(study=study, to="paused")
