"""From a recording to comparable sound: every step's numbers, for good and for awkward recordings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.sounds import RATE, case, decoded, silence, talk, voice
from turingsite.audio.decode import decode
from turingsite.audio.encode import DELAY, decode_mp3, make_playable
from turingsite.audio.gaps import gap_profile
from turingsite.audio.loudness import speaker_loudness, true_peak
from turingsite.audio.peaks import peaks
from turingsite.audio.process import LEAD, Processed, process
from turingsite.audio.turns import Turn

OWN = gap_profile("own-1")
PLAN = [("A", 0.9, 3.2), ("B", 1.8, 3.2), ("A", 0.05, 1.0)]


def run(samples: np.ndarray, turns: list[Turn] | tuple[()] = (), **options: object) -> Processed:
    arguments: dict[str, object] = {"profile": OWN, "seed": [1], **options}
    result = process(decoded(samples), turns, **arguments)  # type: ignore[arg-type]
    json.dumps(result.numbers, allow_nan=False)
    assert result.samples.dtype == np.float32
    assert result.samples.ndim == 1
    assert np.isfinite(result.samples).all()
    return result


def test_a_mixed_recording_is_evened_aligned_and_trimmed() -> None:
    samples, turns = talk(PLAN, tail=1.5, levels={"A": -18, "B": -30})
    result = run(samples, turns)
    numbers = result.numbers
    assert numbers["turns"]["found_by"] == "manifest"
    before = numbers["loudness"]["before"]
    assert before["A"] - before["B"] == pytest.approx(12, abs=3)
    after = numbers["loudness"]["after"]
    assert after == {"A": pytest.approx(-18, abs=0.1), "B": pytest.approx(-18, abs=0.1)}
    assert numbers["loudness"]["is_even"] is True
    assert numbers["gaps"]["before"]["each"] == [1.8, 0.05]
    assert numbers["gaps"]["after"]["longest"] <= 0.8
    assert numbers["gaps"]["after"]["each"][1] == pytest.approx(0.05, abs=0.02)
    assert numbers["trim"]["lead"] == pytest.approx(0.9 - LEAD, abs=0.03)
    assert numbers["trim"]["tail"] == pytest.approx(1.3, abs=0.03)
    assert numbers["result"]["leading_silence"] == pytest.approx(LEAD, abs=0.02)
    assert numbers["result"]["utterance_share"] == {
        "A": pytest.approx(0.667, abs=0.01),
        "B": pytest.approx(0.333, abs=0.01),
    }


def test_turns_move_with_the_sound() -> None:
    samples, turns = talk(PLAN, tail=1.5)
    result = run(samples, turns)
    assert [t.key for t in result.turns] == [0, 1, 2]
    assert [t.speaker for t in result.turns] == ["A", "B", "A"]
    assert result.turns[0].start == pytest.approx(LEAD, abs=0.06)
    for old, new in zip(turns, result.turns, strict=True):
        assert new.end - new.start == pytest.approx(old.end - old.start, abs=0.02)
        n = round((old.end - old.start - 0.2) * RATE)
        a, b = (
            round((old.start + 0.1) * RATE),
            round((new.start + 0.1 + (old.end - old.start) - (new.end - new.start)) * RATE),
        )
        shifts = range(-1500, 1500, 50)
        match = [
            np.corrcoef(samples[a : a + n], result.samples[b + s : b + s + n])[0, 1]
            for s in shifts
            if b + s >= 0
        ]
        assert max(match) > 0.95


def test_the_same_seed_gives_the_same_samples_and_another_other_gaps() -> None:
    samples, turns = talk(PLAN)
    one, same, other = run(samples, turns), run(samples, turns), run(samples, turns, seed=[2])
    assert np.array_equal(one.samples, same.samples)
    assert one.numbers == same.numbers
    assert one.numbers["gaps"]["after"] != other.numbers["gaps"]["after"]


def test_latency_hidden_in_a_loose_turn_is_aligned_too() -> None:
    """A machine's turn that the manifest begins when A ends, two seconds before anything is heard."""
    samples, turns = talk([("A", 0.2, 3.0), ("B", 2.0, 3.0)])
    loose = [turns[0], turns[1]._replace(start=turns[0].end)]
    numbers = run(samples, loose).numbers
    assert numbers["gaps"]["before"]["each"] == [0.0]
    assert numbers["gaps"]["heard"]["each"][0] == pytest.approx(1.95, abs=0.06)
    assert numbers["gaps"]["after"]["longest"] <= 0.8


