"""How many outcomes a study has, each sort in its own unit: noted where they are seen or a plan is frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies import registry
from studies.models import AuditLine, Study

#: The sort that a line of the trail, a plan or a note counts unless it names another.
VERDICTS = "verdicts"


def counts_of(study: Study) -> dict[str, int]:
    """Outcomes that count now, by sort, of the sorts that ``study`` has; verdicts where it has none."""
    counted = {one.key: (one.count(study), one.has(study)) for one in registry.outcomes}
    return {key: n for key, (n, has) in counted.items() if n or has} or {VERDICTS: 0}


def noted(counts: Mapping[str, int]) -> dict[str, Any]:
    """``counts`` as an audit line has them: ``n`` of one sort, ``of`` it, ``also`` those of the others.

    Without ``of``, ``n`` counts verdicts.
    """
    (of, n), *others = _there(counts).items()
    return {"n": n, **({"of": of} if of != VERDICTS else {}), **({"also": dict(others)} if others else {})}


def counted_in(line: AuditLine) -> dict[str, int]:
    """What ``noted`` wrote. A line on a report that names no sort is of the report's."""
    of = line.detail.get("of") or _sort_read(line)
    return {of: int(line.detail["n"]), **line.detail.get("also", {})}


def counted_words(counts: Mapping[str, int]) -> str:
    """As “70 verdicts, 12 games”; sorts of which there are none only where there is nothing else."""
    return ", ".join(
        registry.outcomes.get(key).words(n) if key in registry.outcomes else f"{n} {key}"
        for key, n in _there(counts).items()
    )


def apart(counts: Mapping[str, int]) -> tuple[int, dict[str, int]]:
    """The verdicts among ``counts``, and the others by sort."""
    return counts.get(VERDICTS, 0), {key: n for key, n in counts.items() if key != VERDICTS}


def together(verdicts: int, others: Mapping[str, int]) -> dict[str, int]:
    """What ``apart`` took apart."""
    return {**({VERDICTS: verdicts} if verdicts or not others else {}), **others}


def _there(counts: Mapping[str, int]) -> dict[str, int]:
    """The sorts of which there are some, verdicts first; else the first one of which there are none."""
    ordered = sorted(counts.items(), key=lambda one: one[0] != VERDICTS)
    return {key: n for key, n in ordered if n} or dict(ordered[:1]) or {VERDICTS: 0}


def _sort_read(line: AuditLine) -> str:
    if line.action != "report.read" or line.target in registry.outcomes:
        return line.target if line.target in registry.outcomes else VERDICTS
    return registry.reports.get(line.target).of if line.target in registry.reports else VERDICTS
