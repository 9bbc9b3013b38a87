"""Words kept as data in both languages: which one to take, how places in them are filled in, their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils import formats, translation

from studies import registry
from studies.models import ConsentText, EndState, Study

LANGUAGES = ("en", "zh")
PLACES = ("host", "approval", "contact", "until", "min_age", "pay", "earned")
AT_ANY_TIME = {"en": "at any time", "zh": "随时"}
UNTIL = {"en": "until {day}", "zh": "{day}（含当日）之前"}
UNPAID = {"en": "This study is not paid.", "zh": "本研究没有报酬。"}
EARNED = {
    "en": "What you have earned stays yours, also if you stop early. Checks of whether you could hear never "
    "cost you pay.",
    "zh": "已得的报酬归您所有，提前停下也不例外。用来确认您能否听清的题目不影响报酬。",
}


def content_language() -> str:
    """ "zh" or "en": the language of kept texts that fits the interface language now."""
    return "zh" if (translation.get_language() or "en").startswith("zh") else "en"


def pick(words: Mapping[str, Any], language: str | None = None) -> Any:
    """The entry of ``words`` in ``language`` (default: of the interface), else the English one."""
    return words.get(language or content_language()) or words["en"]


def digest(body: Mapping[str, Any]) -> str:
    """SHA-256 of the words of a consent text, whatever the order of its keys."""
    plain = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def filled(study: Study, body: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` with its places ({host}, {until}, …) filled in from ``study`` and from what it does.

    A row of the summary whose whole text would be empty is left out.
    """
    full: dict[str, Any] = {}
    is_open = has_places(body)
    for language in LANGUAGES:
        if language not in body:
            continue
        places = _places(study, language) if is_open else {}
        words = _fill(body[language], places)
        words["summary"] = [row for row in words["summary"] if row[1].strip()]
        full[language] = words
    return full


def place_names() -> list[str]:
    """Every name that a text may leave open: the study's and those of its activities."""
    return [*PLACES, *(name for activity in registry.activities for name in activity.place_names)]


def has_places(body: Mapping[str, Any]) -> bool:
    """Whether something in ``body`` still waits to be filled in."""
    words = json.dumps(body, ensure_ascii=False)
    return any(f"{{{name}}}" in words for name in place_names())


def shown(study: Study, text: ConsentText, language: str | None = None) -> dict[str, Any]:
    """What a person reads of ``text``: one language, with nothing left open (also in a draft)."""
    words: dict[str, Any] = pick(filled(study, text.body), language)
    return words


def pay_of_done(study: Study, language: str) -> str:
    """What the study says it pays people who finish; empty without pay."""
    done = study.completions.filter(end_state=EndState.DONE).first()
    return (getattr(done, f"pay_{language}") or done.pay_en) if done else ""


def day_text(day: date, language: str | None = None) -> str:
    """A day in words: 31 March 2027, 2027年3月31日."""
    zh = (language or content_language()) == "zh"
    with translation.override("zh-hans" if zh else "en"):
        return formats.date_format(day, "Y年n月j日" if zh else "j F Y")


def _places(study: Study, language: str) -> dict[str, str]:
    pay = pay_of_done(study, language)
    if study.erasure_until is None:
        until = AT_ANY_TIME[language]
    else:
        until = UNTIL[language].format(day=day_text(study.erasure_until, language))
    places = {
        "host": study.host,
        "approval": study.approval,
        "contact": study.contact,
        "until": until,
        "min_age": str(study.min_age),
        "pay": pay or UNPAID[language],
        "earned": EARNED[language] if pay else "",
    }
    for activity in registry.activities:
        places |= activity.places(study, language)
    return places


def _fill(words: Any, places: Mapping[str, str]) -> Any:
    if isinstance(words, str):
        for name, value in places.items():
            words = words.replace(f"{{{name}}}", value)
        return words.strip()
    if isinstance(words, dict):
        return {key: _fill(value, places) for key, value in words.items()}
    if isinstance(words, list):
        return [_fill(value, places) for value in words]
    return words
