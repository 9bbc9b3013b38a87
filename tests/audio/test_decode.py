"""Any file is read for what is in it, or refused in words: kinds, headers, damage, bounds."""

from __future__ import annotations

import os
import struct
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scipy import signal

from tests.sounds import case, voice
from turingsite.audio import sources
from turingsite.audio.decode import RATE, decode, probe
from turingsite.audio.refusals import AudioRefused
from turingsite.audio.resample import Resampler
from turingsite.errors import DomainError

TALK = voice(1.5, rate=16_000)


def write(path: Path, samples: np.ndarray = TALK, rate: int = 16_000, **kwargs: Any) -> Path:
    soundfile.write(path, samples, rate, **kwargs)
    return path


def refused(path: Path | str, **kwargs: float) -> str:
    with pytest.raises(AudioRefused) as caught:
        decode(path, **kwargs)
    with pytest.raises(AudioRefused) as again:
        probe(path, **kwargs)
    assert caught.value.code == again.value.code
    assert "%(" not in str(caught.value)
    assert isinstance(caught.value, DomainError)
    assert not caught.value.retryable
    return caught.value.code


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("a.wav", {"subtype": "PCM_16"}, 0.001),
        ("a.wav", {"subtype": "PCM_24"}, 0.001),
        ("a.wav", {"subtype": "PCM_32"}, 0.001),
        ("a.wav", {"subtype": "FLOAT"}, 0.001),
        ("a.wav", {"subtype": "DOUBLE"}, 0.001),
        ("a.wav", {"subtype": "PCM_U8"}, 0.02),
        ("a.wav", {"subtype": "ULAW"}, 0.05),
        ("a.wav", {"subtype": "ALAW"}, 0.05),
        ("a.flac", {}, 0.001),
        ("a.ogg", {}, 0.2),
        ("a.mp3", {}, 0.2),
    ],
)
def test_each_kind_is_read_as_what_was_written(
    tmp_path: Path, name: str, options: dict[str, Any], tolerance: float
) -> None:
    result = decode(write(tmp_path / name, **options))
    expected = signal.resample_poly(TALK, 3, 2)
    assert result.source.duration == pytest.approx(1.5, abs=0.001)
    assert result.samples.shape == (36_000, 1)
    assert result.samples.dtype == np.float32
    assert result.source.warnings == ()
    assert np.corrcoef(result.samples[:, 0], expected)[0, 1] > 1 - tolerance
    assert np.abs(result.samples).max() == pytest.approx(np.abs(expected).max(), rel=0.1)


def test_opus_is_read(tmp_path: Path) -> None:
    result = decode(write(tmp_path / "a.opus", voice(1.0, rate=48_000), 48_000, format="OGG", subtype="OPUS"))
    assert (result.source.subtype, result.source.samplerate) == ("OPUS", 48_000)
    assert result.duration == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("rate", [8_000, 22_050, 24_000, 44_100, 48_000, 96_000, 22_051])
def test_any_rate_comes_out_at_24_khz(tmp_path: Path, rate: int) -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32) * 0.5
    samples = decode(write(tmp_path / "a.wav", tone, rate)).samples[:, 0]
    assert len(samples) == RATE
    spectrum = np.abs(np.fft.rfft(samples))
    assert spectrum.argmax() == 440
    assert np.abs(samples[1000:-1000]).max() == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_blocks_are_resampled_as_one_pass_would(rate: int) -> None:
    sound = np.random.default_rng(3).standard_normal((rate * 65 + 7, 1)).astype(np.float32)
    stream = Resampler(rate, RATE)
    parts = [out for at in range(0, len(sound), 99_991) for out in stream.push(sound[at : at + 99_991])]
    joined = np.concatenate([*parts, *stream.finish()])
    whole = signal.resample_poly(sound, stream.up, stream.down, axis=0, window=stream._window)
    assert len(parts) >= 2
    assert np.array_equal(joined, whole)


def test_two_channels_stay_two_and_more_become_one(tmp_path: Path) -> None:
    two = decode(write(tmp_path / "two.wav", np.stack([TALK, TALK * 0], axis=1)))
    assert two.samples.shape == (36_000, 2)
    assert np.abs(two.samples[:, 1]).max() == 0
    six = decode(write(tmp_path / "six.wav", np.stack([TALK] * 6, axis=1)))
    assert six.samples.shape == (36_000, 1)
    assert [w.code for w in six.source.warnings] == ["many_channels"]
    assert "6 channels" in str(six.source.warnings[0])


