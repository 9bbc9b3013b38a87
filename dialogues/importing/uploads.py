"""Uploaded manifests and recordings: a zip or single files, put into a folder of their own."""

from __future__ import annotations

import lzma
import re
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.columns import MANIFEST
from dialogues.models import ImportBatch
from turingsite.errors import Invalid

UPLOADS = "uploads"
MANIFESTS = (".csv", ".tsv", ".jsonl", ".ndjson")
MOST_FILES = 20_000
MOST_BYTES = 8_000_000_000  # unpacked
MOST_RATIO = 200  # sound hardly shrinks; what grows a hundredfold and more is no recording
RATIO_FROM = 10_000_000
BLOCK = 1 << 20
SKIPPED = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|Thumbs\.db$|\.git/|\._)")


# Damage, unknown methods; a file where a folder should be, the same name in another case.
UNUSABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    EOFError,
    UnicodeError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
)


class UploadRefused(Invalid):
    """The upload as a whole can't be used; the message says why."""


class Upload(NamedTuple):
    """``folder`` (below the media root) holds the files; ``name`` and ``manifest`` are the one table's."""

    folder: str
    name: str
    manifest: bytes


def receive(files: Iterable[Any]) -> Upload:
    """Take in uploaded files (with ``name`` and ``chunks``): one zip, or a manifest and its recordings."""
    files = list(files)
    folder = f"{UPLOADS}/{secrets.token_hex(12)}"
    root = Path(settings.MEDIA_ROOT) / folder
    root.mkdir(parents=True)
    try:
        for file in files:
            if len(files) == 1 and zipfile.is_zipfile(file) and not str(file.name).lower().endswith(".xlsx"):
                _unpack(file, root)
            else:
                _write(file, root)
        path = _manifest(root)
        if path.stat().st_size > MANIFEST.most_bytes:
            raise _refused("too_big", gettext_noop("The manifest is too large. Divide it."))
        # Names in the manifest count from where it lies.
        inside = path.parent.relative_to(Path(settings.MEDIA_ROOT))
        return Upload(str(inside), path.name, path.read_bytes())
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise


def discard(batch: ImportBatch) -> None:
    """Remove the files of a batch that is through: recordings it took in are kept under their hash."""
    parts = PurePosixPath(batch.folder).parts
    if len(parts) >= 2 and parts[0] == UPLOADS and ".." not in parts:
        shutil.rmtree(Path(settings.MEDIA_ROOT) / UPLOADS / parts[1], ignore_errors=True)


def _refused(code: str, message: str, **params: Any) -> UploadRefused:
    return UploadRefused(code, message, params)


def _write(file: Any, root: Path) -> None:
    name = PurePosixPath(str(file.name).replace("\\", "/")).name
    if not name or name in (".", "..") or "\0" in name or len(name.encode()) > 200:
        raise _refused("bad_name", gettext_noop("“%(file)s” is no file name."), file=notes.shortened(name))
    if (root / name).exists():
        raise _refused("twice", gettext_noop("Two files are called “%(file)s”."), file=notes.shortened(name))
    with (root / name).open("xb") as target:
        for chunk in file.chunks():
            target.write(chunk)


def _unpack(file: IO[bytes], root: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES:
                raise _refused(
                    "too_many_files",
                    gettext_noop("The zip holds more than %(most)s files. Divide it."),
                    most=MOST_FILES,
                )
            targets = _targets(entries)
            if sum(entry.file_size for entry in targets.values()) > shutil.disk_usage(root).free * 0.9:
                raise _refused(
                    "no_room", gettext_noop("There is not enough room on the server for this zip.")
                )
            left, packed = MOST_BYTES, 0
            for name, entry in targets.items():
                left -= _extract(archive, entry, root / name, left)
                packed += entry.compress_size
                # many files that each stay below the limit of one
                written = MOST_BYTES - left
                if written > RATIO_FROM and written > MOST_RATIO * max(1, packed):
                    raise _swollen(name)
    except UNUSABLE as error:
        raise _refused(
            "bad_zip", gettext_noop("The zip is damaged or of an unusual kind. Make it again.")
        ) from error


def _targets(entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Where each entry goes, below the folder; anything that would climb out refuses the whole zip."""
    targets: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = _name(entry)
        if SKIPPED.search(name):
            continue
        parts = PurePosixPath(name).parts
        kind = stat.S_IFMT(entry.external_attr >> 16)
        outside = name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name
        if outside or kind not in (0, stat.S_IFREG) or not parts or len(name.encode()) > 500:
            raise _refused(
                "path_outside",
                gettext_noop("The zip holds “%(file)s”, which leads out of its folder or is a link."),
                file=notes.shortened(name),
            )
        name = "/".join(parts)  # ./a.wav is a.wav
        if entry.flag_bits & 0x1:
            raise _refused("encrypted", gettext_noop("The zip is locked with a password. Make one without."))
        if name in targets:
            raise _refused(
                "twice", gettext_noop("Two files are called “%(file)s”."), file=notes.shortened(name)
            )
        targets[name] = entry
    return targets


def _name(entry: zipfile.ZipInfo) -> str:
    """The entry's name; Chinese systems write GBK without saying so, which zipfile reads as code page 437."""
    name = entry.filename
    if not entry.flag_bits & 0x800 and not name.isascii():
        try:
            raw = name.encode("cp437")
        except UnicodeEncodeError:
            return name
        for encoding in ("utf-8", "gb18030"):
            try:
                return raw.decode(encoding).replace("\\", "/")
            except UnicodeDecodeError:
                continue
    return name.replace("\\", "/")


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Write one entry; bytes written. What it says of its size is not trusted."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        return sum(file.write(block) for block in unpacked(archive, entry, target.name, left))


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> Iterator[bytes]:
    """The content of one entry in blocks; UploadRefused once it is more than ``most`` bytes, or swells."""
    written = 0
    with archive.open(entry) as source:
        while block := source.read(BLOCK):
            written += len(block)
            swollen = written > RATIO_FROM and written > MOST_RATIO * max(1, entry.compress_size)
            if written > most or swollen:
                raise _swollen(name)
            yield block


def _swollen(name: str) -> UploadRefused:
    return _refused(
        "zip_bomb",
        gettext_noop("“%(file)s” unpacks to far more than a recording would."),
        file=notes.shortened(name),
    )


def _manifest(root: Path) -> Path:
    """The one table among the files: the least deep; one called manifest before others."""
    found = [path for path in sorted(root.rglob("*")) if path.suffix.lower() in MANIFESTS and path.is_file()]
    if not found:
        raise _refused(
            "no_manifest",
            gettext_noop("There is no manifest among the files: a CSV or JSONL table is needed."),
        )
    depth = min(len(path.parts) for path in found)
    top = [path for path in found if len(path.parts) == depth]
    named = [path for path in top if path.stem.lower() == "manifest"]
    chosen = named or top
    if len(chosen) > 1:
        raise _refused(
            "many_manifests",
            gettext_noop("There are several tables (%(files)s). Call the right one manifest.csv."),
            files=", ".join(notes.shortened(path.name) for path in chosen[:5]),
        )
    return chosen[0]
