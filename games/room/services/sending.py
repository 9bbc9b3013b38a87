"""The statements that store a message: the whole check under the room's row, in one trip to the database.

Rules of order only; what a text may hold is asked in ``messages`` before.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import Cursor

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

#: The usual case: nothing speaks against the message, and nobody else has just had the room. Whoever holds a
#: room gives its row a new version (``log.hold``), and so does every line. So a row that is still the version
#: that was looked at says that all else was as it looked, too; where it is not, nothing is stored and the
#: statements below look again. One statement is planned once a connection, which saves most of its time.
#: Materialized: what was found must not be looked up anew when the update has waited for the row.
_AT_ONCE = f"""
WITH found AS MATERIALIZED (
    SELECT room.id AS room_id, room.xmin AS version, room.last_seq + 1 AS seq, room.round, room.phase,
           seat.code, GREATEST(%(now)s::timestamptz, above.at) AS at
      FROM room_seat seat
      JOIN room_room room ON room.id = seat.room_id
      LEFT JOIN room_event above ON above.room_id = room.id AND above.seq = room.last_seq
     WHERE seat.id = %(seat)s::bigint AND seat.left_at IS NULL AND seat.out_at IS NULL
           AND room.closed_at IS NULL AND room.writable AND room.max_length >= %(length)s::integer
           AND (room.deadline IS NULL OR room.deadline > %(now)s)
           AND NOT EXISTS (
               SELECT FROM room_event known
                WHERE known.seat_id = seat.id AND known.client_id = %(client_id)s::text
                      AND known.client_id <> '')
           AND room.rate_count > (
               SELECT count(*) FROM room_event line
                WHERE line.seat_id = seat.id AND line.at > %(now)s - room.rate_seconds * interval '1 second'
                      AND line.kind = 'message')
), bumped AS (
    UPDATE room_room SET last_seq = found.seq FROM found
     WHERE room_room.id = found.room_id AND room_room.xmin = found.version
    RETURNING found.*
), written AS (
    INSERT INTO room_event ({_LINE})
    SELECT room_id, seq, 'message', %(seat)s, round, phase, %(text)s::text, %(length)s, %(client_id)s, at,
           %(client_at)s::timestamptz, %(edited)s::boolean, false, '{{}}' FROM bumped
)
SELECT room_id, seq, at, code, round, phase FROM bumped
"""  # noqa: S608

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
_NEVER = 1 << 30  # uses after which psycopg prepares a statement by itself


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
    if connection.vendor == "postgresql":
        return _at_once(values) or _on_postgresql(values)
    return _on_sqlite(values)


def _at_once(values: dict[str, Any]) -> Stored | None:
    """Past Django's cursors, which put the values into the text, so that it is planned anew each time."""
    own = connections[DEFAULT_DB_ALIAS]
    own.ensure_connection()
    own.validate_no_broken_transaction()
    with own.wrap_database_errors:
        raw = own.connection
        if raw.prepare_threshold is None:
            raw.prepare_threshold = _NEVER  # but for what asks for it
        # Not where the site says, by Django's setting for it, that a pooler shares connections among clients.
        may_prepare = not own.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS", False)
        row = Cursor(raw).execute(_AT_ONCE, values, prepare=may_prepare).fetchone()
    if row is None:
        return None
    room_id, seq, at, code, round_, phase = row
    return Stored(room_id, 0, 0, "", None, (seq, at), code, round_, phase)


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
