"""The annotation's pages: accessible, narrow enough, light, still, in both languages and appearances."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Response, expect

from annotation.models import Annotator, Batch
from annotation.services.leases import take_back
from tests.browser.annotating import (
    LARGE_PHONE,
    ROWS,
    TABLET,
    hear_whole,
    open_gates,
    score_all,
    seed_work,
    settled,
    work,
)
from tests.browser.playing import DESK, PHONE, Game, rows
from tests.browser.test_pages import WEIGHT, check_page
from tests.factories import annotate

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]
SHIFTS = """window.shifts = []; new PerformanceObserver((list) => {
    for (const one of list.getEntries()) {
        if (one.startTime >= (window.rest || 0)) window.shifts.push([one.value, one.hadRecentInput])
    }
}).observe({type: 'layout-shift', buffered: true})"""
#: From here on shifts count: the page is loaded, its fonts are there, and that has been drawn.
AT_REST = """() => document.fonts.ready.then(() => new Promise((drawn) => {
    requestAnimationFrame(() => requestAnimationFrame(drawn))
})).then(() => { window.rest = performance.now(); window.shifts.length = 0 })"""


@pytest.fixture
def game(transactional_db: None, site: str, clip: bytes) -> Game:
    return seed_work(site, clip)


def is_touch(viewport: dict[str, Any]) -> dict[str, Any]:
    touch = viewport is not DESK
    return {"viewport": viewport, "has_touch": touch, "is_mobile": touch}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"),
    [
        (LARGE_PHONE, "en-GB", "light"),
        (PHONE, "zh-CN", "dark"),
        (TABLET, "zh-CN", "light"),
        (DESK, "en-GB", "light"),
        (DESK, "zh-CN", "dark"),
    ],
    ids=["large-phone", "phone-zh-dark", "tablet-zh", "desk", "desk-zh-dark"],
)
def test_every_page_of_an_annotator(
    context: Contexts, game: Game, viewport: dict[str, Any], locale: str, scheme: str
) -> None:
    page = work(context(game, locale=locale, color_scheme=scheme, **is_touch(viewport)), game)
    check_page(page)  # locked
    page.locator("#play").click()
    expect(page.locator("body.locked")).to_have_count(0)
    lines = page.locator(".row")
    lines.first.locator("label", has_text="4").click()
    lines.nth(1).locator(".none").click()
    lines.nth(2).locator("summary").click()
    expect(lines.nth(2).locator(".words")).to_be_visible()
    check_page(page)
    page.locator("h1").evaluate("node => document.getElementById('break').hidden = false")
    check_page(page)
    page.locator("#no-break").click()
    if viewport["width"] < 768:
        page.locator("#drawer-switch").click()
        expect(page.locator("#turns")).to_be_visible()
        check_page(page)
        page.locator("#drawer-switch").click()
    for number in range(2, ROWS):
        lines.nth(number).locator("label", has_text="2").click()
    page.locator("#choice label").last.click()
    page.locator("#sure label").nth(2).click()
    expect(page.locator("[data-pending]")).to_have_count(0)
    check_page(page)
    page.locator("#fails button").click()
    check_page(page)
    page.keyboard.press("Escape")
    page.goto(game.url("annotation/break/"))
    check_page(page)
    rows(lambda: take_back(Batch.objects.get()))
    page.goto(game.url("annotation/batch/"))
    expect(page.locator("form.line button")).to_be_visible()
    check_page(page)
    page.locator("form.line button").click()
    expect(page.locator("#scores")).to_be_visible()


@pytest.mark.parametrize(("locale", "scheme"), [("en-GB", "light"), ("zh-CN", "dark")])
def test_the_page_after_a_batch(context: Contexts, game: Game, locale: str, scheme: str) -> None:
    page = work(context(game, locale=locale, color_scheme=scheme, viewport=PHONE), game)
    rows(finish_batch)
    page.goto(game.url("annotation/"))
    expect(page.locator("dl.facts")).to_be_visible()
    check_page(page)


def finish_batch() -> None:
    """As if the first dialogue had been scored and the others left out."""
    batch = Batch.objects.get()
    first, *others = batch.items.order_by("position")
    annotate(first)
    for item in others:
        item.state = item.State.SKIPPED
        item.known, item.place = True, None
        item.save()


@pytest.mark.parametrize("viewport", [PHONE, TABLET], ids=["phone", "tablet"])
def test_all_targets_of_a_finger_are_large_enough(
    context: Contexts, game: Game, viewport: dict[str, Any]
) -> None:
    page = work(context(game, **is_touch(viewport)), game)
    least = page.evaluate(
        """() => [...document.querySelectorAll('main label, main button, main summary, header a')]
            .filter((node) => node.checkVisibility())
            .map((node) => [node.getBoundingClientRect(), `${node.className} ${node.textContent.trim()}`])
            .filter(([box]) => box.height < 47.5 || box.width < 47.5)
            .map(([box, name]) => `${name}: ${Math.round(box.width)} × ${Math.round(box.height)}`)"""
    )
    assert least == []


def test_nothing_jumps_while_one_scores(context: Contexts, game: Game) -> None:
    browser = context(game, viewport=DESK)
    browser.add_init_script(SHIFTS)
    page = work(browser, game)
    hear_whole(page)
    page.evaluate(AT_REST)
    size = page.locator("details.cat").first.locator(".row").count()
    places = [row.bounding_box() for row in page.locator("details.cat").first.locator(".row").all()]
    for _ in range(size - 1):
        page.keyboard.press("4")
    settled(page)
    assert [row.bounding_box() for row in page.locator("details.cat").first.locator(".row").all()] == places
    assert sum(value for value, _input in page.evaluate("window.shifts")) < 0.005
    page.keyboard.press("4")  # the card folds: a change the key asked for
    score_all(page)
    page.keyboard.press("1")
    page.keyboard.press("5")
    settled(page)
    assert sum(value for value, asked in page.evaluate("window.shifts") if not asked) < 0.01


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_the_current_row_and_the_player_stay_in_sight(
    context: Contexts, game: Game, viewport: dict[str, Any]
) -> None:
    page = work(context(game, reduced_motion="reduce", **is_touch(viewport)), game)
    page.locator("#play").click()
    expect(page.locator("body.locked")).to_have_count(0)
    for number in range(ROWS - 1):
        row = page.locator(".row").nth(number)
        row.locator("label", has_text="4").click()
        now = page.locator(".row.now")
        expect(now).to_have_attribute(
            "data-row", page.locator(".row").nth(number + 1).get_attribute("data-row") or ""
        )
        box, play = now.bounding_box(), page.locator("#play").bounding_box()
        assert box is not None
        assert play is not None
        assert play["y"] >= 0
        assert play["y"] + play["height"] <= viewport["height"]
        top = play["y"] + play["height"] if viewport is PHONE else 0
        assert top <= box["y"]
        assert box["y"] + box["height"] <= viewport["height"]


def test_a_screen_reader_hears_names_and_little_else(context: Contexts, game: Game) -> None:
    page = work(context(game, viewport=DESK), game)
    hear_whole(page)
    for name in page.locator(".dim").all_inner_texts()[:3]:
        expect(page.get_by_role("radiogroup", name=name)).to_be_visible()
    first = page.get_by_role("radiogroup").first
    expect(first.get_by_role("radio").last).to_have_accessible_name("No evidence")
    said = page.locator("#say").text_content()
    page.keyboard.press("4")
    page.keyboard.press("4")
    settled(page)
    assert page.locator("#say").text_content() == said, "a score is not announced: it was just given"
    first.get_by_role("radio").nth(3).focus()
    page.keyboard.press("ArrowRight")  # from 4 to 5, as radios do, without moving on
    expect(first.locator("input:checked")).to_have_value("5")
    expect(page.locator(".row").first).to_contain_class("now")
    page.keyboard.press("2")
    assert page.evaluate("document.activeElement.closest('.row')?.id") == (
        "row-" + (page.locator(".row").nth(2).get_attribute("data-row") or "")
    )


def test_the_work_page_is_light_and_says_nothing_inline(context: Contexts, game: Game) -> None:
    page = context(game, viewport=DESK).new_page()
    answered: list[Response] = []
    heard: list[str] = []
    page.on("response", lambda response: answered.append(response))
    page.on("console", lambda message: heard.append(message.text))
    page.goto(game.url("annotation/batch/"), wait_until="networkidle")
    hear_whole(page)
    page.keyboard.press("4")
    settled(page)
    assert [text for text in heard if "Content Security" in text] == []
    sizes = {
        response.url: len(gzip.compress(response.body()))  # as sites in production send it
        for response in answered
        if "/media/" not in response.url and response.request.method == "GET" and response.ok
    }
    assert len(sizes) > 15
    assert sum(sizes.values()) <= WEIGHT, sizes


def test_forced_colors_show_what_was_chosen(context: Contexts, game: Game) -> None:
    page = work(context(game, viewport=DESK, forced_colors="active"), game)
    hear_whole(page)
    page.keyboard.press("4")
    chosen = page.locator(".row").first.locator("input:checked + span")
    other = page.locator(".row").first.locator("input[value='3'] + span")
    colour = "node => getComputedStyle(node).backgroundColor"
    assert chosen.evaluate(colour) != other.evaluate(colour)


def test_keys_stay_off_where_they_were_switched_off(context: Contexts, game: Game) -> None:
    rows(lambda: Annotator.objects.update(keys_off=True))
    page = work(context(game, viewport=DESK), game)
    rows(open_gates)
    page.reload()
    page.keyboard.press("4")
    assert page.locator("#cats input:checked").count() == 0
    expect(page.locator(".keylist")).to_be_hidden()
