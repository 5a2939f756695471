"""One binomial number for a seed, the same on every machine: decimal arithmetic of fixed precision, no libm.

Python's decimal module rounds ln and exp correctly, so the result is a function of the arguments. The uniform numbers
have 128 bits, from a keyed BLAKE2 hash of (seed, how many were drawn). Where the mean is small, the law is inverted;
else it is sampled by transformed rejection.

Source: W. Hoermann, "The generation of binomial random variates", Journal of Statistical Computation and Simulation 46
(1993), algorithm BTRS.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import comb, prod

PRECISION = 120
"""Decimal digits: ln(N!) for N = 2^124 has 39 digits before the point."""

INVERTED = 10
"""Below this mean the law is inverted; the constants of the rejection hold from here on."""

SHIFT = 64
"""Stirling's series is used from here on."""

TERMS = 30
"""Of Stirling's series: what is left out at 64 is below 2^-230."""


def binomial(trials: int, p: float, seed: int) -> int:
    """Draw the number of successes in `trials` trials.

    Parameters
    ----------
    trials : int
        0 to 2**124.
    p : float
        Probability of a success, 0 to 1; exactly the decimal number that it prints as.
    seed : int
        0 to 2**64 - 1.

    Returns
    -------
    int
        Of the binomial law to within 2**-90.

    Examples
    --------
    >>> binomial(100, 0.0, seed=1), binomial(100, 1.0, seed=1)
    (0, 100)
    """
    with localcontext(Context(prec=PRECISION, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9)):
        success = Decimal(repr(p))
        failure = 1 - success
        if not trials or not success:
            return 0
        if not failure:
            return trials
        uniform = _uniform(seed)
        rare = min(success, failure)
        drawn = (_inverted if trials * rare < INVERTED else _rejected)(trials, rare, uniform)
        return drawn if success <= failure else trials - drawn


def _uniform(seed: int) -> Iterator[Decimal]:
    """Numbers in (0, 1): odd multiples of 2^-129."""
    key = seed.to_bytes(8, "little")
    for number in itertools.count():
        digest = hashlib.blake2b(number.to_bytes(8, "little"), digest_size=16, key=key, person=b"binomial").digest()
        yield Decimal(2 * int.from_bytes(digest, "little") + 1) / (1 << 129)


def _inverted(trials: int, p: Decimal, uniform: Iterator[Decimal]) -> int:
    """The smallest number whose distribution function exceeds a uniform number."""
    odds = p / (1 - p)
    share = (trials * (1 - p).ln()).exp()
    below, left, drawn = share, next(uniform), 0
    while below <= left and drawn < trials:
        share *= odds * (trials - drawn) / (drawn + 1)
        below += share
        drawn += 1
    return drawn


def _rejected(trials: int, p: Decimal, uniform: Iterator[Decimal]) -> int:
    """BTRS without its squeezes; p <= 1/2 and trials * p >= 10."""
    spread = (trials * p * (1 - p)).sqrt()
    b = Decimal("1.15") + Decimal("2.53") * spread
    a = Decimal("-0.0873") + Decimal("0.0248") * b + Decimal("0.01") * p
    centre = trials * p + Decimal("0.5")
    alpha = (Decimal("2.83") + Decimal("5.1") / b) * spread
    mode = int((trials + 1) * p)
    log_odds = (p / (1 - p)).ln()
    log_mode = log_factorial(mode) + log_factorial(trials - mode)
    while True:
        u = next(uniform) - Decimal("0.5")
        v = next(uniform)
        edge = Decimal("0.5") - abs(u)
        drawn = ((2 * a / edge + b) * u + centre).to_integral_value("ROUND_FLOOR")
        if not 0 <= drawn <= trials:
            continue
        k = int(drawn)
        log_share = log_mode - log_factorial(k) - log_factorial(trials - k) + (k - mode) * log_odds
        if (v * alpha / (a / (edge * edge) + b)).ln() <= log_share:
            return k


def log_factorial(k: int) -> Decimal:
    """ln(k!) - ln(2 pi) / 2 by Stirling's series of ln Gamma(k + 1), moved beyond SHIFT."""
    x = Decimal(k + 1)
    moved = Decimal(0)
    if k + 1 < SHIFT:
        moved = Decimal(prod(range(k + 1, SHIFT))).ln()
        x = Decimal(SHIFT)
    series = Decimal(0)
    for coefficient in reversed(_stirling()):
        series = series / (x * x) + coefficient
    return (x - Decimal("0.5")) * x.ln() - x + series / x - moved


@cache
def _stirling() -> tuple[Decimal, ...]:
    """Coefficients B_2k / (2k (2k - 1)) of x^-(2k - 1), from the recursion of the Bernoulli numbers."""
    numbers = [Fraction(1)]
    for m in range(1, 2 * TERMS + 1):
        numbers.append(-sum((comb(m + 1, j) * numbers[j] for j in range(m)), Fraction(0)) / (m + 1))
    found = (numbers[2 * k] / (2 * k * (2 * k - 1)) for k in range(1, TERMS + 1))
    return tuple(Decimal(c.numerator) / c.denominator for c in found)
