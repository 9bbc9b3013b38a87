"""The one statistics library: pure functions over arrays, no Django, seeded where random.

Every docstring states formula, convention, undefined cases and source. Not enough data gives ``None`` with
n, never 0. Modules by topic: ``intervals`` (one sample), ``clustering`` (persons and dialogues as samples;
``twoway`` is the heart), ``detection`` (d′, c), ``trends``, ``wald`` (a whole factor), ``correlation``,
``multiple``, ``planning``, ``nuisance`` (AUC), ``superiority``. Of raters' scores: ``ratings`` (the arrays),
``agreement`` (alpha), ``kappa``, ``bootstrap``, ``ordinal`` (accuracy), ``revision``, ``rater_quality``. Of
the group game, by its own name: ``chance``.
What SciPy, statsmodels and scikit-learn do already is left to them.
"""

from __future__ import annotations

from .agreement import krippendorff_alpha, percent_agreement, spearman_brown
from .bootstrap import AlphaInterval, alpha_interval, alpha_intervals
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
from .kappa import (
    Confusion,
    PairwiseKappa,
    RaterPair,
    ac1_from_table,
    cohen_kappa,
    confusion,
    gwet_ac1,
    kappa_from_table,
    pairwise_kappa,
)
from .multiple import holm
from .nuisance import auc, cross_validated_auc
from .ordinal import (
    OrdinalAccuracy,
    clear_against_truth,
    mean_absolute_difference,
    ordinal_accuracy,
    right_side_share,
)
from .planning import Plan, icc_by_pairs, persons_for_interval, persons_for_test
from .rater_quality import Halo, Retest, StraightLining, drift, halo, others_mean, retest, straight_lining
from .ratings import Codings, RatingsArray, codings, ratings_array
from .revision import RevisionImpact, revision_impact, revision_impact_by
from .superiority import superiority
from .trends import Trend, cochran_armitage, slope
from .wald import JointTest, joint_wald

__all__ = [
    "AlphaInterval",
    "Codings",
    "Confusion",
    "Correlation",
    "Detection",
    "Estimate",
    "Halo",
    "HypothesisTest",
    "JointTest",
    "OneWay",
    "OrdinalAccuracy",
    "PairwiseKappa",
    "Plan",
    "RaterPair",
    "RatingsArray",
    "Retest",
    "RevisionImpact",
    "StraightLining",
    "Trend",
    "TwoWay",
    "ac1_from_table",
    "alpha_interval",
    "alpha_intervals",
    "at_level",
    "auc",
    "balanced_accuracy",
    "clear_against_truth",
    "cochran_armitage",
    "codings",
    "cohen_kappa",
    "confusion",
    "corrected_rate",
    "critical",
    "cross_validated_auc",
    "detection",
    "detection_counts",
    "difference",
    "difference_test",
    "dprime_difference",
    "drift",
    "equivalent",
    "from_influence",
    "gwet_ac1",
    "halo",
    "holm",
    "icc_by_pairs",
    "joint_wald",
    "kappa_from_table",
    "kendall",
    "krippendorff_alpha",
    "mean",
    "mean_absolute_difference",
    "oneway",
    "ordinal_accuracy",
    "others_mean",
    "pairwise_kappa",
    "pearson",
    "percent_agreement",
    "persons_for_interval",
    "persons_for_test",
    "plain_se",
    "proportion",
    "proportion_test",
    "ratings_array",
    "retest",
    "revision_impact",
    "revision_impact_by",
    "right_side_share",
    "slope",
    "spearman",
    "spearman_brown",
    "standing",
    "straight_lining",
    "superiority",
    "twoway",
    "wilson",
    "wilson_bounds",
]
