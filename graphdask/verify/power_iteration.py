"""Centralities by power iteration proved by their last iteration, in linear time, distributed.

A result holds `before`, the scores of the iteration before the last one.

All of them are finite numbers.

1. One iteration from `before` gives the scores. It multiplies by the matrix of the edges with arrays, edge by edge,
   without the program that found the scores.
2. The scores differ from `before` by as much as the residual says.
3. Iterations, residual and tolerance agree on whether it converged.

So the scores are one iteration of the method behind others that differ from them by no more than the residual, whatever
was done before. 1 and 2 hold up to the rounding of sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask.algorithms.eigenvector import EigenvectorCentrality
from graphdask.algorithms.katz import KatzCentrality
from graphdask.algorithms.link_analysis import Hits
from graphdask.algorithms.power_iteration import PowerIteration
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Csr, Part
from graphdask.partition.tuning import PARTITION
from graphdask.verify.pagerank import contradicted
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

EPSILON = 2.0**-52
SUMS = 64.0
"""Roundings of a value besides those of the sum over its row: of norms, and of sums over all vertices."""


@verifies(PowerIteration)
def verify(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return proved(context, part, primitive, result, Matrix(context, part, primitive))


class Matrix:
    """The edges of a graph, as what scores are multiplied by."""

    def __init__(self, context: RankContext, part: Part, primitive: PowerIteration):
        self.context, self.part, self.primitive = context, part, primitive

    def rows(self, inward: bool) -> Iterator[tuple[int, Csr]]:
        """Yield the own rows of out-edges or in-edges in pieces: the first row, and the edges of some rows."""
        rows = self.part.inward if inward and self.primitive.directed else self.part.out
        assert rows is not None
        yield 0, rows

    def by_slot(self, values: Array) -> Array:
        """Return the values of own vertices and those of the ghosts."""
        (found,) = self.context.environment("selective").fetch_ghosts(self.part, [values])
        return found

    def longest(self) -> int:
        """Return the largest number of edges of an own row."""
        directions = self.part.directions if self.part.num_owned else ()
        return max((int((csr.indptr[1:] - csr.indptr[:-1]).max()) for csr in directions), default=0)

    def sums(self, inward: bool, values: Array) -> Array:
        """Return the sum over each row of the values of the vertices there, multiplied by weights if these count."""
        xp, by_slot = self.context.backend.xp, self.by_slot(values)
        sums = xp.zeros(self.part.num_owned, np.float64)
        for base, csr in self.rows(inward):
            begin, end = int(csr.indptr[0]), int(csr.indptr[-1])
            for first in range(begin, end, PARTITION.block_edges):
                last = min(first + PARTITION.block_edges, end)
                rows = xp.searchsorted(csr.indptr, xp.arange(first, last), side="right") - 1
                lowest, highest = int(rows[0]), int(rows[-1])
                terms = by_slot[csr.indices[first:last]]
                if self.primitive.weighted:
                    assert csr.weights is not None
                    terms = terms * csr.weights[first:last]
                found = xp.bincount(rows - lowest, terms, highest - lowest + 1)
                sums[base + lowest : base + highest + 1] += found
        return sums


def proved(
    context: RankContext, part: Part, primitive: PowerIteration, result: RankResult, matrix: Matrix
) -> Violation | None:
    """Return this rank's first violation of the scores of the vertices `part.ids`, or None."""
    wrong = _no_number(context, part, result)
    if first_of_all(context, wrong):
        return wrong
    longest = context.comm.allreduce(np.array([matrix.longest()], np.int64), "max")
    rounding = (SUMS + 2.0 * float(longest[0])) * EPSILON  # the largest relative difference of two sums over a row
    found, change, allowed = LAST[type(primitive)](context, part, primitive, result, matrix, rounding)
    return _first(context, *found, _claims(context, primitive, result, change, allowed))


Wrong = tuple[list[Violation | None], Array, Array]
"""Violations, and the change in the last iteration, and how far that of each vertex may be wrong."""


