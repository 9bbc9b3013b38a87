"""Every page of a participant: accessible, narrow enough, light, in both languages and appearances."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Response, expect

from games.speech import sound_words
from games.speech.models import SpeechPlayer
from tests import factories
from tests.browser.playing import (
    DESK,
    PHONE,
    STILL,
    Game,
    go_on,
    hear,
    read_instruction,
    rows,
    seed_game,
    start,
    stored,
    until,
)

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]
WEIGHT = 120_000  # bytes of the trial page without sound


def check_page(page: Page) -> None:
    """No finding of axe, nothing wider than the screen."""
    page.evaluate(STILL)
    findings = Axe().run(page).response["violations"]
    found = [(f["id"], [n["html"][:120] for n in f["nodes"]]) for f in findings]
    assert not found, (page.url, found)
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], page.url


@pytest.fixture
def whole_study(transactional_db: None, site: str, clip: bytes) -> Game:
    """As the built-in study: profile, sound check, and four topics to ask about."""
    asks = {"sound_check": True, "content_checks": 6, "ask_confidence": True, "ask_reason": True}
    game = seed_game(site, clip, round_size=3, **asks)
    factories.QuestionnaireFactory(study=game.study)
    return game


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "scheme"), [("en-GB", "light"), ("zh-CN", "dark")])
def test_from_the_link_to_the_leaderboard(
    whole_study: Game, context: Contexts, locale: str, scheme: str
) -> None:
    page = context(locale=locale, color_scheme=scheme).new_page()
    page.goto(whole_study.url())
    lang = page.locator("html").get_attribute("lang")
    assert lang == ("zh-Hans" if locale == "zh-CN" else "en")
    check_page(page)
    page.locator("main a.btn").first.click()
    check_page(page)
    page.locator("button[name=adult][value=yes]").click()
    check_page(page)
    page.locator("main [type=checkbox]").first.check()
    page.locator("main button.btn").click()
    if "/language/" in page.url:
        check_page(page)
        page.locator("button[name=language]").first.click()
    check_page(page)
    page.locator("main .choice input").first.check(force=True)
    page.locator("main button.btn").click()
    expect(page).to_have_url(re.compile("/speech/sound/"))
    check_page(page)
    page.locator("#play").click()
    page.locator("#word").fill("no such word")
    page.locator("main button.btn").click()
    check_page(page)
    page.locator("#word").fill(asked_word())
    page.locator("main button.btn").click()
    expect(page).to_have_url(re.compile("/speech/trial/"))
    check_page(page)
    read_instruction(page)
    check_page(page)
    seen = set()
    for _step in range(8):
        if "/round/" in page.url:
            break
        if "/check/" in page.url:
            seen.add("check")
            check_page(page)
            page.locator("main .choice input").first.check(force=True)
            page.locator("main button.btn").click()
            page.wait_for_load_state()
            continue
        one_trial(page, look="trial" not in seen)
        seen.add("trial")
    assert seen == {"check", "trial"}
    expect(page).to_have_url(re.compile("/speech/round/1/"))
    check_page(page)
    page.goto(whole_study.url("speech/nickname/"))
    page.locator("#nickname").fill("=1+1")
    page.locator("main button.btn").click()
    check_page(page)
    page.locator("#nickname").fill("Heron")
    page.locator("main button.btn").click()
    expect(page.locator(".board .you")).to_contain_text("Heron")
    check_page(page)
    for path in ("speech/pause/", "leave/", "withdraw/", "resume/"):
        page.goto(whole_study.url(path))
        check_page(page)
    page.goto(whole_study.url("leave/"))
    page.locator("button[value=stop]").click()
    check_page(page)


def one_trial(page: Page, *, look: bool) -> None:
    code = page.evaluate("history.state?.code ?? ''")
    hear(page)
    page.locator(".answer").first.click()
    expect(page.locator(".answer[aria-pressed=true]")).to_have_count(1)
    page.locator("#confidence label").nth(3).click()
    if look:
        check_page(page)
    page.locator("#say-why").click()
    page.locator("#reason-sheet label.choice").first.click()
    if look:
        check_page(page)
    page.locator("#reason-sheet button[value=save]").click()
    page.locator("#next button").click()
    until(page, f"!document.getElementById('trial') || (history.state?.code ?? '') !== {json.dumps(code)}")


def asked_word() -> str:
    player = rows(lambda: SpeechPlayer.objects.select_related("participant").latest("pk"))
    word = sound_words.word(player.sound_word, player.participant.judging_language)
    assert word is not None
    return min(word.accept)


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_trial_fits_a_small_phone_without_scrolling(context: Contexts, game: Game, locale: str) -> None:
    page = start(context(game, viewport=PHONE, has_touch=True, is_mobile=True, locale=locale), game)
    for step in ("locked", "unlocked", "answered"):
        if step == "unlocked":
            hear(page)
        if step == "answered":
            page.locator(".answer").first.click()
            expect(page.locator("#next")).to_be_visible()
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= PHONE["height"], step
        for button in page.locator("main button:visible, header a:visible").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 47.5, (step, button.text_content())
            assert box["y"] + box["height"] <= PHONE["height"] + 0.5, (step, button.text_content())


def test_nothing_moves_while_a_trial_goes_on(context: Contexts, game: Game) -> None:
    page = context(game).new_page()
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver((list) => {"
        "for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value"
        "}).observe({type: 'layout-shift', buffered: true})"
    )
    page.goto(game.url("speech/trial/"))
    read_instruction(page)
    before = page.locator(".answers").bounding_box()
    hear(page)
    page.locator(".answer").first.click()
    stored(page)
    assert page.locator(".answers").bounding_box() == before
    go_on(page)
    expect(page).to_have_title("Conversation 2 of 5")
    assert page.locator(".answers").bounding_box() == before
    assert page.evaluate("window.shift") < 0.01


def test_trial_page_is_light(context: Contexts, game: Game) -> None:
    page = context(game).new_page()
    answered: list[Response] = []
    page.on("response", lambda response: answered.append(response))
    page.goto(game.url("speech/trial/"), wait_until="networkidle")
    sizes = {
        response.url: int(response.headers.get("content-length") or len(response.body()))
        for response in answered
        if "/media/" not in response.url and response.ok
    }
    assert len(sizes) > 10
    assert sum(sizes.values()) <= WEIGHT, sizes


def test_page_tells_scripts_nothing_inline(context: Contexts, game: Game) -> None:
    page = context(game).new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.goto(game.url("speech/trial/"))
    read_instruction(page)
    hear(page)
    assert [text for text in heard if "Content Security" in text] == []


def test_language_switch_stays_on_the_page(context: Contexts, game: Game) -> None:
    page = start(context(game), game)
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    assert page.url == game.url("speech/trial/")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_appearance_is_remembered(context: Contexts, game: Game) -> None:
    page = context(game, color_scheme="light").new_page()
    page.goto(game.url("speech/pause/"))
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    switch = page.locator("[data-theme-switch]")
    switch.click()
    expect(switch).to_contain_text("light")
    switch.click()
    expect(switch).to_contain_text("dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_page_of_components(site: str, context: Contexts, scheme: str, viewport: dict[str, Any]) -> None:
    page = context(viewport=viewport, color_scheme=scheme).new_page()
    page.goto(f"{site}/design/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Components")
    check_page(page)


@pytest.mark.parametrize("path", ["/s/no-such-study/", "/no/such/page"])
def test_unknown_addresses_get_a_kind_page(
    transactional_db: None, site: str, context: Contexts, path: str
) -> None:
    page = context().new_page()
    response = page.goto(site + path)
    assert response is not None
    assert response.status == 404
    check_page(page)
