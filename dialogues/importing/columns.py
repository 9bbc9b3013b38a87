"""The columns of a manifest: one table behind the reader, the docs and the template to download."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from django.utils.translation import gettext_noop


class Column(NamedTuple):
    """``meant`` lists headers that people write for this column; ``example`` fills the template."""

    name: str
    required: bool
    about: str
    example: str = ""
    meant: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The columns that a file may have. ``instead``: a needed column may be absent where this one is there.

    ``example`` shows one line of JSONL in a message. ``aliases``: headers (as ``header_key`` has them) that
    are taken for a column. ``most_rows`` and ``most_bytes``: what a file may hold.
    """

    columns: tuple[Column, ...]
    example: str
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    most_rows: int = 100_000
    most_bytes: int = 50_000_000

    def named(self, header: str) -> str:
        """The column that a header names, or what is compared with the names of columns."""
        key = header_key(header)
        return key if key in self.by_name else self.aliases.get(key, key)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.required)

    def missing(self, there: Iterable[str]) -> list[str]:
        """Needed columns that are not among ``there`` (names of a header, or of a line's cells)."""
        names = set(there)
        return [
            name
            for name in self.required
            if name not in names and not names & set(self.instead.get(name, ()))
        ]

    def probably_meant(self, header: str, among: list[str]) -> str | None:
        """Which of the columns in ``among`` somebody who wrote ``header`` probably meant."""
        key, known = header_key(header), self.by_name
        for name in among:
            if key in known[name].meant:
                return name
        words = {word: name for name in among for word in (name, *known[name].meant)}
        close = difflib.get_close_matches(key, list(words), n=1, cutoff=0.75)
        return words[close[0]] if close else None


COLUMNS: tuple[Column, ...] = (
    Column(
        "id",
        True,
        gettext_noop(
            "Your name for the dialogue, unique: letters, digits, dot, dash, underscore; at most 120."
        ),
        "en-001",
        ("dialogue", "dialog", "dialogue_id", "name", "item", "clip", "key", "编号"),
    ),
    Column(
        "kind",
        True,
        gettext_noop("human_human, human_machine or pseudo_human."),
        "human_machine",
        ("type", "class", "category", "condition", "label", "类型"),
    ),
    Column("language", True, gettext_noop("en or zh."), "en", ("lang", "locale", "语言")),
    Column(
        "audio",
        True,
        gettext_noop(
            "The sound file, below the audio folder. Several files divided by | are taken as turns, A first. "
            "Empty where the turns name their own files."
        ),
        "en-001.wav",
        ("file", "filename", "wav", "recording", "sound", "path", "audio_file", "音频"),
    ),
    Column(
        "duration",
        False,
        gettext_noop(
            "Only for a dialogue declared without sound: its length in seconds. It counts in reports and is "
            "never played."
        ),
        "",
        ("length", "seconds", "duration_s", "length_s", "时长"),
    ),
    Column(
        "turns",
        False,
        gettext_noop(
            "Who speaks when: an RTTM or JSON file, or JSON in the cell: "
            '[{"speaker": "A", "start": 0, "end": 3.6}, …]. Empty: turns are detected.'
        ),
        "en-001.rttm",
        ("segments", "rttm", "diarisation", "diarization", "timestamps"),
    ),
    Column(
        "turns_a", False, gettext_noop("A's turns in seconds, for example 0-3.6; 9.9-12.6."), "", ("a_turns",)
    ),
    Column("turns_b", False, gettext_noop("B's turns in seconds, likewise."), "", ("b_turns",)),
    Column(
        "channels",
        False,
        gettext_noop("For two-channel files: ab (A left, B right), ba, or mixed. Empty: found out."),
        "",
        ("channel", "layout"),
    ),
    Column(
        "system",
        False,
        gettext_noop("The system that speaks as B (human_machine, pseudo_human), by name or alias."),
        "GPT-4o",
        ("model", "bot", "agent", "machine", "tts", "engine", "系统"),
    ),
    Column(
        "system_a", False, gettext_noop("The system that speaks as A, where A is a machine as well."), "", ()
    ),
    Column(
        "strategy",
        False,
        gettext_noop("How a human–machine dialogue was started: human_guided, role_play, human_likeness."),
        "role_play",
        ("prompting", "method"),
    ),
    Column(
        "opening",
        False,
        gettext_noop("A name shared by all dialogues that start with the same words."),
        "role_play-en-1",
        ("opener", "prompt"),
    ),
    Column(
        "topic",
        False,
        gettext_noop("What they talk about, in English or Chinese."),
        "travel",
        ("subject", "theme", "主题", "话题"),
    ),
    Column(
        "speaker_a",
        False,
        gettext_noop("Code of the person whose voice A is. No names."),
        "S01",
        ("speaker1", "caller"),
    ),
    Column(
        "speaker_b",
        False,
        gettext_noop("Code of the person whose voice B is, or was cloned from."),
        "",
        ("speaker2", "callee"),
    ),
    Column(
        "speaker_consent",
        False,
        gettext_noop(
            "What the speakers agreed to: recorded, played, cloned, published, training (divided by spaces)."
        ),
        "recorded played",
        ("consent",),
    ),
    Column(
        "origin",
        False,
        gettext_noop("For human dialogues: curated or recorded (with the same openings)."),
        "",
        (),
    ),
    Column(
        "source_corpus",
        False,
        gettext_noop("Where the recording comes from, for example DailyTalk."),
        "",
        ("corpus", "source", "dataset"),
    ),
    Column("licence", False, gettext_noop("The recording's licence."), "CC-BY-4.0", ("license", "rights")),
    Column(
        "may_play", False, gettext_noop("yes or no: may participants hear it? Empty means yes."), "yes", ()
    ),
    Column(
        "may_redistribute",
        False,
        gettext_noop("yes or no: may exports carry the sound? Empty means no."),
        "no",
        ("redistribute",),
    ),
    Column(
        "may_derive",
        False,
        gettext_noop("yes or no: may new material be made from it? Empty means yes."),
        "yes",
        ("derive",),
    ),
    Column(
        "role",
        False,
        gettext_noop("What the study uses it for: main, attention, gold or calibration. Empty means main."),
        "main",
        (),
    ),
    Column(
        "expected",
        False,
        gettext_noop("For role attention: the answer that the voice asks for, human or machine."),
        "",
        ("asks_for",),
    ),
)

MANIFEST = Layout(COLUMNS, '{"id": …, "kind": …}', instead={"audio": ("duration",)})


def header_key(cell: str) -> str:
    """A header as compared: "Speaker A" = "speaker_a"."""
    return "_".join(cell.strip().strip("\ufeff").casefold().replace("-", " ").replace("_", " ").split())


def template_csv() -> str:
    """The template to download: a header and one example row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([column.name for column in COLUMNS])
    writer.writerow([column.example for column in COLUMNS])
    return out.getvalue()
