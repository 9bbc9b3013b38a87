"""The room as this seat's page has it: state and lines by the presenters' frames, kept up as a page does."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from games.group.agent.trace import Lost, newest_notes
from games.group.agent.view import MESSAGE, Line, Note, View, line_of, view_of
from games.group.models import Game
from games.room.models import Room, Seat
from games.room.presenters import event_frame, remaining, room_state
from games.room.selectors import events_after

AT_ONCE = 500  # lines


class Table:
    """What one runner knows of one game. Used by one thread at a time, but for ``notes``."""

    def __init__(self, game: Game, seat: Seat, claim: str) -> None:
        self.game_id, self.room_id, self.claim = game.pk, game.room_id, claim
        self.seat, self.language = seat, game.room.language
        self.shows_typing = game.room.typing
        # Draws are the same in the same game; nobody can tell the room's seed from it.
        self.seed = hashlib.sha256(f"agent/{game.room.seed}".encode()).hexdigest()[:16]
        self.notes = {key: Note(note.pk, note.value) for key, note in newest_notes(game.pk).items()}
        self._state: dict[str, Any] | None = None
        self._lines: tuple[Line, ...] = ()

    def look(self, now: datetime) -> View | None:
        """The room now; None where the game is over. Lost where another runner plays it."""
        game = Game.objects.select_related("room").get(pk=self.game_id)
        if game.end or game.room.closed_at is not None:
            return None
        if game.agent_claim != self.claim:
            raise Lost
        fresh = self._read(game.room)
        state = self._state
        if state is None or fresh or state["phase_number"] != game.room.phase_number:
            state = self._state = room_state(self.seat, now)
        return view_of(
            state=state,
            lines=self._lines,
            notes=dict(self.notes),
            language=self.language,
            seed=self.seed,
            remaining=remaining(game.room, now),
            now=now,
        )

    def forget_state(self) -> None:
        """Ask for the state again with the next look: the seat itself has done something."""
        self._state = None

    def _read(self, room: Room) -> bool:
        """Read the lines that are new; whether one of them changes the state, as on a page."""
        changes = False
        last = self._lines[-1].seq if self._lines else 0
        while last < room.last_seq:
            found = events_after(self.room_id, last, AT_ONCE)
            if not found:
                break
            lines = tuple(line_of(event_frame(event)) for event in found)
            changes = changes or any(line.kind != MESSAGE for line in lines)
            self._lines += lines
            last = lines[-1].seq
        return changes
