"""Annotators: their state, calibrations, what they read, when they worked."""

from __future__ import annotations

from django.db.models import Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.datasets.parts import of_annotators_present
from annotation.models import Annotator, Attempt, GuidelineConfirmation, Layer, WorkSession
from studies.models import Study
from studies.tidy import column, dataset

PARTICIPANT = "annotator__participant__code"
BLIND_LAYERS = tuple(value for value in Layer.values if value != Layer.TRUTH_SHOWN)


def _present(study: Study) -> Q:
    return Q(annotator__participant__study=study) & of_annotators_present()


def _annotators(study: Study) -> QuerySet[Annotator]:
    return Annotator.objects.filter(of_annotators_present("participant"), participant__study=study).order_by(
        "joined_at", "pk"
    )


def _attempts(study: Study) -> QuerySet[Attempt]:
    return Attempt.objects.filter(_present(study)).order_by("annotator", "number")


def _confirmations(study: Study) -> QuerySet[GuidelineConfirmation]:
    return GuidelineConfirmation.objects.filter(_present(study)).order_by("pk")


def _sessions(study: Study) -> QuerySet[WorkSession]:
    number = Window(RowNumber(), partition_by="annotator", order_by=("started_at", "pk"))
    return (
        WorkSession.objects.filter(_present(study))
        .annotate(number=number)
        .order_by("annotator", "started_at", "pk")
    )


ANNOTATORS = dataset(
    "annotators",
    "People who annotate",
    models=("annotation.Annotator", "annotation.Invitation"),
    query=_annotators,
    primary_key=("participant",),
    columns=(
        column("participant", "code of the person", "participant__code"),
        column("layer", "arm: raters, or experts without the truth", levels=BLIND_LAYERS),
        column("state", "how far they came", levels=Annotator.State.values),
        column("category_order", "order in which they see the categories, drawn once", type="array"),
        column("human_left", "the answer “human” stands left", type="boolean"),
        column("keys_off", "keys switched off", type="boolean"),
        column("joined_at", "when they joined", type="datetime"),
        column("passed_at", "when they passed calibration", type="datetime"),
        column("paused_at", "when they were paused; empty while they may work", type="datetime"),
        column("paused_reason", "why they were paused", tier="internal"),
        column("invitation", "label of the link by which they came", "invitation__label", tier="internal"),
    ),
)

CALIBRATIONS = dataset(
    "calibrations",
    "Tries at calibration, with the figures that decided",
    models=("annotation.Attempt",),
    query=_attempts,
    primary_key=("participant", "calibration"),
    columns=(
        column("participant", "code of the person", PARTICIPANT),
        column("calibration", "number of the try, from 1", "number", type="integer"),
        column("state", "running, passed or failed", levels=Attempt.State.values),
        column("dialogues", "dialogues scored", type="integer", unit="dialogues"),
        column("compared", "scores with evidence on both sides", type="integer", unit="scores"),
        column(
            "mean_difference",
            "mean absolute difference from the reference, where both have evidence",
            type="number",
            unit="step",
        ),
        column("clear", "clear scores of the reference (1, 2, 4, 5)", type="integer", unit="scores"),
        column("clear_share", "share of them on the right side", type="number", unit="share"),
        column(
            "against", "share of the clear scores that point against the truth", type="number", unit="share"
        ),
        column(
            "choices_right",
            "final choices that were right; recorded, they decide nothing",
            type="integer",
            unit="dialogues",
        ),
        column("started_at", "when it began", type="datetime"),
        column("ended_at", "when it ended", type="datetime"),
    ),
)

CONFIRMATIONS = dataset(
    "guideline_confirmations",
    "Guidelines that annotators confirmed to have read",
    models=("annotation.GuidelineConfirmation",),
    query=_confirmations,
    primary_key=("participant", "taxonomy", "taxonomy_version", "sha256"),
    columns=(
        column("participant", "code of the person", PARTICIPANT),
        column("taxonomy", "name of the taxonomy", "taxonomy__name"),
        column("taxonomy_version", "its version", "taxonomy__version", type="integer"),
        column("sha256", "SHA-256 of the words that were read"),
        column("language", "language in which they were read"),
        column("seconds", "time on the page before confirming", type="integer", unit="s"),
        column("given_at", "when it was confirmed", type="datetime"),
    ),
)

SESSIONS = dataset(
    "work_sessions",
    "Stretches of work without a long gap, with the time that is paid",
    models=("annotation.WorkSession",),
    query=_sessions,
    primary_key=("participant", "session"),
    columns=(
        column("participant", "code of the person", PARTICIPANT),
        column("session", "number of the person's stretch, from 1", "number", type="integer"),
        column("started_at", "first sign of work", type="datetime"),
        column("last_at", "last sign of work", type="datetime"),
        column(
            "active_seconds",
            "time between signs of work, each gap at most idle_seconds",
            type="number",
            unit="s",
        ),
        column("since_break", "active time since the last break", type="number", unit="s"),
        column("breaks_offered", "breaks offered", type="integer"),
        column("breaks_taken", "breaks taken", type="integer"),
        column("ended_at", "when it was ended; empty while it goes on", type="datetime"),
    ),
)

TABLES = (ANNOTATORS, CALIBRATIONS, CONFIRMATIONS, SESSIONS)
