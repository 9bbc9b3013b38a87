"""Playing files: whose they are, which bytes a request asks for, and answers that tell no kind from another.

No validators (ETag, Last-Modified) are sent: they would come from the file, and files of one kind are often
made in one go. So conditional requests get the whole file, and If-Range never matches (RFC 9110, 13.1.5).
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from dialogues.models import Dialogue, Exposure, Party
from studies import access
from studies.prepared import PreparedValues
from turingsite.errors import NotFound

CONTENT_TYPE = "audio/mpeg"
CACHE = "private, max-age=3600"
_ONE_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE)


class Sound(NamedTuple):
    """What the media view needs of one exposure."""

    exposure: int
    first_byte_at: datetime | None
    play_path: str


class Span(NamedTuple):
    """Bytes from ``first`` up to and including ``last``."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class Unsatisfiable(Exception):
    """No byte of the file is in the range asked for."""


def _given(token: str) -> QuerySet[Exposure, Any]:
    silenced = Party.objects.filter(dialogue=OuterRef("dialogue_id")).filter(
        Q(speaker__withdrawn_at__isnull=False) | Q(speaker__may_play=False)
    )
    return (
        Exposure.objects.filter(
            token=token,
            dialogue__state=Dialogue.State.READY,
            rater__participant__withdrawn_at=None,
            rater__participant__erased_at=None,
        )
        .filter(Q(dialogue__recording=None) | Q(dialogue__recording__may_play=True))
        .filter(~Exists(silenced))
        .values_list(
            "pk",
            "first_byte_at",
            "play_path",
            "dialogue__play_path",
            "study__slug",
            "rater__participant__resume_code",
        )
    )


_GIVEN = PreparedValues(_given, token="?token?")  # noqa: S106  (a sample, not a secret)


def access_sound(request: HttpRequest, token: str) -> Sound:
    """The sound behind a token, for the browser whose participant was given it; one query.

    NotFound for anybody else, for people who withdrew, and where the recording or a speaker was withdrawn.
    """
    row = _GIVEN.get(token=token)
    if row is None:
        raise no_sound()
    pk, first_byte_at, replaced, current, slug, key = row
    play_path = replaced or current
    if not key or access.key_in(request, slug) != key or not play_path:
        raise no_sound()
    return Sound(pk, first_byte_at, play_path)


def no_sound() -> NotFound:
    return NotFound("no_sound", _("There is no such sound here."))


def note_first_byte(*, exposure: int, now: datetime) -> None:
    """Remember when the sound first began to travel; later requests change nothing."""
    Exposure.objects.filter(pk=exposure, first_byte_at=None).update(first_byte_at=now)


def span_asked_for(header: str, size: int) -> Span | None:
    """The part a Range header asks for; None for the whole file. Raises Unsatisfiable (416).

    Headers that cannot be read, other units and several ranges at once are answered with the whole file, as
    RFC 9110, 14.2 allows: players ask for one.
    """
    match = _ONE_RANGE.fullmatch(header)
    if match is None or max(len(match[1]), len(match[2])) > 18:
        return None
    first, last = match[1], match[2]
    if not first and not last:
        return None
    if not first:
        if int(last) == 0 or size == 0:
            raise Unsatisfiable
        return Span(max(size - int(last), 0), size - 1)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise Unsatisfiable
    return Span(int(first), min(int(last), size - 1) if last else size - 1)


def answer(request: HttpRequest, play_path: str) -> HttpResponse:
    """The file or the part asked for; left to the web server where it can (X-Accel-Redirect)."""
    if settings.MEDIA_X_ACCEL:
        response = HttpResponse(content_type=CONTENT_TYPE)
        response["X-Accel-Redirect"] = settings.MEDIA_X_ACCEL.rstrip("/") + "/" + quote(play_path)
        response["Cache-Control"] = CACHE
        return response
    return answer_file(request, Path(settings.MEDIA_ROOT) / play_path)


def answer_file(
    request: HttpRequest,
    path: Path,
    *,
    cache: str = CACHE,
    content_type: str = CONTENT_TYPE,
    most: int | None = None,
) -> HttpResponse:
    """200, 206 or 416 from a file, reading no byte that is not sent. NotFound where the file is missing.

    ``most``: bytes of one answer to a range, for large files: whoever wants more asks again.
    """
    header = "" if "If-Range" in request.headers else request.headers.get("Range", "")
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            try:
                span = span_asked_for(header, size) if header and request.method == "GET" else None
            except Unsatisfiable:
                return _headers(HttpResponse(status=416), cache, f"bytes */{size}", 0)
            if span and most and span.length > most:
                span = Span(span.first, span.first + most - 1)
            whole = Span(0, size - 1)
            part = span or whole
            if request.method == "HEAD":
                body = b""
            else:
                file.seek(part.first)
                body = file.read(part.length)
    except FileNotFoundError as error:
        raise no_sound() from error
    response = HttpResponse(body, status=206 if span else 200)
    _headers(response, cache, f"bytes {part.first}-{part.last}/{size}" if span else "", part.length)
    response["Content-Type"] = content_type
    return response


def _headers(response: HttpResponse, cache: str, content_range: str, length: int) -> HttpResponse:
    response["Content-Type"] = CONTENT_TYPE
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = cache
    response["Content-Length"] = str(length)
    if content_range:
        response["Content-Range"] = content_range
    return response
