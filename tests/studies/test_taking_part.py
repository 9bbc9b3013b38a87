"""From consent to debrief: the server knows where a person is, keeps what they said, pays the end."""

from __future__ import annotations

import json

import pytest

from studies import codes
from studies.models import Answer, Completion, EndState, Participant, Study
from tests.studies.conftest import PROFILE, Visitor

pytestmark = [pytest.mark.both, pytest.mark.django_db]
Status = Study.Status
State = Participant.State


def test_the_server_leads_from_consent_over_language_and_profile_to_the_activity(visitor):
    visitor.agree()
    assert visitor.get("go/").url == visitor.url("language/")
    assert visitor.post("language/", {"language": "zh"}).url == visitor.url("go/")
    assert visitor.get("go/").url == visitor.url("q/profile/")
    assert visitor.post("q/profile/", PROFILE).url == visitor.url("go/")
    assert visitor.get("go/").url == "/play/"
    participant = visitor.participant()
    assert (participant.judging_language, participant.state) == ("zh", State.ACTIVE)


def test_a_study_in_one_language_does_not_ask_for_it(make_study):
    make_study("zh-only", languages=["zh"])
    visitor = Visitor("zh-only")
    visitor.agree()
    assert visitor.get("go/").url == visitor.url("q/profile/")
    assert visitor.participant().judging_language == "zh"


def test_a_language_the_study_lacks_is_refused_in_words(visitor):
    visitor.agree()
    answer = visitor.post("language/", {"language": "fr"})
    assert answer.status_code == 400
    assert visitor.participant().judging_language == ""


def test_the_profile_can_come_at_the_end(make_study, activity):
    make_study("late", profile_at="end", languages=["en"])
    visitor = Visitor("late")
    visitor.agree()
    assert visitor.get("go/").url == "/play/"
    activity.complete.add(visitor.participant().pk)
    assert visitor.get("go/").url == visitor.url("q/profile/")
    visitor.post("q/profile/", PROFILE)
    assert visitor.get("go/").url == visitor.url("debrief/")
    assert visitor.participant().end_state == EndState.DONE


def test_answers_are_stored_with_their_scale(visitor):
    visitor.arrive()
    answers = {row.question: row for row in Answer.objects.all()}
    assert {key: row.value for key, row in answers.items()} == PROFILE
    assert answers["familiarity"].scale == ["never", "seldom", "sometimes", "often", "very", "prefer_not"]
    assert all("prefer_not" in row.scale for row in answers.values())


