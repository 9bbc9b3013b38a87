"""Speech is found by its level; turns by channel, by hints, or by the voices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sounds import RATE, Samples, case, silence, talk, voice
from turingsite.audio.activity import channels_are_apart, find_turns, speech_spans, tightened
from turingsite.audio.decode import decode
from turingsite.audio.turns import Turn, gaps


def two_channels(*, bleed: float | None = None) -> tuple[Samples, list[Turn]]:
    plan = [("A", 0.3, 1.5), ("B", 1.0, 2.0), ("A", 0.4, 1.2)]
    samples, turns = talk(plan, tail=0.4)
    sides = np.stack([silence(len(samples) / RATE, seed=s)[: len(samples)] for s in (1, 2)], axis=1)
    for turn in turns:
        span = slice(round(turn.start * RATE), round(turn.end * RATE))
        side = 0 if turn.speaker == "A" else 1
        sides[span, side] += samples[span]
        if bleed is not None:
            sides[span, 1 - side] += samples[span] * np.float32(10 ** (bleed / 20))
    return sides, turns


def test_speech_is_found_where_it_is() -> None:
    samples, turns = talk([("A", 0.5, 1.0), ("B", 0.7, 1.2)], tail=0.6)
    spans = speech_spans(samples)
    assert len(spans) == 2
    for (start, end), turn in zip(spans, turns, strict=True):
        assert start == pytest.approx(turn.start, abs=0.03)
        assert end == pytest.approx(turn.end, abs=0.03)


@pytest.mark.parametrize("level", [None, -40.0, -95.0])
def test_noise_and_silence_hold_no_speech(level: float | None) -> None:
    assert speech_spans(silence(3.0, level=level)) == []


def test_nothing_at_all_holds_no_speech() -> None:
    assert speech_spans(np.zeros(0, dtype=np.float32)) == []
    assert speech_spans(np.zeros(1, dtype=np.float32)) == []


@pytest.mark.parametrize("bleed", [None, -30.0])
def test_each_channel_gives_its_speakers_turns(bleed: float | None) -> None:
    samples, turns = two_channels(bleed=bleed)
    found = find_turns(samples)
    assert found.method == "channels"
    assert [t.speaker for t in found.turns] == ["A", "B", "A"]
    for got, meant in zip(found.turns, turns, strict=True):
        assert [got.start, got.end] == pytest.approx([meant.start, meant.end], abs=0.05)


def test_channels_can_be_the_other_way_round() -> None:
    samples, _ = two_channels()
    assert [t.speaker for t in find_turns(samples, layout="ba").turns] == ["B", "A", "B"]


def test_the_same_sound_on_both_sides_is_one_recording() -> None:
    samples, _ = talk([("A", 0.3, 1.5), ("B", 0.5, 1.5)])
    both = np.stack([samples, samples], axis=1)
    assert not channels_are_apart(both)
    assert find_turns(both).method == "voices"
    left_only = np.stack([samples, samples * 0], axis=1)
    assert not channels_are_apart(left_only)


def test_overlap_survives_in_two_channels() -> None:
    left = np.concatenate([voice(2.0), silence(2.0)])
    right = np.concatenate([silence(1.4), voice(2.6, pitch=190)])
    found = find_turns(np.stack([left, right], axis=1), layout="ab")
    assert [t.speaker for t in found.turns] == ["A", "B"]
    assert gaps(found.turns)[0].length == pytest.approx(-0.6, abs=0.06)


def test_hints_keep_speakers_and_get_exact_edges() -> None:
    samples, turns = talk([("A", 0.5, 1.5), ("B", 1.0, 1.5)], tail=0.5)
    rough = [t._replace(start=t.start - 0.15, end=t.end + 0.12) for t in turns]
    found = find_turns(samples[:, None], hints=rough)
    assert found.method == "hints"
    for got, meant in zip(found.turns, turns, strict=True):
        assert got.speaker == meant.speaker
        assert [got.start, got.end] == pytest.approx([meant.start, meant.end], abs=0.03)


def test_two_voices_are_told_apart_even_without_a_pause() -> None:
    samples, turns = talk([("A", 0.2, 2.5), ("B", 0.0, 2.5), ("A", 0.8, 2.0)], tail=0.2)
    found = find_turns(samples[:, None])
    assert found.method == "voices"
    assert [t.speaker for t in found.turns] == ["A", "B", "A"]
    for got, meant in zip(found.turns, turns, strict=True):
        assert [got.start, got.end] == pytest.approx([meant.start, meant.end], abs=0.25)


def test_one_voice_is_not_split_into_two() -> None:
    samples, _ = talk([("A", 0.2, 2.5), ("A", 0.6, 2.5)])
    assert {t.speaker for t in find_turns(samples[:, None]).turns} == {"A"}


def test_edges_are_drawn_in_for_loud_and_faint_alike() -> None:
    samples, turns = talk([("A", 1.0, 1.5), ("B", 2.0, 1.5)], tail=1.0, levels={"A": -15, "B": -40})
    loose = [t._replace(start=t.start - 0.7, end=t.end + 0.8) for t in turns]
    for got, meant in zip(tightened(samples[:, None], loose, channels=None), turns, strict=True):
        assert [got.start, got.end] == pytest.approx([meant.start, meant.end], abs=0.1)
        assert got.key == meant.key


def test_a_turn_in_which_nothing_is_heard_stays() -> None:
    samples, turns = talk([("A", 0.5, 1.5)], tail=2.0)
    silent = Turn("B", 2.5, 3.5, 7)
    assert silent in tightened(samples[:, None], [*turns, silent], channels=None)


def test_turns_of_the_awkward_two_channel_file() -> None:
    found = find_turns(decode(case("two_channel_A_left_B_right.flac")).samples)
    assert [t.speaker for t in found.turns] == ["A", "B", "A", "B"]
    starts = [t.start for t in found.turns]
    assert starts == [pytest.approx(s, abs=0.1) for s in (0.0, 5.455, 9.97, 15.033)]
    # the synthetic voices end in digital silence that the turn list counts as talk
    assert [g.length for g in gaps(found.turns)] == [pytest.approx(g, abs=0.45) for g in (1.8, 0.05, 2.4)]
