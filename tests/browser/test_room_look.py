"""The group game's pages: accessible, narrow, light, in both languages; hostile texts do no harm."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Response, expect

from games.group.models import Ticket
from tests.browser.playing import DESK, PHONE, rows
from tests.browser.rooms import (
    Contexts,
    Table,
    choose,
    enter,
    say,
    seed_table,
    settled,
    site,  # noqa: F401
)
from tests.browser.test_pages import WEIGHT, check_page

pytestmark = pytest.mark.browser
HOSTILE = [
    "\u202egnp.exe\u2066 turned \u202e",
    "W" * 480,
    "😀" * 500,
    "<img src=x onerror=alert(1)><script>alert(2)</script>",
    "a\u200bb\u200d" + "\u0301" * 200,
    "\n".join("abc") + "\n" * 100 + "end",
    "שלום עليكم hello",
]


@pytest.fixture
def game(transactional_db: None, site: str) -> Table:  # noqa: F811
    return seed_table(site, languages=("en", "zh"))


@pytest.fixture
def large(transactional_db: None, site: str) -> Table:  # noqa: F811
    """Twelve people, the most there are: thirteen faces."""
    return seed_table(site, 12, topic_en="If you could eat with anybody, who would it be?").begin()


@pytest.fixture
def talking(transactional_db: None, site: str) -> Table:  # noqa: F811
    shown = {"typing_indicator": True, "show_tallies": True, "abstain_button": True}
    return seed_table(site, languages=("en",), rate_count=50, **shown).begin()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"),
    [(PHONE, "en-GB", "light"), (PHONE, "zh-CN", "dark"), (DESK, "zh-CN", "light")],
    ids=["phone", "phone-zh-dark", "desk-zh"],
)
def test_every_page_of_a_game(
    game: Table, context: Contexts, viewport: dict[str, Any], locale: str, scheme: str
) -> None:
    ann, ben, cat = game.people
    touch = viewport is PHONE
    page = context(
        ann, viewport=viewport, has_touch=touch, is_mobile=touch, locale=locale, color_scheme=scheme
    ).new_page()
    page.goto(ann.url("group/wait/"))
    check_page(page)
    rows(lambda: Ticket.objects.update(patience_until=timezone.now()))
    expect(page.locator("#asked")).to_be_visible()
    check_page(page)
    page.locator("[data-when=new] button").click()
    expect(page.locator("#ready")).to_be_visible()
    check_page(page)
    for one in (ben, cat):
        game.comes(one)
    expect(page.locator("#lines > li")).to_have_count(1)
    game.says(ben, "hello there, a line that is long enough to be broken on every screen there is today")
    game.says(game.agent, "yes")
    say(page, "and mine")
    settled(page)
    check_page(page)
    page.locator("#leave").click()
    check_page(page)
    page.keyboard.press("Escape")
    page.locator("#lines .msg").first.click()
    page.locator("#lines .open .more").click()
    check_page(page)
    page.locator("#report-asking [type=submit]").click()
    expect(page.locator("#report-thanks")).to_be_visible()
    check_page(page)
    page.keyboard.press("Escape")
    page.locator("#say").fill("y" * 600)
    check_page(page)
    game.moves_on()
    choose(page, cat.sits())
    check_page(page)
    page.locator("#vote-confirm").click()
    expect(page.locator("[data-panel=voted]")).to_be_visible()
    check_page(page)
    for voter in (ben, cat):
        game.votes_for(voter, ann)
    expect(page.locator("[data-panel=out]")).to_be_visible()
    check_page(page)
    page.locator("[data-panel=out] a").click()
    check_page(page)  # the survey while the others play
    page.locator(".seg").first.locator("label").nth(1).click()
    page.locator("main button.btn").click()
    expect(page.locator("h1")).to_be_visible()
    check_page(page)


def test_hostile_texts_stay_in_their_place(talking: Table, context: Contexts) -> None:
    ann, ben, _cat = talking.people
    page = enter(context(ann), ann)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    for text in HOSTILE:
        talking.says(ben, text)
    expect(page.locator("#lines .msg")).to_have_count(len(HOSTILE))
    assert page.locator("#lines p").evaluate_all("all => all.every(one => one.childElementCount === 0)")
    assert page.locator("#lines img, #lines script").count() == 0
    box = page.locator("#log").evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert box[0] <= box[1]
    walls = page.locator("#lines .msg", has_text="end")
    assert walls.evaluate("node => node.offsetHeight") < 250  # of empty lines
    page.locator("#lines .msg").first.click()
    page.locator("#lines .open .more").click()
    expect(page.locator("#report-name")).to_have_text(ben.sits().pseudonym)
    check_page(page)
    page.keyboard.press("Escape")
    say(page, HOSTILE[0])
    settled(page)
    expect(page.locator("#lines .mine p")).to_have_text(HOSTILE[0])


def test_thirteen_players_fit_and_a_vote_is_a_tap_away(large: Table, context: Contexts) -> None:
    ann = large.people[0]
    page = enter(context(ann), ann)
    expect(page.locator(".about")).to_contain_text("If you could eat with anybody")
    check_page(page)
    page.set_viewport_size({"width": 360, "height": 300})  # the phone's keyboard is open
    expect(page.locator("#seats")).to_be_hidden()
    expect(page.locator("#say")).to_be_in_viewport()
    assert page.locator("#log").evaluate("node => node.clientHeight") > 150
    page.set_viewport_size(PHONE)
    expect(page.locator("#seats")).to_be_visible()
    large.moves_on()
    expect(page.locator("#faces label")).to_have_count(12)
    check_page(page)
    page.locator("#vote-confirm").scroll_into_view_if_needed()
    expect(page.locator("#vote-confirm")).to_be_in_viewport()
    sizes = page.locator("dialog[open] :is(button, label)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"
    )
    assert min(sizes) >= 44, sizes


def test_typing_tallies_and_abstaining_where_the_study_has_them(talking: Table, context: Contexts) -> None:
    ann, ben, cat = talking.people
    first, second = enter(context(ann), ann), enter(context(ben), ben)
    second.locator("#say").press_sequentially("h")
    expect(first.locator("#typing")).to_have_text(f"{ben.sits().pseudonym} is writing")
    second.locator("#say").press("Enter")
    expect(first.locator("#lines .msg")).to_have_count(1)
    expect(first.locator("#typing")).to_be_empty()
    talking.moves_on()
    first.get_by_role("button", name="Abstain").click()
    expect(first.get_by_text("Your vote is in")).to_be_visible()
    choose(second, cat.sits())
    second.locator("#vote-confirm").click()
    talking.votes_for(cat, ben)
    talking.moves_on()
    expect(first.locator(".tally")).to_contain_text("1")
    check_page(first)


def test_a_room_is_light_and_asks_no_other_host(talking: Table, context: Contexts) -> None:
    ann = talking.people[0]
    got: list[Response] = []
    browser = context(ann)
    browser.on("response", lambda answer: got.append(answer))
    page = enter(browser, ann)
    page.wait_for_load_state("networkidle")
    sizes = {answer.url: len(gzip.compress(answer.body())) for answer in got if answer.ok}
    assert len(sizes) > 10
    assert sum(sizes.values()) < WEIGHT / 2, sizes


def test_without_scripts_one_plays_by_forms(talking: Table, context: Contexts) -> None:
    ann, ben, cat = talking.people
    talking_room = context(ann, java_script_enabled=False).new_page()
    talking_room.goto(ann.url("group/room/"))
    talking_room.get_by_role("link", name="Write a message").click()
    talking_room.locator("#plain-say").fill("plainly <b>written</b>")
    talking_room.get_by_role("button", name="Send").click()
    expect(talking_room.locator(".msg.mine p")).to_have_text("plainly <b>written</b>")
    talking.says(ben, "I read that")
    talking.moves_on()
    talking_room.goto(ann.url("group/room/"))
    expect(talking_room.locator(".msg:not(.mine) p")).to_have_text("I read that")
    talking_room.locator(".choice", has_text=cat.sits().pseudonym).click()
    talking_room.get_by_role("button", name="Vote", exact=True).click()
    expect(talking_room.locator(".plain > p")).to_have_text("Your vote is in")
    assert talking.votes() == 1
