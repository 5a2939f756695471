"""A PageRank result proved in linear time, distributed.

1. Every rank is a number, and at least its teleport share, (1 - damping) times the vertex's share of all teleports.
2. One more iteration changes the ranks, summed, by no more than damping times their last change: the iteration is a
   contraction by that factor. So the last change was what the result says, and bounds the distance to the exact ranks.
3. Iterations, residual and tolerance agree on whether it converged.
4. The ranks sum to 1.

2 and 4 hold up to the rounding of the ranks' dtype.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.pagerank import DANGLING_SCALE, PageRank
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify.table import verifies

ROUNDING = {"float64": 1e-13, "float32": 1e-6}
"""What rounding may add to the change of an iteration."""
MASS = {"float64": 1e-9, "float32": 1e-5}
"""How far from 1 the ranks may sum."""


@dataclass(frozen=True)
class _Ranks:
    """Ranks to begin with, as they are."""

    ranks: Array
    nbytes = 0
    """Bytes besides the result."""

    def of(self, part: Part, env: Environment) -> Array:
        return self.ranks


@verifies(PageRank)
def verify(context: RankContext, part: Part, primitive: PageRank, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    mine = _support(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    if not part.num_vertices:
        return None
    mine = _iteration(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    return claims(primitive, result) or mass(context, result)


def _support(context: RankContext, part: Part, primitive: PageRank, result: RankResult) -> Violation | None:
    xp, rank = context.backend.xp, result.columns["rank"].astype(np.float64)
    env = context.environment("selective")
    given = primitive.personalization
    share = 1.0 / max(part.num_vertices, 1) if given is None else given.of(part, env)
    least = (1.0 - primitive.damping) * share * (1.0 - 4.0 * float(np.finfo(result.columns["rank"].dtype).eps))
    places = xp.flatnonzero(~((rank >= least) & (rank <= 2.0)))
    if not len(places):
        return None
    place = int(places[part.ids[places].argmin()])
    return Violation(
        int(part.ids[place]),
        -1,
        f"vertex {{vertex}} has the rank {float(rank[place]):g}, less than its teleport share, or no rank at all",
    )


def _iteration(context: RankContext, part: Part, primitive: PageRank, result: RankResult) -> Violation | None:
    """Iterate once more; where that changes too much, the rank that holds the largest change names its vertex."""
    xp, rank = context.backend.xp, result.columns["rank"]
    again = copy.copy(primitive)
    again.start, again.max_iter, again.tol = _Ranks(rank), 1, 0.0  # type: ignore[assignment]
    found = run_primitive(context.comm, part, again, context.environment("selective"))
    allowed = primitive.damping * result.values["change"] + ROUNDING[np.dtype(rank.dtype).name]
    if found.values["change"] <= allowed:
        return None
    moved = xp.abs(found.columns["rank"].astype(np.float64) - rank)
    largest = float(moved.max()) if len(moved) else -1.0
    if largest < float(context.comm.allreduce(np.array([largest]), "max")[0]):
        return None
    place = int(moved.argmax())
    return Violation(
        int(part.ids[place]),
        -1,
        f"one more iteration changes the ranks by {found.values['change']:.3g}, which must be {allowed:.3g} at most; "
        f"the rank of vertex {{vertex}} changes most, from {float(rank[place]):g} by {largest:.3g}",
    )


def contradicted(primitive: Any, stated: Mapping[str, Any]) -> Violation:
    """The violation that iterations, residual and convergence contradict each other."""
    return Violation(
        -1, -1,
        f"iterations={stated['iterations']}, residual={stated['residual']:g} and converged={stated['converged']} do "
        f"not go together with max_iter={primitive.max_iter} and tol={primitive.tol:g}",
    )  # fmt: skip


def claims(primitive: PageRank, result: RankResult) -> Violation | None:
    """Return a violation if iterations, residual and convergence of a result contradict each other."""
    stated = result.values
    reached = stated["residual"] <= primitive.tol
    # the largest change is no larger than their sum, which is what bounds the error
    bounded = stated["residual"] <= stated["change"] * (1 + 1e-6) + 1e-15
    if stated["converged"] == reached and bounded and 1 <= stated["iterations"] <= primitive.max_iter:
        return None
    return contradicted(primitive, stated)


def mass(context: RankContext, result: RankResult) -> Violation | None:
    """Return a violation if the ranks do not sum to 1."""
    xp, rank = context.backend.xp, result.columns["rank"]
    fixed = xp.rint(rank.astype(np.float64) * DANGLING_SCALE).astype(np.int64).sum(dtype=np.int64)
    everyone = context.comm.allgather(np.array([int(fixed)], np.int64))
    total = sum(int(x) for x in np.ravel(everyone)) / int(DANGLING_SCALE)
    if abs(total - 1.0) <= MASS[np.dtype(rank.dtype).name]:
        return None
    return Violation(-1, -1, f"the ranks sum to {total:.12g}, not to 1")
