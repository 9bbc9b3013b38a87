"""The levers of a game: more time, the next phase, a player removed, the end. Asked once, then logged."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from dialogues.models import Nature
from games.group.models import Game
from games.group.services import levers
from games.room.models import Seat
from turingsite.desk.doors import tell
from turingsite.desk.group_doors import EXTENSIONS, access, may_watch
from turingsite.desk.group_words import phase_of
from turingsite.errors import Conflict, DomainError, Invalid, NotFound

WORDS = {
    "extend": gettext_lazy("Give more time"),
    "next": gettext_lazy("End this phase"),
    "remove": gettext_lazy("Remove a player"),
    "cancel": gettext_lazy("Stop the game"),
}


@require_POST
def lever(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    found = access(request, slug, code)
    do = request.POST.get("do", "")
    try:
        if do not in WORDS:
            raise Invalid("no_lever", _("Choose what to do with the game."))
        if found.end:
            raise Conflict("over", _("This game is over."))
        seat = _seat(request, found) if do == "remove" else None
        if request.POST.get("sure") != "yes":
            return _asked(request, found, do, seat)
        messages.success(request, _pulled(request, found, do, seat))
    except DomainError as error:
        tell(request, error)
    return redirect("admin:desk_group_game", slug, code)


def _seat(request: HttpRequest, game: Game) -> Seat:
    """The person to remove. Who is a person tells who the AI is, so the game has to be open for it."""
    if not may_watch(request, game):
        raise NotFound("no_page", _("There is nothing at this address."))
    seat = game.room.seats.filter(
        code=request.POST.get("seat", ""), nature=Nature.HUMAN, left_at=None
    ).first()
    if seat is None:
        raise Invalid("no_player", _("Choose a player who is still in the game."))
    return seat


def _seconds(request: HttpRequest) -> int:
    asked = request.POST.get("seconds", "")
    return next((n for n in EXTENSIONS if str(n) == asked), EXTENSIONS[1])


def _end_seen(request: HttpRequest) -> datetime:
    """The end of the phase on the page that asked; what it did not show is nobody's end."""
    try:
        return datetime.fromisoformat(request.POST.get("ends", ""))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _asked(request: HttpRequest, game: Game, do: str, seat: Seat | None) -> HttpResponse:
    """The page that asks before a lever is pulled; it keeps which phase was seen, and its end."""
    context = {
        "study": game.study,
        "game": game,
        "title": WORDS[do],
        "do": do,
        "seat": seat,
        "seconds": _seconds(request),
        "phase": phase_of(game),
        "phase_number": game.room.phase_number,
        "ends": game.room.deadline.isoformat() if game.room.deadline else "",
    }
    return render(request, "desk/group_confirm.html", context)


def _pulled(request: HttpRequest, game: Game, do: str, seat: Seat | None) -> str:
    """Do it; what to say afterwards. A DomainError where it may not be."""
    now, user = timezone.now(), request.user
    if do == "extend":
        levers.extend(game=game, seconds=_seconds(request), user=user, seen=_end_seen(request), now=now)
        return _("Players have %(n)s seconds more.") % {"n": _seconds(request)}
    if do == "next":
        asked = request.POST.get("phase", "")
        seen = int(asked) if asked.isdecimal() and len(asked) < 10 else 0
        if not levers.next_phase(game=game, phase_number=seen, user=user, now=now):
            raise Conflict("moved_on", _("The game has moved on by itself meanwhile."))
        return _("The phase is over.")
    if seat is not None:
        levers.remove_player(game=game, seat=seat, user=user, now=now)
        return _("%(name)s is removed.") % {"name": seat.pseudonym}
    levers.cancel(game=game, user=user, now=now)
    return _("The game is stopped.")
