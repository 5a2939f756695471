"""Closeness and harmonic centrality by weight proved by searches with parents, distributed.

1. All sources are searched again, one after the other, by `sssp`, whose searches have other labels and find parents.
   Those of a few sources, spread over all of them, are proved as `graphdask.verify.sssp` describes.
2. The sums over these distances, in the order of the sources, must have the same bits; so must the scores.

So every value that was changed, lost or sent wrong is found and named. It takes about as long as the run.
"""

from __future__ import annotations

from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.weighted_nearness import Sums, WeightedNearness
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify import sssp
from graphdask.verify.distances import SAMPLE
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

CHECKED = (
    ("reached", "number of sources"), ("high", "sum of distances"), ("low", "sum of distances"),
    ("inverse", "sum of 1 / distance"), ("score", "score"),
)  # fmt: skip
"""Columns that are compared, and what they are."""


@verifies(WeightedNearness)
def verify(context: RankContext, part: Part, primitive: WeightedNearness, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp, env = context.backend.xp, context.environment("selective")
    sums, sources = Sums.zero(xp, part.num_owned, primitive.table), primitive.sources
    proved = sources[:: max(1, len(sources) // SAMPLE)][:SAMPLE]
    for source in sources:
        search = paths_from(primitive, source)
        found = run_primitive(context.comm, part, search, env)
        if source in proved:
            mine = sssp.verify(context, part, search, found)
            if first_of_all(context, mine):
                return mine
        distance = found.columns["distance"]
        if distance.dtype.kind != "f":
            distance = xp.where(distance < 0, unreached(distance.dtype), distance)
        sums.add(xp, distance)
    return differing(context, part, result.columns, primitive.result_of(part, env, sums))


def paths_from(primitive: WeightedNearness, source: int) -> ShortestPaths:
    """The search of `sssp` from a source."""
    of = primitive.lengths
    return ShortestPaths((source,), None, of.unit, of.distance, of.flat, of.most)


def differing(
    context: RankContext, part: Part, found: dict[str, Array], again: dict[str, Array]
) -> Violation | None:  # fmt: skip
    """Return the first violation where columns are not those that were computed again. Every rank calls it."""
    for column, what in CHECKED:
        wrong = found[column] != again[column]
        mine = first_where(part, wrong, f"vertex {{vertex}} has another {what} when it is computed again")
        if first_of_all(context, mine):
            return mine
    return None
