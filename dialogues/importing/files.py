"""Find the files a manifest names, never outside its folder; keep them under the hash of their content."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import tempfile
import unicodedata
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from django.conf import settings
from django.utils.translation import gettext_noop

from dialogues.importing import notes
from turingsite.errors import Invalid

BLOCK = 1 << 20
ORIGINALS = "originals"
ENDINGS = re.compile(r"\.[a-z0-9]{1,5}")


class FileRefused(Invalid):
    """The file a cell names can't be used; the message says why."""


class Kept(NamedTuple):
    """A file as kept: hash of its content, path below the media root, size in bytes."""

    sha256: str
    path: str
    size: int


def find(name: str, folders: list[Path]) -> Path:
    """The file called ``name`` in the first of ``folders`` that has it.

    A path that is absolute, climbs out, or leads out through a link is refused, whether or not it exists.
    """
    name = unicodedata.normalize("NFC", name.strip())
    slashed = name.replace("\\", "/")
    parts = PurePosixPath(slashed).parts
    if not parts or "\0" in name or len(name) > 1000:
        raise FileRefused(
            "bad_path", gettext_noop("“%(file)s” is no file name."), {"file": notes.shortened(name)}
        )
    if slashed.startswith(("/", "~")) or re.match(r"[A-Za-z]:", slashed) or ".." in parts:
        raise FileRefused(
            "path_outside",
            gettext_noop("“%(file)s” leads out of the audio folder. Give the path below it, without “..”."),
            {"file": notes.shortened(name)},
        )
    for folder in folders:
        root = folder.resolve()
        for form in dict.fromkeys((slashed, unicodedata.normalize("NFD", slashed))):
            path = root / form
            try:
                real = path.resolve()
                if not real.is_relative_to(root):
                    raise FileRefused(
                        "path_outside",
                        gettext_noop("“%(file)s” is a link that leads out of the audio folder."),
                        {"file": notes.shortened(name)},
                    )
                if real.is_file():
                    return real
                if real.exists():
                    raise FileRefused(
                        "not_a_file",
                        gettext_noop("“%(file)s” is not a file."),
                        {"file": notes.shortened(name)},
                    )
            except (
                OSError,
                RuntimeError,
            ) as error:  # too long for the disk, no permission; a circle of links
                raise FileRefused(
                    "bad_path", gettext_noop("“%(file)s” can't be opened."), {"file": notes.shortened(name)}
                ) from error
    raise _missing(name, folders)


def _missing(name: str, folders: list[Path]) -> FileRefused:
    there = [entry.name for folder in folders if folder.is_dir() for entry in os.scandir(folder)][:5000]
    close = difflib.get_close_matches(PurePosixPath(name).name, there, n=1, cutoff=0.8)
    if close:
        return FileRefused(
            "missing_file",
            gettext_noop("There is no file “%(file)s” in the audio folder. Did you mean “%(meant)s”?"),
            {"file": notes.shortened(name), "meant": close[0]},
        )
    return FileRefused(
        "missing_file",
        gettext_noop("There is no file “%(file)s” in the audio folder."),
        {"file": notes.shortened(name)},
    )


def sha256(path: Path) -> str:
    """Hash of a file's content, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while block := source.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def keep(path: Path) -> Kept:
    """Copy ``path`` below the media root under its content's hash; the same content is stored once.

    The copy is complete before it gets its name, so whoever sees the name sees the whole file.
    """
    root = Path(settings.MEDIA_ROOT)
    (root / ORIGINALS).mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    handle, temporary = tempfile.mkstemp(dir=root / ORIGINALS, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as target, path.open("rb") as source:
            while block := source.read(BLOCK):
                digest.update(block)
                size += len(block)
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
        name = digest.hexdigest()
        ending = path.suffix.lower()
        relative = f"{ORIGINALS}/{name[:2]}/{name}{ending if ENDINGS.fullmatch(ending) else ''}"
        final = root / relative
        final.parent.mkdir(exist_ok=True)
        os.replace(temporary, final)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return Kept(name, relative, size)
