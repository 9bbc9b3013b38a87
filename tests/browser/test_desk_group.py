"""The group game on the desk in a browser: every page accessible and narrow, and what its scripts do."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from games.group.models import Elimination, Game, GroupSettings, Vote
from games.group.services.agents import ensure_offline_agent
from games.group.services.previewing import open_preview
from games.room.models import Concern, Event
from studies.models import Participant
from tests import factories
from tests.browser.playing import DESK, PHONE, rows, until
from tests.browser.playing import Game as Site
from tests.browser.rooms import site as site  # the fixture: with sockets
from tests.browser.test_desk import Contexts, check, sign_in
from tests.browser.test_desk import desk as desk  # the fixture
from tests.group.at_the_desk import at, said, step
from tests.rooms import GameFactory

SHOTS = os.environ.get("SHOTS", "")
LONG = "Well, where I live the buses are never on time, so I walk, whatever the weather is. And you, Cedar?"
TALK = ["hey everyone", LONG, "hi, lol", "who is the bot here?", "你们好，今天天气不错"]


def played(study: Any, agent: Any, *, ended: bool) -> Game:
    """A game in its second round, or after it: somebody was voted out, then the AI."""
    began = timezone.now() - timedelta(minutes=4)
    over = {"phase": "end", "closed_at": began + timedelta(seconds=200), "writable": False, "deadline": None}
    room = over if ended else {"deadline": timezone.now() + timedelta(seconds=95)}
    game = GameFactory(
        room__study=study,
        room__opened_at=began,
        room__phase_started_at=began,
        room__round=2,
        **{f"room__{name}": value for name, value in room.items()},
        agent=agent,
        **({"end": "agent_out", "ended_at": over["closed_at"]} if ended else {}),
    )
    said(game, None, kind="phase", round=1, phase="discussion", data={"seconds": 150})
    for n, words in enumerate(TALK):
        event = said(game, n, words, round=1, phase="discussion")
    step(game, "wait", "waited", round=1, reason="Nobody has asked the agent anything yet.")
    note = game.notes.create(
        worker="suspicion", value={"Alder": "Birch"}, started_at=began, finished_at=began
    )
    step(
        game, "send", "sent", "hi, lol", "Good evening, everybody.", "What do you all do?", round=1,
        reason="Somebody greets everybody.", review="The shortest is the most like this room.",
        notes={"suspicion": note.pk}, thinking_seconds=0.6, typing_seconds=2.4,
    )  # fmt: skip
    step(game, "send", "dropped", "who is the bot here?", why="Somebody has said it meanwhile.", round=1)
    said(game, None, kind="phase", round=1, phase="vote", data={"seconds": 45})
    moment = began + timedelta(seconds=40)
    for voter, target in ((0, 1), (1, 0), (2, 0), (3, 1), (4, 2), (5, 0)):
        Vote.objects.create(game=game, round=1, voter=at(game, voter), target=at(game, target), at=moment)
    said(game, 0, kind="out", round=1, phase="reveal", data={"nature": "human"})
    first, second = at(game, 0), at(game, 1)
    tally = {first.code: 3, second.code: 2}
    Elimination.objects.create(
        game=game, round=1, seat=first, living=6, at=moment, tally=tally, tied=[first.code]
    )
    first.out_at, first.out_round = moment, 1
    first.save()
    said(game, None, kind="phase", round=2, phase="discussion", data={"seconds": 150})
    for n in range(14):
        said(game, 1 + n % 5, f"line {n} of the second round")
    step(game, "send", "failed", why="The model gave no answer within 20 seconds.")
    game.room.seats.filter(position__in=(1, 3)).update(seen_at=timezone.now())
    game.room.seats.filter(position=4).update(left_at=moment, left_why="left")
    at(game, 5).held_back.create(what="phone", at=moment)
    Concern.objects.create(
        room=game.room, seat=at(game, 3), event=event, text="This sounds like an advertisement.", at=moment
    )
    return game


@pytest.fixture
def meeting(desk: Site) -> Site:
    """The site's study plays the group game, too: a game under way, one that is over, people who wait."""
    study = desk.study
    study.activities = ["group"]
    study.test_participants = True
    study.languages = ["en", "zh"]
    study.save()
    agent = ensure_offline_agent()
    settings = GroupSettings.objects.create(study=study, topic_en="A journey you remember")
    settings.agents.add(agent)
    played(study, agent, ended=True)
    played(study, agent, ended=False)
    now = timezone.now()
    for n, state in enumerate(("ready", "ready", "waiting")):
        study.tickets.create(
            participant=factories.ParticipantFactory(study=study), language="en", state=state,
            joined_at=now - timedelta(seconds=40 + 30 * n), seen_at=now - timedelta(seconds=15 * n),
            ready_at=now - timedelta(seconds=20) if state == "ready" else None,
            patience_until=now + timedelta(minutes=9),
        )  # fmt: skip
    for state, findings in (("failed", ["bot 2: the vote never came"]), ("done", [])):
        study.bot_calls.create(
            language="en", bots=5, seed=1, state=state, findings=findings, created_at=now, finished_at=now
        )
    return desk


