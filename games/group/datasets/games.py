"""How the study plays, its agents, the games, their seats, votes and eliminations."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from dialogues.models import Nature
from games.group.datasets.parts import game_column, of_games, person_column, second_column
from games.group.models import Agent, Elimination, Game, GroupSettings, Vote
from games.room.models import Seat
from studies.in_sql import Inside, inside
from studies.models import Language, Study
from studies.tidy import Made, column, dataset

#: Why a game is in no figure, the first that holds.
RUNNING, TEST, PILOT = "running", "test", "pilot"
EXCLUSIONS = (TEST, PILOT, RUNNING, Game.End.ABANDONED.value, Game.End.CANCELLED.value)

ENDS = [value for value in Game.End.values if value]
LEFT = [value for value in Seat.Left.values if value]


def exclusion(is_test: bool, tested: bool, piloted: bool, end: str) -> str:
    """Why a game is in no figure; empty where it is in them."""
    if is_test or tested:
        return TEST
    if piloted:
        return PILOT
    if not end:
        return RUNNING
    return "" if end in Game.PLAYED else end


def _exclusion_in_sql(study: Study) -> Any:
    return Case(
        When(Q(room__is_test=True) | Q(tested=True), then=Value(TEST)),
        When(piloted=True, then=Value(PILOT)),
        When(end="", then=Value(RUNNING)),
        When(end__in=[str(end) for end in Game.PLAYED], then=Value("")),
        default=F("end"),
    )


def games_that_count(study: Study) -> QuerySet[Game]:
    """The games of ``study`` that are in its figures."""
    return _games(study).annotate(left_out=_exclusion_in_sql(study)).filter(left_out="")


def _settings(study: Study) -> QuerySet[GroupSettings]:
    return GroupSettings.objects.filter(study=study)


def _agents(study: Study) -> QuerySet[Agent]:
    chosen = Agent.objects.filter(studies__study=study).values("pk")
    played = Game.objects.filter(study=study, agent__isnull=False).values("agent")
    return Agent.objects.filter(Q(pk__in=chosen) | Q(pk__in=played)).order_by("key", "version")


def _games(study: Study) -> QuerySet[Game]:
    seated = Seat.objects.filter(room=OuterRef("room"))
    return (
        Game.objects.filter(study=study, room__is_preview=False)
        .annotate(
            tested=Exists(seated.filter(participant__is_test=True)),
            piloted=Exists(seated.filter(participant__is_pilot=True)),
        )
        .order_by("number")
    )


def _seats(study: Study) -> QuerySet[Seat]:
    return Seat.objects.filter(of_games(study, "room__")).order_by("room__group_game__number", "position")


def _votes(study: Study) -> QuerySet[Vote]:
    return Vote.objects.filter(of_games(study, "game__room__")).order_by("game__number", "round", "at", "pk")


def _eliminations(study: Study) -> QuerySet[Elimination]:
    return Elimination.objects.filter(of_games(study, "game__room__")).order_by("game__number", "round")


def _rule(name: str, meaning: str, kind: str) -> Made:
    """A rule that the game was started with; empty where it is not known."""
    return column(
        name,
        meaning,
        "rules",
        type=kind,
        make=lambda rules: inside(rules, name, kind),
        sql=lambda study: Inside("rules", name, kind),
    )


SETTINGS = dataset(
    "group_settings",
    "How the study plays the group game",
    models=("group.GroupSettings",),
    query=_settings,
    primary_key=("study",),
    columns=(
        column("study", "address of the study", "study__slug"),
        column("people", "people in a game, beside the agent", type="integer", unit="people"),
        column("least_people", "people a game may start with", type="integer", unit="people"),
        column("discussion_seconds", "time to talk in a round", type="integer", unit="s"),
        column("vote_seconds", "time to vote", type="integer", unit="s"),
        column("reveal_seconds", "time between rounds", type="integer", unit="s"),
        column("topic_en", "opening topic in English; empty: none"),
        column("topic_zh", "opening topic in Chinese; empty: none"),
        column("agent_votes", "the agent votes", type="boolean"),
        column("show_tallies", "players see the tallies", type="boolean"),
        column("spectators", "who is out may watch", type="boolean"),
        column("abstain_button", "there is a button to abstain", type="boolean"),
        column("typing_indicator", "players see who is typing", type="boolean"),
        column("play_once", "each person plays once", type="boolean"),
        column("least_present", "people who must be there for a game to go on", type="integer"),
        column("gone_after", "time unseen until somebody counts as gone", type="integer", unit="s"),
        column("max_length", "longest message", type="integer", unit="characters"),
    ),
)

AGENTS = dataset(
    "group_agents",
    "Agents of the study's games, each version as it was frozen",
    models=("group.Agent",),
    query=_agents,
    primary_key=("agent", "version"),
    columns=(
        column("agent", "key of the agent", "key"),
        column("version", "its version", type="integer"),
        column("name", "its name"),
        column("thinking", "the code that decides"),
        column("model", "language model it calls; empty: none"),
        column("prompts", "its prompts, by step", type="object"),
        column("workers", "its background workers", type="array"),
        column("delays", "how long it takes to type", type="object"),
        column("parameters", "everything else it was set to", type="object"),
        column("sha256", "SHA-256 of all of it"),
    ),
)

GAMES = dataset(
    "group_games",
    "Group games: size, rules, how each ended",
    models=("group.Game", "room.Room"),
    query=_games,
    language="room__language",
    primary_key=("game",),
    counted="exclusion",
    outcomes=True,
    columns=(
        column("game", "code of the game", "code"),
        column("number", "number of the game in the study", type="integer"),
        column("language", "language that was written in", "room__language", levels=Language.values),
        column("people", "people at the table, beside the agent", type="integer", unit="people"),
        column("agent", "key of the agent; empty where it is not known", "agent__key"),
        column("agent_version", "its version", "agent__version", type="integer"),
        _rule("agent_votes", "the agent votes; empty where it is not known", "boolean"),
        _rule("variant", "other rules than ours, of imported games; empty: ours", "string"),
        column("rules", "all settings it was started with", type="object"),
        column("seed", "seed of all its draws", "room__seed", type="integer"),
        column("end", "how it ended; empty while it is played", levels=ENDS),
        column("rounds", "number of the last round", "room__round", type="integer", unit="rounds"),
        column("source", "played here or imported", levels=Game.Source.values),
        column("external_id", "id of an imported game where it came from"),
        column(
            "exclusion",
            "why it is in no figure; empty where it is in them",
            ("room__is_test", "tested", "piloted", "end"),
            levels=EXCLUSIONS,
            make=exclusion,
            sql=_exclusion_in_sql,
        ),
        column("dialogue", "code of the dialogue made from it", "dialogue__code"),
        column("opened_at", "when it began", "room__opened_at", type="datetime"),
        column("ended_at", "when it ended", type="datetime"),
        second_column("ended_at", "room__opened_at", "how long it took"),
    ),
)

SEATS = dataset(
    "group_seats",
    "Who sat at which place: people and agents under their pseudonyms",
    models=("room.Seat",),
    query=_seats,
    language="room__language",
    primary_key=("seat",),
    outcomes=True,
    columns=(
        game_column("room__group_game__"),
        column("seat", "code of the place", "code"),
        column("position", "place in the order all players saw, from 0", type="integer"),
        column("pseudonym", "name given by the game"),
        column("nature", "human or machine", levels=Nature.values),
        person_column("participant", "code of the person; empty for the agent and after an erasure"),
        column("out_round", "round in which they were put out; empty: never", type="integer"),
        column("out_at", "when that was", type="datetime"),
        column(
            "left",
            "why they were gone before the end",
            "left_why",
            levels=LEFT,
        ),
        column("left_at", "when they were gone", type="datetime"),
        column("seen_at", "last sign of an open page", type="datetime"),
    ),
)

VOTES = dataset(
    "group_votes",
    "Votes, one of each player and round",
    models=("group.Vote",),
    query=_votes,
    language="game__room__language",
    primary_key=("game", "round", "voter"),
    outcomes=True,
    columns=(
        game_column("game__"),
        column("round", "round of the game, from 1", type="integer"),
        column("voter", "code of the place that voted", "voter__code"),
        column("target", "code of the place voted for; empty: abstained", "target__code"),
        column("at", "when it was cast", type="datetime"),
        second_column("at", "game__room__opened_at"),
    ),
)

ELIMINATIONS = dataset(
    "group_eliminations",
    "Who was voted out in each round, and how ties were drawn",
    models=("group.Elimination",),
    query=_eliminations,
    language="game__room__language",
    primary_key=("game", "round"),
    outcomes=True,
    columns=(
        game_column("game__"),
        column("round", "round of the game, from 1", type="integer"),
        column("seat", "code of the place that went out", "seat__code"),
        column("living", "players in the round, the agent included", type="integer", unit="players"),
        column("tally", "votes by code of the place", type="object"),
        column("tied", "codes of those with most votes, in the order drawn from", type="array"),
        column("draw", "how the tie was drawn: seed and outcome, or the rule", type="object"),
        column("at", "when it was decided", type="datetime"),
        second_column("at", "game__room__opened_at"),
    ),
)

TABLES = (SETTINGS, AGENTS, GAMES, SEATS, VOTES, ELIMINATIONS)
