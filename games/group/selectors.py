"""Where a person is in the group game, and what a game is at this moment. Reads only."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet

from dialogues.models import Nature
from games.group.models import Game, GroupSettings, Ticket
from games.group.services.settings import settings_of
from games.room.models import Room, Seat
from games.room.selectors import is_present
from studies.models import Participant, Questionnaire
from studies.selectors import current_questionnaire

SURVEY = "after-group"


class Place(NamedTuple):
    """Where a person is: ``wait``, ``room`` (playing or watching), ``survey``, ``over`` (before another
    game), ``done``. ``seat`` is the one of their newest game.
    """

    name: str
    ticket: Ticket | None = None
    seat: Seat | None = None
    game: Game | None = None


def place_of(participant: Participant) -> Place:
    """The server decides where a person is, whatever page they come from."""
    seat = newest_seat(participant)
    game = seat.room.group_game if seat else None
    ticket = open_ticket(participant)
    if ticket is not None:
        return Place("wait", ticket, seat, game)
    if seat is None or game is None:
        return Place("done" if participant.end_state else "wait")
    went_on = bool(participant.end_state) or (seat.out_at is not None and has_answered(participant, game))
    if is_at_the_table(seat, game) and not went_on:
        return Place("room", None, seat, game)
    if owes_survey(participant, game):
        return Place("survey", None, seat, game)
    return Place("over" if may_play_again(participant) else "done", None, seat, game)


def may_play_again(participant: Participant) -> bool:
    """Whether there may be another game after one that is over."""
    return not participant.end_state and not settings_of(participant.study).play_once


def open_ticket(participant: Participant) -> Ticket | None:
    return Ticket.objects.filter(participant=participant, state__in=Ticket.OPEN).first()


def seats_of(participant: Participant) -> QuerySet[Seat]:
    """The person's seats in group games, the newest first."""
    found = Seat.objects.filter(participant=participant, room__group_game__isnull=False)
    return found.select_related("room__group_game__agent", "room__group_game__questionnaire").order_by("-pk")


def newest_seat(participant: Participant) -> Seat | None:
    return seats_of(participant).first()


def is_at_the_table(seat: Seat, game: Game) -> bool:
    """Whether the game goes on for this seat: it plays, or it is out and may watch."""
    return not game.end and may_read(seat, game)


def may_read(seat: Seat, game: Game) -> bool:
    """Whether the seat still gets the log: not who has gone, nor who is out where nobody watches."""
    if seat.left_at is not None:
        return False
    return seat.out_at is None or bool(rule(game, "spectators"))


def is_over_for(seat: Seat, game: Game) -> bool:
    """Whether the person's part in it is over: it ended, they are out, or they have gone."""
    return bool(game.end) or seat.out_at is not None or seat.left_at is not None


def left_early(seat: Seat, game: Game) -> bool:
    """Whether the person was gone before their part was over, by being voted out or by the game's end."""
    over = seat.out_at or game.ended_at
    return seat.left_at is not None and (over is None or seat.left_at <= over)


def played() -> Q:
    """Seats of people who did their part: voted out, or there until the game was decided."""
    out = Q(left_at=None) | Q(left_at__gt=F("out_at"))
    stayed = Q(left_at=None) | Q(left_at__gt=F("room__group_game__ended_at"))
    return (Q(out_at__isnull=False) & out) | (Q(out_at=None, room__group_game__end__in=Game.PLAYED) & stayed)


def has_played(participant: Participant) -> bool:
    """Whether the person played a game as far as it was theirs to play."""
    return seats_of(participant).filter(played()).exists()


def survey_of(game: Game) -> Questionnaire | None:
    """The questions after this game: those that stood when it began, else the study's current ones."""
    return game.questionnaire or current_questionnaire(game.study, SURVEY)


def has_answered(participant: Participant, game: Game) -> bool:
    return participant.rater.answers.filter(questionnaire__key=SURVEY, about=game.code).exists()


def owes_survey(participant: Participant, game: Game) -> bool:
    if participant.is_gone or survey_of(game) is None:
        return False
    return not has_answered(participant, game)


def rule(game: Game, name: str) -> Any:
    """A rule that the game was started with; the default where it was started without."""
    if name in game.rules:
        return game.rules[name]
    return GroupSettings._meta.get_field(name).get_default()  # type: ignore[union-attr]


def topic_of(game: Game, language: str) -> str:
    """The opening topic in the room's language; empty where people talk about what they like."""
    topic = rule(game, "topic_zh" if language == "zh" else "topic_en")
    return str(topic)


def living(room: Room) -> list[Seat]:
    """Seats that nobody voted out, in seat order."""
    return list(room.seats.living().order_by("position"))


def people_here(room: Room, game: Game, now: datetime) -> list[Seat]:
    """Living people who have not gone, nor been unseen for so long that they count as gone."""
    return [
        seat
        for seat in living(room)
        if seat.nature == Nature.HUMAN and seat.left_at is None and not is_stale(seat, game, now)
    ]


def is_stale(seat: Seat, game: Game, now: datetime) -> bool:
    """Whether a person was not seen for so long that they count as gone."""
    seen = seat.seen_at or seat.room.opened_at
    return now - seen > timedelta(seconds=rule(game, "gone_after"))


def awaited(room: Room, game: Game, now: datetime) -> list[Seat]:
    """Who the vote waits for: living seats that are there, the agent's among them where it votes."""
    return [
        seat
        for seat in living(room)
        if is_present(seat, now) and (seat.nature == Nature.HUMAN or rule(game, "agent_votes"))
    ]
