"""A result of strongly connected components proved, distributed. A class is the vertices of one label.

1. A label is not below 0 and not above the id of any vertex that has it.
2. A search from all vertices that are their own label, along edges inside classes only, reaches every vertex; so does
   one against them. So a class holds the vertex that its label names, and all of it reaches that vertex and is reached
   from it: a class lies inside one strong component, and its label is its smallest id.
3. The quotient graph, whose vertices are the classes, has no cycle: it is built from the edges between classes and
   taken apart from its sources on, which is a topological order. So no component has two classes.

With 1 and 2, 3 gives that the classes are the components. Each step is linear in vertices and edges; the supersteps of
2 and 3 grow with the diameters of the classes and the depth of the quotient graph, as far as these cross partitions.
Steps 1 and 2 use nothing of the algorithm. Step 3 uses its trimming; if few classes are left, each rank processes them
as in the last step of the algorithm. The edges are those of the partitions, which `Graph.verify` proves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import SearchFrom
from graphdask.algorithms.strong import SENT, StrongComponents, StrongState
from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import BuildPlan, add_inward, build_part, row_of_each
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Csr, Part
from graphdask.verify.path_edges import first_wrong
from graphdask.verify.table import verifies


class _TakeApart(StrongComponents):
    """Ends when nothing is without in-edges."""

    def ends(self, state: StrongState, votes: np.ndarray) -> bool:
        return super().ends(state, votes) or not votes[:, SENT].any()


@dataclass
class _Arcs:
    """Edges that lie on this rank."""

    src: Array
    dst: Array

    def edges(self, backend: Backend) -> Any:
        return self.src, self.dst, None


@verifies(StrongComponents)
def verify(context: RankContext, part: Part, primitive: StrongComponents, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    label = result.columns["label"]
    wrong = (label > part.ids) | (label < 0)
    mine = first_wrong(context, part, [(wrong, "vertex {vertex} has the label {other}, not one up to its own")], label)
    if first_of_all(context, mine):
        return mine
    (slots,) = fetch_ghosts(context.comm, context.backend, part, [label])
    assert part.inward is not None
    for csr, message in (
        (part.out, "vertex {vertex} has the label {other}, which does not reach it inside that label"),
        (part.inward, "vertex {vertex} has the label {other}, but does not reach it inside that label"),
    ):
        mine = _search(context, part, csr, label, slots, message)
        if first_of_all(context, mine):
            return mine
    return _acyclic(context, part, slots)


def _search(
    context: RankContext, part: Part, csr: Csr, label: Array, slots: Array, message: str
) -> Violation | None:  # fmt: skip
    """Search along the edges of `csr` inside classes."""
    backend, xp = context.backend, context.backend.xp
    inside = slots[row_of_each(backend, csr, 0)] == slots[csr.indices]
    kept = xp.zeros(csr.num_edges + 1, np.int64)
    kept[1:] = xp.cumsum(inside, dtype=np.int64)
    within = replace(part, out=Csr(kept[csr.indptr], csr.indices[inside]), inward=None)
    roots = xp.flatnonzero(label == part.ids).astype(part.vertex_map.dtype)
    search = run_primitive(context.comm, within, SearchFrom(roots), context.environment("selective"))
    return first_wrong(context, part, [(search.columns["depth"] < 0, message)], label)


def _acyclic(context: RankContext, part: Part, slots: Array) -> Violation | None:
    """Build the quotient graph and take it apart."""
    comm, backend = context.comm, context.backend
    src, dst = slots[row_of_each(backend, part.out, 0)], slots[part.out.indices]
    between = src != dst
    src, dst = src[between], dst[between]
    total = int(comm.allreduce(np.array([len(src)], np.int64), "sum")[0])
    plan = BuildPlan(part.vertex_map, directed=True, ghosts="1-hop", merge=True, num_edges=total, weighted=False)
    quotient = add_inward(comm, backend, build_part(comm, backend, _Arcs(src, dst), plan, context.memory_share))
    del src, dst, between
    found = run_primitive(comm, quotient, _TakeApart(), context.environment("selective")).columns["label"]
    message = "vertices of label {vertex} and of another label reach each other"
    return first_wrong(context, part, [(found != part.ids, message)], part.ids)
