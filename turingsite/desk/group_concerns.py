"""Reported messages on the desk, each among the lines around it: looked at, or the game stopped there."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from games.group.selectors_desk import concerns_of, reported
from games.group.services.looking import look_at_concern
from studies.selectors import access_desk_study
from turingsite.desk.paging import newest_first


@never_cache
def concerns(request: HttpRequest, slug: str) -> HttpResponse:
    """Those nobody has looked at, or all; POST marks one. Neither who is the AI nor the round is told."""
    study = access_desk_study(slug, request.user)
    everything = request.GET.get("all") == "1"
    if request.method == "POST":
        asked = request.POST.get("concern", "")
        found = concerns_of(study).filter(pk=int(asked) if asked.isdecimal() and len(asked) < 19 else 0)
        concern = found.select_related("room__group_game", "room__study").first()
        if concern is None:
            messages.error(request, _("There is no such report."))
        elif look_at_concern(concern=concern, user=request.user, now=timezone.now()):
            messages.success(request, _("Marked as looked at."))
        return redirect(request.get_full_path())
    zone = ZoneInfo(study.time_zone)
    rows = concerns_of(study, unseen=not everything).select_related("seat", "event__seat", "seen_by")
    page = newest_first(request, rows)
    context = {
        "study": study,
        "title": _("Reported messages"),
        "everything": everything,
        "unseen": concerns_of(study, unseen=True).count(),
        "rows": [
            {
                "concern": one.concern,
                "game": one.game,
                "context": one.context,
                "at": one.concern.at.astimezone(zone),
                "seen_at": one.concern.seen_at.astimezone(zone) if one.concern.seen_at else None,
            }
            for one in reported(page.rows)
        ],
        "page": page,
        "zone": study.time_zone,
    }
    return render(request, "desk/group_concerns.html", context)
