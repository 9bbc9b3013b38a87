"""Annotators' pages around the work, in a browser: accessible, narrow enough, and read to the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Batch
from annotation.services.annotators import annotator_of
from annotation.services.calibration import calibration_batch
from annotation.services.guidelines import confirm_guidelines, stamp
from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Kind
from studies.models import Participant
from tests import factories
from tests.annotation.test_calibration import finish
from tests.browser.playing import CLIP, DESK, PHONE, Game, rows, until
from tests.browser.test_pages import check_page
from tests.factories import NOW

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]
TABLET = {"width": 820, "height": 1180}
PASSWORD = "a password for tests"
LOOKS = [
    ("en-GB", "light", PHONE),
    ("zh-CN", "dark", PHONE),
    ("zh-CN", "light", TABLET),
    ("en-GB", "dark", DESK),
]
SCORES = {"rhythm": 4, "stress": 5, "accent": None, "intonation": 1}


@dataclass
class People:
    """A study that calibrates: somebody who is new, one after a first batch, one who did not pass."""

    new: Game
    begun: Game
    failed: Game
    user: Any


@pytest.fixture
def people(transactional_db: None, site: str, clip: bytes) -> People:
    study = factories.StudyFactory(slug="score", languages=["en"], activities=["annotation"])
    options = factories.AnnotationSettingsFactory(
        study=study,
        calibration=True,
        calibration_dialogues=4,
        batch_size=2,
        calibration_tries=1,
        rate_per_hour=20,
    )
    known: dict[str, int | None] = {"rhythm": 5, "stress": 1, "accent": 4, "intonation": 1}
    for n in range(8):
        reference = factories.known_dialogue(
            study, known, kind=(Kind.HUMAN_HUMAN, Kind.PSEUDO_HUMAN)[n % 2], play_duration=CLIP
        )
        place = Path(settings.MEDIA_ROOT) / reference.dialogue.play_path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(clip)

    def person(batches: int, **fields: Any) -> Participant:
        made: Participant = factories.ParticipantFactory(study=study, **fields)
        annotator = annotator_of(made, NOW)
        if batches:
            words = stamp(default_taxonomy(), "en", NOW)
            confirm_guidelines(annotator=annotator, stamp=words, now=NOW)
        for _ in range(batches):
            batch = calibration_batch(annotator, options, NOW)
            assert batch is not None
            finish(batch, SCORES)
        Batch.objects.filter(annotator=annotator).update(seen_at=NOW)
        return made

    user = factories.UserFactory(username="heron")
    new, begun, failed = person(0), person(1, user=user), person(2)
    return People(Game(site, study, new), Game(site, study, begun), Game(site, study, failed), user)


def opened(context: Contexts, game: Game | None, locale: str, scheme: str, size: dict[str, int]) -> Page:
    phone = size is PHONE
    return context(
        game, viewport=size, has_touch=phone, is_mobile=phone, locale=locale, color_scheme=scheme
    ).new_page()


@pytest.mark.parametrize(("locale", "scheme", "size"), LOOKS)
def test_pages_before_the_work(
    people: People, context: Contexts, locale: str, scheme: str, size: dict[str, int]
) -> None:
    page = opened(context, people.new, locale, scheme, size)
    page.goto(people.new.url("annotation/guidelines/"))
    button = page.locator("#confirm button")
    expect(button).to_have_attribute("aria-disabled", "true")
    check_page(page)
    page.locator("details").first.locator("summary").click()
    check_page(page)
    page.keyboard.press("End")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    check_page(page)
    button.click()
    page.goto(people.new.url("annotation/calibration/"))
    check_page(page)
    page.goto(people.new.url("annotation/guidelines/"))
    expect(page.locator("#confirm")).to_have_count(0)


@pytest.mark.parametrize(("locale", "scheme", "size"), LOOKS)
def test_feedback(people: People, context: Contexts, locale: str, scheme: str, size: dict[str, int]) -> None:
    page = opened(context, people.begun, locale, scheme, size)
    page.goto(people.begun.url("annotation/batch/1/"))
    expect(page.locator(".dims details")).to_have_count(6)
    check_page(page)
    page.locator(".dims summary").first.click()
    check_page(page)
    page.goto(people.begun.url("annotation/calibration/"))
    check_page(page)
    ended = opened(context, people.failed, locale, scheme, size)
    for path in ("batch/2/", "calibration/"):
        ended.goto(people.failed.url(f"annotation/{path}"))
        check_page(ended)


@pytest.mark.parametrize(("locale", "scheme", "size"), LOOKS)
def test_login_and_the_page_of_ones_studies(
    people: People, context: Contexts, locale: str, scheme: str, size: dict[str, int]
) -> None:
    page = opened(context, None, locale, scheme, size)
    page.goto(f"{people.new.site}/annotate/")
    check_page(page)
    page.locator("#id_username").fill("heron")
    page.locator("#id_password").fill("wrong")
    page.locator("main button").click()
    expect(page.locator("[role=alert]")).to_be_visible()
    check_page(page)
    page.locator("#id_username").fill("heron")
    page.locator("#id_password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_count(1)
    check_page(page)
    page.locator("article button").click()
    page.goto(people.new.url("annotation/batch/1/"))
    expect(page.locator(".dims details")).to_have_count(6)


def test_an_invitation_for_somebody_who_plays(people: People, context: Contexts) -> None:
    def prepare() -> str:
        study = people.new.study
        type(study).objects.filter(pk=study.pk).update(activities=["speech"])
        return str(study.annotation_invitations.create(places=0).code)

    page = context(people.new).new_page()
    code = rows(prepare)
    page.goto(people.new.url(f"annotation/join/{code}/"))
    check_page(page)
    rows(lambda: people.new.study.annotation_invitations.update(closed_at=NOW))
    page.goto(people.new.url(f"annotation/join/{code}/"))
    check_page(page)


def test_the_guidelines_are_read_and_confirmed_by_keyboard_alone(people: People, context: Contexts) -> None:
    page = context(people.new, viewport=DESK).new_page()
    page.goto(people.new.url("annotation/guidelines/"))
    button = page.locator("#confirm button")
    button.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("/guidelines/")  # not before the end was seen
    page.keyboard.press("End")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith("/guidelines/"))


def test_the_sound_plays_on_the_feedback_page(people: People, context: Contexts) -> None:
    page = context(people.begun, viewport=DESK).new_page()
    page.goto(people.begun.url("annotation/batch/1/"))
    page.evaluate("document.querySelector('audio').play()")
    until(page, "document.querySelector('audio').currentTime > 0.2")


def test_without_scripts_the_guidelines_are_confirmed_at_their_end(people: People, context: Contexts) -> None:
    page = context(people.new, viewport=DESK, java_script_enabled=False).new_page()
    page.goto(people.new.url("annotation/guidelines/"))
    button = page.locator("#confirm button")
    assert button.get_attribute("aria-disabled") is None
    box = button.bounding_box()
    assert box is not None
    assert box["y"] > DESK["height"]  # below the text, not pinned to the screen
    button.click()
    page.wait_for_url(lambda url: not url.endswith("/guidelines/"))
