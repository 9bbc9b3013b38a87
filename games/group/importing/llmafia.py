"""The open logs of LLMafia as their authors published them: one folder a game, chats as text.

Day and night alternate. People and the agent talk and vote by day, which is our discussion and vote; what the
mafia writes and decides by night is kept as the phase ``night`` and is in no figure. Ties went to the first
player of the configuration.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import any_stops, shortened
from games.group.importing.llmafia_survey import surveys
from games.group.importing.shapes import (
    FileAgent,
    FileElimination,
    FileGame,
    FileLine,
    FileSeat,
    FileVote,
)
from games.group.models import Game
from turingsite.errors import Invalid

VARIANT = "llmafia"
MANAGER = "Game-Manager"
CONFIG, DAY_CHAT, NIGHT_CHAT, MANAGER_CHAT = (
    "config.json", "public_daytime_chat.txt", "public_nighttime_chat.txt", "public_manager_chat.txt",
)  # fmt: skip
REMAINING = "remaining_players.txt"
DISCUSSION, NIGHT = "discussion", "night"
HALF_A_DAY, A_DAY = 12 * 3600, 24 * 3600
LARGEST = 5 << 20  # bytes of one file

_LINE = re.compile(r"\[(\d{1,2}):(\d\d):(\d\d)\] ([^:]+): (.*)")
_VOTE = re.compile(r"(.+) voted for (.+)")
_OUT = re.compile(r"(.+) was voted out\. Their role was (\w+)")


class Said(NamedTuple):
    """A line of a chat; ``second``: since the first one of the game."""

    second: int
    who: str
    text: str


class Phase(NamedTuple):
    """A stretch of day or night from ``second`` on; ``round`` counts the days."""

    second: int
    is_day: bool
    round: int


def read_folders(path: Path, *, day: date | None = None) -> Iterator[FileGame]:
    """The games below ``path``: a game's own folder, one with such folders, or one that has them in ``raw``.

    ``day``: of the games, whose logs have times but no dates. Invalid where there is no such folder.
    """
    folders = _folders(path)
    if not folders:
        raise Invalid(
            "no_games",
            gettext_noop("%(path)s has no folder of a game: none with a %(file)s."),
            {"path": str(path), "file": CONFIG},
        )
    for number, folder in enumerate(folders, 1):
        yield _Reader(folder, number, day).game()


def _folders(path: Path) -> list[Path]:
    if (path / CONFIG).exists() or (path / DAY_CHAT).exists():
        return [path]
    inside = path / "raw" if (path / "raw").is_dir() else path
    if not inside.is_dir():
        return []
    found = sorted(one for one in inside.iterdir() if one.is_dir() and not one.name.startswith("."))
    return found if any((one / CONFIG).exists() or (one / DAY_CHAT).exists() for one in found) else []


class _Reader:
    def __init__(self, folder: Path, number: int, day: date | None) -> None:
        self.folder = folder
        self.names: list[str] = []
        self.file = FileGame(folder.name, number, id=f"{VARIANT}:{folder.name}", day=day)

    def game(self) -> FileGame:
        """What the folder tells, with everything that is wrong in it."""
        config = self._config()
        day, night, manager = (self._chat(name) for name in (DAY_CHAT, NIGHT_CHAT, MANAGER_CHAT))
        if config is None or any_stops(self.file.notes):
            return self.file
        start = min((said.second for chat in (day, night, manager) for said in chat), default=0)
        day, night, manager = (
            [said._replace(second=said.second - start) for said in chat] for chat in (day, night, manager)
        )
        phases = self._phases(manager)
        self._players(config)
        if any_stops(self.file.notes):
            return self.file
        self._votes(day, phases)
        self._outs(manager, phases)
        self._lines(day, night, phases)
        self._end(manager)
        self.file.answers = surveys(self.folder, self._people(), self.file.notes)
        return self.file

    # Files

    def _refuse(self, code: str, message: str, **params: object) -> None:
        self.file.notes.append(notes.refused(code, message, **params))

    def _text(self, name: str) -> str | None:
        """A file's text; None, and a fault, where it is missing, too large or not UTF-8."""
        path = self.folder / name
        try:
            if path.stat().st_size > LARGEST:
                self._refuse("too_large", gettext_noop("%(file)s is far larger than such a log."), file=name)
                return None
            return path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            self._refuse("missing", gettext_noop("%(file)s is missing."), file=name)
        except UnicodeDecodeError as problem:
            message = gettext_noop("%(file)s is not UTF-8 (byte %(at)s).")
            self._refuse("not_utf8", message, file=name, at=problem.start)
        except OSError as problem:
            message = gettext_noop("%(file)s can't be read: %(reason)s")
            self._refuse("unreadable", message, file=name, reason=problem.strerror or "")
        return None

    def _config(self) -> dict[str, Any] | None:
        text = self._text(CONFIG)
        if text is None:
            return None
        try:
            found = json.loads(text)
            players = [(str(one["name"]), bool(one["is_llm"])) for one in found["players"]]
        except (ValueError, KeyError, TypeError):
            line = gettext_noop(
                "%(file)s is no configuration of a game: it needs players with name and is_llm."
            )
            self._refuse("bad_config", line, file=CONFIG)
            return None
        self.names = [name for name, _is_agent in players]
        return dict(found)

    def _chat(self, name: str) -> list[Said]:
        """The lines of a chat; clocks that go back by half a day have passed midnight."""
        found: list[Said] = []
        days = last = 0
        for number, line in enumerate((self._text(name) or "").splitlines(), 1):
            if not line.strip():
                continue
            parsed = _LINE.fullmatch(line)
            if parsed is None or int(parsed[1]) > 23 or int(parsed[2]) > 59 or int(parsed[3]) > 59:
                message = gettext_noop("%(file)s, line %(line)s is not “[HH:MM:SS] name: text”: “%(text)s”")
                self._refuse("bad_line", message, file=name, line=number, text=shortened(line))
                continue
            clock = int(parsed[1]) * 3600 + int(parsed[2]) * 60 + int(parsed[3])
            days += clock < last - HALF_A_DAY
            last = clock
            who = parsed[4]
            if self.names and who != MANAGER and who not in self.names:
                message = gettext_noop("%(file)s, line %(line)s: no player is called “%(name)s”.")
                self._refuse("unknown_player", message, file=name, line=number, name=shortened(who))
                continue
            found.append(Said(days * A_DAY + clock, who, parsed[5]))
        return found

    # What they tell

    def _phases(self, manager: list[Said]) -> list[Phase]:
        """Days and nights; a day that was begun again counts anew."""
        found: list[Phase] = []
        for said in manager:
            if said.text.startswith("Now it's Daytime"):
                found.append(Phase(said.second, True, 1 + sum(one.is_day for one in found)))
            elif said.text.startswith("Now it's Nighttime"):
                found.append(Phase(said.second, False, max(1, sum(one.is_day for one in found))))
        if not found:
            message = gettext_noop("%(file)s names no day.")
            self._refuse("no_day", message, file=MANAGER_CHAT)
            return [Phase(0, True, 1)]
        return found

    def _players(self, config: dict[str, Any]) -> None:
        told = [one for one in config["players"] if one["is_llm"]]
        said: dict[str, Any] = dict(told[0].get("llm_config") or {}) if told else {}
        self.file.agent = FileAgent(
            VARIANT, f"LLMafia ({said.get('async_type') or '?'})", str(said.get("model_name") or ""),
            parameters=said,
        )  # fmt: skip
        self.file.rules = {"variant": VARIANT, "agent_votes": True}
        minutes = config.get("daytime_minutes")
        if isinstance(minutes, int | float):
            self.file.rules["discussion_seconds"] = int(60 * minutes)
        agents = {str(one["name"]) for one in told}
        self.file.seats = [
            FileSeat(name, name, name in agents, f"{self.file.id}/{name}") for name in self.names
        ]

    def _people(self) -> list[str]:
        return [seat.key for seat in self.file.seats if not seat.is_agent]

    def _votes(self, day: list[Said], phases: list[Phase]) -> None:
        for number, said in enumerate(day, 1):
            parsed = _VOTE.fullmatch(said.text) if said.who == MANAGER else None
            if parsed is None:
                continue
            voter, target = parsed.groups()
            unknown = next((one for one in (voter, target) if one not in self.names), None)
            if unknown is not None:
                message = gettext_noop("%(file)s, vote %(line)s: no player is called “%(name)s”.")
                self._refuse("unknown_player", message, file=DAY_CHAT, line=number, name=shortened(unknown))
                continue
            self.file.votes.append(FileVote(_day_of(said.second, phases), voter, target, said.second))

    def _outs(self, manager: list[Said], phases: list[Phase]) -> None:
        """Who went, by day with the votes of that day, by night without."""
        is_day, number = True, 1
        left = list(self.names)
        begun = iter(phases)
        for said in manager:
            if said.text.startswith("Now it's"):
                _second, is_day, number = next(begun)
                continue
            parsed = _OUT.fullmatch(said.text)
            if parsed is None:
                continue
            name, role = parsed.groups()
            if name not in left:
                message = gettext_noop("%(file)s: “%(name)s” goes out, but is not at the table.")
                self._refuse("unknown_player", message, file=MANAGER_CHAT, name=shortened(name))
                continue
            at = self.names.index(name)
            seat = self.file.seats[at]
            self.file.seats[at] = seat._replace(out_round=number, out_second=float(said.second))
            nature = "machine" if seat.is_agent else "human"
            self.file.log.append(
                FileLine(
                    "out", number, "vote" if is_day else NIGHT, said.second, name,
                    data={"nature": nature, "role": role},
                )
            )  # fmt: skip
            if is_day:
                self.file.eliminations.append(self._elimination(name, number, len(left), said.second))
            left.remove(name)

    def _elimination(self, name: str, number: int, living: int, second: float) -> FileElimination:
        tally = Counter(one.target for one in self.file.votes if one.round == number and one.target)
        most = max(tally.values(), default=0)
        tied = [one for one in self.names if most and tally[one] == most]
        tie = len(tied) > 1 and name in tied
        return FileElimination(
            number, name, living, dict(tally), tied if tie else [],
            {"rule": "first"} if tie and tied[0] == name else {}, second,
        )  # fmt: skip

    def _lines(self, day: list[Said], night: list[Said], phases: list[Phase]) -> None:
        self.file.log += [
            FileLine("phase", one.round, DISCUSSION if one.is_day else NIGHT, one.second) for one in phases
        ]
        for chat, phase in ((day, DISCUSSION), (night, NIGHT)):
            self.file.log += [
                FileLine(
                    "message", _day_of(said.second, phases), phase, said.second, said.who, said.text,
                    len(said.text),
                )
                for said in chat
                if said.who != MANAGER and said.text.strip()
            ]  # fmt: skip
        order = {"out": 0, "phase": 1, "message": 2}
        self.file.log.sort(key=lambda line: (line.second, order[line.kind]))

    def _end(self, manager: list[Said]) -> None:
        self.file.rounds = max((line.round for line in self.file.log), default=1)
        self.file.seconds = max((line.second for line in self.file.log), default=0.0)
        self.file.log.append(FileLine("end", self.file.rounds, "end", self.file.seconds))
        agent = next((seat for seat in self.file.seats if seat.is_agent), None)
        gone = agent is None or agent.out_round is not None
        self.file.end = str(Game.End.AGENT_OUT if gone else Game.End.SURVIVED)
        text = self._text(REMAINING)
        if text is None:
            return
        told = {line.strip() for line in text.splitlines() if line.strip()}
        left = {seat.key for seat in self.file.seats if seat.out_round is None}
        if told != left:
            message = gettext_noop("%(file)s names %(told)s, but by %(log)s there are %(left)s left.")
            self._refuse(
                "remaining", message, file=REMAINING, log=MANAGER_CHAT, told=", ".join(sorted(told)) or "–",
                left=", ".join(sorted(left)) or "–",
            )  # fmt: skip


def _day_of(second: float, phases: list[Phase]) -> int:
    return max((one.round for one in phases if one.second <= second), default=1)
