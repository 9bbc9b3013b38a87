"""The desk's pages of the corpus in a browser: accessible, and turns corrected with pointer and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from dialogues.models import Dialogue, ProcessingJob, Recording
from tests.browser.playing import DESK, PHONE, Game, rows
from tests.browser.test_desk import Contexts, check, clip, desk, sign_in

__all__ = ["desk"]  # a fixture


def recorded(game: Game) -> str:
    """Give the desk's dialogue an original of 12 s with its turns; its code."""
    dialogue = ProcessingJob.objects.get().dialogue
    recording = dialogue.recording
    assert recording is not None
    path = Path(settings.MEDIA_ROOT) / recording.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(clip(12))
    Recording.objects.filter(pk=recording.pk).update(duration=12.0)
    ProcessingJob.objects.update(state="done")
    for turn in dialogue.turns.order_by("index"):
        start, end = turn.index * 3.0, turn.index * 3.0 + 2.5
        dialogue.turns.filter(pk=turn.pk).update(start=start, end=end, text=f"Words {turn.index}.")
    dialogue.flags.create(rule="identity-disclosure", value=1, source="rule", evidence={"turns": [1]})
    return str(dialogue.code)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"), [(PHONE, "zh-CN", "dark"), (DESK, "en-GB", "light")]
)
def test_pages_of_the_corpus_are_accessible(
    desk: Game, context: Contexts, viewport: Any, locale: str, scheme: str
) -> None:
    code = rows(lambda: recorded(desk))
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), desk)
    console: list[str] = []
    page.on("console", lambda m: console.append(m.text) if m.type == "error" else None)
    for path in (
        f"corpus/?study={desk.study.slug}",
        f"corpus/{code}/",
        f"corpus/{code}/turns/",
        f"study/{desk.study.slug}/stimuli/",
        "imports/new/",
    ):
        page.goto(f"{desk.site}/admin/{path}")
        check(page)
    run = page.goto(f"{desk.site}/admin/study/{desk.study.slug}/stimuli/")
    assert run is not None
    if page.locator("button[value=run]").count():
        page.locator("button[value=run]").click()
        check(page)
    assert not console


def test_edges_of_turns_are_moved_by_pointer_and_keys_and_stored(desk: Game, context: Contexts) -> None:
    code = rows(lambda: recorded(desk))
    page = sign_in(context(viewport=DESK), desk)
    page.goto(f"{desk.site}/admin/corpus/{code}/turns/")
    edge = page.get_by_role("slider", name="End of turn 2")
    expect(edge).to_have_attribute("aria-valuenow", "5.500")
    area = edge.bounding_box()
    assert area is not None
    middle = area["y"] + area["height"] / 2
    page.mouse.move(area["x"] + 10, middle)
    page.mouse.down()
    page.mouse.move(area["x"] - 80, middle, steps=4)
    page.mouse.up()
    assert 4.0 < float(page.input_value("#end-1")) < 5.2
    page.fill("#end-1", "5")
    expect(edge).to_have_attribute("aria-valuenow", "5.000")
    edge.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#end-1")).to_have_value("5.11")
    page.keyboard.press("PageDown")
    expect(page.locator("#end-1")).to_have_value("4.11")
    for _ in range(5):
        page.keyboard.press("PageDown")
    expect(page.locator("#end-1")).to_have_value("3.02")  # never before its start
    page.fill("#end-1", "4.5")

    page.get_by_role("button", name="Split 2").click()
    expect(page.locator("[data-row]")).to_have_count(5)
    page.fill("#end-2", "1")
    page.get_by_role("button", name="Store and process again").click()
    expect(page.locator("#end-2-error")).to_be_visible()
    page.fill("#end-2", "4.5")
    page.get_by_role("button", name="Store and process again").click()
    expect(page).to_have_url(f"{desk.site}/admin/corpus/{code}/")
    stored = rows(lambda: list(Dialogue.objects.get(code=code).turns.order_by("index").values_list("end")))
    assert [end for (end,) in stored] == [2.5, 3.75, 4.5, 8.5, 11.5]
    assert rows(lambda: ProcessingJob.objects.get().state) == "queued"


def test_turns_are_edited_without_script(desk: Game, context: Contexts) -> None:
    code = rows(lambda: recorded(desk))
    known = sign_in(context(viewport=DESK), desk).context.storage_state()
    page = context(viewport=DESK, java_script_enabled=False, storage_state=known).new_page()
    page.goto(f"{desk.site}/admin/corpus/{code}/turns/")
    page.get_by_role("button", name="Merge with next 1").click()
    expect(page.locator("[data-row]")).to_have_count(3)
    page.get_by_role("button", name="Store and process again").click()
    assert rows(lambda: Dialogue.objects.get(code=code).turns.count()) == 3