def addresses(site: Site) -> dict[str, str]:
    over, live = Game.objects.order_by("pk").values_list("code", flat=True)[:2]
    preview = open_preview(study=site.study, language="en", user=None, now=timezone.now())
    return {
        "list": "?tests=on",
        "settings": "settings/",
        "agents": "agents/",
        "waiting": "waiting/",
        "concerns": "concerns/?all=1",
        "preview": "preview/",
        "door": f"games/{live}/",
        "monitor": f"games/{live}/",
        "ended": f"games/{over}/",
        "replay": f"games/{over}/replay/",
        "seats": f"games/{preview.code}/seats/",
    }


def go(page: Page, site: Site, path: str) -> None:
    answer = page.goto(f"{site.site}/admin/study/{site.study.slug}/group/{path}")
    assert answer is not None
    assert answer.status == 200, path
    if page.get_by_role("button", name="Open it, and note it").count():
        page.get_by_role("button", name="Open it, and note it").click()


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"), [(PHONE, "zh-CN", "dark"), (DESK, "en-GB", "light")]
)
def test_pages_of_the_group_game(
    meeting: Site, context: Contexts, viewport: Any, locale: str, scheme: str
) -> None:
    found = rows(lambda: addresses(meeting))
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), meeting)
    console: list[str] = []
    page.on("console", lambda m: console.append(m.text) if m.type == "error" else None)
    for name, path in found.items():
        answer = page.goto(f"{meeting.site}/admin/study/{meeting.study.slug}/group/{path}")
        assert answer is not None
        assert answer.status == 200, path
        door = page.locator("form[action$='/watch/'] button")
        if name != "door" and door.count():
            door.click()
        if name == "seats":
            expect(page.locator("[data-lines] li").first).to_be_visible()
        check(page)
        shot(page, f"{name}-{viewport['width']}-{locale[:2]}-{scheme}")
    page.goto(f"{meeting.site}/admin/study/{meeting.study.slug}/group/{found['monitor']}")
    page.locator("[name=do][value=cancel]").click()
    check(page)
    shot(page, f"confirm-{viewport['width']}-{locale[:2]}-{scheme}")
    page.goto(f"{meeting.site}/admin/study/{meeting.study.slug}/")
    check(page)
    shot(page, f"study-{viewport['width']}-{locale[:2]}-{scheme}")
    assert not console


