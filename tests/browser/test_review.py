"""Expert review in a browser: by keyboard and without scripts, accessible, at every size, and two at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import BatchItem, Resolution, ReviewCase, ReviewDecision, Score
from annotation.services.review_cases import refresh_cases, scores_of
from annotation.services.reviewing import approve_lot, comment, decide
from dialogues.models import Dialogue, System, Turn
from tests import factories
from tests.annotation.reviewers import fresh, make_reviewer
from tests.browser.playing import CLIP, DESK, PHONE, rows
from tests.browser.test_desk import PASSWORD, check
from tests.factories import NOW

pytestmark = pytest.mark.browser
Contexts = Callable[..., BrowserContext]
TABLET = {"width": 820, "height": 1180}
WORDS = "Did you see the match last night? – I did, though, um, only the second half."


@pytest.fixture
def whole_study(transactional_db: None, site: str, clip: bytes) -> ReviewCase:
    """A dialogue with three raters who are apart, in which two reviewers have begun; another one waits."""
    study = factories.annotated_study(dialogues=2)
    System.objects.update(name="Parley 2", vendor="An institute", version="2025-06")
    for dialogue in Dialogue.objects.all():
        path = Path(settings.MEDIA_ROOT) / dialogue.play_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clip)
    Dialogue.objects.update(play_duration=CLIP, play_size=len(clip))
    for turn in Turn.objects.all():
        start = turn.index * CLIP / 4
        Turn.objects.filter(pk=turn.pk).update(play_start=start, play_end=start + CLIP / 4, text=WORDS)
    machine = Dialogue.objects.get(kind="pseudo_human")
    items = list(BatchItem.objects.filter(dialogue=machine).order_by("pk"))
    for n, item in enumerate(items):
        Score.objects.filter(item=item, dimension__key="rhythm").update(value=(1, 2, 5)[n])
        Score.objects.filter(item=item, dimension__key="accent").update(value=4 - n)
    Score.objects.filter(item=items[1], dimension__key="stress").update(value=3, evidence=False)
    refresh_cases(study, NOW)
    case = ReviewCase.objects.get(dialogue=machine)
    make_reviewer(study, "ada")
    ben, cho = make_reviewer(study, "ben"), make_reviewer(study, "cho")
    named = {(one.dimension.key, case.raters.index(one.rater_id) + 1): one for one in scores_of(case)}

    def say(who: Any, place: tuple[str, int], value: int | None = None) -> None:
        decide(
            case=case, score=named[place], reviewer=who, decision="propose" if value else "approve",
            value=value, reason="The pauses are cut to one length." if value else "",
            version=fresh(case).version, now=NOW,
        )  # fmt: skip

    say(ben, ("rhythm", 3), 2)
    say(cho, ("rhythm", 3))
    say(ben, ("rhythm", 1))
    approve_lot(
        case=case, reviewer=cho, dimension=named["stress", 1].dimension, version=fresh(case).version, now=NOW
    )
    rhythm = named["rhythm", 1].dimension
    comment(case=case, author=cho, dimension=rhythm, text="They fit what B is looking for.", now=NOW)
    return case


def sign_in(context: BrowserContext, site: str, case: ReviewCase, who: str = "ada") -> Page:
    page = context.new_page()
    page.goto(f"{site}/review/{case.study.slug}/")
    page.fill("#id_username", who)
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    expect(page).to_have_url(f"{site}/review/{case.study.slug}/")
    return page


def look(page: Page, name: str) -> None:
    """A picture to look at, where somebody wants pictures."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "viewport", "locale", "scheme"),
    [
        ("phone", PHONE, "zh-CN", "dark"),
        ("tablet", TABLET, "zh-CN", "light"),
        ("desk", DESK, "en-GB", "light"),
        ("desk", DESK, "en-GB", "dark"),
    ],
)
def test_every_page_of_the_review(
    whole_study: ReviewCase, site: str, context: Contexts, size: str, viewport: Any, locale: str, scheme: str
) -> None:
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), site, whole_study)
    console: list[str] = []
    page.on("console", lambda m: console.append(m.text) if m.type == "error" else None)
    name = f"{size}-{locale[:2]}-{scheme}"
    check(page)
    look(page, f"queue-{name}")
    place = f"{site}/review/{whole_study.study.slug}/{whole_study.code}/"
    for path, what in (("", "case"), ("?open=rhythm&rater=3", "open")):
        page.goto(place + path)
        check(page)
        look(page, f"{what}-{name}")
    page.goto(f"{site}/review/")
    check(page)
    assert not console


@pytest.mark.parametrize("width", [360, 390])
def test_no_words_of_the_table_run_out_of_their_boxes_on_a_phone(
    whole_study: ReviewCase, site: str, context: Contexts, width: int
) -> None:
    page = sign_in(context(viewport={"width": width, "height": 800}), site, whole_study)
    page.goto(f"{site}/review/{whole_study.study.slug}/{whole_study.code}/")
    page.locator("#lot").click()
    expect(page.locator("#lot")).to_have_count(0)
    expect(page.locator("#d-stress .state").first).to_contain_text("✓")  # settled: all three approve
    expect(page.locator("#c-rhythm\\.3 .state")).to_contain_text("≠")
    out = page.evaluate(
        """() => [...document.querySelectorAll(".cell .score, .cell .state, .grid thead th")]
            .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
            .map((one) => one.textContent.trim())"""
    )
    over = page.evaluate(
        """() => [...document.querySelectorAll(".cell")].filter((cell) => {
            const box = cell.getBoundingClientRect(), range = document.createRange();
            range.selectNodeContents(cell);
            const all = [...range.getClientRects()].filter((one) => one.width);
            return all.some((one) => one.right > box.right + 1 || one.left < box.left - 1);
        }).map((one) => one.textContent.trim())"""
    )
    look(page, f"settled-{width}")
    assert not out
    assert not over
    check(page)


