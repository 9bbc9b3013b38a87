"""The one statistics library: pure functions over arrays, no Django, seeded where random.

Every docstring states formula, convention, undefined cases and source. Not enough data gives ``None`` with
n, never 0. Modules by topic: ``intervals`` (one sample), ``clustering`` (persons and dialogues as samples;
``twoway`` is the heart), ``detection`` (d′, c), ``trends``, ``wald`` (a whole factor), ``correlation``,
``multiple``, ``planning``, ``nuisance`` (AUC).
What SciPy, statsmodels and scikit-learn do already is left to them.
"""

from __future__ import annotations

from .clustering import OneWay, TwoWay, difference, from_influence, mean, oneway, proportion, twoway
from .correlation import Correlation, kendall, pearson, spearman
from .detection import (
    Detection,
    balanced_accuracy,
    corrected_rate,
    detection,
    detection_counts,
    dprime_difference,
)
from .intervals import (
    Estimate,
    HypothesisTest,
    at_level,
    critical,
    difference_test,
    equivalent,
    plain_se,
    proportion_test,
    standing,
    wilson,
    wilson_bounds,
)
from .multiple import holm
from .nuisance import auc, cross_validated_auc
from .planning import Plan, icc_by_pairs, persons_for_interval, persons_for_test
from .trends import Trend, cochran_armitage, slope
from .wald import JointTest, joint_wald

__all__ = [
    "Correlation",
    "Detection",
    "Estimate",
    "HypothesisTest",
    "JointTest",
    "OneWay",
    "Plan",
    "Trend",
    "TwoWay",
    "at_level",
    "auc",
    "balanced_accuracy",
    "cochran_armitage",
    "corrected_rate",
    "critical",
    "cross_validated_auc",
    "detection",
    "detection_counts",
    "difference",
    "difference_test",
    "dprime_difference",
    "equivalent",
    "from_influence",
    "holm",
    "icc_by_pairs",
    "joint_wald",
    "kendall",
    "mean",
    "oneway",
    "pearson",
    "persons_for_interval",
    "persons_for_test",
    "plain_se",
    "proportion",
    "proportion_test",
    "slope",
    "spearman",
    "standing",
    "twoway",
    "wilson",
    "wilson_bounds",
]
