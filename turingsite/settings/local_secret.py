"""A secret key kept beside the embedded data, made once; production never calls this."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def local_secret(path: Path) -> str:
    """The key in ``path``; created with mode 600 where missing. Two processes that race agree on one key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    if not path.exists():
        fresh.write_text(secrets.token_urlsafe(48))
        fresh.chmod(0o600)
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()
