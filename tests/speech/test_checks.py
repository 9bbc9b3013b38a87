"""The sound check before the first round; the question what was talked about after some verdicts."""

from __future__ import annotations

import pytest

from dialogues.models import Topic, Verdict
from games.speech import sound_words
from games.speech.models import ContentCheck, SpeechPlayer, SpeechSettings
from studies.models import Participant, Study
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def sound_checked(person: Person) -> Person:
    SpeechSettings.objects.update(sound_check=True)
    return person


def asked_word(person: Person) -> sound_words.Word:
    player = SpeechPlayer.objects.get(participant=person.participant)
    word = sound_words.word(player.sound_word, person.participant.judging_language)
    assert word is not None
    return word


class TestSound:
    def test_the_word_comes_before_the_first_trial(self, sound_checked: Person) -> None:
        person = sound_checked
        assert person.state() == {"goto": "/s/game/speech/sound/"}
        page = person.get("sound/")
        assert page.context["tries_left"] == 3
        clip = person.client.get(page.context["clip"])
        assert (clip.status_code, clip.headers["Content-Type"]) == (200, "audio/mpeg")
        word = asked_word(person)
        assert clip.content == word.path.read_bytes()
        assert word.path.name not in page.content.decode()
        assert not any(accepted in page.content.decode() for accepted in word.accept)
        part = person.client.get(page.context["clip"], headers={"range": "bytes=0-1"})
        assert (part.status_code, len(part.content)) == (206, 2)

    def test_the_right_word_lets_on(self, sound_checked: Person) -> None:
        person = sound_checked
        person.get("sound/")
        word = next(iter(asked_word(person).accept))
        answer = person.form("sound/", word=f"  {word.upper()}! ")
        assert answer.status_code == 302
        assert SpeechPlayer.objects.get().sound_passed is True
        assert person.trial()["position"] == 1
        assert person.get("sound/").status_code == 302

    def test_three_wrong_words_let_on_with_a_flag(self, sound_checked: Person) -> None:
        person = sound_checked
        seen = set()
        for tries_left in (3, 2, 1):
            page = person.get("sound/")
            assert page.context["tries_left"] == tries_left
            assert page.context["wrong"] == (tries_left < 3)
            seen.add(asked_word(person).id)
            assert person.form("sound/", word="nonsense").status_code == 302
        assert len(seen) == 3  # another word each time
        player = SpeechPlayer.objects.get()
        assert (player.sound_passed, player.sound_tries) == (False, 3)
        assert person.trial()["position"] == 1

    def test_an_empty_word_is_not_a_try(self, sound_checked: Person) -> None:
        person = sound_checked
        person.get("sound/")
        answer = person.form("sound/", word="  ")
        assert answer.status_code == 400
        assert answer.context["error"]
        assert person.post("sound/", word="").json()["error"]["code"] == "no_word"
        assert SpeechPlayer.objects.get().sound_tries == 0

    def test_chinese_words_may_be_typed_in_either_way(self, sound_checked: Person) -> None:
        person = sound_checked
        Study.objects.update(languages=["zh"])
        Participant.objects.update(judging_language="zh")
        person.participant.refresh_from_db()
        person.get("sound/")
        latin = next(word for word in asked_word(person).accept if word.isascii())
        person.form("sound/", word=" ".join(latin))
        assert SpeechPlayer.objects.get().sound_passed is True

    def test_without_words_in_the_language_there_is_no_check(
        self, sound_checked: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sound_words, "words", lambda language: ())
        assert sound_checked.trial()["position"] == 1

    def test_clip_of_a_passed_check_is_not_found(self, person: Person) -> None:
        person.trial()
        assert person.get("sound/clip/0/").status_code == 404


@pytest.fixture
def checked(person: Person) -> Person:
    SpeechSettings.objects.update(content_checks=3, max_rounds=1)
    return person


