"""One bot: from the welcome page through consent, profile, sound check and rounds to the debrief."""

from __future__ import annotations

import html
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

from games.speech.bots import clumsy, hearing
from games.speech.bots.watch import Result, points_fit
from studies.bots import Page, Stuck, Walker, Watch

STRETCH = 5.0  # seconds between two reports of listening
NEXT_ROUND = re.compile(r'<a class="btn big" href="([^"]+/speech/[^"]*)"')
SAID_AND_WAS = re.compile(r'class="is ([hm])"')


@dataclass(frozen=True)
class Plan:
    """What one bot shall do. ``listen``: real (as long as the clips) or claimed (test participants only)."""

    base: str
    slug: str
    number: int
    seed: int
    rounds: int
    clumsy: bool
    listen: str = "claimed"


class Bot(Walker):
    def __init__(self, plan: Plan, watch: Watch) -> None:
        super().__init__(
            base=plan.base,
            slug=plan.slug,
            number=plan.number,
            seed=plan.seed,
            watch=watch,
            clumsy=plan.clumsy,
        )
        self.plan = plan
        self.result = Result(plan.number, plan.clumsy, findings=self.findings)
        self.said: dict[int, str] = {}  # position → answer, of the round being played
        self.heard: set[str] = set()  # addresses of all clips judged outside rounds for fun
        self.unlisted = 0  # spoken instructions met: no page lists them
        self.last: tuple[str, str] | None = None  # code and answer of the trial before

    def run(self) -> Result:
        """Play until the debrief; whatever is wrong is in the result's findings."""
        self.walk()
        return self.result

    def address(self, code: str, what: str) -> str:
        return f"{self.root}speech/trial/{code}/{what}/"

    def inside(self, page: Page, where: str) -> Page | None:
        if where == "speech/sound/":
            return self._sound(page)
        if where == "speech/trial/":
            return self._trial(page)
        if where.startswith("speech/check/"):
            return self.submit(page, where)
        if where.startswith("speech/round/"):
            return self._round(page)
        if where == "debrief/":
            self._debrief(page)
            return None
        return super().inside(page, where)

    def _sound(self, page: Page) -> Page:
        found = re.search(r'<audio[^>]* src="([^"]+)"', page.text)
        clip = self.browser.get(found[1]) if found else None
        if clip is None or self.seen(clip).status != 200:
            self.find("the sound check has no sound")
        word = hearing.word_in(clip.body) if clip is not None else ""
        return self.submit(page, "speech/sound/", {"word": word or "hm"})

    # --- one trial ---

    def _trial(self, page: Page) -> Page:
        trial = page.data("trial")
        if not trial:
            raise Stuck("the trial page holds no trial")
        self.blind(page)
        if trial["answer"] is None:
            self._listen(trial)
            trial = self._answer(trial)
        code = str(trial["code"])
        self.last = (code, self.said.setdefault(int(trial["position"]), str(trial["answer"])))
        goto = clumsy.two_tabs(self, code) if self.plan.clumsy else self._next(code)
        return self.get(goto)

    def _next(self, code: str) -> str:
        told = self.seen(self.browser.post_json(self.address(code, "next"), {})).json()
        return str(told.get("goto") or f"{self.root}speech/trial/")

    def _listen(self, trial: dict[str, Any]) -> None:
        """Fetch the sound as browsers do, try to answer too early, then listen to the end."""
        code, length = str(trial["code"]), float(trial["length"])
        self.watch.given(self.plan.number, str(trial["audio"]))
        first = self.browser.get(trial["audio"], bytes_range="0-1")
        if first.status != 206 or len(first.body) != 2:
            self.find(f"the sound answers a range with {first.status} and {len(first.body)} bytes")
        sound = self.get(trial["audio"])
        for answer in (first, sound):
            self.blind(answer)
        if not trial["unlocked"]:
            early = self.browser.post_json(self.address(code, "verdict"), {"choice": "human"})
            self.seen(early, 409)
            if early.json().get("error", {}).get("code") != "not_heard":
                self.find(f"a verdict before listening was answered with {early.text[:100]!r}")
        at = 0.0
        while at < length:
            if self.plan.listen == "real":
                time.sleep(min(STRETCH, length - at))
                at = min(at + STRETCH, length)
            else:
                at = length
            report = {
                "ranges": [[0, round(at, 2)]],
                "plays": 1,
                "pauses": 0,
                "hidden": 0,
                "ended": at >= length,
            }
            told = self.seen(
                self.browser.post_json(self.address(code, "listening"), report | {"playing": at < length})
            )
            self.blind(told)
        if not told.json().get("unlocked"):
            self.find(f"still locked after listening to all of it: {told.text[:100]!r}")
        if self.plan.clumsy:
            clumsy.before_verdict(self, trial)

    def _answer(self, trial: dict[str, Any]) -> dict[str, Any]:
        """Give the verdict; the trial that was answered."""
        choice = self.rng.choice(["human", "machine"])
        if str(trial["audio"]) in self.heard and not trial["for_fun"]:
            self.find(f"trial {trial['code']} plays a recording a second time")
        self.heard.add(str(trial["audio"]))
        if self.plan.clumsy:
            clumsy.give(self, trial, choice)
        else:
            self.verdict(str(trial["code"]), choice)
        # Two answers in one place: the first one was a spoken instruction.
        self.unlisted += int(trial["position"]) in self.said
        self.said[int(trial["position"])] = choice
        self.result.verdicts += 1
        return trial

    def verdict(self, code: str, choice: str, *expected: int) -> Page:
        body: dict[str, Any] = {"choice": choice, "at": self.rng.randint(400, 4000)}
        return self.seen(self.browser.post_json(self.address(code, "verdict"), body), *expected)

    # --- after a round ---

    def _round(self, page: Page) -> Page:
        """Compare the reveal with what was said, then go on, or look at the board and finish."""
        self.result.rounds += 1
        found = [{"h": "human", "m": "machine"}[letter] for letter in SAID_AND_WAS.findall(page.text)]
        said, was = found[::2], found[1::2]
        if found and said != [self.said[position] for position in sorted(self.said)]:
            self.find(f"{page.path} says the answers were {said}, they were {self.said}")
        shown = re.search(r'data-countup="(\d+)"', page.text)
        correct = sum(one == other for one, other in zip(said, was, strict=True))
        if shown and not points_fit(int(shown[1]), correct, len(said)):
            self.find(f"{page.path} gives {shown[1]} points for {correct} right of {len(said)}")
        self.said = {}
        following = NEXT_ROUND.search(page.text)
        if self.result.rounds < self.plan.rounds and following:
            return self.get(html.unescape(following[1]))
        self._board(page)
        leaving = self.get(f"{self.root}leave/")
        if leaving.path != f"{self.root}leave/":
            return leaving  # all rounds are played: this is the end already
        return self.submit(leaving, "leave/", button="choice=stop")

    def _debrief(self, page: Page) -> None:
        """One answer for each recording that was judged, whatever was clicked twice."""
        self.result.reached_debrief = True
        shown = len(SAID_AND_WAS.findall(page.text)) // 2
        if shown != len(self.heard) - self.unlisted:
            self.find(f"the debrief lists {shown} answers for {len(self.heard)} recordings")

    def _board(self, page: Page) -> None:
        if f"{self.root}speech/board/" not in page.text:
            return
        board = self.get(f"{self.root}speech/board/")
        if "aria-current" not in board.text:
            self.find("the leaderboard does not show the bot's own row")
        if self.rng.random() < 0.5:
            naming = self.get(f"{self.root}speech/nickname/")
            # Bots with the same seed may have played here before: their names are taken.
            name = f"bot {self.plan.number}-{secrets.token_hex(4)}"
            self.submit(naming, "speech/nickname/", {"nickname": name})
