"""The group game of a study on the desk: the list of games, what stands against playing, settings, agents."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from games.group.live import live_of
from games.group.models import Agent, Game, GroupSettings
from games.group.selectors_desk import GameRow, concerns_of, games_of, rows_of
from games.group.services.readiness import prepare
from games.group.services.settings import change_group_settings, settings_of
from games.group.services.starting import KEY
from studies.models import Language, Study
from studies.registry import activities
from studies.selectors import access_desk_study
from turingsite.desk.doors import access_managed_study, manages, sees_outcomes
from turingsite.desk.group_forms import GameFilter, GroupForm
from turingsite.desk.group_words import clock, end_of, parts_of, phase_of, thinking_of
from turingsite.desk.paging import newest_first
from turingsite.errors import DomainError


def games(request: HttpRequest, slug: str) -> HttpResponse:
    """The games, newest first; where nothing is set up, the button to do so."""
    study = access_desk_study(slug, request.user)
    if request.method == "POST":
        prepare(access_managed_study(slug, request.user))
        messages.success(request, _("The group game is set up, with the published settings."))
        return redirect("admin:desk_group", slug)
    now = timezone.now()
    form = GameFilter(request.GET, study=study)
    asked = form.cleaned_data if form.is_valid() else {}
    page = newest_first(request, _filtered(games_of(study), asked))
    open_ = sees_outcomes(request, study)
    context = {
        "study": study,
        "title": _("Group game"),
        "manages": manages(request.user, study),
        "settings": GroupSettings.objects.filter(study=study).first(),
        "problems": problems_of(study),
        "counts": live_of(study, now=now),
        "unseen": concerns_of(study, unseen=True).count(),
        "form": form,
        "filtered": any(asked.values()),
        "rows": [_shown(row, study, open_) for row in rows_of(page.rows, now)],
        "page": page,
        "blind": not open_,
        "at": _local(now, study),
        "zone": study.time_zone,
    }
    return render(request, "desk/group.html", context)


def _filtered(found: QuerySet[Game], asked: dict[str, Any]) -> QuerySet[Game]:
    state, language = asked.get("state"), asked.get("language")
    if state == "playing":
        found = found.filter(end="")
    elif state == "played":
        found = found.filter(end__in=Game.PLAYED)
    elif state == "stopped":
        found = found.exclude(end="").exclude(end__in=Game.PLAYED)
    if language:
        found = found.filter(room__language=language)
    return found if asked.get("tests") else found.filter(room__is_test=False, room__is_preview=False)


def _shown(row: GameRow, study: Study, open_: bool) -> dict[str, Any]:
    """A row of the list: neither its round nor its length, which tell how long the AI was among them."""
    room = row.game.room
    return {
        "row": row,
        "game": row.game,
        "began": _local(room.opened_at, study),
        "language": Language(room.language).label,
        "phase": phase_of(row.game),
        "clock": clock(row.remaining),
        "round": room.round if open_ else None,
        "end": end_of(row.game, open_=open_),
    }


def _local(at: datetime, study: Study) -> datetime:
    return at.astimezone(ZoneInfo(study.time_zone))


def problems_of(study: Study) -> list[Any]:
    """What stands against playing, in words; nothing where the study does not play."""
    return list(activities.get(KEY).ready(study)) if KEY in study.activities else []


def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """How the study plays and with which agents; what is fixed once people play says so."""
    study = access_managed_study(slug, request.user)
    found = settings_of(study)
    form = GroupForm(request.POST if request.method == "POST" else None, instance=found)
    if request.method == "POST" and form.is_valid():
        try:
            change_group_settings(study=study, user=request.user, **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, _("Saved."))
            return redirect("admin:desk_group", slug)
    context = {"study": study, "title": _("Group game settings"), "form": form}
    return render(request, "desk/group_settings.html", context, status=400 if form.errors else 200)


@require_safe
def agents(request: HttpRequest, slug: str) -> HttpResponse:
    """Every version of every agent: how it thinks, what it was told, its parameters."""
    study = access_desk_study(slug, request.user)
    found = GroupSettings.objects.filter(study=study).first()
    chosen = set(found.agents.values_list("pk", flat=True)) if found else set()
    context = {
        "study": study,
        "title": _("Agents"),
        "rows": [
            {
                "agent": agent,
                "chosen": agent.pk in chosen,
                "thinking": thinking_of(agent),
                "told": agent.told_zh if get_language().startswith("zh") else agent.told_en,
                "parts": parts_of(agent),
            }
            for agent in Agent.objects.order_by("key", "-version")
        ],
    }
    return render(request, "desk/group_agents.html", context)
