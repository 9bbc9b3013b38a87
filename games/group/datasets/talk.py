"""What was written: messages, the other lines of the log, what was reported or held back.

People's words are public only where they agreed to that; what is counted of them is public for all.
"""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q, QuerySet, TextField, Value, When
from django.db.models.expressions import Case

from games.group.datasets.parts import game_column, of_games, second_column
from games.group.words import asks, words_in
from games.room.models import Concern, Event, HeldBack
from studies.models import Study
from studies.tidy import Made, column, dataset

#: Under which an imported message without words keeps what was counted of them.
WORDS, QUESTION = "words", "question"


def published_text(text: str, withdrawn: bool, nature: str | None, may_publish: bool | None) -> str:
    """The agent's words, and those of people who agreed to their publication."""
    if withdrawn or not (nature == "machine" or may_publish):
        return ""
    return text


def _published_in_sql(study: Study) -> Any:
    return Case(
        When(withdrawn=True, then=Value("")),
        When(Q(seat__nature="machine") | Q(seat__participant__consent__publish_text=True), then=F("text")),
        default=Value(""),
        output_field=TextField(),
    )


def counted_words(text: str, withdrawn: bool, data: Any) -> int | None:
    """Words in the message; None where its words are gone."""
    if withdrawn:
        return None
    if not text:
        given = data.get(WORDS) if isinstance(data, dict) else None
        return given if isinstance(given, int) and not isinstance(given, bool) else None
    return words_in(text)


def is_question(text: str, withdrawn: bool, data: Any) -> bool | None:
    """Whether the message has a question mark; None where its words are gone."""
    if withdrawn:
        return None
    if not text:
        given = data.get(QUESTION) if isinstance(data, dict) else None
        return given if isinstance(given, bool) else None
    return asks(text)


def _messages(study: Study) -> QuerySet[Event]:
    return Event.objects.filter(of_games(study, "room__"), kind=Event.Kind.MESSAGE).order_by(
        "room__group_game__number", "seq"
    )


def _log(study: Study) -> QuerySet[Event]:
    return (
        Event.objects.filter(of_games(study, "room__"))
        .exclude(kind=Event.Kind.MESSAGE)
        .order_by("room__group_game__number", "seq")
    )


def _concerns(study: Study) -> QuerySet[Concern]:
    return Concern.objects.filter(of_games(study, "room__"), seat__participant__erased_at=None).order_by("pk")


def _held_back(study: Study) -> QuerySet[HeldBack]:
    return HeldBack.objects.filter(
        of_games(study, "seat__room__"), seat__participant__erased_at=None
    ).order_by("pk")


def _of_line() -> tuple[Made, ...]:
    return (
        game_column("room__group_game__"),
        column("seq", "number of the line in the game's log, from 1", type="integer"),
        column("round", "round of the game, from 1", type="integer"),
        column("phase", "phase it was written in"),
    )


MESSAGES = dataset(
    "group_messages",
    "Messages, in the order all players saw",
    models=("room.Event",),
    query=_messages,
    language="room__language",
    primary_key=("game", "seq"),
    outcomes=True,
    columns=(
        *_of_line(),
        column("seat", "code of the place that wrote", "seat__code"),
        second_column("at", "room__opened_at"),
        column("at", "when it arrived", type="datetime"),
        column("client_at", "when it was sent by the writer's clock; the agent has none", type="datetime"),
        column("characters", "length", "length", type="integer", unit="characters"),
        column(
            "words",
            "words; in scripts without blanks each character is one; empty where the words are withdrawn",
            ("text", "withdrawn", "data"),
            type="integer",
            unit="words",
            make=counted_words,
            sql=lambda study: None,
        ),
        column(
            "question",
            "it has a question mark; empty where the words are withdrawn",
            ("text", "withdrawn", "data"),
            type="boolean",
            make=is_question,
            sql=lambda study: None,
        ),
        column("edited", "changed while the agent typed it", type="boolean"),
        column("withdrawn", "the writer had it erased", type="boolean"),
        column(
            "text",
            "what was written, of the agent and of people who agreed to its publication",
            ("text", "withdrawn", "seat__nature", "seat__participant__consent__publish_text"),
            make=published_text,
            sql=_published_in_sql,
        ),
        column(
            "full_text",
            "what was written, of everybody: not to be published",
            ("text", "withdrawn"),
            tier="controlled",
            make=lambda text, withdrawn: "" if withdrawn else text,
            sql=lambda study: Case(
                When(withdrawn=True, then=Value("")), default=F("text"), output_field=TextField()
            ),
        ),
    ),
)

LOG = dataset(
    "group_log",
    "Lines of the log beside the messages: phases, who is out, notices, the end",
    models=("room.Event",),
    query=_log,
    language="room__language",
    primary_key=("game", "seq"),
    outcomes=True,
    columns=(
        *_of_line(),
        column("kind", "what it announces", levels=[one for one in Event.Kind.values if one != "message"]),
        column("seat", "code of the place it is about", "seat__code"),
        second_column("at", "room__opened_at"),
        column("at", "when it was announced", type="datetime"),
        column("data", "what players were told", type="object"),
    ),
)

CONCERNS = dataset(
    "group_concerns",
    "Messages that players reported to the team",
    models=("room.Concern",),
    query=_concerns,
    language="room__language",
    primary_key=("game", "seat", "at"),
    columns=(
        game_column("room__group_game__"),
        column("seat", "code of the place that reported", "seat__code"),
        column("seq", "number of the line reported; empty: none named", "event__seq", type="integer"),
        column("words", "what is wrong, in the person's words", "text", tier="controlled"),
        column("at", "when it was reported", type="datetime"),
        column("seen_at", "when the team looked at it", type="datetime"),
    ),
)

HELD_BACK = dataset(
    "group_held_back",
    "Messages that were not sent because of what they held; their words are not stored",
    models=("room.HeldBack",),
    query=_held_back,
    language="seat__room__language",
    primary_key=("game", "seat", "at"),
    columns=(
        game_column("seat__room__group_game__"),
        column("seat", "code of the place that wrote", "seat__code"),
        column("what", "what it held", levels=HeldBack.What.values),
        column("at", "when it was", type="datetime"),
    ),
)

TABLES = (MESSAGES, LOG, CONCERNS, HELD_BACK)
