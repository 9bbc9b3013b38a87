"""What goes wrong in real browsers: double clicks, two tabs, the back button, answers lost on the way."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from games.speech.bots.player import Bot
    from studies.bots import Page


def before_verdict(bot: Bot, trial: dict[str, Any]) -> None:
    """Reload, and press what is of no use here: nothing may be lost, nobody else's sound may be had."""
    page = bot.get(f"{bot.root}speech/trial/")
    again = page.data("trial")
    if again.get("code") != trial["code"]:
        bot.find(f"a reload led from trial {trial['code']} to {again.get('code')}")
    elif not again["unlocked"]:
        bot.find("a reload locked the answers again")
    other = bot.watch.of_another(bot.number)
    if other:
        bot.seen(bot.browser.get(other), 404)
    if bot.last is not None:
        _back(bot, *bot.last)


def _back(bot: Bot, code: str, choice: str) -> None:
    """The back button: the last trial answered once more. The same answer is fine, another comes too late."""
    same = bot.verdict(code, choice)
    if same.json().get("choice", choice) != choice:
        bot.find(f"the answer to {code} changed after going on")
    other = bot.verdict(code, "machine" if choice == "human" else "human", 409)
    if other.json().get("error", {}).get("code") != "moved_on":
        bot.find(f"a late answer was met with {other.text[:100]!r}")


def give(bot: Bot, trial: dict[str, Any], choice: str) -> None:
    """Give the verdict in one of the ways it really arrives."""
    code = str(trial["code"])
    way = bot.rng.choice(["double", "lost", "changed"])
    if way == "double":
        both = _at_once([lambda: bot.verdict(code, choice)] * 3)
        if len({page.json().get("choice") for page in both}) != 1:
            bot.find(f"three clicks at once gave {[page.text[:60] for page in both]}")
    elif way == "lost":
        bot.browser.post_and_leave(bot.address(code, "verdict"), {"choice": choice, "at": 900})
        time.sleep(0.3)
        bot.verdict(code, choice)  # the page sends it again when the connection is back
    else:
        bot.verdict(code, "machine" if choice == "human" else "human")
        bot.verdict(code, choice)
    state = bot.seen(bot.browser.get(f"{bot.root}speech/trial/?format=json", wants_json=True)).json()
    now = state.get("trial") or {}
    if now.get("code") == code and now.get("answer") != choice:
        bot.find(f"{way}: the stored answer to {code} is {now.get('answer')}, not {choice}")


def two_tabs(bot: Bot, code: str) -> str:
    """Go on from two tabs at the same time: both lead to the same place."""
    both = _at_once([lambda: bot.seen(bot.browser.post_json(bot.address(code, "next"), {}))] * 2)
    places = {(page.json().get("trial") or {}).get("code") or page.json().get("goto") for page in both}
    if len(places) != 1:
        bot.find(f"two tabs went on to {sorted(map(str, places))}")
    return str(both[0].json().get("goto") or f"{bot.root}speech/trial/")


def _at_once(calls: list[Any]) -> list[Page]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]
