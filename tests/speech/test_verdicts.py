"""Verdicts: one row per person and dialogue, only after listening, with evidence and what excludes them."""

from __future__ import annotations

import pytest

from dialogues.models import Verdict
from games.speech.models import Trial
from studies.models import Study
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def stored(trial: dict) -> Verdict:
    return Verdict.objects.get(speech_trial__code=trial["code"])


def test_verdict_is_stored_once_heard(person: Person) -> None:
    trial = person.trial()
    heard = person.listen(trial).json()
    assert heard == {"heard": 1.0, "unlocked": True, "gate": "ended", "unlock_in": None}
    assert person.answer(trial, "machine").json() == {"stored": True, "choice": "machine"}
    verdict = stored(trial)
    assert (verdict.choice, verdict.first_choice, verdict.exclusion, verdict.protocol_breaks) == (
        "machine",
        "machine",
        "",
        [],
    )
    assert (verdict.round_number, verdict.position, verdict.round_finished) == (1, 1, False)
    evidence = verdict.evidence
    assert evidence["heard"] == 1.0
    assert evidence["answer_ms"] == 1200
    assert evidence["gate"] == "ended"
    assert evidence["left"] == trial["order"][0]
    assert person.trial()["answer"] == "machine"


def test_verdict_before_listening_is_refused(person: Person) -> None:
    trial = person.trial()
    answer = person.answer(trial)
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "not_heard"
    assert not Verdict.objects.exists()


def test_same_answer_twice_is_one_row(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    for _ in range(3):
        assert person.answer(trial).status_code == 200
    assert Verdict.objects.count() == 1
    assert stored(trial).changed_at is None


def test_answer_can_be_changed_until_the_next_and_the_first_is_kept(person: Person, clock: Clock) -> None:
    trial = person.trial()
    person.listen(trial)
    person.answer(trial, "human")
    clock.pass_(3)
    assert person.post(f"trial/{trial['code']}/verdict/", choice="machine", at=4000).status_code == 200
    verdict = stored(trial)
    assert (verdict.first_choice, verdict.choice) == ("human", "machine")
    assert verdict.changed_at == clock.now
    assert (verdict.evidence["first_answer_ms"], verdict.evidence["answer_ms"]) == (1200, 4000)

    person.next(trial)
    late = person.answer(trial, "human")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "moved_on")
    assert person.answer(trial, "machine").status_code == 200  # the retry of a lost answer
    assert stored(trial).choice == "machine"


def test_confidence_and_reason_may_follow_the_choice(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    person.answer(trial, confidence=4, reason={"ticks": ["rhythm"], "text": "the pauses"})
    verdict = stored(trial)
    assert (verdict.confidence, verdict.reason) == (4, {"ticks": ["rhythm"], "text": "the pauses"})
    assert verdict.changed_at is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"choice": "robot"}, "bad_choice"),
        ({"choice": ""}, "bad_choice"),
        ({"choice": "unscored"}, "bad_choice"),
        ({"choice": "human", "confidence": 6}, "bad_confidence"),
        ({"choice": "human", "confidence": "much"}, "unreadable"),
        ({"choice": "human", "ranges": [[0]]}, "bad_listening"),
        ({"choice": "human", "ranges": "everything"}, "bad_listening"),
        ({"choice": "human", "ranges": [[0, "NaN"]]}, "bad_listening"),
        ({"choice": "human", "ranges": [[0, 1]] * 501}, "bad_listening"),
        ({"choice": "human", "plays": "1e999"}, "bad_listening"),
        ({"choice": "human", "reason": {"ticks": "all"}}, "bad_reason"),
    ],
)
def test_malformed_verdict_is_refused(person: Person, fields: dict, code: str) -> None:
    trial = person.trial()
    person.listen(trial)
    answer = person.post(f"trial/{trial['code']}/verdict/", **fields)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert not Verdict.objects.exists()


