"""Annotators with an account: their studies at one place, the way on, and what a shared computer forgets."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, WorkSession
from studies.models import Participant, Study
from tests import factories
from tests.annotation.walking import words
from tests.factories import NOW

pytestmark = [pytest.mark.both, pytest.mark.django_db]

HOME, LOGIN, LOGOUT = "/annotate/", "/annotate/login/", "/annotate/logout/"
PASSWORD = "a password for tests"


@pytest.fixture
def user(db: None) -> Any:
    return factories.UserFactory(username="heron")


def working(user: Any, slug: str, **fields: Any) -> Participant:
    """A participation of ``user`` in a study of its own, past calibration."""
    study = factories.StudyFactory(
        slug=slug, title_en=f"Study {slug}", title_zh="", activities=["annotation"], currency="£"
    )
    factories.AnnotationSettingsFactory(study=study, **fields)
    person: Participant = factories.ParticipantFactory(study=study, user=user)
    factories.AnnotatorFactory(participant=person)
    return person


def logged_in(user: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client


def page(client: Any) -> str:
    answer = client.get(HOME)
    assert answer.status_code == 200
    return words(answer.content.decode())


def test_logging_in_with_name_and_password_opens_the_studies(user: Any) -> None:
    working(user, "one")
    client: Any = Client()
    answer = client.get(HOME)
    assert answer.url == f"{LOGIN}?next={HOME}"
    assert client.get(answer.url).status_code == 200
    answer = client.post(LOGIN, {"username": "heron", "password": PASSWORD, "next": HOME})
    assert answer.url == HOME
    assert "Study one" in page(client)
    assert client.get(LOGIN).url == HOME  # nobody logs in twice


def test_a_wrong_password_says_so_and_not_what_was_wrong(user: Any) -> None:
    said = set()
    for name in ("heron", "nobody"):
        answer = Client().post(LOGIN, {"username": name, "password": "wrong password"})
        assert answer.status_code == 200
        text = words(answer.content.decode())
        assert "Not logged in." in text
        said.add(text)
    assert len(said) == 1


def test_an_account_that_was_switched_off_does_not_get_in(user: Any) -> None:
    user.is_active = False
    user.save()
    assert "Not logged in." in words(
        Client().post(LOGIN, {"username": "heron", "password": PASSWORD}).content.decode()
    )


def test_many_wrong_passwords_lock_the_name_for_a_while(user: Any, settings: Any) -> None:
    settings.AXES_ENABLED = True
    client: Any = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = client.post(LOGIN, {"username": "heron", "password": "wrong password"})
    assert answer.status_code == 429
    assert "Too many wrong passwords" in answer.content.decode()
    assert client.post(LOGIN, {"username": "heron", "password": PASSWORD}).status_code == 429
    other = factories.UserFactory(username="sparrow")
    assert client.post(LOGIN, {"username": other.username, "password": PASSWORD}).url == HOME


def test_login_leads_to_no_other_site(user: Any) -> None:
    data = {"username": "heron", "password": PASSWORD, "next": "https://evil.test/"}
    client: Any = Client()
    assert client.post(LOGIN, data).url == HOME


def test_the_page_has_progress_minutes_and_pay(user: Any) -> None:
    person = working(user, "paid", rate_per_hour=Decimal("20.00"), max_batches=4)
    annotator = person.annotator
    for kind, state in (("work", "finished"), ("calibration", "finished"), ("work", "open")):
        batch = factories.BatchFactory(
            annotator=annotator, kind=kind, state=state, finished_at=NOW if state == "finished" else None
        )
        if state == "finished":
            factories.annotate(factories.BatchItemFactory(batch=batch, purpose=kind, active_seconds=720))
    for seconds in (1800.0, 900.0):
        WorkSession.objects.create(
            annotator=annotator, started_at=NOW, last_at=NOW, active_seconds=seconds, ended_at=NOW
        )
    text = page(logged_in(user))
    assert "1 of 4 done" in text
    assert "45 minutes at work 12 minutes of it were calibration" in text
    assert "£15.00" in text  # three quarters of an hour at 20


def test_an_unpaid_study_has_no_pay(user: Any) -> None:
    working(user, "free")
    assert "Pay so far" not in page(logged_in(user))


@pytest.mark.parametrize(
    ("person", "annotator", "study", "said", "goes_on"),
    [
        ({}, {"state": "reading"}, {}, "First the guidelines.", True),
        ({}, {"state": "calibrating"}, {}, "In calibration.", True),
        ({}, {}, {}, "At work.", True),
        ({}, {"paused_at": NOW, "paused_reason": "A word first"}, {}, "A word first", True),
        ({"end_state": "failed_check"}, {"state": "failed"}, {}, "Calibration was not passed.", False),
        ({"end_state": "done"}, {}, {}, "Finished", False),
        ({"withdrawn_at": NOW, "state": "withdrawn"}, {}, {}, "You have left this study.", False),
        ({}, {}, {"status": "closed"}, "The study is closed.", False),
        ({}, {}, {"status": "paused"}, "The study is paused.", True),
    ],
)
def test_where_somebody_is_stands_in_words(
    user: Any,
    person: dict[str, Any],
    annotator: dict[str, Any],
    study: dict[str, Any],
    said: str,
    goes_on: bool,
) -> None:
    one = working(user, "somewhere")
    Participant.objects.filter(pk=one.pk).update(**person)
    Annotator.objects.filter(participant=one).update(**annotator)
    Study.objects.filter(pk=one.study_id).update(**study)
    text = page(logged_in(user))
    assert said in text
    assert ("Go on Study" in text) is goes_on
    assert ("What it was about" in text) is ("end_state" in person)


def test_only_studies_in_which_the_account_annotates_stand_there(user: Any) -> None:
    working(factories.UserFactory(), "another")
    played = factories.ParticipantFactory(study=factories.speech_study("played", systems=1), user=user)
    erased = working(user, "erased")
    Participant.objects.filter(pk=erased.pk).update(erased_at=NOW, withdrawn_at=NOW)
    text = page(logged_in(user))
    assert "No study stands here yet." in text
    factories.AnnotationSettingsFactory(study=played.study)
    assert "No study stands here yet." in page(logged_in(user))  # there they play
    Participant.objects.filter(pk=played.pk).update(activities=["annotation"])
    assert "No study stands here yet." not in page(logged_in(user))


def test_going_on_gives_the_browser_the_participation(user: Any) -> None:
    person = working(user, "go")
    client = logged_in(user)
    assert client.get("/s/go/annotation/guidelines/").status_code == 403
    assert client.get("/annotate/go/go/").status_code == 405
    answer = client.post("/annotate/go/go/")
    assert answer.url == reverse("studies:go", args=["go"])
    assert client.cookies["p-go"]["httponly"]
    assert client.get(answer.url).url == reverse("annotation:play", args=["go"])
    assert client.get("/s/go/annotation/guidelines/").status_code == 200
    assert person.annotator.pk == Annotator.objects.get().pk


def test_nobody_goes_on_as_somebody_else(user: Any) -> None:
    working(factories.UserFactory(), "theirs")
    client = logged_in(user)
    for slug in ("theirs", "no-such-study"):
        assert client.post(f"/annotate/go/{slug}/").status_code == 404
    assert "p-theirs" not in client.cookies
    anonymous: Any = Client()
    assert anonymous.post("/annotate/go/theirs/").url.startswith(LOGIN)


def test_logging_out_lets_the_browser_forget_the_studies_too(user: Any) -> None:
    working(user, "shared")
    client = logged_in(user)
    client.post("/annotate/go/shared/")
    assert client.get(LOGOUT).status_code == 405
    assert client.post(LOGOUT).url == LOGIN
    assert client.cookies["p-shared"].value == ""
    assert client.get("/s/shared/go/").status_code == 403
    assert client.get(HOME).url.startswith(LOGIN)


def test_without_an_account_cookie_and_code_are_enough(user: Any) -> None:
    person = working(None, "code")
    client: Any = Client()
    answer = client.post("/s/code/resume/", {"code": person.resume_code})
    assert answer.url == "/s/code/go/"
    assert client.get("/s/code/annotation/guidelines/").status_code == 200


def test_an_annotators_account_opens_nothing_on_the_desk(user: Any) -> None:
    working(user, "mine")
    answer = logged_in(user).get("/admin/")
    assert answer.status_code == 302
    assert answer.url.startswith("/admin/login/")


def test_the_newest_participation_comes_first(user: Any) -> None:
    for n, slug in enumerate(("older", "newer")):
        person = working(user, slug)
        Participant.objects.filter(pk=person.pk).update(joined_at=NOW + timedelta(days=n))
    text = page(logged_in(user))
    assert text.index("Study newer") < text.index("Study older")
