"""FileResponse under the same middleware, with our check and without any: anchors of the media benchmark."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse, HttpRequest
from django.urls import path

application = get_wsgi_application()

from dialogues.media import access_sound  # noqa: E402
from turingsite.urls import urlpatterns as site  # noqa: E402


def clip(request: HttpRequest, token: str) -> FileResponse:
    sound = access_sound(request, token)
    return FileResponse((Path(settings.MEDIA_ROOT) / sound.play_path).open("rb"), content_type="audio/mpeg")


def unchecked(request: HttpRequest, name: str) -> FileResponse:
    return FileResponse((Path(settings.MEDIA_ROOT) / name).open("rb"), content_type="audio/mpeg")


urlpatterns = [path("anchor/<str:token>", clip), path("unchecked/<path:name>", unchecked), *site]
