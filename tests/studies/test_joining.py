"""From the link to consent, in a browser without scripts: who gets in, and what is kept of whom."""

from __future__ import annotations

import pytest

from studies.models import Consent, Participant, Rater, Study, TurnedAway
from tests import factories
from tests.studies.conftest import QUERY, Visitor

pytestmark = [pytest.mark.both, pytest.mark.django_db]
Status = Study.Status


def turned_away(study: Study) -> dict[str, int]:
    return dict(TurnedAway.objects.filter(study=study).values_list("reason", "count"))


def test_the_way_in_makes_a_participant_only_at_consent(study, visitor):
    welcome = visitor.get()
    assert welcome.status_code == 200
    assert "Hear short conversations" in welcome.content.decode()
    assert visitor.post("age/", {"adult": "yes"}).url == visitor.url("consent/")
    page = visitor.get("consent/").content.decode()
    assert "A university" in page
    assert "study@example.org" in page
    assert " checked" not in page  # no box is ticked beforehand
    assert not Participant.objects.exists()

    answer = visitor.agree(again="on")
    assert answer.url == visitor.url("go/")
    participant = Participant.objects.get()
    given = participant.consent
    assert participant.state == Participant.State.CONSENTED
    assert participant.rater.participant == participant
    assert (given.publish_text, given.contact_again, given.language) == (False, True, "en")
    assert given.sha256 == given.text.sha256
    assert participant.recruiter == {}


