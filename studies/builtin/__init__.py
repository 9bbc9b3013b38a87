"""Built-in studies as data: consent, debrief and questionnaires of the published protocol, both languages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
STUDIES = ("speech", "annotation", "group")


@cache
def load(name: str) -> dict[str, Any]:
    """The data of ``name``.yaml. Callers copy what they change."""
    data: dict[str, Any] = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return data


def profile_questions(*, extras: tuple[str, ...] = (), minors: bool = False) -> list[dict[str, Any]]:
    """The profile's questions, with the named extras; the band below 18 only where ``minors`` may take part.

    KeyError for an extra that does not exist.
    """
    data = load("profile")
    by_key = {question["key"]: question for question in data["extras"]}
    questions = [*data["questions"], *(by_key[key] for key in extras)]
    if minors:
        age = questions[0]
        questions[0] = {**age, "options": [data["under_age"], *age["options"]]}
    return questions
