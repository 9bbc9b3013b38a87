"""Exit status 0 when a health page answers 200, or when a file is no older than a number of seconds.

``probe.py http://…/health/ready`` asks under a name the site allows. ``probe.py fresh PATH SECONDS``
takes any file whose name begins with that of PATH: what beat keeps ends as the machine's dbm likes.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def answers(address: str) -> bool:
    host = os.environ["ALLOWED_HOSTS"].split(",")[0].lstrip(".")
    request = urllib.request.Request(address, headers={"Host": host})  # noqa: S310
    with urllib.request.urlopen(request, timeout=8) as answer:  # noqa: S310
        return bool(answer.status == 200)


def is_fresh(path: Path, seconds: float) -> bool:
    times = [found.stat().st_mtime for found in path.parent.glob(f"{path.name}*")]
    return bool(times) and time.time() - max(times) <= seconds


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    try:
        well = is_fresh(Path(rest[0]), float(rest[1])) if what == "fresh" else answers(what)
    except urllib.error.URLError as error:
        sys.exit(str(error))
    sys.exit(0 if well else 1)
