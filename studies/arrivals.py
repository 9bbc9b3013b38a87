"""What a visitor brings along before consent: kept in the address and a signed cookie, never in a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from studies import codes, registry
from studies.models import Participant, Study

SALT = "studies.visit"
VISIT = timedelta(days=1)
LONGEST_ID = 200
PANEL_HOLES = re.compile(r"^(\{\{.*\}\}|\{.*\}|%.*%|\$\{.*\})$")  # a template the panel did not fill in


@dataclass(frozen=True)
class Visit:
    """A visitor of age on the way to consent. ``key`` makes the consent form idempotent."""

    age: int
    recruiter: dict[str, str] = field(default_factory=dict)
    source: str = ""
    is_test: bool = False
    key: str = field(default_factory=codes.resume_code)


def recruiter_ids(study: Study, query: Mapping[str, str]) -> dict[str, str]:
    """The recruiter's ids in the address: configured names only, none empty or malformed."""
    ids = {}
    for name in study.recruiter_params:
        value = query.get(name, "").strip()
        if value and len(value) <= LONGEST_ID and not PANEL_HOLES.match(value) and _is_plain(value):
            ids[name] = value
    return ids


def source_tag(query: Mapping[str, str]) -> str:
    """Where the link was shared: letters, figures, dash, dot and underscore, at most 60."""
    return re.sub(r"[^A-Za-z0-9._-]", "", query.get("src", "")[:200])[:60]


def is_test(study: Study, query: Mapping[str, str]) -> bool:
    return study.test_participants and query.get("test") == "1"


def visit_of(request: HttpRequest, study: Study) -> Visit | None:
    """The visit this browser is on, if it said yes to the age question, for the age asked now."""
    raw = request.COOKIES.get(cookie_name(study))
    if not raw:
        return None
    try:
        visit = Visit(**signing.loads(raw, salt=f"{SALT}.{study.slug}", max_age=VISIT))
    except (signing.BadSignature, TypeError):
        return None
    return visit if visit.age >= study.min_age else None


def keep(response: HttpResponse, study: Study, visit: Visit) -> None:
    response.set_cookie(
        cookie_name(study),
        signing.dumps(asdict(visit), salt=f"{SALT}.{study.slug}"),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def forget(response: HttpResponse, study: Study) -> None:
    response.delete_cookie(cookie_name(study), samesite="Lax")
    put_down(response, study)


def bring(response: HttpResponse, study: Study, key: str, word: str) -> None:
    """Let this browser bring ``word`` along to the consent, for the arrival ``key`` of the registry."""
    response.set_cookie(
        _word_cookie(study),
        signing.dumps([key, word], salt=f"{SALT}.word.{study.slug}"),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def put_down(response: HttpResponse, study: Study) -> None:
    """The word was used, or is worth nothing any more."""
    response.delete_cookie(_word_cookie(study), samesite="Lax")


def arrival_of(request: HttpRequest, study: Study) -> Callable[[Participant], None] | None:
    """What is to happen to whoever consents in this browser for a word they bring; None without one."""
    arrival, word = _brought(request, study)
    if arrival is None:
        return None
    arrive, user = arrival.arrive, request.user
    return lambda participant: arrive(participant, word, user)


def activity_of(request: HttpRequest, study: Study) -> str:
    """What a visitor who brings a word will do as their own; empty for everybody else."""
    arrival, _word = _brought(request, study)
    return "" if arrival is None else arrival.activity


def device_class(request: HttpRequest) -> str:
    """phone, tablet or desktop, from what the browser says of itself; nothing finer is kept."""
    agent = request.headers.get("User-Agent", "")
    if "iPad" in agent or "Tablet" in agent or ("Android" in agent and "Mobile" not in agent):
        return "tablet"
    return "phone" if "Mobi" in agent or "iPhone" in agent else "desktop"


def cookie_name(study: Study) -> str:
    return f"v-{study.slug}"


def _word_cookie(study: Study) -> str:
    return f"w-{study.slug}"


def _brought(request: HttpRequest, study: Study) -> tuple[registry.Arrival | None, str]:
    try:
        key, word = signing.loads(
            request.COOKIES.get(_word_cookie(study), ""), salt=f"{SALT}.word.{study.slug}", max_age=VISIT
        )
    except (signing.BadSignature, TypeError, ValueError):
        return None, ""
    return (registry.arrivals.get(key), word) if key in registry.arrivals else (None, "")


def _is_plain(value: str) -> bool:
    return not any(unicodedata.category(c)[0] in "CZ" for c in value)