def test_a_profile_with_a_gap_keeps_what_was_given_and_stores_nothing(visitor):
    visitor.agree()
    answer = visitor.post("q/profile/", {**PROFILE, "education": "", "age": "17"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "2 questions need you" in page
    assert page.count(" checked") == 2
    assert not Answer.objects.exists()


def test_a_profile_sent_twice_is_stored_once_and_the_later_counts(visitor):
    visitor.arrive()
    visitor.post("q/profile/", {**PROFILE, "education": "master"})
    assert Answer.objects.count() == 4
    assert Answer.objects.get(question="education").value == "master"


def test_questions_that_do_not_exist_are_not_found(visitor):
    visitor.agree()
    assert visitor.get("q/nothing/").status_code == 404


@pytest.mark.parametrize("page", ["go/", "language/", "q/profile/", "leave/", "debrief/"])
def test_without_a_cookie_every_page_says_how_to_come_back(study, page):
    stranger = Visitor(study.slug)
    answer = stranger.get(page)
    assert answer.status_code == 403
    assert "Open the study" in answer.content.decode()
    data = stranger.client.get(stranger.url(page), headers={"Accept": "application/json"})
    assert json.loads(data.content)["error"]["code"] == "no_session"


@pytest.mark.parametrize(
    "page", ["go/", "language/", "q/profile/", "leave/", "debrief/", "withdraw/", "resume/"]
)
def test_pages_of_an_unknown_study_are_not_found(visitor, page):
    assert visitor.client.get(f"/s/nowhere/{page}").status_code == 404


def test_the_resume_code_goes_on_at_another_device_in_the_persons_language(visitor):
    participant = visitor.arrive()
    Participant.objects.update(interface_language="zh")
    other = Visitor(visitor.slug)
    typed = f" {codes.grouped(participant.resume_code).lower()} "
    assert other.post("resume/", {"code": typed}).url == other.url("go/")
    assert other.participant() == participant
    assert other.client.cookies["django_language"].value == "zh-hans"
    assert other.get("go/").url == "/play/"


def test_wrong_resume_codes_all_get_one_answer_and_soon_none(study, visitor):
    participant = visitor.arrive()
    guesser = Visitor(study.slug)
    answers = {
        guesser.post("resume/", {"code": guess}).content.decode().count("We do not know this code")
        for guess in ("AAAA", participant.code, participant.receipt_code, "%00", "x" * 60)
    }
    assert answers == {1}
    near = participant.resume_code[:2] + "A" * 10
    for _try in range(30):
        assert guesser.post("resume/", {"code": near}).status_code == 400
    blocked = guesser.post("resume/", {"code": participant.resume_code})
    assert blocked.status_code == 429
    assert "Wait a minute" in blocked.content.decode()


@pytest.mark.parametrize("page", ["resume/", "withdraw/"])
def test_a_guesser_keeps_nobody_else_from_their_code(visitor, page):
    participant = visitor.arrive()
    code = participant.resume_code if page == "resume/" else participant.receipt_code
    others = [start for start in ("A2", "B3", "%%", "") if not code.startswith(start or "-")]
    guesser = Visitor(visitor.slug)
    for start in others:
        for _try in range(31):
            last = guesser.post(page, {"code": start + "A" * 10 if start else "", "choice": "stop"})
        assert last.status_code in (400, 429)
    assert Visitor(visitor.slug).post(page, {"code": code, "choice": "stop"}).status_code in (200, 302)


def test_opening_the_link_again_goes_on_where_the_person_stopped(visitor):
    visitor.arrive()
    assert visitor.get().url == visitor.url("go/")


def test_stopping_after_enough_is_done_with_its_pay_and_the_answers(study, activity, visitor):
    participant = visitor.arrive()
    activity.enough.add(participant.pk)
    Completion.objects.filter(study=study, end_state=EndState.DONE).update(
        code="DONE-1", link="https://panel.example/back?id={PROLIFIC_PID}", pay_en="1.20 € a round"
    )
    assert visitor.get("debrief/").url == visitor.url("go/")  # nothing is shown before the end
    assert "1.20 €" in visitor.get("leave/").content.decode()
    assert visitor.post("leave/", {"choice": "stop"}).url == visitor.url("debrief/")
    page = visitor.get("debrief/").content.decode()
    assert "DONE-1" in page
    assert "1.20 € a round" in page
    assert "What we did not say beforehand" in page
    assert "a system" in page
    assert codes.grouped(participant.receipt_code) in page
    row = visitor.participant()
    assert (row.state, row.end_state, row.withdrawn_at) == (State.COMPLETED, EndState.DONE, None)


def test_stopping_early_is_paid_as_its_own_end_state_and_debriefed(study, visitor):
    visitor.arrive()
    visitor.post("leave/", {"choice": "stop"})
    row = visitor.participant()
    assert (row.state, row.end_state) == (State.WITHDRAWN, EndState.WITHDREW)
    assert row.erased_at is None
    assert Answer.objects.count() == 4
    page = visitor.get("debrief/").content.decode()
    assert study.completions.get(end_state=EndState.WITHDREW).code in page
    assert "What was studied" in page


def test_a_finished_person_meets_the_debrief_everywhere(activity, visitor):
    activity.complete.add(visitor.arrive().pk)
    assert visitor.get("go/").url == visitor.url("debrief/")
    assert visitor.get("leave/").url == visitor.url("debrief/")
    late = visitor.post("q/profile/", PROFILE)
    assert late.status_code == 410
    assert visitor.url("go/") in late.content.decode()


def test_a_pause_holds_people_and_loses_nothing(study, visitor):
    visitor.arrive()
    Study.objects.update(status=Status.PAUSED)
    held = visitor.get("go/")
    assert held.status_code == 503
    assert "Come back later" in held.content.decode()
    assert visitor.get("leave/").status_code == 200
    Study.objects.update(status=Status.OPEN)
    assert visitor.get("go/").url == "/play/"


@pytest.mark.parametrize(("enough", "end_state"), [(True, EndState.DONE), (False, EndState.CANCELLED)])
def test_people_inside_a_study_that_closes_are_debriefed_and_paid(activity, visitor, enough, end_state):
    participant = visitor.arrive()
    if enough:
        activity.enough.add(participant.pk)
    Study.objects.update(status=Status.CLOSED)
    assert visitor.post("q/profile/", PROFILE).status_code == 410
    assert visitor.get("go/").url == visitor.url("debrief/")
    assert visitor.get("debrief/").status_code == 200
    assert visitor.participant().end_state == end_state


def test_the_return_link_carries_the_panels_own_id(make_study, activity):
    study = make_study("panel", recruiter_params=["sona"], languages=["en"])
    Completion.objects.filter(study=study, end_state=EndState.WITHDREW).update(
        link="https://panel.example/credit?survey_code={sona}"
    )
    visitor = Visitor("panel")
    visitor.arrive("?sona=7%26x")
    visitor.post("leave/", {"choice": "stop"})
    assert "survey_code=7%26x" in visitor.get("debrief/").content.decode()
