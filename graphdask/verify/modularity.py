"""Communities and their modularity proved in linear time, distributed.

1. A label is the smallest id of its community: no label is larger than the id of its vertex, and the vertex that a
   label names has that label.
2. The modularity is computed again from the weights of the graph as they are, in float64: an edge from either end, and
   the sums of degrees by sorting labels. It may differ by the rounding of these sums, TOLERANCE.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.modularity import Modularity
from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import row_of_each, to_owners
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.neighbours import firsts
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

TOLERANCE = 1e-9


@verifies(Modularity)
def verify(context: RankContext, part: Part, primitive: Modularity, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    label = result.columns["label"]
    given = context.backend.from_host(primitive.labels[context.backend.to_host(part.ids)])
    mine = first_where(part, given != label, "vertex {vertex} has not the smallest id of its community as its label")
    if first_of_all(context, mine):
        return mine
    return check_communities(context, part, label, result.values)


def check_communities(context: RankContext, part: Part, label: Array, values: dict[str, Any]) -> Violation | None:
    """Check that labels are smallest ids, and the number and modularity of communities. Every rank calls it."""
    n = part.num_vertices
    mine = first_where(part, (label < 0) | (label >= n), "vertex {vertex} has a label that is no vertex")
    if first_of_all(context, mine):
        return mine
    mine = first_where(part, label > part.ids, "vertex {vertex} has a label that is larger than its id")
    named = part.vertex_map.to_position(context.backend, label)
    (named,) = to_owners(context.comm, context.backend, part.vertex_map.offsets, named)
    of_named = label[named - named.dtype.type(part.first_position)]
    asked = part.ids[named - named.dtype.type(part.first_position)]
    wrong = of_named != asked
    if not mine and any_set(wrong):
        mine = Violation(int(asked[wrong].min()), -1, "vertex {vertex} is a label but has another label itself")
    if first_of_all(context, mine):
        return mine
    found, communities = _modularity(context, part, label, float(values["resolution"]))
    if communities != values["num_communities"]:
        return Violation(-1, -1, f"there are {communities} communities, not {values['num_communities']}")
    if not abs(found - values["modularity"]) <= TOLERANCE * max(1.0, float(values["resolution"])):
        return Violation(-1, -1, f"the modularity is {found}, not {values['modularity']}")
    return None


def _modularity(context: RankContext, part: Part, label: Array, resolution: float) -> tuple[float, int]:
    """The modularity in float64, and the number of labels; all ranks find the same."""
    xp, csr = context.backend.xp, part.out
    (labels,) = fetch_ghosts(context.comm, context.backend, part, [label])
    rows = row_of_each(context.backend, csr, 0)
    weights = xp.ones(csr.num_edges) if csr.weights is None else csr.weights.astype(np.float64)
    weights = xp.where(rows == csr.indices, 2.0, 1.0) * weights
    degree = xp.zeros(part.num_owned)
    xp.add.at(degree, rows, weights)
    inside = weights[labels[rows] == labels[csr.indices]].sum()
    at = part.vertex_map.to_position(context.backend, label)
    at, degree = to_owners(context.comm, context.backend, part.vertex_map.offsets, at, degree)
    order = xp.argsort(at)
    starts = xp.flatnonzero(firsts(xp, at[order])) if len(at) else at
    ends = xp.concatenate([xp.zeros(1), xp.cumsum(degree[order])])
    bounds = xp.concatenate([starts, xp.full(1, len(at), starts.dtype)])
    sums = xp.diff(ends[bounds]) if len(at) else xp.zeros(0)
    total = float(context.comm.allreduce(np.array([float(degree.sum())]), "sum")[0])
    if not total:
        return 0.0, int(context.comm.allreduce(np.array([len(sums)], np.int64), "sum")[0])
    shares = sums / total
    mine = np.array([float(inside) / total, float((shares * shares).sum()), float(len(sums))])
    within, squares, communities = context.comm.allreduce(mine, "sum").tolist()
    return within - resolution * squares, int(communities)