def test_the_monitor_goes_along_until_it_is_held(meeting: Site, context: Contexts) -> None:
    live = rows(lambda: Game.objects.get(end=""))
    page = sign_in(context(viewport=DESK), meeting)
    go(page, meeting, f"games/{live.code}/")
    log, steps = page.locator("[data-events]"), page.locator("[data-steps]")
    before = log.locator("li").count()

    def more(words: str) -> None:
        game = Game.objects.get(pk=live.pk)
        said(game, 3, words)
        game.steps.filter(outcome="failed").update(outcome="", finished_at=None)

    rows(lambda: more("something new is said"))
    expect(log.get_by_text("something new is said")).to_be_visible()
    assert log.locator("li").count() == before + 1
    rows(lambda: step(Game.objects.get(pk=live.pk), "send", "refused", "too late", why="The vote has begun."))
    expect(steps.get_by_text("The vote has begun.")).to_be_visible()
    clock = page.locator("[data-remaining]").inner_text()
    until(page, f"document.querySelector('[data-remaining]').textContent !== '{clock}'")
    page.get_by_role("button", name="Leave out where it waits").press("Enter")
    expect(steps.get_by_text("Nobody has asked the agent anything yet.")).to_be_hidden()
    page.get_by_role("button", name="Hold still").press("Enter")
    rows(lambda: more("said while it was held"))
    page.get_by_role("button", name="Hold still").press("Enter")
    expect(log.get_by_text("said while it was held")).to_be_visible()
    assert log.locator("li").count() == before + 2
    page.get_by_role("button", name="Stop the game").press("Enter")
    page.get_by_role("button", name="Stop the game").press("Enter")
    expect(page.get_by_text("The game is stopped.")).to_be_visible()
    assert rows(lambda: Game.objects.get(pk=live.pk).end) == "cancelled"
    page.get_by_role("link", name="Replay").click()
    expect(page.locator("#moment")).to_be_visible()


def test_a_replay_is_walked_through_by_keys(meeting: Site, context: Contexts) -> None:
    over = rows(lambda: Game.objects.exclude(end="").get().code)
    page = sign_in(context(viewport=DESK), meeting)
    go(page, meeting, f"games/{over}/replay/")
    log = page.locator(".log").first
    everything = log.locator("li:visible").count()
    slider = page.locator("#moment")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("[data-moment]")).to_have_text("0:00")
    assert log.locator("li:visible").count() == 0
    page.get_by_role("button", name="Step on").press("Enter")
    expect(log.locator("li:visible")).to_have_count(1)
    expect(page.locator("[data-phase]")).to_contain_text("round 1")
    for _ in range(2):
        page.keyboard.press("Enter")
    expect(log.get_by_text("hey everyone")).to_be_visible()
    page.get_by_role("button", name="Step back").press("Enter")
    page.locator("#speed").select_option("16")
    page.get_by_role("button", name="Play").press("Enter")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=30_000)
    assert log.locator("li:visible").count() == everything
    slider.focus()
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext")


def test_all_seats_are_played_on_one_page(meeting: Site, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), meeting)
    go(page, meeting, "preview/")
    page.get_by_role("button", name="Open all seats").click()
    columns = page.locator("[data-socket]")
    expect(columns).to_have_count(5)
    expect(columns.first.locator("[data-say]")).to_be_visible()
    columns.nth(1).locator("[name=text]").fill("hello from the second seat")
    columns.nth(1).locator("[name=text]").press("Enter")
    for n in range(5):
        expect(columns.nth(n).get_by_text("hello from the second seat")).to_be_visible()
    expect(columns.nth(1).locator("[name=text]")).to_have_value("")
    assert rows(lambda: Event.objects.filter(text="hello from the second seat").count()) == 1

    def vote_begins() -> None:
        from games.room.services import advance

        room = Game.objects.get(room__is_preview=True).room
        advance(room_id=room.pk, phase_number=room.phase_number, now=timezone.now(), by_hand=True)

    rows(vote_begins)
    for n in range(5):
        columns.nth(n).locator("[data-votes] button").first.click()
        expect(columns.nth(n).locator("[data-note]")).to_have_text("Voted.")
    check(page)
    assert rows(lambda: Vote.objects.filter(game__room__is_preview=True).count()) == 5
    assert rows(lambda: Participant.objects.filter(is_test=True).count()) == 0
    until(page, "document.querySelectorAll('[data-socket]').length === 5")
