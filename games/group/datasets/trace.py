"""What the agent did and why: steps, candidates, notes, calls. What may quote people is never public."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet, Window
from django.db.models.functions import Coalesce, RowNumber

from games.group.datasets.parts import game_column, of_games, second_column
from games.group.models import AgentCall, AgentNote, AgentStep, Candidate
from games.group.words import words_in
from studies.models import Study
from studies.tidy import column, dataset

NUMBER = "number"  # of a note in its game, counted with the query
PURPOSES = ("scheduler", "generator", "reviewer", "vote", "worker")


def _steps(study: Study) -> QuerySet[AgentStep]:
    return AgentStep.objects.filter(of_games(study, "game__room__")).order_by("game__number", "number")


def _candidates(study: Study) -> QuerySet[Candidate]:
    return Candidate.objects.filter(of_games(study, "step__game__room__")).order_by(
        "step__game__number", "step__number", "position"
    )


def _notes(study: Study) -> QuerySet[AgentNote]:
    number = Window(RowNumber(), partition_by="game", order_by="pk")
    return (
        AgentNote.objects.filter(of_games(study, "game__room__"))
        .annotate(**{NUMBER: number})
        .order_by("game__number", "pk")
    )


def _numbers(study: Study) -> dict[int, int]:
    """Notes by key: their numbers in the game."""
    return {int(key): int(number) for key, number in _notes(study).values_list("pk", NUMBER)}


def numbered(notes: Any, numbers: dict[int, int]) -> dict[str, int | None]:
    """Notes read, by worker, with their numbers in the place of keys."""
    read = notes.items() if isinstance(notes, dict) else ()
    return {worker: numbers.get(key) for worker, key in read if isinstance(key, int)}


def _calls(study: Study) -> QuerySet[AgentCall]:
    game = Coalesce("step__game", "note__game")
    return (
        AgentCall.objects.filter(
            of_games(study, "step__game__room__") | of_games(study, "note__game__room__")
        )
        .annotate(
            of_game=Coalesce("step__game__code", "note__game__code"),
            of_language=Coalesce("step__game__room__language", "note__game__room__language"),
            of_number=Coalesce("step__game__number", "note__game__number"),
            number=Window(RowNumber(), partition_by=game, order_by="pk"),
        )
        .order_by("of_number", "pk")
    )


def _note_numbers(note: int | None, numbers: dict[int, int]) -> int | None:
    return None if note is None else numbers.get(note)


STEPS = dataset(
    "agent_steps",
    "Turns of the agent's loop: what it decided, what became of it",
    models=("group.AgentStep",),
    query=_steps,
    language="game__room__language",
    primary_key=("game", "step"),
    outcomes=True,
    columns=(
        game_column("game__"),
        column("step", "number of the turn in the game, from 1", "number", type="integer"),
        column("round", "round of the game", type="integer"),
        column("phase", "phase of the game"),
        column("after_seq", "line of the log it had read up to", type="integer"),
        column("decision", "what it decided", levels=AgentStep.Decision.values),
        column("outcome", "what became of it", levels=AgentStep.Outcome.values),
        column("why", "why it was dropped, stopped, refused or failed"),
        column("reason", "why it decided so, in its words", tier="controlled"),
        column("review", "what its reviewer said", tier="controlled"),
        column(
            "notes",
            "notes it had read: their numbers by worker",
            type="object",
            make=numbered,
            beside=_numbers,
            sql=lambda study: None,
        ),
        column("thinking_seconds", "time spent thinking", type="number", unit="s"),
        column("typing_seconds", "time spent typing", type="number", unit="s"),
        column("seq", "line of the log it wrote; empty: none", "event__seq", type="integer"),
        column("started_at", "when it began", type="datetime"),
        column("finished_at", "when it was done", type="datetime"),
        second_column("started_at", "game__room__opened_at", "seconds from the game's beginning to its own"),
    ),
)

CANDIDATES = dataset(
    "agent_candidates",
    "Messages that the agent could have sent",
    models=("group.Candidate",),
    query=_candidates,
    language="step__game__room__language",
    primary_key=("game", "step", "position"),
    outcomes=True,
    columns=(
        game_column("step__game__"),
        column("step", "number of the turn in the game", "step__number", type="integer"),
        column("position", "place among its candidates, from 0", type="integer"),
        column("purpose", "what it was written for"),
        column("chosen", "the reviewer took it", type="boolean"),
        column(
            "words", "words; in scripts without blanks each character is one", "text", type="integer",
            unit="words", make=words_in, sql=lambda study: None,
        ),
        column("text", "the message", tier="controlled"),
        column("verdict", "what the reviewer said of it", tier="controlled"),
    ),
)  # fmt: skip

NOTES = dataset(
    "agent_notes",
    "What the agent's background workers wrote down",
    models=("group.AgentNote",),
    query=_notes,
    language="game__room__language",
    primary_key=("game", "note"),
    outcomes=True,
    columns=(
        game_column("game__"),
        column("note", "number of the note in the game, from 1", "number", type="integer"),
        column("worker", "who wrote it"),
        column("after_seq", "line of the log it had read up to", type="integer"),
        column("value", "what it says", type="object", tier="controlled"),
        column("failure", "what failed"),
        column("started_at", "when it was begun", type="datetime"),
        column("finished_at", "when it was done", type="datetime"),
    ),
)

CALLS = dataset(
    "agent_calls",
    "Calls to language models, without their words",
    models=("group.AgentCall",),
    query=_calls,
    language="of_language",
    primary_key=("game", "call"),
    outcomes=True,
    columns=(
        column("game", "code of the game", "of_game"),
        column("call", "number of the call in the game, from 1", "number", type="integer"),
        column("step", "number of the turn it was for", "step__number", type="integer"),
        column(
            "note",
            "number of the note it was for",
            "note",
            type="integer",
            make=_note_numbers,
            beside=_numbers,
            sql=lambda study: None,
        ),
        column("purpose", "what it was for", levels=PURPOSES),
        column("model", "the model called"),
        column("prompt_sha256", "SHA-256 of the prompt"),
        column("tokens_in", "tokens sent", type="integer", unit="tokens"),
        column("tokens_out", "tokens received", type="integer", unit="tokens"),
        column("seconds", "time it took", type="number", unit="s"),
        column("failure", "what failed"),
        column("at", "when it was made", type="datetime"),
    ),
)

TABLES = (STEPS, CANDIDATES, NOTES, CALLS)
