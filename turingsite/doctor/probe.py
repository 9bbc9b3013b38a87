"""A file made for one question, and the only way to it: does a part of it come when a part is asked for?"""

from __future__ import annotations

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dialogues.media import answer, no_sound

FOLDER = "doctor"  # below the media root
SIZE = 2048  # bytes
SALT = "turingsite.doctor"
VALID = 60  # seconds


def token(name: str) -> str:
    return signing.dumps(name, salt=SALT)


@require_safe
def part(request: HttpRequest, token: str) -> HttpResponse:
    """The probe as a sound would be sent. NotFound without a token that doctor has just made."""
    try:
        name = signing.loads(token, salt=SALT, max_age=VALID)
    except signing.BadSignature as error:
        raise no_sound() from error
    return answer(request, f"{FOLDER}/{name}")
