"""What is wrong with the site, for operators: the doctor's findings as a page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from turingsite.doctor import Finding, Level, examine
from turingsite.errors import NotFound

RANK = [Level.ERROR, Level.WARNING, Level.NOTE, Level.OK]


def doctor(request: HttpRequest) -> HttpResponse:
    """This machine at once; on POST also workers and the world, which takes some seconds."""
    if not request.user.is_superuser:
        raise NotFound("no_page", _("There is nothing at this address."))
    asked = request.method == "POST"
    found = sorted(examine(ask=asked), key=lambda one: RANK.index(one.level))
    context: dict[str, Any] = {
        "title": _("State of the site"),
        "rows": found,
        "asked": asked,
        "errors": _count(found, Level.ERROR),
        "warnings": _count(found, Level.WARNING),
    }
    return render(request, "desk/doctor.html", context)


def _count(found: list[Finding], level: Level) -> int:
    return sum(one.level == level for one in found)
