"""One open page of the room: over the socket, or by asking again and again as browsers without one do."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

from studies.bots import Browser

POLL = 1.0  # seconds between two questions
PATIENCE = 20.0  # seconds for a connection or an answer

Frame = dict[str, Any]


class Lost(Exception):
    """The connection is gone; open another."""


class Tab(Protocol):
    """``has``: the number of the newest line this tab has shown."""

    has: int

    def read(self, seconds: float) -> Frame | None:
        """The next frame, or None when none came in so many seconds; Lost when there is no connection."""

    def send(self, frame: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class SocketTab:
    def __init__(self, browser: Browser, root: str, after: int) -> None:
        self.has = after
        self._open = ExitStack()
        base = browser.base
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies)
        headers = {"Cookie": cookies, "Accept-Language": browser.language}
        try:
            self._line = self._open.enter_context(
                connect(
                    f"ws{base.removeprefix('http')}/ws{root}room/",
                    origin=Origin(base),
                    additional_headers=headers,
                    open_timeout=PATIENCE,
                    proxy=None,
                )
            )
        except (OSError, WebSocketException) as error:
            raise Lost(f"no socket: {error}") from error
        self.send({"type": "hello", "after": after})

    def read(self, seconds: float) -> Frame | None:
        try:
            text = self._line.recv(timeout=max(0.0, seconds))
        except TimeoutError:
            return None
        except (ConnectionClosed, OSError) as error:
            raise Lost(str(error)) from error
        frame = json.loads(text)
        assert isinstance(frame, dict), text  # noqa: S101  (nothing else is ever sent)
        return frame

    def send(self, frame: Mapping[str, Any]) -> None:
        try:
            self._line.send(json.dumps(frame))
        except (ConnectionClosed, OSError) as error:
            raise Lost(str(error)) from error

    def close(self) -> None:
        self._open.close()

    def drop(self) -> None:
        """As a phone that loses its network: without a word."""
        self._line.socket.close()


class PollingTab:
    """The same frames by plain requests."""

    def __init__(self, browser: Browser, root: str, after: int) -> None:
        self.has = after
        self._browser = browser
        self._root = f"{root}room/"
        self._frames: deque[Frame] = deque()
        self._asked = 0.0

    def read(self, seconds: float) -> Frame | None:
        until = time.monotonic() + seconds
        while not self._frames:
            wait = self._asked + POLL - time.monotonic()
            if wait > 0:
                if time.monotonic() + wait > until:
                    time.sleep(max(0.0, until - time.monotonic()))
                    return None
                time.sleep(wait)
            self._ask()
        return self._frames.popleft()

    def _ask(self) -> None:
        self._asked = time.monotonic()
        try:
            answer = self._browser.get(f"{self._root}log/?after={self.has}", wants_json=True)
        except OSError as error:
            raise Lost(str(error)) from error
        told = answer.json()
        if goto := told.get("goto") or told.get("error", {}).get("goto"):
            self._frames.append({"type": "goto", "url": goto})
        elif answer.status >= 500:
            raise Lost(f"{answer.status} at {answer.path}")
        else:
            self._frames.extend(told.get("events", []))
            if "state" in told:
                self._frames.append(told["state"])

    def send(self, frame: Mapping[str, Any]) -> None:
        kind = str(frame["type"])
        if kind not in ("send", "act", "typing"):
            return
        try:
            answer = self._browser.post_json(f"{self._root}{kind}/", frame)
        except OSError as error:
            raise Lost(str(error)) from error
        if answer.status >= 500 and "error" not in answer.json():
            raise Lost(f"{answer.status} at {answer.path}")
        told = answer.json()
        if kind == "typing":
            return
        if "error" in told:
            self._frames.append({"type": "refused", "id": frame.get("id"), "error": told["error"]})
        else:
            self._frames.append({"type": "ack" if kind == "send" else "done", **told})

    def close(self) -> None:
        """There is nothing to close."""
