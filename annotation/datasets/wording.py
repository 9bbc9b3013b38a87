"""What is scored and by which rules: settings, taxonomies, dimensions in both languages."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotation.models import (
    AnnotationSettings,
    Dimension,
    GuidelineConfirmation,
    ReferenceScore,
    Score,
    Taxonomy,
)
from studies.models import Study
from studies.tidy import column, dataset


def _settings(study: Study) -> QuerySet[AnnotationSettings]:
    return AnnotationSettings.objects.filter(study=study)


def _used(study: Study) -> Q:
    """Taxonomies that the study's settings, people or scores go by."""
    return (
        Q(pk__in=AnnotationSettings.objects.filter(study=study).values("taxonomy"))
        | Q(pk__in=Score.objects.filter(study=study).values("dimension__taxonomy"))
        | Q(pk__in=ReferenceScore.objects.filter(reference__study=study).values("dimension__taxonomy"))
        | Q(
            pk__in=GuidelineConfirmation.objects.filter(annotator__participant__study=study).values(
                "taxonomy"
            )
        )
    )


def _taxonomies(study: Study) -> QuerySet[Taxonomy]:
    return Taxonomy.objects.filter(_used(study)).order_by("name", "version")


def _dimensions(study: Study) -> QuerySet[Dimension]:
    return Dimension.objects.filter(taxonomy__in=Taxonomy.objects.filter(_used(study))).order_by(
        "taxonomy__name", "taxonomy__version", "position"
    )


SETTINGS = dataset(
    "annotation_settings",
    "How the study annotates",
    models=("annotation.AnnotationSettings",),
    query=_settings,
    primary_key=("study",),
    columns=(
        column("study", "address of the study", "study__slug"),
        column("taxonomy", "name of the taxonomy scored by", "taxonomy__name"),
        column("taxonomy_version", "its version", "taxonomy__version", type="integer"),
        column("batch_size", "dialogues in a batch", type="integer"),
        column("raters", "raters per dialogue", type="integer"),
        column("expert_raters", "blind experts per dialogue", type="integer"),
        column("reviewers", "reviewers per score", type="integer"),
        column("lease_minutes", "time until a batch left alone goes back", type="integer", unit="min"),
        column("max_batches", "batches per person, 0 for no limit", type="integer"),
        column("least_batches", "batches that count as done", type="integer"),
        column("calibration", "people are calibrated before they work", type="boolean"),
        column("calibration_dialogues", "dialogues in a calibration", type="integer"),
        column("calibration_difference", "largest mean difference to pass", type="number", unit="step"),
        column(
            "calibration_clear", "least share of clear scores on the right side", type="number", unit="share"
        ),
        column(
            "calibration_against",
            "share of the reference's clear scores that point against the truth",
            type="number",
            unit="share",
        ),
        column("calibration_tries", "calibrations a person may try", type="integer"),
        column("repeat_share", "share of hidden repeats", type="number", unit="share"),
        column("repeat_after_batches", "batches before a repeat", type="integer"),
        column("repeat_after_hours", "time before a repeat", type="integer", unit="h"),
        column("gold_share", "share of dialogues with known scores", type="number", unit="share"),
        column("break_minutes", "active time until a break is offered", type="integer", unit="min"),
        column("idle_seconds", "longest time without a sign that counts as work", type="integer", unit="s"),
        column("rate_per_hour", "pay per hour, in the study's currency", type="number"),
    ),
)

TAXONOMIES = dataset(
    "taxonomies",
    "Taxonomies that the study's scores go by, with the words that annotators read",
    models=("annotation.Taxonomy",),
    query=_taxonomies,
    primary_key=("taxonomy", "taxonomy_version"),
    columns=(
        column("taxonomy", "its name", "name"),
        column("taxonomy_version", "its version", "version", type="integer"),
        column("title_en", "title in English"),
        column("title_zh", "title in Chinese"),
        column("summary_en", "what it is, in English"),
        column("summary_zh", "what it is, in Chinese"),
        column("source", "where it comes from"),
        column("scale", "words for the points of the scale; 0 is no evidence", type="object"),
        column("guidelines", "the guidelines, in both languages", type="object"),
        column("sha256", "SHA-256 of all its words, set when it is frozen"),
        column("frozen_at", "when somebody first worked by it", type="datetime"),
    ),
)

DIMENSIONS = dataset(
    "dimensions",
    "What is scored, in the words that annotators read",
    models=("annotation.Dimension", "annotation.Category"),
    query=_dimensions,
    primary_key=("taxonomy", "taxonomy_version", "dimension"),
    columns=(
        column("taxonomy", "name of the taxonomy", "taxonomy__name"),
        column("taxonomy_version", "its version", "taxonomy__version", type="integer"),
        column("dimension", "key of the dimension", "key"),
        column("position", "place in the taxonomy, from 1", type="integer"),
        column("category", "key of its category", "category__key"),
        column("category_position", "place of the category, from 1", "category__position", type="integer"),
        column("category_en", "name of the category in English", "category__name_en"),
        column("category_zh", "name of the category in Chinese", "category__name_zh"),
        column("name_en", "name in English"),
        column("name_zh", "name in Chinese"),
        column("low_en", "the machine-like end (1) in English"),
        column("low_zh", "the machine-like end (1) in Chinese"),
        column("high_en", "the human-like end (5) in English"),
        column("high_zh", "the human-like end (5) in Chinese"),
        column("description_en", "description in English"),
        column("description_zh", "description in Chinese"),
        column("examples_en", "examples in English", type="array"),
        column("examples_zh", "examples in Chinese", type="array"),
    ),
)

TABLES = (SETTINGS, TAXONOMIES, DIMENSIONS)
