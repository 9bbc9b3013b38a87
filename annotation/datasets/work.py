"""Batches, the dialogues in them, the scores. What is not analysed says why in ``exclusion``."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Coalesce, NullIf

from annotation.datasets.parts import (
    dialogue_column,
    dimension_columns,
    of_annotators_present,
    rater_columns,
    value_columns,
)
from annotation.models import Batch, BatchItem, Layer, Score
from dialogues.datasets import of_raters_present
from dialogues.models import Dialogue, Nature
from dialogues.withdrawing import of_withdrawn, withdrawn
from studies.in_sql import Replaced
from studies.models import Study
from studies.tidy import column, dataset

Purpose, Item = BatchItem.Purpose, BatchItem.State
UNFINISHED = tuple(value for value in Item.values if value != Item.FINISHED)
REASONS = tuple(value for value in Score.Exclusion.values if value)
SOURCES = ("annotation", "review", "import")


def _batches(study: Study) -> QuerySet[Batch]:
    present = of_annotators_present()
    return Batch.objects.filter(present, annotator__participant__study=study).order_by("annotator", "number")


def _items(study: Study) -> QuerySet[BatchItem]:
    return BatchItem.objects.filter(of_raters_present(), study=study).order_by("batch", "position")


def _scores(study: Study) -> QuerySet[Score]:
    return Score.objects.filter(of_raters_present(), study=study).order_by("pk")


# Why something is not analysed


def _gone(study: Study) -> set[int]:
    """Dialogues that were withdrawn, or have the voice of somebody who withdrew."""
    found = Dialogue.objects.filter(state=Dialogue.State.WITHDRAWN).values_list("pk", flat=True)
    return {*found, *withdrawn().values_list("dialogue", flat=True)}


def item_exclusion(stored: str, state: str, dialogue: int, gone: set[int]) -> str:
    """Why what was said about an item is not analysed; empty where it is."""
    if stored:
        return stored
    if dialogue in gone:
        return Score.Exclusion.RECORDING.value
    return "" if state == Item.FINISHED else Score.Exclusion.UNFINISHED.value


def _item_exclusion_in_sql(study: Study) -> Any:
    return Case(
        When(exclusion__gt="", then=F("exclusion")),
        When(of_withdrawn(), then=Value(Score.Exclusion.RECORDING.value)),
        When(state__in=UNFINISHED, then=Value(Score.Exclusion.UNFINISHED.value)),
        default=Value(""),
    )


def shown_draw(draw: dict[str, Any], dialogue: str) -> dict[str, Any]:
    """The stored draw with the dialogue's public code in the place of its key."""
    return {**draw, "chosen": dialogue} if "chosen" in draw else draw


_WHERE = ("", "revises__")  # a revised score shares the fate of the one it revises
EXCLUSIONS = tuple(f"{at}{name}" for at in _WHERE for name in ("exclusion", "item__exclusion"))
STATES = tuple(f"{at}item__state" for at in _WHERE)


def score_exclusion(*known: Any) -> str:
    """Why a score is not analysed: ``EXCLUSIONS``, ``STATES``, the dialogue's key, dialogues withdrawn."""
    *stored, state, raw_state, dialogue, gone = known
    for reason in stored:
        if reason:
            return str(reason)
    if dialogue in gone:
        return Score.Exclusion.RECORDING.value
    unfinished = state in UNFINISHED or raw_state in UNFINISHED
    return Score.Exclusion.UNFINISHED.value if unfinished else ""


def score_exclusion_in_sql(study: Study) -> Any:
    return Case(
        *(When(**{f"{lookup}__gt": ""}, then=F(lookup)) for lookup in EXCLUSIONS),
        When(of_withdrawn(), then=Value(Score.Exclusion.RECORDING.value)),
        *(When(**{f"{at}__in": UNFINISHED}, then=Value(Score.Exclusion.UNFINISHED.value)) for at in STATES),
        default=Value(""),
    )


PURPOSES = tuple(f"{at}{name}" for at in _WHERE for name in ("item__purpose", "purpose"))


def score_purpose(*stored: str | None) -> str:
    return next((str(one) for one in stored if one), "")


def score_purpose_in_sql(study: Study) -> Any:
    return Coalesce(*(NullIf(F(one), Value("")) for one in PURPOSES))


def score_source(item: int | None, resolution: int | None) -> str:
    """Where a score comes from: one of ``SOURCES``."""
    return SOURCES[0] if item is not None else SOURCES[1] if resolution is not None else SOURCES[2]


def _score_source_in_sql(study: Study) -> Any:
    return Case(
        When(item__isnull=False, then=Value(SOURCES[0])),
        When(resolution_of__isnull=False, then=Value(SOURCES[1])),
        default=Value(SOURCES[2]),
    )


BATCHES = dataset(
    "batches",
    "Batches of dialogues that annotators were given",
    models=("annotation.Batch",),
    query=_batches,
    primary_key=("participant", "batch"),
    columns=(
        column("participant", "code of the person", "annotator__participant__code"),
        column("batch", "number of the person's batch, from 1", "number", type="integer"),
        column("kind", "calibration or work", levels=Batch.Kind.values),
        column("calibration", "number of the calibration it belongs to", "attempt__number", type="integer"),
        column("state", "what became of it", levels=Batch.State.values),
        column("started_at", "when it began", type="datetime"),
        column("lease_until", "until when it was held for the person", type="datetime"),
        column("finished_at", "when it was finished", type="datetime"),
        column("seen_at", "when its feedback or summary was shown", type="datetime"),
    ),
)

