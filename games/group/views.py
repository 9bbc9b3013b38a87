"""Pages and requests of the group game: waiting room, live room, survey. All work as plain forms.

What is sent inside the room goes to ``games.room``. Polls get JSON; forms a redirect to where the person is.
"""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from games.group import presenters
from games.group.models import Ticket
from games.group.selectors import (
    Place,
    has_answered,
    is_over_for,
    may_play_again,
    newest_seat,
    open_ticket,
    place_of,
    survey_of,
)
from games.group.services import lobby
from games.group.services.settings import settings_of
from games.group.services.settling import settle_person
from games.group.services.surveys import answer_survey
from games.room.services import note_seen
from studies import access, selectors
from studies.forms import questionnaire_form
from studies.models import Participant
from studies.services import begin
from studies.texts import content_language
from studies.views import edge
from studies.views.edge import OPEN, Data, elsewhere, is_json
from turingsite.errors import Conflict

ENDED = {"paused_ok": True, "ended_ok": True, "closed_ok": True}
participant_post = edge.posting("group:play")


def _url_of(place: Place, participant: Participant) -> str:
    if place.name in ("room", "survey", "over") or (place.name == "wait" and not participant.end_state):
        return presenters.address(place.name, participant.study)
    return reverse("studies:go", args=[participant.study.slug])


def _before(participant: Participant) -> str:
    """The way to what comes before the game (language, profile); "" where nothing does."""
    if participant.state != Participant.State.CONSENTED:
        return ""
    step = selectors.position(participant)
    if step.name in ("language", selectors.PROFILE):
        return step.url
    begin(participant=participant)
    return ""


def _onward(place: Place, participant: Participant, now: datetime) -> str:
    """Where the person goes; who has nothing left to do gets the end that their game left them with."""
    if place.name in ("done", "over") and place.seat is not None and place.game is not None:
        place.seat.participant = participant
        settle_person(seat=place.seat, game=place.game, now=now)
    return _url_of(place, participant)


@never_cache
@require_safe
def play(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the person to where they are."""
    participant = access.participant_of(request, slug, **ENDED)
    before = "" if participant.end_state else _before(participant)
    return elsewhere(request, before or _onward(place_of(participant), participant, timezone.now()))


@never_cache
@require_safe
def wait(request: HttpRequest, slug: str) -> HttpResponse:
    """The waiting room; its page asks again every few seconds, which also shows that somebody is there."""
    participant = access.participant_of(request, slug, **OPEN)
    if before := _before(participant):
        return elsewhere(request, before)
    now = timezone.now()
    place = place_of(participant)
    if place.name != "wait":
        return elsewhere(request, _onward(place, participant, now))
    try:
        ticket = place.ticket or lobby.join(participant=participant, now=now)
    except Conflict as error:
        if error.code != "playing":
            raise
        # The game began between the look at the place and the ticket.
        return elsewhere(request, presenters.address("play", participant.study))
    ticket.participant, ticket.study = participant, participant.study
    lobby.note_waiting(ticket=ticket, now=now)
    lobby.start_all(study=participant.study, language=ticket.language, now=now)
    ticket.refresh_from_db(fields=["state"])
    if ticket.state not in Ticket.OPEN:
        return elsewhere(request, presenters.address("play", participant.study))
    settings = settings_of(participant.study)
    if is_json(request):
        return JsonResponse(presenters.wait_state(ticket, settings, now))
    return render(request, "group/wait.html", presenters.wait_page(participant, ticket, settings, now))


@participant_post
def ready(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    now = timezone.now()
    ticket = lobby.ready(participant=participant, now=now)
    lobby.start_all(study=participant.study, language=ticket.language, now=now)
    return elsewhere(request, presenters.address("play", participant.study))


@participant_post
def keep_waiting(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    lobby.keep_waiting(participant=participant, now=timezone.now())
    return elsewhere(request, presenters.address("wait", participant.study))


@participant_post
def stop_waiting(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    """Leave with the code of those who waited in vain."""
    lobby.stop_waiting(participant=participant, now=timezone.now())
    return elsewhere(request, reverse("studies:go", args=[participant.study.slug]))


@participant_post
def again(request: HttpRequest, participant: Participant, data: Data) -> HttpResponse:
    """Another game, where people may play several."""
    lobby.join(participant=participant, now=timezone.now())
    return elsewhere(request, presenters.address("wait", participant.study))


@never_cache
@require_safe
def room(request: HttpRequest, slug: str) -> HttpResponse:
    """The live room of somebody who plays or watches."""
    participant = access.participant_of(request, slug, **ENDED)
    now = timezone.now()
    place = place_of(participant)
    if place.name != "room" or place.seat is None:
        return elsewhere(request, _onward(place, participant, now))
    if request.method == "GET":
        note_seen(seat_ids=[place.seat.pk], now=now)
    return render(request, "group/room.html", presenters.room_page(participant, place.seat, now))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def survey(request: HttpRequest, slug: str) -> HttpResponse:
    """Questions after a game, for everybody who was in it, however it ended for them."""
    participant = access.participant_of(request, slug, **ENDED)
    now = timezone.now()
    seat = newest_seat(participant)
    if seat is None:
        return redirect(presenters.address("play", participant.study))
    game = seat.room.group_game
    if not is_over_for(seat, game):
        return redirect(presenters.address("room", participant.study))
    sheet = survey_of(game)
    if sheet is None or (request.method != "POST" and has_answered(participant, game)):
        seat.participant = participant
        settle_person(seat=seat, game=game, now=now)
        return redirect(_after(participant))
    form = questionnaire_form(sheet, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        answer_survey(
            participant=participant,
            seat=seat,
            game=game,
            values=form.cleaned_data,
            language=content_language(),
            now=now,
        )
        return redirect(_after(participant))
    context = presenters.survey_page(participant, seat, game, form)
    return render(request, "group/survey.html", context, status=400 if form.is_bound else 200)


def _after(participant: Participant) -> str:
    """Where the survey leads: to another game where there may be one, else on in the study."""
    if may_play_again(participant):
        return presenters.address("over", participant.study)
    return reverse("studies:go", args=[participant.study.slug])


@never_cache
@require_safe
def over(request: HttpRequest, slug: str) -> HttpResponse:
    """Between two games, where people may play several."""
    participant = access.participant_of(request, slug, **ENDED)
    seat = newest_seat(participant)
    waits = open_ticket(participant) is not None
    if (
        seat is None
        or waits
        or not may_play_again(participant)
        or not is_over_for(seat, seat.room.group_game)
    ):
        return redirect(presenters.address("play", participant.study))
    return render(request, "group/over.html", presenters.over_page(participant, seat, seat.room.group_game))
