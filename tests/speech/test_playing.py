"""The way through the game: rounds, next, failures, the reveal, for fun, the end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dialogues.models import Dialogue, Exposure, Recording, Speaker, StudyItem, Verdict
from games.speech.models import Round, SpeechPlayer, SpeechSettings, Trial
from studies.models import Participant, Study
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def test_a_round_of_five_ends_at_the_reveal(person: Person) -> None:
    for position in range(1, 6):
        trial = person.trial()
        assert (trial["position"], trial["of"], trial["round"]) == (position, 5, 1)
        assert (trial["preload"] is None) == (position == 5)
        said = person.judge()
    assert said == {"goto": "/s/game/speech/round/1/"}
    assert person.state() == said
    assert person.client.get(person.url("trial/")).headers["Location"] == said["goto"]
    page = person.get("round/1/")
    assert page.status_code == 200
    assert person.trial()["round"] == 2


def test_the_preloaded_clip_is_the_next_one(person: Person) -> None:
    first = person.trial()
    person.listen(first)
    person.answer(first)
    second = person.next(first).json()["trial"]
    assert second["audio"] == first["preload"]


def test_next_twice_or_from_two_tabs_moves_once(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    first, again = person.next(trial).json(), person.next(trial).json()
    assert first == again
    assert first["trial"]["position"] == 2
    assert Trial.objects.count() == 3


def test_next_before_the_answer_is_refused(person: Person) -> None:
    trial = person.trial()
    answer = person.next(trial)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_answered")
    assert person.trial()["code"] == trial["code"]


def test_next_of_an_old_trial_after_the_round_says_where_one_is(person: Person) -> None:
    first = person.trial()
    person.play_round()
    assert person.next(first).json() == {"goto": "/s/game/speech/round/1/"}
    person.get("round/1/")
    assert person.next(first).json()["trial"]["round"] == 2


def test_reload_changes_nothing(person: Person) -> None:
    assert person.state() == person.state()
    assert (Trial.objects.count(), Round.objects.count(), Exposure.objects.count()) == (2, 1, 2)


def test_points_are_ten_a_round_and_ten_per_right_one_beyond_half(person: Person) -> None:
    person.play_round("rrrrw")
    round_ = Round.objects.get()
    assert (round_.answered, round_.correct, round_.points) == (5, 4, 25)
    person.get("round/1/")
    person.play_round("wwwrr")
    assert Round.objects.get(number=2).points == 10


def test_points_by_accuracy(person: Person) -> None:
    SpeechSettings.objects.update(points="accuracy")
    person.play_round("rrrrw")
    assert Round.objects.get().points == 80


def test_the_reveal_says_what_each_was(person: Person) -> None:
    person.play_round("rrrrw")
    context = person.get("round/1/").context
    assert [row["right"] for row in context["rows"]] == [True, True, True, True, False]
    assert all(row["was"] in ("human", "machine") and row["line"] for row in context["rows"])
    assert context["round"] == {
        "number": 1,
        "for_fun": False,
        "revealed": True,
        "of": 5,
        "correct": 4,
        "points": 25,
        "points_round": 10,
        "points_answers": 15,
    }
    assert context["standing"] == {"points": 25, "rounds": 1, "rank": 1, "nickname": "", "you": True}


def test_an_open_round_is_not_revealed(person: Person) -> None:
    person.judge()
    assert person.get("round/1/").status_code == 404
    assert person.get("round/7/").status_code == 404


def test_rounds_of_others_are_not_found(person: Person, other: Person) -> None:
    person.play_round()
    assert other.get("round/1/").status_code == 404


def test_a_study_that_never_reveals_shows_no_answer_and_no_points(person: Person) -> None:
    SpeechSettings.objects.update(reveal="never")
    person.play_round("rrrrr")
    context = person.get("round/1/").context
    assert (context["rows"], context["standing"]) == ([], None)
    assert set(context["round"]) == {"number", "for_fun", "revealed", "of"}
    assert person.get("board/").status_code == 404


def test_reveal_after_each_item_comes_with_next(person: Person) -> None:
    SpeechSettings.objects.update(reveal="after_item", show_system=False)
    trial = person.trial()
    truth = str(Trial.objects.get(code=trial["code"]).dialogue.truth)
    assert person.judge("human")["revealed"] == {"said": "human", "was": truth, "line": ""}


def test_failed_sound_is_kept_and_replaced(person: Person) -> None:
    trial = person.trial()
    person.listen(trial, seconds=3, ended=False)
    new = person.post(f"trial/{trial['code']}/failed/", why="no_sound").json()["trial"]
    assert new["code"] != trial["code"]
    assert new["position"] == 1
    assert new["audio"] != trial["audio"]
    row = Trial.objects.get(code=trial["code"])
    assert (row.state, row.failure, row.verdict) == ("failed", "no_sound", None)
    assert Trial.objects.get(code=new["code"]).attempt == 1
    again = person.post(f"trial/{trial['code']}/failed/", why="no_sound").json()["trial"]
    assert again["code"] == new["code"]
    assert person.play_round() == {"goto": "/s/game/speech/round/1/"}
    assert Verdict.objects.count() == 5


def test_sound_that_fails_after_the_answer_keeps_the_answer(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    said = person.post(f"trial/{trial['code']}/failed/", why="no_sound").json()
    assert said["trial"]["code"] == trial["code"]
    assert said["trial"]["answer"] == "human"


def test_many_failures_lead_to_a_pause_and_later_on(person: Person, clock: Clock) -> None:
    for _ in range(6):
        said = person.post(f"trial/{person.trial()['code']}/failed/", why="load_error").json()
    assert said == {"goto": "/s/game/speech/pause/"}
    assert person.get("pause/").context["reason"] == "sound"
    assert person.state() == said
    clock.pass_(11 * 60)
    assert person.trial()["position"] == 1


def test_no_dialogue_comes_twice_while_others_are_unheard_then_it_is_for_fun(person: Person) -> None:
    heard: list[int] = []
    while True:
        trial = person.trial()
        if trial["for_fun"]:
            break
        heard.append(Trial.objects.get(code=trial["code"]).dialogue_id)
        said = person.judge()
        if "goto" in said:
            person.client.get(said["goto"])
    assert len(heard) == len(set(heard)) == Dialogue.objects.count() == 24
    number = trial["round"]
    rounds = Round.objects.filter(number__lt=number)
    assert not rounds.filter(for_fun=True).exists()
    count, points = Verdict.objects.count(), list(rounds.values_list("points", flat=True))
    person.play_round("rrrrr")
    fun = Round.objects.get(number=number)
    assert (fun.for_fun, fun.points, fun.answered, fun.correct) == (True, 0, 5, 5)
    assert Verdict.objects.count() == count  # one verdict per person and dialogue, for good
    standing = person.get(f"round/{number}/").context["standing"]
    assert (standing["points"], standing["rounds"]) == (sum(points), len(points))


def test_unjudged_dialogue_met_for_fun_gets_an_excluded_verdict(clock: Clock) -> None:
    study = factories.speech_study(systems=1, round_size=1)
    StudyItem.objects.exclude(pk=StudyItem.objects.order_by("pk")[0].pk).delete()
    person = Person(factories.ParticipantFactory(study=study), clock)
    said = person.post(f"trial/{person.trial()['code']}/failed/", why="no_sound").json()
    person.client.get(said["goto"])
    assert person.trial()["for_fun"] is True
    person.judge()
    verdict = Verdict.objects.get()
    assert (verdict.exclusion, verdict.protocol_breaks) == ("for_fun", ["for_fun"])


def test_study_without_dialogues_in_the_language_says_so(person: Person) -> None:
    StudyItem.objects.all().delete()
    answer = person.get("trial/?format=json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_dialogues")
    page = person.get("trial/")
    assert page.status_code == 409
    assert 'href="/s/game/leave/"' in page.content.decode()
    assert not Round.objects.exists()


def test_round_ends_early_where_no_more_dialogues_go_together(clock: Clock) -> None:
    study = factories.speech_study(systems=1)
    speaker = factories.SpeakerFactory()
    factories.add_dialogue(study, kind="human_human", speaker_a=speaker)
    for dialogue in Dialogue.objects.all():
        dialogue.parties.filter(label="A").update(speaker=speaker)
    person = Person(factories.ParticipantFactory(study=study), clock)
    assert person.judge() == {"goto": "/s/game/speech/round/1/"}
    round_ = Round.objects.get()
    assert (round_.state, round_.answered) == ("finished", 1)


def test_withdrawn_recordings_and_speakers_are_never_drawn(person: Person, clock: Clock) -> None:
    dialogues = list(Dialogue.objects.order_by("pk"))
    keep = {dialogue.pk for dialogue in dialogues[:3]}
    for number, dialogue in enumerate(dialogues[3:]):
        voice = Speaker.objects.filter(parties__dialogue=dialogue, parties__label="A")
        if number % 4 == 0:
            Speaker.objects.filter(pk__in=voice).update(withdrawn_at=clock.now)
        elif number % 4 == 1:
            Speaker.objects.filter(pk__in=voice).update(may_play=False)
        elif number % 4 == 2:
            Recording.objects.filter(dialogues=dialogue).update(may_play=False)
        else:
            Dialogue.objects.filter(pk=dialogue.pk).update(state=Dialogue.State.WITHDRAWN)
    while not person.trial()["for_fun"]:
        said = person.judge()
        if "goto" in said:
            person.client.get(said["goto"])
    assert set(Exposure.objects.values_list("dialogue_id", flat=True)) <= keep


def test_the_last_round_leads_on(person: Person) -> None:
    SpeechSettings.objects.update(max_rounds=1)
    person.play_round()
    page = person.get("round/1/")
    assert page.context["more"] is False
    assert person.state() == {"goto": "/s/game/go/"}
    assert Round.objects.count() == 1


def test_finished_people_see_their_round_but_play_no_more(person: Person) -> None:
    person.play_round()
    Participant.objects.update(end_state="done", state="completed")
    assert person.get("round/1/").status_code == 200
    assert person.get("trial/").status_code == 410


def test_order_of_answers_is_drawn_once_per_person(person: Person, study: Study, clock: Clock) -> None:
    orders = {tuple(person.trial()["order"]) for _ in range(3)}
    assert len(orders) == 1
    lefts = [Person(factories.ParticipantFactory(study=study), clock).trial()["order"][0] for _ in range(24)]
    assert set(lefts) == {"human", "machine"}


def test_language_and_profile_come_before_the_game(study: Study, clock: Clock) -> None:
    person = Person(factories.ParticipantFactory(study=study, judging_language=""), clock)
    assert person.get("").headers["Location"] == "/s/game/language/"
    assert person.state() == {"goto": "/s/game/language/"}
    Participant.objects.update(judging_language="en")
    factories.QuestionnaireFactory(study=study)
    assert person.get("").headers["Location"] == "/s/game/q/profile/"
    assert not SpeechPlayer.objects.exists()


def test_abandoned_trial_is_still_there_but_its_lease_ends(person: Person, clock: Clock) -> None:
    trial = person.trial()
    lease = Trial.objects.get(code=trial["code"]).lease_until
    assert lease == clock.now + timedelta(minutes=30)
    clock.pass_(5 * 86_400)
    assert person.trial()["code"] == trial["code"]


def test_keys_can_be_switched_off(person: Person) -> None:
    assert person.get("trial/").context["keys_off"] is False
    assert person.post("keys/", off=True).json() == {"off": True}
    assert person.get("trial/").context["keys_off"] is True


def test_trial_page_is_light_on_the_database(person: Person, django_assert_max_num_queries: object) -> None:
    person.get("trial/")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        person.get("trial/")


def test_every_action_wants_post(person: Person) -> None:
    code = person.trial()["code"]
    for path in ("listening", "verdict", "next", "failed", "known"):
        assert person.get(f"trial/{code}/{path}/").status_code == 405
