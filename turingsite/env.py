"""Typed readers of the process environment; the only place where settings touch it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

_env = environ.Env()


def text(name: str, default: str | None = None) -> str:
    """Value of ``name``; ImproperlyConfigured when unset and without default."""
    value: str = _env.str(name) if default is None else _env.str(name, default=default)
    return value


def secret(name: str) -> str:
    """Value of a secret: no default, at least 32 characters."""
    value = text(name)
    if len(value) < 32:
        raise ImproperlyConfigured(
            f"{name} must have at least 32 characters; make one with `openssl rand -base64 48`."
        )
    return value


def flag(name: str, default: bool = False) -> bool:
    return bool(_env.bool(name, default=default))


def number(name: str, default: int) -> int:
    return int(_env.int(name, default=default))


def words(name: str, default: list[str] | None = None) -> list[str]:
    """Comma-separated list."""
    return list(_env.list(name, default=default or []))


def path(name: str, default: Path) -> Path:
    """A directory or file; a relative path counts from the project's root."""
    value = Path(text(name, str(default)))
    return value if value.is_absolute() else BASE_DIR / value


def database(default: str | None = None) -> dict[str, Any]:
    """Django's database setting from DATABASE_URL (postgres://… or sqlite:///…)."""
    config: dict[str, Any] = _env.db_url_config(text("DATABASE_URL", default))
    if config["ENGINE"].endswith("sqlite3"):
        # Immediate transactions and a write-ahead log: contended writers wait instead of failing.
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 60,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    return config
