"""Requests that no page of ours sends: each gets an answer in words, and nothing is stored or skipped."""

from __future__ import annotations

from typing import Any

import pytest

from dialogues.models import Verdict
from games.speech.models import Round, SpeechPlayer, SpeechSettings
from studies.models import Participant
from tests import factories
from tests.speech.conftest import Person

pytestmark = pytest.mark.both


def post_raw(person: Person, path: str, body: str | bytes, **headers: Any) -> Any:
    return person.client.post(person.url(path), body, content_type="application/json", headers=headers)


@pytest.mark.parametrize("size", [100_001, 3_000_000])
@pytest.mark.parametrize("name", ["listening", "verdict", "next", "failed", "known"])
def test_a_body_of_absurd_length_is_refused_as_json(person: Person, name: str, size: int) -> None:
    code = person.trial()["code"]
    answer = post_raw(person, f"trial/{code}/{name}/", '{"choice":"' + "x" * size + '"}')
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_long")
    assert not Verdict.objects.exists()


def test_the_longest_honest_report_is_taken(person: Person) -> None:
    trial = person.trial()
    ranges = [[n / 10, n / 10 + 0.01] for n in range(500)]
    body = {"ranges": ranges, "reason": {"ticks": ["voice"] * 10, "text": "字" * 1000}}
    assert person.post(f"trial/{trial['code']}/listening/", **body).status_code == 200


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
@pytest.mark.parametrize("name", ["\\ud800", "a\\udfffb", "\\u0000"])
def test_a_name_with_half_a_character_is_refused_in_words(person: Person, name: str, accept: str) -> None:
    answer = post_raw(person, "nickname/", f'{{"nickname": "{name}"}}', Accept=accept)
    assert answer.status_code == 400


def test_a_wrong_word_sent_twice_is_one_try(person: Person) -> None:
    SpeechSettings.objects.update(sound_check=True)
    person.get("sound/")
    for _click in range(3):
        person.form("sound/", word="nonsense", tried="0")
    assert SpeechPlayer.objects.get().sound_tries == 1
    assert 'name="tried" value="1"' in person.get("sound/").content.decode()


@pytest.mark.parametrize("page", ["pause/", "sound/", "keys/", "sound/clip/0/", "board/", "nickname/"])
def test_no_page_of_the_game_leads_around_the_profile(person: Person, page: str) -> None:
    factories.QuestionnaireFactory(study=person.participant.study)
    if page == "keys/":
        person.form(page, off="true")
    elif page == "sound/":
        person.form(page, word="x")
    else:
        person.get(page)
    for path in ("", "trial/", "sound/"):
        assert person.get(path).url == "/s/game/q/profile/"
    assert not Round.objects.exists()


def test_no_page_of_the_game_leads_around_the_language(person: Person) -> None:
    Participant.objects.update(judging_language="")
    person.get("pause/")
    assert person.get("").url == "/s/game/language/"
