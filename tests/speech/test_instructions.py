"""Spoken instructions: played and answered like a trial, outside the five, and told apart by nothing."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from dialogues.models import Dialogue, Kind, StudyItem, Verdict
from games.speech.activity import debrief_rows
from games.speech.models import ContentCheck, Round, SpeechPlayer, SpeechSettings, Trial
from games.speech.services import ready, slots
from games.speech.services.slots import instruction_before
from studies.models import Participant, Study
from studies.registry import datasets
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def add_instruction(study: Study, expected: str, **fields: Any) -> Dialogue:
    dialogue: Dialogue = factories.DialogueFactory(kind=Kind.HUMAN_HUMAN, **fields)
    factories.StudyItemFactory(
        study=study, dialogue=dialogue, role=StudyItem.Role.ATTENTION, expected=expected
    )
    return dialogue


@pytest.fixture
def spoken(study: Study) -> Study:
    for expected in ("human", "machine"):
        add_instruction(study, expected)
    return study


def expected_now() -> str:
    return str(Trial.objects.get(state=Trial.State.CURRENT).expected)


def play(person: Person, *, heed: bool = True, choice: str = "human") -> list[dict[str, Any]]:
    """Play one round to its end, heeding the instruction or not; the trials as the browser got them."""
    seen: list[dict[str, Any]] = []
    while True:
        state = person.state()
        if "trial" not in state:
            return seen
        seen.append(state["trial"])
        asked = expected_now()
        answer = choice if not asked else asked if heed else {"human": "machine", "machine": "human"}[asked]
        person.judge(answer)


def on_to_instruction(person: Person) -> dict[str, Any]:
    """Judge up to the instruction of the open round; the trial as the browser gets it."""
    for _ in range(5):
        trial = person.trial()
        if expected_now():
            return trial
        person.judge()
    raise AssertionError("no instruction came")


def test_one_comes_in_the_first_round_outside_the_five(spoken: Study, person: Person) -> None:
    seen = play(person)
    check = Trial.objects.exclude(expected="").get()
    scored = Trial.objects.filter(expected="", state=Trial.State.DONE)
    assert (len(seen), scored.count()) == (6, 5)
    assert [trial["position"] for trial in seen] == sorted([1, 2, 3, 4, 5, check.position])
    assert all(trial["of"] == 5 for trial in seen)
    round_ = Round.objects.get()
    assert round_.answered == 5
    assert round_.correct == sum(trial.answer == trial.dialogue.truth for trial in scored)
    person.get("round/1/")
    assert len(play(person)) == 5


def test_its_verdict_is_in_no_analysis_and_nowhere_revealed(spoken: Study, person: Person) -> None:
    play(person)
    check = Trial.objects.exclude(expected="").get()
    assert check.verdict is not None
    assert (check.verdict.exclusion, check.verdict.choice) == ("check", check.expected)
    assert Verdict.objects.filter(exclusion="").count() == 5
    context = person.get("round/1/").context
    assert [row["position"] for row in context["rows"]] == [1, 2, 3, 4, 5]
    assert context["round"]["of"] == 5
    assert len(debrief_rows(person.participant)) == 5
    assert not ContentCheck.objects.exists()


@pytest.mark.parametrize("mark", ["is_pilot", "is_test"])
def test_it_stays_a_check_whoever_plays_and_knows_it(spoken: Study, person: Person, mark: str) -> None:
    Participant.objects.update(**{mark: True})
    trial = on_to_instruction(person)
    person.listen(trial)
    person.answer(trial)
    person.post(f"trial/{trial['code']}/known/", known=True)
    person.post(f"trial/{trial['code']}/known/", known=False)
    assert Trial.objects.get(code=trial["code"]).verdict.exclusion == "check"  # type: ignore[union-attr]


@pytest.mark.parametrize("place", [3, 5])
def test_nothing_tells_it_from_the_trials_around_it(
    spoken: Study, person: Person, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages, JSON and the answers of every address of a trial, compared once codes and numbers are out."""
    monkeypatch.setattr(slots, "instruction_before", lambda *_: place)
    SpeechSettings.objects.update(reveal="after_item", ask_confidence=True)
    shapes: dict[bool, set[str]] = {True: set(), False: set()}
    while "trial" in (state := person.state()):
        trial = state["trial"]
        is_check = bool(expected_now())
        answers = [person.get("trial/"), person.listen(trial, seconds=3, ended=False), person.listen(trial)]
        answers.append(person.answer(trial, "human"))
        answers.append(person.get("trial/"))
        text = str(state) + "".join(
            str(sorted(answer.headers.items())) + answer.content.decode() for answer in answers
        )
        assert "attention" not in text
        assert "expected" not in text
        if trial["position"] > 1:
            shapes[is_check].add(plain(text))
        person.next(trial)
    assert len(shapes[False]) == 2  # the last one has nothing to fetch ahead
    assert len(shapes[True]) == 1
    assert shapes[True] <= shapes[False]


