"""What one bot does in the room: reads, talks, votes, loses its network and comes back."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from typing import Any

from games.group.bots import talk
from games.group.bots.log import Log, telling
from games.group.bots.tab import Frame, Lost, PollingTab, SocketTab, Tab
from games.group.bots.trouble import Habit, Times
from studies.bots import Browser

TICK = 0.25  # seconds between two thoughts
SILENCE = 45.0  # seconds without a frame after which something is wrong: the clock ticks every ten
TRIES = 40  # to get a connection, half a second apart
#: Refusals that a bot of that habit brings upon itself; everybody's message may come a moment too late.
EXPECTED = {"not_now", "out", "room_closed", "no_vote_now", "moved_on", "not_living", "left"}
OWN = {Habit.FLOODS: {"too_fast", "too_many"}, Habit.TABS: {"too_fast"}}


class Table:
    """``play()`` returns when nothing is left to do here; ``find`` is told of whatever is wrong."""

    def __init__(
        self,
        *,
        browser: Browser,
        root: str,
        language: str,
        rng: random.Random,
        habit: Habit,
        pace: float,
        sleep: float,
        find: Callable[[str], None],
        stopped: Callable[[], bool],
    ) -> None:
        self.browser = browser
        self.root = root
        self.language = language
        self.rng = rng
        self.habit = habit
        self.pace = pace
        self.times = Times(rng, sleep)
        self.find = find
        self.stopped = stopped
        self.log = Log(find)
        self.state: Frame = {}
        self.state_at = 0.0
        self.tabs: list[Tab] = []
        self.waiting: dict[str, Frame] = {}  # sent and not answered
        self.sent: dict[str, int] = {}  # client id → number of the line
        self.voted: set[int] = set()  # rounds
        self.vote_at: dict[int, float] = {}
        self.talk_at = 0.0
        self.over = ""  # where to go when it is over
        self.left = False
        self.heard = 0.0

    # --- the loop ---

    def play(self) -> None:
        self._open()
        self.heard = time.monotonic()
        while not self._is_over():
            for tab in list(self.tabs):
                try:
                    self._hear(tab)
                except Lost:
                    self._reopen(tab)
            if self._is_over():
                break
            if time.monotonic() - self.heard > SILENCE:
                self.find(f"nothing was heard of the room for {SILENCE:.0f} seconds")
                self.heard = time.monotonic()
                self._reopen(self.tabs[0])
            try:
                self._act(time.monotonic())
            except Lost:
                self._reopen(self.tabs[0])
        for tab in self.tabs:
            tab.close()

    def _is_over(self) -> bool:
        return bool(self.over) or self.stopped()

    def _hear(self, tab: Tab) -> None:
        """Take what has come, until nothing comes for a moment or all is over."""
        while not self._is_over():
            frame = tab.read(TICK / len(self.tabs))
            if frame is None:
                return
            self.heard = time.monotonic()
            self._take(tab, frame)

    def _open(self) -> None:
        self.tabs = [self._tab() for _ in range(2 if self.habit == Habit.TABS else 1)]

    def _tab(self) -> Tab:
        kind = PollingTab if self.habit == Habit.POLLS else SocketTab
        for _ in range(TRIES):
            try:
                return kind(self.browser, self.root, self.log.last)
            except Lost as lost:
                why = str(lost)
                time.sleep(0.5)
        raise OSError(why)

    def _reopen(self, tab: Tab) -> None:
        for _ in range(TRIES):
            fresh = self._tab()
            try:
                for frame in list(self.waiting.values()):  # what was not answered is sent again
                    fresh.send(frame)
            except Lost as lost:  # gone again already: a poll opens nothing that could fail before
                why = str(lost)
                time.sleep(0.5)
                continue
            self.tabs[self.tabs.index(tab)] = fresh
            return
        raise OSError(why)

    # --- what it is told ---

    def _take(self, tab: Tab, frame: Frame) -> None:
        kind = frame.get("type")
        if kind == "event":
            tab.has = self.log.take(frame, tab.has)
        elif kind == "state":
            self._take_state(frame)
        elif kind == "ack":
            self._acknowledged(str(frame.get("id")), int(frame["seq"]))
        elif kind == "done":
            self.waiting.pop(str(frame.get("id")), None)
        elif kind == "refused":
            self._refused(frame)
        elif kind == "goto":
            self.over = str(frame["url"])
        elif kind == "clock":
            self.state["remaining"], self.state_at = frame["remaining"], time.monotonic()

    def _take_state(self, frame: Frame) -> None:
        hidden = {**frame, "play": {**frame["play"], "out": []}}
        if told := telling(hidden):
            self.find(f"the state of the room tells {told}")
        if not frame["you"]["out"] and any(one["seat"] not in _seats(frame) for one in frame["play"]["out"]):
            self.find("somebody is out who has no seat")
        self.state, self.state_at = frame, time.monotonic()
        if frame["play"].get("next"):
            leaves = frame["closed"] or self.rng.random() < 0.3
            self.over = str(frame["play"]["next"]) if leaves or not frame["you"]["may_read"] else ""

    def _acknowledged(self, client_id: str, seq: int) -> None:
        self.waiting.pop(client_id, None)
        if self.sent.setdefault(client_id, seq) != seq:
            self.find(f"one message is line {self.sent[client_id]} and line {seq}")

    def _refused(self, frame: Frame) -> None:
        self.waiting.pop(str(frame.get("id")), None)
        error = frame.get("error", {})
        code = str(error.get("code"))
        if code not in EXPECTED | OWN.get(self.habit, set()):
            self.find(f"refused with {code}: {error.get('message')}")
        if not error.get("message"):
            self.find(f"refused with {code} and no word")

    # --- what it does ---

    def _act(self, now: float) -> None:
        if not self.state:
            return
        self._trouble(now)
        if self.habit == Habit.SILENT or self.left:
            return
        you = self.state["you"]
        if you["may_write"] and now >= self.talk_at:
            if self.talk_at:
                self._say()
            self.talk_at = now + self.pace * self.rng.uniform(0.4, 1.6)
        if self.state["phase"] == "vote":
            self._vote(now)

    def _say(self) -> None:
        awkward = self.habit != Habit.PLAIN and self.rng.random() < 0.1
        text = self.rng.choice(talk.AWKWARD) if awkward else talk.line(self.rng, self.language)
        self._send({"type": "send", "id": self._id(), "text": text, "at": int(time.time() * 1000)})
        if self.habit == Habit.FLOODS and self.rng.random() < 0.3:
            for _ in range(15):
                self._send({"type": "send", "id": self._id(), "text": "!", "at": 0})

    def _send(self, frame: Frame) -> None:
        self.waiting[frame["id"]] = frame
        for tab in self.tabs:  # from both tabs, as after a lost answer: one line all the same
            tab.send(frame)

    def _id(self) -> str:
        return uuid.UUID(int=self.rng.getrandbits(128), version=4).hex

    def _vote(self, now: float) -> None:
        number = int(self.state["round"])
        choices = list(self.state["play"]["votes_for"])
        late = self.habit == Habit.LATE
        at = self.vote_at.setdefault(
            number, now + self.rng.uniform(0.2, 0.8) * (self.state["remaining"] or 5) * 0.5
        )
        if not choices or number in self.voted or (now < at and not late):
            return
        if late and self._remaining(now) > 0.3:
            return
        self.voted.add(number)
        target = self.rng.choice(choices)
        vote: Frame = {"type": "act", "do": "vote", "id": self._id(), "target": target, "round": number}
        self._send(vote)
        if late or self.rng.random() < 0.2:  # twice, for another
            self._send({**vote, "id": self._id(), "target": self.rng.choice(choices)})

    def _remaining(self, now: float) -> float:
        left = self.state.get("remaining")
        return float("inf") if left is None else float(left) - (now - self.state_at)

    def _trouble(self, now: float) -> None:
        if self.habit == Habit.DROPS and self.times.due(now, (4.0, 20.0)):
            self._lose(self.rng.uniform(0.0, 3.0))
        elif self.habit == Habit.SLEEPS and self.times.due(now, (5.0, 60.0)):
            self._lose(self.times.sleep)
        elif self.habit == Habit.LEAVES and self.times.due(now, (8.0, 30.0)):
            self.left = True
            self.over = f"{self.root}leave/"

    def _lose(self, seconds: float) -> None:
        tab = self.tabs[0]
        if isinstance(tab, SocketTab):
            tab.drop()
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.stopped():
            time.sleep(min(0.5, max(0.0, until - time.monotonic())))
        self.heard = time.monotonic()
        self._reopen(tab)

    # --- afterwards ---

    def compare(self) -> None:
        """The log as the server tells it from the start, beside the one that was heard live."""
        lines: list[Any] = []
        while True:
            told = self.browser.get(f"{self.root}room/log/?after={len(lines)}", wants_json=True).json()
            more = told.get("events", [])
            lines += more
            if not more:
                break
        if lines and (wrong := self.log.equals(lines)):
            self.find(wrong)
        for client_id, seq in self.sent.items():
            if seq not in self.log.lines and lines:
                self.find(f"message {client_id} is said to be line {seq}, which never came")


def _seats(state: Frame) -> set[str]:
    return {str(one["seat"]) for one in state["seats"]}
