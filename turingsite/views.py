"""Pages of the site itself that belong to no app: the page of components."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.decorators.http import require_safe

from studies.refusals import error_body
from turingsite.errors import Refused, gettext_noop
from turingsite.middleware import wants_json

STALE = gettext_noop(
    "The page may have been open for long, or your browser refuses cookies. Open the study's link again; "
    "with your code you go on where you stopped."
)

COLOURS = [
    *["ground", "surface", "sunk", "line", "edge", "ink", "ink-2", "accent", "accent-soft"],
    *["human", "human-soft", "machine", "machine-soft", "danger", "success", "warning"],
]

EXAMPLE_TURNS = [
    {"who": "A", "start": 0.0, "end": 5.2},
    {"who": "B", "start": 5.2, "end": 12.0},
    {"who": "A", "start": 12.0, "end": 15.6},
    {"who": "B", "start": 15.6, "end": 23.4},
    {"who": "A", "start": 23.4, "end": 26.0},
    {"who": "B", "start": 26.0, "end": 34.0},
]


@require_safe
def design(request: HttpRequest) -> HttpResponse:
    """Every component in its states, for people who build or check pages."""
    board = [
        {"rank": 1, "nickname": _("Example A"), "points": 940, "rounds": 31},
        {"rank": 2, "nickname": _("Example B"), "points": 905, "rounds": 30},
        {"rank": 2, "nickname": _("Example C"), "points": 905, "rounds": 29},
        {"rank": 4, "nickname": _("You"), "points": 870, "rounds": 30, "you": True},
    ]
    context = {
        "colours": COLOURS,
        "turns": EXAMPLE_TURNS,
        "heard": [(0.0, 13.0)],
        "answer_states": ["locked", "", "human", "machine"],
        "ages": [("18-25", "18–25"), ("26-35", "26–35"), ("36-45", "36–45"), ("46+", _("46 or over"))],
        "steps": range(1, 6),
        "board": board,
    }
    return render(request, "design.html", context)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A request without the token of a page of ours, answered in the shape it came in."""
    if wants_json(request):
        return JsonResponse(error_body(Refused("no_session", STALE)), status=403)
    match = request.resolver_match
    context = {}
    if (
        match is not None
        and match.namespace in ("studies", "speech", "annotation")
        and "slug" in match.kwargs
    ):
        study = [match.kwargs["slug"]]
        context = {
            "study_url": reverse("studies:welcome", args=study),
            "resume_url": reverse("studies:resume", args=study),
        }
    return render(request, "403_csrf.html", context, status=403)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """A request that can't be read; one that is too large, which Django refuses as well, says so."""
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES if isinstance(exception, TooManyFilesSent) else None
        return render(request, "errors/413.html", {"most": most}, status=413)
    return defaults.bad_request(request, exception or SuspiciousOperation())
