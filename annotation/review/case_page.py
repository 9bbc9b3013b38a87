"""What a reviewer is shown of a case: the truth, the turns, every rater's scores side by side, who said what.

Raters are numbers here, never names or codes; the numbers of a case stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.models import BatchItem, Dimension, Resolution, ReviewCase, ReviewDecision, Score
from annotation.models.taxonomy import in_language
from annotation.review.disagreement import spread
from annotation.scored import Scored
from annotation.services.review_cases import differ, scores_of, standing
from annotation.services.review_rules import is_full_for
from annotation.services.settings import settings_of
from dialogues.models import Dialogue

NONE = 0  # how no evidence is said on pages and in forms


def shown_value(row: Score | ReviewDecision) -> int:
    """1 to 5, or 0 where there was no evidence."""
    return row.value if row.evidence else NONE


def cell_name(case: ReviewCase, score: Score) -> str:
    """``rhythm.2``: the score of rater 2 on rhythm, in forms and addresses."""
    return f"{score.dimension.key}.{number_of(case, score)}"


def number_of(case: ReviewCase, score: Score) -> int:
    return list(case.raters).index(score.rater_id) + 1


def scores_named(case: ReviewCase, names: Iterable[str]) -> list[Score]:
    """The scores of those names, in the order of the page; unknown names are left out."""
    wanted = set(names)
    return [score for score in scores_of(case) if cell_name(case, score) in wanted]


def case_page(case: ReviewCase, user: Any, *, opened: str = "", rater: str = "") -> dict[str, Any]:
    """The context of the page. ``opened``: key of the dimension whose discussion is open; ``rater``: the
    number of the one whose score was chosen.
    """
    scores = scores_of(case)
    settings = settings_of(case.study)
    said = standing(case, scores)
    before = _earlier(case, user)
    ended = {
        row.score_id: row
        for row in Resolution.objects.filter(case=case).select_related("result", "closed_by")
    }
    grid: dict[int, dict[int, dict[str, Any]]] = defaultdict(dict)
    for score in scores:
        number = number_of(case, score)
        decisions = said[score.pk]
        mine = next((row for row in decisions if row.reviewer_id == user.pk), None)
        cell = {
            "name": cell_name(case, score),
            "number": number,
            "value": shown_value(score),
            "decisions": [_decision(row, user) for row in decisions],
            "earlier": before[score.pk],
            "decided": len(decisions),
            "mine": mine and {"approves": mine.decision == "approve", "value": shown_value(mine)},
            "differs": score.pk not in ended and differ(decisions),
            "ended": _ended(ended.get(score.pk)),
        }
        grid[score.dimension_id][number] = cell | {"label": _label(cell, score.dimension, settings.reviewers)}
    numbers = sorted({number for cells in grid.values() for number in cells})
    comments: dict[int | None, list[Any]] = defaultdict(list)
    for row in case.comments.select_related("author").order_by("given_at", "pk"):
        comments[row.dimension_id].append(row)
    categories: list[dict[str, Any]] = [
        {
            "name": category.name,
            "rows": [
                _row(dimension, grid[dimension.pk], numbers, comments[dimension.pk], opened)
                for dimension in category.dimensions.all()
                if dimension.pk in grid
            ],
        }
        for category in settings.taxonomy.categories.prefetch_related("dimensions")
    ]
    rows = [row for category in categories for row in category["rows"]]
    closed = case.state == ReviewCase.State.CLOSED
    return {
        "case": case,
        "study": case.study,
        "dialogue": case.dialogue,
        "truth": truth_of(case.dialogue),
        "player": player_of(case.dialogue),
        "raters": _raters(case, numbers),
        "categories": [category for category in categories if category["rows"]],
        "wanted": settings.reviewers,
        "left": sum(row["left"] for row in rows),
        "resolved": len([score for score in scores if score.pk in ended]),
        "scores": len(scores),
        "differences": sum(row["differs"] for row in rows),
        "comments": comments[None],
        "closed": closed,
        "full": not closed and is_full_for(case, user),
        "rater": rater,
        "reviewers": sorted({row.reviewer.get_username() for rows_ in said.values() for row in rows_}),
        "scale": scale_of(settings.taxonomy),
    }


def _earlier(case: ReviewCase, user: Any) -> dict[int, list[dict[str, Any]]]:
    """What reviewers had decided before they changed it, by score, the oldest first."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = ReviewDecision.objects.filter(case=case, superseded_at__isnull=False).select_related("reviewer")
    for row in rows.order_by("given_at", "pk"):
        found[row.score_id].append(_decision(row, user))
    return found


def scale_of(taxonomy: Any) -> list[tuple[int, str]]:
    """Points and their words, no evidence last, as (number, words)."""
    zh = (get_language() or "en").startswith("zh")
    words = taxonomy.scale
    return [(n, str(words.get(str(n), {}).get("zh" if zh else "en", n))) for n in (1, 2, 3, 4, 5, NONE)]


