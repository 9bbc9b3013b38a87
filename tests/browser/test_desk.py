"""The desk in a browser: every page accessible and narrow enough, and an upload from choosing to taken in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import soundfile
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth import get_user_model
from playwright.sync_api import BrowserContext, Page, expect

from dialogues import tasks
from dialogues.importing import services
from dialogues.importing.manifest import read_manifest
from dialogues.models import Dialogue, ImportBatch, ProcessingJob
from dialogues.processing.services import run_waiting
from tests import factories
from tests.browser.playing import DESK, PHONE, Game, rows, until

Contexts = Callable[..., BrowserContext]
PASSWORD = "a password for tests"


def clip(seconds: float = 3.0) -> bytes:
    target = io.BytesIO()
    soundfile.write(
        target, np.random.default_rng(1).normal(0, 0.1, int(16000 * seconds)), 16000, format="WAV"
    )
    return target.getvalue()


def archive() -> bytes:
    """A zip with a good row, one that names an unknown system, and one that is refused."""
    lines = [
        {
            "id": "up-1",
            "kind": "human_human",
            "language": "en",
            "audio": "a.wav",
            "turns_a": "0-1",
            "turns_b": "1.2-2.8",
        },
        {"id": "up-2", "kind": "human_machine", "language": "en", "audio": "b.wav", "system": "Brand New"},
        {"id": "up-3", "kind": "HM", "language": "en", "audio": "a.wav"},
    ]
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("manifest.jsonl", "\n".join(json.dumps(line) for line in lines))
        made.writestr("a.wav", clip())
        made.writestr("b.wav", clip(2))
    return target.getvalue()


@pytest.fixture
def desk(game: Game) -> Game:
    """A game with a researcher, a verdict, a line of every list, and a dialogue with a job and a flag."""
    researcher = factories.UserFactory(username="researcher", is_staff=True, is_superuser=True)
    factories.StudyMemberFactory(study=game.study, user=researcher)
    factories.VerdictFactory(rater=game.participant.rater, dialogue=Dialogue.objects.all()[0])
    broken = read_manifest(b'{"id": 1}\n{"id"', "m.jsonl")
    services.create_batch(name="broken.jsonl", manifest=broken, user=researcher, folder="uploads/none")
    dialogue = Dialogue.objects.order_by("pk")[0]
    dialogue.peaks = [10, 90, 40] * 200
    dialogue.save()
    ProcessingJob.objects.create(dialogue=dialogue, state="failed", reason="It was a test.")
    dialogue.flags.create(rule="duration", value=1.5, evidence={})
    return game


def sign_in(context: BrowserContext, game: Game) -> Page:
    page = context.new_page()
    page.goto(game.site + "/admin/")
    check(page)
    page.fill("#id_username", "researcher")
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    expect(page).to_have_url(game.site + "/admin/")
    return page


def check(page: Page) -> None:
    """No finding of axe, nothing wider than the screen."""
    findings = Axe().run(page, options={"preload": False}).response["violations"]
    found = [(f["id"], [n["html"][:120] for n in f["nodes"]]) for f in findings]
    assert not found, (page.url, found)
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], page.url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"), [(PHONE, "zh-CN", "dark"), (DESK, "en-GB", "light")]
)
def test_every_page_of_the_desk(
    desk: Game, context: Contexts, viewport: Any, locale: str, scheme: str
) -> None:
    code = rows(lambda: ProcessingJob.objects.get().dialogue.code)
    batch = rows(lambda: ImportBatch.objects.get().pk)
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), desk)
    console: list[str] = []
    page.on("console", lambda m: console.append(m.text) if m.type == "error" else None)
    study = f"study/{desk.study.slug}/"
    own = ["", "settings/", "texts/", "participants/", "verdicts/", "audit/", "report/success-rate/"]
    paths = ["", "new-study/", *(study + page for page in own)]
    paths += ["corpus/", f"corpus/{code}/", "imports/", "imports/new/", f"imports/{batch}/"]
    for path in paths:
        answer = page.goto(f"{desk.site}/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        check(page)
    page.goto(f"{desk.site}/admin/{study}tokens/")
    page.fill("[name=name]", "a notebook")
    page.locator("main form.loose button").click()
    expect(page.locator("#secret")).to_contain_text("tts_")
    check(page)
    page.goto(f"{desk.site}/api/v1/docs")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    check(page)
    page.goto(f"{desk.site}/admin/{study}report/success-rate/")
    page.locator("main form button").click()
    check(page)
    page.goto(f"{desk.site}/admin/{study}report/accuracy/")
    check(page)
    assert not console


def test_an_upload_is_watched_and_confirmed(desk: Game, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), desk)
    page.goto(desk.site + "/admin/imports/new/")
    page.set_input_files(
        "[name=upload]", {"name": "up.zip", "mimeType": "application/zip", "buffer": archive()}
    )
    page.select_option("[name=study]", desk.study.slug)
    page.click("text=Check the rows")
    expect(page.locator("h2", has_text="Checking the rows")).to_be_visible()
    batch = int(page.url.rstrip("/").rsplit("/", 1)[1])

    rows(lambda: tasks.run_import.run(batch))
    expect(page.locator("h2", has_text="What each row would do")).to_be_visible()  # by itself
    assert rows(lambda: not Dialogue.objects.filter(external_id__startswith="up-").exists())
    page.locator("[name=create_systems]").check()
    page.click("text=Take them in")
    expect(page.locator("h2", has_text="Importing")).to_be_visible()

    rows(lambda: tasks.run_import.run(batch))
    expect(page.locator("h2", has_text="Done")).to_be_visible()
    taken = Dialogue.objects.filter(external_id__startswith="up-").order_by("external_id")
    assert rows(lambda: list(taken.values_list("external_id", flat=True))) == ["up-1", "up-2"]
    page.click("a:has-text('up-1')")
    expect(page.locator("main")).to_contain_text("No waveform before it is processed")
    rows(run_waiting)
    expect(page.locator("svg.wave")).to_be_visible()
    page.locator("[data-seek]").nth(1).click()
    until(page, "document.querySelector('audio').currentTime > 1")
    assert page.locator("[data-head]").get_attribute("x") != "0"


def test_a_double_click_sends_an_upload_once_and_stops_nothing(desk: Game, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), desk)
    page.goto(desk.site + "/admin/imports/new/")
    held: list[Any] = []
    page.route("**/imports/new/", lambda route: held.append(route))
    page.set_input_files(
        "[name=upload]", {"name": "up.zip", "mimeType": "application/zip", "buffer": archive()}
    )
    button = page.locator("text=Check the rows").bounding_box()
    assert button is not None
    page.mouse.dblclick(button["x"] + 20, button["y"] + button["height"] / 2)
    expect(page.locator("[data-stop]")).to_be_visible()
    page.locator("[data-stop]").click()  # at once: not yet
    expect(page.locator("[data-stop]")).to_be_visible()
    assert len(held) == 1
    page.wait_for_timeout(1100)
    page.locator("[data-stop]").click()
    expect(page.locator("[role=alert]")).to_have_text("Stopped. Nothing was taken in.")
    expect(page.locator("[data-progress]")).to_be_hidden()
    page.click("text=Check the rows")
    expect(page.locator("[data-progress]")).to_be_visible()
    expect(page.locator("[role=alert]")).to_have_count(0)


def test_nobody_signs_in_with_a_guess(desk: Game, context: Contexts) -> None:
    page = context(viewport=DESK).new_page()
    page.goto(desk.site + "/admin/")
    page.fill("#id_username", "researcher")
    page.fill("#id_password", "a guess")
    page.press("#id_password", "Enter")
    expect(page.locator("[role=alert]")).to_be_visible()
    check(page)
    assert rows(lambda: get_user_model().objects.get(username="researcher").last_login) is None
