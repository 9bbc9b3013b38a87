"""What the game's reports share: headings, words, and when a figure may be shown."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.group.reports.given import ALL
from studies.estimates import FEWEST, FEWEST_DF, FEWEST_OPINIONS, not_enough
from studies.models import Language
from studies.reports import Heading
from turingsite import stats

PEOPLE, AGENT = "people", "agent"
WHO = Heading(
    "who",
    gettext_lazy("who"),
    "text",
    {
        PEOPLE: pgettext_lazy("group game", "people"),
        AGENT: gettext_lazy("agent"),
        ALL: gettext_lazy("everybody"),
    },
)
SCOPE = (
    Heading(
        "by",
        gettext_lazy("by"),
        "text",
        {
            ALL: gettext_lazy("all games"),
            "language": gettext_lazy("language"),
            "agent": gettext_lazy("agent"),
            "players": gettext_lazy("players"),
        },
    ),
    Heading("level", pgettext_lazy("group game", "which"), "text", {ALL: "", **dict(Language.choices)}),
)
GAMES = Heading("games", gettext_lazy("games"), "count")
SELECTED = Heading(
    "selected",
    gettext_lazy("selected"),
    "text",
    {"no": "", "yes": gettext_lazy("yes: only games in which the agent was still there")},
)


def why_not(estimate: stats.Estimate, games: int, n: int | None = None) -> str:
    """Why a figure may not be shown, empty where it may: the house's rule, with games in the place of
    dialogues."""
    count = estimate.n if n is None else n
    if count < FEWEST_OPINIONS or estimate.value is None:
        return not_enough(count)
    if games < FEWEST:
        return _("one game")
    if estimate.participants is not None and estimate.participants < FEWEST:
        return _("one person")
    free = estimate.df is None or estimate.df >= FEWEST_DF or estimate.n_eff is not None
    if estimate.lack == "one_cluster" or not free:
        return _("fewer than %(n)s games or persons") % {"n": FEWEST_DF + 1}
    return "" if estimate.low is not None else _("no spread")


def cells(
    estimate: stats.Estimate, name: str, games: int, *, prefix: str = "", n: int | None = None
) -> dict[str, Any]:
    """``name`` with standard error and interval; None and a note where something is lacking."""
    note = why_not(estimate, games, n)
    good = not note
    return {
        f"{prefix}{name}": estimate.value if good else None,
        f"{prefix}se": estimate.se if good else None,
        f"{prefix}low": estimate.low if good else None,
        f"{prefix}high": estimate.high if good else None,
        f"{prefix}note": note,
    }


def interval(name: str, label: Any, prefix: str = "") -> tuple[Heading, ...]:
    return (
        Heading(f"{prefix}{name}", label),
        Heading(f"{prefix}low", gettext_lazy("low")),
        Heading(f"{prefix}high", gettext_lazy("high")),
    )
