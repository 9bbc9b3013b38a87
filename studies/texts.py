"""Words kept as data in both languages: which language to take, how places in them are filled in, their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.utils import formats, translation

from studies.models import ConsentText, EndState, Study

LANGUAGES = ("en", "zh")


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
    """``body`` with {host}, {approval}, {contact}, {until}, {min_age}, {pay} filled in from ``study``.

    A row of the summary whose whole text would be empty is left out.
    """
    full: dict[str, Any] = {}
    for language in LANGUAGES:
        if language not in body:
            continue
        places = _places(study, language)
        words = _fill(body[language], places)
        words["summary"] = [row for row in words["summary"] if row[1].strip()]
        full[language] = words
    return full


def has_places(body: Mapping[str, Any]) -> bool:
    """Whether something in ``body`` still waits to be filled in."""
    words = json.dumps(body, ensure_ascii=False)
    return any(f"{{{name}}}" in words for name in ("host", "approval", "contact", "until", "min_age", "pay"))


def shown(study: Study, text: ConsentText, language: str | None = None) -> dict[str, Any]:
    """What a person reads of ``text``: one language, with nothing left open (also in a draft)."""
    words: dict[str, Any] = pick(filled(study, text.body), language)
    return words


def _places(study: Study, language: str) -> dict[str, str]:
    done = study.completions.filter(end_state=EndState.DONE).first()
    pay = done and (getattr(done, f"pay_{language}") or done.pay_en)
    if study.erasure_until is None:
        until = {"en": "at any time", "zh": "随时"}[language]
    else:
        with translation.override("zh-hans" if language == "zh" else "en"):
            day = formats.date_format(study.erasure_until, "Y年n月j日" if language == "zh" else "j F Y")
        until = {"en": f"until {day}", "zh": f"{day}之前"}[language]
    return {
        "host": study.host,
        "approval": study.approval,
        "contact": study.contact,
        "until": until,
        "min_age": str(study.min_age),
        "pay": pay or {"en": "This study is not paid.", "zh": "本研究没有报酬。"}[language],
    }


def _fill(words: Any, places: Mapping[str, str]) -> Any:
    if isinstance(words, str):
        for name, value in places.items():
            words = words.replace(f"{{{name}}}", value)
        return words
    if isinstance(words, dict):
        return {key: _fill(value, places) for key, value in words.items()}
    if isinstance(words, list):
        return [_fill(value, places) for value in words]
    return words
