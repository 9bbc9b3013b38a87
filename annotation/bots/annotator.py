"""One bot: through guidelines and calibration, then batches of work, until it has done its number."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.bots import clumsy
from annotation.bots.hearing import Heard, hear
from annotation.bots.rating import Simulated
from studies.bots import Page, Stuck, Walker, Watch

STRETCH = 5.0  # seconds between two reports of listening
WAITING = ("annotation/break/",)


def _silent(_line: str) -> None:
    """Where nobody waits for lines."""


@dataclass(frozen=True)
class Plan:
    """What one bot shall do. ``listen``: real (as long as the clips) or claimed (test participants only).

    ``batches``: so many batches of work, 0: as long as there are any. ``start``: an invitation's address.
    ``human``: how human a clip sounds, by its SHA-256; what is not there sounds as its bytes have it.
    ``tell``: is told of every batch as it is done, from the bot's own thread.
    """

    base: str
    slug: str
    number: int
    seed: int
    quality: str
    batches: int = 0
    clumsy: bool = False
    listen: str = "claimed"
    start: str = ""
    human: Mapping[str, float] = field(default_factory=dict)
    tell: Callable[[str], None] = _silent


@dataclass
class Result:
    """What one bot did and what it found wrong. ``end``: done, nothing left, not passed, or empty."""

    bot: int
    quality: str
    batches: int = 0
    calibrations: int = 0
    dialogues: int = 0
    scores: int = 0
    end: str = ""
    findings: list[str] = field(default_factory=list)


class Bot(Walker):
    def __init__(self, plan: Plan, watch: Watch) -> None:
        super().__init__(
            base=plan.base,
            slug=plan.slug,
            number=plan.number,
            seed=plan.seed,
            watch=watch,
            clumsy=plan.clumsy,
            start=plan.start,
        )
        self.plan = plan
        self.rater = Simulated.drawn(plan.quality, f"{plan.seed}/rater/{plan.number}")
        self.result = Result(plan.number, plan.quality, findings=self.findings)
        self.work = f"{self.root}annotation/"
        self.kind = ""  # of the batch in hand
        self.met: dict[str, str] = {}  # address of a clip → kind of the batch it came in

    def run(self) -> Result:
        """Annotate until the number is done; whatever is wrong is in the result's findings."""
        self.walk()
        return self.result

    def address(self, code: str, what: str) -> str:
        return f"{self.work}item/{code}/{what}/"

    def inside(self, page: Page, where: str) -> Page | None:
        if where.startswith("annotation/join/"):
            return self.submit(page, where)
        if where == "annotation/guidelines/":
            return self.submit(page, where)
        if where == "annotation/calibration/":
            return self._calibration(page, where)
        if where == "annotation/batch/":
            return self._item(page)
        if where.startswith("annotation/batch/"):
            return self._batch_done(page)
        if where == "annotation/returned/":
            return self.submit(page, where)
        if where in WAITING:
            self.result.end = "nothing left"
            return self._leave()
        if where == "debrief/":
            self.result.end = self.result.end or "done"
            return None
        return super().inside(page, where)

    def _calibration(self, page: Page, where: str) -> Page | None:
        if page.form(self.root + where) is None:
            self.result.end = "not passed"
            return None
        return self.submit(page, where)

    def _batch_done(self, page: Page) -> Page:
        self.blind(page)
        if self.kind == "calibration":
            self.result.calibrations += 1
            said = f"calibration batch {self.result.calibrations}"
        else:
            self.result.batches += 1
            said = f"batch {self.result.batches}"
        self.plan.tell(f"bot {self.number}: {said} done, {self.result.dialogues} dialogues")
        if self.plan.batches and self.result.batches >= self.plan.batches:
            return self._leave()
        return self.get(self.work)

    def _leave(self) -> Page:
        leaving = self.get(f"{self.root}leave/")
        if leaving.path != f"{self.root}leave/":
            return leaving  # all batches are done: this is the end already
        return self.submit(leaving, "leave/", button="choice=stop")

    # --- one dialogue ---

    def _item(self, page: Page) -> Page:
        item = page.data("item")
        if not item:
            raise Stuck("the page of a dialogue holds no item")
        self.blind(page)
        self.kind = str(item["kind"])
        code = str(item["code"])
        if item["scores"] and not self.clumsy:
            self.find(f"item {code} comes with scores that this bot did not give")
        sound = self._listen(item)
        heard = self.heard(sound, self._dimensions(page))
        given = self.rater.scores(heard)
        if self.clumsy:
            clumsy.before_scores(self, item)
        self._score(item, given)
        choice, confidence = self.rater.choice(heard, given)
        said = {"choice": {"value": choice, "confidence": confidence, "version": item["choice_version"]}}
        told = self.seen(self.browser.post_json(self.address(code, "save"), said)).json()
        if not told.get("complete"):
            self.find(f"item {code} is not complete with all its scores: {str(told)[:120]}")
        if self.clumsy:
            clumsy.after_scores(self, item, given)
        after = self.seen(self.browser.post_json(self.address(code, "next"), {})).json()
        self.result.dialogues += 1
        self.result.scores += len(given)
        if (after.get("item") or {}).get("code") == code:
            raise Stuck(f"item {code} is complete and comes again")
        return self.get(self.work)

    def _dimensions(self, page: Page) -> list[str]:
        form = page.form("/save/")
        if form is None:
            raise Stuck("the page of a dialogue has no form for scores")
        return [name.removeprefix("score-") for name in form.groups() if name.startswith("score-")]

    def heard(self, sound: bytes, keys: list[str]) -> dict[str, Heard]:
        """What this sound has to hear: how human it is where that is known, else as its bytes have it."""
        name = hashlib.sha256(sound).hexdigest()
        human = self.plan.human.get(name, random.Random(name).uniform(-1, 1))
        return hear(name, keys, human=human)

    def _score(self, item: Mapping[str, Any], given: Mapping[str, int]) -> None:
        """Send the scores as the page does: one after another, now and then a few together."""
        code, waiting = str(item["code"]), dict(given)
        versions = {key: one["version"] for key, one in item["scores"].items()}
        while waiting:
            several = self.rng.choice([1, 2, 6, 18])
            part = {
                key: {"value": waiting.pop(key), "version": versions.get(key, 0)}
                for key in list(waiting)[:several]
            }
            body = {"scores": part, "active": round(self.rng.uniform(1, 6), 1)}
            told = self.seen(self.browser.post_json(self.address(code, "save"), body))
            self.blind(told)
            stored = told.json().get("scores", {})
            wrong = [key for key in part if stored.get(key, {}).get("value") != part[key]["value"]]
            if wrong:
                self.find(f"item {code}: {wrong} not stored as sent: {told.text[:120]!r}")

    def _listen(self, item: Mapping[str, Any]) -> bytes:
        """Fetch the sound as browsers do, try to score too early, then listen to the end."""
        code, length, audio = str(item["code"]), float(item["length"]), str(item["audio"])
        self.watch.given(self.number, audio)
        if self.met.setdefault(audio, self.kind) != self.kind:
            self.find(f"item {code} plays a recording of the calibration as work")
        first = self.browser.get(audio, bytes_range="0-1")
        if first.status != 206 or len(first.body) != 2:
            self.find(f"the sound answers a range with {first.status} and {len(first.body)} bytes")
        sound = self.get(audio)
        for answer in (first, sound):
            self.blind(answer)
        if not item["unlocked"]:
            early = self.browser.post_json(
                self.address(code, "save"), {"scores": {"rhythm": {"value": 3, "version": 0}}}
            )
            self.seen(early, 409)
            if early.json().get("error", {}).get("code") != "not_heard":
                self.find(f"a score before listening was answered with {early.text[:100]!r}")
        at, told = 0.0, first
        while at < length:
            if self.plan.listen == "real":
                time.sleep(min(STRETCH, length - at))
                at = min(at + STRETCH, length)
            else:
                at = length
            report = {"ranges": [[0, round(at, 2)]], "plays": 1, "pauses": 0, "hidden": 0}
            report |= {"ended": at >= length, "playing": at < length}
            told = self.seen(self.browser.post_json(self.address(code, "listening"), report))
            self.blind(told)
        if not told.json().get("unlocked"):
            self.find(f"still locked after listening to all of it: {told.text[:100]!r}")
        return sound.body
