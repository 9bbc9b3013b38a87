"""The guidelines and the dimensions in the reader's language, with the study's own limits filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from annotation.models import AnnotationSettings, Taxonomy
from annotation.models.taxonomy import in_language
from annotation.services.taxonomies import CALIBRATION
from studies.markdown import as_html
from studies.models import Participant
from studies.money import money
from studies.texts import content_language, pick


def guidelines_page(
    participant: Participant, settings: AnnotationSettings, *, confirmed: bool, stamp: str
) -> dict[str, Any]:
    """``stamp`` proves when which words were shown; ``confirmed``: they are read again, nothing is asked."""
    study, taxonomy = participant.study, settings.taxonomy
    return {
        "study": study,
        "participant": participant,
        "taxonomy": taxonomy.title,
        "note": _word(taxonomy.guidelines.get("note", {})),
        "sections": sections(settings),
        "categories": categories(taxonomy),
        "count": sum(len(one["dimensions"]) for one in categories(taxonomy)),
        "confirmed": confirmed,
        "stamp": stamp,
        "urls": {
            "back": reverse("annotation:play", args=[study.slug]),
            "leave": reverse("studies:leave", args=[study.slug]),
        },
    }


def sections(settings: AnnotationSettings) -> list[dict[str, Any]]:
    """Title and HTML of each section that this study's people read."""
    places = limits(settings)
    return [
        {"title": _word(one["title"]), "html": as_html(_filled(_word(one["text"]), places))}
        for one in settings.taxonomy.guidelines.get("sections", [])
        if settings.calibration or one.get("when") != CALIBRATION
        if places["rate"] or "{rate}" not in _word(one["text"])
    ]


def limits(settings: AnnotationSettings) -> dict[str, str]:
    """Words for the places that guidelines leave open: {max_difference}, {clear_share}, {min_dialogues}.

    {rate}, what an hour is paid, is empty where there is none: its section is left out then.
    """
    rate = settings.rate_per_hour
    return {
        "max_difference": f"{settings.calibration_difference:.3g}",
        "clear_share": per_cent(settings.calibration_clear),
        "min_dialogues": str(settings.calibration_dialogues),
        "rate": "" if rate is None else money(rate, settings.study.currency),
    }


def per_cent(share: float) -> str:
    """A share in per cent, with a space before the sign where the language has one."""
    gap = "" if content_language() == "zh" else "\u00a0"
    return f"{100 * share:.3g}{gap}%"


def categories(taxonomy: Taxonomy) -> list[dict[str, Any]]:
    """The categories in the taxonomy's order, each with its dimensions."""
    return [
        {
            "key": category.key,
            "name": category.name,
            "summary": in_language(category, "summary"),
            "dimensions": [
                {
                    "key": one.key,
                    "name": one.name,
                    "low": one.low,
                    "high": one.high,
                    "description": in_language(one, "description"),
                    "examples": getattr(one, f"examples_{content_language()}") or one.examples_en,
                }
                for one in category.dimensions.order_by("position")
            ],
        }
        for category in taxonomy.categories.order_by("position")
    ]


def _word(words: Mapping[str, str]) -> str:
    return str(pick(words)) if words.get("en") or words.get("zh") else ""


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, words in places.items():
        text = text.replace(f"{{{name}}}", words)
    return text
