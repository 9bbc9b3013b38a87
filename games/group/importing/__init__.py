"""Games played elsewhere come in: ``llmafia`` and ``jsonl`` read files, ``checking`` holds them to what any
game is, ``services`` writes them. A game that is refused never stops the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from games.group.importing import jsonl, llmafia
from games.group.importing.services import Imported, Row, import_games, preview_games
from games.group.importing.shapes import FileGame

Reader = Callable[..., Iterator[FileGame]]
#: By the name of the format; each takes a path and the day of games that name none.
READERS: Mapping[str, Reader] = {"llmafia": llmafia.read_folders, "jsonl": jsonl.read_lines}

__all__ = ["READERS", "FileGame", "Imported", "Row", "import_games", "preview_games"]
