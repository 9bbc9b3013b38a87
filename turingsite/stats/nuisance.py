"""Can numbers that are not the talk (length, level, gaps …) give a kind away: AUC, alone and together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats
from .correlation import midranks
from .intervals import Estimate, critical

FOLDS = 5


def auc(values: ArrayLike, positive: ArrayLike, *, level: float = 0.95) -> Estimate:
    """P(a positive is higher than a negative) + ½ P(equal), with DeLong's interval.

    From midranks R: V₁₀ of a positive = (R_all − R_positives)/n₀, V₀₁ of a negative =
    1 − (R_all − R_negatives)/n₁; AUC = mean V₁₀; V = S²(V₁₀)/n₁ + S²(V₀₁)/n₀; AUC ± z√V, clipped to 0–1.
    A value that is NaN (not measured) is left out. Items are taken as independent of one another.

    A class without values: no value (``no_data``). One item in a class (``one_cluster``), or classes that do
    not overlap or are constant (``no_spread``): a value without interval.
    Source: DeLong, DeLong, Clarke-Pearson 1988, Biometrics 44:837; midranks: Sun & Xu 2014.
    """
    x, signal = np.asarray(values, dtype=np.float64).ravel(), np.asarray(positive, dtype=bool).ravel()
    if x.size != signal.size:
        raise ValueError("values and positive have one entry per item")
    known = np.isfinite(x)
    x, signal = x[known], signal[known]
    highs, lows = x[signal], x[~signal]
    if not highs.size or not lows.size:
        return Estimate(None, x.size, level=level, lack="no_data")
    ranks = midranks(x)
    above = (ranks[signal] - midranks(highs)) / lows.size
    below = 1 - (ranks[~signal] - midranks(lows)) / highs.size
    value = float(above.mean())
    if highs.size < 2 or lows.size < 2:
        return Estimate(value, x.size, level=level, lack="one_cluster")
    variance = float(above.var(ddof=1)) / highs.size + float(below.var(ddof=1)) / lows.size
    if variance <= 0:
        return Estimate(value, x.size, level=level, lack="no_spread")
    se = math.sqrt(variance)
    half = critical(level) * se
    return Estimate(value, x.size, se, max(0.0, value - half), min(1.0, value + half), level)


def cross_validated_auc(
    features: ArrayLike, positive: ArrayLike, *, folds: int = FOLDS, seed: int = 0
) -> Estimate:
    """AUC of a logistic model of all features on items it was not fitted to.

    ``features``: one row per item, NaN where not measured (median of the fitted items, and an indicator that
    it was missing). Standardised, ridge with C = 1, stratified folds in an order drawn from ``seed``; the
    value is the mean of the folds' AUCs, ``se`` their standard error (folds share items, so there is no
    interval from it). About .5, and by chance below it: the features do not tell the classes apart.

    Fewer than two items in a class, or no feature that varies: no value. Fewer than ``folds`` items in a
    class: as many folds as there are.
    """
    matrix = np.asarray(features, dtype=np.float64)
    signal = np.asarray(positive, dtype=bool).ravel()
    if matrix.ndim != 2 or matrix.shape[0] != signal.size:
        raise ValueError("features have one row per item")
    n = int(signal.size)
    matrix = matrix[:, [_varies(column) for column in matrix.T]]
    fewest = min(int(signal.sum()), int((~signal).sum()))
    if fewest < 2:
        return Estimate(None, n, lack="no_data")
    if matrix.shape[1] == 0:
        return Estimate(None, n, lack="no_spread")
    # Loading it takes a second or two, which only who audits should wait for.
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    model = LogisticRegression(max_iter=1000, solver="newton-cholesky")
    parts = StratifiedKFold(n_splits=min(folds, fewest), shuffle=True, random_state=seed)
    found = []
    for fitted, held in parts.split(matrix, signal):
        prepared = _standardised(matrix, fitted)
        model.fit(prepared[fitted], signal[fitted])
        found.append(auc(model.decision_function(prepared[held]), signal[held]).value)
    values = np.array(found, dtype=np.float64)
    return Estimate(float(values.mean()), n, float(values.std(ddof=1)) / math.sqrt(values.size))


def _standardised(matrix: Floats, fitted: NDArray[np.intp]) -> Floats:
    """Features as the model takes them; medians, means and spreads are of the fitted items alone."""
    missing = ~np.isfinite(matrix)
    middles = [
        float(np.median(column[~absent])) if not absent.all() else 0.0
        for column, absent in zip(matrix[fitted].T, missing[fitted].T, strict=True)
    ]
    full = np.column_stack([np.where(missing, middles, matrix), missing[:, missing.any(axis=0)]])
    centre, spread = full[fitted].mean(axis=0), full[fitted].std(axis=0)
    # The spread of equal numbers is rounding, not 0: dividing by it would blow up what was held out.
    constant = spread <= 1e-9 * (1 + np.abs(centre))
    scaled: Floats = (full - centre) / np.where(constant, 1.0, spread)
    return scaled


def _varies(column: Floats) -> bool:
    """Whether a feature has two values, or is measured for some and not for others."""
    known = np.isfinite(column)
    return bool(known.any()) and (not known.all() or float(column.min()) < float(column.max()))
