"""The API through HTTP: who gets in, one shape of errors, pages without counting, outcomes hidden in time."""

from __future__ import annotations

import hashlib
import io
import zipfile
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from redis.exceptions import RedisError

from dialogues.models import Kind, Verdict
from studies.models import AuditLine, ExportJob, Participant, Study, StudyMember
from tests import factories
from turingsite.api.models import ApiToken
from turingsite.api.services import make_token, revoke_token
from turingsite.errors import DomainError

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"


def token_of(user: Any, *studies: Study, **extra: Any) -> str:
    return make_token(owner=user, studies=studies, name="tests", **extra).secret


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


@pytest.fixture
def secret(cast) -> str:
    return token_of(cast.researcher, cast.study)


@pytest.fixture
def get(client, cast, secret):
    """GET below the study's address with a token of its researcher."""

    def fetch(path: str = "", **extra: Any) -> Any:
        return client.get(f"{ROOT}/studies/{cast.study.slug}{path}", headers=bearer(secret) | extra)

    return fetch


def is_error(answer: Any, status: int, code: str) -> dict[str, Any]:
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, code), body
    assert set(body) == {"code", "message", "fields"}
    assert body["message"]
    return body


# tokens


def test_a_token_opens_its_studies_and_no_other(client, cast, secret):
    other = factories.StudyMemberFactory(user=cast.researcher).study
    answer = client.get(f"{ROOT}/studies", headers=bearer(secret))
    assert [row["slug"] for row in answer.json()["results"]] == [cast.study.slug]
    assert client.get(f"{ROOT}/studies/{cast.study.slug}", headers=bearer(secret)).status_code == 200
    is_error(client.get(f"{ROOT}/studies/{other.slug}", headers=bearer(secret)), 404, "no_study")
    both = token_of(cast.researcher, cast.study, other)
    rows = client.get(f"{ROOT}/studies", headers=bearer(both)).json()["results"]
    assert {row["slug"] for row in rows} == {cast.study.slug, other.slug}


def test_a_token_never_gives_more_than_its_owner_may_see_now(get, cast):
    assert get().status_code == 200
    cast.study.members.filter(user=cast.researcher).delete()
    is_error(get(), 404, "no_study")
    assert StudyMember.objects.create(study=cast.study, user=cast.researcher, role="reviewer")
    is_error(get(), 404, "no_study")
    cast.researcher.is_active = False
    cast.researcher.save()
    is_error(get(), 401, "token_revoked")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer x",
        "Bearer tts_aaaaaaaa_" + "a" * 43,
        "Bearer tts_\xe4",
        "Token {secret}",
        "Bearer {other}",
    ],
)
def test_what_is_no_token_is_refused(client, cast, secret, header):
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    said = header.format(secret=secret, other=wrong)
    answer = client.get(f"{ROOT}/studies", headers={"authorization": said})
    is_error(answer, 401, "bad_token" if said.startswith("Bearer") else "not_authenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_token_in_the_address_is_no_token(client, cast, secret):
    for name in ("token", "access_token", "authorization"):
        is_error(client.get(f"{ROOT}/studies?{name}={secret}"), 401, "not_authenticated")


def test_revoked_and_expired_tokens_say_so(client, cast, secret):
    with time_machine.travel(timezone.now() + timedelta(days=91)):
        is_error(client.get(f"{ROOT}/studies", headers=bearer(secret)), 401, "token_expired")
    token = ApiToken.objects.get()
    assert revoke_token(token=token, user=cast.researcher)
    assert not revoke_token(token=token, user=cast.researcher)
    is_error(client.get(f"{ROOT}/studies", headers=bearer(secret)), 401, "token_revoked")
    lines = AuditLine.objects.filter(study=cast.study).values_list("action", "target")
    assert set(lines) == {("api.token_made", token.prefix), ("api.token_revoked", token.prefix)}


def test_nothing_that_is_kept_or_logged_holds_the_secret(client, cast, secret, caplog):
    client.get(f"{ROOT}/studies", headers=bearer(secret))
    client.get(f"{ROOT}/studies", headers=bearer(secret[:-1] + "x"))
    token = ApiToken.objects.get()
    kept = [str(value) for value in ApiToken.objects.values_list().get()]
    kept += [str(row) for row in AuditLine.objects.values_list()] + [caplog.text]
    assert not any(secret[13:] in text for text in kept)
    assert token.last_used == timezone.now().date()


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"name": " "}, "name"), ({"name": "x" * 81}, "name"), ({"days": 0}, "days"), ({"days": 400}, "days"),
     ({"studies": []}, "studies")],
)  # fmt: skip
def test_a_token_that_lacks_something_is_not_made(cast, changed, field):
    asked = {"owner": cast.researcher, "studies": [cast.study], "name": "x", **changed}
    with pytest.raises(DomainError) as refusal:
        make_token(**asked)
    assert set(refusal.value.fields) == {field}
    assert not ApiToken.objects.exists()


