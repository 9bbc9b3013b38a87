"""Pages people meet when something is wrong: each says what to do next, and the next step is there."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from tests import factories
from tests.speech.conftest import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return factories.speech_study("talk")


@pytest.mark.parametrize("page", ["leave/", "go/", "speech/trial/", "speech/board/"])
def test_a_visit_without_its_cookie_leads_back_into_the_study(client, study, page):
    answer = client.get(f"/s/talk/{page}")
    assert answer.status_code == 403
    text = answer.content.decode()
    assert 'href="/s/talk/"' in text
    assert 'href="/s/talk/resume/"' in text


def test_a_form_without_its_token_leads_back_into_the_study(study):
    strict = Client(enforce_csrf_checks=True)
    for page in ("leave/", "speech/nickname/", "consent/"):
        answer = strict.post(f"/s/talk/{page}", {"choice": "stop"})
        assert answer.status_code == 403
        assert 'href="/s/talk/resume/"' in answer.content.decode()
    elsewhere = strict.post("/admin/login/", {"username": "x"})
    assert elsewhere.status_code == 403
    assert "resume" not in elsewhere.content.decode()


def test_a_paused_study_can_be_tried_again(study):
    person = Person(factories.ParticipantFactory(study=study))
    study.status = "paused"
    study.save()
    answer = person.client.get("/s/talk/language/")
    assert answer.status_code == 503
    assert 'class="btn" href=""' in answer.content.decode()


def test_people_of_the_desk_go_back_to_the_desk(client, cast):
    client.force_login(cast.researcher)
    assert 'href="/admin/"' in client.get("/admin/nowhere/").content.decode()
    client.logout()
    assert 'class="btn" href="/"' in client.get("/nowhere/").content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("status", [400, 403, 404, 410, 413, 500])
def test_every_page_of_an_error_has_a_next_step_in_both_languages(language, status):
    with translation.override(language):
        text = render_to_string(f"errors/{status}.html")
    assert 'class="btn" href="' in text
    assert f'lang="{"zh-Hans" if language == "zh-hans" else "en"}"' in text


@pytest.mark.parametrize(
    "sent", [{"text": "x" * 2_600_000}, {f"field-{n}": "x" for n in range(10_100)}], ids=["long", "many"]
)
@pytest.mark.parametrize("checked", [True, False])
def test_a_form_that_is_too_large_says_what_to_do(cast, sent, checked):
    strict = Client(enforce_csrf_checks=checked)
    strict.force_login(cast.researcher)
    strict.get("/admin/imports/new/")  # its form gives the cookie
    body = "&".join(f"{name}={value}" for name, value in sent.items())
    page = f"/admin/study/{cast.study.slug}/stimuli/"
    answer = strict.post(page, body, content_type="application/x-www-form-urlencoded")
    text = answer.content.decode()
    assert answer.status_code == 413
    assert "Nothing was stored. Go back with your browser" in text
    assert 'href="/admin/"' in text


def test_an_upload_of_too_many_files_says_to_send_a_zip(client, cast):
    client.force_login(cast.researcher)
    files = [SimpleUploadedFile(f"{n}.wav", b"x") for n in range(101)]
    answer = client.post("/admin/imports/new/", {"upload": files})
    assert answer.status_code == 413
    text = answer.content.decode()
    assert "more than 100 files at once. Put them into one zip." in text
    assert "data-problems" in text  # where the upload's script looks for what to tell
