"""Who may see a game: opening one shows who the AI is and what became of it, which is a look at outcomes."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from games.group.models import Game
from games.group.selectors_desk import access_game, is_real, real_games, rows_of
from games.group.services.looking import note_watching
from studies.selectors import access_desk_study
from turingsite.desk.doors import sees_outcomes
from turingsite.desk.group_words import clock, end_of, phase_of

WATCHED = "desk_games"  # in the session: games this person chose to open while their study is blind
EXTENSIONS = (30, 60, 120, 300)  # seconds by which a phase may be made longer


def access(request: HttpRequest, slug: str, code: str) -> Game:
    """A game of a study whose desk the visitor may open; for everybody else there is none."""
    return access_game(access_desk_study(slug, request.user), code)


def may_watch(request: HttpRequest, game: Game) -> bool:
    """Whether the game may be shown as it is: its study's outcomes may, it was opened knowingly, or tests
    play it.
    """
    opened: list[int] = request.session.get(WATCHED, [])
    return not is_real(game) or game.pk in opened or sees_outcomes(request, game.study)


def door(request: HttpRequest, game: Game, now: datetime) -> HttpResponse:
    """Before a game of a blind study: how it stands, without round, votes or who the AI is; its levers."""
    (row,) = rows_of([game], now)
    context = {
        "study": game.study,
        "game": game,
        "row": row,
        "title": _("Game %(number)s") % {"number": game.number},
        "phase": phase_of(game),
        "clock": clock(row.remaining),
        "end": end_of(game, open_=False),
        "n": real_games(game.study).filter(end__in=Game.PLAYED).count(),
        "next": request.get_full_path(),
        "extensions": EXTENSIONS,
    }
    return render(request, "desk/group_door.html", context)


@require_POST
def watch(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """Open a game of a blind study: allowed, and noted with how many games were over by then."""
    found = access(request, slug, code)
    if not may_watch(request, found):
        note_watching(game=found, user=request.user, now=timezone.now())
        request.session[WATCHED] = [*request.session.get(WATCHED, []), found.pk]
    goto = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(goto, allowed_hosts={request.get_host()}):
        return redirect("admin:desk_group_game", slug, code)
    return redirect(goto)
