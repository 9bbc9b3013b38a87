"""Expert review and the scores that are known. Reviewers appear under codes; their words are not public."""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, Case, F, Q, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

from annotation.datasets.parts import (
    dialogue_column,
    dimension_columns,
    rater_of_score,
    reviewer_column,
    value_columns,
)
from annotation.models import (
    Layer,
    ReferenceDialogue,
    ReferenceScore,
    Resolution,
    ReviewCase,
    ReviewComment,
    ReviewDecision,
)
from studies.models import Study
from studies.tidy import Made, column, dataset

_PRESENT = Q(score__rater__participant__isnull=True) | Q(score__rater__participant__erased_at=None)
SCORE_KEY = ("rater", "dialogue", "taxonomy", "taxonomy_version", "dimension", "layer", "repeat")


def _cases(study: Study) -> QuerySet[ReviewCase]:
    return ReviewCase.objects.filter(study=study).order_by("pk")


def _decisions(study: Study) -> QuerySet[ReviewDecision]:
    number = Window(RowNumber(), partition_by=("score", "reviewer"), order_by="pk")
    found = ReviewDecision.objects.filter(_PRESENT, case__study=study)
    return found.annotate(number=number).order_by("pk")


def _comments(study: Study) -> QuerySet[ReviewComment]:
    number = Window(RowNumber(), partition_by="case", order_by=("given_at", "pk"))
    return (
        ReviewComment.objects.filter(case__study=study)
        .annotate(number=number)
        .order_by("case", "given_at", "pk")
    )


def _resolutions(study: Study) -> QuerySet[Resolution]:
    return Resolution.objects.filter(_PRESENT, case__study=study).order_by("pk")


def _references(study: Study) -> QuerySet[ReferenceScore]:
    return ReferenceScore.objects.filter(reference__study=study).order_by(
        "reference", "dimension__taxonomy", "dimension__position"
    )


def _of_score() -> tuple[Made, ...]:
    """What tells the score apart that a row is about."""
    return (
        rater_of_score(),
        dialogue_column("score__dialogue__code"),
        *dimension_columns("score__dimension"),
        column("layer", "layer of the score under review", "score__layer", levels=Layer.values),
        column("repeat", "0, or the number of the hidden repeat", "score__repeat", type="integer"),
    )


def is_changed(before: int, heard: bool, after: int, heard_after: bool) -> bool:
    """Whether a score is another one after review; the published coding alone does not tell."""
    return (before, heard) != (after, heard_after)


def _is_changed_in_sql(study: Study) -> Any:
    same = Q(score__value=F("result__value"), score__evidence=F("result__evidence"))
    return Case(When(same, then=Value(False)), default=Value(True), output_field=BooleanField())


CASES = dataset(
    "reviews",
    "Dialogues whose scores are reviewed",
    models=("annotation.ReviewCase",),
    query=_cases,
    language="dialogue__language",
    primary_key=("dialogue",),
    columns=(
        dialogue_column(),
        column("state", "how far the review is", levels=ReviewCase.State.values),
        column("disagreement", "what orders the queue: how far the raters are apart", type="number"),
        column("made_at", "when it joined the queue", type="datetime"),
        column("closed_at", "when it was closed", type="datetime"),
    ),
)

DECISIONS = dataset(
    "review_decisions",
    "What each reviewer decided on each score; later decisions supersede earlier ones, none is removed",
    models=("annotation.ReviewDecision",),
    query=_decisions,
    language="case__dialogue__language",
    primary_key=(*SCORE_KEY, "reviewer", "number"),
    outcomes=True,
    columns=(
        *_of_score(),
        reviewer_column("code of the reviewer in this study", "reviewer"),
        column("number", "which of the reviewer's decisions on this score, from 1", type="integer"),
        column("decision", "approved, or another score proposed", levels=ReviewDecision.Decision.values),
        *value_columns("the score approved or proposed"),
        column("in_lot", "approved together with the others of the dialogue", type="boolean"),
        column("reason", "why, in the reviewer's words", tier="controlled"),
        column("given_at", "when it was decided", type="datetime"),
        column("superseded_at", "when a later decision replaced it", type="datetime"),
    ),
)

COMMENTS = dataset(
    "review_comments",
    "Discussion among reviewers",
    models=("annotation.ReviewComment",),
    query=_comments,
    language="case__dialogue__language",
    primary_key=("dialogue", "number"),
    columns=(
        dialogue_column("case__dialogue__code"),
        column("number", "place in the discussion of the dialogue, from 1", type="integer"),
        *dimension_columns(),
        reviewer_column("code of the reviewer in this study", "author"),
        column("comment", "what was said", "text", tier="controlled"),
        column("given_at", "when it was said", type="datetime"),
    ),
)

RESOLUTIONS = dataset(
    "review_resolutions",
    "How the review of each score ended: before and after",
    models=("annotation.Resolution",),
    query=_resolutions,
    language="case__dialogue__language",
    primary_key=SCORE_KEY,
    outcomes=True,
    columns=(
        *_of_score(),
        column("how", "how it came to an end", levels=Resolution.How.values),
        column(
            "score_before", "the score before review (3 without evidence)", "score__value", type="integer",
            unit="step",
        ),
        column("evidence_before", "it had evidence", "score__evidence", type="boolean"),
        *value_columns("the score after review", "result__value", "result__evidence"),
        column(
            "changed",
            "it is another score than before, or has evidence where it had none, or the other way round",
            ("score__value", "score__evidence", "result__value", "result__evidence"),
            type="boolean",
            make=is_changed,
            sql=_is_changed_in_sql,
        ),
        reviewer_column("code of the reviewer who closed a discussion", "closed_by"),
        column("reason", "why, in the reviewers' words", tier="controlled"),
        column("closed_at", "when it was closed", type="datetime"),
    ),
)  # fmt: skip

REFERENCES = dataset(
    "reference_scores",
    "Scores that are known: of calibration dialogues and gold items",
    models=("annotation.ReferenceScore", "annotation.ReferenceDialogue"),
    query=_references,
    language="reference__dialogue__language",
    primary_key=("dialogue", "taxonomy", "taxonomy_version", "dimension"),
    outcomes=True,
    columns=(
        dialogue_column("reference__dialogue__code"),
        column("role", "what the dialogue is for", "reference__role", levels=ReferenceDialogue.Role.values),
        *dimension_columns(),
        *value_columns("the known score"),
        column("source", "where it comes from: review, import, bots", "reference__source"),
        column("is_active", "still given to people", "reference__is_active", type="boolean"),
        column("added_at", "when it was added", "reference__added_at", type="datetime"),
    ),
)

TABLES = (CASES, DECISIONS, COMMENTS, RESOLUTIONS, REFERENCES)
