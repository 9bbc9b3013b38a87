"""What bots check on every page: nothing that tells the answer is seen before the verdict."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from studies.bots.browser import Page

KINDS = ("human_human", "human_machine", "pseudo_human", "human-machine", "pseudo-human", "human–machine")


class Watch:
    """Shared by all bots of a run: the words that must not be seen, and the media addresses given to each."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        """``names`` of systems and dialogues, as far as whoever runs the bots knows them."""
        words = [*KINDS, *(name for name in names if len(name) >= 3)]
        self._secrets = re.compile(
            "|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE
        )
        self._media: dict[int, str] = {}
        self._lock = threading.Lock()

    def leak(self, page: Page) -> str:
        """What in ``page`` or its headers would tell the answer; empty where nothing does."""
        headers = "\n".join(f"{name}: {value}" for name, value in page.headers.items())
        found = self._secrets.search(headers) or self._secrets.search(page.body.decode("utf-8", "ignore"))
        return found[0] if found else ""

    def given(self, bot: int, address: str) -> None:
        with self._lock:
            self._media[bot] = address

    def of_another(self, bot: int) -> str:
        """A media address that was given to another bot; empty where nobody has one yet."""
        with self._lock:
            return next((address for other, address in self._media.items() if other != bot), "")
