"""All seats of a preview side by side, for one researcher: the game as players meet it, with its agent."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dialogues.models import Nature
from games.group.models import Game
from games.group.selectors import topic_of
from games.group.services.previewing import open_preview
from games.group.services.settings import settings_of
from games.room.models import Seat
from studies.selectors import access_desk_study
from turingsite.desk.group_doors import access
from turingsite.desk.group_forms import PreviewForm
from turingsite.desk.group_words import thinking_of
from turingsite.errors import DomainError, NotFound


def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """In which language and with which agent; POST starts the game and leads to its seats."""
    study = access_desk_study(slug, request.user)
    settings = settings_of(study)
    form = PreviewForm(request.POST if request.method == "POST" else None, settings=settings)
    if request.method == "POST" and form.is_valid():
        try:
            game = open_preview(study=study, user=request.user, now=timezone.now(), **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            return redirect("admin:desk_group_seats", slug, game.code)
    context = {"study": study, "title": _("Open all seats"), "form": form, "people": settings.people}
    return render(request, "desk/group_preview.html", context, status=400 if form.errors else 200)


@never_cache
@require_safe
def seats(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """Each seat of a preview as a live column; other games have people at them."""
    found = access(request, slug, code)
    if not found.room.is_preview:
        raise NotFound("no_page", _("There is nothing at this address."))
    context = {
        "study": found.study,
        "game": found,
        "room": found.room,
        "title": _("All seats of game %(number)s") % {"number": found.number},
        "topic": topic_of(found, found.room.language),
        "agent": found.agent,
        "thinking": thinking_of(found.agent) if found.agent else "",
        "seats": [_column(found, seat) for seat in found.room.seats.order_by("position")],
    }
    return render(request, "desk/group_seats.html", context)


def _column(game: Game, seat: Seat) -> dict[str, Any]:
    slug = game.study.slug

    def address(name: str) -> str:
        return f"{reverse(f'room:{name}', args=[slug])}?seat={seat.code}"

    return {
        "seat": seat,
        "is_machine": seat.nature == Nature.MACHINE,
        "socket": f"/ws/s/{slug}/room/?seat={seat.code}",
        "log": address("log"),
        "send": address("send"),
        "act": address("act"),
    }
