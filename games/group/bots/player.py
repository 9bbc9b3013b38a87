"""One bot: from the welcome page through consent and waiting room to the game, the survey and the debrief."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from games.group.bots.table import Table
from games.group.bots.trouble import Habit
from studies.bots import Page, Walker, Watch

WAIT = 0.8  # seconds between two looks at the waiting room


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Plan:
    """What one bot shall do. ``pace``: seconds between messages; ``sleep``: seconds a locked phone sleeps."""

    base: str
    slug: str
    number: int
    seed: int
    habit: Habit = Habit.PLAIN
    pace: float = 8.0
    sleep: float = 70.0
    patience: float = 600.0  # seconds it waits for a game
    language: str = ""  # the one to play in, where the study has it; "": drawn
    stopped: Callable[[], bool] = _never


@dataclass
class Result:
    """What one bot did and what it found wrong."""

    bot: int
    habit: Habit
    room: str = ""
    lines: int = 0
    messages: int = 0
    votes: int = 0
    end: str = ""
    reached_debrief: bool = False
    findings: list[str] = field(default_factory=list)


class Bot(Walker):
    def __init__(self, plan: Plan, watch: Watch) -> None:
        super().__init__(
            base=plan.base,
            slug=plan.slug,
            number=plan.number,
            seed=plan.seed,
            watch=watch,
            clumsy=plan.habit == Habit.TABS,
        )
        self.plan = plan
        self.result = Result(plan.number, plan.habit, findings=self.findings)
        self.language = self.browser.language  # of what it says
        self.waited_since = 0.0

    def run(self) -> Result:
        """Play until the debrief; whatever is wrong is in the result's findings."""
        self.walk()
        return self.result

    def step(self, page: Page) -> Page | None:
        if self.plan.stopped():
            return None
        if page.path == f"{self.root}language/":
            form, wanted = page.form(page.path), f"language={self.plan.language}"
            if form is not None and wanted in form.buttons():
                self.language = self.plan.language
                return self.submit(page, "language/", button=wanted)
        return super().step(page)

    def inside(self, page: Page, where: str) -> Page | None:
        self.blind(page)
        if where == "group/wait/":
            return self._wait(page)
        if where == "group/room/":
            return self._room()
        if where == "group/survey/":
            return self.submit(page, where)
        if where == "group/over/":  # it has played once; that is enough
            return self.get(f"{self.root}leave/")
        if where == "leave/":
            form = page.form(page.path)
            button = next((one for one in form.buttons() if one == "choice=stop"), "") if form else ""
            return self.submit(page, where, button=button)
        if where == "debrief/":
            self.result.reached_debrief = True
            return None
        return super().inside(page, where)

    def _wait(self, page: Page) -> Page:
        """Say “ready” where that is asked, else look again in a moment."""
        self.waited_since = self.waited_since or time.monotonic()
        if time.monotonic() - self.waited_since > self.plan.patience:
            in_vain = page.form(f"{self.root}group/stop_waiting/") is not None
            return self.submit(page, "group/stop_waiting/") if in_vain else self.get(f"{self.root}leave/")
        for action in ("group/ready/", "group/keep_waiting/"):
            if page.form(self.root + action) is not None:
                return self.submit(page, action)
        time.sleep(WAIT)
        return self.get(f"{self.root}group/wait/")

    def _room(self) -> Page:
        table = Table(
            browser=self.browser,
            root=self.root,
            language=self.language,
            rng=self.rng,
            habit=self.plan.habit,
            pace=self.plan.pace,
            sleep=self.plan.sleep,
            find=self.find,
            stopped=self.plan.stopped,
        )
        table.play()
        if not table.left:
            table.compare()
        self.result.room = str(table.state.get("room", ""))
        self.result.lines = len(table.log.lines)
        self.result.messages = len(table.sent)
        self.result.votes = len(table.voted)
        self.result.end = str(table.state.get("play", {}).get("end", ""))
        following = self.get(table.over or f"{self.root}go/")
        if following.path == f"{self.root}group/room/" and (found := _onward(following)):
            return self.get(found)  # who is out may watch on; this one has seen enough
        return following


def _onward(page: Page) -> str:
    found = re.search(r'href="([^"]*/group/survey/[^"]*)"', page.text)
    return html.unescape(found[1]) if found else ""