def _row(
    dimension: Dimension,
    cells: Mapping[int, dict[str, Any]],
    numbers: list[int],
    comments: list[Any],
    opened: str,
) -> dict[str, Any]:
    given = [Scored(cell["value"] or 3, cell["value"] != NONE) for cell in cells.values()]
    return {
        "dimension": dimension,
        "description": in_language(dimension, "description"),
        "cells": [cells.get(number) for number in numbers],
        "spread": spread(given),
        "silent": sum(not one.evidence for one in given) if any(one.evidence for one in given) else 0,
        "differs": any(cell["differs"] for cell in cells.values()),
        "left": sum(not cell["mine"] and not cell["ended"] for cell in cells.values()),
        "open_cells": [cell for cell in cells.values() if not cell["ended"]],
        "differing": [cell for cell in cells.values() if cell["differs"]],
        "comments": comments,
        "opened": dimension.key == opened,
    }


def _label(cell: Mapping[str, Any], dimension: Dimension, wanted: int) -> str:
    """A cell in words, for whoever does not see the table."""
    parts = [
        _("Rater %(number)s, %(dimension)s: %(value)s.")
        % {"number": cell["number"], "dimension": dimension.name, "value": cell["value"] or _("no evidence")}
    ]
    if cell["ended"]:
        parts.append(_("Settled as %(value)s.") % {"value": cell["ended"]["value"] or _("no evidence")})
    else:
        parts.append(_("%(n)s of %(of)s decided.") % {"n": cell["decided"], "of": wanted})
        if cell["differs"]:
            parts.append(_("Reviewers differ."))
        if cell["mine"]:
            parts.append(_("You decided."))
    return " ".join(parts)


def _decision(row: ReviewDecision, user: Any) -> dict[str, Any]:
    return {
        "who": row.reviewer.get_username(),
        "you": row.reviewer_id == user.pk,
        "approves": row.decision == ReviewDecision.Decision.APPROVE,
        "value": shown_value(row),
        "reason": row.reason,
        "at": row.given_at,
        "in_lot": row.in_lot,
    }


def _ended(row: Resolution | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "value": shown_value(row.result),
        "how": row.get_how_display(),
        "who": row.closed_by.get_username() if row.closed_by else "",
        "reason": row.reason,
        "at": row.closed_at,
    }


def _raters(case: ReviewCase, numbers: list[int]) -> list[dict[str, Any]]:
    """The heads of the columns: a number, and what the rater said speaker B is."""
    items = BatchItem.objects.filter(
        study=case.study_id, dialogue=case.dialogue_id, repeat=0, rater__in=case.raters
    )
    said = {item.rater_id: item for item in items}
    heads = []
    for number in numbers:
        item = said.get(case.raters[number - 1])
        heads.append(
            {
                "number": number,
                "choice": item.choice if item else "",
                "confidence": item.confidence if item else None,
            }
        )
    return heads


def truth_of(dialogue: Dialogue) -> dict[str, Any]:
    """Who speaker B is: kind, nature, system or speaker."""
    party = dialogue.parties.select_related("system", "speaker").filter(label="B").first()
    system, speaker = (party.system, party.speaker) if party else (None, None)
    return {
        "kind": dialogue.kind,
        "label": dialogue.get_kind_display(),
        "nature": str(dialogue.truth),
        "system": " · ".join(filter(None, (system.name, system.vendor, system.version))) if system else "",
        "speaker": speaker.code if speaker else "",
    }


def player_of(dialogue: Dialogue) -> dict[str, Any] | None:
    """Turns on the playing file, each until the next begins; None where nothing plays."""
    length = dialogue.play_duration
    if not length or not Dialogue.objects.playable().filter(pk=dialogue.pk).exists():
        return None
    turns: list[dict[str, Any]] = [
        {"who": turn.party.label, "start": max(turn.play_start, 0.0), "text": turn.text}
        for turn in dialogue.turns.select_related("party")
        if turn.play_start is not None and turn.play_start < length
    ]
    turns.sort(key=lambda turn: turn["start"])
    ends = [turn["start"] for turn in turns[1:]] + [length]
    for turn, end in zip(turns, ends, strict=False):
        at = int(turn["start"])
        turn |= {
            "lane": "a" if turn["who"] == "A" else "b",
            "clock": f"{at // 60}:{at % 60:02d}",
            "seek": f"{turn['start']:.2f}",
            "x": f"{100 * turn['start'] / length:.2f}%",
            "width": f"{max(100 * (end - turn['start']) / length - 0.25, 0.5):.2f}%",
        }
    return {"length": length, "turns": turns}
