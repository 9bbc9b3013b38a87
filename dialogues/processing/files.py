"""Playing files on the disk: whole before they have their name, under names that nobody can guess."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Container
from pathlib import Path

from django.conf import settings

from studies import codes

PLAY = "play"
# every file carries the same time: when a dialogue was processed might tell its kind
MOMENT = 946_684_800  # 2000-01-01


def write_play_file(data: bytes) -> str:
    """Store ``data`` below the media root; returns the path relative to it."""
    name = codes.media_token()
    relative = f"{PLAY}/{name[:2]}/{name}.mp3"
    final = Path(settings.MEDIA_ROOT) / relative
    final.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=final.parent, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(temporary, 0o644)  # the proxy reads it as another user
        os.utime(temporary, (MOMENT, MOMENT))
        os.replace(temporary, final)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return relative


def remove_play_file(relative: str) -> None:
    """Remove a playing file that no row names any more; anything else below the media root is left alone."""
    path = Path(settings.MEDIA_ROOT) / relative
    if relative.startswith(f"{PLAY}/") and ".." not in path.parts:
        path.unlink(missing_ok=True)


def let_go(relative: str) -> None:
    """Note on a playing file that it was replaced just now; ``left_behind`` counts its age from here."""
    try:
        # sets the time of the change of its state, which nothing else can set
        os.utime(Path(settings.MEDIA_ROOT) / relative, (MOMENT, MOMENT))
    except FileNotFoundError:
        return


def original(relative: str) -> Path:
    return Path(settings.MEDIA_ROOT) / relative


def left_behind(named: Container[str], *, before: float) -> list[str]:
    """Files among the playing ones that no row names (``named``), complete or not, of before that moment.

    Relative paths. Replaced ones are among them, and what a worker leaves that is killed between writing a
    file and naming it.
    """
    root = Path(settings.MEDIA_ROOT)
    return [
        str(path.relative_to(root))
        for path in (root / PLAY).glob("*/*")
        # the time of the change of the file's state: that of its content is the same for all
        if path.is_file() and str(path.relative_to(root)) not in named and path.stat().st_ctime < before
    ]
