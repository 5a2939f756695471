"""Local clustering coefficients proved by counting again, distributed.

1. The number of distinct neighbours of every vertex is counted again.
2. Every coefficient is that number's and that of the edges among the neighbours, which the result kept.
3. The edges among the neighbours are at least none and at most all. They are counted again in another way for a sample,
   and by another order for all vertices, as for triangles.
"""

from __future__ import annotations

from graphdask.algorithms.clustering import LocalClustering, coefficients
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import check_again, check_sample, check_sum, distinct_degrees, first_where


@verifies(LocalClustering)
def verify(context: RankContext, part: Part, primitive: LocalClustering, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    links, degree, found = (result.columns[name] for name in ("links", "degree", "coefficient"))
    expected = coefficients(context.backend.xp, links, degree)
    for wrong, message in (
        (degree != distinct_degrees(context, part), "vertex {vertex} has another number of distinct neighbours"),
        ((links < 0) | (links > degree * (degree - 1)), "vertex {vertex} has more edges among its neighbours than fit"),
        (~(found == expected), "vertex {vertex} has another coefficient than its edges among neighbours give"),
    ):
        mine = first_where(part, wrong, message)
        if first_of_all(context, mine):
            return mine
    message = "vertex {{vertex}} has {} edges among its neighbours, not {}"
    mine = check_sample(context, part, links, message)
    if first_of_all(context, mine):
        return mine
    mine = check_again(context, part, LocalClustering(again=True), "links", links, message)
    if first_of_all(context, mine):
        return mine
    total = int(result.values["added"])
    return check_sum(context, links, total, "the edges among neighbours add up to {}, not to {}")
