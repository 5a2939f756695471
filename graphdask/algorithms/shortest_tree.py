"""Parents of shortest paths, found from the distances alone.

This serves distances so wide that a word cannot hold a distance and its parent, and edges that add nothing to a
distance. A parent is at the other end of a tight edge, one whose weight makes up for the difference in distance. If
both ends are at the same distance, a search over such edges determines which comes first. It starts from the vertices
that have nearer parents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import Allocation, exchange_bytes, most_deferred
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.kernels.sssp.sssp_tree_pack import COUNTS, Tree
from graphdask.partition.part import Csr, Part
from graphdask.partition.queries import own_places


def unreached(dtype: np.dtype) -> Any:
    """Return the value that stands for the distance of a vertex that was not reached."""
    return dtype.type(np.inf if dtype.kind == "f" else np.iinfo(dtype).max)


def weights_of(csr: Csr, xp: Any) -> tuple[Array, int]:
    """Return the weights and `each` of some rows, as kernels take them; edges without weights have the length 1."""
    return (xp.ones(1, np.int32), 0) if csr.weights is None else (csr.weights, -1)


def tree_memory(part: Part, distance: np.dtype, flat: bool) -> int:
    """Return the bytes for finding the parents; if `flat`, with a search among equal distances."""
    index, slots, owned = part.vertex_map.dtype.itemsize, part.num_slots, part.num_owned
    needed = (2 * distance.itemsize + 1) * slots + index * (slots - owned) + 2 * index * slots + 16 * owned
    needed += index * most_deferred(part.out) + exchange_bytes(part, index)
    if flat:
        needed += 6 * index * slots + index * part.out.num_edges + 16 * owned
    return needed


def level_part(part: Part, env: Environment, distance: Array, parent: Array, level: Array, tree: bool) -> Part:
    """Return the partition with only the tight edges that join equal distances, `level[u]` of them in row u.

    If `tree`, it keeps only those from a parent.
    """
    xp, dtype = env.xp, part.vertex_map.dtype
    weights, each = weights_of(part.out, xp)
    kernels = env.kernels("sssp_tree", index_t=dtype, weight_t=weights.dtype, dist_t=distance.dtype)
    indptr = xp.zeros(part.num_owned + 1, np.int64)
    xp.cumsum(level, out=indptr[1:])
    out = xp.empty(int(indptr[-1]), dtype)
    shared = Tree(
        weights=weights, each=each, ids=part.ids, distance=distance, parent=parent, any=int(not tree),
        place=indptr[:-1].copy(), out=out, hubs=xp.empty(most_deferred(part.out), dtype),
        counters=xp.zeros(len(COUNTS), np.int64),
    )  # fmt: skip
    advance(kernels.sssp_level, kernels.sssp_level_hubs, part.out, xp.flatnonzero(level).astype(dtype), shared)
    return replace(part, out=Csr(indptr, out), inward=None)


@dataclass
class ParentsState:
    parent: Array
    """Per slot, the largest integer where there is none."""
    level: Array
    """int64 per own vertex: its tight edges to other vertices at its own distance."""


class Parents(Primitive[ParentsState]):
    """For every vertex, the smallest id among the vertices nearer to the source at the other end of a tight edge."""

    name = "parents of shortest paths"
    columns: ClassVar[Mapping[str, Any]] = {"parent": INDEX}

    def __init__(self, distance: Array, sources: tuple[int, ...]):
        self.distance, self.sources = distance, sources

    def memory(self, part: Part, allocation: Allocation) -> int:
        index = part.vertex_map.dtype.itemsize
        return index * (2 * part.num_slots + most_deferred(part.out)) + part.num_slots + 8 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[ParentsState, Messages]:
        xp, dtype, owned = env.xp, part.vertex_map.dtype, part.num_owned
        weights, each = weights_of(part.out, xp)
        kernels = env.kernels("sssp_tree", index_t=dtype, weight_t=weights.dtype, dist_t=self.distance.dtype)
        parent = xp.full(part.num_slots, np.iinfo(dtype).max, dtype)
        sources = env.backend.from_host(own_places(part, self.sources))
        parent[sources] = part.ids[sources]
        ghost_queue, level = xp.empty(part.num_slots - owned, dtype), xp.zeros(owned, np.int64)
        tags = xp.empty(part.num_slots, np.uint8) if env.backend.name == "cuda" else None
        shared = Tree(
            weights=weights, each=each, ids=part.ids, distance=self.distance, tags=tags, owned=owned, parent=parent,
            ghost_queue=ghost_queue, level=level, hubs=xp.empty(most_deferred(part.out), dtype),
            counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        if tags is not None:
            kernels.sssp_tags(part.num_slots, shared)
        advance(kernels.sssp_parents, kernels.sssp_parents_hubs, part.out, owned, shared)
        counts = shared.read_counters(env.backend)
        found = ghost_queue[: counts.ghosts]
        return ParentsState(parent, level), Messages(found[:0], found, {"parent": parent}, False, owned, counts.edges)

    def superstep(self, part: Part, state: ParentsState, inbox: Inbox, env: Environment) -> Messages:
        for message in inbox.received:
            state.parent[message.slots] = env.xp.minimum(state.parent[message.slots], message.columns["parent"])
        none = env.xp.zeros(0, part.vertex_map.dtype)
        return Messages(none, none, {"parent": state.parent}, False, len(inbox))

    def result(self, part: Part, state: ParentsState, env: Environment) -> dict[str, Any]:
        return {"parent": state.parent[: part.num_owned], "level": state.level}
