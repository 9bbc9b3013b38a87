"""Reads our own interchange format: a game in each line, as ``interchange/game.schema.json`` describes it.

Every fault of a line is told with the place where it stands; the other lines still come in.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import shortened
from games.group.importing.shapes import (
    LONGEST_GAME,
    LONGEST_ID,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ROUNDS,
    FileAgent,
    FileAnswer,
    FileElimination,
    FileGame,
    FileLine,
    FileSeat,
    FileVote,
)
from games.group.interchange import FORMAT
from games.group.models import Game
from games.room.models import Event, Seat
from studies.models import Language

LARGEST_LINE = 50 << 20  # bytes
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
NATURES = ("human", "machine")
ENDS = tuple(value for value in Game.End.values if value)


def read_lines(path: Path, *, day: date | None = None) -> Iterator[FileGame]:
    """A game for each line that is not blank. ``day``: of games that name none. OSError where the file
    cannot be read."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip(b"\xef\xbb\xbf \t\r\n"):
                yield _Line(number, line, day).game()


class _Line:
    def __init__(self, number: int, line: bytes, day: date | None) -> None:
        self.file = FileGame(str(number), number, day=day)
        self.line = line
        self.at = ""  # the part of the line that is being read

    def game(self) -> FileGame:
        found = self._parsed()
        if found is not None:
            self._head(found)
            self._seats(found)
            self.keys = {seat.key for seat in self.file.seats}
            self._log(found)
            self._votes(found)
            self._eliminations(found)
            self._survey(found)
        return self.file

    def _parsed(self) -> dict[str, Any] | None:
        if len(self.line) > LARGEST_LINE:
            self._refuse("too_large", gettext_noop("The line is far larger than a game would be."))
            return None
        try:
            found = json.loads(self.line.decode("utf-8-sig"), parse_constant=_no_number)
        except UnicodeDecodeError as problem:
            self._refuse("not_utf8", gettext_noop("The line is not UTF-8 (byte %(at)s)."), at=problem.start)
            return None
        except (ValueError, RecursionError) as problem:
            at = getattr(problem, "colno", 1)
            self._refuse(
                "not_json", gettext_noop("The line is no JSON: it breaks at character %(at)s."), at=at
            )
            return None
        if not isinstance(found, dict):
            self._refuse("not_object", gettext_noop("The line is no JSON object."))
            return None
        if found.get("format") != FORMAT:
            message = gettext_noop("format is “%(value)s”. This program reads “%(format)s”.")
            self._refuse("other_format", message, value=shortened(str(found.get("format"))), format=FORMAT)
            return None
        return found

    # Faults and values

    def _refuse(self, code: str, message: str, **params: object) -> None:
        self.file.notes.append(notes.refused(code, message, **params))

    def _bad(self, name: str, value: object, wanted: str) -> None:
        where = f"{self.at}.{name}" if self.at else name
        if value is None:
            self._refuse(
                "missing", gettext_noop("%(where)s is missing. It is %(why)s"), where=where, why=wanted
            )
            return
        message = gettext_noop("%(where)s is “%(value)s”. It is %(why)s")
        shown = shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        self._refuse("bad_value", message, where=where, value=shown, why=wanted)

    def _word(self, row: Mapping[str, Any], name: str, most: int, *, needed: bool = True) -> str:
        value = row.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
            self._bad(name, value, gettext_noop("a short text of characters that print."))
            return ""
        return value

    def _one_of(
        self, row: Mapping[str, Any], name: str, known: Sequence[str], default: str | None = None
    ) -> str:
        value = row.get(name, default)
        if value not in known:
            self._bad(name, value, gettext_noop("one of the words that the format names."))
            return ""
        return str(value)

    def _whole(
        self, row: Mapping[str, Any], name: str, low: int, high: int, default: int | None = None
    ) -> int:
        value = row.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self._bad(name, value, gettext_noop("a whole number within the format's bounds."))
            return low
        return value

    def _second(self, row: Mapping[str, Any], name: str = "second") -> float:
        value = row.get(name, 0.0)
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not 0 <= value <= LONGEST_GAME:
            self._bad(name, value, gettext_noop("a number of seconds since the game began."))
            return 0.0
        return float(value)

    def _flag(self, row: Mapping[str, Any], name: str) -> bool:
        value = row.get(name, False)
        if not isinstance(value, bool):
            self._bad(name, value, gettext_noop("true or false."))
        return value is True

    def _object(self, row: Mapping[str, Any], name: str) -> dict[str, Any]:
        value = row.get(name, {})
        if not isinstance(value, dict) or not _storable(value):
            self._bad(name, value, gettext_noop("an object."))
            return {}
        return value

    def _key(self, row: Mapping[str, Any], name: str) -> str:
        """The key of a seat that is there."""
        key = self._word(row, name, LONGEST_ID)
        if key and key not in self.keys:
            where = f"{self.at}.{name}"
            message = gettext_noop("%(where)s: there is no seat “%(name)s”.")
            self._refuse("no_seat", message, where=where, name=shortened(key))
        return key

    def _rows(self, found: Mapping[str, Any], name: str, *known: str) -> Iterator[Mapping[str, Any]]:
        rows = found.get(name, [])
        self.at = ""
        if not isinstance(rows, list):
            self._bad(name, rows, gettext_noop("a list."))
            return
        for number, row in enumerate(rows, 1):
            self.at = f"{name} {number}"
            if not isinstance(row, dict):
                self._refuse("not_object", gettext_noop("%(where)s is no object."), where=self.at)
                continue
            self._only(row, known)
            yield row
        self.at = ""

    def _only(self, row: Mapping[str, Any], known: Sequence[str]) -> None:
        for name in row.keys() - set(known):
            where = f"{self.at}.{shortened(name)}" if self.at else shortened(name)
            self._refuse("unknown", gettext_noop("%(where)s is no part of the format."), where=where)

    # Parts

    def _head(self, found: Mapping[str, Any]) -> None:
        self._only(
            found,
            ("format", "id", "language", "day", "seconds", "end", "rounds", "seed", "rules", "agent", "test",
             "pilot", "seats", "log", "votes", "eliminations", "survey"),
        )  # fmt: skip
        file = self.file
        file.id = self._word(found, "id", LONGEST_ID)
        file.language = self._one_of(found, "language", Language.values)
        file.end = self._one_of(found, "end", ENDS)
        file.rounds = self._whole(found, "rounds", 1, MOST_ROUNDS)
        file.seconds = self._second(found, "seconds")
        file.seed = self._whole(found, "seed", -(2**63), 2**63 - 1, 0)
        file.is_test, file.is_pilot = self._flag(found, "test"), self._flag(found, "pilot")
        file.rules = self._object(found, "rules")
        votes = file.rules.get("agent_votes")
        if votes is not None and not isinstance(votes, bool):
            self._bad("rules.agent_votes", votes, gettext_noop("true or false."))
        if len(self._variant(file.rules)) > LONGEST_NAME:
            self._bad(
                "rules.variant", file.rules["variant"], gettext_noop("a short text of characters that print.")
            )
        if "day" in found:
            try:
                file.day = date.fromisoformat(found["day"])
            except (ValueError, TypeError):
                self._bad("day", found["day"], gettext_noop("a day such as 2026-03-02."))
        file.agent = self._agent(found)

    def _variant(self, rules: Mapping[str, Any]) -> str:
        value = rules.get("variant", "")
        if not isinstance(value, str):
            self._bad("rules.variant", value, gettext_noop("a short text of characters that print."))
            return ""
        return value

    def _agent(self, found: Mapping[str, Any]) -> FileAgent | None:
        said = found.get("agent")
        if said is None:
            return None
        if not isinstance(said, dict):
            self._bad("agent", said, gettext_noop("an object."))
            return None
        self.at = "agent"
        self._only(said, ("key", "version", "name", "model", "sha256"))
        key, sha256 = self._word(said, "key", LONGEST_NAME), said.get("sha256", "")
        if key and not _SLUG.fullmatch(key):
            self._bad("key", key, gettext_noop("letters of the English alphabet, figures and dashes."))
        if sha256 and not (isinstance(sha256, str) and _SHA256.fullmatch(sha256)):
            self._bad("sha256", sha256, gettext_noop("a SHA-256 as 64 hexadecimal figures."))
            sha256 = ""
        version = self._whole(said, "version", 1, 2**31 - 1, 1)
        model = self._word(said, "model", LONGEST_ID, needed=False) if said.get("model") else ""
        name = self._word(said, "name", LONGEST_ID, needed=False) or key
        self.at = ""
        return FileAgent(key, name, model, sha256, {"version": version})

    def _seats(self, found: Mapping[str, Any]) -> None:
        rows = self._rows(
            found, "seats", "seat", "pseudonym", "nature", "person", "out_round", "out_second", "left"
        )
        for row in rows:
            key = self._word(row, "seat", LONGEST_ID)
            out = row.get("out_round")
            self.file.seats.append(
                FileSeat(
                    key,
                    self._word(row, "pseudonym", LONGEST_NAME, needed=False) or key[:LONGEST_NAME],
                    self._one_of(row, "nature", NATURES) == "machine",
                    self._word(row, "person", LONGEST_ID, needed=False) or f"{self.file.id}/{key}",
                    None if out is None else self._whole(row, "out_round", 1, MOST_ROUNDS),
                    None if row.get("out_second") is None else self._second(row, "out_second"),
                    self._one_of(row, "left", Seat.Left.values, ""),
                )
            )

    def _log(self, found: Mapping[str, Any]) -> None:
        rows = self._rows(
            found, "log", "kind", "round", "phase", "second", "seat", "text", "characters", "words",
            "question", "edited", "withdrawn", "data",
        )  # fmt: skip
        for row in rows:
            kind = self._one_of(row, "kind", Event.Kind.values)
            text, words, question = row.get("text"), row.get("words"), row.get("question")
            if text is not None and not (
                isinstance(text, str) and len(text) <= LONGEST_TEXT and "\0" not in text
            ):
                self._bad("text", text, gettext_noop("a text, not too long and without a null character."))
                text = None
            if question is not None and not isinstance(question, bool):
                self._bad("question", question, gettext_noop("true or false."))
            needs_seat = kind == Event.Kind.MESSAGE or row.get("seat") is not None
            self.file.log.append(
                FileLine(
                    kind,
                    self._whole(row, "round", 1, MOST_ROUNDS),
                    self._word(row, "phase", 20),
                    self._second(row),
                    self._key(row, "seat") if needs_seat else "",
                    text or "",
                    self._whole(row, "characters", 0, 100_000, len(text or "")),
                    None if words is None else self._whole(row, "words", 0, 100_000),
                    question,
                    self._flag(row, "edited"),
                    self._flag(row, "withdrawn"),
                    self._object(row, "data"),
                )
            )

    def _votes(self, found: Mapping[str, Any]) -> None:
        for row in self._rows(found, "votes", "round", "voter", "target", "second"):
            self.file.votes.append(
                FileVote(
                    self._whole(row, "round", 1, MOST_ROUNDS),
                    self._key(row, "voter"),
                    None if row.get("target", "") is None else self._key(row, "target"),
                    self._second(row),
                )
            )

    def _eliminations(self, found: Mapping[str, Any]) -> None:
        rows = self._rows(found, "eliminations", "round", "seat", "living", "tally", "tied", "draw", "second")
        for row in rows:
            tally, tied = self._object(row, "tally"), row.get("tied", [])
            for key, n in tally.items():
                self._key({"tally": key}, "tally")
                self._whole({"tally": n}, "tally", 0, 1000)
            if not isinstance(tied, list):
                self._bad("tied", tied, gettext_noop("a list."))
                tied = []
            self.file.eliminations.append(
                FileElimination(
                    self._whole(row, "round", 1, MOST_ROUNDS),
                    self._key(row, "seat"),
                    self._whole(row, "living", 2, 20),
                    tally,
                    [self._key({"tied": key}, "tied") for key in tied],
                    self._object(row, "draw"),
                    self._second(row),
                )
            )

    def _survey(self, found: Mapping[str, Any]) -> None:
        for row in self._rows(found, "survey", "seat", "question", "value", "scale", "language"):
            question, scale = self._word(row, "question", 40), row.get("scale", [])
            if question and not _SLUG.fullmatch(question):
                self._bad(
                    "question", question, gettext_noop("letters of the English alphabet, figures and dashes.")
                )
            if (
                not isinstance(scale, list)
                or not all(isinstance(one, str) for one in scale)
                or not _storable(scale)
            ):
                self._bad("scale", scale, gettext_noop("a list of texts."))
                scale = []
            value = row.get("value")
            if not isinstance(value, str | int | float | list) or not _storable(value):
                self._bad(
                    "value", row.get("value"), gettext_noop("a text, a number, true or false, or a list.")
                )
            self.file.answers.append(
                FileAnswer(
                    self._key(row, "seat"), question, value, scale,
                    self._word(row, "language", 10, needed=False) or self.file.language or "en",
                )
            )  # fmt: skip


def _no_number(name: str) -> float:
    raise ValueError(name)  # NaN and Infinity are no JSON


def _storable(value: object) -> bool:
    """Whether a database can hold it: no null characters, halves of characters, infinite numbers."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):
        return False
    return "\\u0000" not in text