def test_nobody_gets_a_token_for_what_they_may_not_open(cast):
    for who in (cast.stranger, cast.reviewer, cast.annotator.user):
        with pytest.raises(DomainError):
            make_token(owner=who, studies=[cast.study], name="x")


@pytest.mark.both
def test_the_database_holds_what_a_token_must_be(cast):
    now = timezone.now()
    good = {
        "owner": cast.researcher, "name": "x", "prefix": "abcdefgh", "sha256": "0" * 64, "created_at": now,
        "expires_at": now + timedelta(days=1),
    }  # fmt: skip
    broken: list[dict[str, Any]] = [
        {"expires_at": now},
        {"revoked_at": now - timedelta(days=1)},
        {"sha256": "short"},
        {"name": ""},
    ]
    for wrong in broken:
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.create(**{**good, **wrong})
    ApiToken.objects.create(**good)
    for twice in ({"sha256": "1" * 64}, {"prefix": "other"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.create(**{**good, **twice})


def test_the_desk_shows_a_new_token_once(client, cast):
    page = reverse("admin:desk_tokens", args=[cast.study.slug])
    client.force_login(cast.colleague)
    made = client.post(page, {"name": "notebook", "days": "30", "studies": [cast.study.slug]})
    assert made.url == page, "loading the page that follows again sends no form"
    cookie = made.cookies["new_token"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (page, True, "Strict")
    answer = client.get(page)
    shown = answer.context["secret"]
    assert shown in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert answer.cookies["new_token"]["max-age"] == 0
    assert client.get(f"{ROOT}/studies", headers=bearer(shown)).status_code == 200
    again = client.get(page).content.decode()
    assert "notebook" in again
    assert shown not in again

    token = ApiToken.objects.get()
    client.force_login(cast.stranger)
    assert client.get(page).status_code == 404
    client.force_login(cast.researcher)
    assert "notebook" in client.get(page).content.decode()
    own = make_token(owner=cast.researcher, studies=[cast.study], name="mine").token
    client.force_login(cast.colleague)
    assert "mine" not in client.get(page).content.decode()
    address = reverse("admin:desk_token_revoke", args=[cast.study.slug])
    assert client.post(address, {"token": own.prefix}).status_code == 404
    assert client.post(address, {"token": token.prefix}).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_the_desk_says_what_a_token_lacks(client, cast):
    client.force_login(cast.researcher)
    page = reverse("admin:desk_tokens", args=[cast.study.slug])
    broken: list[dict[str, Any]] = [{"days": "9999"}, {"name": ""}, {"studies": ["other"]}, {"studies": []}]
    for wrong in broken:
        answer = client.post(page, {"name": "x", "days": "30", "studies": [cast.study.slug], **wrong})
        assert answer.status_code == 400
        assert answer.context["secret"] == ""


def test_operators_make_and_end_tokens_by_command(client, cast):
    out = StringIO()
    call_command("api_token", "researcher", study=[cast.study.slug], stdout=out, stderr=StringIO())
    secret = out.getvalue().strip()
    assert client.get(f"{ROOT}/studies/{cast.study.slug}", headers=bearer(secret)).status_code == 200
    call_command("api_token", "researcher", revoke=secret[:12], stdout=out)
    is_error(client.get(f"{ROOT}/studies", headers=bearer(secret)), 401, "token_revoked")
    for who, extra in (
        ("nobody", {"study": [cast.study.slug]}),
        ("stranger", {"study": [cast.study.slug]}),
        ("researcher", {"study": ["missing"]}),
        ("researcher", {}),
        ("researcher", {"revoke": "zzzzzzzz"}),
    ):
        with pytest.raises(CommandError):
            call_command("api_token", who, stdout=out, stderr=StringIO(), **extra)


# errors


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("get", "/api/", {}, 404, "not_found"),
        ("get", "/api/v2/studies", {}, 404, "not_found"),
        ("post", "/api/v1/nothing/here", {}, 404, "not_found"),
        ("get", "/api/v1/%0a", {}, 404, "not_found"),
        ("get", "/api/v1/studies/", {}, 404, "not_found"),
        ("delete", "/api/v1/studies", {}, 405, "method_not_allowed"),
        ("options", "/api/v1/studies", {}, 405, "method_not_allowed"),
        ("get", "/api/v1/studies", {"accept": "text/csv"}, 406, "not_acceptable"),
        ("get", "/api/v1/schema", {"accept": "image/png"}, 406, "not_acceptable"),
        ("get", "/api/v1/studies/missing", {}, 404, "no_study"),
        ("get", "/api/v1/studies/conversations/participants/NOBODY", {}, 404, "not_found"),
        ("get", "/api/v1/studies/conversations/dialogues/none", {}, 404, "not_found"),
        ("get", "/api/v1/studies/conversations/reports/none", {}, 404, "no_report"),
        ("get", "/api/v1/studies?limit=0", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies?limit=1e2", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies?limit=٣", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies?cursor=A", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies?cursor=1%0a", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies?offset=5", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies/conversations/participants?state=", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies/conversations/participants?state=done&state=x", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies/conversations/participants?state=done", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/participants?is_test=maybe", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/participants?joined_from=yesterday", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/participants?joined_from=2026-03-02", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/dialogues?system=%00", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/reports/recordings?set=best", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/reports/recordings?format=exe", {}, 400, "invalid"),
        ("get", "/api/v1/studies/conversations/verdicts", {}, 403, "blind"),
        ("get", "/api/v1/studies/conversations/verdicts?look=later", {}, 400, "bad_parameter"),
        ("get", "/api/v1/studies/conversations/me", {}, 403, "no_session"),
    ],
)  # fmt: skip
def test_every_error_has_the_one_shape(client, cast, secret, method, path, headers, status, code):
    answer = getattr(client, method)(path, headers=bearer(secret) | headers)
    body = is_error(answer, status, code)
    if code in ("bad_parameter", "invalid"):
        assert body["fields"]
    assert answer["Content-Type"] == "application/json"


def test_a_misspelt_filter_is_not_passed_over(get):
    body = is_error(get("/participants?judging_langage=en"), 400, "bad_parameter")
    assert "judging_language" in body["fields"]["judging_langage"]


def test_errors_speak_the_reader_s_language(client, cast, secret):
    english = client.get("/api/v1/nothing").json()["message"]
    answer = client.get("/api/v1/nothing", headers={"accept-language": "zh-CN,zh;q=0.9"})
    assert answer["Content-Language"] == "zh-hans"
    assert answer.json()["code"] == "not_found"
    assert english == "There is nothing at this address."


def test_a_fault_of_ours_is_told_in_the_same_shape(client, cast, secret, monkeypatch):
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr("turingsite.api.selectors.participants_of", broken)
    client.raise_request_exception = False
    answer = client.get(f"{ROOT}/studies/{cast.study.slug}/participants", headers=bearer(secret))
    is_error(answer, 500, "server_error")
    assert "detail" not in answer.content.decode()


def test_what_never_reaches_a_view_has_the_shape_too(client, cast, settings):
    settings.ALLOWED_HOSTS = ["example.org"]
    is_error(client.get(f"{ROOT}/studies", headers={"host": "elsewhere.example"}), 400, "bad_request")
    answer = client.get("/nothing/", headers={"host": "example.org"})
    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


def test_a_caller_who_asks_too_much_is_told_when_to_go_on(client, cast, secret, settings):
    settings.API_RATES = {**site.API_RATES, "caller": "3/minute"}
    other = token_of(cast.colleague, cast.study)
    with time_machine.travel(factories.NOW + timedelta(seconds=40), tick=False):
        ApiToken.objects.update(created_at=factories.NOW, expires_at=factories.NOW + timedelta(days=2))
        for _ in range(3):
            assert client.get(f"{ROOT}/studies", headers=bearer(secret)).status_code == 200
        answer = client.get(f"{ROOT}/studies", headers=bearer(secret))
        is_error(answer, 429, "throttled")
        assert answer["Retry-After"] == "20"
        assert client.get(f"{ROOT}/studies", headers=bearer(other)).status_code == 200
    with time_machine.travel(factories.NOW + timedelta(seconds=61), tick=False):
        assert client.get(f"{ROOT}/studies", headers=bearer(secret)).status_code == 200


def test_guessing_at_tokens_is_slowed_and_keeps_nobody_out(client, cast, secret, settings):
    settings.API_RATES = {**site.API_RATES, "wrong_token": "5/minute"}
    wrong = secret[:-2] + "xx"
    with time_machine.travel(timezone.now(), tick=False):
        answers = [client.get(f"{ROOT}/studies", headers=bearer(wrong)).status_code for _ in range(7)]
        assert answers == [401] * 5 + [429] * 2
        assert client.get(f"{ROOT}/studies", headers=bearer(secret)).status_code == 200


def test_a_lost_cache_lets_everybody_in(client, cast, secret, monkeypatch):
    def gone(*_args: object, **_more: object) -> None:
        raise RedisError

    monkeypatch.setattr("turingsite.api.throttling.cache.add", gone)
    assert client.get(f"{ROOT}/studies", headers=bearer(secret)).status_code == 200


# rows


def test_participants_are_pseudonymous(get, cast):
    person = factories.ParticipantFactory(
        study=cast.study, nickname="Secret Nick", recruiter={"PROLIFIC_PID": "panel"}, recruiter_key="panel"
    )
    gone = factories.ParticipantFactory(study=cast.study, erased_at=factories.NOW, withdrawn_at=factories.NOW)
    unsaid = factories.ParticipantFactory(study=cast.study, consented_at=None)
    text = get("/participants").content.decode()
    assert person.code in text
    for hidden in ("Secret Nick", "panel", person.resume_code, person.receipt_code, gone.code, unsaid.code):
        assert hidden not in text
    one = get(f"/participants/{person.code}").json()
    assert (one["code"], one["joined_at"]) == (person.code, "2026-03-02T12:00:00Z")
    assert get(f"/participants/{gone.code}").status_code == 404


def test_dialogues_come_with_kind_system_and_flags(get, cast):
    system = factories.SystemFactory(code="parrot")
    machine = factories.add_dialogue(cast.study, kind=Kind.HUMAN_MACHINE, system=system)
    human = factories.add_dialogue(cast.study, language="zh")
    factories.DialogueFactory()  # of no study
    machine.flags.create(rule="too_loud", value=1.0)
    rows = get("/dialogues").json()["results"]
    assert [row["code"] for row in rows] == [machine.code, human.code]
    assert (rows[0]["truth"], rows[0]["flags"], rows[0]["role"]) == ("machine", ["too_loud"], "main")
    assert [(p["label"], p["system"]) for p in rows[0]["parties"]] == [("A", None), ("B", "parrot")]
    for query, expected in (
        ("system=parrot", machine), ("kind=human_human", human), ("language=zh", human),
    ):  # fmt: skip
        assert [row["code"] for row in get(f"/dialogues?{query}").json()["results"]] == [expected.code]
    assert get("/dialogues?is_active=false").json()["results"] == []
    assert get(f"/dialogues/{machine.code}").json() == rows[0]


def test_verdicts_can_be_filtered(get, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    parrot = factories.SystemFactory(code="parrot")
    machine = factories.add_dialogue(cast.study, kind=Kind.PSEUDO_HUMAN, system=parrot)
    first = factories.VerdictFactory(
        rater=cast.participant.rater, dialogue=machine, choice="human",
        evidence={"heard": 1, "gate": "ended", "replays": "x"}, reason={"ticks": ["voice"], "text": "mine"},
    )  # fmt: skip
    factories.VerdictFactory(
        rater=cast.annotator.rater, exclusion="known", given_at=factories.NOW + timedelta(hours=2)
    )
    rows = get("/verdicts").json()["results"]
    assert [row["system"] for row in rows] == ["parrot", None]
    assert rows[0]["rater"] == cast.participant.code
    assert rows[0]["reason"] == {"ticks": ["voice"]}
    assert (rows[0]["evidence"]["heard"], rows[0]["evidence"]["replays"]) == (1.0, None)
    for query, n in (
        ("system=parrot", 1), ("exclusion=none", 1), ("exclusion=known", 1), ("kind=pseudo_human", 1),
        ("language=en", 2), (f"dialogue={first.dialogue.code}", 1), (f"participant={cast.annotator.code}", 1),
        ("given_from=2026-03-02T13:00:00Z", 1), ("given_before=2026-03-02T21:00:00%2B08:00", 1),
        ("given_from=0001-01-01T00:00:00%2B14:00", 2), ("given_before=9999-12-31T23:59:59-12:00", 2),
        ("round_finished=true", 0),
    ):  # fmt: skip
        assert len(get(f"/verdicts?{query}").json()["results"]) == n, query


def test_scores_can_be_filtered_and_walks_are_noted_apart_from_verdicts(client, get, cast, secret):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    parrot = factories.SystemFactory(code="parrot")
    machine = factories.add_dialogue(cast.study, kind=Kind.PSEUDO_HUMAN, system=parrot)
    item = factories.BatchItemFactory(batch__annotator__participant=cast.participant, dialogue=machine)
    factories.annotate(item, {"accent": 2, "stress": None})
    factories.ScoreFactory(
        rater=cast.annotator.rater,
        dialogue=factories.add_dialogue(cast.study, language="zh"),
        layer="truth-shown",
        exclusion="known",
        given_at=factories.NOW + timedelta(hours=2),
    )
    rows = get("/scores").json()["results"]
    assert len(rows) == 19
    by_key = {row["dimension"]: row for row in rows[:18]}
    assert (by_key["accent"]["score"], by_key["accent"]["score_on_evidence"]) == (2, 2)
    assert (by_key["stress"]["score"], by_key["stress"]["score_on_evidence"]) == (3, None)
    assert {row["purpose"] for row in rows} == {"work", ""}
    assert rows[0]["rater"] == cast.participant.code
    assert {row["system"] for row in rows[:18]} == {"parrot"}
    for query, n in (
        ("layer=raw", 18), ("layer=truth-shown", 1), ("dimension=accent", 1), ("system=parrot", 18),
        ("exclusion=none", 18), ("exclusion=known", 1), ("exclusion=unfinished", 0), ("purpose=work", 18),
        ("evidence=false", 1), ("kind=pseudo_human", 18), ("language=zh", 1),
        (f"participant={cast.annotator.code}", 1), (f"dialogue={machine.code}", 18),
        ("given_from=2026-03-02T13:00:00Z", 1), ("given_before=2026-03-02T21:00:00%2B08:00", 18),
        ("taxonomy=none", 0),
    ):  # fmt: skip
        assert len(get(f"/scores?{query}").json()["results"]) == n, query
    AuditLine.objects.filter(action="report.read").delete()
    page = get("/scores?limit=10").json()
    while page["next"]:
        page = client.get(page["next"], headers=bearer(secret)).json()
    get("/verdicts?cursor=0")
    noted = AuditLine.objects.filter(action="report.read").order_by("pk")
    assert [(line.target, line.detail["n"]) for line in noted] == [("scores", 19), ("verdicts", 0)]


def test_scores_are_hidden_while_the_study_runs(get, cast):
    factories.ScoreFactory(rater=cast.participant.rater)
    is_error(get("/scores"), 403, "blind")
    assert len(get("/scores?look=early").json()["results"]) == 1
    assert AuditLine.objects.filter(action="study.looked_early").exists()


def test_pages_lose_and_double_no_row_while_rows_are_added(client, get, cast, secret):
    before = [factories.ParticipantFactory(study=cast.study).code for _ in range(25)]
    seen: list[str] = []
    page = get("/participants?limit=4").json()
    while True:
        seen += [row["code"] for row in page["results"]]
        if page["next"] is None:
            break
        if len(seen) < 20:
            factories.ParticipantFactory(study=cast.study)
            Participant.objects.filter(code=seen[0]).update(state="active")
        page = client.get(page["next"], headers=bearer(secret)).json()
    everybody = set(Participant.objects.filter(study=cast.study).values_list("code", flat=True))
    assert len(seen) == len(set(seen))
    assert set(before) <= everybody == set(seen)


def test_nothing_is_counted_and_a_page_takes_the_same_queries_however_long_it_is(get, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    for number in (3, 12):
        for _ in range(number):
            dialogue = factories.add_dialogue(cast.study, kind=Kind.HUMAN_MACHINE)
            person = factories.ParticipantFactory(study=cast.study)
            factories.VerdictFactory(rater=person.rater, dialogue=dialogue)
            factories.ScoreFactory(rater=person.rater, dialogue=dialogue)
        made = {}
        for table in ("participants", "dialogues", "verdicts", "scores"):
            get(f"/{table}?limit=1")  # where a reading of verdicts is noted, with their number
            with CaptureQueriesContext(connection) as caught:
                assert len(get(f"/{table}?limit=100&cursor=0").json()["results"]) >= number
            made[table] = [query["sql"] for query in caught.captured_queries]
            assert not any("COUNT(" in sql.upper() or "OFFSET" in sql.upper() for sql in made[table])
        sizes = {table: len(queries) for table, queries in made.items()}
        assert max(sizes.values()) <= 9, sizes


# outcomes before their time


def test_outcomes_are_hidden_and_a_look_is_noted_with_n(get, cast):
    factories.VerdictFactory(rater=cast.participant.rater, choice="machine")
    factories.VerdictFactory(rater=cast.annotator.rater, exclusion="known")
    for path in (
        "/verdicts",
        "/verdicts?limit=1&cursor=0",
        "/reports/success-rate",
        "/reports/accuracy?format=csv",
    ):
        answer = get(path)
        is_error(answer, 403, "blind")
        assert "machine" not in answer.content.decode()
    assert not AuditLine.objects.filter(action="study.looked_early").exists()
    assert get("/verdicts?look=early").json()["results"][0]["choice"] == "machine"
    assert get("/verdicts?look=early&limit=1").json()["next"]
    assert get("/reports/success-rate?look=early").json()["n"] == 1
    line = AuditLine.objects.get(action="study.looked_early")
    assert (line.actor, line.detail["n"]) == (cast.researcher, 1)
    read = AuditLine.objects.exclude(target="verdicts").get(action="report.read")
    assert (read.target, read.detail["n"]) == ("success-rate", 1)


def test_a_walk_through_verdicts_is_noted_once_with_their_number(client, get, cast, secret):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    for _ in range(5):
        person = factories.ParticipantFactory(study=cast.study)
        factories.VerdictFactory(rater=person.rater, dialogue=factories.add_dialogue(cast.study))
    noted = AuditLine.objects.filter(action="report.read", target="verdicts")
    get("/participants")
    is_error(get("/verdicts?limit=0"), 400, "bad_parameter")
    assert not noted.exists()
    page = get("/verdicts?limit=2").json()
    while page["next"]:
        page = client.get(page["next"], headers=bearer(secret)).json()
    line = noted.get()
    assert (line.study, line.actor, line.detail["n"]) == (cast.study, cast.researcher, 5)
    get("/verdicts?limit=2&exclusion=check")
    assert [line.detail["n"] for line in noted.order_by("pk")] == [5, 0]
    noted.update(at=timezone.now() - timedelta(days=2))
    get("/verdicts?cursor=0")  # begun with a mark of one's own, or gone on with days later
    assert noted.count() == 3


def test_a_study_lists_the_reports_it_has_and_gives_every_one(get, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed", activities=["group"])
    listed = {row["name"] for row in get("/reports").json()}
    assert "recordings" in listed
    assert not listed & {"accuracy", "success-rate", "agreement", "group-votes"}
    assert get("/reports/accuracy").json()["n"] == 0


def test_reports_equal_those_of_the_command_in_every_format(get, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    factories.VerdictFactory(rater=cast.participant.rater, dialogue=factories.add_dialogue(cast.study))
    listed = get("/reports").json()
    assert {"success-rate", "recordings"} <= {row["name"] for row in listed}
    assert {row["name"]: row["outcomes"] for row in listed}["recordings"] is False
    for format, kind in (("json", "application/json"), ("csv", "text/csv"), ("md", "text/markdown")):
        out = StringIO()
        call_command("report", "accuracy", study=cast.study.slug, format=format, stdout=out)
        answer = get(f"/reports/accuracy?format={format}")
        assert answer["Content-Type"].startswith(kind)
        assert answer.content.decode().strip() == out.getvalue().strip()
    assert get("/reports/accuracy?set=first_round&language=zh").json()["set"] == "first_round"


def test_figures_of_reports_come_as_pictures(get, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    is_error(get("/reports/success-rate?format=svg"), 404, "no_figure")
    for _ in range(6):
        dialogue = factories.add_dialogue(cast.study)
        for _ in range(3):
            person = factories.ParticipantFactory(study=cast.study)
            factories.VerdictFactory(rater=person.rater, dialogue=dialogue)
    answer = get("/reports/success-rate?format=svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer.content.startswith(b"<svg")
    assert get("/reports/success-rate?format=png").content.startswith(b"\x89PNG")
    is_error(get("/reports/success-rate?format=svg&figure=none"), 404, "no_figure")


# the desk's login, participants


def test_the_desk_s_login_reads_what_the_desk_shows(client, cast):
    address = f"{ROOT}/studies/{cast.study.slug}/participants"
    for who, status in (
        (cast.researcher, 200),
        (cast.colleague, 200),
        (cast.reviewer, 404),
        (cast.stranger, 404),
    ):
        client.force_login(who)
        assert client.get(address).status_code == status
    client.force_login(cast.annotator.user)
    is_error(client.get(address), 401, "not_authenticated")


def test_a_participant_learns_where_they_stand_and_nothing_else(cast):
    from django.http import HttpResponse

    from studies import access

    machine = factories.add_dialogue(cast.study, kind=Kind.HUMAN_MACHINE)
    factories.VerdictFactory(rater=cast.participant.rater, dialogue=machine)
    held = HttpResponse()
    access.remember(held, cast.participant)
    person = Client()
    person.cookies = held.cookies
    answer = person.get(f"{ROOT}/studies/{cast.study.slug}/me")
    assert answer.status_code == 200
    assert set(answer.json()) == {"state", "end_state", "step", "next"}
    for path in ("", "/participants", "/dialogues", "/verdicts", "/verdicts?look=early", "/reports",
                 f"/dialogues/{machine.code}", "/reports/success-rate"):  # fmt: skip
        is_error(person.get(f"{ROOT}/studies/{cast.study.slug}{path}"), 401, "not_authenticated")
    is_error(person.get(f"{ROOT}/studies/other/me"), 404, "no_study")
    Participant.objects.filter(pk=cast.participant.pk).update(withdrawn_at=factories.NOW)
    is_error(person.get(f"{ROOT}/studies/{cast.study.slug}/me"), 410, "gone")


# schema and docs


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_docs_are_a_page_of_ours(client, db, language):
    answer = client.get(f"{ROOT}/docs", headers={"accept-language": language})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "studies/{slug}/verdicts" in page
    assert "curl -H" in page
    assert page.count("<script") == 1  # of the appearance, on every page
    assert "style=" not in page


def test_the_schema_comes_as_json_and_as_yaml(client, db):
    found = client.get(f"{ROOT}/schema").json()
    assert found["openapi"].startswith("3.")
    assert client.get(f"{ROOT}/schema", headers={"accept": "application/vnd.oai.openapi"}).content.startswith(
        b"openapi: 3"
    )
    assert Verdict._meta.pk is not None
    assert "id" not in found["components"]["schemas"]["Verdict"]["properties"]


# exports


@pytest.fixture
def post(client, cast, settings, tmp_path):
    """POST to the exports of the study with a token that may make them."""
    settings.EXPORT_ROOT = tmp_path
    secret = token_of(cast.researcher, cast.study, may_export=True)

    def send(query: str = "", *, secret: str = secret, **body: Any) -> Any:
        address = f"{ROOT}/studies/{cast.study.slug}/exports{query}"
        return client.post(address, body, content_type="application/json", headers=bearer(secret))

    send.secret = secret  # type: ignore[attr-defined]
    return send


def test_an_export_is_made_listed_and_fetched(client, get, post, cast):
    factories.VerdictFactory(rater=cast.participant.rater, dialogue=factories.add_dialogue(cast.study))
    is_error(post(), 403, "blind")
    is_error(post(look="yes"), 400, "invalid")
    assert post(look="early").status_code == 201
    ExportJob.objects.all().delete()
    made = post("?look=early", tier="public", formats=["csv", "jsonl"])
    body = made.json()
    assert (made.status_code, body["state"], body["formats"]) == (201, "done", ["csv", "jsonl"])
    assert client.get(made["Location"], headers=bearer(post.secret)).json() == body
    assert [row["code"] for row in get("/exports").json()["results"]] == [body["code"]]
    file = client.get(body["file"], headers=bearer(post.secret))
    content = b"".join(file.streaming_content)
    assert hashlib.sha256(content).hexdigest() == body["sha256"]
    assert "tables/verdicts.csv" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert file["Content-Disposition"].endswith('-public.zip"')
    actions = AuditLine.objects.filter(study=cast.study).values_list("action", flat=True)
    assert {"export.requested", "study.exported", "export.fetched"} <= set(actions)
    assert "study.looked_early" not in actions


def test_a_token_that_was_not_made_for_exports_makes_and_fetches_none(get, post, cast, secret):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    made = post().json()
    is_error(post(secret=secret), 403, "no_export")
    is_error(get(f"/exports/{made['code']}/file"), 403, "no_export")
    assert get(f"/exports/{made['code']}").status_code == 200


def test_the_team_s_own_tier_is_not_for_colleagues(client, post, cast):
    Study.objects.filter(pk=cast.study.pk).update(status="closed")
    made = post(tier="internal").json()
    assert made["state"] == "done"
    colleague = token_of(cast.colleague, cast.study, may_export=True)
    is_error(post(secret=colleague, tier="internal"), 403, "no_tier")
    for address in (made["file"], f"{ROOT}/studies/{cast.study.slug}/exports/{made['code']}"):
        is_error(client.get(address, headers=bearer(colleague)), 404, "no_export")
    listed = client.get(f"{ROOT}/studies/{cast.study.slug}/exports", headers=bearer(colleague)).json()
    assert listed["results"] == []


def test_a_large_export_is_left_to_a_worker(client, get, post, cast, settings):
    settings.EXPORT_AT_ONCE = 0
    made = post("?look=early")
    body = made.json()
    assert (made.status_code, body["state"], body["file"]) == (201, "queued", None)
    address = f"{ROOT}/studies/{cast.study.slug}/exports/{body['code']}/file"
    is_error(client.get(address, headers=bearer(post.secret)), 409, "export_not_done")
    is_error(post("?look=early"), 409, "export_under_way")


@pytest.mark.parametrize(
    ("body", "field"),
    [({"tier": "secret"}, "tier"), ({"formats": []}, "formats"), ({"formats": ["exe"]}, "formats"),
     ({"language": "fr"}, "language"), ({"bom": "perhaps"}, "bom"), ({"teir": "public"}, "teir")],
)  # fmt: skip
def test_an_export_that_cannot_be_is_refused_by_field(post, body, field):
    assert field in is_error(post("?look=early", **body), 400, "invalid")["fields"]


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [(b"{", "application/json", 400), (b"[]", "application/json", 400), (b"\xff", "application/json", 400),
     (b"[" * 60_000, "application/json", 400), (b'{"bom": NaN}', "application/json", 400),
     (b" " * 70_000, "application/json", 413), (b"tier=public", "application/x-www-form-urlencoded", 415),
     (b"{}", "application/json; charset=zlib", 403)],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_refused(client, cast, post, data, kind, status):
    address = f"{ROOT}/studies/{cast.study.slug}/exports"
    answer = client.generic("POST", address, data, content_type=kind, headers=bearer(post.secret))
    assert answer.status_code == status, answer.content
    assert set(answer.json()) == {"code", "message", "fields"}


def test_exports_by_the_desk_s_login_want_its_csrf_token(cast):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.researcher)
    address = f"{ROOT}/studies/{cast.study.slug}/exports?look=early"
    is_error(browser.post(address, {}, content_type="application/json"), 403, "permission_denied")