def _eigenvector(context: RankContext, part: Part, _: Any, result: RankResult, of: Matrix, rounding: float) -> Wrong:
    score, before = result.columns["score"], result.columns["before"]
    image = before + of.sums(True, before)
    expected = image / (_norm(context, image) or 1.0)
    allowed = rounding * expected
    return [_wrong(part, "score", score, expected, allowed)], score - before, allowed


def _katz(context: RankContext, part: Part, primitive: Any, result: RankResult, of: Matrix, rounding: float) -> Wrong:
    before = result.columns["before"]
    last = primitive.alpha * of.sums(True, before) + primitive.beta
    size = last
    if min(primitive.alpha, primitive.beta) < 0.0:  # what is added up may cancel
        size = abs(primitive.alpha) * of.sums(True, abs(before)) + abs(primitive.beta)
    norm = (_norm(context, last) or 1.0) if primitive.normalized else 1.0
    allowed = rounding * size
    return [_wrong(part, "score", result.columns["score"], last / norm, allowed / norm)], last - before, allowed


def _hits(context: RankContext, part: Part, _: Any, result: RankResult, of: Matrix, rounding: float) -> Wrong:
    hub, authority, before = (result.columns[name] for name in ("hub", "authority", "before"))
    found = []
    if result.values["iterations"] > 1:  # the first iteration begins with hub scores
        sums = of.sums(True, of.sums(False, before))
        expected = sums / (_total(context, sums) or 1.0)
        found.append(_wrong(part, "authority", authority, expected, 2.0 * rounding * expected))
    sums = of.sums(False, authority)
    expected = sums / (_total(context, sums) or 1.0)
    found.append(_wrong(part, "hub", hub, expected, rounding * expected))
    return found, authority - before, rounding * authority


LAST = {EigenvectorCentrality: _eigenvector, KatzCentrality: _katz, Hits: _hits}
"""By primitive, how its last iteration is repeated."""


def _total(context: RankContext, values: Array) -> float:
    """The sum over the vertices of all ranks."""
    return float(context.comm.allreduce(np.array([float(values.sum())]), "sum")[0])


def _norm(context: RankContext, values: Array) -> float:
    return math.sqrt(_total(context, values * values))


def _no_number(context: RankContext, part: Part, result: RankResult) -> Violation | None:
    """The first vertex that has a score, or had one before, that is infinite or NaN."""
    xp, wrong = context.backend.xp, context.backend.xp.zeros(part.num_owned, bool)
    for column in result.columns.values():
        wrong |= ~xp.isfinite(column)
    return first_where(part, wrong, "vertex {vertex} has a score that is no finite number")


def _wrong(part: Part, column: str, scores: Array, expected: Array, allowed: Array) -> Violation | None:
    """The first vertex whose score is not what the last iteration gives."""
    return first_where(
        part, ~(abs(scores - expected) <= allowed), f"vertex {{vertex}} has another {column} after its last iteration"
    )


def _claims(
    context: RankContext, primitive: PowerIteration, result: RankResult, change: Array, allowed: Array
) -> Violation | None:
    """A violation if the residual is another, or iterations, residual and convergence contradict each other."""
    stated, scale = result.values, primitive.per_change
    residual, slack = _total(context, abs(change)) / scale, _total(context, abs(allowed)) / scale
    if not abs(residual - stated["residual"]) <= slack + 1e-9 * residual:
        return Violation(-1, -1, f"the last iteration changes the scores by {residual:g}, not {stated['residual']:g}")
    ends = 0 <= stated["iterations"] <= primitive.max_iter
    if ends and stated["converged"] == (stated["residual"] <= primitive.tol):
        return None
    return contradicted(primitive, stated)


def _first(context: RankContext, *found: Violation | None) -> Violation | None:
    """The first violation of this rank, unless another rank has an earlier one."""
    for mine in found:
        if first_of_all(context, mine):
            return mine
    return None
