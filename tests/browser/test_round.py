"""A round as people play it, and all that goes wrong on the way: nothing is lost, nobody is stuck."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from dialogues.models import Verdict
from games.speech.models import Round, Trial
from tests.browser.playing import DESK, Game, go_on, hear, read_instruction, rows, seed_game, start, stored

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]


def verdicts() -> list[str]:
    return rows(lambda: list(Verdict.objects.order_by("pk").values_list("choice", flat=True)))


def test_five_conversations_in_one_page_then_the_reveal(trial: Page, game: Game) -> None:
    address = trial.url
    for position in range(1, 6):
        expect(trial).to_have_title(f"Conversation {position} of 5")
        assert trial.url == address
        hear(trial)
        trial.locator(".answer").first.click()
        stored(trial)
        go_on(trial)
        if position < 5:
            # The click that asked for the next one also started it.
            expect(trial.locator("#play")).to_have_attribute("aria-label", "Pause")
    expect(trial).to_have_url(re.compile(r"/speech/round/1/$"))
    expect(trial.get_by_role("heading", level=1)).to_contain_text("of 5 correct")
    assert trial.locator("table.round tbody tr").count() == 5
    assert len(verdicts()) == 5
    trial.get_by_role("link", name="Hear the next round").click()
    expect(trial).to_have_title("Conversation 1 of 5")


def test_the_whole_conversation_is_stored_as_heard(trial: Page) -> None:
    hear(trial)
    trial.locator(".answer").first.click()
    stored(trial)
    evidence = rows(lambda: Verdict.objects.get().evidence)
    assert evidence["gate"] in {"ended", "covered"}
    assert evidence["heard"] > 0.9
    assert evidence["replays"] == 0
    assert evidence["answer_ms"] >= 0


def test_answers_are_locked_until_the_end_with_the_reason_in_sight(trial: Page) -> None:
    expect(trial.locator("#why")).to_have_text("You can answer once you have heard it all")
    trial.locator(".answer").first.click(force=True)
    expect(trial.locator(".answer[aria-pressed=true]")).to_have_count(0)
    assert verdicts() == []
    hear(trial)
    expect(trial.locator("#why")).to_have_text("You can answer now")
    expect(trial.locator("#say")).to_have_text("You can answer now")


def test_a_press_before_the_script_is_there_is_not_lost(context: Contexts, game: Game) -> None:
    def slowly(route: Route) -> None:
        time.sleep(1)
        route.continue_()

    browser = context(game)
    browser.route("**/player/keys.js", slowly)
    page = browser.new_page()
    page.goto(game.url("speech/pause/"))
    page.evaluate("sessionStorage.setItem('introduced', location.pathname.replace('pause', 'trial'))")
    page.goto(game.url("speech/trial/"), wait_until="commit")
    page.locator("#play").click()
    expect(page.locator(".answer[aria-disabled]")).to_have_count(0)


def test_double_click_on_an_answer_stores_one_verdict(trial: Page) -> None:
    hear(trial)
    trial.locator(".answer.h").dblclick()
    stored(trial)
    assert verdicts() == ["human"]


def test_double_click_on_next_skips_nothing(trial: Page) -> None:
    hear(trial)
    trial.locator(".answer.h").click()
    stored(trial)
    trial.get_by_role("button", name="Hear the next one").dblclick()
    expect(trial).to_have_title("Conversation 2 of 5")
    trial.wait_for_timeout(500)
    expect(trial).to_have_title("Conversation 2 of 5")


def test_an_answer_can_be_changed_until_the_next_conversation(trial: Page) -> None:
    hear(trial)
    trial.locator(".answer.h").click()
    stored(trial)
    trial.locator(".answer.m").click()
    expect(trial.locator(".answer.m")).to_have_attribute("aria-pressed", "true")
    go_on(trial)
    expect(trial).to_have_title("Conversation 2 of 5")
    verdict = rows(lambda: Verdict.objects.get())
    assert (verdict.first_choice, verdict.choice) == ("human", "machine")


def test_reload_in_the_middle_keeps_what_was_heard(trial: Page) -> None:
    # Paused by the page's own clock: on a slow machine the clip would be over before the second click.
    trial.evaluate(
        """() => {
            const sound = document.getElementById("sound");
            const stop = () => {
                if (sound.currentTime < 0.6) return;
                sound.removeEventListener("timeupdate", stop);
                document.getElementById("play").click();
            };
            sound.addEventListener("timeupdate", stop);
        }"""
    )
    with trial.expect_response(lambda answer: "/listening/" in answer.url and answer.json()["heard"] > 0.3):
        trial.locator("#play").click()
        expect(trial.locator("#play")).to_have_attribute("aria-label", "Go on listening")
    trial.reload()
    read_instruction(trial)
    expect(trial.locator("#play")).to_have_attribute("aria-label", "Go on listening")
    assert trial.locator("clipPath rect").count() >= 1
    heard = rows(lambda: Trial.objects.get(state="current").heard)
    assert 0.3 < heard < 0.97
    hear(trial)


def test_reload_after_the_answer_shows_it(trial: Page) -> None:
    hear(trial)
    trial.locator(".answer.m").click()
    stored(trial)
    trial.reload()
    expect(trial.locator(".answer.m")).to_have_attribute("aria-pressed", "true")
    go_on(trial)
    expect(trial).to_have_title("Conversation 2 of 5")
    assert verdicts() == ["machine"]


def test_back_lands_where_the_person_is(trial: Page, game: Game) -> None:
    trial.goto(game.url("speech/pause/"))
    trial.goto(game.url("speech/trial/"))
    hear(trial)
    trial.locator(".answer.h").click()
    stored(trial)
    go_on(trial)
    expect(trial).to_have_title("Conversation 2 of 5")
    trial.go_back()
    trial.go_forward()
    expect(trial).to_have_title("Conversation 2 of 5")
    assert verdicts() == ["human"]


def test_second_tab_follows_where_the_first_went(trial: Page, game: Game) -> None:
    second = trial.context.new_page()
    second.goto(game.url("speech/trial/"))
    read_instruction(second)
    hear(second)
    hear(trial)
    trial.locator(".answer.h").click()
    stored(trial)
    go_on(trial)
    expect(trial).to_have_title("Conversation 2 of 5")
    second.locator(".answer.m").click()
    expect(second).to_have_title("Conversation 2 of 5")
    expect(second.locator("#why")).to_contain_text("This is where you are")
    assert verdicts() == ["human"]


@pytest.mark.slow
def test_ten_seconds_offline_lose_no_answer(trial: Page) -> None:
    hear(trial)
    trial.context.set_offline(True)
    trial.locator(".answer.m").click()
    expect(trial.locator("#why")).to_contain_text("No connection. Your answer is kept and will be sent.")
    go_on(trial)
    trial.wait_for_timeout(10_000)
    assert verdicts() == []
    trial.context.set_offline(False)
    expect(trial).to_have_title("Conversation 2 of 5")
    assert verdicts() == ["machine"]


def test_an_answer_given_offline_survives_a_closed_page(trial: Page, game: Game) -> None:
    hear(trial)
    trial.context.set_offline(True)
    trial.locator(".answer.m").click()
    expect(trial.locator("#why")).to_contain_text("Your answer is kept")
    trial.close()
    context = trial.context
    context.set_offline(False)
    again = context.new_page()
    again.goto(game.url("speech/trial/"))
    expect(again.locator(".answer.m")).to_have_attribute("aria-pressed", "true")
    stored(again)
    assert verdicts() == ["machine"]


def test_an_answer_lost_on_its_way_is_sent_again(trial: Page) -> None:
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.request.url)
            route.fetch()  # the server stores it, the browser never hears of it
            route.abort()

    hear(trial)
    trial.route("**/verdict/", lose)
    trial.locator(".answer.h").click()
    stored(trial)
    assert lost
    assert verdicts() == ["human"]


def test_an_answer_survives_the_loss_of_the_pages_token(trial: Page) -> None:
    hear(trial)
    trial.context.clear_cookies(name="csrftoken")
    trial.locator(".answer").first.click()
    stored(trial)
    assert rows(Verdict.objects.count) == 1


def test_a_token_that_is_never_right_ends_in_a_page_that_waits(trial: Page) -> None:
    posts: list[str] = []

    def refuse(route: Route) -> None:
        posts.append(route.request.url)
        route.fulfill(status=403, json={"error": {"code": "no_session", "message": "no", "fields": {}}})

    hear(trial)
    trial.route("**/verdict/", refuse)
    trial.locator(".answer").first.click()
    expect(trial.locator("#why")).to_have_text("You can answer now")
    trial.wait_for_timeout(1500)
    assert len(posts) == 2
    assert trial.locator(".answer[aria-pressed=true]").count() == 0


def test_a_game_that_cannot_go_on_says_why_and_asks_no_more(trial: Page, game: Game) -> None:
    hear(trial)
    trial.locator(".answer").first.click()
    stored(trial)
    asked: list[str] = []
    trial.on("request", lambda request: asked.append(request.url) if "format=json" in request.url else None)
    refusal = {"error": {"code": "no_dialogues", "message": "none", "fields": {}}}
    trial.route("**/next/", lambda route: route.fulfill(status=409, json=refusal))
    trial.route("**/trial/?format=json", lambda route: route.fulfill(status=409, json=refusal))
    with trial.expect_navigation(url=game.url("speech/trial/")):
        go_on(trial)
    trial.wait_for_timeout(1000)
    assert len(asked) == 1


def test_a_clip_that_cannot_be_loaded_is_replaced(context: Contexts, game: Game) -> None:
    page = context(game).new_page()
    page.goto(game.url("speech/trial/"))
    first = page.evaluate("JSON.parse(document.getElementById('trial').textContent).audio")
    page.route(f"**{first}", lambda route: route.fulfill(status=500))
    page.reload()
    read_instruction(page)
    page.locator("#play").click()
    expect(page.locator(".answer[aria-disabled]")).to_have_count(0, timeout=20_000)
    failed = rows(lambda: Trial.objects.get(state="failed"))
    assert failed.failure == "load_error"
    assert rows(lambda: Trial.objects.get(state="current").position) == failed.position


@pytest.mark.slow
def test_a_clip_that_never_loads_is_replaced(context: Contexts, game: Game) -> None:
    browser = context(game)
    page = browser.new_page()
    page.goto(game.url("speech/trial/"))
    first = page.evaluate("JSON.parse(document.getElementById('trial').textContent).audio")
    page.route(f"**{first}", lambda route: None)  # neither an answer nor an error
    page.clock.install()
    page.reload(wait_until="domcontentloaded")
    read_instruction(page)
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_attribute("aria-busy", "true")
    for _second in range(60):
        page.clock.run_for(1000)
        page.wait_for_timeout(20)
    expect(page.locator("#why")).not_to_contain_text("loading again")
    assert rows(lambda: Trial.objects.get(state="failed").failure) == "load_error"
    assert rows(lambda: Trial.objects.filter(state="current").count()) == 1


def test_sound_fails_gives_another_conversation(trial: Page) -> None:
    trial.get_by_role("button", name="The sound fails").click()
    trial.get_by_role("button", name="Go on with this one").click()
    assert rows(lambda: Trial.objects.filter(state="failed").count()) == 0
    trial.get_by_role("button", name="The sound fails").click()
    trial.get_by_role("button", name="I hear nothing").click()
    expect(trial.locator("#why")).to_have_text("Here is another conversation")
    expect(trial).to_have_title("Conversation 1 of 5")
    assert rows(lambda: Trial.objects.get(state="failed").failure) == "no_sound"
    assert verdicts() == []


def test_a_known_recording_is_noted_and_taken_back(trial: Page) -> None:
    button = trial.get_by_role("button", name="I know this recording")
    with trial.expect_response("**/known/"):
        button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    trial.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    read_instruction(trial)
    with trial.expect_response("**/known/"):
        button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert rows(lambda: Trial.objects.get(state="current").known) is False


def test_jumping_ahead_is_not_listening(trial: Page) -> None:
    # In the page itself: a clip of a second and a half may be over before a slow machine asks for anything.
    trial.evaluate(
        """() => {
            const sound = document.getElementById("sound");
            let jumped = 0;
            sound.addEventListener("playing", () => {
                jumped = performance.now();
                sound.currentTime = 1.4;
            }, { once: true });
            sound.addEventListener("ended", () => {
                document.body.dataset.after = (performance.now() - jumped) / 1000;
            }, { once: true });
        }"""
    )
    trial.locator("#play").click()
    trial.locator("body[data-after]").wait_for()
    after = trial.locator("body").get_attribute("data-after")
    assert float(after or 0) > 1.2, "the end came as if the jump had been heard"
    expect(trial.locator(".answer[aria-disabled]")).to_have_count(0)


def test_rate_stays_at_one(trial: Page) -> None:
    trial.locator("#play").click()
    trial.evaluate("document.getElementById('sound').playbackRate = 4")
    trial.wait_for_timeout(200)
    assert trial.evaluate("document.getElementById('sound').playbackRate") == 1


@pytest.fixture
def revealing(transactional_db: None, site: str, clip: bytes) -> Game:
    return seed_game(site, clip, reveal="after_item")


def test_a_study_may_reveal_each_item_before_the_next(revealing: Game, context: Contexts) -> None:
    page = start(context(revealing), revealing)
    hear(page)
    page.locator(".answer.h").click()
    stored(page)
    expect(page.locator("#revealed")).to_be_hidden()
    go_on(page)
    expect(page).to_have_title("Conversation 2 of 5")
    expect(page.locator("#revealed")).to_contain_text("The last one: you said Human, B was")
    # The next one waits until this is read.
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play the conversation")
    assert page.evaluate("document.documentElement.scrollHeight") <= 640


def test_keyboard_alone_plays_a_round(context: Contexts, game: Game) -> None:
    page = context(game, viewport=DESK).new_page()
    page.goto(game.url("speech/trial/"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the instruction
    for position in range(1, 6):
        expect(page).to_have_title(f"Conversation {position} of 5")
        if page.locator("#play").get_attribute("aria-label") != "Pause":
            page.keyboard.press("Space")
        expect(page.locator(".answer[aria-disabled]")).to_have_count(0)
        page.keyboard.press("1" if position % 2 else "2")
        stored(page)
        page.keyboard.press("Space")
    expect(page).to_have_url(re.compile(r"/speech/round/1/$"))
    left = rows(lambda: Round.objects.get(number=1).player.human_left)
    first, second = ("human", "machine") if left else ("machine", "human")
    assert verdicts() == [first, second, first, second, first]


def test_keys_can_be_switched_off_for_good(context: Contexts, game: Game) -> None:
    page = start(context(game, viewport=DESK), game)
    page.get_by_role("button", name="Keys").click()
    page.locator("h1").click()
    page.keyboard.press("Space")
    page.wait_for_timeout(200)
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play the conversation")
    page.reload()
    expect(page.get_by_role("button", name="Keys")).to_have_attribute("aria-pressed", "false")


def test_without_scripts_the_same_page_answers(context: Contexts, game: Game) -> None:
    page = context(game, java_script_enabled=False).new_page()
    page.goto(game.url("speech/trial/"))
    expect(page.locator("noscript audio")).to_be_visible()
    page.locator(".answer.h").click(force=True)
    expect(page.get_by_text("You can answer once you have heard it all.", exact=True)).to_be_visible()
    expect(page).to_have_title("Conversation 1 of 5")
    assert verdicts() == []