def plain(text: str) -> str:
    text = re.sub(r'(csrfmiddlewaretoken" value=")[^"]+|csrftoken=[^;]+', "CSRF", text)
    text = re.sub(r"('X-Request-ID', ')[^']+", "REQUEST", text)
    text = re.sub(r"/media/[\w-]+|/trial/[\w-]+/|(['\"]code['\"]: ['\"])[^'\"]+", "CODE", text)
    return re.sub(r'<i( class="\w+")?></i>', "<i></i>", re.sub(r"\d+(\.\d+)?", "#", text))


def test_a_place_is_found_anew_by_every_request_and_never_opens_the_session(study: Study) -> None:
    settings = SpeechSettings(study=study, attention_checks=2)
    places: Counter[int | None] = Counter()
    for n in range(200):
        player = SpeechPlayer(participant=Participant(study=study, code=f"P{n}"))
        for number in (1, 2):
            round_ = Round(player=player, number=number)
            place = instruction_before(player, round_, settings)
            assert place == instruction_before(player, round_, settings)
            places[place] += 1
        assert instruction_before(player, Round(player=player, number=3), settings) is None
        assert instruction_before(player, Round(player=player, number=1, for_fun=True), settings) is None
    assert set(places) == {2, 3, 4, 5}
    assert min(places.values()) > 60
    lone = SpeechSettings(study=study, round_size=1)
    assert instruction_before(player, Round(player=player, number=1), lone) is None
    assert instruction_before(player, Round(player=player, number=2), lone) == 1


def test_both_answers_are_asked_for(spoken: Study, clock: Clock) -> None:
    SpeechSettings.objects.update(round_size=2)
    for n in range(24):
        person = Person(factories.ParticipantFactory(study=spoken, code=f"HALF{n}"), clock)
        person.judge()
    asked = Counter(Trial.objects.exclude(expected="").values_list("expected", flat=True))
    assert sum(asked.values()) == 24
    assert min(asked["human"], asked["machine"]) >= 6


def test_a_session_of_several_never_plays_the_same_twice(spoken: Study, person: Person) -> None:
    SpeechSettings.objects.update(attention_checks=3)
    for number in (1, 2, 3):
        play(person)
        person.get(f"round/{number}/")
    checks = Trial.objects.exclude(expected="")
    assert sorted(checks.values_list("expected", flat=True)) == ["human", "machine"]  # there are but two
    assert set(checks.values_list("round__number", flat=True)) == {1, 2}


@pytest.mark.parametrize(
    "change",
    [
        lambda study: SpeechSettings.objects.update(attention_checks=0),
        lambda study: StudyItem.objects.filter(role="attention").update(is_active=False),
        lambda study: StudyItem.objects.filter(role="attention").update(expected=""),
        lambda study: Dialogue.objects.filter(study_items__role="attention").update(language="zh"),
        lambda study: Dialogue.objects.filter(study_items__role="attention").update(state="withdrawn"),
    ],
)
def test_without_one_to_play_the_round_is_as_ever(spoken: Study, person: Person, change: Any) -> None:
    change(spoken)
    assert [trial["position"] for trial in play(person)] == [1, 2, 3, 4, 5]


def test_what_expects_an_answer_in_another_study_is_not_taken_here(spoken: Study, person: Person) -> None:
    elsewhere = factories.StudyFactory(slug="elsewhere")
    for dialogue in Dialogue.objects.filter(study_items__role="attention"):
        factories.StudyItemFactory(study=elsewhere, dialogue=dialogue)
    assert len(play(person)) == 6
    StudyItem.objects.filter(study=spoken, role="attention").update(role="main", expected="")
    assert set(Trial.objects.exclude(expected="").values_list("state", flat=True)) == {"done"}


