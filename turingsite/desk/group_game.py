"""The live monitor of one group game: how it stands, what is said, what the agent does and why."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dialogues.models import Nature
from games.group import watching
from games.group.models import AgentStep, Game
from games.group.selectors import topic_of
from games.group.selectors_desk import is_unplayed, remaining
from games.group.services.looking import note_watching
from games.room.models import Concern
from studies.models import Language
from turingsite.desk.group_doors import EXTENSIONS, access, door, may_watch
from turingsite.desk.group_words import clock, end_of, phase_of, presence_of, thinking_of


@never_cache
@require_safe
def game(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """The game as it is now; where the study is blind, the door before it."""
    found, now = access(request, slug, code), timezone.now()
    if not may_watch(request, found):
        return door(request, found, now)
    note_watching(game=found, user=request.user, now=now)
    came = _came(found, now)
    context = {
        **standing(found, now),
        "events": came["lines"],
        "steps": came["steps"],
        "last": came["last"],
        "mark": came["mark"],
        "agent": found.agent,
        "thinking": thinking_of(found.agent) if found.agent else "",
        "topic": topic_of(found, found.room.language),
        "extensions": EXTENSIONS,
        "players": found.room.seats.filter(nature=Nature.HUMAN, left_at=None).order_by("position"),
    }
    return render(request, "desk/group_game.html", context)


def standing(game: Game, now: datetime) -> dict[str, Any]:
    """What the part that is replaced at every asking shows, and what every page of a game names."""
    room, left = game.room, remaining(game.room, now)
    zone = ZoneInfo(game.study.time_zone)
    seats = watching.seats_of(game, now)
    failed = AgentStep.objects.filter(game=game, outcome=AgentStep.Outcome.FAILED).order_by("number")
    return {
        "study": game.study,
        "game": game,
        "room": room,
        "title": _("Game %(number)s") % {"number": game.number},
        "began": room.opened_at.astimezone(zone),
        "as_of": now.astimezone(zone),
        "zone": game.study.time_zone,
        "language": Language(room.language).label,
        "phase": phase_of(game),
        "remaining": None if left is None else round(left, 1),
        "clock": clock(left),
        "end": end_of(game, open_=True),
        "seats": [(row, presence_of(row)) for row in seats],
        "voted": sum(row.voted for row in seats),
        "living": sum(row.seat.out_at is None for row in seats),
        "unplayed": is_unplayed(game, now),
        "failures": list(failed),
        "notes_failing": watching.failing_notes(game),
        "unseen": Concern.objects.filter(room=room, seen_at=None).count(),
    }


def _came(game: Game, now: datetime, seq: int = 0, mark: int = 0) -> dict[str, Any]:
    """Lines after ``seq`` and steps after ``mark``, each with its time in the game."""
    lines = watching.lines_of(game, seq)
    steps, settled = watching.steps_of(game, now, mark)
    return {
        "lines": [(line, clock(line.at)) for line in lines],
        "steps": [(step, clock(step.at)) for step in steps],
        "mark": settled,
        "last": lines[-1].event.seq if lines else seq,
    }


@never_cache
@require_safe
def news(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """What came since ``?seq=`` and ``?mark=``, as parts of the page; the page asks every two seconds."""
    found, now = access(request, slug, code), timezone.now()
    if not may_watch(request, found):
        return JsonResponse({"closed": True}, status=403)
    came = _came(found, now, *(_number(request.GET.get(name, "")) for name in ("seq", "mark")))
    context = {**standing(found, now), "events": came["lines"], "steps": came["steps"]}

    def part(name: str) -> str:
        return render_to_string(f"desk/_group_{name}.html", context, request)

    return JsonResponse(
        {
            "seq": came["last"],
            "mark": came["mark"],
            "over": bool(found.end),
            "now": part("now"),
            "events": part("events") if came["lines"] else "",
            "steps": part("steps") if came["steps"] else "",
        }
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
