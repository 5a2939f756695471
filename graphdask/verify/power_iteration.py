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
from typing import Any

import numpy as np

from graphdask.algorithms._power_iteration import PowerIteration
from graphdask.algorithms.eigenvector import EigenvectorCentrality
from graphdask.algorithms.katz import KatzCentrality
from graphdask.algorithms.link_analysis import Hits
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.neighbours import PIECE
from graphdask.partition.part import Csr, Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

EPSILON = 2.0**-52
SUMS = 64.0
"""Roundings of a value besides those of the sum over its row: of norms, and of sums over all vertices."""


@verifies(EigenvectorCentrality)
def verify_eigenvector(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    wrong = _no_number(context, part, result)
    if first_of_all(context, wrong):
        return wrong
    score, before = result.columns["score"], result.columns["before"]
    image = before + _sums(context, part, _inward(part, primitive), before, primitive)
    expected = image / (_norm(context, image) or 1.0)
    allowed = _rounding(context, part) * expected
    wrong = _wrong(part, "score", score, expected, allowed)
    return _first(context, wrong, _claims(context, primitive, result, score - before, allowed))


@verifies(KatzCentrality)
def verify_katz(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    wrong = _no_number(context, part, result)
    if first_of_all(context, wrong):
        return wrong
    before, inward = result.columns["before"], _inward(part, primitive)
    last = primitive.alpha * _sums(context, part, inward, before, primitive) + primitive.beta
    size = last
    if min(primitive.alpha, primitive.beta) < 0.0:  # what is added up may cancel
        size = _sums(context, part, inward, abs(before), primitive)
        size = abs(primitive.alpha) * size + abs(primitive.beta)
    norm = (_norm(context, last) or 1.0) if primitive.normalized else 1.0
    allowed = _rounding(context, part) * size
    wrong = _wrong(part, "score", result.columns["score"], last / norm, allowed / norm)
    return _first(context, wrong, _claims(context, primitive, result, last - before, allowed))


@verifies(Hits)
def verify_hits(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    wrong = _no_number(context, part, result)
    if first_of_all(context, wrong):
        return wrong
    hub, authority, before = (result.columns[name] for name in ("hub", "authority", "before"))
    rounding, found = _rounding(context, part), []
    if result.values["iterations"] > 1:  # the first iteration begins with hub scores
        sums = _sums(context, part, part.out, before, primitive)
        sums = _sums(context, part, _inward(part, primitive), sums, primitive)
        expected = sums / (_total(context, sums) or 1.0)
        found.append(_wrong(part, "authority", authority, expected, 2.0 * rounding * expected))
    sums = _sums(context, part, part.out, authority, primitive)
    expected = sums / (_total(context, sums) or 1.0)
    found.append(_wrong(part, "hub", hub, expected, rounding * expected))
    return _first(context, *found, _claims(context, primitive, result, authority - before, rounding * authority))


def _inward(part: Part, primitive: PowerIteration) -> Csr:
    if not primitive.directed:
        return part.out
    assert part.inward is not None
    return part.inward


def _sums(context: RankContext, part: Part, csr: Csr, values: Array, primitive: PowerIteration) -> Array:
    """The sum over each row of the values of the vertices there, multiplied by weights if these count."""
    xp = context.backend.xp
    (by_slot,) = context.environment("selective").fetch_ghosts(part, [values])
    sums = xp.zeros(part.num_owned, np.float64)
    for first in range(0, csr.num_edges, PIECE):
        last = min(first + PIECE, csr.num_edges)
        rows = xp.searchsorted(csr.indptr, xp.arange(first, last), side="right") - 1
        lowest, highest = int(rows[0]), int(rows[-1])
        terms = by_slot[csr.indices[first:last]]
        if primitive.weighted:
            assert csr.weights is not None
            terms = terms * csr.weights[first:last]
        sums[lowest : highest + 1] += xp.bincount(rows - lowest, terms, highest - lowest + 1)
    return sums


def _total(context: RankContext, values: Array) -> float:
    """The sum over the vertices of all ranks."""
    return float(context.comm.allreduce(np.array([float(values.sum())]), "sum")[0])


def _norm(context: RankContext, values: Array) -> float:
    return math.sqrt(_total(context, values * values))


def _rounding(context: RankContext, part: Part) -> float:
    """The largest relative difference of two sums over the longest row of the graph."""
    directions = part.directions if part.num_owned else ()
    longest = max((int((csr.indptr[1:] - csr.indptr[:-1]).max()) for csr in directions), default=0)
    return (SUMS + 2.0 * float(context.comm.allreduce(np.array([longest], np.int64), "max")[0])) * EPSILON


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
    return Violation(
        -1,
        -1,
        f"iterations={stated['iterations']}, residual={stated['residual']:g} and converged={stated['converged']} do "
        f"not go together with max_iter={primitive.max_iter} and tol={primitive.tol:g}",
    )


def _first(context: RankContext, *found: Violation | None) -> Violation | None:
    """The first violation of this rank, unless another rank has an earlier one."""
    for mine in found:
        if first_of_all(context, mine):
            return mine
    return None
