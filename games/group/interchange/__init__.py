"""Finished games as lines of JSON, in a format of their own: ``game.schema.json`` describes it, ``writing``
makes it, ``games.group.importing.jsonl`` reads it. What it holds is what the public tables hold: people's
words only where they agreed to publication, seconds in the place of times.
"""

from __future__ import annotations

from pathlib import Path

FORMAT = "turingsite-group-game-1"
SCHEMA = Path(__file__).parent / "game.schema.json"
#: Their paths in an export.
GAMES_FILE, SCHEMA_FILE = "group/games.jsonl", "group/game.schema.json"


def schema_text() -> str:
    return SCHEMA.read_text(encoding="utf-8")