ITEMS = dataset(
    "annotation_items",
    "Every dialogue put to an annotator: what for, how it was drawn and heard, the final choice",
    models=("annotation.BatchItem",),
    query=_items,
    language="dialogue__language",
    primary_key=("rater", "dialogue", "repeat"),
    counted="exclusion",
    outcomes=True,
    columns=(
        *rater_columns(),
        dialogue_column(),
        column("batch", "number of the person's batch", "batch__number", type="integer"),
        column("position", "place in the batch, from 1", type="integer"),
        column("purpose", "what it was put for", levels=Purpose.values),
        column("layer", "arm: raters, or experts without the truth", levels=Layer.values),
        column("repeat", "0, or the number of the hidden repeat", type="integer"),
        column("place", "which of the dialogue's places it holds; only work holds one", type="integer"),
        column("state", "what became of it", levels=Item.values),
        column("choice", "the final choice", levels=Nature.values),
        column("first_choice", "what was chosen first, before any change", levels=Nature.values),
        column("confidence", "1 unsure to 5 certain", type="integer", unit="step"),
        column("human_left", "“human” stood left", "batch__annotator__human_left", type="boolean"),
        column("known", "the person knows the recording", type="boolean"),
        column("failure", "what failed, where the sound did"),
        column(
            "draw",
            "all that decided the draw: seed, counter, build version, how many candidates, the one chosen",
            ("draw", "dialogue__code"),
            type="object",
            make=shown_draw,
            sql=lambda study: Replaced(F("draw"), "chosen", F("dialogue__code")),
        ),
        column("heard", "share of the clip that was heard", type="number", unit="share"),
        column("gate", "what unlocked the scores", levels=("ended", "covered", "timeout")),
        column("ranges", "stretches played at speed 1, as pairs of seconds", type="array", unit="s"),
        column("plays", "times that playing was started", type="integer"),
        column("pauses", "pauses while playing", type="integer"),
        column("slowest", "slowest speed it was heard at", type="number"),
        column("slow_seconds", "time heard at less than speed 1", type="number", unit="s"),
        column("hidden_seconds", "time for which the page was not in view", type="number", unit="s"),
        column("active_seconds", "time worked on it", type="number", unit="s"),
        column(
            "exclusion",
            "why what was said of it is not analysed; empty where it is",
            ("exclusion", "state", "dialogue"),
            levels=REASONS,
            make=item_exclusion,
            beside=_gone,
            sql=_item_exclusion_in_sql,
        ),
        column("given_at", "when it was given", type="datetime"),
        column("opened_at", "when it was first shown", type="datetime"),
        column("first_play_at", "when playing began", type="datetime"),
        column("whole_at", "when it had been heard whole at speed 1", type="datetime"),
        column("chosen_at", "when the final choice was made", type="datetime"),
        column("finished_at", "when it was finished", type="datetime"),
    ),
)

SCORES = dataset(
    "scores",
    "Scores of single dimensions, in three layers of labels",
    models=("annotation.Score",),
    query=_scores,
    language="dialogue__language",
    primary_key=("rater", "dialogue", "taxonomy", "taxonomy_version", "dimension", "layer", "repeat"),
    counted="exclusion",
    outcomes=True,
    columns=(
        *rater_columns(),
        dialogue_column(),
        *dimension_columns(),
        column("category", "key of the dimension's category", "dimension__category__key"),
        column(
            "layer",
            "raw: raters; blind-expert: experts without the truth; truth-shown: revised with it in sight",
            levels=Layer.values,
        ),
        column("repeat", "0, or the number of the hidden repeat", type="integer"),
        column(
            "purpose",
            "what the dialogue was put to the rater for; empty where a file did not say",
            PURPOSES,
            levels=Purpose.values,
            make=score_purpose,
            sql=score_purpose_in_sql,
        ),
        *value_columns("the score"),
        column(
            "first_score", "the score first given, where it was changed", "first_value", type="integer",
            unit="step",
        ),
        column("first_evidence", "whether that one had evidence", type="boolean"),
        column("changes", "how often it was changed", type="integer"),
        column(
            "source",
            "given here, agreed in review, or taken from a file",
            ("item", "resolution_of"),
            levels=SOURCES,
            make=score_source,
            sql=_score_source_in_sql,
        ),
        column(
            "exclusion",
            "why it is not analysed; empty where it is",
            (*EXCLUSIONS, *STATES, "dialogue"),
            levels=REASONS,
            make=score_exclusion,
            beside=_gone,
            sql=score_exclusion_in_sql,
        ),
        column("given_at", "when it was first given, or agreed", type="datetime"),
        column("changed_at", "when it was last changed; empty if never", type="datetime"),
    ),
)  # fmt: skip

TABLES = (BATCHES, ITEMS, SCORES)
