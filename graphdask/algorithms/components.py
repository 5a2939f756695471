"""Connected components (weak ones, where edges are directed): every vertex gets the smallest id of its component.

Each rank joins its own vertices and ghosts into trees. First it hooks each row to a few neighbours; most vertices are
then in one tree, the *giant*, and only the rows outside it are hooked in full (Afforest). A tree is labelled with its
smallest own id. Owners send these labels to ghosts: that of the giant in a vote, and for vertices outside it their own.
A ghost in a tree then shows which label here and which label there are one component. No rank has visited the edges
between the giants of two ranks, because both skipped these rows. So they search for one such edge, and usually the
first edge that they visit is one. The distinct pairs of labels, few in all but contrived cases, go to every rank, and
each rank joins them by itself. This takes two supersteps for every graph.

If GPUs can search together, a search from a vertex of very many edges comes first (graphdask.algorithms._flood). If it
reaches half of the edges, the GPUs also label the rest without their hosts, and the steps above are skipped.

If memory is allocated just-enough or in part, the rows outside the giant are counted before their list is allocated.

Sources: Pan et al., Multi-GPU Graph Analytics, Section IV (CC); Sutton, Ben-Nun, Barak, Optimizing parallel graph
connectivity computation via subgraph sampling (Afforest, 2018); Jaiganesh, Burtscher (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._flood import flood, flood_memory
from graphdask.algorithms.summaries import component_words, components
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.engine.advance import advance
from graphdask.engine.buffers import Allocation, most_deferred
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm
from graphdask.kernels.components.components_pack import COUNTS, MET, OUTSIDE, Meetings, Outside, Trees
from graphdask.partition.part import Part
from graphdask.results.result import Result

FEW = 2
"""Neighbours that each row is hooked to before the giant is known."""
SAMPLES = 1024
"""Vertices that are asked for their tree to find the giant."""
FEW_PAIRS = 1 << 18
"""Pairs of labels that are gathered as they are: to find those that are the same takes twenty launches."""
ROWS = 1 << 14
"""Rows that are searched at first for an edge between two giants; the next search is eight times as long."""


@dataclass
class ComponentsState:
    link: Array
    """Per slot, the slot at the root of its tree."""
    label: Array
    """Per root slot, the smallest own id of the tree."""
    giant: int
    """Root of the giant; -1 without vertices."""
    pairs: Array
    """Labels of this rank, each followed by one of another rank that is the same component."""
    done: bool = False
    """Whether `label` is already that of each own vertex."""


class ComponentsResult(Result):
    """What `connected_components` returns."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's component; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def num_components(self) -> int:
        """The number of components."""
        label = self._internal("label")
        return int((label == np.arange(len(label))).sum())


