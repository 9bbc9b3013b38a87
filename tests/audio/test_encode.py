"""Every playing file is encoded alike: constant rate in every frame, no tags, size by length alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sounds import RATE, case, silence, voice
from turingsite.audio.encode import DELAY, FRAME_BYTES, decode_mp3, encode_mp3, make_playable, read_mp3
from turingsite.audio.loudness import true_peak
from turingsite.errors import Invalid

KINDS = {
    "voice": voice(2.0),
    "noise": silence(2.0, level=-12.0),
    "tone": (0.5 * np.sin(np.arange(2 * RATE) * 0.1)).astype(np.float32),
    "silence": silence(2.0, level=None),
    "square": np.where(np.arange(2 * RATE) // 60 % 2, 0.7, -0.7).astype(np.float32),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_has_48_kbit_and_nothing_else_is_in_the_file(kind: str) -> None:
    data = make_playable(KINDS[kind]).data
    info = read_mp3(data)
    assert (info.samplerate, info.channels, info.bitrates) == (24_000, 1, (48_000,))
    assert info.is_constant
    assert info.extra == 0
    assert not info.has_info_frame
    assert len(data) == info.frames * FRAME_BYTES
    for tag in (b"ID3", b"TAG", b"APETAG", b"Xing", b"Info", b"VBRI"):
        assert tag not in data[:200]
        assert tag not in data[-200:]


def test_size_and_header_follow_length_alone() -> None:
    files = [make_playable(samples).data for samples in KINDS.values()]
    assert len({len(data) for data in files}) == 1
    assert len({data[:4] for data in files}) == 1


@pytest.mark.parametrize("length", [1, 575, 576, 577, 24_000, 100_001])
def test_counted_length_is_the_decoded_length(length: int) -> None:
    data = encode_mp3(voice(5.0)[:length])
    assert len(decode_mp3(data)) == round(read_mp3(data).duration * RATE)
    assert read_mp3(data).duration * RATE >= length


def test_the_same_sound_gives_the_same_bytes() -> None:
    assert encode_mp3(KINDS["voice"]) == encode_mp3(KINDS["voice"])


@pytest.mark.parametrize("kind", ["voice", "noise", "square"])
def test_the_decoded_file_keeps_its_peak(kind: str) -> None:
    loud = KINDS[kind] / np.abs(KINDS[kind]).max() * np.float32(3.0)
    playable = make_playable(loud)
    peak = true_peak(decode_mp3(playable.data))
    assert peak is not None
    assert peak <= -1.0
    assert playable.true_peak == pytest.approx(peak)


def test_delay_is_that_of_encoder_and_decoder() -> None:
    samples = silence(1.0, level=None).copy()
    samples[12_000:12_040] = np.hanning(40) * 0.5
    heard = int(np.abs(decode_mp3(encode_mp3(samples))).argmax())
    assert (heard - 12_020) / RATE == pytest.approx(DELAY, abs=0.001)


def test_what_is_no_mp3_is_refused() -> None:
    with pytest.raises(Invalid, match="no MP3 frame"):
        read_mp3(b"hello" * 100)
    with pytest.raises(Invalid):
        read_mp3(b"")


def test_tags_and_variable_rate_are_seen() -> None:
    info = read_mp3(case("vbr_tagged.mp3").read_bytes())
    assert not info.is_constant
    assert info.extra > 0
    assert info.has_info_frame
