"""A running bound of the distance between ranks and the exact ranks.

It costs two sums an iteration and visits only vertices that are ranked.

Exact ranks solve r = b + d P r, where the columns of P sum to 1; d is the damping. Let q = b + d P r - r be the
residual of other ranks, what one more iteration over all vertices would change. Then exact - r = (1 - d P)^-1 q, and
|exact - r|_1 <= |q|_1 / (1 - d), since the inverse is the sum of (d P)^k (Ohsaka, Maehara, Kawarabayashi: Efficient
PageRank tracking in evolving networks, KDD 2015; Bianchini, Gori, Scarselli: Inside PageRank, 2005).

An iteration that adds c_v to the ranks of the vertices of a set A, c = q there, leaves q + d P c - c: nothing of what A
had, what the others had, and at most d |c_v| spread by each v of A over its out-neighbours. With the self-loop solved
for (Sahu 2024, Equation 2) it leaves nothing at v itself, and d (1 - 1/degree) |c_v| elsewhere. Out-neighbours that are
affected will be ranked, and what they have then goes into their own changes. What is lost to the frontier methods is
the spread of vertices that marked none: `left` adds it up, from one call to the next, since all vertices were ranked
last. An iteration over all vertices sets it to 0; a batch adds nothing, since all whose in-edges changed are affected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BITS = 60
"""Of the largest sum in fixed point that is possible."""
NOISE = 2.0**-40
"""What a sum of changes may grow by through rounding, from one iteration to the next."""
FACTOR = 0.05
"""Share of the residual that has to be a wrong sum for all ranks to be multiplied: of 0.001 to 0.75 on R-MAT, random
batches and preferential attachment, iterations are fewest below 0.05, and hardly fewer far below."""
FIRST = 4.0
"""No less than the residual of any ranks to begin with."""


@dataclass
class Residual:
    """A bound of the L1 norm of the residual, in two parts."""

    damping: float
    left: float
    """Of the vertices that are not affected."""
    affected: float = FIRST
    """Of those that are."""

    @property
    def sum(self) -> float:
        return self.left + self.affected

    @property
    def error(self) -> float:
        """A bound of the L1 distance to the exact ranks."""
        return self.sum / (1.0 - self.damping)

    def rescaled(self, mass: float) -> float | None:
        """The factor that makes ranks of this sum sum to 1, where that pays, and the bound afterwards.

        The residual sums to (1 - d) (1 - mass), a part of it that shrinks by d an iteration and no faster. Ranks times
        f have the residual f q + (1 - f) b.
        """
        wrong = (1.0 - self.damping) * abs(1.0 - mass)
        if wrong <= FACTOR * self.sum or not mass > 0.5:
            return None
        factor = 1.0 / mass
        self.affected, self.left = factor * self.affected, factor * self.left + (1.0 - self.damping) * abs(1.0 - factor)
        return factor

    @property
    def scale(self) -> float:
        """Fixed point of the next sums of |change|, which are no larger than the residual but for rounding."""
        return math.ldexp(1.0, BITS - math.frexp(max(self.sum, NOISE))[1])

    def take(self, spread: int, unsent: int, everywhere: bool) -> None:
        """Take in an iteration: sums in fixed point of what its vertices spread, and of those that marked none."""
        scale = self.scale
        if everywhere:
            self.left = 0.0
        self.left += self.damping * (unsent / scale)
        self.affected = self.damping * ((spread - unsent) / scale)


def halves(number: int) -> tuple[float, float]:
    """The upper and the lower 32 bits: votes that sum exactly."""
    return float(number >> 32), float(number & (2**32 - 1))
