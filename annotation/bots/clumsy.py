"""What goes wrong in real browsers: double clicks, a tab that knows less, reload, going on too soon."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.bots.annotator import Bot
    from studies.bots import Page


def before_scores(bot: Bot, item: Mapping[str, Any]) -> None:
    """Reload, go on with nothing said, and ask for somebody else's sound."""
    code = str(item["code"])
    again = bot.get(f"{bot.work}batch/").data("item")
    if again.get("code") != code:
        bot.find(f"a reload led from item {code} to {again.get('code')}")
    elif not again["unlocked"]:
        bot.find("a reload locked the scores again")
    early = bot.seen(bot.browser.post_json(bot.address(code, "next"), {}), 400)
    if early.json().get("error", {}).get("code") != "incomplete":
        bot.find(f"going on without scores was answered with {early.text[:100]!r}")
    other = bot.watch.of_another(bot.number)
    if other:
        bot.seen(bot.browser.get(other), 404)


def after_scores(bot: Bot, item: Mapping[str, Any], given: Mapping[str, int]) -> None:
    """A tab that knows no score yet says something else: it is told, nothing is overwritten. Then twice the
    same at once, which is no conflict.
    """
    code, key = str(item["code"]), next(iter(given))
    other = 1 if given[key] != 1 else 5
    stale = {"scores": {key: {"value": other, "version": 0}}}
    told = bot.seen(bot.browser.post_json(bot.address(code, "save"), stale), 409)
    if told.json().get("conflicts", {}).get(key, {}).get("value") != given[key]:
        bot.find(f"a stale score was answered with {told.text[:120]!r}")
    same = {"scores": {key: {"value": given[key], "version": 0}}}
    both = _at_once([lambda: bot.seen(bot.browser.post_json(bot.address(code, "save"), same))] * 2)
    if {page.json().get("scores", {}).get(key, {}).get("value") for page in both} != {given[key]}:
        bot.find(f"the same score twice gave {[page.text[:60] for page in both]}")
    wrong = {"scores": {key: {"value": 6, "version": 1}, "no-such-dimension": {"value": 3, "version": 0}}}
    bot.seen(bot.browser.post_json(bot.address(code, "save"), wrong), 400)
    kept = bot.get(f"{bot.work}batch/").data("item").get("scores", {})
    if {name: one["value"] for name, one in kept.items()} != dict(given):
        bot.find(f"item {code}: the page shows {kept}, said was {dict(given)}")


def _at_once(calls: list[Any]) -> list[Page]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]
