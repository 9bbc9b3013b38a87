"""Calibration as its person sees it: where it stands, and after a batch where they differ from the reference.

Known scores are shown, what speaker B was is not: whoever learned that here would learn to hear it in scores.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from django.urls import reverse

from annotation.guideline_presenters import categories, limits, per_cent
from annotation.models import AnnotationSettings, Attempt, Batch, BatchItem
from annotation.selectors import number_of
from annotation.services.calibration import Standing, standing
from annotation.services.calibration_figures import Compared, compared, running_figures
from studies.models import Participant

MIDDLE = 3


def calibration_page(participant: Participant, settings: AnnotationSettings, at: Standing) -> dict[str, Any]:
    """The page before the first batch, between batches, and where it does not go on."""
    return {
        **_frame(participant, settings),
        "standing": at,
        "batches": math.ceil(settings.calibration_dialogues / settings.batch_size),
        "batch_size": settings.batch_size,
        "tries_left": max(at.tries - at.number, 0),
    }


def feedback_page(batch: Batch, participant: Participant, settings: AnnotationSettings) -> dict[str, Any]:
    """A finished batch: the dimensions on which own and known scores differ, by dialogue; how the attempt
    stands against the limits; what comes next.
    """
    attempt = batch.attempt
    assert attempt is not None  # noqa: S101  (only calibration batches come here)
    at = standing(batch.annotator, settings)
    return {
        **_frame(participant, settings),
        "standing": at,
        "number": number_of(batch),
        "items": [_item(item, rows) for item, rows in _by_item(batch, compared(attempt, batch), settings)],
        "figures": _figures(attempt, settings),
        "attempt": {"number": attempt.number, "state": attempt.state},
        "tries_left": max(at.tries - attempt.number, 0),
    }


def _frame(participant: Participant, settings: AnnotationSettings) -> dict[str, Any]:
    args = [participant.study.slug]
    return {
        "study": participant.study,
        "participant": participant,
        "limits": limits(settings),
        "paid": settings.rate_per_hour is not None,
        "contact": participant.study.contact,
        "urls": {
            "guidelines": reverse("annotation:guidelines", args=args),
            "calibration": reverse("annotation:calibration", args=args),
            "play": reverse("annotation:play", args=args),
            "leave": reverse("studies:leave", args=args),
            "end": reverse("studies:debrief", args=args),
            "go": reverse("studies:go", args=args),
        },
    }


def _figures(attempt: Attempt, settings: AnnotationSettings) -> dict[str, Any]:
    """How the attempt stands: over what is finished while it runs, as stored once it has ended."""
    now = attempt if attempt.state != Attempt.State.RUNNING else running_figures(attempt)
    near, right = now.mean_difference, now.clear_share
    return {
        "dialogues": now.dialogues,
        "needed": max(settings.calibration_dialogues, now.dialogues),
        "difference": None if near is None else f"{near:.2f}",
        "near_enough": near is not None and near <= settings.calibration_difference,
        "right": None if right is None else round(right * now.clear),
        "share": "" if right is None else per_cent(right),
        "clear": now.clear,
        "right_enough": right is None or right >= settings.calibration_clear,
    }


def _by_item(
    batch: Batch, rows: list[Compared], settings: AnnotationSettings
) -> list[tuple[BatchItem, list[dict[str, Any]]]]:
    """The batch's finished items, each with its differences, the largest first."""
    words = {one["key"]: one for group in categories(settings.taxonomy) for one in group["dimensions"]}
    places = {key: place for place, key in enumerate(words)}
    differences: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.dimension in words and _differs(row):
            differences[row.item].append(_difference(row, words[row.dimension]))
    for found in differences.values():
        found.sort(key=lambda one: (-one["apart"], not one["side"], places[one["key"]]))
    items = batch.items.filter(state=BatchItem.State.FINISHED).select_related("dialogue", "exposure")
    return [(item, differences[item.pk]) for item in items.order_by("position")]


def _differs(row: Compared) -> bool:
    both_silent = math.isnan(row.own) and math.isnan(row.known)
    return not both_silent and row.own != row.known


def _difference(row: Compared, words: dict[str, Any]) -> dict[str, Any]:
    """``apart`` in steps, 0 where one of the two heard no evidence; ``side`` as ``_off_side`` says it."""
    own, known = (None if math.isnan(value) else int(value) for value in (row.own, row.known))
    return {
        **words,
        "own": own,
        "known": known,
        "apart": abs(own - known) if own is not None and known is not None else 0,
        "side": _off_side(own, known),
        "cells": [{"value": value, "own": value == own, "known": value == known} for value in range(1, 6)],
    }


def _off_side(own: int | None, known: int | None) -> str:
    """Of a clear known score: whether the own one is on the "other" side or on "neither"; "" otherwise."""
    if _side(known) == 0 or _side(own) == _side(known):
        return ""
    return "other" if _side(own) else "neither"


def _side(value: int | None) -> int:
    """-1 below the middle, 1 above it, 0 on it and for no evidence."""
    return 0 if value is None else (value > MIDDLE) - (value < MIDDLE)


def _item(item: BatchItem, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "position": item.position,
        "audio": reverse("dialogues:media", args=[item.exposure.token]),
        "rows": rows,
    }
