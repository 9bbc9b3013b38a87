"""What a bot that plays reports, and whether points are right."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Result:
    """What one bot did and what it found wrong."""

    bot: int
    clumsy: bool
    rounds: int = 0
    verdicts: int = 0
    reached_debrief: bool = False
    findings: list[str] = field(default_factory=list)


def points_fit(points: int, correct: int, answered: int) -> bool:
    """Whether the points are those of one of the rules: beyond half, or accuracy in per cent."""
    beyond_half = 10 + int(10 * max(0.0, correct - answered / 2))
    return points in (beyond_half, round(100 * correct / answered) if answered else 0)
