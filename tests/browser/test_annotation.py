"""Scoring as annotators do it, and all that goes wrong on the way: nothing lost, nothing overwritten."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Annotator, Batch, BatchItem, Score
from annotation.services.leases import sweep
from dialogues.models import Verdict
from tests.browser.annotating import (
    ROWS,
    hear_whole,
    open_gates,
    score_all,
    seed_work,
    settled,
    unlocked,
    work,
)
from tests.browser.playing import DESK, Game, rows, until

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]
COUNT_KEYS = "window.presses = 0; addEventListener('keydown', () => { window.presses += 1 }, true)"
MOST_PRESSES = 25  # per dialogue, beyond listening


@pytest.fixture
def game(transactional_db: None, site: str, clip: bytes) -> Game:
    return seed_work(site, clip)


@pytest.fixture
def page(context: Contexts, game: Game) -> Page:
    """A desk on the first dialogue, heard whole."""
    opened = work(context(game, viewport=DESK), game)
    hear_whole(opened)
    return opened


def scores() -> dict[str, int]:
    found = rows(lambda: list(Score.objects.values_list("dimension__key", "value", "evidence")))
    return {key: value if evidence else 0 for key, value, evidence in found}


def first_key(page: Page) -> str:
    return page.locator(".row").first.get_attribute("data-row") or ""


def test_a_batch_of_five_by_keyboard_alone(context: Contexts, game: Game) -> None:
    browser = context(game, viewport=DESK)
    browser.add_init_script(COUNT_KEYS)
    page = work(browser, game)
    page.keyboard.press("Space")
    for position in range(1, 6):
        expect(page).to_have_title(f"Dialogue {position} of 5: score speaker B")
        unlocked(page)  # the Enter that asked for it also started it
        page.evaluate("window.presses = 0")
        for number in range(ROWS):
            page.keyboard.press("0" if number == 3 else str(1 + number % 5))
        page.keyboard.press("1")
        page.keyboard.press("4")
        expect(page.locator("#go.now")).to_be_visible()
        presses = page.evaluate("window.presses")
        assert presses + 1 <= MOST_PRESSES
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/annotation/batch/1/$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("This batch is finished")
    finished = rows(
        lambda: list(BatchItem.objects.filter(state="finished").values_list("choice", "confidence"))
    )
    assert finished == [("human", 4)] * 5
    assert rows(Score.objects.count) == 5 * ROWS
    assert rows(lambda: Score.objects.filter(evidence=False, value=3).count()) == 5
    assert rows(lambda: Verdict.objects.filter(activity="annotation").count()) == 5
    page.get_by_role("link", name="Next batch").click()
    expect(page).to_have_title("Dialogue 1 of 2: score speaker B")


def test_scores_are_locked_until_the_dialogue_was_heard_whole(context: Contexts, game: Game) -> None:
    page = work(context(game, viewport=DESK), game)
    expect(page.locator("#why")).to_have_text("Hear it whole, then score")
    page.keyboard.press("4")
    expect(page.locator("#say")).to_have_text("Hear it whole, then score")
    expect(page.locator("#why")).to_have_attribute("data-insists", "")
    expect(page.locator("#why[data-insists]")).to_have_count(0)  # after a moment
    assert page.locator("#cats input:checked").count() == 0
    expect(page.locator("#speed")).to_have_attribute("disabled", "")
    expect(page.locator(".turn").last).to_have_attribute("aria-disabled", "true")
    page.locator(".turn").last.click(force=True)  # ahead of what was heard: nothing
    assert page.evaluate("document.getElementById('sound').currentTime") == 0
    hear_whole(page)
    expect(page.locator("#why")).to_have_text("Heard whole. You can score now.")
    assert page.locator("#cats input:checked").count() == 0, "nothing is chosen beforehand"
    item = rows(lambda: BatchItem.objects.get(opened_at__isnull=False))
    assert item.gate in {"ended", "covered"}
    assert item.whole_at is not None


def test_slower_only_after_the_first_hearing_and_it_is_stored(page: Page) -> None:
    page.locator("#speed label").nth(2).click()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Pause")
    assert page.evaluate("document.getElementById('sound').playbackRate") == 0.75
    page.evaluate("document.getElementById('sound').playbackRate = 2")  # by a browser's own menu
    until(page, "document.getElementById('sound').playbackRate === 0.75")
    until(page, "document.getElementById('sound').paused")  # the turn is over
    page.keyboard.press("4")
    settled(page)
    item = rows(lambda: BatchItem.objects.get(opened_at__isnull=False))
    assert item.slowest == 0.75
    assert item.slow_seconds > 0.2


def test_repeat_plays_the_last_turn_of_b_and_stops_there(page: Page) -> None:
    # The page itself notes when sound goes on and off: a turn is over before a busy machine has asked twice.
    page.evaluate(
        """() => {
            const sound = document.getElementById("sound");
            sound.currentTime = 0.8;  // A's second turn, of four in 1.5 s
            window.noted = [];
            for (const name of ["playing", "pause"])
                sound.addEventListener(name, () => window.noted.push([name, sound.currentTime]));
        }"""
    )
    page.keyboard.press("r")
    until(page, "window.noted.at(-1)?.[0] === 'pause'")
    (began, start), *_between, (_stopped, end) = page.evaluate("window.noted")
    assert began == "playing"
    assert 0.3 < start < 0.7 < end < 1.0
    expect(page.locator("#play")).to_have_attribute("aria-label", "Go on listening")
    expect(page.locator(".turn[aria-current]")).to_have_count(1)


def test_a_click_on_a_turn_plays_it(page: Page) -> None:
    page.locator(".turn").nth(2).click()
    expect(page.locator("#play")).to_have_attribute("aria-label", "Pause")
    assert page.evaluate("document.getElementById('sound').currentTime") >= 0.7
    page.keyboard.press("4")  # the keys work on the scores at once
    expect(page.locator(".row").first.locator("input:checked")).to_have_value("4")


def test_backspace_goes_back_and_a_score_can_be_changed(page: Page) -> None:
    page.keyboard.press("4")
    page.keyboard.press("2")
    page.keyboard.press("Backspace")
    expect(page.locator(".row").nth(1)).to_have_class(re.compile("now"))
    page.keyboard.press("5")
    expect(page.locator(".row").nth(2)).to_have_class(re.compile("now"))
    settled(page)
    assert list(scores().values()) == [4, 5]


def test_a_category_folds_into_a_line_and_opens_again(page: Page) -> None:
    first = page.locator("details.cat").first
    size = first.locator(".row").count()
    for _ in range(size):
        page.keyboard.press("4")
    expect(first).not_to_have_attribute("open", "")
    expect(first.locator(".digits")).to_have_text("4" * size)
    expect(page.locator("details.cat").nth(1)).to_have_attribute("open", "")
    first.locator("summary").first.click()
    expect(first).to_have_attribute("open", "")
    first.locator(".row").nth(1).locator("label", has_text="2").click()
    settled(page)
    assert sorted(scores().values()) == [2] + [4] * (size - 1)


def test_enter_says_what_is_missing_and_goes_there(page: Page) -> None:
    page.keyboard.press("4")
    page.locator(".row").nth(4).locator("label", has_text="2").click()
    page.keyboard.press("Enter")
    row = page.locator(".row").nth(1)
    expect(row).to_have_class(re.compile("now"))
    expect(row).to_contain_text("still open")
    expect(page.locator("#say")).to_contain_text("Still open")
    expect(page).to_have_title("Dialogue 1 of 5: score speaker B")


def test_the_choice_comes_last_and_in_the_order_of_the_person(context: Contexts, game: Game) -> None:
    rows(lambda: Annotator.objects.update(human_left=False))
    page = work(context(game, viewport=DESK), game)
    hear_whole(page)
    expect(page.locator("#choice")).to_be_hidden()
    score_all(page)
    expect(page.locator("#choice")).to_be_visible()
    expect(page.locator("#choice label").first).to_contain_text("Machine")
    assert page.locator("#finale input:checked").count() == 0
    page.keyboard.press("1")
    page.keyboard.press("5")
    settled(page)
    item = rows(lambda: BatchItem.objects.get(choice__gt=""))
    assert (item.choice, item.confidence) == ("machine", 5)


def test_keys_wait_for_nobody_and_stand_back(page: Page, game: Game) -> None:
    page.keyboard.press("Control+4")
    page.keyboard.press("Alt+4")
    page.locator("#fails button").click()
    page.keyboard.press("3")  # a sheet is open
    page.keyboard.press("Escape")
    assert page.locator("#cats input:checked").count() == 0
    with page.expect_response("**/annotation/keys/") as stored:
        page.locator("#keys").click()
    assert stored.value.ok
    page.keyboard.press("4")
    assert page.locator("#cats input:checked").count() == 0
    page.reload()
    expect(page.locator("#keys")).to_have_attribute("aria-pressed", "false")
    page.locator("#keys").click()
    page.keyboard.press("4")
    expect(page.locator("#cats input:checked")).to_have_count(1)


def test_what_a_dimension_means_is_one_key_or_one_hover_away(page: Page) -> None:
    words = page.locator(".row").first.locator(".words")
    page.keyboard.press("i")
    expect(words).to_be_visible()
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    page.locator(".row").first.locator("summary").hover()
    expect(words).to_be_visible()
    words.hover()  # the pointer may go there
    page.wait_for_timeout(400)
    expect(words).to_be_visible()
    page.locator("#deck .lanes").hover()
    expect(words).to_be_hidden()


def test_offline_for_a_while_costs_nothing(page: Page) -> None:
    page.evaluate(
        "window.said = []; const say = document.querySelector('#say');"
        "new MutationObserver(() => said.push(say.textContent)).observe(say, {childList: true})"
    )
    page.context.set_offline(True)
    score_all(page, "2")
    page.keyboard.press("2")
    page.keyboard.press("3")
    expect(page.locator("#saved")).to_have_text(f"▲ Kept here: {ROWS + 1}")
    until(page, "said.some((text) => text.includes('No connection'))")  # and what comes before or after it
    page.keyboard.press("Enter")
    expect(page).to_have_title("Dialogue 1 of 5: score speaker B")
    page.context.set_offline(False)
    expect(page).to_have_title("Dialogue 2 of 5: score speaker B")
    assert list(scores().values()) == [2] * ROWS
    assert rows(lambda: BatchItem.objects.get(state="finished").choice) == "machine"


def test_a_reload_brings_back_what_was_not_sent(page: Page) -> None:
    page.route("**/save/", lambda route: route.abort())
    for digit in "1250":
        page.keyboard.press(digit)
    expect(page.locator("#saved")).to_have_text("▲ Kept here: 4")
    assert scores() == {}
    page.unroute("**/save/")
    page.context.route("**/save/", lambda route: route.continue_())
    page.reload()
    expect(page.locator("#cats input:checked")).to_have_count(4)
    settled(page)
    assert list(scores().values()) == [1, 2, 5, 0]
    expect(page.locator(".row").nth(4)).to_have_class(re.compile("now"))
    page.reload()
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('turing.scores')).length") == 0


def test_leaving_the_page_sends_what_waits(page: Page, game: Game) -> None:
    page.keyboard.press("4")
    page.goto(game.url("annotation/break/"))  # at once: before the letter was sent
    expect(page.get_by_role("heading", level=1)).to_have_text("Take your time")
    page.goto(game.url("annotation/batch/"))
    settled(page)
    assert list(scores().values()) == [4]


def test_another_device_is_told_and_nothing_is_overwritten(context: Contexts, game: Game, page: Page) -> None:
    other = work(context(game, viewport=DESK), game)
    key = first_key(page)
    page.keyboard.press("4")
    settled(page)
    other.keyboard.press("2")
    sheet = other.locator("#conflicts")
    expect(sheet).to_be_visible()
    expect(sheet).to_contain_text("2 here, 4 elsewhere")
    expect(other.locator("#say")).to_contain_text("2 here, 4 elsewhere")
    assert scores() == {key: 4}
    other.keyboard.press("5")  # the work goes on meanwhile
    sheet.get_by_role("button", name="Keep 2").click()
    expect(sheet).to_be_hidden()
    settled(other)
    assert scores()[key] == 2
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator(".row").first.locator("input:checked")).to_have_value("2")
    expect(page.locator(".row").first).to_contain_text("Changed in another window")
    assert page.locator("#cats input:checked").count() == 2


def test_the_answer_from_elsewhere_can_stay(context: Contexts, game: Game, page: Page) -> None:
    other = work(context(game, viewport=DESK), game)
    page.keyboard.press("4")
    settled(page)
    other.keyboard.press("2")
    other.get_by_role("button", name="Keep 4").click()
    expect(other.locator(".row").first.locator("input:checked")).to_have_value("4")
    settled(other)
    assert list(scores().values()) == [4]


def test_a_change_of_mind_while_a_reply_is_lost_is_no_conflict(page: Page) -> None:
    page.route("**/save/", lambda route: (route.fetch(), route.abort()), times=1)
    page.keyboard.press("4")
    expect(page.locator("#saved")).to_contain_text("Kept here")
    page.keyboard.press("Backspace")
    page.keyboard.press("5")
    settled(page)
    expect(page.locator("#conflicts")).to_be_hidden()
    assert list(scores().values()) == [5]


def test_moving_on_elsewhere_brings_this_window_along(context: Contexts, game: Game, page: Page) -> None:
    other = work(context(game, viewport=DESK), game)
    score_all(page)
    for key in ("1", "4", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_title("Dialogue 2 of 5: score speaker B")
    other.keyboard.press("2")
    expect(other).to_have_title("Dialogue 2 of 5: score speaker B")
    expect(other.locator("#say")).to_contain_text("You went on in another window")
    assert list(scores().values()) == [4] * ROWS


def test_a_closed_laptop_keeps_the_answers_and_offers_them_back(page: Page) -> None:
    page.keyboard.press("4")
    settled(page)
    page.context.set_offline(True)
    page.keyboard.press("2")
    expect(page.locator("#saved")).to_have_text("▲ Kept here: 1")

    def lapse() -> int:
        later = timezone.now() + timedelta(days=2)
        return sweep(now=later)

    assert rows(lapse) == 1
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile("/annotation/returned/$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Welcome back")
    page.get_by_role("button", name="Take them up again").click()
    expect(page).to_have_title("Dialogue 1 of 5: score speaker B")
    expect(page.locator("#cats input:checked")).to_have_count(2)
    assert list(scores().values()) == [4, 2]
    assert rows(lambda: Batch.objects.get().state) == "open"


def test_double_clicks_skip_nothing(page: Page) -> None:
    page.locator(".row").first.locator("label", has_text="4").dblclick()
    for _ in range(ROWS - 1):
        page.keyboard.press("3")
    page.locator("#choice label").first.dblclick()
    page.locator("#sure label").nth(3).dblclick()
    settled(page)
    page.locator("#go").dblclick()
    expect(page).to_have_title("Dialogue 2 of 5: score speaker B")
    page.wait_for_timeout(500)
    expect(page).to_have_title("Dialogue 2 of 5: score speaker B")
    assert rows(lambda: BatchItem.objects.filter(state="finished").count()) == 1


def test_a_known_recording_and_failing_sound_bring_another_dialogue(page: Page) -> None:
    first = page.evaluate("JSON.parse(document.getElementById('item').textContent).code")
    page.get_by_role("button", name="I know this recording").click()
    page.get_by_role("button", name="No, go on with this one").click()
    assert rows(lambda: BatchItem.objects.get(code=first).state) == "open"
    page.get_by_role("button", name="I know this recording").click()
    page.get_by_role("button", name="Yes, another one please").click()
    expect(page.locator("#say")).to_have_text("Here is another dialogue.")
    assert rows(lambda: BatchItem.objects.get(code=first).state) == "skipped"
    page.get_by_role("button", name="The sound fails").click()
    with page.expect_response("**/failed/"):
        page.get_by_role("button", name="It is too quiet or distorted").click()
    assert rows(lambda: BatchItem.objects.exclude(failure="").get().failure) == "too_quiet"


def test_a_session_that_ran_out_asks_once_more(page: Page) -> None:
    page.context.clear_cookies(name="csrftoken")
    page.keyboard.press("4")
    expect(page.locator("#cats input:checked")).to_have_count(1)
    settled(page)
    assert list(scores().values()) == [4]


def test_a_break_is_offered_and_stops_nobody(context: Contexts, game: Game) -> None:
    page = context(game, viewport=DESK).new_page()

    def with_break(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"break": True})

    page.goto(game.url("annotation/batch/"))
    hear_whole(page)
    page.route("**/save/", with_break)
    page.keyboard.press("4")
    expect(page.locator("#break")).to_be_visible()
    page.keyboard.press("5")
    expect(page.locator("#cats input:checked")).to_have_count(2)
    page.get_by_role("button", name="Not now").click()
    page.keyboard.press("3")
    settled(page)
    expect(page.locator("#break")).to_be_hidden()
    page.unroute("**/save/")
    page.locator("#pause").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Take your time")
    expect(page.locator(".figure.code")).to_be_visible()
    expect(page.get_by_role("link", name="Go on")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#cats input:checked")).to_have_count(3)


def test_a_batch_without_scripts(context: Contexts, game: Game) -> None:
    page = context(game, viewport=DESK, java_script_enabled=False).new_page()
    page.goto(game.url("annotation/batch/"))
    assert page.locator("audio[controls]").count() == 1
    rows(open_gates)
    for position in range(1, 6):
        expect(page).to_have_title(f"Dialogue {position} of 5: score speaker B")
        groups = page.locator(".row")
        for number in range(ROWS - 1):
            groups.nth(number).locator("input[value='4']").check(force=True)
        if position == 1:
            page.get_by_role("button", name="Save and go on").click()
            expect(page).to_have_title("Dialogue 1 of 5: score speaker B")
            expect(page.locator("#errors")).to_be_visible()
            expect(groups.last.locator(".error-text")).to_be_visible()
            expect(page.locator("#cats .row input:checked")).to_have_count(ROWS - 1)
        groups.last.locator("[type=radio][value='0']").check(force=True)
        page.locator("[name=choice][value=human]").check(force=True)
        page.locator("[name=confidence][value='3']").check(force=True)
        page.get_by_role("button", name="Save and go on").click()
    expect(page).to_have_url(re.compile(r"/annotation/batch/1/$"))
    assert rows(lambda: BatchItem.objects.filter(state="finished").count()) == 5
    assert rows(Score.objects.count) == 5 * ROWS
