"""What importing one row would do: plain values, nothing written yet."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialogues.importing.notes import Note, any_stops, result_of
from dialogues.importing.turns import TurnTime
from dialogues.models import Kind
from turingsite.audio.decode import Probe

# words of speaker_consent → columns of Speaker
CONSENT = {"recorded": "may_record", "played": "may_play", "cloned": "may_clone", "published": "may_publish",
           "training": "may_train"}  # fmt: skip


@dataclass
class Plan:
    """A row's values after checking. Empty text stands for "not said"."""

    external_id: str
    kind: str = ""
    language: str = ""
    topic: str = ""
    strategy: str = ""
    opening: str = ""
    origin: str = ""
    source_corpus: str = ""
    licence: str = ""
    may_play: bool = True
    may_redistribute: bool = False
    may_derive: bool = True
    channels: str = ""
    role: str = ""  # role and expected are about the study, not the dialogue: they are not part of its hash
    expected: str = ""
    systems: dict[str, str] = field(default_factory=dict)  # label → canonical name, B and perhaps A
    speakers: dict[str, str] = field(default_factory=dict)  # label → speaker code
    consent: list[str] | None = None
    audio: list[Path] = field(default_factory=list)  # several: one file a turn
    hashes: list[str] = field(default_factory=list)
    turns: list[TurnTime] = field(default_factory=list)
    probe: Probe | None = None  # of the one file; None where files are joined
    declared: float | None = None  # seconds, of a dialogue that comes without sound

    @property
    def per_turn(self) -> bool:
        return len(self.audio) > 1 or any(turn.audio for turn in self.turns)

    @property
    def agreed(self) -> dict[str, bool]:
        """What a speaker whom this row brings has agreed to, as columns of ``Speaker``."""
        if self.consent is not None:
            return {column: word in self.consent for word, column in CONSENT.items()}
        return {"may_clone": True} if self.kind == Kind.PSEUDO_HUMAN else {}

    def content_hash(self, raw_turns: list[TurnTime]) -> str:
        """Hash of all the row says and its files hold; file names and the id don't count."""
        said: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "kind",
                "language",
                "topic",
                "strategy",
                "opening",
                "origin",
                "source_corpus",
                "licence",
                "may_play",
                "may_redistribute",
                "may_derive",
                "channels",
                "systems",
                "speakers",
                "consent",
                "hashes",
            )
        }
        if self.declared is not None:
            said["duration"] = self.declared
        said["turns"] = [[t.speaker, round(t.start, 3), round(t.end, 3), t.text] for t in raw_turns]
        return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass
class Checked:
    """The outcome of checking a row. ``unchanged`` names the dialogue that already says all of it."""

    plan: Plan
    notes: list[Note]
    content_hash: str = ""
    unchanged: int | None = None

    @property
    def refused(self) -> bool:
        return any_stops(self.notes)

    @property
    def result(self) -> str:
        """What becomes of the row (a value of ImportRow.State)."""
        return result_of(self.notes, unchanged=self.unchanged is not None)