def on_to_check(person: Person) -> str:
    """Judge until a check is asked; its address below the game."""
    for _ in range(5):
        said = person.judge()
        if "/check/" in said.get("goto", ""):
            return str(said["goto"])
    raise AssertionError("no check was asked")


class TestContent:
    def test_three_are_asked_in_a_session_of_one_round(self, checked: Person) -> None:
        person = checked
        asked = 0
        for _ in range(5):
            said = person.judge()
            if "/check/" in said.get("goto", ""):
                asked += 1
                assert person.state() == said  # nothing goes on before it is answered
                code = said["goto"].split("/")[-2]
                assert person.form(f"check/{code}/", topic="0").status_code == 302
        assert asked == 3
        assert SpeechPlayer.objects.get().checks_asked == 3

    def test_it_shows_four_topics_and_not_which_is_right(self, checked: Person) -> None:
        url = on_to_check(checked)
        page = checked.client.get(url)
        check = ContentCheck.objects.get()
        assert [value for value, _label in page.context["options"]] == ["0", "1", "2", "3"]
        assert len({label for _value, label in page.context["options"]}) == 4
        assert check.correct_id == check.trial.dialogue.topic_id
        assert check.correct_id in check.order
        assert set(check.options.values_list("pk", flat=True)) == set(check.order)

    def test_right_places_differ(self, checked: Person, clock: Clock) -> None:
        places = set()
        for n in range(16):
            participant = factories.ParticipantFactory(study=checked.participant.study, code=f"PERSON{n}")
            person = Person(participant, clock)
            code = on_to_check(person).split("/")[-2]
            check = ContentCheck.objects.get(code=code)
            places.add(check.order.index(check.correct_id))
        assert len(places) == 4

    def test_first_answer_stands(self, checked: Person) -> None:
        url = on_to_check(checked)
        check = ContentCheck.objects.get()
        right = check.order.index(check.correct_id)
        checked.client.post(url, {"topic": str((right + 1) % 4)})
        checked.client.post(url, {"topic": str(right)})
        check.refresh_from_db()
        assert check.chosen_id != check.correct_id
        assert SpeechPlayer.objects.get().checks_failed == 1
        assert checked.client.get(url).status_code == 302

    @pytest.mark.parametrize("topic", ["", "4", "-1", "x", "1e400"])
    def test_what_is_no_option_is_refused(self, checked: Person, topic: str) -> None:
        url = on_to_check(checked)
        assert checked.client.post(url, {"topic": topic}).status_code == 400
        assert ContentCheck.objects.get().answered_at is None

    def test_two_failed_checks_mark_the_persons_verdicts_and_nothing_else(self, checked: Person) -> None:
        person = checked
        for _ in range(5):
            said = person.judge()
            if "/check/" in said.get("goto", ""):
                check = ContentCheck.objects.get(code=said["goto"].split("/")[-2])
                wrong = (check.order.index(check.correct_id) + 1) % 4
                person.client.post(said["goto"], {"topic": str(wrong)})
        assert SpeechPlayer.objects.get().checks_failed == 3
        verdicts = Verdict.objects.all()
        assert len(verdicts) == 5
        assert all(verdict.protocol_breaks == ["checks_failed"] for verdict in verdicts)
        assert not verdicts.exclude(exclusion="").exists()

    def test_topics_that_are_missing_or_too_few_are_skipped(self, checked: Person) -> None:
        Topic.objects.filter(pk__in=Topic.objects.order_by("pk").values_list("pk", flat=True)[3:]).update(
            label_en="", label_zh=""
        )
        checked.play_round()
        assert not ContentCheck.objects.exists()

    def test_check_of_somebody_else_is_not_found(self, checked: Person, other: Person) -> None:
        url = on_to_check(checked)
        assert other.client.get(url).status_code == 404
        assert (
            other.client.post(url, {"topic": "0"}, headers={"accept": "application/json"}).status_code == 404
        )
