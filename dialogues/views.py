"""The media address: the sound of one exposure, for whoever it was given to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dialogues import media as sounds


@require_safe
def media(request: HttpRequest, token: str) -> HttpResponse:
    sound = sounds.access_sound(request, token)
    response = sounds.answer(request, sound.play_path)
    if request.method == "GET" and sound.first_byte_at is None and response.status_code in (200, 206):
        sounds.note_first_byte(exposure=sound.exposure, now=timezone.now())
    return response
