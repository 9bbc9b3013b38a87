"""The waiting room on the desk: who waits since when; calls for bots, where test participants may come."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from games.group.models import Ticket
from games.group.selectors_desk import waiting_in
from games.group.services.calls import call_bots
from games.group.services.settings import settings_of
from games.room.selectors import PRESENT_SECONDS
from studies.models import Language, Study
from studies.selectors import access_desk_study
from turingsite.desk.group_forms import BotsForm
from turingsite.desk.group_words import clock
from turingsite.errors import DomainError

CALLS = 20  # the newest of them


@never_cache
def waiting(request: HttpRequest, slug: str) -> HttpResponse:
    """Who waits, for how many more, and the bots that were called; POST calls some."""
    study = access_desk_study(slug, request.user)
    settings = settings_of(study)
    posted = request.POST if request.method == "POST" else None
    form = BotsForm(posted, study=study, people=settings.people)
    if request.method == "POST" and form.is_valid():
        try:
            call_bots(study=study, user=request.user, now=timezone.now(), **_asked(form))
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, _("The bots are called. They come within seconds."))
            return redirect("admin:desk_group_waiting", slug)
    now, zone = timezone.now(), ZoneInfo(study.time_zone)
    tickets = waiting_in(study)
    context = {
        "study": study,
        "title": _("Waiting room"),
        "settings": settings,
        "pools": _pools(study, tickets, now),
        "rows": [_row(ticket, now) for ticket in tickets],
        "form": form,
        "calls": [
            {"call": call, "at": call.created_at.astimezone(zone), "language": Language(call.language).label}
            for call in study.bot_calls.select_related("user")[:CALLS]
        ],
        "at": now.astimezone(zone),
        "zone": study.time_zone,
        "joinable": study.status in Study.JOINABLE,
    }
    return render(request, "desk/group_waiting.html", context, status=400 if form.errors else 200)


def _asked(form: BotsForm) -> dict[str, Any]:
    return {name: form.cleaned_data[name] for name in ("language", "bots")}


def _here(ticket: Ticket, now: datetime) -> bool:
    return now - ticket.seen_at <= timedelta(seconds=PRESENT_SECONDS)


def _pools(study: Study, tickets: list[Ticket], now: datetime) -> list[dict[str, Any]]:
    """People of one language, who play together."""
    rows = []
    for code, label in Language.choices:
        own = [one for one in tickets if one.language == code]
        if code not in study.languages and not own:
            continue
        here = [one for one in own if _here(one, now)]
        ready = sum(one.state == Ticket.State.READY for one in here)
        rows.append({"label": label, "here": len(here), "ready": ready})
    return rows


def _row(ticket: Ticket, now: datetime) -> dict[str, Any]:
    return {
        "ticket": ticket,
        "language": Language(ticket.language).label if ticket.language in Language.values else "–",
        "waited": clock((now - ticket.joined_at).total_seconds()),
        "ready": clock((now - ticket.ready_at).total_seconds()) if ticket.ready_at else "",
        "here": _here(ticket, now),
        "asked": ticket.patience_until <= now,
    }
