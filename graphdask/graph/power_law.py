"""Fit of a power law to the tail of a degree distribution: exponent, where the tail begins, and how good the fit is.

The method is that of A. Clauset, C. Shalizi, M. Newman, "Power-law distributions in empirical data", SIAM Review 51
(2009), for integers: the exponent by maximum likelihood with the Hurwitz zeta function (Section 3.1 and equation 3.5),
the beginning of the tail by the least Kolmogorov-Smirnov distance (Section 3.3), and the p-value by repeating the whole
fit on synthetic data (Section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.interface.kinds import checked_seed, whole
from graphdask.partition.given import given_array

LEAST_TAIL = 50
"""Vertices that a tail must have."""
DECADES = 1.0
"""Orders of magnitude that the degrees of a tail must span."""
CANDIDATES = 60
"""Degrees that are tried as the beginning of the tail, at most; spaced logarithmically."""
STEEPEST = 12.0
TABLE = 1 << 14


MOST_DEGREE = 1 << 53
"""Above it floats do not distinguish all whole numbers."""


@dataclass(frozen=True)
class PowerLaw:
    """A fitted tail: of the vertices with degree `first` or more, a share proportional to k^-exponent has degree k."""

    exponent: float
    first: int
    """Degree at which the tail begins."""
    error: float
    """Standard error of the exponent, (exponent - 1) / sqrt(tail)."""
    tail: int
    """Number of vertices in the tail."""
    distance: float
    """Kolmogorov-Smirnov distance of the tail from the law."""
    p_value: float | None = None
    """Share of synthetic samples of the law that fit worse; below 0.1 the law is doubtful. None: not computed."""


def fit_power_law(degrees: Any, first: int | None = None, *, bootstrap: int = 0, seed: int = 0) -> PowerLaw | None:
    """Fit a power law to the tail of a degree distribution.

    Parameters
    ----------
    degrees : array-like of int, shape (n,), or tuple
        The degree of each vertex, or a pair `(degree, count)` of arrays. Zeros are left out.
    first : int, optional
        Degree at which the tail begins; default: where the law fits best.
    bootstrap : int
        Number of synthetic samples for the p-value; 0: none. 100 give it to within 0.05.
    seed : int
        Of the samples, 0 to 2**64 - 1.

    Returns
    -------
    PowerLaw or None
        None where no tail has 50 vertices with degrees over a factor of ten (with `first`: two different degrees).

    Raises
    ------
    InputError
        If `first` is below 1, `bootstrap` below 0, or `seed` out of its range.

    References
    ----------
    Clauset, Shalizi, Newman: Power-law distributions in empirical data, SIAM Review 51 (2009).

    Examples
    --------
    >>> fit_power_law(([1, 2, 3, 4, 6, 12], [4000, 600, 200, 90, 30, 5]), first=1).exponent > 2.5
    True
    """
    first = None if first is None else whole("first", first, 1, MOST_DEGREE)
    bootstrap, seed = whole("bootstrap", bootstrap), checked_seed(seed)
    degree, count = counted(degrees)
    found = _best(degree, count, first)
    if found is None or not bootstrap:
        return found
    rng = np.random.default_rng(seed)
    body = degree < found.first
    worse = 0
    for _ in range(bootstrap):
        total = int(count.sum())
        tail = rng.binomial(total, found.tail / total)
        drawn, times = np.unique(_draws(found, tail, rng), return_counts=True)
        kept = rng.multinomial(total - tail, count[body] / max(count[body].sum(), 1)) if body.any() else count[body]
        sample = _best(np.concatenate([degree[body], drawn]), np.concatenate([kept, times]), first)
        worse += sample is None or sample.distance >= found.distance
    return replace(found, p_value=worse / bootstrap)


def counted(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distinct positive degrees, ascending, and how many vertices have each."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InputError(f"degrees={shown(given)} is not a pair (degree, count)")
        degree, count = (_whole_numbers(f"degrees[{place}]", each) for place, each in enumerate(given))
        if len(degree) != len(count):
            raise InputError(f"degrees has {len(degree)} degrees and {len(count)} counts; it is a pair of as many")
    else:
        degree, count = np.unique(_whole_numbers("degrees", given), return_counts=True)
    seen = (degree > 0) & (count > 0)
    return degree[seen], count[seen]


def _whole_numbers(name: str, given: Any) -> np.ndarray:
    values = given_array(name, given)
    if not values.size:
        return np.zeros(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError(
            f"{name}: an array of whole numbers is needed; it has the shape {values.shape} and the dtype {values.dtype}"
        )
    if values.max() > MOST_DEGREE:
        raise InputError(f"{name} has {values.max()}, which is above 2^53")
    return values.astype(np.int64, copy=False)


def _best(degree: np.ndarray, count: np.ndarray, first: int | None) -> PowerLaw | None:
    """The fit from `first`, or from the candidate with the least distance."""
    seen = count > 0
    degree, count = degree[seen], count[seen]
    if first is not None:
        start = int(np.searchsorted(degree, first))
        return _fit(degree[start:], count[start:], first) if len(degree) - start > 1 else None
    if not len(degree):
        return None
    remaining = np.cumsum(count[::-1])[::-1]
    fit = np.flatnonzero((remaining >= LEAST_TAIL) & (degree * 10**DECADES <= degree[-1]))
    if not len(fit):
        return None
    wanted = np.geomspace(degree[fit[0]], degree[fit[-1]], CANDIDATES)
    starts = np.unique(np.minimum(np.searchsorted(degree, wanted), fit[-1]))
    found = [_fit(degree[start:], count[start:], int(degree[start])) for start in starts]
    return min(found, key=lambda law: law.distance)


def _fit(degree: np.ndarray, count: np.ndarray, first: int) -> PowerLaw:
    """Maximum likelihood for a tail that begins at `first`, and its distance."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    total = int(count.sum())
    logs = float(np.log(degree / first) @ count) / total

    def cost(exponent: float) -> float:
        """Minus the log-likelihood of a vertex, with degrees in units of `first` against underflow."""
        return float(np.log(zeta(exponent, first)) + exponent * (np.log(first) + logs))

    exponent = float(minimize_scalar(cost, bounds=(1.001, STEEPEST), method="bounded", options={"xatol": 1e-7}).x)
    # Both survival functions are steps: the observed one falls after each degree that occurs.
    observed = np.append(np.cumsum(count[::-1])[::-1], 0) / total
    whole = zeta(exponent, first)
    law_at, law_after = zeta(exponent, degree) / whole, zeta(exponent, degree + 1.0) / whole
    distance = max(np.abs(observed[:-1] - law_at).max(), np.abs(observed[1:] - law_after).max())
    return PowerLaw(exponent, first, (exponent - 1) / total**0.5, total, float(distance))


def _draws(law: PowerLaw, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from the law; beyond a table of exact probabilities by the continuous approximation (equation D.6)."""
    from scipy.special import zeta

    above = 1 - rng.random(size)
    table = zeta(law.exponent, law.first + np.arange(1.0, TABLE)) / zeta(law.exponent, law.first)
    drawn = law.first + np.searchsorted(-table, -above, side="right")
    far = above <= table[-1]
    end = law.first + TABLE - 1
    ratio = np.minimum((above[far] / table[-1]) ** (-1 / (law.exponent - 1)), 2.0**62 / end)
    drawn[far] = np.floor((end - 0.5) * ratio + 0.5).astype(np.int64)
    return drawn