def test_two_channels_without_turns_are_found_evened_and_mixed() -> None:
    samples, turns = talk([("A", 0.3, 3.2), ("B", 1.5, 3.2)], tail=0.5, levels={"A": -18, "B": -34})
    two = np.stack([silence(len(samples) / RATE, seed=s)[: len(samples)] for s in (1, 2)], axis=1)
    for turn in turns:
        span = slice(round(turn.start * RATE), round(turn.end * RATE))
        two[span, 0 if turn.speaker == "A" else 1] += samples[span]
    result = run(two)
    assert result.numbers["turns"] == {
        "found_by": "channels",
        "given": 0,
        "used": 2,
        "channels": {"A": 0, "B": 1},
    }
    assert [(t.speaker, t.key) for t in result.found] == [("A", 0), ("B", 1)]
    assert result.numbers["loudness"]["after"] == {
        "A": pytest.approx(-18, abs=0.1),
        "B": pytest.approx(-18, abs=0.1),
    }
    swapped = run(two, layout="ba")
    assert swapped.numbers["turns"]["channels"] == {"A": 1, "B": 0}
    mixed = run(two, layout="mixed")
    assert mixed.numbers["turns"]["channels"] is None


def test_channels_follow_the_turns_where_those_are_known() -> None:
    samples, turns = talk([("A", 0.3, 1.5), ("B", 0.5, 1.5)])
    two = np.stack([silence(len(samples) / RATE, seed=s)[: len(samples)] for s in (1, 2)], axis=1)
    for turn in turns:
        span = slice(round(turn.start * RATE), round(turn.end * RATE))
        two[span, 1 if turn.speaker == "A" else 0] += samples[span]
    assert run(two, turns).numbers["turns"]["channels"] == {"A": 1, "B": 0}


@pytest.mark.parametrize("gain", [1e-3, 30.0, 32768.0])
def test_far_too_quiet_or_loud_comes_out_the_same(gain: float) -> None:
    samples, turns = talk(PLAN)
    reference, scaled = run(samples, turns).numbers, run(samples * np.float32(gain), turns).numbers
    shift = 20 * np.log10(gain)
    for speaker in "AB":
        assert scaled["loudness"]["after"][speaker] == pytest.approx(-18, abs=0.2)
        assert scaled["loudness"]["before"][speaker] == pytest.approx(
            reference["loudness"]["before"][speaker] + shift, abs=0.2
        )


def test_constant_offset_is_taken_out() -> None:
    samples, turns = talk(PLAN)
    result = run(samples + np.float32(0.3), turns)
    assert result.numbers["decode"]["offset"] == [pytest.approx(0.3, abs=0.01)]
    assert abs(float(result.samples.mean())) < 0.002


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(1, dtype=np.float32),
        np.ones(1, dtype=np.float32),
        np.full(50, 0.5, dtype=np.float32),
        np.zeros(3 * RATE, dtype=np.float32),
        np.full(3 * RATE, 0.9, dtype=np.float32),
        voice(0.05),
        silence(3.0, level=-30),
    ],
    ids=["one zero", "one one", "two ms", "silence", "offset only", "a blip", "noise"],
)
@pytest.mark.parametrize(
    "turns", [(), [Turn("A", 0.0, 0.5, 0), Turn("B", 2.0, 2.5, 1)]], ids=["found", "given"]
)
def test_recordings_without_talk_go_through(samples: np.ndarray, turns: list[Turn]) -> None:
    result = run(samples, turns)
    playable = make_playable(result.samples)
    assert playable.info.is_constant
    assert len(result.samples) >= 1


def test_overlaps_are_reported_and_left() -> None:
    low, high = voice(3.0), voice(3.0, pitch=190, seed=4)
    samples = silence(5.0)
    samples[: 3 * RATE] += low
    samples[2 * RATE :] += high
    turns = [Turn("A", 0, 3, 0), Turn("B", 2, 5, 1)]
    result = run(samples, turns)
    overlaps = result.numbers["result"]["overlaps"]
    assert overlaps["count"] == 1
    assert overlaps["longest"] == pytest.approx(1.0, abs=0.1)
    assert result.numbers["gaps"]["redrawn"] == []


