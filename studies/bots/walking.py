"""One bot on the pages that every study has: welcome, age, consent, language, questionnaires."""

from __future__ import annotations

import html
import random
import re

from studies.bots.browser import Browser, Page
from studies.bots.watch import Watch

MOST_STEPS = 2000


class Stuck(Exception):
    """The bot cannot go on; the message says where."""


class Walker:
    """``start``: where the bot comes in, the study's page if empty. ``findings``: what it found wrong.

    Subclasses say what is done on the pages of their activity (``inside``).
    """

    def __init__(
        self,
        *,
        base: str,
        slug: str,
        number: int,
        seed: int,
        watch: Watch,
        clumsy: bool = False,
        start: str = "",
    ) -> None:
        self.number = number
        self.watch = watch
        self.clumsy = clumsy
        self.rng = random.Random(f"{seed}/{number}")
        self.root = f"/s/{slug}/"
        self.start = start or f"{self.root}?test=1"  # marked as a test wherever the study knows the mark
        self.browser = Browser(base, language=self.rng.choice(["en", "zh-hans"]))
        self.findings: list[str] = []

    def walk(self) -> None:
        """Go on until the end; whatever is wrong is in ``findings``."""
        try:
            page = self.get(self.start)
            for _ in range(MOST_STEPS):
                following = self.step(page)
                if following is None:
                    return
                page = following
            raise Stuck(f"still under way after {MOST_STEPS} pages, at {page.path}")
        except Stuck as stuck:
            self.find(str(stuck))
        except OSError as error:
            self.find(f"no connection to {self.browser.base} (PORT or --base-url says where it is): {error}")

    def inside(self, page: Page, where: str) -> Page | None:
        """What is done on a page of the activity; ``where`` is its address below the study's."""
        raise Stuck(f"no way on from {page.path}")

    # --- what every request goes through ---

    def find(self, what: str) -> None:
        self.findings.append(what)

    def seen(self, page: Page, *expected: int) -> Page:
        """Note an answer that has another status than expected (default 200)."""
        if page.status not in (expected or (200,)):
            self.find(
                f"{page.status} at {page.path}: {page.text[:120]!r}"
                if page.status >= 400
                else f"{page.status} at {page.path}"
            )
        return page

    def get(self, url: str) -> Page:
        return self.seen(self.browser.get(url))

    def blind(self, page: Page) -> None:
        """Nothing the browser got before the verdict may tell the answer."""
        if leak := self.watch.leak(page):
            self.find(f"{page.path} says {leak!r} before the verdict")

    # --- one page ---

    def step(self, page: Page) -> Page | None:
        """Do what the page asks; the next page, or None at the end."""
        if page.status >= 400:
            raise Stuck(f"cannot go on at {page.path} ({page.status})")
        where = page.path.removeprefix(self.root)
        if where == "":
            found = re.search(rf'href="({re.escape(self.root)}age/[^"]*)"', page.text)
            if found is None:
                raise Stuck("the welcome page has no way in")
            return self.get(html.unescape(found[1]))
        if where == "language/":
            form = page.form(page.path)
            return self.submit(page, where, button=self.rng.choice(form.buttons()) if form else "")
        if where in ("age/", "consent/") or where.startswith("q/"):
            return self.submit(page, where)
        return self.inside(page, where)

    def submit(
        self, page: Page, action: str, values: dict[str, str | list[str]] | None = None, button: str = ""
    ) -> Page:
        """Fill the form as a person would: one of each group of choices, every box that has to be ticked."""
        form = page.form(self.root + action)
        if form is None:
            raise Stuck(f"no form to {action} on {page.path}")
        filled: dict[str, str | list[str]] = {
            name: self.rng.choice(form.options(name)) for name in form.groups()
        }
        for box in form.boxes():
            if box.required or self.rng.random() < 0.5:
                filled[box.name] = box.value
        filled |= values or {}
        after = self.browser.submit(page, form, filled, button)
        if self.clumsy and action in ("consent/", "language/"):
            after = self.browser.submit(page, form, filled, button)  # double click
        self.seen(after)
        if after.path == page.path and where_is_error(after):
            raise Stuck(f"the form to {action} was not accepted")
        return after


def where_is_error(page: Page) -> bool:
    return "error-text" in page.text or 'aria-invalid="true"' in page.text
