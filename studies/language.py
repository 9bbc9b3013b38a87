"""The interface language from ``?lang=``: a link may bring it; cookie and browser decide otherwise."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation.trans_real import get_supported_language_variant

PARAMETER = "lang"


class LanguageParameterMiddleware:
    """Behind LocaleMiddleware: ``?lang=zh`` sets the language of this page and, by cookie, the next."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = supported(request.GET.get(PARAMETER, ""))
        if language is None:
            return self.get_response(request)
        translation.activate(language)
        request.LANGUAGE_CODE = language
        # The page's own address must not carry the parameter on: the language switch comes back to it.
        rest = [
            pair
            for pair in parse_qsl(request.META["QUERY_STRING"], keep_blank_values=True)
            if pair[0] != PARAMETER
        ]
        request.META["QUERY_STRING"] = urlencode(rest)
        response = self.get_response(request)
        remember_language(response, language)
        return response


def supported(asked: str) -> str | None:
    """The site's language for what was asked ("zh", "zh-CN", "en-GB", …), or None."""
    try:
        return get_supported_language_variant(asked[:20]) if asked else None
    except LookupError:
        return None


def remember_language(response: HttpResponse, language: str) -> None:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.PARTICIPANT_COOKIE_DAYS * 86_400,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
