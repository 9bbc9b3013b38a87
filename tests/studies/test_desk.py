"""The desk's study pages: who may open which, creating, opening, settings, the blind desk, reports."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from django.urls import reverse

from dialogues.models import Verdict
from studies.models import AuditLine, Study, StudyMember
from studies.services import create_study
from tests import factories


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture(autouse=True)
def exports(settings, tmp_path):
    settings.EXPORT_ROOT = tmp_path / "exports"


@pytest.fixture
def operator(db):
    return factories.UserFactory(username="operator", is_staff=True, is_superuser=True)


@pytest.fixture
def people(cast, operator):
    return {
        "operator": operator,
        "researcher": cast.researcher,
        "colleague": cast.colleague,
        "reviewer": cast.reviewer,
        "stranger": cast.stranger,
        "annotator": cast.annotator.user,
        "anonymous": None,
    }


def as_person(client, person):
    if person is not None:
        client.force_login(person)
    return client


READ = [
    ("study", ()),
    ("participants", ()),
    ("verdicts", ()),
    ("audit", ()),
    ("report", ("success-rate",)),
    ("report", ("accuracy",)),
]
READERS = {"operator": 200, "researcher": 200, "colleague": 200, "reviewer": 404, "stranger": 404}
OUTSIDE = {"annotator": 302, "anonymous": 302}  # to the sign-in page, the same for every address


@pytest.mark.parametrize("who", [*READERS, *OUTSIDE])
@pytest.mark.parametrize(("name", "more"), READ)
def test_study_pages_open_to_their_people_only(client, cast, people, who, name, more):
    answer = as_person(client, people[who]).get(url(name, cast.study.slug, *more))
    assert answer.status_code == {**READERS, **OUTSIDE}[who]
    if who in OUTSIDE:
        assert answer.url.startswith("/admin/login/")


@pytest.mark.parametrize("who", ["operator", "researcher", "colleague", "reviewer", "stranger"])
def test_settings_and_status_are_the_researchers(client, cast, people, who):
    expected = who in ("operator", "researcher")
    client = as_person(client, people[who])
    assert client.get(url("settings", cast.study.slug)).status_code == (200 if expected else 404)
    assert client.post(url("status", cast.study.slug), {"to": "paused"}).status_code == (
        302 if expected else 404
    )
    assert client.post(url("people", cast.study.slug), {}).status_code == (302 if expected else 404)
    cast.study.refresh_from_db()
    assert cast.study.status == ("paused" if expected else "open")


@pytest.mark.parametrize("who", ["operator", "researcher", "colleague", "reviewer", "stranger"])
def test_writes_of_the_desk_keep_outsiders_out(client, cast, people, who):
    client, inside = as_person(client, people[who]), who in ("operator", "researcher", "colleague")
    assert client.post(url("look", cast.study.slug)).status_code == (302 if inside else 404)
    assert client.post(url("export", cast.study.slug)).status_code == (200 if inside else 404)


def test_an_outsider_cannot_tell_a_study_from_none(client, cast):
    client.force_login(cast.stranger)
    there = client.get(url("study", cast.study.slug))
    nowhere = client.get(url("study", "nowhere"))
    assert there.status_code == nowhere.status_code == 404
    pages = [re.sub(rb'value="\w{64}"', b"", page.content) for page in (there, nowhere)]
    assert pages[0].replace(b"conversations", b"") == pages[1].replace(b"nowhere", b"")


@pytest.mark.parametrize("name", ["status", "people", "look", "export"])
def test_what_writes_does_not_answer_to_get(client, cast, name):
    client.force_login(cast.researcher)
    assert client.get(url(name, cast.study.slug)).status_code == 405


def test_the_first_page_lists_own_studies_with_figures(client, cast):
    dialogue = factories.DialogueFactory()
    factories.StudyItemFactory(study=cast.study, dialogue=dialogue)
    factories.VerdictFactory(rater=cast.participant.rater, dialogue=dialogue)
    factories.ParticipantFactory(study=cast.study, is_test=True)
    other = factories.StudyFactory(slug="not-mine", title_en="Not mine")
    client.force_login(cast.researcher)
    page = client.get(reverse("admin:index"))
    row = page.context["rows"][0]
    assert [one["study"] for one in page.context["rows"]] == [cast.study]
    assert (row["people"], row["verdicts"], row["items"]) == (2, 1, 1)
    assert other.title_en not in page.content.decode()


def test_a_reviewer_sees_an_empty_desk(client, cast):
    client.force_login(cast.reviewer)
    page = client.get(reverse("admin:index"))
    assert page.status_code == 200
    assert page.context["rows"] == []
    assert not page.context["works"]


# creating and opening

NEW = {"slug": "new-one", "title_en": "A new one", "title_zh": "新研究", "languages": ["en"]}


def test_a_study_is_made_from_the_built_in_template(client, cast):
    client.force_login(cast.researcher)
    answer = client.post(url("create"), NEW, follow=True)
    study = Study.objects.get(slug="new-one")
    assert answer.redirect_chain == [(url("study", "new-one"), 302)]
    assert (study.status, study.languages) == ("draft", ["en"])
    assert study.members.get().user == cast.researcher
    assert study.consent_texts.exists()
    assert study.completions.count() == 8
    assert answer.context["problems"]


@pytest.mark.parametrize(("changed", "field"), [
    ({"slug": "conversations"}, "slug"),
    ({"slug": "a b"}, "slug"),
    ({"slug": "x" * 61}, "slug"),
    ({"slug": ""}, "slug"),
    ({"title_en": ""}, "title_en"),
    ({"title_en": "x" * 121}, "title_en"),
    ({"languages": []}, "languages"),
    ({"languages": ["fr"]}, "languages"),
    ({"contact": "no address"}, "contact"),
])  # fmt: skip
def test_a_bad_new_study_is_answered_beside_the_field(client, cast, changed, field):
    client.force_login(cast.researcher)
    answer = client.post(url("create"), {**NEW, **changed})
    assert answer.status_code == 400
    assert field in answer.context["forms"][0].errors
    assert not Study.objects.filter(slug="new-one").exists()


def test_opening_tells_what_is_missing_and_opens_when_nothing_is(client, cast):
    client.force_login(cast.researcher)
    client.post(url("create"), NEW)
    study = Study.objects.get(slug="new-one")
    answer = client.post(url("status", "new-one"), {"to": "open"}, follow=True)
    study.refresh_from_db()
    assert study.status == "draft"
    assert "Say who runs the study." in answer.content.decode()

    study.host, study.contact = "A university", "study@example.org"
    study.save()
    for kind in ("human_human", "human_machine", "pseudo_human"):
        for _ in range(6):
            factories.StudyItemFactory(study=study, dialogue=factories.DialogueFactory(kind=kind))
    client.post(url("status", "new-one"), {"to": "open"})
    study.refresh_from_db()
    assert study.status == "open"
    asked = client.post(url("status", "new-one"), {"to": "closed"})
    assert "Close the study for all?" in asked.content.decode()
    for to in ("paused", "open", "closed"):
        client.post(url("status", "new-one"), {"to": to, "sure": "yes"})
        study.refresh_from_db()
        assert study.status == to
    actions = AuditLine.objects.filter(study=study, action="study.status")
    assert {line.actor for line in actions} == {cast.researcher}


@pytest.mark.parametrize("to", ["", "nonsense", "draft"])
def test_a_status_that_cannot_be_is_answered_in_words(client, cast, to):
    client.force_login(cast.researcher)
    answer = client.post(url("status", cast.study.slug), {"to": to}, follow=True)
    assert answer.status_code == 200
    assert list(answer.context["messages"])
    cast.study.refresh_from_db()
    assert cast.study.status == "open"


# settings and people


def settings_form(client, slug: str) -> dict[str, object]:
    """What a browser would send back unchanged."""
    page = client.get(url("settings", slug))
    data: dict[str, object] = {}
    for form in (*page.context["forms"], page.context["ends"].management_form, *page.context["ends"]):
        for field in form:
            value = field.value()
            if value is not None and value is not False:
                data[field.html_name] = "on" if value is True else value
    return data


def test_settings_are_stored_with_a_line_of_audit(client, cast):
    study = create_study(slug="mine", title_en="Mine", user=cast.researcher)
    client.force_login(cast.researcher)
    data = settings_form(client, "mine")
    unchanged = client.post(url("settings", "mine"), data)
    assert unchanged.status_code == 302
    assert not AuditLine.objects.filter(
        study=study, action__in=("study.settings", "speech.settings")
    ).exists()

    data |= {
        "title_en": "Mine, better",
        "languages": ["zh"],
        "recruiter_params": "PROLIFIC_PID, STUDY_ID",
        "time_zone": "Asia/Shanghai",
        "speech-max_rounds": "3",
        "end-0-link": "https://panel.example.org/back?cc=ABC",
        "end-0-pay_en": "5 euros",
    }
    assert client.post(url("settings", "mine"), data).status_code == 302
    study.refresh_from_db()
    assert (study.title_en, study.languages, study.recruiter_params) == (
        "Mine, better",
        ["zh"],
        ["PROLIFIC_PID", "STUDY_ID"],
    )
    assert study.speech.max_rounds == 3
    assert study.completions.order_by("pk")[0].link.startswith("https://panel")
    actions = set(AuditLine.objects.filter(study=study).values_list("action", flat=True))
    assert {"study.settings", "speech.settings", "study.completions"} <= actions


@pytest.mark.parametrize(("changed", "field"), [
    ({"time_zone": "Mars/Base"}, "time_zone"),
    ({"recruiter_params": "a=b"}, "recruiter_params"),
    ({"min_age": "-1"}, "min_age"),
    ({"title_en": ""}, "title_en"),
    ({"speech-round_size": "0"}, "round_size"),
    ({"speech-round_size": "21"}, "round_size"),
    ({"speech-mix": "other"}, "mix"),
    ({"end-0-link": "javascript:alert(1)"}, "link"),
])  # fmt: skip
def test_bad_settings_are_answered_beside_the_field_and_store_nothing(client, cast, changed, field):
    create_study(slug="mine", title_en="Mine", user=cast.researcher)
    client.force_login(cast.researcher)
    data = {**settings_form(client, "mine"), "title_zh": "改", **changed}
    answer = client.post(url("settings", "mine"), data)
    assert answer.status_code == 400
    forms = [*answer.context["forms"], *answer.context["ends"]]
    assert any(field in form.errors for form in forms)
    assert Study.objects.get(slug="mine").title_zh == ""


def test_what_people_met_cannot_be_changed_under_them(client, cast):
    study = create_study(slug="mine", title_en="Mine", user=cast.researcher)
    client.force_login(cast.researcher)
    data = settings_form(client, "mine")
    player = factories.SpeechPlayerFactory(participant=factories.ParticipantFactory(study=study))
    factories.RoundFactory(player=player)
    for changed in ({"min_age": "21"}, {"speech-mix": "published"}):
        answer = client.post(url("settings", "mine"), {**data, **changed, "title_zh": "改"})
        assert answer.status_code == 400
    study.refresh_from_db()
    assert (study.min_age, study.title_zh, study.speech.mix) == (18, "", "half")


def test_another_studys_pay_table_cannot_be_reached(client, cast):
    create_study(slug="mine", title_en="Mine", user=cast.researcher)
    theirs = create_study(slug="theirs", title_en="Theirs", user=cast.stranger).completions.order_by("pk")[0]
    client.force_login(cast.researcher)
    data = {**settings_form(client, "mine"), "end-0-id": theirs.pk, "end-0-code": "STOLEN"}
    client.post(url("settings", "mine"), data)
    theirs.refresh_from_db()
    assert theirs.code != "STOLEN"


def test_people_are_added_and_the_last_researcher_stays(client, cast):
    client.force_login(cast.researcher)
    newcomer = factories.UserFactory(username="newcomer", is_staff=True)
    factories.UserFactory(username="nobody")
    for name, there in (("newcomer", True), ("nobody", False), ("missing", False)):
        client.post(url("people", cast.study.slug), {"username": name, "role": "colleague"})
        assert cast.study.members.filter(user__username=name).exists() is there
    member = cast.study.members.get(user=newcomer)
    client.post(url("people", cast.study.slug), {"remove": "9" * 5000})
    client.post(url("people", cast.study.slug), {"remove": member.pk})
    assert not cast.study.members.filter(user=newcomer).exists()

    own = cast.study.members.get(user=cast.researcher)
    answer = client.post(url("people", cast.study.slug), {"remove": own.pk}, follow=True)
    assert "A study needs a researcher" in answer.content.decode()
    client.post(url("people", cast.study.slug), {"username": "researcher", "role": "colleague"})
    assert cast.study.members.filter(role=StudyMember.Role.RESEARCHER).count() == 1
    other = StudyMember.objects.exclude(study=cast.study)[0]
    client.post(url("people", cast.study.slug), {"remove": other.pk})
    assert StudyMember.objects.filter(pk=other.pk).exists()


# texts


def texts_form(client, slug: str) -> dict[str, str]:
    form = client.get(url("texts", slug)).context["forms"][0]
    return {field.html_name: field.value() or "" for field in form}


def test_texts_come_back_as_they_were_and_a_change_is_a_new_version(client, cast):
    study = create_study(slug="mine", title_en="Mine", user=cast.researcher)
    before = study.consent_texts.get().body
    client.force_login(cast.researcher)
    data = texts_form(client, "mine")
    assert client.post(url("texts", "mine"), data).status_code == 302
    assert study.consent_texts.count() == 1

    data |= {
        "debrief_zh": "# 研究内容\r\n第一段。\r\n\r\n第二段。",
        "summary_en": "Who: {host}\r\nTime: 3:30 minutes",
    }
    assert client.post(url("texts", "mine"), data).status_code == 302
    after = study.consent_texts.order_by("-version")[0].body
    assert after["zh"]["debrief"] == [["研究内容", "第一段。\n\n第二段。"]]
    assert after["en"]["summary"] == [["Who", "{host}"], ["Time", "3:30 minutes"]]
    assert after["en"]["sections"] == before["en"]["sections"]
    assert after["zh"]["welcome"] == before["zh"]["welcome"]


@pytest.mark.parametrize(("changed", "field"), [
    ({"summary_en": "no colon"}, "summary_en"),
    ({"sections_zh": "words without heading"}, "sections_zh"),
    ({"debrief_en": "# heading alone"}, "debrief_en"),
    ({"debrief_en": ""}, "debrief_en"),
    ({"tagline_zh": ""}, "tagline_zh"),
])  # fmt: skip
def test_texts_that_lack_something_are_answered_beside_the_field(client, cast, changed, field):
    study = create_study(slug="mine", title_en="Mine", user=cast.researcher)
    client.force_login(cast.researcher)
    answer = client.post(url("texts", "mine"), {**texts_form(client, "mine"), **changed})
    assert answer.status_code == 400
    assert field in answer.context["forms"][0].errors
    assert study.consent_texts.count() == 1


def test_texts_stay_while_people_can_come_in(client, cast):
    study = create_study(slug="mine", title_en="Mine", user=cast.researcher)
    client.force_login(cast.researcher)
    data = {**texts_form(client, "mine"), "tagline_en": "Other words"}
    Study.objects.filter(pk=study.pk).update(status="open")
    answer = client.post(url("texts", "mine"), data)
    assert answer.status_code == 400
    assert "Pause the study" in answer.content.decode()
    assert study.consent_texts.count() == 1
    client.force_login(cast.colleague)
    assert client.get(url("texts", cast.study.slug)).status_code == 404


# figures and lists


def test_the_funnel_counts_people_and_leaves_test_participants_out(client, cast):
    finished = factories.SpeechPlayerFactory(participant=cast.participant)
    factories.RoundFactory(player=finished, state="finished", finished_at=factories.NOW)
    factories.ParticipantFactory(study=cast.study, is_test=True)
    cast.study.turned_away.create(day=factories.NOW.date(), reason="under_age", count=3)
    factories.VerdictFactory(rater=cast.participant.rater)
    client.force_login(cast.colleague)
    page = client.get(url("study", cast.study.slug))
    steps = {row["step"].key: row["step"].people for row in page.context["steps"]}
    assert steps == {
        "consented": 2, "language": 2, "profile": 0, "sound": 1, "verdict": 1, "round_1": 1, "round_2": 0,
        "round_3": 0, "completed": 0,
    }  # fmt: skip
    assert [(str(label), n) for label, n in page.context["turned_away"]] == [("under age", 3)]
    assert page.context["people"].test == 1


def test_participants_are_shown_by_code_alone(client, cast):
    person = factories.ParticipantFactory(
        study=cast.study,
        nickname="Secret Nick",
        recruiter={"PROLIFIC_PID": "panel-person"},
        recruiter_key="panel-person",
    )
    erased = factories.ParticipantFactory(
        study=cast.study, erased_at=factories.NOW, withdrawn_at=factories.NOW
    )
    client.force_login(cast.researcher)
    page = client.get(url("participants", cast.study.slug)).content.decode()
    assert person.code in page
    for hidden in ("Secret Nick", "panel-person", person.resume_code, person.receipt_code, erased.code):
        assert hidden not in page


def test_lists_go_on_without_counting(client, cast):
    codes = [factories.ParticipantFactory(study=cast.study).code for _ in range(60)]
    client.force_login(cast.researcher)
    first = client.get(url("participants", cast.study.slug))
    page = first.context["page"]
    assert len(page.rows) == 50
    second = client.get(url("participants", cast.study.slug) + page.following)
    seen = {row.code for row in page.rows} | {row.code for row in second.context["page"].rows}
    assert set(codes) <= seen
    for broken in ("?before=x", "?before=" + "9" * 40, "?state=%00", "?before=-1"):
        assert client.get(url("participants", cast.study.slug) + broken).status_code == 200


def test_outcomes_are_hidden_while_a_study_runs_and_a_look_is_noted(client, cast):
    factories.VerdictFactory(rater=cast.participant.rater, choice="machine")
    factories.VerdictFactory(rater=cast.annotator.rater, choice="human", exclusion="known")
    client.force_login(cast.researcher)
    for page in (url("verdicts", cast.study.slug), url("report", cast.study.slug, "success-rate")):
        answer = client.get(page)
        assert "Look now, and note it" in answer.content.decode()
    rows = client.get(url("verdicts", cast.study.slug)).context["rows"]
    assert {row[5][0] for row in rows} == {"·"}
    blind = client.get(url("report", cast.study.slug, "success-rate") + "?format=json")
    assert blind["Content-Type"].startswith("text/html")

    client.post(url("look", cast.study.slug), {"next": url("verdicts", cast.study.slug)})
    line = AuditLine.objects.get(action="study.looked_early")
    assert (line.actor, line.detail["n"]) == (cast.researcher, 1)
    rows = client.get(url("verdicts", cast.study.slug)).context["rows"]
    assert [str(row[5][0]) for row in rows] == ["human", "machine"]
    client.post(url("look", cast.study.slug))
    assert AuditLine.objects.filter(action="study.looked_early").count() == 1
    assert client.post(url("look", cast.study.slug), {"next": "https://elsewhere.example"}).url == url(
        "study", cast.study.slug
    )


def test_a_closed_study_shows_its_outcomes(client, cast):
    Study.objects.update(status="closed")
    factories.VerdictFactory(rater=cast.participant.rater)
    client.force_login(cast.colleague)
    page = client.get(url("report", cast.study.slug, "accuracy"))
    assert page.context["tables"]
    assert "How this is computed" in page.content.decode()
    answer = client.get(url("report", cast.study.slug, "accuracy") + "?format=json&set=first_round")
    assert json.loads(answer.content)["set"] == "first_round"
    assert 'filename="conversations-accuracy-first_round.json"' in answer["Content-Disposition"]
    assert client.get(url("report", cast.study.slug, "accuracy") + "?set=none&language=xx").status_code == 200
    assert client.get(url("report", cast.study.slug, "unknown")).status_code == 404
    assert AuditLine.objects.filter(action="study.looked_early").count() == 0
    read = AuditLine.objects.filter(action="report.read").order_by("pk")
    assert [(line.actor, line.target, line.detail["n"]) for line in read[:1]] == [
        (cast.colleague, "accuracy", 1)
    ]


def test_a_report_without_outcomes_is_open_while_the_study_runs(client, cast):
    factories.StudyItemFactory(study=cast.study, dialogue=factories.DialogueFactory())
    client.force_login(cast.colleague)
    page = client.get(url("report", cast.study.slug, "recordings"))
    assert page.context["result"].basis.dialogues == 1
    assert "Look now" not in page.content.decode()
    assert not AuditLine.objects.filter(action="report.read").exists()


def test_a_verdict_list_survives_odd_evidence(client, cast):
    factories.VerdictFactory(rater=cast.participant.rater, evidence={"heard": "x", "replays": None})
    Verdict.objects.update(evidence=[])
    client.force_login(cast.researcher)
    assert client.get(url("verdicts", cast.study.slug) + "?state=analysed").status_code == 200


def test_exports_are_zips_and_only_who_manages_gets_recruiter_ids(client, cast):
    for who, tier, expected in (
        (cast.colleague, "controlled", 200),
        (cast.colleague, "internal", 302),
        (cast.researcher, "internal", 200),
        (cast.colleague, "public", 200),
        (cast.researcher, "secret", 302),
    ):
        client.force_login(who)
        answer = client.post(url("export", cast.study.slug), {"tier": tier, "look": "yes"})
        assert answer.status_code == expected
        if expected == 200:
            names = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))).namelist()
            assert any(name.endswith("manifest.json") for name in names)


def test_the_desk_speaks_chinese(client, cast):
    client.force_login(cast.researcher)
    client.cookies["django_language"] = "zh-hans"
    page = client.get(url("study", cast.study.slug)).content.decode()
    assert 'lang="zh-Hans"' in page
    assert "听对话" in page


def test_accounts_of_the_admin_are_for_operators(client, cast, operator):
    address = reverse("admin:auth_user_changelist")
    client.force_login(cast.researcher)
    assert client.get(address).status_code == 403
    client.force_login(operator)
    assert client.get(address).status_code == 200
