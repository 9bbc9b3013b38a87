"""Tidy tables of the speech game: its settings, players, rounds, the presentation log, content checks."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import connection
from django.db.models import BooleanField, Case, F, Func, JSONField, Q, QuerySet, Value, When

from dialogues.models import Choice, Dialogue, Nature, System, Topic
from games.speech.models import ContentCheck, Round, SpeechPlayer, SpeechSettings, Trial
from studies.models import Language, Study
from studies.registry import datasets
from studies.tidy import column, dataset


def _topic_codes(study: Study) -> dict[int, str]:
    return dict(Topic.objects.values_list("pk", "code"))


class Codes(NamedTuple):
    """Public codes by key, of dialogues and systems."""

    dialogues: dict[int, str]
    systems: dict[int, str]


def _public_codes(study: Study) -> Codes:
    return Codes(
        dict(Dialogue.objects.values_list("pk", "code")), dict(System.objects.values_list("pk", "code"))
    )


def shown_draw(draw: dict[str, Any], codes: Codes) -> dict[str, Any]:
    """The stored draw with public codes in the place of keys; system 0 (none) is the empty code."""
    shown = dict(draw)
    if "chosen" in draw:
        shown["chosen"] = codes.dialogues.get(draw["chosen"], "")
    if "systems" in draw:
        shown["systems"] = {codes.systems.get(int(key), ""): count for key, count in draw["systems"].items()}
    return shown


class ShownDraw(Func):
    """:func:`shown_draw` as PostgreSQL says it."""

    template = (
        "(%(draw)s"
        " || CASE WHEN %(draw)s ? 'chosen' THEN jsonb_build_object('chosen', coalesce((SELECT d.code"
        " FROM dialogues_dialogue d WHERE d.id = (%(draw)s -> 'chosen')::bigint), '')) ELSE '{}' END"
        " || CASE WHEN %(draw)s ? 'systems' THEN jsonb_build_object('systems', (SELECT"
        " coalesce(jsonb_object_agg(coalesce(s.code, ''), e.value ORDER BY length(e.key), e.key), '{}')"
        " FROM jsonb_each(%(draw)s -> 'systems') e"
        " LEFT JOIN dialogues_system s ON s.id = e.key::bigint)) ELSE '{}' END)"
    )

    def __init__(self, draw: Any) -> None:
        super().__init__(draw, output_field=JSONField())

    def as_postgresql(self, compiler: Any, connection: Any, **rest: Any) -> Any:
        draw, _params = compiler.compile(self.source_expressions[0])
        return self.template % {"draw": draw}, ()


def _shown_draw_in_sql(study: Study) -> Any:
    return ShownDraw(F("draw")) if connection.vendor == "postgresql" else None


def _whether(condition: Q) -> Any:
    return Case(When(condition, then=Value(True)), default=Value(False), output_field=BooleanField())


def _settings(study: Study) -> QuerySet[SpeechSettings]:
    return SpeechSettings.objects.filter(study=study)


def _players(study: Study) -> QuerySet[SpeechPlayer]:
    return SpeechPlayer.objects.filter(participant__study=study, participant__erased_at=None).order_by("pk")


def _rounds(study: Study) -> QuerySet[Round]:
    return Round.objects.filter(
        player__participant__study=study, player__participant__erased_at=None
    ).order_by("player", "number")


def _trials(study: Study) -> QuerySet[Trial]:
    return Trial.objects.filter(
        round__player__participant__study=study, round__player__participant__erased_at=None
    ).order_by("round__player", "round__number", "position", "attempt")


def _checks(study: Study) -> QuerySet[ContentCheck]:
    return ContentCheck.objects.filter(
        trial__round__player__participant__study=study,
        trial__round__player__participant__erased_at=None,
    ).order_by("pk")


SETTINGS = dataset(
    "speech_settings",
    "How the study plays the speech game",
    models=("speech.SpeechSettings",),
    query=_settings,
    primary_key=("study",),
    columns=(
        column("study", "address of the study", "study__slug"),
        column("round_size", "scored dialogues in a round", type="integer"),
        column("mix", "shares of the kinds", levels=SpeechSettings.Mix.values),
        column("reveal", "when the answers are shown", levels=SpeechSettings.Reveal.values),
        column("show_system", "the reveal names the system", type="boolean"),
        column("points", "how points are given", levels=SpeechSettings.Points.values),
        column("leaderboard", "there is a leaderboard", type="boolean"),
        column("max_rounds", "rounds per person, 0 for no limit", type="integer"),
        column(
            "lease_minutes",
            "time after which an abandoned dialogue counts as free",
            type="integer",
            unit="min",
        ),
        column("ask_confidence", "confidence is asked after the verdict", type="boolean"),
        column("ask_reason", "a reason is asked after the verdict", type="boolean"),
        column("content_checks", "content checks per session", type="integer"),
        column("attention_checks", "spoken instructions per session", type="integer"),
        column("sound_check", "there is a sound check", type="boolean"),
        column("margin", "margin of equivalence to human speakers", type="number", unit="share"),
    ),
)

PLAYERS = dataset(
    "players",
    "What was drawn or counted once per player",
    models=("speech.SpeechPlayer",),
    query=_players,
    primary_key=("participant",),
    columns=(
        column("participant", "code of the person", "participant__code"),
        column("human_left", "the answer “human” stands left", type="boolean"),
        column("sound_tries", "tries at the sound check", type="integer"),
        column("sound_passed", "passed it; empty if not asked", type="boolean"),
        column("checks_asked", "content checks asked", type="integer"),
        column("checks_failed", "content checks and spoken instructions failed", type="integer"),
    ),
)

ROUNDS = dataset(
    "rounds",
    "Rounds played",
    models=("speech.Round", "speech.Standing"),
    query=_rounds,
    language="language",
    primary_key=("participant", "round"),
    columns=(
        column("participant", "code of the person", "player__participant__code"),
        column("round", "number of the person's round, from 1", "number", type="integer"),
        column("state", "open or finished", levels=Round.State.values),
        column("language", "language judged in", levels=Language.values),
        column("for_fun", "played after all dialogues had been heard once", type="boolean"),
        column("answered", "answers given", type="integer", unit="answers"),
        column("correct", "right answers", type="integer", unit="answers"),
        column("points", "points given", type="integer", unit="points"),
        column("started_at", "when it began", type="datetime"),
        column("finished_at", "when it was finished", type="datetime"),
        column("seen_at", "when the answers were shown", type="datetime"),
    ),
)

TRIALS = dataset(
    "trials",
    "The presentation log: every dialogue put to a player, how it was drawn, how it was heard",
    models=("speech.Trial",),
    query=_trials,
    language="dialogue__language",
    primary_key=("participant", "round", "position", "is_check", "attempt"),
    columns=(
        column("participant", "code of the person", "round__player__participant__code"),
        column("round", "number of the person's round, from 1", "round__number", type="integer"),
        column("position", "place in the round, from 1", type="integer"),
        column(
            "is_check",
            "a spoken instruction, played before the scored trial of that place and outside all scores",
            "expected",
            type="boolean",
            make=bool,
            sql=lambda study: _whether(~Q(expected="")),
        ),
        column("expected", "the answer that the instruction asks for", levels=Nature.values),
        column("attempt", "0, then one more for each replacement of a clip that failed", type="integer"),
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("state", "what became of it", levels=Trial.State.values),
        column(
            "judged",
            "a verdict was stored",
            "verdict",
            type="boolean",
            make=lambda verdict: verdict is not None,
            sql=lambda study: _whether(Q(verdict__isnull=False)),
        ),
        column("human_left", "“human” stood left", "round__player__human_left", type="boolean"),
        column(
            "draw",
            "all that decided the draw: seed and counter, build version, odds of the kinds, verdicts so "
            "far by system, how many candidates, weight of the one chosen",
            type="object",
            make=shown_draw,
            beside=_public_codes,
            sql=_shown_draw_in_sql,
        ),
        column("drawn_at", "when it was drawn", type="datetime"),
        column("served_at", "when its page was given", type="datetime"),
        column("first_play_at", "when playing began", type="datetime"),
        column("unlocked_at", "when the answers unlocked", type="datetime"),
        column("gate", "what unlocked them", levels=[value for value in Trial.Gate.values if value]),
        column("ranges", "stretches played, as pairs of seconds", type="array", unit="s"),
        column("heard", "share of the clip that was heard", type="number", unit="share"),
        column("plays", "times that playing was started", type="integer"),
        column("pauses", "pauses while playing", type="integer"),
        column("hidden_seconds", "time for which the page was not in view", type="number", unit="s"),
        column("known", "the person knows the recording", type="boolean"),
        column(
            "answer",
            "what was answered, also where the verdict of an earlier round stands",
            levels=Choice.values,
        ),
        column("failure", "what failed, where the sound did"),
        column("closed_at", "when it ended", type="datetime"),
    ),
)

CHECKS = dataset(
    "checks",
    "Content checks: what did they talk about",
    models=("speech.ContentCheck",),
    query=_checks,
    language="trial__dialogue__language",
    primary_key=("participant", "round", "position"),
    columns=(
        column("participant", "code of the person", "trial__round__player__participant__code"),
        column("round", "number of the person's round", "trial__round__number", type="integer"),
        column(
            "position", "place in the round of the dialogue asked about", "trial__position", type="integer"
        ),
        column("dialogue", "dialogue asked about", "trial__dialogue__code"),
        column(
            "options",
            "topics offered, in the order shown",
            "order",
            type="array",
            make=lambda order, codes: [codes[topic] for topic in order],
            beside=_topic_codes,
        ),
        column("correct", "the right topic", "correct__code"),
        column("chosen", "the topic chosen; empty if not answered", "chosen__code"),
        column("asked_at", "when it was asked", type="datetime"),
        column("answered_at", "when it was answered", type="datetime"),
    ),
)


def register() -> None:
    for one in (SETTINGS, PLAYERS, ROUNDS, TRIALS, CHECKS):
        datasets.add(one)
