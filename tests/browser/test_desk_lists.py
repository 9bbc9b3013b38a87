"""The admin's own lists and forms, the trail, people and live figures: accessible, narrow enough, alive."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from dialogues.models import Dialogue, System
from studies import audit
from tests import factories
from tests.browser.playing import DESK, PHONE, Game, rows
from tests.browser.test_desk import Contexts, check, sign_in
from tests.browser.test_desk import desk as desk  # the fixture

TABLET = {"width": 820, "height": 1180}


@pytest.fixture
def full(desk: Game) -> Game:
    """With a system, a speaker and a topic to change, and a line of the trail of every sort of object."""
    factories.SystemFactory(name="Talker")
    factories.SpeakerFactory()
    factories.TopicFactory()
    dialogue = Dialogue.objects.order_by("pk")[0]
    audit.record("study.status", study=desk.study, was="draft", now_is="open")
    audit.record("dialogue.queued", study=desk.study, target=dialogue.pk, profile="natural")
    audit.record("thing.new", study=desk.study, target="1", answer=[1, 2])
    return desk


def paths(game: Game) -> list[str]:
    user = get_user_model().objects.get(username="researcher").pk
    system = System.objects.get(name="Talker").pk
    study = f"study/{game.study.slug}/"
    admin = [
        "dialogues/system/", "dialogues/system/add/", f"dialogues/system/{system}/change/",
        f"dialogues/system/{system}/delete/", f"dialogues/system/{system}/history/",
        "dialogues/speaker/", "dialogues/speaker/add/", "dialogues/topic/", "dialogues/strategy/",
        "auth/user/", "auth/user/add/", f"auth/user/{user}/change/", f"auth/user/{user}/password/",
        "password_change/",
    ]  # fmt: skip
    people = ["participants/", f"participants/{game.participant.code}/", "participants/?code=ABCDEFGHJKMN"]
    return [*admin, "audit/", *(study + page for page in (*people, "audit/", ""))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"),
    [(PHONE, "en-GB", "light"), (TABLET, "zh-CN", "dark"), (DESK, "zh-CN", "light"), (DESK, "en-GB", "dark")],
)
def test_lists_and_forms_of_the_admin(
    full: Game, context: Contexts, viewport: Any, locale: str, scheme: str
) -> None:
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), full)
    for path in rows(lambda: paths(full)):
        answer = page.goto(f"{full.site}/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        check(page)
    page.goto(f"{full.site}/admin/dialogues/system/add/")
    page.locator("[name=_save]").click()
    expect(page.locator(".errornote")).to_be_visible()
    check(page)


def test_live_figures_are_counted_anew_and_can_be_held_still(full: Game, context: Contexts) -> None:
    made = context(viewport=DESK)
    page = sign_in(made, full)
    page.clock.install()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/live/" in request.url else None)
    page.goto(f"{full.site}/admin/study/{full.study.slug}/")
    figures = page.locator("[data-live-figures]")
    expect(figures.locator("dd").first).to_have_text("0")
    with page.expect_response("**/live/") as answered:
        page.clock.fast_forward(15_000)
    assert answered.value.status == 200
    expect(figures.locator("dd").first).to_have_text("0")
    check(page)
    page.get_by_role("button", name="Hold still").click()
    before = len(asked)
    page.clock.fast_forward(60_000)
    assert len(asked) == before
    with page.expect_response("**/live/"):
        page.get_by_role("button", name="Go on counting").click()
    made.set_offline(True)
    page.clock.fast_forward(15_000)
    expect(page.locator("[data-live-lost]")).to_be_visible()
