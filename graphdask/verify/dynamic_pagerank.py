"""PageRank of a dynamic graph proved in linear time, distributed.

1. Every rank is a number, and at least its teleport share, (1 - damping) / vertices.
2. One more iteration over all vertices changes the ranks, summed, by no more than what the method may leave. That is
   the residual for every vertex. For the frontier methods it is also the changes that they did not propagate, in each
   iteration at most the larger of their two relative tolerances. Both count since every vertex was last ranked. Divided
   by 1 - damping, the change bounds the L1 distance to the exact ranks.
3. Iterations, residual and tolerance agree on whether it converged.
4. Ranks of the method static sum to 1 within 1e-9. Those of nd do if those that it began with did, and otherwise up to
   the residual of each vertex / (1 - damping).
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.dynamic_pagerank import DynamicPageRank
from graphdask.dynamic.rows import DynamicPart
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.verify.pagerank import contradicted
from graphdask.verify.table import verifies

MASS = 1e-9
ROUNDING = 1e-13


@verifies(DynamicPageRank)
def verify(context: RankContext, part: DynamicPart, primitive: DynamicPageRank, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    mine = _support(context, part, primitive, result) or _claims(primitive, result)
    if first_of_all(context, mine):
        return mine
    if not part.alive:
        return None
    mine = _iteration(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    return _mass(context, part, primitive, result)


def _support(
    context: RankContext, part: DynamicPart, primitive: DynamicPageRank, result: RankResult
) -> Violation | None:
    xp, rank = context.backend.xp, result.columns["rank"]
    least = (1.0 - primitive.damping) / max(part.alive, 1) * (1.0 - 4.0 * float(np.finfo(np.float64).eps))
    places = xp.flatnonzero(~((rank >= least) & (rank <= 2.0)))
    if not len(places):
        return None
    place = int(places[0])
    return Violation(-1, -1, f"a vertex has the rank {float(rank[place]):g}, less than its teleport share, or none")


def _claims(primitive: DynamicPageRank, result: RankResult) -> Violation | None:
    stated = result.values
    if stated["converged"] == primitive.met(stated["residual"], stated["error"]) and (
        stated["iterations"] <= primitive.max_iter
    ):
        return None
    return contradicted(primitive, stated)


def _iteration(
    context: RankContext, part: DynamicPart, primitive: DynamicPageRank, result: RankResult
) -> Violation | None:
    xp = context.backend.xp
    start = xp.zeros(part.num_owned)
    start[part.present] = result.columns["rank"]
    again = DynamicPageRank("static", primitive.damping, 0.0, 1, 0.0, 0.0, keeps=False)
    again.start = start
    found = run_primitive(context.comm, part, again, context.environment("selective"))
    moved = xp.abs(found.columns["rank"] - result.columns["rank"])
    everyone = context.comm.allgather(np.array([float(moved.sum()) if len(moved) else 0.0]))
    change = float(np.sum(everyone))
    most = 1.01 * result.values["drift"] + ROUNDING
    if change <= most:
        return None
    return Violation(
        -1, -1, f"one more iteration changes the ranks by {change:.3g} in sum, which must be {most:.3g} at most"
    )


def _mass(context: RankContext, part: DynamicPart, primitive: DynamicPageRank, result: RankResult) -> Violation | None:
    if not primitive.everywhere:
        return None
    rank = result.columns["rank"]
    everyone = context.comm.allgather(np.array([float(rank.sum()) if len(rank) else 0.0]))
    mass = float(np.sum(everyone))
    most = MASS
    if primitive.method == "nd":
        most += part.alive * result.values["residual"] / (1.0 - primitive.damping)
    return None if abs(mass - 1.0) <= most else Violation(-1, -1, f"the ranks sum to {mass:.12g}, not to 1")
