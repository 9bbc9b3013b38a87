"""The statement that stores a message: the whole check under the room's row, in one trip to the database.

Rules of order only; what a text may hold is asked in ``messages`` before.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction

#: Read with the room held: who sends, what the room allows now, what is there under this client id.
_READ = """
    SELECT room.id AS room_id, room.last_seq, room.round, room.phase, room.phase_number, room.max_length,
           room.rate_count, room.rate_seconds, seat.code,
           known.seq AS known_seq, known.at AS known_at, above.at AS above_at,
           CASE WHEN room.closed_at IS NOT NULL THEN 'room_closed'
                WHEN seat.left_at IS NOT NULL THEN 'left'
                WHEN seat.out_at IS NOT NULL THEN 'out'
                WHEN room.deadline <= %(now)s THEN 'overdue'
                WHEN NOT room.writable THEN 'not_now'
                WHEN %(length)s > room.max_length THEN 'too_long'
                ELSE '' END AS refusal
      FROM room_seat seat
      JOIN room_room room ON room.id = seat.room_id
      LEFT JOIN room_event known ON known.seat_id = seat.id AND known.client_id = %(client_id)s
                                    AND known.client_id <> ''
      LEFT JOIN room_event above ON above.room_id = room.id AND above.seq = room.last_seq
     WHERE seat.id = %(seat)s
"""
_LINE = """room_id, seq, kind, seat_id, round, phase, text, length, client_id, at, client_at, edited,
           withdrawn, data"""

#: The first statement takes the room's row; the second is a snapshot of its own, so it sees all that whoever
#: held the row before has written. Sent together they are one trip and one transaction.
_POSTGRESQL = f"""
SELECT 1 FROM room_room WHERE id = (SELECT room_id FROM room_seat WHERE id = %(seat)s) FOR NO KEY UPDATE;
WITH found AS ({_READ}), allowed AS (
    SELECT *, GREATEST(%(now)s, above_at) AS at FROM found
     WHERE refusal = '' AND known_seq IS NULL AND rate_count > (
        SELECT count(*) FROM room_event line
         WHERE line.seat_id = %(seat)s AND line.at > %(now)s - found.rate_seconds * interval '1 second'
               AND line.kind = 'message')
), bumped AS (
    UPDATE room_room SET last_seq = allowed.last_seq + 1 FROM allowed WHERE room_room.id = allowed.room_id
), written AS (
    INSERT INTO room_event ({_LINE})
    SELECT room_id, last_seq + 1, 'message', %(seat)s, round, phase, %(text)s, %(length)s, %(client_id)s, at,
           %(client_at)s, %(edited)s, false, '{{}}' FROM allowed
)
SELECT found.room_id, found.last_seq, found.round, found.phase, found.phase_number, found.max_length,
       found.code, found.known_seq, found.known_at, found.refusal, allowed.at
  FROM found LEFT JOIN allowed ON true
"""  # noqa: S608

_SQLITE_READ = f"""
SELECT room_id, last_seq, round, phase, phase_number, max_length, code, known_seq, known_at, refusal,
       above_at, rate_count, rate_seconds FROM ({_READ})
"""  # noqa: S608
_SQLITE_RATE = "SELECT count(*) FROM room_event WHERE seat_id = %s AND at > %s AND kind = 'message'"
_SQLITE_BUMP = "UPDATE room_room SET last_seq = %s WHERE id = %s"
_SQLITE_LINE = f"""
INSERT INTO room_event ({_LINE}) VALUES (%s, %s, 'message', %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, '{{}}')
"""  # noqa: S608


class Stored(NamedTuple):
    """What became of it. ``refusal``: empty, or why nothing was stored; ``event``: the new line."""

    room_id: int
    phase_number: int
    max_length: int
    refusal: str
    known: tuple[int, datetime] | None = None
    new: tuple[int, datetime] | None = None
    seat_code: str = ""
    round: int = 0
    phase: str = ""


def store(
    *, seat_id: int, text: str, client_id: str, client_at: datetime | None, edited: bool, now: datetime
) -> Stored | None:
    """Store the message where that is allowed now; None where there is no such seat."""
    values = {
        "seat": seat_id,
        "text": text,
        "length": len(text),
        "client_id": client_id,
        "client_at": client_at,
        "edited": edited,
        "now": now,
    }
    return _on_postgresql(values) if connection.vendor == "postgresql" else _on_sqlite(values)


def _on_postgresql(values: dict[str, Any]) -> Stored | None:
    with connection.cursor() as cursor:
        cursor.execute(_POSTGRESQL, values)
        cursor.nextset()
        row = cursor.fetchone()
    if row is None:
        return None
    room_id, last_seq, round_, phase, number, max_length, code, known_seq, known_at, refusal, at = row
    known = None if known_seq is None else (known_seq, known_at)
    new = None if at is None else (last_seq + 1, at)
    if not refusal and known is None and new is None:
        refusal = "too_fast"
    return Stored(room_id, number, max_length, refusal, known, new, code, round_, phase)


def _on_sqlite(values: dict[str, Any]) -> Stored | None:
    """The same in single steps: the transaction holds the whole database from its first moment."""
    now, adapt = values["now"], connection.ops.adapt_datetimefield_value
    given = values | {"now": adapt(now), "client_at": adapt(values["client_at"])}
    with transaction.atomic(), connection.cursor() as cursor:
        row = cursor.execute(_SQLITE_READ, given).fetchone()
        if row is None:
            return None
        (
            room_id,
            last_seq,
            round_,
            phase,
            number,
            max_length,
            code,
            known_seq,
            known_at,
            refusal,
            above_at,
        ) = row[:11]
        rate_count, rate_seconds = row[11:]
        found = Stored(room_id, number, max_length, refusal, None, None, code, round_, phase)
        if known_seq is not None:
            return found._replace(known=(known_seq, _moment(known_at)))
        if refusal:
            return found
        since = adapt(now - timedelta(seconds=rate_seconds))
        if cursor.execute(_SQLITE_RATE, [values["seat"], since]).fetchone()[0] >= rate_count:
            return found._replace(refusal="too_fast")
        at = max(now, _moment(above_at)) if above_at else now
        seq = last_seq + 1
        cursor.execute(_SQLITE_BUMP, [seq, room_id])
        line = [room_id, seq, values["seat"], round_, phase, values["text"], values["length"]]
        line += [values["client_id"], adapt(at), given["client_at"], values["edited"]]
        cursor.execute(_SQLITE_LINE, line)
    return found._replace(new=(seq, at))


def _moment(stored: datetime) -> datetime:
    return stored.replace(tzinfo=UTC)
