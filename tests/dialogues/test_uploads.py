"""Uploads that would fill the disk, hide names or hold things twice; each is told and leaves nothing."""

from __future__ import annotations

import io
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile

from dialogues.importing import services, uploads
from dialogues.importing.manifest import read_manifest
from dialogues.importing.uploads import UploadRefused

MANIFEST = b"id,kind,language,audio\nd1,human_human,en,a.wav\n"


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


def clip() -> bytes:
    target = io.BytesIO()
    soundfile.write(target, np.random.default_rng(1).normal(0, 0.1, 16_000), 16_000, format="WAV")
    return target.getvalue()


def zipped(*entries: tuple[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same name twice is what is tried
        for name, content in entries:
            archive.writestr(name, content)
    return target.getvalue()


def sent(data: bytes, name: str = "upload.zip") -> list[Any]:
    return [SimpleUploadedFile(name, data)]


def refused(data: bytes, media: Path) -> str:
    with pytest.raises(UploadRefused) as caught:
        uploads.receive(sent(data))
    assert list((media / "uploads").iterdir()) == []
    return caught.value.code


def test_many_files_that_each_stay_small_are_a_bomb_together(
    media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "RATIO_FROM", 1_000_000)
    zeros = [(f"{n}.wav", bytes(900_000)) for n in range(3)]
    assert refused(zipped(("manifest.csv", MANIFEST), *zeros), media) == "zip_bomb"


def test_a_zip_within_the_zip_is_a_file_and_is_not_unpacked(media: Path) -> None:
    inner = zipped(("b.wav", bytes(5_000_000)))
    upload = uploads.receive(
        sent(zipped(("manifest.csv", MANIFEST), ("a.wav", clip()), ("inner.zip", inner)))
    )
    names = sorted(path.name for path in (media / upload.folder).iterdir())
    assert names == ["a.wav", "inner.zip", "manifest.csv"]


def test_more_files_than_are_taken_refuse_the_zip(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_FILES", 3)
    many = [(f"{n}.wav", b"x") for n in range(4)]
    assert refused(zipped(("manifest.csv", MANIFEST), *many), media) == "too_many_files"


@pytest.mark.parametrize("other", ["a.wav", "./a.wav", "sound/../a.wav", "a.wav\\..\\..\\b.wav"])
def test_a_name_that_is_there_twice_or_climbs_refuses_the_zip(media: Path, other: str) -> None:
    code = refused(zipped(("manifest.csv", MANIFEST), ("a.wav", clip()), (other, clip())), media)
    assert code in ("twice", "path_outside")


def test_a_locked_zip_says_so(media: Path) -> None:
    data = bytearray(zipped(("manifest.csv", MANIFEST), ("a.wav", clip())))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the bit that says so
        at = data.find(mark)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(mark, at + 4)
    assert refused(bytes(data), media) == "encrypted"


@pytest.mark.parametrize("name", ["naïve.wav", "录音.wav", "Übung 1.wav"])
def test_names_with_the_flag_of_utf8_are_kept(media: Path, name: str) -> None:
    upload = uploads.receive(sent(zipped(("manifest.csv", MANIFEST), (name, clip()))))
    assert name in {path.name for path in (media / upload.folder).iterdir()}


@pytest.mark.parametrize("names", [["a.wav", "b.wav"], []])
def test_without_a_table_there_is_nothing_to_do(media: Path, names: list[str]) -> None:
    assert refused(zipped(*((name, clip()) for name in names)), media) == "no_manifest"


@pytest.mark.django_db
def test_an_empty_recording_and_the_same_dialogue_twice_are_told_by_row(media: Path) -> None:
    rows = (
        b"id,kind,language,audio\nd1,human_human,en,a.wav\nd1,human_human,en,a.wav\nd2,human_human,en,e.wav\n"
    )
    upload = uploads.receive(sent(zipped(("m.csv", rows), ("a.wav", clip()), ("e.wav", b""))))
    batch = services.create_batch(
        name=upload.name, manifest=read_manifest(upload.manifest, upload.name), folder=upload.folder
    )
    services.run_batch(batch_id=batch.pk, folders=services.upload_folders(batch))
    told = [(row.state, [m["code"] for m in row.messages]) for row in batch.rows.order_by("line")]
    assert [state for state, _codes in told] == ["warned", "refused", "refused"]
    assert told[1][1] == ["duplicate"]


def test_a_large_upload_is_streamed(media: Path) -> None:
    """40 MB come in with a few blocks of memory: neither the zip nor a file of it is held as a whole."""
    rng = np.random.default_rng(3)
    size = 40_000_000
    upload = TemporaryUploadedFile("big.zip", "application/zip", 0, None)
    with zipfile.ZipFile(upload, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.csv", MANIFEST)
        with archive.open("a.wav", "w") as target:
            for _ in range(size // 1_000_000):
                target.write(rng.bytes(1_000_000))
    upload.size = upload.tell()
    upload.seek(0)
    tracemalloc.start()
    try:
        done = uploads.receive([upload])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (media / done.folder / "a.wav").stat().st_size == size
    assert peak < 8_000_000
