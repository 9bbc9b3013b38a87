"""A group game as people play it in their browsers, from the waiting room to the debrief; nothing is lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from games.group.models import Vote
from games.room.models import Concern, Seat
from studies.models import Answer, Participant
from tests.browser.playing import DESK, rows, until
from tests.browser.rooms import (
    NO_SOCKETS,
    Contexts,
    Player,
    Table,
    choose,
    enter,
    say,
    seed_table,
    settled,
    site,  # noqa: F401
    texts,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def game(transactional_db: None, site: str) -> Table:  # noqa: F811
    """Three people who have not met yet."""
    return seed_table(site)


@pytest.fixture
def talking(transactional_db: None, site: str) -> Table:  # noqa: F811
    """The same in the middle of a game."""
    return seed_table(site).begin()


def test_a_whole_game_from_the_waiting_room_to_the_debrief(game: Table, context: Contexts) -> None:
    ann, ben, cat = game.people
    phone, desk = context(ann).new_page(), context(ben, viewport=DESK).new_page()
    for page in (phone, desk):
        page.goto(page_of(game, "group/wait/"))
    expect(phone.locator("#count")).to_have_text("0 of 3 ready")
    phone.get_by_role("button", name="I am ready").click()
    expect(phone.get_by_role("heading", name="Waiting for the others")).to_be_visible()
    expect(desk.locator("#count")).to_have_text("1 of 3 ready")
    expect(desk).to_have_title(re.compile(r"1 of 3 ready"))
    desk.get_by_role("button", name="I am ready").click()
    game.comes(cat)
    for page in (phone, desk):  # the waiting page goes along by itself
        expect(page).to_have_url(re.compile("/group/room/$"))
        expect(page.locator("#phase")).to_have_text("Round 1: talk")
    for page in (phone, desk):
        expect(page.locator("#seats bdi")).to_have_count(4)
    names = phone.locator("#seats bdi").all_inner_texts()
    assert names == desk.locator("#seats bdi").all_inner_texts()

    say(phone, "hello <b>all</b>")
    expect(desk.locator("#lines .msg:not(.mine) p")).to_have_text("hello <b>all</b>")
    expect(phone.locator("#lines .mine p")).to_have_text("hello <b>all</b>")
    settled(phone)
    game.says(game.agent, "hi. coffee?")
    say(desk, "tea")
    for page in (phone, desk):
        expect(page.locator("#lines .msg")).to_have_count(3)
        assert texts(page) == game.log()

    game.moves_on()
    expect(phone.locator("#vote-heading")).to_be_focused()
    expect(phone.locator("#faces label")).to_have_count(3)
    agent, out = game.agent, cat.sits()
    choose(phone, out)
    phone.get_by_role("button", name=f"Vote for {out.pseudonym}").dblclick()
    expect(phone.get_by_text("Your vote is in")).to_be_visible()
    assert game.votes() == 1
    desk.get_by_role("button", name="Read the talk again").click()
    desk.get_by_role("button", name="Vote now").click()
    choose(desk, out)
    desk.get_by_role("button", name=f"Vote for {out.pseudonym}").click()
    expect(desk.get_by_text("Your vote is in")).to_be_visible()
    watching = enter(context(cat), cat)  # the third comes in only now, in the middle of the vote
    choose(watching, agent)
    watching.locator("#vote-confirm").click()
    for page in (phone, desk):
        expect(page.locator("#lines .event.out")).to_have_text(
            f"{out.pseudonym} is out. {out.pseudonym} was human"
        )
        expect(page.locator("#lines .event.out .mark:not(.m)")).to_have_count(1)
        expect(page.locator("#compose")).to_be_hidden()
        expect(page.locator("#seats .gone")).to_have_count(1)
    expect(watching.locator("#lines .event.out")).to_contain_text("You are out")

    game.moves_on()
    expect(phone.locator("#phase")).to_have_text("Round 2: talk")
    say(phone, "not that one then")
    expect(watching.locator("#lines .msg p").last).to_have_text("not that one then")
    expect(watching.get_by_text("You can watch how it goes on")).to_be_visible()
    expect(watching.locator("#compose")).to_be_hidden()

    game.moves_on()
    for page in (phone, desk):
        choose(page, agent)
        page.locator("#vote-confirm").click()
    expect(desk.locator("#lines .event.out .mark.m")).to_have_count(1)
    game.moves_on()
    for page in (phone, desk, watching):
        expect(page.locator("#end-lead")).to_contain_text("You found the AI")
    phone.get_by_role("link", name="Go on").click()
    expect(phone.get_by_text("was the AI")).to_contain_text(agent.pseudonym)
    phone.locator(".seg").first.locator("label").nth(3).click()
    phone.get_by_role("button", name="Continue").click()
    expect(phone.get_by_role("heading", level=1)).to_contain_text("Thank you")
    answers = Answer.objects.filter(rater=ann.participant.rater)
    assert rows(lambda: {one.question: one.value for one in answers if one.value}) == {"human_likeness": "4"}
    desk.goto(ben.url("group/survey/"))
    desk.get_by_role("button", name="Continue").click()  # every question left open
    expect(desk.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert rows(lambda: Participant.objects.get(pk=ann.participant.pk).end_state) == "done"
    desk.go_back()
    desk.goto(ben.url("group/room/"))  # whatever the way back, the server knows the place
    expect(desk.get_by_role("heading", level=1)).to_contain_text("Thank you")


def page_of(game: Table, path: str) -> str:
    return game.people[0].url(path)


@pytest.mark.parametrize("sockets", [True, False], ids=["socket", "asking"])
def test_offline_and_back_loses_nothing_and_doubles_nothing(
    talking: Table, context: Contexts, sockets: bool
) -> None:
    ann, ben, _cat = talking.people
    browser = context(ann)
    if not sockets:
        browser.add_init_script(NO_SOCKETS)
    opened: list[str] = []
    browser.on("page", lambda new: new.on("websocket", lambda one: opened.append(one.url)))
    page = enter(browser, ann)
    say(page, "one")
    settled(page)
    assert bool(opened) == sockets
    browser.set_offline(True)
    say(page, "two")
    say(page, "three\nlines")
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("#waiting .unsent p")).to_have_text(["two", "three lines"])
    talking.says(ben, "meanwhile")
    assert talking.log() == ["one", "meanwhile"]
    page.locator("#say").fill("a draft")
    browser.set_offline(False)
    expect(page.locator("#lines .msg p")).to_have_text(["one", "meanwhile", "two", "three lines"])
    settled(page)
    expect(page.locator("#lost")).to_be_hidden()
    assert talking.log() == ["one", "meanwhile", "two", "three\nlines"]
    expect(page.locator("#say")).to_have_value("a draft")
    page.wait_for_timeout(600)
    page.reload()
    expect(page.locator("#say")).to_have_value("a draft")
    expect(page.locator("#lines .msg")).to_have_count(4)


def test_an_answer_lost_on_its_way_makes_no_second_message(talking: Table, context: Contexts) -> None:
    ann = talking.people[0]
    browser = context(ann)
    browser.add_init_script(NO_SOCKETS)
    page = enter(browser, ann)
    lost: list[str] = []

    def lose(route: object) -> None:
        if lost:
            route.continue_()  # type: ignore[attr-defined]
        else:
            lost.append(route.request.url)  # type: ignore[attr-defined]
            route.fetch()  # type: ignore[attr-defined]
            route.abort()  # type: ignore[attr-defined]

    page.route("**/room/send/", lose)
    say(page, "once")
    settled(page)
    assert lost
    assert talking.log() == ["once"]
    expect(page.locator("#lines .msg")).to_have_count(1)


def test_what_the_room_refuses_comes_back_with_the_reason(talking: Table, context: Contexts) -> None:
    ann = talking.people[0]
    page = enter(context(ann), ann)
    say(page, "call me: ann@example.org")
    expect(page.locator("#say-note")).to_contain_text("e-mail address")
    expect(page.locator("#say")).to_have_value("call me: ann@example.org")
    settled(page)
    page.locator("#say").fill("x" * 499)
    expect(page.locator("#say-note")).to_have_text("Characters left: 1")
    page.locator("#say").fill("😀" * 501)
    expect(page.locator("#say-note")).to_have_text("Too long. Characters too many: 1")
    page.locator("#say").press("Enter")
    assert talking.log() == []
    for number in range(6):
        say(page, f"quick {number}")
    expect(page.locator("#say-note")).to_contain_text("very fast")
    expect(page.locator("#say")).to_have_value("quick 5")
    page.locator("#say").fill("kept for the next round")
    talking.moves_on()
    page.locator("#vote-sheet").wait_for()
    page.keyboard.press("Escape")
    page.reload()
    assert talking.log() == [f"quick {number}" for number in range(5)]
    talking.moves_on()
    talking.moves_on()
    expect(page.locator("#phase")).to_have_text("Round 2: talk")
    if page.locator("#compose").is_visible():  # not voted out by the draw
        expect(page.locator("#say")).to_have_value("kept for the next round")


def test_enter_ends_a_composition_and_sends_only_after_it(talking: Table, context: Contexts) -> None:
    ann = talking.people[0]
    page = enter(context(ann, viewport=DESK), ann)
    page.locator("#say").click()
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "ni hao", "selectionStart": 6, "selectionEnd": 6})
    enter_key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter_key})
    session.send("Input.insertText", {"text": "你好"})
    expect(page.locator("#say")).to_have_value("你好")
    page.evaluate(
        """document.getElementById("say").dispatchEvent(new KeyboardEvent("keydown",
            { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))"""
    )
    assert talking.log() == []
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    expect(page.locator("#say")).to_have_value("你好\nsecond line")
    page.keyboard.press("Enter")
    settled(page)
    assert talking.log() == ["你好\nsecond line"]


def test_keyboard_alone_writes_reports_votes_and_leaves(talking: Table, context: Contexts) -> None:
    ann, ben, _cat = talking.people
    page = enter(context(ann, viewport=DESK), ann)
    for number in range(3):
        talking.says(ben, f"line {number}")
    expect(page.locator("#lines .msg")).to_have_count(3)
    tab_to(page, "Report")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#report-heading")).to_be_focused()
    expect(page.locator("#report-quote")).to_have_text("line 1")
    page.keyboard.press("Tab")
    page.keyboard.type("rude")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#report-thanks")).to_be_visible()
    page.keyboard.press("Escape")
    assert rows(lambda: list(Concern.objects.values_list("event__text", "text"))) == [("line 1", "rude")]
    tab_to(page, "Write a message")
    page.keyboard.type("by keys")
    page.keyboard.press("Enter")
    settled(page)
    talking.moves_on()
    expect(page.locator("#vote-heading")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    assert talking.votes() == 1
    page.keyboard.press("Shift+Tab")
    tab_to(page, "Leave")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/group/survey/|/debrief/"))


def tab_to(page: Page, name: str) -> None:
    for _ in range(30):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """(() => { const at = document.activeElement;
            const own = at.matches("a, button") ? at.textContent : "";
            return [at.labels?.[0]?.textContent ?? "", own].join(" "); })()"""
        )
        if name in found:
            return
    raise AssertionError(f"no way to {name} by Tab")


def test_two_tabs_of_one_person_and_where_one_reads(talking: Table, context: Contexts) -> None:
    ann, ben, _cat = talking.people
    browser = context(ann)
    first, second = enter(browser, ann), enter(browser, ann)
    say(first, "from the first")
    expect(second.locator("#lines .mine p")).to_have_text("from the first")
    speakers: list[Player | Seat] = [ben, talking.agent, talking.people[2]]
    for number in range(12):  # four of each: as fast as the room allows
        talking.says(speakers[number % 3], f"line {number}\n\n\n\n\nand more")
    expect(first.locator("#lines .msg")).to_have_count(13)
    first.bring_to_front()
    until(first, "document.getElementById('log').scrollTop > 200")
    first.locator("#log").evaluate("node => { node.scrollTop = 20; }")
    until(first, "document.getElementById('log').scrollTop === 20")
    talking.says(ben, "news")
    expect(first.locator("#pill")).to_have_text("1 new message")
    assert first.locator("#log").evaluate("node => node.scrollTop") == 20
    first.locator("#pill").click()
    expect(first.locator("#pill")).to_be_hidden()
    expect(first.get_by_text("news")).to_be_in_viewport()
    talking.moves_on()
    for page in (first, second):
        page.locator("#faces label").first.click()
    first.locator("#vote-confirm").click()
    second.locator("#vote-confirm").click()
    for page in (first, second):
        expect(page.get_by_text("Your vote is in")).to_be_visible()
    assert rows(lambda: Vote.objects.count()) == 1