def test_nothing_remains_over_the_ceiling_after_encoding() -> None:
    samples, turns = talk(PLAN, levels={"A": -3, "B": -40})
    playable = make_playable(run(samples, turns).samples)
    peak = true_peak(decode_mp3(playable.data))
    assert peak is not None
    assert peak <= -1.0


def test_turns_point_at_their_speech_in_the_encoded_file() -> None:
    samples, turns = talk(PLAN, tail=0.5)
    result = run(samples, turns)
    heard = decode_mp3(make_playable(result.samples).data)
    moved = [t._replace(start=t.start + DELAY, end=t.end + DELAY) for t in result.turns]
    for speaker in "AB":
        assert speaker_loudness(heard, moved, speaker) == pytest.approx(-18, abs=0.5)


def test_peaks_are_small_numbers_of_the_wanted_count() -> None:
    assert peaks(np.zeros(0, dtype=np.float32)) == []
    assert peaks(np.zeros(10, dtype=np.float32)) == [0] * 10
    ramp = np.linspace(0, 0.5, 1000, dtype=np.float32)
    assert peaks(ramp, 4) == [25, 50, 75, 100]
    assert len(peaks(voice(2.0))) == 600


class TestAwkwardInputs:
    TURNS = (
        Turn("A", 0.0, 3.655, 0),
        Turn("B", 5.455, 9.92, 1),
        Turn("A", 9.97, 12.633, 2),
        Turn("B", 15.033, 17.538, 3),
    )

    def numbers(self, name: str, turns: tuple[Turn, ...] = TURNS) -> Processed:
        return process(decode(case(name)), turns, profile=OWN, seed=[1])

    @pytest.mark.parametrize(
        "name", ["mixed_16k_s16.wav", "two_channel_A_left_B_right.flac", "vbr_tagged.mp3", "mixed.ogg"]
    )
    @pytest.mark.parametrize("known", [True, False], ids=["turns given", "turns found"])
    def test_gaps_are_found_and_levels_evened_out(self, name: str, known: bool) -> None:
        numbers = self.numbers(name, self.TURNS if known else ()).numbers
        each = numbers["gaps"]["before"]["each"]
        tolerance = 0.001 if known else 0.62  # the voices end before their turns do, and lossy tails go on
        assert each == [pytest.approx(g, abs=tolerance) for g in (1.8, 0.05, 2.4)]
        assert numbers["loudness"]["before"]["A"] - numbers["loudness"]["before"]["B"] > 8
        assert numbers["loudness"]["difference"] <= 0.1
        assert numbers["gaps"]["after"]["longest"] <= 0.8
        assert numbers["result"]["overlaps"]["count"] == 0

    def test_the_mp3_of_a_tagged_file_has_no_tags(self) -> None:
        original = case("vbr_tagged.mp3").read_bytes()
        playable = make_playable(self.numbers("vbr_tagged.mp3").samples)
        assert b"ID3" in original[:10]
        assert b"ID3" not in playable.data
        words = {original[i : i + 12] for i in range(10, 120)}
        assert not any(word in playable.data for word in words)

    def test_float_over_full_scale_is_taken_down(self) -> None:
        numbers = self.numbers("float32_over_full_scale.wav").numbers
        assert numbers["source"]["peak_db"] > 6
        assert numbers["loudness"]["true_peak"] <= -2.4
        assert numbers["loudness"]["difference"] <= 0.1

    def test_silence_has_no_speech_and_clipping_is_counted(self) -> None:
        silent = self.numbers("silence_25s.flac", ()).numbers
        assert silent["result"]["speech_seconds"] == 0
        assert silent["turns"]["found_by"] == "nothing"
        assert self.numbers("clipped.flac").numbers["source"]["clipped"] > 0.01
        assert self.numbers("mixed_16k_s16.wav").numbers["source"]["clipped"] == 0

    def test_turns_beyond_a_truncated_file_are_dropped(self) -> None:
        result = self.numbers("truncated.wav")
        assert [t.key for t in result.turns] == [0]
        assert result.numbers["turns"]["given"] == 4
        assert result.numbers["turns"]["used"] == 1
