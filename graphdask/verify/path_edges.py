"""What proofs of searches share: checks of vertices, and of every edge against the distances of its ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import most_deferred
from graphdask.engine.loop import RankContext
from graphdask.engine.violation import Violation
from graphdask.kernels.sssp.sssp_tree_pack import COUNTS, Tree
from graphdask.partition.build import local_at_owner, to_cyclic_positions
from graphdask.partition.part import Csr, Part


def first_wrong(
    context: RankContext, part: Part, checks: Iterable[tuple[Array, str]], other: Array | None = None
) -> Violation | None:
    """Return the violation of the first check that some own vertex fails, of the vertex with the smallest id.

    A check is a mask of the own vertices that fail it, and the message. `other` has the second vertex of the message
    for each vertex.
    """
    xp = context.backend.xp
    for wrong, message in checks:
        places = xp.flatnonzero(wrong)
        if len(places):
            place = int(places[xp.argmin(part.ids[places])])
            return Violation(int(part.ids[place]), -1 if other is None else int(other[place]), message)
    return None


def check_edges(
    context: RankContext, part: Part, csr: Csr, lengths: tuple[Array, int], distance: Array, parent: Array,
    witnessed: Array, level: Array, message: str, until: float,
) -> Violation | None:  # fmt: skip
    """Return the violation of the first edge that makes a shorter path or leaves the reached set.

    Parameters
    ----------
    lengths : (array, int)
        The lengths of the edges, and -1, or a single one and 0 (kernels/sssp/sssp_tree_pack.py).
    distance, parent : array
        Per slot; the distance is the largest number where the vertex is not reached.
    witnessed : array
        uint8 per slot, set to 1 where an edge from the parent, which is nearer to the source, explains the distance.
    level : array
        int64 per own vertex, to which the edges from parents at the same distance are added.
    until : number
        The distance up to which the search went: edges beyond it are not checked.
    """
    xp, dtype = context.backend.xp, part.vertex_map.dtype
    types: dict[str, Any] = {"index_t": dtype, "weight_t": lengths[0].dtype, "dist_t": distance.dtype}
    kernels, first_bad = context.backend.kernels("sssp_tree", **types), xp.full(1, np.iinfo(np.int64).max, np.int64)
    shared = Tree(
        weights=lengths[0], each=lengths[1], ids=part.ids, distance=distance, parent=parent, witnessed=witnessed,
        level=level, first_bad=first_bad, until=xp.full(1, until, distance.dtype),
        hubs=xp.empty(most_deferred(csr), dtype), counters=xp.zeros(len(COUNTS), np.int64),
    )  # fmt: skip
    advance(kernels.sssp_check, kernels.sssp_check_hubs, csr, part.num_owned, shared)
    edge = int(first_bad[0])
    if edge == np.iinfo(np.int64).max:
        return None
    return Violation(*edge_ends(context, part, csr, edge), message)


def edge_ends(context: RankContext, part: Part, csr: Csr, edge: int) -> tuple[int, int]:
    """Vertex numbers of the ends of the stored edge number `edge`."""
    backend = context.backend
    row = int(backend.xp.searchsorted(csr.indptr, backend.xp.asarray([edge]), side="right")[0]) - 1
    cyclic = int(to_cyclic_positions(part, csr.indices[edge : edge + 1])[0])
    position = backend.xp.asarray([(cyclic + part.first_position) % part.num_vertices], part.vertex_map.dtype)
    return int(part.ids[row]), int(part.vertex_map.to_id(backend, position)[0])


def witnessed_by_all(context: RankContext, part: Part, witnessed: Array) -> Array:
    """Mark the own vertices too of which another rank has marked a ghost; every rank must call it."""
    comm, xp = context.comm, context.backend.xp
    bounds, dtype = part.slot_bounds, part.vertex_map.dtype
    slots = xp.flatnonzero(witnessed[part.num_owned :]).astype(dtype) + dtype.type(part.num_owned)
    sends = [slots[:0]] * comm.size
    for step in range(1, comm.size):
        mine = slots[(slots >= int(bounds[step])) & (slots < int(bounds[step + 1]))]
        sends[(part.rank + step) % comm.size] = local_at_owner(part, mine, step)
    for arrived in comm.alltoallv(sends):
        witnessed[arrived] = 1
    return witnessed
