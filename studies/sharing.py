"""A study's link as people pass it on: its address with the source tag, and the picture and words beside it.

Nothing in here knows a participant: the link and its picture are the same for everybody.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _

from studies import arrivals, registry
from studies.models import Study
from studies.texts import content_language

TAG = "share"
CARD_SIZE = (1200, 630)  # px of every card


def site_address(request: HttpRequest) -> str:
    """Scheme and host of the site without a slash at the end: PUBLIC_URL, or as the request came."""
    return settings.PUBLIC_URL.rstrip("/") or f"{request.scheme}://{request.get_host()}"


def card_of(study: Study) -> str:
    """The static file of the study's picture in the interface language, or an empty text."""
    for key in study.activities:
        if key in registry.activities and registry.activities.get(key).card:
            return registry.activities.get(key).card.format(language=content_language())
    return ""


def offer(request: HttpRequest, study: Study) -> dict[str, Any] | None:
    """What a page needs to let somebody share the study; None while strangers could not take part."""
    if study.status not in (Study.Status.SOFT_LAUNCH, Study.Status.OPEN) or study.recruiter_required:
        return None
    return {
        "link": f"{_address(request, study)}?src={TAG}&lang={content_language()}",
        "title": study.title,
        "card": card_of(study),
        "width": CARD_SIZE[0],
        "height": CARD_SIZE[1],
    }


def preview(request: HttpRequest, study: Study, *, words: str) -> dict[str, Any]:
    """What other sites show of a link to the study (Open Graph): ``words`` below its title, and the card."""
    tag = arrivals.source_tag(request.GET)
    card = card_of(study)
    return {
        "title": study.title,
        "words": words,
        "address": _address(request, study) + (f"?src={tag}" if tag else ""),
        "locale": {"en": "en_GB", "zh": "zh_CN"}[content_language()],
        "image": f"{site_address(request)}{static(card)}" if card else "",
        "image_words": _("Human or machine? Hear short conversations and judge who answers."),
        "width": CARD_SIZE[0],
        "height": CARD_SIZE[1],
    }


def _address(request: HttpRequest, study: Study) -> str:
    return site_address(request) + reverse("studies:welcome", args=[study.slug])