def test_samples_beyond_full_scale_are_kept_not_wrapped(tmp_path: Path) -> None:
    loud = TALK / np.abs(TALK).max() * 2.5
    result = decode(write(tmp_path / "a.wav", loud, subtype="FLOAT"))
    assert result.source.peak == pytest.approx(2.5, rel=0.01)
    assert np.abs(result.samples).max() == pytest.approx(2.5, rel=0.05)
    assert result.source.clipped == 0


def test_broken_values_are_silenced_and_counted(tmp_path: Path) -> None:
    broken = TALK.copy()
    broken[[10, 20, 30]] = [np.nan, np.inf, -np.inf]
    result = decode(write(tmp_path / "a.wav", broken, subtype="FLOAT"))
    assert np.isfinite(result.samples).all()
    assert [(w.code, w.params) for w in result.source.warnings] == [("broken_values", {"count": 3})]


def test_cut_off_peaks_are_counted(tmp_path: Path) -> None:
    top = np.abs(TALK).max()
    clean = probe(write(tmp_path / "clean.wav", TALK / top * 0.999))
    clipped = probe(write(tmp_path / "clipped.wav", np.clip(TALK / top * 3, -1, 1)))
    quieter = probe(write(tmp_path / "quieter.wav", np.clip(TALK / top * 3, -1, 1) * 0.5))
    assert clean.clipped == 0
    assert clipped.clipped > 0.05
    assert quieter.clipped == pytest.approx(clipped.clipped, rel=0.05)


def test_one_sample_is_a_recording(tmp_path: Path) -> None:
    result = decode(write(tmp_path / "a.wav", TALK[:1]))
    assert result.source.frames == 1
    assert 1 <= len(result.samples) <= 2


def header(path: Path) -> tuple[bytearray, int]:
    data = bytearray(path.read_bytes())
    return data, data.find(b"data") + 4


@pytest.mark.parametrize("claimed", [0, 0x7FFFF000, 0xFFFFFFFF])
@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
def test_a_streamed_header_is_not_believed(tmp_path: Path, claimed: int, subtype: str) -> None:
    data, at = header(write(tmp_path / "whole.wav", subtype=subtype))
    data[at : at + 4] = struct.pack("<I", claimed)
    data[4:8] = struct.pack("<I", claimed)
    path = tmp_path / "streamed.wav"
    path.write_bytes(data)
    result = decode(path)
    whole = decode(tmp_path / "whole.wav")
    assert [w.code for w in result.source.warnings] == ["streamed_header"]
    assert result.source.duration == pytest.approx(1.5, abs=0.001)
    assert np.array_equal(result.samples[:35_000], whole.samples[:35_000])


