"""What every view of the game shares: finding the person's place, answering as asked."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from games.speech import presenters, services
from games.speech.services import Place
from studies import selectors
from studies.models import Participant
from studies.services import begin
from studies.views import edge
from studies.views.edge import Data

NESTED = ("ranges", "reason")  # fields that hold JSON in a form
#: A refused form goes back to the game with the reason as a message.
participant_post = edge.posting("speech:play", NESTED)


def place_of(participant: Participant) -> Place | HttpResponse:
    """Where the person is in the game, or the way to what comes before it (language, profile)."""
    if participant.state == Participant.State.CONSENTED:
        step = selectors.position(participant)
        if step.name in ("language", selectors.PROFILE):
            return redirect(step.url)
        begin(participant=participant)
    return services.start_or_resume(participant=participant, now=timezone.now())


def url_of(place: Place, participant: Participant) -> str:
    study = participant.study
    if place.name == "check" and place.check is not None:
        return presenters.address("check", study, place.check.code)
    if place.name == "round" and place.round is not None:
        return presenters.address("round", study, place.round.number)
    if place.name in ("sound", "trial", "pause"):
        return presenters.address(place.name, study)
    return reverse("studies:go", args=[study.slug])


def place_json(place: Place, participant: Participant) -> Data:
    """``trial`` or ``goto``, and ``revealed`` for the item just judged where the study reveals after each."""
    if place.name == "trial" and place.trial is not None:
        body: Data = {
            "trial": presenters.trial_json(place.trial, following=place.following, settings=place.settings)
        }
    else:
        body = {"goto": url_of(place, participant)}
    if place.revealed is not None:
        shown = presenters.reveal(place.revealed, place.settings)
        body["revealed"] = {name: shown[name] for name in ("said", "was", "line")}
    return body


def answer(request: HttpRequest, participant: Participant, body: Data) -> HttpResponse:
    """``body`` as JSON, or for a form a redirect to the game, which knows the person's place."""
    return edge.answer(request, body, lambda: presenters.address("play", participant.study))


def answer_place(request: HttpRequest, participant: Participant, place: Place) -> HttpResponse:
    """The place as JSON, or for a form a redirect to it."""
    if edge.is_json(request):
        return JsonResponse(place_json(place, participant))
    return redirect(url_of(place, participant))
