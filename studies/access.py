"""Who a request comes from: the signed cookie of a participant, one per study, and what every page checks."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from studies.models import Participant, Study
from studies.prepared import Prepared
from studies.selectors import access_study
from turingsite.errors import Gone, Refused, TryLater

SALT = "studies.participant"


_HOLDER = Prepared(
    lambda slug, key: Participant.objects.select_related("study", "rater").filter(
        study__slug=slug, resume_code=key, consented_at__isnull=False
    ),
    slug="?slug?",
    key="?key?",
)


def participant_of(
    request: HttpRequest,
    slug: str,
    *,
    ended_ok: bool = False,
    paused_ok: bool = False,
    closed_ok: bool = False,
) -> Participant:
    """The participant who sends this request in the study ``slug``, study and rater loaded, in one query.

    NotFound ``no_study``; Refused ``no_session``; Gone ``gone`` for people who withdrew, for people who
    finished unless ``ended_ok``, in a closed study unless ``closed_ok``; TryLater ``paused`` unless
    ``paused_ok``.
    """
    participant = held_by(request, slug)
    if participant is None:
        access_study(slug, request.user)
        raise Refused(
            "no_session",
            _("Open the study's link again. With your code you go on where you stopped."),
            {
                "study": reverse("studies:welcome", args=[slug]),
                "resume": reverse("studies:resume", args=[slug]),
            },
        )
    study = participant.study
    if participant.is_gone:
        raise Gone("gone", _("You have left this study. Nothing more is stored."), _on(slug))
    if participant.end_state and not ended_ok:
        raise Gone("gone", _("You have finished this study. Thank you for your time."), _on(slug))
    if study.status == Study.Status.PAUSED and not paused_ok:
        raise TryLater("paused", _("The study pauses. Come back later: you go on where you stopped."))
    if study.status in (Study.Status.CLOSED, Study.Status.DRAFT) and not closed_ok and not ended_ok:
        raise Gone("gone", _("This study is closed. Thank you for your time."), _on(slug))
    return participant


def _on(slug: str) -> dict[str, str]:
    return {"goto": reverse("studies:go", args=[slug])}


def held_by(request: HttpRequest, slug: str) -> Participant | None:
    """The participant whose cookie this browser holds for the study, gone or not; None without one."""
    key = key_in(request, slug)
    if not key:
        return None
    return _HOLDER.get(slug=slug, key=key)


def is_holder(request: HttpRequest, participant: Participant) -> bool:
    """Whether this browser holds the cookie of ``participant`` (no query where its study is loaded)."""
    return key_in(request, participant.study.slug) == participant.resume_code


def key_in(request: HttpRequest, slug: str) -> str:
    """What the cookie of that study carries, or nothing where it is missing, forged or too old."""
    raw = request.COOKIES.get(cookie_name(slug))
    if not raw:
        return ""
    try:
        value = signing.loads(raw, salt=f"{SALT}.{slug}", max_age=lifetime())
    except signing.BadSignature:
        return ""
    return value if isinstance(value, str) else ""


def remember(response: HttpResponse, participant: Participant) -> None:
    """Give the browser the cookie by which it continues. The value never reaches a script or another site."""
    slug = participant.study.slug
    response.set_cookie(
        cookie_name(slug),
        signing.dumps(participant.resume_code, salt=f"{SALT}.{slug}"),
        max_age=lifetime(),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def cookie_name(slug: str) -> str:
    return f"p-{slug}"


def lifetime() -> timedelta:
    return timedelta(days=settings.PARTICIPANT_COOKIE_DAYS)
