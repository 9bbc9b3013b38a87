"""A real server on the test database, a seeded study with clips of a second and a half, and Chromium.

The server is a process of its own. Rows are made before ``browser`` starts, or read by ``rows``: Playwright's
loop shuts out the ORM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from django.conf import settings
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.playing import CLIP, PHONE, Game, seed_game, start
from tests.browser.serving import PAGES, serving
from tests.servers_plugin import chromium

SEEDS = {"game", "whole_study", "revealing"}  # fixtures that write rows


@pytest.fixture(scope="session")
def site(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a server that works on the test database and on this run's media."""
    with django_db_blocker.unblock():
        if connection.vendor != "postgresql":
            pytest.skip("the browser tests' server shares a PostgreSQL test database")
        database = connection.settings_dict
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(PAGES, database, log) as address:
        yield address


@pytest.fixture(scope="session")
def clip() -> bytes:
    """A soft tone, coded as playing files are: MP3, 24 kHz mono, constant bitrate."""
    path = Path(settings.VAR_DIR) / "tone.mp3"
    path.parent.mkdir(parents=True, exist_ok=True)
    moments = np.arange(int(24_000 * CLIP)) / 24_000
    tone = 0.1 * np.sin(2 * np.pi * 220 * moments)
    soundfile.write(path, tone, 24_000, format="MP3", bitrate_mode="CONSTANT", compression_level=0.75)
    return path.read_bytes()


@pytest.fixture
def game(transactional_db: None, site: str, clip: bytes) -> Game:
    return seed_game(site, clip)


@dataclass
class Opened:
    """What went on while pages were open: errors on them, requests they made."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium, for one test, started after the rows of the test are made."""
    for seeded in SEEDS.intersection(request.fixturenames):
        request.getfixturevalue(seeded)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium(),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield launched
        launched.close()


expect.set_options(timeout=15_000)


@pytest.fixture
def opened() -> Opened:
    return Opened()


@pytest.fixture
def context(browser: Browser, opened: Opened, site: str) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browser contexts: ``context(viewport=…, locale=…, game=…)``. A phone unless said otherwise."""
    made: list[BrowserContext] = []

    def make(game: Game | None = None, **options: Any) -> BrowserContext:
        phone = "viewport" not in options
        merged: dict[str, Any] = {
            "viewport": PHONE,
            "has_touch": phone,
            "is_mobile": phone,
            "locale": "en-GB",
        } | options
        new = browser.new_context(**merged)
        new.set_default_timeout(20_000)
        if game is not None:
            new.add_cookies([game.cookie])
        new.on("weberror", lambda error: opened.errors.append(str(error.error)))
        new.on("request", lambda request: opened.requests.append(request.url))
        made.append(new)
        return new

    yield make
    for one in made:
        one.close()
    assert not opened.errors
    foreign = [url for url in opened.requests if not url.startswith((site, "data:", f"blob:{site}"))]
    assert not foreign, "requests to another host"


@pytest.fixture
def trial(context: Callable[..., BrowserContext], game: Game) -> Page:
    """A phone on the first trial, the instruction read."""
    return start(context(game), game)
