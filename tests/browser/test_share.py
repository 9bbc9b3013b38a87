"""Passing the link on: the device's own sheet where there is one, else the clipboard, else by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.playing import Game

Contexts = Callable[..., BrowserContext]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHEET = "window.shared = []; navigator.share = async (what) => { window.shared.push(what); };"
NO_SHEET = "delete Navigator.prototype.share; "
NO_CLIPBOARD = NO_SHEET + "navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));"
CLIPBOARD = NO_SHEET + "navigator.clipboard.writeText = async (text) => { window.copied = text; };"


def paused(context: Contexts, game: Game, script: str) -> Page:
    """The page of a break, with a browser that can do what ``script`` leaves it."""
    page = context(game).new_page()
    page.add_init_script(script)
    page.goto(game.url("speech/pause/"))
    return page


def link(game: Game) -> str:
    return game.url("?src=share&lang=en")


def test_the_devices_own_sheet_gets_the_link(context: Contexts, game: Game) -> None:
    page = paused(context, game, SHEET)
    page.locator("#share").click()
    assert [one["url"] for one in page.evaluate("window.shared")] == [link(game)]


def test_without_a_sheet_the_link_is_copied(context: Contexts, game: Game) -> None:
    page = paused(context, game, CLIPBOARD)
    page.locator("#share").click()
    expect(page.locator("#share-said")).to_have_text("The link is copied.")
    assert page.evaluate("window.copied") == link(game)


def test_without_a_clipboard_the_link_is_selected(context: Contexts, game: Game) -> None:
    page = paused(context, game, NO_CLIPBOARD)
    page.locator("#share").click()
    expect(page.locator("#share-said")).to_contain_text("selected")
    assert page.evaluate("getSelection().toString()") in ("", link(game))
    field = page.locator("#share-link")
    assert field.evaluate("node => node.value.slice(node.selectionStart, node.selectionEnd)") == link(game)
    expect(field).to_be_focused()


def test_without_scripts_there_is_a_link_to_copy(context: Contexts, game: Game) -> None:
    page = context(game, java_script_enabled=False).new_page()
    page.goto(game.url("speech/pause/"))
    expect(page.locator("#share")).to_be_hidden()
    expect(page.locator("#share-link")).to_have_value(link(game))
