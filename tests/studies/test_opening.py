"""Studies from the built-in template: what they start with, when they open, who sees their desk."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from studies import services
from studies.models import AuditLine, EndState, Study
from studies.selectors import access_desk_study, opening_problems
from studies.texts import digest, has_places
from tests import factories
from turingsite.errors import Conflict, Invalid, NotFound

pytestmark = [pytest.mark.both, pytest.mark.django_db]
Status = Study.Status


def test_a_new_study_has_text_profile_pay_for_every_end_and_its_researcher(activity, cast):
    study = services.create_study(
        slug="fresh",
        title_en="Fresh",
        user=cast.researcher,
        activities=["listening"],
        profile_extras=["hearing"],
    )
    assert study.status == Status.DRAFT
    assert (study.languages, study.members.get().user) == (["en", "zh"], cast.researcher)
    assert set(study.consent_texts.get().body) == {"en", "zh"}
    questions = study.questionnaires.get().questions
    assert [question["key"] for question in questions] == [
        "age",
        "gender",
        "education",
        "familiarity",
        "hearing",
    ]
    assert set(study.completions.values_list("end_state", flat=True)) == set(EndState.values)
    assert study.completions.filter(code="").count() == 0
    line = AuditLine.objects.get(action="study.created")
    assert (line.study, line.actor) == (study, cast.researcher)


def test_minors_are_offered_their_band_only_where_they_may_take_part(make_study):
    assert len(make_study("adults").questionnaires.get().questions[0]["options"]) == 4
    bands = make_study("young", min_age=16).questionnaires.get().questions[0]["options"]
    assert bands[0]["value"] == "under-18"


def test_every_text_of_the_template_is_there_in_both_languages(make_study):
    study = make_study("both")
    text = study.consent_texts.order_by("-version")[0].body
    assert not has_places(text)
    for part in ("welcome", "summary", "sections", "debrief"):
        assert len(text["en"][part]) >= len(text["zh"][part]) > 2
    for question in study.questionnaires.get().questions:
        for words in (question["text"], *(option["label"] for option in question["options"])):
            assert words["en"]
            assert words["zh"]


@pytest.mark.parametrize("slug", ["with space", "汉字", "a/b", ""])
def test_an_address_of_the_wrong_shape_is_refused(activity, db, slug):
    with pytest.raises(Invalid) as error:
        services.create_study(slug=slug, title_en="X", user=None)
    assert "slug" in error.value.fields


def test_a_taken_address_is_refused(study):
    with pytest.raises(Invalid) as error:
        services.create_study(slug=study.slug, title_en="X", user=None)
    assert error.value.code == "slug_taken"


def test_a_study_opens_only_when_nothing_is_missing(make_study, activity):
    study = make_study("half", status=Status.DRAFT, host="", contact="")
    activity.problems.append("There are 2 dialogues in English; a round needs 5.")
    study.completions.filter(end_state=EndState.WAITED).update(code="")
    with pytest.raises(Conflict) as error:
        services.change_status(study=study, to=Status.OPEN)
    words = str(error.value)
    for problem in ("who runs the study", "people can write to", "waited in vain", "2 dialogues in English"):
        assert problem in words
    assert Study.objects.get().status == Status.DRAFT

    activity.problems.clear()
    Study.objects.update(host="A university", contact="study@example.org")
    study.completions.filter(end_state=EndState.WAITED).update(link="https://panel.example/waited")
    opened = services.change_status(study=study, to=Status.OPEN, now=datetime(2026, 3, 2, tzinfo=UTC))
    assert (opened.status, opened.opened_at) == (Status.OPEN, datetime(2026, 3, 2, tzinfo=UTC))


def test_a_study_without_consent_text_cannot_open(make_study):
    study = make_study("mute", status=Status.DRAFT)
    study.consent_texts.all().delete()
    assert "consent text" in " ".join(opening_problems(study))
    with pytest.raises(Conflict):
        services.change_status(study=study, to=Status.PILOT)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"time_zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"languages": []}, "judging language"),
        ({"languages": ["fr"]}, "judging language"),
        ({"activities": []}, "activity"),
        ({"recruiter_required": True}, "address parameter"),
    ],
)
def test_settings_that_would_stop_people_keep_a_study_closed(make_study, fields, words):
    study = make_study("odd", status=Status.DRAFT, **fields)
    assert words in " ".join(opening_problems(study))
    with pytest.raises(Conflict):
        services.change_status(study=study, to=Status.PILOT)


def test_an_unknown_activity_is_an_opening_problem(make_study):
    study = make_study("odd", status=Status.DRAFT, activities=["juggling"])
    assert "juggling" in " ".join(opening_problems(study))


@pytest.mark.parametrize(
    ("before", "to"),
    [
        (Status.OPEN, Status.DRAFT),
        (Status.OPEN, Status.PILOT),
        (Status.PAUSED, Status.PILOT),  # it was open: pilot rows never enter
        (Status.CLOSED, Status.OPEN),
        (Status.OPEN, "no such status"),
    ],
)
def test_the_order_of_states_is_kept(make_study, before, to):
    study = make_study("order", status=before)
    with pytest.raises(Conflict) as error:
        services.change_status(study=study, to=to)
    assert error.value.code == "not_allowed"
    assert Study.objects.get().status == before


def test_every_change_leaves_one_line_and_no_change_none(make_study, cast):
    study = make_study("audited")
    services.change_status(study=study, to=Status.PAUSED, user=cast.researcher)
    services.change_status(study=study, to=Status.PAUSED, user=cast.researcher)
    line = AuditLine.objects.get(study=study, action="study.status", detail__now_is="paused")
    assert (line.actor, line.detail["was"]) == (cast.researcher, "open")


def test_opening_fills_in_the_text_and_its_hash_proves_the_words(make_study):
    study = make_study("told", erasure_until=date(2027, 3, 31), min_age=16)
    text = study.consent_texts.order_by("-version")[0]
    assert "until 31 March 2027" in str(text.body["en"])
    assert "2027年3月31日（含当日）之前" in str(text.body["zh"])
    assert "16" in str(text.body["en"]["sections"])
    assert "Approval" not in [label for label, _words in text.body["en"]["summary"]]  # there is none to name
    assert text.sha256 == digest(text.body)

    services.change_status(study=study, to=Status.PAUSED)
    services.change_status(study=study, to=Status.OPEN)
    assert study.consent_texts.count() == 2  # nothing changed, so no new version
    services.change_status(study=study, to=Status.PAUSED)
    Study.objects.update(host="Another university")
    services.change_status(study=study, to=Status.OPEN)
    assert study.consent_texts.count() == 3
    assert "Another university" in str(study.consent_texts.order_by("-version")[0].body)


def test_the_text_names_the_pay_and_what_stays_earned_only_where_there_is_pay(make_study):
    free = make_study("free").consent_texts.order_by("-version")[0].body
    assert "This study is not paid." in str(free["en"])
    assert "stays yours" not in str(free["en"])
    paid = make_study("paid", status=Status.DRAFT)
    paid.completions.filter(end_state=EndState.DONE).update(
        pay_en="1.20 € a round.", pay_zh="每轮 1.20 欧元。"
    )
    services.change_status(study=paid, to=Status.OPEN)
    body = paid.consent_texts.order_by("-version")[0].body
    assert "1.20 € a round. What you have earned stays yours" in str(body["en"])
    assert "每轮 1.20 欧元。已得的报酬归您所有" in str(body["zh"])


def test_a_consent_text_needs_both_languages(study):
    body = study.consent_texts.order_by("-version")[0].body
    with pytest.raises(Invalid):
        services.publish_consent_text(study=study, body={"en": body["en"]})
    assert services.publish_consent_text(study=study, body=body).version == 3


def test_a_new_questionnaire_is_a_new_version(study):
    old = study.questionnaires.get()
    new = services.publish_questionnaire(
        study=study, key="profile", title_en="You", questions=old.questions[:1]
    )
    old.refresh_from_db()
    assert (old.is_current, new.is_current, new.version) == (False, True, 2)


def test_a_desk_opens_to_its_people_only(cast, django_user_model):
    operator = django_user_model.objects.create_superuser("operator")
    for user in (cast.researcher, cast.colleague, operator):
        assert access_desk_study(cast.study.slug, user) == cast.study
    for user in (cast.reviewer, cast.stranger, cast.annotator.user):
        with pytest.raises(NotFound):
            access_desk_study(cast.study.slug, user)


def test_members_of_two_studies_do_not_double(cast):
    factories.StudyMemberFactory(user=cast.researcher)
    assert Study.objects.visible_to(cast.researcher).count() == 2
