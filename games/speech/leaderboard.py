"""Reads of the leaderboard: its top, a person among their neighbours, one person's rank.

Nothing is added up here: ``services.scoring`` keeps the sums by player (``Standing``), in two indexes that
have the order of the board. Ties share a rank (1, 2, 2, 4); among them whoever got there first stands first,
for good. People who withdrew, pilots and test participants are left out, except yourself.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet

from games.speech.models import SpeechSettings, Standing
from studies.models import Participant, Study
from studies.selectors import local_day

TOP = 20
NEIGHBOURS = 2  # rows shown above and below one's own
Row = dict[str, Any]  # rank, nickname, points, rounds, you; or cut, from, to


def standing(
    study: Study, settings: SpeechSettings, participant: Participant, *, now: datetime
) -> Row | None:
    """A person's own row on the board they see first (their language, all time), or None without points."""
    rows = _rows(study, settings, participant.judging_language, today=False, now=now)
    own = rows.filter(player__participant=participant).first()
    if own is None:
        return None
    return _row(own, rank=_better(_members(rows, own), own) + 1, you=own)


def board(
    study: Study, settings: SpeechSettings, *, language: str, today: bool, you: Participant, now: datetime
) -> list[Row]:
    """The top of a board and yourself with your neighbours; one row ``cut`` stands for the ranks between.

    Without a round on it you are its last row, without rank or points.
    """
    rows = _rows(study, settings, language, today=today, now=now)
    own = rows.filter(player__participant=you).first()
    members = _members(rows, own)
    if own is None:
        top = _ranked(members[:TOP], 1, own)
        rest = members.count() - TOP if len(top) == TOP else 0
        cut = [{"cut": True, "from": TOP + 1, "to": TOP + rest}] if rest > 0 else []
        blank = {"rank": None, "nickname": you.nickname, "points": None, "rounds": 0, "you": True}
        return [*top, *cut, blank]
    before = members.filter(_before(own)).count()
    if before < TOP + NEIGHBOURS:
        return _ranked(members[: max(TOP, before + NEIGHBOURS + 1)], 1, own)
    first = before - NEIGHBOURS
    cut = [{"cut": True, "from": TOP + 1, "to": first}] if first > TOP else []
    above = list(members.filter(_before(own)).reverse()[:NEIGHBOURS])[::-1]
    below = members.filter(_after(own))[:NEIGHBOURS]
    return [*_ranked(members[:TOP], 1, own), *cut, *_ranked([*above, own, *below], first + 1, own, members)]


def _rows(
    study: Study, settings: SpeechSettings, language: str, *, today: bool, now: datetime
) -> QuerySet[Standing]:
    """Everybody's rows of one board in its order, also of those whom only they themselves see."""
    score = "per_cent" if settings.points == SpeechSettings.Points.ACCURACY else "points"
    period = local_day(study, now).isoformat() if today else Standing.ALL
    return (
        Standing.objects.filter(study=study, language=language, period=period)
        .annotate(score=F(score))
        .select_related("player__participant")
        .order_by(F(score).desc(), "reached_at", "player_id")
    )


def _members(rows: QuerySet[Standing], own: Standing | None) -> QuerySet[Standing]:
    if own is None or own.shown:
        return rows.filter(shown=True)
    return rows.filter(Q(shown=True) | Q(pk=own.pk))


def _before(own: Any) -> Q:
    """Who stands above ``own``: more points, or the same ones reached earlier."""
    earlier = Q(reached_at__lt=own.reached_at) | Q(reached_at=own.reached_at, player_id__lt=own.player_id)
    return Q(score__gte=own.score) & (Q(score__gt=own.score) | earlier)


def _after(own: Any) -> Q:
    later = Q(reached_at__gt=own.reached_at) | Q(reached_at=own.reached_at, player_id__gt=own.player_id)
    return Q(score__lte=own.score) & (Q(score__lt=own.score) | later)


def _better(members: QuerySet[Standing], row: Any) -> int:
    return members.filter(Q(score__gt=row.score)).count()


def _ranked(
    rows: Iterable[Any], place: int, own: Standing | None, members: QuerySet[Standing] | None = None
) -> list[Row]:
    """Rows that stand at ``place`` and after; ``members`` where others may share the first one's rank."""
    table: list[Row] = []
    for at, row in enumerate(rows, start=place):
        if table and table[-1]["points"] == row.score:
            rank = table[-1]["rank"]
        elif not table and members is not None:
            rank = _better(members, row) + 1
        else:
            rank = at
        table.append(_row(row, rank=rank, you=own))
    return table


def _row(row: Any, *, rank: int, you: Standing | None) -> Row:
    return {
        "rank": rank,
        "nickname": row.player.participant.nickname,
        "points": row.score,
        "rounds": row.rounds,
        "you": you is not None and row.pk == you.pk,
    }