def test_characters_no_database_takes_are_left_out(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    reason = {"ticks": ["a\x00b", "\ud800"], "text": "n\x00o\udfff"}
    assert person.answer(trial, reason=reason).status_code == 200
    assert stored(trial).reason == {"ticks": ["ab", ""], "text": "no"}
    other = person.next(trial).json()["trial"]
    person.post(f"trial/{other['code']}/failed/", why="x\x00\ud800" * 100)
    assert Trial.objects.get(code=other["code"]).failure == "x" * 40


@pytest.mark.parametrize("code", ["%00", "x" * 300, "%F0%9F%98%80"])
def test_odd_codes_are_not_found(person: Person, code: str) -> None:
    assert person.post(f"trial/{code}/verdict/", choice="human").status_code == 404


@pytest.mark.parametrize("body", ["{", "[]", '"text"', "[" * 100_000])
def test_unreadable_body_is_refused(person: Person, body: str) -> None:
    trial = person.trial()
    url = person.url(f"trial/{trial['code']}/verdict/")
    answer = person.client.post(url, body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unreadable")


def test_trial_of_somebody_else_is_not_found(person: Person, other: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    other.trial()
    for path in ("verdict", "listening", "next", "failed", "known"):
        answer = other.post(f"trial/{trial['code']}/{path}/", choice="human")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_trial"), path
    assert not Verdict.objects.exists()


def test_trial_not_yet_served_is_not_found(person: Person) -> None:
    person.trial()
    drawn = Trial.objects.get(state=Trial.State.DRAWN)
    answer = person.post(f"trial/{drawn.code}/verdict/", choice="human", ended=True, ranges=[[0, 30]])
    assert answer.status_code == 404


def test_without_cookie_there_is_no_session(person: Person) -> None:
    trial = person.trial()
    person.client.cookies.clear()
    answer = person.answer(trial)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_session")


def test_verdict_after_withdrawal_is_gone(person: Person, clock: Clock) -> None:
    trial = person.trial()
    person.listen(trial)
    person.participant.withdrawn_at = clock.now
    person.participant.save()
    answer = person.answer(trial)
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "gone")
    assert not Verdict.objects.exists()


def test_verdict_in_a_closed_study_is_gone(person: Person, study: Study) -> None:
    trial = person.trial()
    person.listen(trial)
    Study.objects.update(status=Study.Status.CLOSED)
    answer = person.answer(trial)
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "gone")


def test_verdict_in_a_paused_study_is_stored_and_a_new_round_waits(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    Study.objects.update(status=Study.Status.PAUSED)
    assert person.answer(trial).status_code == 200
    while "trial" in (said := person.next(trial).json()):
        trial = said["trial"]
        person.listen(trial)
        person.answer(trial)
    assert said == {"goto": "/s/game/speech/round/1/"}
    person.get("round/1/")
    assert person.state() == {"goto": "/s/game/speech/pause/"}


def test_known_recording_is_kept_but_excluded(person: Person) -> None:
    trial = person.trial()
    person.listen(trial)
    assert person.post(f"trial/{trial['code']}/known/", known=True).json() == {"known": True}
    person.answer(trial)
    assert (stored(trial).exclusion, stored(trial).protocol_breaks) == ("known", ["known"])
    assert person.post(f"trial/{trial['code']}/known/", known=False).json() == {"known": False}
    assert (stored(trial).exclusion, stored(trial).protocol_breaks) == ("", [])
    person.post(f"trial/{trial['code']}/known/", known=True)
    assert stored(trial).exclusion == "known"
    person.next(trial)
    late = person.post(f"trial/{trial['code']}/known/", known=False)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "moved_on")


@pytest.mark.parametrize(
    ("field", "exclusion", "breaks"), [("is_pilot", "pilot", ["pilot"]), ("is_test", "test", ["test"])]
)
def test_pilots_and_test_participants_are_excluded(
    study: Study, clock: Clock, field: str, exclusion: str, breaks: list[str]
) -> None:
    person = Person(factories.ParticipantFactory(study=study, **{field: True}), clock)
    trial = person.trial()
    person.listen(trial)
    person.answer(trial)
    assert (stored(trial).exclusion, stored(trial).protocol_breaks) == (exclusion, breaks)


def test_finished_round_marks_its_verdicts(person: Person) -> None:
    person.play_round()
    assert Verdict.objects.filter(round_finished=True).count() == 5
    person.get("round/1/")
    person.judge()
    assert Verdict.objects.filter(round_finished=False).count() == 1


def test_form_without_scripts_stores_and_redirects(person: Person, clock: Clock) -> None:
    trial = person.trial()
    early = person.form(f"trial/{trial['code']}/verdict/", choice="human")
    assert early.status_code == 302
    assert not Verdict.objects.exists()
    exposure = Trial.objects.get(code=trial["code"]).exposure
    exposure.first_byte_at = clock.now
    exposure.save()
    clock.pass_(1.5 * 30 + 21)
    answer = person.form(f"trial/{trial['code']}/verdict/", choice="human")
    assert answer.status_code == 302
    assert stored(trial).evidence["gate"] == "timeout"
    assert stored(trial).protocol_breaks == ["not_listened"]
    assert person.form(f"trial/{trial['code']}/next/").status_code == 302
    assert person.trial()["position"] == 2


def test_a_recording_whose_speaker_withdraws_meanwhile_is_in_no_analysis(
    person: Person, clock: Clock
) -> None:
    trial = person.trial()
    person.listen(trial)
    dialogue = Trial.objects.get(code=trial["code"]).dialogue
    speaker = factories.SpeakerFactory(withdrawn_at=clock.now)
    dialogue.parties.filter(label="A").update(speaker=speaker)
    assert person.answer(trial).status_code == 200
    assert stored(trial).exclusion == "recording"
