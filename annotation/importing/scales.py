"""What a cell with a score says: 1 to 5, or no evidence. Scales from 0 to 4 are noticed, never guessed at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

from django.utils.translation import gettext_noop

from annotation.scored import Scored
from dialogues.builtin import folded
from dialogues.importing import notes
from dialogues.importing.cells import NO, YES
from dialogues.importing.manifest import ManifestRefused
from dialogues.importing.notes import Note

MIDDLE, LEAST, MOST = 3, 1, 5
FAR = 1000
SILENT = {folded(word) for word in ("NA", "nan", "none", "null", "no evidence", "无依据", "无")}
DASHES = ("", "-", "–", "—", "/", ".")  # "." is what some statistics programs write
WHOLE = re.compile(r"[+-]?\d+(?:[.,]0*)?")
NUMBER = re.compile(r"[+-]?\d*[.,]?\d+")


class Scale(Enum):
    """What the numbers of a file mean. ``UNSAID``: 1 to 5, 0 for no evidence, unless it looks otherwise."""

    UNSAID = "unsaid"
    FROM_ONE = "from one"  # 0 is no evidence: somebody said so
    FROM_ZERO = "from zero"  # 0 to 4; no evidence is empty


NOTHING = Scored(MIDDLE, False)


def truth(text: str) -> bool | None:
    """Yes or no as cells say it; None for anything else."""
    word = folded(text)
    return True if word in YES else False if word in NO else None


def is_silent(text: str) -> bool:
    """Whether the cell says that there was no evidence without a number."""
    return text.strip() in DASHES or folded(text) in SILENT


def refuse_zero_based(cells: Iterable[str], *, scale: Scale, evidence_told: bool) -> None:
    """ManifestRefused where the scores look like 0 to 4 and nobody said what 0 means.

    They do where some are 0 and none is above 4. A column of its own for evidence settles it.
    """
    if scale is not Scale.UNSAID or evidence_told:
        return
    seen = set(cells)
    numbers = {_number(one) for one in map(_plain, seen) if WHOLE.fullmatch(one)}
    if 0 in numbers and max(numbers) < MOST:
        raise ManifestRefused(
            "zero_based",
            gettext_noop(
                "Some scores are 0 and none is 5: this looks like a scale from 0 to 4. If it is, import it "
                "with --zero-based (0–4 becomes 1–5; no evidence is an empty cell). If 0 means no evidence "
                "on a scale from 1 to 5, say so with --zero-is-no-evidence. Nothing was read."
            ),
        )


def given(text: str, evidence: bool | None, scale: Scale, said: list[Note]) -> Scored | None:
    """The score that a cell states; ``evidence`` as its own column has it. What is wrong goes to ``said``."""
    plain, shown = _plain(text), notes.shortened(text)
    if is_silent(plain):
        if evidence:
            message = gettext_noop("The row says there was evidence, but has no score.")
            said.append(notes.refused("no_score", message))
            return None
        return NOTHING
    if not WHOLE.fullmatch(plain):
        if NUMBER.fullmatch(plain):
            message = gettext_noop("The score “%(value)s” is no whole number. Scores are 1, 2, 3, 4 or 5.")
        else:
            message = gettext_noop("“%(value)s” is no score. Write 1 to 5, or 0 where there was no evidence.")
        said.append(notes.refused("no_number", message, value=shown))
        return None
    number = _number(plain)
    if scale is Scale.FROM_ZERO:
        if not 0 <= number < MOST:
            message = gettext_noop("The score “%(value)s” is outside 0 to 4 (--zero-based).")
            said.append(notes.refused("outside", message, value=shown))
            return None
        number += 1
    elif number == 0 and evidence is not True:
        return NOTHING
    if not LEAST <= number <= MOST:
        message = gettext_noop("The score “%(value)s” is outside 1 to 5 (0 or empty: no evidence).")
        said.append(notes.refused("outside", message, value=shown))
        return None
    if evidence is False and number != MIDDLE:
        message = gettext_noop(
            "The row says there was no evidence, but has the score %(value)s. Leave the score empty, or "
            "write 0 or 3."
        )
        said.append(notes.refused("score_without_evidence", message, value=shown))
        return None
    return Scored(number, evidence is not False)


def _number(whole: str) -> int:
    """The number that a cell of ``WHOLE`` states; beyond every scale all are ``FAR``, however many digits."""
    return int(max(-FAR, min(FAR, float(whole.replace(",", ".")))))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
