"""Rows of the annotation: taxonomy, settings, annotators, batches, scores, references, review."""

from __future__ import annotations

from annotation.models.people import Annotator, GuidelineConfirmation, Invitation, Layer, WorkSession
from annotation.models.reference import ReferenceDialogue, ReferenceScore
from annotation.models.review import Resolution, ReviewCase, ReviewComment, ReviewDecision
from annotation.models.taxonomy import AnnotationSettings, Category, Dimension, Taxonomy
from annotation.models.work import Attempt, Batch, BatchItem, Score

__all__ = [
    "AnnotationSettings",
    "Annotator",
    "Attempt",
    "Batch",
    "BatchItem",
    "Category",
    "Dimension",
    "GuidelineConfirmation",
    "Invitation",
    "Layer",
    "ReferenceDialogue",
    "ReferenceScore",
    "Resolution",
    "ReviewCase",
    "ReviewComment",
    "ReviewDecision",
    "Score",
    "Taxonomy",
    "WorkSession",
]
