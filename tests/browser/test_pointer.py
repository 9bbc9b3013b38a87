"""Whatever can be pressed stays legible under the pointer, pressed and focused, in both appearances."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page

from tests.browser.playing import DESK, STILL

pytestmark = pytest.mark.browser
CONTRAST = {"runOnly": ["color-contrast"]}
# One of each look is enough: what differs by classes, by state, or by what it lies in.
LOOKS = """() => {
    const seen = new Set();
    for (const one of document.querySelectorAll("main :is(a, button), header :is(a, button)")) {
        const states = ["aria-disabled", "aria-pressed", "aria-current"].map((a) => one.getAttribute(a));
        const place = one.closest("[class]:not(a, button)")?.className;
        const look = [one.tagName, one.className, place, ...states];
        if (one.checkVisibility() && !seen.has(String(look)) && seen.add(String(look)))
            one.dataset.look = seen.size;
    }
    return seen.size;
}"""


@pytest.fixture
def components(site: str, context: Callable[..., BrowserContext], scheme: str) -> Page:
    page = context(viewport=DESK, color_scheme=scheme).new_page()
    page.goto(f"{site}/design/")
    return page


def illegible(page: Page, one: Locator) -> list[str]:
    """What axe finds of the contrast of this element as it is now; it has to have measured it."""
    page.evaluate(STILL)
    look = one.get_attribute("data-look")
    found = Axe().run(page, context=f'[data-look="{look}"]', options=CONTRAST).response
    unsure = [node["html"] for rule in found["incomplete"] for node in rule["nodes"]]
    return unsure + [node["html"] for rule in found["violations"] for node in rule["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_and_links_are_legible_under_the_pointer(components: Page, scheme: str) -> None:
    page = components
    number = page.evaluate(LOOKS)
    assert number > 15
    wrong = []
    for look in range(1, number + 1):
        one = page.locator(f'[data-look="{look}"]')
        one.hover(force=True)
        wrong += [("hover", html) for html in illegible(page, one)]
        page.mouse.down()
        wrong += [("pressed", html) for html in illegible(page, one)]
        page.mouse.move(0, 0)  # let go elsewhere: nothing is clicked
        page.mouse.up()
    assert wrong == []


@pytest.mark.parametrize("scheme", ["dark"])
def test_half_transparent_button_would_be_found(components: Page, scheme: str) -> None:
    page = components
    page.evaluate(LOOKS)
    page.evaluate(
        """() => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(".btn:hover { opacity: .5 }");
            document.adoptedStyleSheets = [sheet];
        }"""
    )
    one = page.locator(".btn[data-look]").first
    one.hover()
    assert illegible(page, one)
