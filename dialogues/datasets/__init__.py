"""Tidy tables of this floor: systems, dialogues, parties, turns, items, exposures, flags, verdicts.

Opinions of erased people are in none of them. Speakers who withdrew lose their code; of the dialogues with
their voice a row stays for what was said on them, and nothing that describes the recording.
"""

from __future__ import annotations

from dialogues.datasets.corpus import (
    DIALOGUES,
    FLAGS,
    ITEMS,
    PARTIES,
    SYSTEMS,
    TURN_FILES,
    TURNS,
    speaker_code,
)
from dialogues.datasets.opinions import (
    EXPOSURES,
    RATER,
    VERDICTS,
    of_raters_present,
    rater_code,
    rater_code_in_sql,
    rater_kind,
    rater_kind_in_sql,
    shown_reason,
)
from studies.registry import datasets

__all__ = [
    "DIALOGUES",
    "ITEMS",
    "RATER",
    "VERDICTS",
    "of_raters_present",
    "rater_code",
    "rater_code_in_sql",
    "rater_kind",
    "rater_kind_in_sql",
    "register",
    "shown_reason",
    "speaker_code",
]


def register() -> None:
    for one in (SYSTEMS, DIALOGUES, PARTIES, TURNS, TURN_FILES, ITEMS, FLAGS, EXPOSURES, VERDICTS):
        datasets.add(one)
