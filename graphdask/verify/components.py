"""A components result proved in linear time, distributed.

1. Labels are equal across every edge, so a component has one label.
2. A label is not above the id of any vertex that has it.
3. A search from all vertices that are their own label, ignoring the direction of edges, reaches every vertex: each
   component holds the vertex that its label names. With 2, the label is the smallest id of the component.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.bfs import SearchFrom
from graphdask.algorithms.components import ConnectedComponents
from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import most_deferred
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.kernels.components.components_pack import COUNTS, Trees
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Csr, Part
from graphdask.verify.path_edges import edge_ends, first_wrong
from graphdask.verify.table import verifies


@verifies(ConnectedComponents)
def verify(context: RankContext, part: Part, primitive: ConnectedComponents, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    xp, label = context.backend.xp, result.columns["label"]
    wrong = (label > part.ids) | (label < 0)
    mine = first_wrong(context, part, [(wrong, "vertex {vertex} has the label {other}, not one up to its own")], label)
    (slots,) = fetch_ghosts(context.comm, context.backend, part, [label])
    for csr in part.directions:
        mine = mine or _edges(context, part, csr, slots)
    if first_of_all(context, mine):
        return mine
    roots = xp.flatnonzero(label == part.ids).astype(part.vertex_map.dtype)
    search = run_primitive(context.comm, part, SearchFrom(roots, either_way=True), context.environment("selective"))
    lost = search.columns["depth"] < 0
    message = "vertex {vertex} has the label {other}, which is no vertex of its component"
    return first_wrong(context, part, [(lost, message)], label)


def _edges(context: RankContext, part: Part, csr: Csr, label: Array) -> Violation | None:
    xp = context.backend.xp
    kernels = context.backend.kernels("components", index_t=part.vertex_map.dtype)
    first_bad = xp.full(1, np.iinfo(np.int64).max, np.int64)
    hubs, counters = xp.empty(most_deferred(csr), part.vertex_map.dtype), xp.zeros(len(COUNTS), np.int64)
    check, of_hubs = kernels.components_check, kernels.components_check_hubs
    advance(check, of_hubs, csr, part.num_owned, Trees(hubs=hubs, counters=counters), label, first_bad)
    edge = int(first_bad[0])
    if edge == np.iinfo(np.int64).max:
        return None
    return Violation(*edge_ends(context, part, csr, edge), "the edge from {vertex} to {other} joins two labels")