def test_the_cookie_is_signed_and_out_of_reach_of_scripts_and_other_sites(visitor):
    visitor.agree()
    cookie = visitor.client.cookies["p-listen"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    visitor.client.cookies["p-listen"] = f"{cookie.value}x"
    assert visitor.get("go/").status_code == 403


def test_a_cookie_of_one_study_opens_no_other(make_study, study, visitor):
    other = make_study("other")
    visitor.agree()
    visitor.client.cookies["p-other"] = visitor.client.cookies["p-listen"].value
    assert visitor.client.get(f"/s/{other.slug}/go/").status_code == 403


def test_someone_too_young_meets_a_friendly_page_and_leaves_only_a_count(study, visitor):
    visitor.post("age/", {"adult": "yes"})
    assert visitor.get("age/").cookies["csrftoken"].value
    answer = visitor.post("age/", {"adult": "no"})
    assert answer.status_code == 403
    assert "Nothing about you was stored" in answer.content.decode()
    assert turned_away(study) == {"under_age": 1}
    assert not any(cookie.value for cookie in visitor.client.cookies.values())
    assert visitor.get("consent/").url == visitor.url()  # the earlier yes no longer counts
    assert not Participant.objects.exists()


def test_age_without_an_answer_is_asked_again(visitor):
    answer = visitor.post("age/")
    assert answer.status_code == 400
    assert "Choose yes or no" in answer.content.decode()


def test_consent_cannot_be_reached_before_age(visitor):
    assert visitor.get("consent/").url == visitor.url()
    assert visitor.post("consent/", {"part": "on", "version": 2}).url == visitor.url()
    assert not Participant.objects.exists()


def test_consent_without_taking_part_keeps_the_other_choices(visitor):
    visitor.post("age/", {"adult": "yes"})
    answer = visitor.post("consent/", {"version": 2, "publish": "on"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Tick this to take part" in page
    assert page.count(" checked") == 1
    assert not Participant.objects.exists()


def test_refusing_is_counted_and_free_of_blame(study, visitor):
    visitor.post("age/", {"adult": "yes"})
    answer = visitor.post("consent/", {"refuse": "1", "version": 2})
    assert "That is fine" in answer.content.decode()
    assert turned_away(study) == {"consent_refused": 1}
    assert not Participant.objects.exists()


@pytest.mark.parametrize("page", ["", "age/", "consent/"])
def test_going_back_after_consent_leads_on_and_never_to_a_second_row(visitor, page):
    visitor.agree()
    assert visitor.get(page).url == visitor.url("go/")
    assert visitor.post("age/", {"adult": "yes"}).url == visitor.url("go/")
    assert visitor.post("consent/", {"part": "on", "version": 2, "publish": "on"}).url == visitor.url("go/")
    assert Participant.objects.count() == 1


@pytest.mark.parametrize(
    ("page", "no"), [("age/", {"adult": "no"}), ("consent/", {"refuse": "1", "version": 2})]
)
def test_a_no_after_consent_leads_to_leaving_for_something_is_stored(study, visitor, page, no):
    visitor.agree()
    assert visitor.post(page, no).url == visitor.url("leave/")
    assert turned_away(study) == {}


def test_a_no_in_another_tab_leads_to_leaving_too(study, visitor):
    visitor.post("age/", {"adult": "yes"})
    visit = visitor.client.cookies[f"v-{study.slug}"].value
    visitor.post("consent/", {"part": "on", "version": 2})
    visitor.client.cookies[f"v-{study.slug}"] = visit
    assert visitor.post("consent/", {"refuse": "1", "version": 2}).url == visitor.url("leave/")


def test_consent_sent_twice_is_one_person(visitor):
    visitor.agree()
    visitor.post("consent/", {"part": "on", "version": 2})
    assert Participant.objects.count() == Rater.objects.count() == Consent.objects.count() == 1


def test_a_text_that_changed_meanwhile_is_read_again(study, visitor):
    visitor.post("age/", {"adult": "yes"})
    factories.ConsentTextFactory(study=study, version=7)
    answer = visitor.post("consent/", {"part": "on", "version": 2})
    assert answer.status_code == 400
    assert "has changed" in answer.content.decode()
    assert not Participant.objects.exists()


def test_a_panel_person_comes_back_as_the_same_participant(make_study):
    make_study("panel", recruiter_params=["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"], recruiter_required=True)
    first = Visitor("panel")
    first.agree(QUERY)
    participant = Participant.objects.get()
    assert participant.recruiter == {"PROLIFIC_PID": "person-1", "STUDY_ID": "s", "SESSION_ID": "x"}
    assert participant.recruiter_key == "person-1"

    other_device = Visitor("panel")
    assert other_device.get(QUERY).url == other_device.url("go/")
    assert other_device.participant() == participant
    # Another id on the same computer is another person, whatever cookie lies there.
    assert other_device.get("?PROLIFIC_PID=person-2").status_code == 200


def test_two_forms_of_one_panel_person_are_one_participant(make_study):
    make_study("panel", recruiter_params=["PROLIFIC_PID"], recruiter_required=True)
    first, second = Visitor("panel"), Visitor("panel")
    for tab in (first, second):
        tab.post(f"age/{QUERY}", {"adult": "yes"})
    for tab in (first, second):
        assert tab.agree(QUERY).status_code == 302
    assert Participant.objects.count() == 1
    assert first.participant() == second.participant()


@pytest.mark.parametrize("query", ["", "?PROLIFIC_PID=", "?PROLIFIC_PID={{%PROLIFIC_PID%}}", "?OTHER=1"])
def test_without_the_panels_id_there_is_a_clear_page(make_study, query):
    study = make_study("panel", recruiter_params=["PROLIFIC_PID"], recruiter_required=True)
    visitor = Visitor("panel")
    answer = visitor.get(query)
    assert answer.status_code == 403
    assert "Your id is missing from the link" in answer.content.decode()
    assert turned_away(study) == {"no_recruiter_id": 1}
    assert visitor.post(f"age/{query}", {"adult": "yes"}).status_code == 403
    assert not Participant.objects.exists()


def test_ids_source_and_test_flag_go_along_from_the_link_to_the_row(make_study):
    make_study("panel", recruiter_params=["sona_id"], test_participants=True)
    visitor = Visitor("panel")
    query = "?sona_id=77&src=share-card%3Cscript%3E&test=1"
    page = visitor.get(query).content.decode()
    assert "age/?sona_id=77&amp;src=share-cardscript&amp;test=1" in page
    visitor.agree(query)
    participant = Participant.objects.get()
    assert (participant.source, participant.is_test, participant.recruiter_key) == (
        "share-cardscript",
        True,
        "77",
    )


def test_a_study_without_test_participants_ignores_the_flag(visitor):
    visitor.agree("?test=1")
    assert not Participant.objects.get().is_test


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [(Status.CLOSED, 410, "This study is closed"), (Status.PAUSED, 503, "come back later")],
)
def test_a_study_that_takes_nobody_says_so(make_study, status, code, words):
    make_study("shut", status=status)
    visitor = Visitor("shut")
    for answer in (visitor.get(), visitor.post("age/", {"adult": "yes"})):
        assert answer.status_code == code
        assert words in answer.content.decode()
    assert not Participant.objects.exists()


def test_a_closing_study_takes_no_consent_from_an_open_page(study, visitor):
    visitor.post("age/", {"adult": "yes"})
    Study.objects.filter(pk=study.pk).update(status=Status.CLOSED)
    assert visitor.post("consent/", {"part": "on", "version": 2}).status_code == 410
    assert not Participant.objects.exists()


def test_a_draft_looks_like_nothing_to_outsiders_and_shows_itself_to_its_desk(make_study, django_user_model):
    study = make_study("draft", status=Status.DRAFT)
    owner = factories.UserFactory()
    factories.StudyMemberFactory(study=study, user=owner)
    stranger = factories.UserFactory(is_staff=True)
    visitor = Visitor("draft")
    unknown = visitor.client.get("/s/no-such-study/")
    assert visitor.get().status_code == unknown.status_code == 404
    visitor.client.force_login(stranger)
    assert visitor.get().status_code == 404
    visitor.client.force_login(owner)
    assert "Only people of the desk" in visitor.get().content.decode()
    assert visitor.post("age/", {"adult": "yes"}).status_code == 409


def test_pilot_people_are_marked(make_study):
    make_study("pilot", status=Status.PILOT)
    visitor = Visitor("pilot")
    assert "A trial run" in visitor.get().content.decode()
    visitor.agree()
    assert Participant.objects.get().is_pilot


def test_the_text_can_be_kept(study, visitor):
    draft = visitor.get("consent/copy/")
    assert draft["Content-Disposition"] == 'attachment; filename="listen-consent-v2.txt"'
    assert "Your rights" in draft.content.decode()
    assert "Receipt code" not in draft.content.decode()
    visitor.agree(publish="on")
    kept = visitor.get("consent/copy/").content.decode()
    assert Consent.objects.get().sha256 in kept
    assert "Receipt code" in kept


def test_the_device_is_kept_as_a_class_only(study):
    phone = Visitor(study.slug, user_agent="Mozilla/5.0 (iPhone; CPU iPhone OS 17_0) Mobile/15E148")
    phone.agree()
    assert Participant.objects.get().device_class == "phone"


def test_the_front_page_lists_open_listed_studies_only(make_study, client):
    make_study("listed", is_listed=True)
    make_study("by-link")
    make_study("closed", is_listed=True, status=Status.CLOSED)
    page = client.get("/").content.decode()
    assert "/s/listed/" in page
    assert "/s/by-link/" not in page
    assert "/s/closed/" not in page


def test_forged_posts_are_refused(study):
    visitor = Visitor(study.slug)
    visitor.client.handler.enforce_csrf_checks = True
    assert visitor.post("age/", {"adult": "yes"}).status_code == 403
    answer = visitor.client.post(visitor.url("age/"), {}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "no_session")


NASTY = ["%00", "%FF%FE", "a" * 5_000, "%0d%0aSet-Cookie:x", "%F0%9F%98%80", "%22%3E%3Cscript%3E"]


@pytest.mark.parametrize("value", NASTY)
def test_whatever_stands_in_an_address_is_answered(make_study, value):
    make_study("panel", recruiter_params=["id"], test_participants=True)
    visitor = Visitor("panel")
    for name in ("id", "src", "lang", "test", "id=1&src", "format"):
        answer = visitor.get(f"?{name}={value}")
        assert answer.status_code == 200
        assert "<script>" not in answer.content.decode()
        assert visitor.post(f"age/?{name}={value}", {"adult": "yes"}).status_code == 302
        assert visitor.post("consent/", {"part": "on", "version": 2}).status_code == 302
        visitor.client.cookies.clear()


@pytest.mark.parametrize("value", ["\x00", "x\x00y", "😀" * 100, "a" * 100_000, "' OR 1=1 --"])
@pytest.mark.parametrize(
    ("page", "field"),
    [("resume/", "code"), ("withdraw/", "code"), ("age/", "adult"), ("consent/", "version")],
)
def test_whatever_is_typed_is_answered(visitor, page, field, value):
    visitor.post("age/", {"adult": "yes"})
    assert visitor.post(page, {field: value, "part": "on", "choice": "stop"}).status_code == 400
