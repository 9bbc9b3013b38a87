"""What every view of an annotator's work shares: finding their place, reading scores, answering as asked."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from annotation import presenters, selectors
from annotation.services import batches
from annotation.services.batches import WAITING, Place
from annotation.services.listening import Listening
from annotation.services.scoring import scores_of
from dialogues.listening import finite
from studies import selectors as positions
from studies.models import Participant
from studies.services import begin
from studies.views import edge
from studies.views.edge import Data, unreadable

MOST_SCORES = 200  # of one request; a taxonomy has some twenty
MOST_DIGITS = 9  # of a number in a form: more than any score, version or confidence has
#: A refused form goes back to where the person is, with the reason as a message.
annotator_post = edge.posting("annotation:play", nested=("ranges",))


def place_of(participant: Participant) -> Place | HttpResponse:
    """Where the person is, or the way to what comes before it (language, profile)."""
    if participant.state == Participant.State.CONSENTED:
        step = positions.position(participant)
        if step.name in ("language", positions.PROFILE):
            return redirect(step.url)
        begin(participant=participant)
    return batches.start_or_resume(participant=participant, now=timezone.now())


def url_of(place: Place) -> str:
    study = place.annotator.participant.study
    if place.name == "done" and place.batch is not None:
        return presenters.address("done", study, place.batch.number)
    if place.name == "over":
        return reverse("studies:go", args=[study.slug])
    if place.name in WAITING:
        return presenters.address("pause", study)
    name = "calibration" if place.name == "failed" else place.name
    return presenters.address(name, study)


def item_of(place: Place) -> Data:
    """The JSON object of the place's item."""
    assert place.item is not None  # noqa: S101  (asked for places in a batch)
    assert place.batch is not None  # noqa: S101
    scores = scores_of(place.item, place.settings)
    items = selectors.items_that_count(place.batch)
    return presenters.item_json(place, scores, items, timezone.now())


def place_json(place: Place) -> Data:
    """``item``, or ``goto`` where the person is on another page."""
    return {"item": item_of(place)} if place.name == "batch" else {"goto": url_of(place)}


def answer_place(request: HttpRequest, place: Place) -> HttpResponse:
    """The place as JSON, or for a form a redirect to it."""
    if edge.is_json(request):
        return JsonResponse(place_json(place))
    return redirect(url_of(place))


def seconds_of(data: Data) -> float | None:
    """Seconds of work since the last sign, as the page counted them."""
    value = data.get("active")
    if value in (None, ""):
        return None
    try:
        return max(finite(value), 0.0)
    except (TypeError, ValueError, OverflowError) as error:
        raise unreadable() from error


def report_of(data: Data) -> Listening | None:
    """The listening report beside scores, where there is one."""
    return Listening.parse(data["listening"]) if data.get("listening") else None


def scores_sent(data: Data) -> dict[str, Any]:
    """Scores by key, from a JSON body or from the fields of a form."""
    found = data.get("scores") or {}
    if not isinstance(found, dict):
        raise unreadable()
    for field, value in data.items():
        if field.startswith("score-"):
            key = field.removeprefix("score-")
            found[key] = {"value": _number(value), "version": _number(data.get(f"version-{key}"))}
    if len(found) > MOST_SCORES:
        raise unreadable()
    return found


def typed_in(data: Data) -> dict[str, int | str]:
    """What a plain form was filled in with, as far as the page can show it again: scores by key, ``choice``,
    ``confidence``.
    """
    found: dict[str, int | str] = {}
    for field, value in data.items():
        step = _number(value)
        if field.startswith("score-") and step in range(6):
            found[field] = int(step)
    if data.get("choice") in ("human", "machine"):
        found["choice"] = str(data["choice"])
    if _number(data.get("confidence")) in range(1, 6):
        found["confidence"] = int(data["confidence"])
    return found


def choice_sent(data: Data) -> Any:
    """The choice with its confidence, from a JSON body or from the fields of a form; None without one."""
    choice = data.get("choice")
    if not isinstance(choice, str):
        return choice
    if not choice:
        return None
    confidence = data.get("confidence")
    return {
        "value": choice,
        "confidence": None if confidence in (None, "") else _number(confidence),
        "version": _number(data.get("version-choice")),
    }


def _number(value: Any) -> Any:
    """A whole number as a form writes it; what is none stays as it is, and is refused by the rule."""
    if isinstance(value, str) and len(value) <= MOST_DIGITS and value.isascii() and value.isdigit():
        return int(value)
    return value
