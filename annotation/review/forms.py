"""What the pages of the review send: whose scores, which value, why. Shape alone; rules are in services."""

from __future__ import annotations

from typing import NamedTuple

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from studies.characters import cleaned
from turingsite.errors import Invalid

APPROVE = "approve"


class Sent(NamedTuple):
    """``choice``: approve, or 0 to 5 as typed. ``scores``: names of cells. ``version``: of the page."""

    scores: tuple[str, ...]
    choice: str
    reason: str
    version: int
    dimension: str
    lot: str

    @property
    def value(self) -> int | None:
        """1 to 5, or whatever whole number was sent; None for no evidence."""
        return None if self.choice == "0" else int(self.choice)


def sent(data: QueryDict) -> Sent:
    """What was sent; Invalid where it has no version or no score to choose from."""
    version, choice = data.get("version", ""), data.get("choice", "")
    if not version.isdecimal() or len(version) > 9:
        raise Invalid("bad_version", _("Load the page again, then decide."))
    if choice != APPROVE and not (choice.isdecimal() and len(choice) < 4):
        choice = "" if not choice else "9"  # a value that no score has
    return Sent(
        scores=tuple(data.getlist("score"))[:100],
        choice=choice,
        reason=cleaned(data.get("reason", "")),
        version=int(version),
        dimension=data.get("dimension", ""),
        lot=data.get("lot", ""),
    )


def refuse_incomplete(form: Sent) -> None:
    """Invalid where no score or no value was chosen."""
    if not form.scores:
        message = _("Choose whose scores you mean.")
        raise Invalid("no_score", message, fields={"score": message})
    if not form.choice:
        message = _("Choose what the score should be.")
        raise Invalid("no_choice", message, fields={"choice": message})
