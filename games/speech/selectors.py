"""Reads of the game that span tables: the leaderboard, a person's standing, the trials of a round."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Max, QuerySet, Sum
from django.utils.translation import gettext_lazy as _

from games.speech.models import Round, SpeechPlayer, SpeechSettings, Trial
from studies.models import Participant, Study
from turingsite.errors import NotFound

TOP = 20
NEIGHBOURS = 2  # rows shown above and below one's own


def access_round(participant: Participant, number: int) -> Round:
    """A finished round of this person; NotFound for open ones, too: what they hold is not told yet."""
    round_ = (
        Round.objects.select_related("player")
        .filter(player__participant=participant, number=number, state=Round.State.FINISHED)
        .first()
    )
    if round_ is None:
        raise NotFound("no_round", _("There is no such round here."))
    return round_


def judged_trials(round_: Round) -> QuerySet[Trial]:
    """The answered scored trials of a round in order, with what the reveal needs."""
    return (
        Trial.objects.filter(round=round_, state=Trial.State.DONE, expected="")
        .exclude(answer="")
        .select_related("dialogue")
        .prefetch_related("dialogue__parties__system", "dialogue__parties__speaker")
        .order_by("position")
    )


def start_of_day(study: Study, now: datetime) -> datetime:
    """Midnight of today in the study's time zone."""
    local = now.astimezone(ZoneInfo(study.time_zone))
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


def standings(
    study: Study,
    settings: SpeechSettings,
    *,
    language: str,
    today: bool,
    you: Participant | None,
    now: datetime,
) -> list[dict[str, Any]]:
    """Everybody's points, best first: rank, nickname, points, rounds, you.

    Ties share a rank (1, 2, 2, 4); among them whoever got there first stands first, for good. People who
    withdrew, pilots and test participants are left out, except yourself. Rounds for fun do not count.
    """
    rounds = Round.objects.filter(
        player__participant__study=study, state=Round.State.FINISHED, for_fun=False, answered__gt=0
    )
    if language != "all":
        rounds = rounds.filter(language=language)
    if today:
        start = start_of_day(study, now)
        rounds = rounds.filter(finished_at__gte=start, finished_at__lt=start + timedelta(days=1))
    mine = you.pk if you is not None else None
    shown = rounds.filter(player__participant__withdrawn_at=None, player__participant__erased_at=None)
    rows = list(
        shown.filter(player__participant__is_pilot=False, player__participant__is_test=False)
        .order_by()
        .values_list("player__participant_id", "player__participant__nickname")
        .annotate(Sum("points"), Count("pk"), Max("finished_at"), Sum("correct"), Sum("answered"))
    )
    if mine is not None and all(row[0] != mine for row in rows):
        rows += list(
            shown.filter(player__participant_id=mine)
            .order_by()
            .values_list("player__participant_id", "player__participant__nickname")
            .annotate(Sum("points"), Count("pk"), Max("finished_at"), Sum("correct"), Sum("answered"))
        )
    accuracy = settings.points == SpeechSettings.Points.ACCURACY
    scored = [
        (round(100 * right / answers) if accuracy else points, count, last, person, nickname)
        for person, nickname, points, count, last, right, answers in rows
    ]
    scored.sort(key=lambda row: (-row[0], row[2], row[3]))
    table: list[dict[str, Any]] = []
    for place, (points, count, _last, person, nickname) in enumerate(scored, start=1):
        rank = table[-1]["rank"] if table and table[-1]["points"] == points else place
        table.append(
            {"rank": rank, "nickname": nickname, "points": points, "rounds": count, "you": person == mine}
        )
    return table


def board(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The top of a table and yourself with your neighbours; one row ``cut`` stands for the ranks between."""
    own = next((index for index, row in enumerate(table) if row["you"]), None)
    if own is None or own < TOP + NEIGHBOURS:
        return table[: max(TOP, 0 if own is None else own + NEIGHBOURS + 1)]
    first = own - NEIGHBOURS
    gap = [{"cut": True, "from": TOP + 1, "to": first}] if first > TOP else []
    return table[:TOP] + gap + table[first : own + NEIGHBOURS + 1]


def with_yourself(table: list[dict[str, Any]], you: Participant) -> list[dict[str, Any]]:
    """The table with a row of your own at the end, without rank or points, where you have no round in it."""
    if any(row["you"] for row in table):
        return table
    own = {"rank": None, "nickname": you.nickname, "points": None, "rounds": 0, "you": True}
    return [*table, own]


def standing(
    study: Study, settings: SpeechSettings, participant: Participant, *, now: datetime
) -> dict[str, Any] | None:
    """A person's own row on the board they see first (their language, all time), or None without points."""
    language = participant.judging_language
    table = standings(study, settings, language=language, today=False, you=participant, now=now)
    return next((row for row in table if row["you"]), None)


def rounds_played(player: SpeechPlayer) -> int:
    return Round.objects.filter(player=player, state=Round.State.FINISHED).count()
