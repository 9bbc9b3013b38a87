"""What the annotation's browser tests do again and again: a small study, the moves of an annotator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotator, BatchItem
from dialogues.models import Kind
from tests import factories
from tests.browser.playing import CLIP, Game

TABLET = {"width": 820, "height": 1180}
LARGE_PHONE = {"width": 390, "height": 844}
ROWS = 18


def seed_work(site: str, clip: bytes, *, seconds: float = CLIP, dialogues: int = 7, **fields: Any) -> Game:
    """An open study whose participant annotates, past guidelines and calibration; nothing is given out."""
    study = factories.StudyFactory(slug="score", languages=["en"], activities=["annotation"])
    factories.ConsentTextFactory(study=study)
    factories.CompletionFactory(study=study)
    factories.AnnotationSettingsFactory(
        **({"study": study, "repeat_share": 0.0, "least_batches": 1} | fields)
    )
    paths = []
    for number in range(dialogues):
        kind = (Kind.HUMAN_HUMAN, Kind.HUMAN_MACHINE)[number % 2]
        dialogue = factories.add_dialogue(study, kind=kind, play_duration=seconds, play_size=len(clip))
        paths.append(dialogue.play_path)
        place = Path(settings.MEDIA_ROOT) / dialogue.play_path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(clip)
    participant = factories.ParticipantFactory(study=study)
    factories.ConsentFactory(participant=participant, text=study.consent_texts.get())
    annotator = factories.AnnotatorFactory(participant=participant)
    Annotator.objects.filter(pk=annotator.pk).update(human_left=True)
    return Game(site, study, participant, paths)


def work(context: BrowserContext, game: Game) -> Page:
    page = context.new_page()
    page.goto(game.url("annotation/batch/"))
    return page


def hear_whole(page: Page) -> None:
    """Play the dialogue to its end; afterwards the scores are open."""
    if not page.locator("#play svg.on[data-icon=pause]").count():
        page.keyboard.press("Space")
    unlocked(page)


def unlocked(page: Page) -> None:
    """What plays has come to its end, and the scores are open. Space would stop what began by itself."""
    expect(page.locator("body.locked")).to_have_count(0)


def score_all(page: Page, digit: str = "4") -> None:
    for _ in range(ROWS):
        page.keyboard.press(digit)


def settled(page: Page) -> None:
    """Everything answered so far is stored."""
    expect(page.locator("#saved")).to_contain_text("All stored")
    expect(page.locator("[data-pending]")).to_have_count(0)


def open_gates() -> int:
    """As if every dialogue given out had been heard whole."""
    now = timezone.now()
    return BatchItem.objects.update(gate="ended", whole_at=now, heard=1.0, plays=1)
