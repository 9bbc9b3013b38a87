"""One test for a whole factor: the levels of an answer, or systems, or strategies, at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .arrays import Codes, clusters, codes, floats, square_sum
from .intervals import Lack

#: Directions with less than this share of the largest variance are rounding.
_RANK = 1e-10

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JointTest:
    """F = W/df with its p; ``df`` levels less one, ``df_error`` the smaller number of clusters less one."""

    statistic: float | None
    p: float | None
    df: int
    df_error: int | None
    n: int
    participants: int
    items: int
    lack: Lack = ""


def joint_wald(
    y: ArrayLike,
    factor: ArrayLike,
    participant: ArrayLike,
    item: ArrayLike,
    *,
    adjust: tuple[ArrayLike, ...] = (),
) -> JointTest:
    """Whether the mean of y differs between the levels of ``factor``, the levels of ``adjust`` held equal.

    Linear probability model y = a + Σ levels of ``factor`` + Σ levels of each of ``adjust``, least squares.
    By Frisch–Waugh the coefficients b of the factor's q = levels − 1 indicators come from what is left, x, of
    these after everything else: b = M⁻¹ Σ xy with M = Σ xxᵀ. Influence vectors u_i = M⁻¹ x_i e_i with the
    residual e of the whole model; V_g = k/(k−1) Σ_clusters (Σu)(Σu)ᵀ and V_i = N/(N−1) Σ uuᵀ as in
    :func:`twoway`.

    V = max(V_p + V_d − V_i, V_p, V_d) is of matrices here, and the first need not be positive semidefinite.
    The larger of two is A ∨ B = (A + B + |A − B|)/2, the absolute value of a symmetric matrix taken by its
    eigenvalues, in coordinates where V_i is the identity, so that V does not depend on which level is the
    reference. V = (V_p ∨ V_d) ∨ (V_p + V_d − V_i) is positive semidefinite, gives no contrast less
    variance than any of the three does, and for q = 1 is the maximum of :func:`twoway`. (Cameron, Gelbach,
    Miller 2011 set negative eigenvalues to zero: contrasts may then have less variance than participants
    alone give, and the test finds differences too often.)

    W = bᵀV⁻¹b; F = W/q with q and G − 1 degrees of freedom, G the smaller number of clusters, as is usual
    where clusters are few (Cameron & Miller 2015, J. Human Resources 50:317, section VI). For q = 1: t².

    No value: no data; fewer than two levels, or levels that the adjustment explains (``no_spread``);
    G − 1 < q (``one_cluster``); residuals that vanish or cancel (``no_spread``).
    """
    values, levels = floats(y), codes(factor)
    persons, dialogues = codes(participant), codes(item)
    others = [codes(labels) for labels in adjust]
    n = values.size
    if any(labels.size != n for labels in (levels, persons, dialogues, *others)):
        raise ValueError("one entry per verdict in every array")
    k_persons, k_dialogues = clusters(persons), clusters(dialogues)
    q = max(0, clusters(levels) - 1)

    def lacking(lack: Lack) -> JointTest:
        return JointTest(None, None, q, None, n, k_persons, k_dialogues, lack)

    if n == 0:
        return lacking("no_data")
    if q == 0:
        return lacking("no_spread")
    df_error = min(k_persons, k_dialogues) - 1
    if df_error < q:
        return lacking("one_cluster")
    rest = np.column_stack([np.ones(n), *(_indicators(labels) for labels in others)])
    shown = _indicators(levels)
    both = _residuals(np.column_stack([shown, values]), rest)
    x, left = both[:, :-1], both[:, -1]
    gram = _gram(x, x)
    # An indicator that the others explain leaves only rounding.
    if (gram.diagonal() <= _RANK * _gram(shown, shown).diagonal()).any() or not _is_regular(gram):
        return lacking("no_spread")
    inverse = np.linalg.inv(gram)
    b = inverse @ _gram(x, left[:, None])[:, 0]
    error = left - np.einsum("ij,j->i", x, b)
    if square_sum(error) <= _RANK * square_sum(values):
        return lacking("no_spread")
    u = np.einsum("ij,jk->ik", x * error[:, None], inverse)
    v = _two_way_matrix(u, persons, dialogues)
    if v is None:
        return lacking("no_spread")
    statistic = float(b @ np.linalg.solve(v, b)) / q
    p = float(special.fdtrc(q, df_error, statistic))
    return JointTest(statistic, p, q, df_error, n, k_persons, k_dialogues)


def _two_way_matrix(u: Matrix, persons: Codes, dialogues: Codes) -> Matrix | None:
    """V of the influence vectors ``u``; ``None`` where a contrast has none."""
    n = u.shape[0]
    v_plain = n / (n - 1) * _gram(u, u)
    if not _is_regular(v_plain):
        return None
    lengths, axes = np.linalg.eigh(v_plain)
    root = axes * np.sqrt(lengths)
    back = np.linalg.inv(root)
    of_persons, of_dialogues = (back @ _cluster_matrix(u, one) @ back.T for one in (persons, dialogues))
    both = of_persons + of_dialogues - np.eye(u.shape[1])
    larger = _larger(_larger(of_persons, of_dialogues), both)
    if float(np.linalg.eigvalsh(larger)[0]) <= _RANK:
        return None
    found: Matrix = root @ larger @ root.T
    return found


def _cluster_matrix(u: Matrix, groups: Codes) -> Matrix:
    sums: Matrix = np.column_stack([np.bincount(groups, weights=column) for column in u.T])
    k = clusters(groups)
    found: Matrix = k / (k - 1) * _gram(sums, sums)
    return found


def _larger(one: Matrix, other: Matrix) -> Matrix:
    """(A + B + |A − B|)/2: of the matrices that bound both, the one with the smallest trace."""
    lengths, axes = np.linalg.eigh(one - other)
    found: Matrix = other + (axes * np.maximum(lengths, 0.0)) @ axes.T
    return found


def _indicators(levels: Codes) -> Matrix:
    """A column of zeros and ones for every level but the first that occurs."""
    places = np.flatnonzero(np.bincount(levels))[1:]
    found: Matrix = (levels[:, None] == places).astype(np.float64)
    return found


def _residuals(columns: Matrix, rest: Matrix) -> Matrix:
    """What is left of each column after least squares on the columns of ``rest``, which may overlap."""
    weights = np.linalg.pinv(_gram(rest, rest), rcond=_RANK, hermitian=True) @ _gram(rest, columns)
    left: Matrix = columns - np.einsum("ij,jk->ik", rest, weights)
    return left


def _gram(left: Matrix, right: Matrix) -> Matrix:
    """XᵀZ, without the threads of ``@`` (see ``arrays``)."""
    found: Matrix = np.einsum("ij,ik->jk", left, right)
    return found


def _is_regular(matrix: Matrix) -> bool:
    """Whether a matrix of squares and products has full rank, each coordinate measured by its own square."""
    scale = np.sqrt(matrix.diagonal())
    if not (scale > 0).all():
        return False
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > _RANK)
