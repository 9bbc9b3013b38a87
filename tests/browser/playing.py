"""What the browser tests do again and again: a small study, and the moves of a player."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db import connections
from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import BrowserContext, Error, Page, ViewportSize, expect

from dialogues.models import Kind
from studies import access
from tests import factories

Result = TypeVar("Result")
CLIP = 1.5  # seconds
PHONE: ViewportSize = {"width": 360, "height": 640}
DESK: ViewportSize = {"width": 1280, "height": 800}
# Run on a page, it waits until nothing moves. A sheet that is still coming up, or a button on its way to
# another colour, has the contrast of a moment; what lies under the pointer is known after the next frame.
STILL = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    .then(() => Promise.allSettled(document.getAnimations()
        .filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished)))
    .then(() => null)"""


@dataclass
class Game:
    """An open study ``slug`` with twelve dialogues, and a participant past everything but the game itself."""

    site: str
    study: Any
    participant: Any
    paths: list[str] = field(default_factory=list)

    def url(self, path: str = "") -> str:
        return f"{self.site}/s/{self.study.slug}/{path}"

    @property
    def cookie(self) -> SetCookieParam:
        value = signing.dumps(self.participant.resume_code, salt=f"{access.SALT}.{self.study.slug}")
        return {"name": access.cookie_name(self.study.slug), "value": value, "url": self.site}


def seed_game(site: str, clip: bytes, **speech: Any) -> Game:
    study = factories.StudyFactory(slug="talk", languages=["en"])
    factories.ConsentTextFactory(study=study)
    factories.CompletionFactory(study=study)
    factories.SpeechSettingsFactory(**({"study": study, "sound_check": False, "content_checks": 0} | speech))
    kinds = [Kind.HUMAN_HUMAN, Kind.HUMAN_MACHINE, Kind.HUMAN_HUMAN, Kind.PSEUDO_HUMAN]
    paths = []
    for number in range(12):
        dialogue = factories.DialogueFactory(kind=kinds[number % 4], play_duration=CLIP, play_size=len(clip))
        factories.StudyItemFactory(study=study, dialogue=dialogue)
        paths.append(dialogue.play_path)
        place = Path(settings.MEDIA_ROOT) / dialogue.play_path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(clip)
    participant = factories.ParticipantFactory(study=study)
    text = study.consent_texts.get()
    factories.ConsentFactory(participant=participant, text=text)
    return Game(site, study, participant, paths)


def start(context: BrowserContext, game: Game) -> Page:
    page = context.new_page()
    page.goto(game.url("speech/trial/"))
    read_instruction(page)
    return page


def read_instruction(page: Page) -> None:
    if page.locator("#introduction[open]").count():
        page.locator("#introduction button").click()


def hear(page: Page) -> None:
    """Play the conversation to its end; afterwards the answers are open."""
    if not page.locator("#play svg.on[data-icon=pause]").count():
        page.locator("#play").click()
    expect(page.locator(".answer[aria-disabled]")).to_have_count(0)


def stored(page: Page) -> None:
    expect(page.locator("#why")).to_have_text("Your answer is stored")


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Hear the next one").click()


def rows(read: Callable[[], Result]) -> Result:
    """Reads rows while a browser is open: in a thread of its own, with its own connection."""

    def work() -> Result:
        try:
            return read()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def until(page: Page, expression: str, *, seconds: float = 30.0) -> None:
    """Wait until ``expression`` holds on the page, asked from outside: the page's policy allows no eval, by
    which Playwright's own ``wait_for_function`` asks again.
    """
    for _ in range(int(seconds * 20)):
        try:
            if page.evaluate(expression):
                return
        except Error as error:  # the page goes on to another at this moment
            if "context was destroyed" not in str(error):
                raise
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")