def test_a_wrong_answer_counts_among_failed_checks_once(spoken: Study, person: Person) -> None:
    trial = on_to_instruction(person)
    asked = expected_now()
    other = {"human": "machine", "machine": "human"}[asked]
    person.listen(trial)
    person.answer(trial, asked)
    person.answer(trial, other)  # changed one's mind: what counts is what one leaves with
    assert SpeechPlayer.objects.get().checks_failed == 0
    for _ in range(2):
        person.next(trial)
    player = SpeechPlayer.objects.get()
    assert (player.checks_failed, player.checks_asked) == (1, 0)


def test_two_failed_checks_mark_the_person_and_end_nothing(spoken: Study, person: Person) -> None:
    SpeechSettings.objects.update(attention_checks=2)
    play(person, heed=False)
    assert not Verdict.objects.filter(protocol_breaks__icontains="checks_failed").exists()
    person.get("round/1/")
    play(person, heed=False)
    assert SpeechPlayer.objects.get().checks_failed == 2
    verdicts = list(Verdict.objects.filter(exclusion=""))
    assert len(verdicts) == 10
    assert all("checks_failed" in verdict.protocol_breaks for verdict in verdicts)
    assert person.get("round/2/").context["more"]


def test_who_heeds_it_fails_nothing(spoken: Study, person: Person) -> None:
    play(person)
    assert SpeechPlayer.objects.get().checks_failed == 0


def test_one_whose_sound_fails_is_dropped(spoken: Study, person: Person) -> None:
    check = on_to_instruction(person)
    said = person.post(f"trial/{check['code']}/failed/", why="no_sound").json()
    again = person.post(f"trial/{check['code']}/failed/", why="no_sound").json()
    assert said == again
    assert said["trial"]["position"] == check["position"]
    assert Trial.objects.get(code=said["trial"]["code"]).expected == ""
    play(person)
    assert Trial.objects.exclude(expected="").count() == 1
    round_ = Round.objects.get()
    assert (round_.state, round_.answered) == ("finished", 5)
    assert SpeechPlayer.objects.get().checks_failed == 0


def test_a_failing_clip_before_it_is_replaced_and_the_instruction_still_comes(
    spoken: Study, person: Person
) -> None:
    place = instruction_before(
        SpeechPlayer(participant=person.participant), Round(number=1), SpeechSettings(study=spoken)
    )
    assert place is not None
    while person.trial()["position"] < place - 1:
        person.judge()
    assert Trial.objects.filter(state="drawn").exclude(expected="").count() == 1  # waits, preloaded
    failed = person.trial()
    new = person.post(f"trial/{failed['code']}/failed/", why="no_sound").json()["trial"]
    assert new["position"] == place - 1
    assert len(play(person)) == 6 - (place - 2)
    assert Round.objects.get().answered == 5


def test_double_clicks_and_two_tabs_move_once(spoken: Study, person: Person) -> None:
    trial = on_to_instruction(person)
    assert person.trial() == trial
    person.listen(trial)
    for _ in range(2):
        assert person.answer(trial).status_code == 200
    first, second = person.next(trial).json(), person.next(trial).json()
    assert first == second
    assert first["trial"]["code"] != trial["code"]
    assert Verdict.objects.filter(exclusion="check").count() == 1
    assert person.answer(trial, "machine").status_code in (200, 409)


def test_the_database_holds_one_a_round(spoken: Study, person: Person) -> None:
    play(person)
    check = Trial.objects.exclude(expected="").get()
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.TrialFactory(round=check.round, position=9, expected="human")
    item = StudyItem.objects.filter(role="main")[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        StudyItem.objects.filter(pk=item.pk).update(expected="human")


def test_a_study_whose_instruction_says_nothing_to_expect_is_not_ready(spoken: Study) -> None:
    assert not any("attention item" in str(problem) for problem in ready(spoken))
    item = StudyItem.objects.filter(role="attention").order_by("pk")[0]
    StudyItem.objects.filter(pk=item.pk).update(expected="")
    problems = [str(problem) for problem in ready(spoken)]
    assert any(item.dialogue.external_id in problem for problem in problems)


def test_exports_say_which_trials_were_checks(spoken: Study, person: Person) -> None:
    play(person)
    rows = list(datasets.get("trials").rows(spoken))
    checks = [row for row in rows if row["is_check"]]
    assert len(rows) == 6
    assert [row["expected"] for row in checks] == [Trial.objects.exclude(expected="").get().expected]
    keys = {tuple(row[name] for name in datasets.get("trials").primary_key) for row in rows}
    assert len(keys) == 6
    items = [row for row in datasets.get("items").rows(spoken) if row["role"] == "attention"]
    assert sorted(row["expected"] for row in items) == ["human", "machine"]
