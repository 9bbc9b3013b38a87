"""Writes a study's finished games as lines of JSON, and puts them beside the tables of every export."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, QuerySet

from games.group.datasets.parts import seconds_between
from games.group.datasets.talk import counted_words, is_question, published_text
from games.group.interchange import FORMAT, GAMES_FILE, SCHEMA_FILE, schema_text
from games.group.models import Game
from games.room.models import Event, Room, Seat
from studies.datasets import free_text_questions, shown_answer
from studies.models import Answer, Study
from studies.registry import Companion, companions

Answered = tuple[int, dict[str, Any]]  # a person's key, and what they answered


def games_of(study: Study, language: str = "") -> QuerySet[Game]:
    """Games that have ended, previews aside."""
    seated = Seat.objects.filter(room=OuterRef("room"))
    found = (
        Game.objects.filter(study=study, room__is_preview=False)
        .exclude(end="")
        .annotate(
            tested=Exists(seated.filter(participant__is_test=True)),
            piloted=Exists(seated.filter(participant__is_pilot=True)),
        )
        .select_related("room", "agent")
        .order_by("number")
    )
    return found.filter(room__language=language) if language else found


def lines(study: Study, language: str = "") -> Iterator[str]:
    """A line for each game, in the order they were played."""
    answers = _answers(study)
    for game in games_of(study, language).iterator(chunk_size=100):
        yield json.dumps(_game(game, study, answers.get(game.code, [])), ensure_ascii=False)


def games_text(study: Study, language: str = "") -> str:
    """All lines; nothing for a study without a game."""
    return "".join(f"{line}\n" for line in lines(study, language))


def _game(game: Any, study: Study, answers: list[Answered]) -> dict[str, Any]:
    room: Room = game.room
    seats = list(room.seats.select_related("participant").order_by("position"))
    keys = {seat.pk: seat.code for seat in seats}
    by_person = {seat.participant_id: seat.code for seat in seats if seat.participant_id is not None}

    def second(at: datetime | None) -> float:
        return seconds_between(at, room.opened_at) or 0.0

    found = {
        "format": FORMAT,
        "id": game.code,
        "language": room.language,
        "day": room.opened_at.astimezone(ZoneInfo(study.time_zone)).date().isoformat(),
        "seconds": second(game.ended_at),
        "end": game.end,
        "rounds": room.round,
        "seed": room.seed,
        "rules": game.rules,
        "agent": _agent(game),
        "seats": [_seat(seat, second) for seat in seats],
        "log": list(_log(room, keys, second)),
        "votes": [
            {
                "round": vote.round,
                "voter": keys[vote.voter_id],
                "target": None if vote.target_id is None else keys[vote.target_id],
                "second": second(vote.at),
            }
            for vote in game.votes.order_by("round", "at", "pk")
        ],
        "eliminations": [
            {
                "round": one.round,
                "seat": keys[one.seat_id],
                "living": one.living,
                "tally": one.tally,
                "tied": one.tied,
                "draw": one.draw,
                "second": second(one.at),
            }
            for one in game.eliminations.order_by("round")
        ],
        "survey": [
            {"seat": by_person[person], **answer} for person, answer in answers if person in by_person
        ],
    }
    if room.is_test or game.tested:
        found["test"] = True
    if game.piloted:
        found["pilot"] = True
    return found


def _agent(game: Game) -> dict[str, Any] | None:
    agent = game.agent
    if agent is None:
        return None
    return {
        "key": agent.key,
        "version": agent.version,
        "name": agent.name,
        "model": agent.model,
        "sha256": agent.sha256,
    }


def _seat(seat: Seat, second: Any) -> dict[str, Any]:
    person = seat.participant
    found: dict[str, Any] = {
        "seat": seat.code,
        "pseudonym": seat.pseudonym,
        "nature": seat.nature,
        "out_round": seat.out_round,
        "out_second": None if seat.out_at is None else second(seat.out_at),
        "left": seat.left_why,
    }
    if person is not None and person.erased_at is None:
        found["person"] = person.code
    return found


def _log(room: Room, keys: dict[int, str], second: Any) -> Iterator[dict[str, Any]]:
    found = room.events.order_by("seq").values_list(
        "kind", "round", "phase", "at", "seat", "text", "length", "edited", "withdrawn", "data",
        "seat__nature", "seat__participant__consent__publish_text",
    )  # fmt: skip
    for kind, number, phase, at, seat, text, length, edited, withdrawn, data, nature, agreed in found:
        line: dict[str, Any] = {"kind": kind, "round": number, "phase": phase, "second": second(at)}
        if seat is not None:
            line["seat"] = keys[seat]
        if kind != Event.Kind.MESSAGE:
            yield {**line, "data": data}
            continue
        said = published_text(text, withdrawn, nature, agreed)
        line |= {
            "text": said or None,
            "characters": length,
            "words": counted_words(text, withdrawn, data),
            "question": is_question(text, withdrawn, data),
        }
        yield {**line, **({"edited": True} if edited else {}), **({"withdrawn": True} if withdrawn else {})}


def _answers(study: Study) -> dict[str, list[Answered]]:
    """Answers about games by the game's code; own words only with consent."""
    free = free_text_questions(study)
    found: dict[str, list[Answered]] = defaultdict(list)
    rows = (
        Answer.objects.filter(rater__participant__study=study, rater__participant__erased_at=None)
        .exclude(about="")
        .order_by("pk")
        .values_list(
            "about", "rater__participant", "questionnaire", "question", "value", "scale", "language",
            "rater__participant__consent__publish_text",
        )
    )  # fmt: skip
    for about, person, form, question, value, scale, language, agreed in rows.iterator(chunk_size=2000):
        shown = shown_answer(value, question, form, agreed, free)
        found[about].append(
            (
                person,
                {
                    "question": question,
                    "value": shown if (form, question) in free else value,
                    "scale": scale,
                    "language": language,
                },
            )
        )
    return found


def _schema(study: Study, language: str = "") -> str:
    return schema_text() if games_of(study, language).exists() else ""


def register() -> None:
    """Called once when the app starts."""
    companions.add(Companion(GAMES_FILE, games_text))
    companions.add(Companion(SCHEMA_FILE, _schema))