class ConnectedComponents(Primitive[ComponentsState]):
    """The primitive."""

    name = "components"
    columns: ClassVar[Mapping[str, Any]] = {"label": INDEX}
    notifies_ghosts = True
    votes = 1
    result_type = ComponentsResult

    @property
    def inward(self) -> bool:
        return True

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (
            family("bfs_team", cooperative=True, index_t=index, team_alone=int(size == 1)),
            family("components_team", cooperative=True, index_t=index, team_alone=int(size == 1)),
        )

    def memory(self, part: Part, allocation: Allocation) -> int:
        words = (
            9 * part.num_slots - 2 * part.num_owned + allocation.first(part.num_owned) + most_deferred(*part.directions)
        )
        return words * part.vertex_map.dtype.itemsize

    def memory_together(self, part: Part, env: Environment) -> int | None:
        flood = flood_memory(part, env)
        return None if flood is None else self.memory(part, env.allocation) + flood

    def init(self, part: Part, env: Environment) -> tuple[ComponentsState, Messages]:
        xp, dtype, slots, owned = env.xp, part.vertex_map.dtype, part.num_slots, part.num_owned
        labels = flood(part, env)
        if labels is not None:  # the edges visited are counted in supersteps of their own
            none = labels[:0]
            return ComponentsState(none, labels, -1, none, True), Messages(none, none, {}, False)
        kernels = env.kernels("components", index_t=dtype)
        link, edges = xp.arange(slots, dtype=dtype), 0
        for csr in part.directions:
            kernels.components_sample(owned, csr.indptr, csr.indices, link, FEW)
            edges += min(FEW * owned, csr.num_edges)
        kernels.components_compress(slots, link)
        giant = _most_frequent(env, link[:owned])
        buffer = env.buffer("the list of rows outside the giant", owned, dtype)
        if env.allocation.partial:
            buffer.fit(count_set(link[:owned] != giant))
        rows = buffer.array
        outside = Outside(
            link=link, root=giant, indptr=part.directions[0].indptr, other_indptr=part.directions[-1].indptr, rows=rows,
            counters=xp.zeros(len(OUTSIDE), np.int64),
        )  # fmt: skip
        kernels.components_outside(owned, outside)
        rows = rows[: outside.read_counters(env.backend).rows]
        pack = Trees(
            link=link, hubs=xp.empty(most_deferred(*part.directions), dtype), counters=xp.zeros(len(COUNTS), np.int64)
        )  # fmt: skip
        for csr in part.directions:
            advance(kernels.components_hook, kernels.components_hook_hubs, csr, rows, pack)
        edges += pack.read_counters(env.backend).edges
        kernels.components_compress(slots, link)
        label = xp.full(slots, np.iinfo(dtype).max, dtype)
        kernels.components_label(owned, part.ids, link, label)
        giant = int(link[giant]) if giant >= 0 else -1
        none = link[:0]
        state = ComponentsState(link, label, giant, none)
        if part.size == 1:
            return state, Messages(none, none, {}, False, owned, edges)
        vote = float(label[giant]) if giant >= 0 else -1.0
        rows = rows[link[rows] != giant]  # of any other vertex, the receiver assumes that it is in the giant
        values = {"label": label[link[:owned]]}
        return state, Messages(rows, none, values, True, owned, edges, to="ghosts", votes=(vote,))

    def superstep(self, part: Part, state: ComponentsState, inbox: Inbox, env: Environment) -> Messages:
        xp, dtype, owned = env.xp, part.vertex_map.dtype, part.num_owned
        ghosts = part.num_slots - owned
        # labels of the giants, by the steps to their ranks, as slot_bounds counts them
        giants = np.roll(inbox.votes[:, 0], -part.rank).astype(dtype)
        reported = xp.empty(part.num_slots, dtype)
        for step, (begin, end) in enumerate(pairwise(part.slot_bounds.tolist())):
            reported[begin:end] = giants[step]
        inbox.put("label", reported)
        reported = reported[owned:]
        bounds, words = _bounds(part, env), xp.zeros(len(MET) + (part.size + 1) // 2, np.int64)
        found = words[len(MET) :].view(np.int32)
        pack = Meetings(
            owned=owned, link=state.link, label=state.label, reported=reported, bounds=bounds,
            giants=env.backend.from_host(giants), found=found, here=xp.empty(ghosts, dtype),
            there=xp.empty(ghosts, dtype), counters=words[: len(MET)],
        )  # fmt: skip
        env.kernels("components", index_t=dtype).components_meet(ghosts, pack)
        met = env.backend.to_host(words)
        known = met[len(MET) :].view(np.int32)[: part.size]
        others = giants[self._giants_joined(part, state, reported, giants, bounds, found, known, env)]
        joined = env.backend.from_host(np.stack([np.full_like(others, giants[0]), others], axis=1).reshape(-1))
        count = MET.of(met[: len(MET)]).pairs
        pairs = [each.reshape(-1) for each in _distinct(xp, pack.here[:count], pack.there[:count])]
        state.pairs = xp.concatenate([*pairs, joined]) if pairs else joined
        none = state.link[:0]
        return Messages(none, none, {"label": state.label}, False, owned, 0, to="ghosts")

    def _giants_joined(
        self,
        part: Part,
        state: ComponentsState,
        reported: Array,
        giants: np.ndarray,
        bounds: Array,
        found: Array,
        known: np.ndarray,
        env: Environment,
    ) -> np.ndarray:
        """The steps to ranks with whose giant an edge joins the giant of this rank; `found` has those `known`
        already."""
        wanted = (giants >= 0) & (np.diff(part.slot_bounds) > 0)
        wanted[0] = False
        if state.giant < 0 or known[wanted].all():
            return np.flatnonzero(known)
        kernels = env.kernels("components", index_t=part.vertex_map.dtype)
        labels = env.backend.from_host(np.where(wanted, giants, -1).astype(giants.dtype))
        begin, count = 0, ROWS
        while begin < part.num_owned and not known[wanted].all():
            rows = env.xp.arange(begin, min(begin + count, part.num_owned), dtype=giants.dtype)
            for csr in part.directions:
                kernels.components_witness(
                    len(rows), rows, csr.indptr, csr.indices, state.link, state.giant, part.num_owned, reported, bounds,
                    labels, found, per_item=32,
                )  # fmt: skip
            begin, count = begin + count, 8 * count
            known = env.backend.to_host(found)[: part.size]
        return np.flatnonzero(known)

    def result(self, part: Part, state: ComponentsState, env: Environment) -> dict[str, Array]:
        xp, dtype = env.xp, part.vertex_map.dtype
        if state.done:
            return {"label": state.label}
        if part.size > 1:
            pairs = env.gather(state.pairs).reshape(-1, 2)
            names = xp.unique(pairs)
            if len(names):
                kernels = env.kernels("components", index_t=dtype)
                link = xp.arange(len(names), dtype=dtype)
                here, there = (xp.searchsorted(names, pairs[:, k]).astype(dtype) for k in (0, 1))
                kernels.components_pairs(len(pairs), here, there, link)
                kernels.components_compress(len(names), link)
                kernels.components_rename(part.num_slots, state.link, state.label, names, link, len(names))
        return {"label": state.label[state.link[: part.num_owned]]}


def _bounds(part: Part, env: Environment) -> Array:
    """`Part.slot_bounds` on the device, which the partition keeps."""
    kept = part.tables.get("slot bounds")
    if kept is None:
        kept = env.backend.from_host(part.slot_bounds)
        part.tables.keep("slot bounds", kept, kept.nbytes)
    bounds: Array = kept
    return bounds


def _most_frequent(env: Environment, roots: Array) -> int:
    """The value that most of a sample have; -1 where there is none."""
    if not len(roots):
        return -1
    sample = env.backend.to_host(roots[:: max(1, len(roots) // SAMPLES)])
    values, counts = np.unique(sample, return_counts=True)
    return int(values[counts.argmax()])


def _distinct(xp: Any, a: Array, b: Array) -> list[Array]:
    """The distinct pairs, an array of shape (n, 2); few, and those of 64-bit numbers, as they are."""
    if not len(a):
        return []
    if a.dtype == np.int64 or len(a) <= FEW_PAIRS:
        return [xp.stack([a, b], axis=1)]
    pairs = xp.unique((a.astype(np.int64) << 32) | b.astype(np.int64))
    return [xp.stack([(pairs >> 32).astype(a.dtype), (pairs & 0xFFFFFFFF).astype(a.dtype)], axis=1)]


@algorithm(
    "components", ComponentsResult, "Connected components; of a directed graph the weak ones.", summary=components,
    words=component_words, also="components wcc cc weak weakly_connected_components weak_components",
)  # fmt: skip
@documented
def connected_components(
    G: Graph,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ComponentsResult:
    """Connected components; of a directed graph the weak ones.

    Parameters
    ----------
    G : Graph

    Returns
    -------
    ComponentsResult
        With `label`, the smallest vertex id of each vertex's component, in the caller's ids and the order of
        `G.vertex_ids`, shape (num_vertices,); identical bit for bit for every number of partitions and on every
        device. `result.num_components` counts them.

    Raises
    ------
    InputError
        If `G` is not a Graph, or an argument has no such value.

    References
    ----------
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV. Jaiganesh, Burtscher: A
    high-performance connected components implementation for GPUs, HPDC 2018.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 3], [1, 4], num_vertices=5, directed=False)
    >>> gd.connected_components(G).label.tolist()
    [0, 0, 2, 3, 3]
    """
    checked_graph(G)
    return execute.run(
        G,
        ConnectedComponents(),
        exchange=exchange,
        allocation=allocation,
        client=client,
        progress=progress,
    )
