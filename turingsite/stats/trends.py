"""Does a share move along an ordered scale: Cochran–Armitage, and the slope with the two-way variance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .arrays import floats, product_sum, square_sum
from .clustering import from_influence
from .intervals import Estimate, Lack, two_sided


@dataclass(frozen=True, slots=True)
class Trend:
    """Cochran–Armitage: z (above 0: the share rises), two-sided p, verdicts, bins that hold any."""

    z: float | None
    p: float | None
    n: int
    bins: int
    lack: Lack = ""


def cochran_armitage(successes: ArrayLike, totals: ArrayLike, scores: ArrayLike | None = None) -> Trend:
    """Trend of a proportion over ordered bins.

    z = Σ t_j (x_j − n_j p) / √(p(1−p) [Σ n_j t_j² − (Σ n_j t_j)²/N] · N/(N−1)). Scores t are 0, 1, 2 … by
    position unless given; an empty bin is skipped and keeps its number. It takes verdicts as independent,
    so it finds trends too often where persons and dialogues repeat: show the slope beside it.

    Undefined: fewer than two bins with data (``no_spread``), all right or all wrong, no data.
    Source: Cochran 1954; Armitage 1955, Biometrics 11:375.
    """
    x, n = floats(successes), floats(totals)
    t = np.arange(x.size, dtype=np.float64) if scores is None else floats(scores)
    if n.size != x.size or t.size != x.size:
        raise ValueError("one score and one total per bin")
    if (x < 0).any() or (x > n).any():
        raise ValueError("0 ≤ successes ≤ totals in every bin")
    total = float(n.sum())
    bins = int((n > 0).sum())
    if total == 0:
        return Trend(None, None, 0, 0, "no_data")
    p = float(x.sum()) / total
    spread = float(n @ t**2) - float(n @ t) ** 2 / total
    if bins < 2 or p in (0.0, 1.0) or spread <= 0:
        return Trend(None, None, int(total), bins, "no_spread")
    variance = p * (1 - p) * spread * total / (total - 1)
    z = float(t @ (x - n * p)) / math.sqrt(variance)
    return Trend(z, two_sided(z), int(total), bins)


def slope(
    y: ArrayLike, x: ArrayLike, participant: ArrayLike, item: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Slope of the linear probability model y = a + bx, ± t√V (two-way).

    b = Σ(x − x̄)(y − ȳ)/Σ(x − x̄)²; u_i = (x_i − x̄) e_i / Σ(x − x̄)² with the residual e. df: the smaller
    number of clusters − 1. No data or x constant: no value. A perfect fit: no interval.
    """
    values, along = floats(y), floats(x)
    if along.size != values.size:
        raise ValueError("y and x have one entry per verdict")
    n = values.size
    if n == 0:
        return Estimate(None, 0, level=level, participants=0, items=0, lack="no_data")
    centred = along - along.mean()
    scale = square_sum(centred)
    if scale <= 1e-12 * max(1.0, square_sum(along)):
        return Estimate(None, n, level=level, lack="no_spread")
    b = product_sum(centred, values) / scale
    residuals = values - values.mean() - b * centred
    return from_influence(b, centred * residuals / scale, participant, item, level=level)
