"""How far the raters of a dialogue are apart, as one number that orders the queue. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from annotation.scored import Scored

RANGE = 4  # from 1 to 5
LEANING_NOWHERE = 3


def apart(one: Scored, other: Scored) -> float:
    """How far two scores are apart, from 0 (the same) to 1 (1 and 5): ((x − y) / 4)².

    Whoever heard no evidence stands at 3, where nothing leans; against a 3 that was heard they are one step
    apart, because they do not agree. Two without evidence agree.
    """
    if not one.evidence and not other.evidence:
        return 0.0
    steps = abs(one.value - other.value)
    if one.evidence != other.evidence:
        heard = one if one.evidence else other
        steps = max(abs(heard.value - LEANING_NOWHERE), 1)
    return (steps / RANGE) ** 2


def spread(scores: Sequence[Scored]) -> int:
    """Steps between the farthest two of a dimension's scores, 0 to 4, counted as in ``apart``."""
    return max((round(apart(a, b) ** 0.5 * RANGE) for a, b in combinations(scores, 2)), default=0)


def disagreement(by_dimension: Mapping[Any, Iterable[Scored]]) -> float:
    """Mean over dimensions of the mean of ``apart`` over pairs of raters; 0 where nobody can disagree.

    Dimensions with fewer than two scores are left out. Squares, as in an interval-level disagreement: two
    raters at the poles weigh more than many that are a step apart.
    """
    means = []
    for scores in by_dimension.values():
        pairs = [apart(a, b) for a, b in combinations(list(scores), 2)]
        if pairs:
            means.append(sum(pairs) / len(pairs))
    return sum(means) / len(means) if means else 0.0
