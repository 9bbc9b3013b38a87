"""Systems, topics and strategies that every installation knows: read from YAML, stored on first use."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent


def folded(text: str) -> str:
    """The key under which names are compared: no case, width, spaces or punctuation ("gpt 4o" = "GPT-4o")."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if c.isalnum())


@cache
def systems() -> tuple[dict[str, Any], ...]:
    return _load("systems")


@cache
def topics() -> tuple[dict[str, Any], ...]:
    return _load("topics")


@cache
def strategies() -> tuple[dict[str, Any], ...]:
    return _load("strategies")


def _load(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
