"""The room by plain requests: the same frames as over the socket, and forms for pages without a script."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from games.room import acting, hub
from games.room.doors import back, onward, seat_of
from games.room.models import Seat
from games.room.presenters import event_frame, room_state
from games.room.rules import rules_of
from games.room.selectors import events_after
from games.room.services import leave_seat, note_seen, raise_concern
from studies import codes
from studies.refusals import translated
from studies.views import edge
from studies.views.edge import Data
from turingsite.errors import Conflict, Gone, Invalid, NotFound, TryLater

SEEN = timedelta(seconds=8)  # between two notes that somebody who polls is there
MOST = 500  # lines in one answer; the page asks again for the rest

Action = Callable[[HttpRequest, Seat, Data], Data]


@never_cache
@require_safe
def log(request: HttpRequest, slug: str) -> HttpResponse:
    """State and lines after ``?after=``; ``goto`` for who has no seat any more."""
    try:
        seat = seat_of(request, slug)
    except (Gone, NotFound) as error:
        if error.code not in ("gone", "left", "no_seat"):
            raise
        return edge.elsewhere(request, str(error.params.get("goto") or onward(slug)))
    now = timezone.now()
    if seat.seen_at is None or now - seat.seen_at > SEEN:
        note_seen(seat_ids=[seat.pk], now=now)
    after = edge.whole(dict(request.GET.items()), "after") or 0
    # The state first: what happens between the two reads then comes twice rather than never.
    state = room_state(seat)
    after = after if 0 <= after <= state["last_seq"] else 0
    lines = events_after(seat.room_id, after, MOST) if state["you"]["may_read"] else []
    return JsonResponse({"state": state, "events": [event_frame(line) for line in lines]})


def _posting(action: Action) -> Callable[[HttpRequest, str], HttpResponse]:
    """A POST by whoever sits at a seat. JSON is answered with what ``action`` says or the error; a form goes
    back to the game, a refusal as a message.
    """

    @never_cache
    @require_POST
    @wraps(action)
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        try:
            seat = seat_of(request, slug)
        except Gone as error:
            if edge.is_json(request) or "goto" not in error.params:
                raise
            return redirect(error.params["goto"])  # pressed twice, or by a page that was left open
        try:
            told = action(request, seat, edge.fields_of(request))
        except (Conflict, Gone, Invalid, NotFound, TryLater) as error:
            if edge.is_json(request):
                raise
            messages.warning(request, translated(error))
            return redirect(back(seat))
        return edge.answer(request, told, lambda: back(seat))

    return view


@_posting
def send(request: HttpRequest, seat: Seat, data: Data) -> Data:
    if not edge.is_json(request):
        data["id"] = data.get("id") or codes.public_code()  # a page without a script makes no ids
    return acting.say(seat.pk, data)


@_posting
def act(request: HttpRequest, seat: Seat, data: Data) -> Data:
    if not edge.is_json(request):
        data["round"] = edge.whole(data, "round")
        if data.get("target") == "":  # the button of who chooses nobody; without it nothing was pressed
            data["target"] = None
    return acting.act(seat.pk, data)


@_posting
def typing(request: HttpRequest, seat: Seat, data: Data) -> Data:
    room = seat.room
    if room.typing and room.writable and seat.out_at is None and rules_of(room).may_read(seat):
        hub.typing(room.pk, seat.code)
    return {}


@_posting
def concern(request: HttpRequest, seat: Seat, data: Data) -> Data:
    raise_concern(
        seat=seat, event_seq=edge.whole(data, "seq"), text=str(data.get("text") or ""), now=timezone.now()
    )
    if not edge.is_json(request):
        messages.success(request, _("Thank you. Somebody of the study will look at it."))
    return {"reported": True}


@_posting
def leave(request: HttpRequest, seat: Seat, data: Data) -> Data:
    """The person goes for good; the others are never told."""
    leave_seat(seat=seat, why=Seat.Left.LEFT, now=timezone.now())
    return {"goto": back(seat)}