def test_a_flac_header_that_lies_is_not_believed(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.flac")
    for claimed, code in ((0, "streamed_header"), (2**36 - 1, "truncated")):
        data = bytearray(whole.read_bytes())
        data[21] = data[21] & 0xF0 | claimed >> 32
        data[22:26] = struct.pack(">I", claimed & 0xFFFFFFFF)
        (tmp_path / "lies.flac").write_bytes(data)
        result = decode(tmp_path / "lies.flac")
        assert result.source.frames == len(TALK)
        assert [w.code for w in result.source.warnings] == [code]


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.mp3", "a.ogg"])
def test_half_a_file_is_read_with_a_warning(tmp_path: Path, name: str) -> None:
    long = voice(6.0, rate=16_000)
    data = write(tmp_path / name, long).read_bytes()
    half = tmp_path / f"half{name[1:]}"
    half.write_bytes(data[: len(data) // 2])
    result = decode(half)
    assert 1.0 < result.duration < 5.0
    assert result.source.warnings[0].code in ("truncated", "damaged")


def test_sound_before_the_damage_is_kept(tmp_path: Path) -> None:
    data = bytearray(write(tmp_path / "a.flac", voice(6.0, rate=16_000)).read_bytes())
    at = len(data) * 3 // 4
    data[at : at + 200] = bytes(range(200))
    (tmp_path / "damaged.flac").write_bytes(data)
    result = decode(tmp_path / "damaged.flac")
    assert result.duration > 2
    assert result.source.warnings


def test_what_is_no_sound_is_refused(tmp_path: Path) -> None:
    def holding(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    noise = np.random.default_rng(1).bytes(20_000)
    assert refused(holding("empty.wav", b"")) == "empty"
    assert refused(holding("text.wav", b"hello\n" * 200)) == "not_audio"
    assert refused(holding("picture.wav", b"\x89PNG\r\n\x1a\n" + noise)) == "not_audio"
    assert refused(holding("noise.mp3", noise)) == "not_audio"
    assert refused(holding("sync.mp3", b"\xff\xfb\x90\x64" + noise)) == "not_audio"
    assert refused(holding("riff.wav", b"RIFF\xff\xff\xff\xffWAVE" + noise)) == "not_audio"
    assert refused(write(tmp_path / "header.wav", TALK[:0])) == "header_only"
    assert refused(tmp_path) == "not_a_file"
    assert refused(tmp_path / "missing.wav") == "not_a_file"
    assert refused("bad\0name") == "not_a_file"
    os.mkfifo(tmp_path / "pipe.wav")
    assert refused(tmp_path / "pipe.wav") == "not_a_file"


def test_a_list_of_other_files_is_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.wav")
    for name, text in (
        ("a.m4a", f"ffconcat version 1.0\nfile {secret}\n"),
        ("a.m3u8", f"#EXTM3U\n#EXTINF:1,\n{secret}\n"),
    ):
        (tmp_path / name).write_text(text)
        assert refused(tmp_path / name) == "not_audio"


def test_a_header_without_sound_is_told_from_no_sound_file(tmp_path: Path) -> None:
    data, at = header(write(tmp_path / "whole.wav"))
    (tmp_path / "a.wav").write_bytes(bytes(data[:at]) + b"\0\0\0\0" + b"LIST\x04\0\0\0INFO")
    assert refused(tmp_path / "a.wav") == "header_only"


@pytest.mark.parametrize("rate", [1, 3_999, 400_000])
def test_absurd_rates_are_refused(tmp_path: Path, rate: int) -> None:
    data, _ = header(write(tmp_path / "whole.wav"))
    data[24:28] = struct.pack("<I", rate)
    (tmp_path / "a.wav").write_bytes(data)
    assert refused(tmp_path / "a.wav") == "sample_rate"


def test_hours_are_refused_at_the_bound_without_filling_memory(tmp_path: Path) -> None:
    data, at = header(write(tmp_path / "whole.wav"))
    size = 3 * 3600 * 16_000 * 2
    data[at : at + 4] = struct.pack("<I", size)
    data[4:8] = struct.pack("<I", size + at)
    path = tmp_path / "long.wav"
    with path.open("wb") as file:
        file.write(data[: at + 4])
        file.truncate(at + 4 + size)  # a sparse file: three hours that take no room
    tracemalloc.start()
    assert refused(path, max_seconds=60.0) == "too_long"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    with pytest.raises(AudioRefused, match="15 minutes"):
        probe(path)


def test_the_bound_is_on_what_is_decoded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav")
    assert decode(path, max_seconds=1.5).duration == 1.5
    assert refused(path, max_seconds=1.49) == "too_long"


def test_block_edges_leave_no_trace_in_mp3(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp3", voice(20.0, rate=16_000))
    whole = soundfile.read(path, dtype="float32", always_2d=True)[0]
    with sources.open_source(path, max_seconds=60) as source:
        parts = []
        while len(block := source.read(5_000)):
            parts.append(block)
    assert np.abs(np.concatenate(parts) - whole).max() < 1e-5


def test_without_a_decoder_one_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sources, "ffmpeg_program", lambda: None)
    (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(100))
    with pytest.raises(AudioRefused, match="install ffmpeg") as caught:
        decode(tmp_path / "a.m4a")
    assert caught.value.code == "no_decoder"


@pytest.fixture
def needs_ffmpeg() -> None:
    if sources.ffmpeg_program() is None:
        pytest.skip("neither ffmpeg nor imageio-ffmpeg is installed")


@pytest.mark.usefixtures("needs_ffmpeg")
def test_damaged_m4a_and_webm_are_refused(tmp_path: Path) -> None:
    for head in (b"\0\0\0\x20ftypM4A ", b"\x1aE\xdf\xa3"):
        (tmp_path / "a.bin").write_bytes(head + bytes(2_000))
        assert refused(tmp_path / "a.bin") == "unreadable"


class TestAwkwardInputs:
    """The files beside the project behave as their README says."""

    @pytest.mark.parametrize(
        "name",
        ["mixed_16k_s16.wav", "mixed.ogg", "vbr_tagged.mp3", "two_channel_A_left_B_right.flac"],
    )
    def test_ordinary_files_are_read(self, name: str) -> None:
        result = decode(case(name))
        assert result.duration == pytest.approx(17.538, abs=0.01)
        assert result.source.warnings == ()
        assert result.samples.shape[1] == (2 if "two_channel" in name else 1)

    @pytest.mark.usefixtures("needs_ffmpeg")
    @pytest.mark.parametrize("name", ["mixed.m4a", "telephone.webm"])
    def test_m4a_and_webm_are_read_where_a_decoder_is_there(self, name: str) -> None:
        result = decode(case(name))
        assert result.duration == pytest.approx(17.54, abs=0.02)
        reference = decode(case("mixed_16k_s16.wav")).samples[:, 0]
        assert np.abs(result.samples).max() == pytest.approx(np.abs(reference).max(), rel=0.15)

    @pytest.mark.usefixtures("needs_ffmpeg")
    def test_half_a_webm_is_read_with_a_warning(self, tmp_path: Path) -> None:
        data = case("telephone.webm").read_bytes()
        (tmp_path / "half.webm").write_bytes(data[: len(data) // 2])
        result = decode(tmp_path / "half.webm")
        assert 5 < result.duration < 12
        assert [w.code for w in result.source.warnings] == ["damaged"]

    def test_24_bit_at_48_khz(self) -> None:
        found = probe(case("pcm24_48k.wav"))
        assert (found.samplerate, found.subtype, found.duration) == (48_000, "PCM_24", 4.0)

    def test_streaming_header_has_its_decoded_length(self) -> None:
        found = probe(case("streaming_header.wav"))
        assert found.duration == pytest.approx(17.538, abs=0.001)
        assert [w.code for w in found.warnings] == ["streamed_header"]

    def test_truncated_is_accepted_with_a_warning(self) -> None:
        found = probe(case("truncated.wav"))
        assert found.duration == pytest.approx(1.8736, abs=0.001)
        assert [w.code for w in found.warnings] == ["truncated"]
        assert "17.54" in str(found.warnings[0])

    def test_float_over_full_scale_is_not_wrapped(self) -> None:
        result = decode(case("float32_over_full_scale.wav"))
        reference = decode(case("mixed_16k_s16.wav"))
        assert result.source.peak > 2
        assert np.corrcoef(result.samples[:, 0], reference.samples[:, 0])[0, 1] > 0.999

    def test_clipped_and_silent_are_told(self) -> None:
        assert probe(case("clipped.flac")).clipped > 0.01
        assert probe(case("mixed_16k_s16.wav")).clipped == 0
        assert probe(case("silence_25s.flac")).peak < 0.001

    @pytest.mark.parametrize(
        ("name", "code"),
        [("not_audio.wav", "not_audio"), ("empty.wav", "empty"), ("header_only.wav", "header_only")],
    )
    def test_refused_with_the_reason(self, name: str, code: str) -> None:
        assert refused(case(name)) == code


def test_probe_and_decode_agree(tmp_path: Path) -> None:
    makers: list[Callable[[], Path]] = [
        lambda: write(tmp_path / "a.wav"),
        lambda: write(tmp_path / "b.flac", np.stack([TALK, TALK], axis=1)),
    ]
    for make in makers:
        path = make()
        assert decode(path).source == probe(path)


@pytest.mark.usefixtures("needs_ffmpeg")
class TestThroughFfmpeg:
    """M4A and its relatives, made here."""

    def make(self, tmp_path: Path, name: str, *options: str) -> Path:
        source = write(tmp_path / "source.wav", voice(4.0, rate=16_000))
        program = sources.ffmpeg_program()
        assert program is not None
        command = [program, "-loglevel", "error", "-y", "-i", str(source), *options, str(tmp_path / name)]
        subprocess.run(command, check=True)
        return tmp_path / name

    @pytest.mark.parametrize(
        ("name", "options", "kind"),
        [
            ("a.m4a", ("-c:a", "aac"), "M4A"),
            ("b.m4a", ("-c:a", "alac"), "M4A"),
            ("c.aac", ("-c:a", "aac", "-f", "adts"), "AAC"),
            ("named.wav", ("-c:a", "aac", "-f", "ipod"), "M4A"),
        ],
    )
    def test_it_is_read_for_what_it_is(
        self, tmp_path: Path, name: str, options: tuple[str, ...], kind: str
    ) -> None:
        result = decode(self.make(tmp_path, name, *options))
        assert result.source.format == kind
        assert result.duration == pytest.approx(4.0, abs=0.15)
        assert result.source.warnings == ()

    def test_half_of_it_is_read_with_a_warning(self, tmp_path: Path) -> None:
        path = self.make(tmp_path, "a.m4a", "-c:a", "aac", "-movflags", "+faststart")
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 2 // 3])
        result = decode(path)
        assert 1 < result.duration < 3.8
        assert [w.code for w in result.source.warnings] == ["damaged"]

    def test_the_bound_holds(self, tmp_path: Path) -> None:
        assert refused(self.make(tmp_path, "a.m4a", "-c:a", "aac"), max_seconds=2.0) == "too_long"

    def test_a_film_without_sound_is_refused(self, tmp_path: Path) -> None:
        options = ("-f", "lavfi", "-i", "testsrc=d=1:s=64x64", "-map", "1:v", "-c:v", "mpeg4")
        assert refused(self.make(tmp_path, "a.mp4", *options)) == "unreadable"