def test_a_dimension_by_keyboard_while_the_sound_plays_on(
    whole_study: ReviewCase, site: str, context: Contexts
) -> None:
    page = sign_in(context(viewport=DESK), site, whole_study)
    page.get_by_role("link", name=whole_study.code).press("Enter")
    page.evaluate("document.querySelector('audio').dataset.same = 'yes'")
    page.locator("#c-accent\\.1").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#c-accent\\.2")).to_be_focused()
    page.keyboard.press("a")  # approves, and the focus stays
    expect(page.locator("#c-accent\\.2 .state")).to_contain_text("✓ 1/3")
    expect(page.locator("#c-accent\\.2")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".panel")).to_be_visible()
    expect(page.locator("#c-accent\\.1")).to_be_focused()
    page.get_by_role("radio", name="1:").first.focus()
    page.keyboard.press("Space")
    page.get_by_label("Why (for another value)").focus()
    page.keyboard.type("A reader's accent.")
    page.get_by_role("button", name="Decide", exact=True).press("Enter")
    expect(page.locator("#c-accent\\.1 .state")).to_contain_text("→ 1 1/3")
    page.locator("#r-intonation").press("Enter")
    expect(page.locator("#d-intonation .state").first).to_contain_text("✓ 1/3")
    expect(page.locator("#o-intonation")).to_be_focused()
    assert page.evaluate("document.querySelector('audio').dataset.same") == "yes"
    said = rows(lambda: list(ReviewDecision.objects.filter(reviewer__username="ada").order_by("pk")))
    assert [(one.decision, one.value) for one in said[:2]] == [("approve", 3), ("propose", 1)]
    assert len(said) == 5


def test_the_sound_is_heard_and_a_turn_starts_it(
    whole_study: ReviewCase, site: str, context: Contexts
) -> None:
    page = sign_in(context(viewport=DESK), site, whole_study)
    page.goto(f"{site}/review/{whole_study.study.slug}/{whole_study.code}/")
    page.locator("[data-seek]").nth(1).click()
    audio = page.locator("audio")
    expect(audio).not_to_have_js_property("currentTime", 0)
    expect(audio).to_have_js_property("ended", True)  # it played to its end
    assert audio.evaluate("(one) => one.played.start(0)") > 0.3


def test_what_is_refused_is_said_in_place_and_the_input_stays(
    whole_study: ReviewCase, site: str, context: Contexts
) -> None:
    page = sign_in(context(viewport=DESK), site, whole_study)
    page.goto(f"{site}/review/{whole_study.study.slug}/{whole_study.code}/?open=accent&rater=1")
    page.locator(".panel [value='2']").first.check(force=True)
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("[data-error]")).to_be_focused()
    expect(page.locator("[data-error]")).to_contain_text("Say why.")
    expect(page.locator(".panel [value='2']").first).to_be_checked()
    check(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_two_at_once_choose_on_a_page_that_shows_both(
    whole_study: ReviewCase, site: str, context: Contexts, scripts: bool
) -> None:
    page = sign_in(context(viewport=DESK, java_script_enabled=scripts), site, whole_study)
    page.goto(f"{site}/review/{whole_study.study.slug}/{whole_study.code}/?open=accent&rater=1")

    def meanwhile() -> None:
        score = next(one for one in scores_of(fresh(whole_study)) if one.dimension.key == "accent")
        decide(
            case=whole_study, score=score, decision="propose", value=2, reason="Too even.", now=NOW,
            reviewer=score.study.members.get(user__username="ben").user, version=fresh(whole_study).version,
        )  # fmt: skip

    rows(meanwhile)
    page.locator(".panel [value='1'][name=choice]").first.check(force=True)
    page.get_by_label("Why (for another value)").fill("A reader's accent.")
    page.get_by_role("button", name="Decide", exact=True).click()
    expect(page.locator("h1")).to_have_text("Somebody decided meanwhile")
    expect(page.locator("main")).to_contain_text("Too even.")
    expect(page.locator("#reason")).to_have_value("A reader's accent.")
    if scripts:
        check(page)
        look(page, "conflict")
    assert rows(lambda: ReviewDecision.objects.filter(reviewer__username="ada").count()) == 0
    page.get_by_role("button", name="Store mine all the same").click()
    expect(page.locator(".warn").first).to_contain_text("reviewers differ on 2 dimensions")


def test_without_scripts_a_case_is_reviewed_to_its_end(
    whole_study: ReviewCase, site: str, context: Contexts
) -> None:
    page = sign_in(context(viewport=DESK, java_script_enabled=False), site, whole_study)
    page.get_by_role("link", name=whole_study.code).click()
    page.locator("#o-rhythm").click()
    page.locator("[name=text]").first.fill("Half of them are cut.")
    page.get_by_role("button", name="Say it").first.click()
    expect(page.locator(".review-comments").first).to_contain_text("Half of them are cut.")
    page.locator("#lot").click()
    expect(page.locator("#lot")).to_have_count(0)
    page.get_by_role("radio", name="3:").last.check(force=True)
    page.get_by_label("Why", exact=True).fill("Half of them.")
    page.get_by_role("button", name="Close with this value").click()
    expect(page.locator("#c-rhythm\\.3 .state")).to_contain_text("→ 3")
    assert rows(lambda: Resolution.objects.get(how="agreed").result.value) == 3
