"""Layer sampling: a number of edges out of all that leave the frontier of an instance, hop by hop.

The pool of an instance is the rows of its frontier, one after the other. Places in it are drawn at the instance's home,
which asks the owners of the vertices for the lengths of their rows first, and then for the edges at these places: four
exchanges a hop.

Sources: Pandey et al., c-saw, Section II-A; Gao, Wang, Ji, Large-scale learnable graph convolutional networks (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment, Inbox, Messages
from graphdask.graph import Graph, checked_graph
from graphdask.part import Part
from graphdask.sample.hops import DIRECTIONS, checked_name, checked_seeds, checked_sizes, whole
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import owners, routed, sampled
from graphdask.sample.traversal import Edges, State, Traversal, ids_of_slots


class Layers(Traversal):
    """The sampler: `fanouts[h]` edges out of all that leave the frontier of hop h."""

    name = "layer sampling"
    streamer, needs_whole = "", "a layer is drawn among the edges of vertices in all partitions"

    def _edges_at_most(self, instances: int, degree: float) -> tuple[float, float]:
        edges = float(instances) * sum(self.fanouts)
        return len(self.seeds) * instances / max(len(self.bounds) - 1, 1) + edges, edges

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        xp, here = env.xp, state.frontiers[-1]
        more = len(state.hops) + 1 < len(self.fanouts)
        if part.size == 1:
            rows, indptr = part.vertex_map.to_position(env.backend, here.vertices), state.rows.indptr
            items, offsets = self._picked(part, state, env, indptr[rows + 1] - indptr[rows])
            slots = state.rows.indices[indptr[rows[items]] + offsets]
            self._keep(state, env, items, ids_of_slots(part, env, slots))
            if more:
                state.frontiers.append(self._fresh(part, state, env))
            return self._nothing(part, active=more, frontier=len(rows), edges=len(slots))
        phase = len(env.history) % 4
        if phase == 1:
            return self._lengths(part, state, inbox, env)
        if phase == 2:
            return self._chosen(part, state, inbox, env)
        if phase == 3:
            return self._edges(part, state, inbox, env)
        dst = xp.empty_like(inbox.records["vertex"])
        dst[inbox.records["number"]] = inbox.records["vertex"]
        assert state.items is not None
        self._keep(state, env, state.items, dst)
        if not more:
            return self._nothing(part, active=False)
        state.frontiers.append(self._fresh(part, state, env))
        return self._asked(part, state, env)

    def _keep(self, state: State, env: Environment, items: Array, dst: Array) -> None:
        here = state.frontiers[-1]
        starts = env.xp.searchsorted(items, here.bounds, side="left")
        state.hops.append(Edges(here.vertices[items], dst, here.instances[items], starts))

    def _picked(self, part: Part, state: State, env: Environment, lengths: Array) -> tuple[Array, Array]:
        """Of each edge drawn, its vertex's place in the frontier, and its place in the row of that; in their order."""
        xp, here, hop, seed = env.xp, state.frontiers[-1], len(state.hops), np.uint64(self.seed & (2**64 - 1))
        kernels = env.kernels("neighbors", index_t=np.dtype(np.int64))
        begins = xp.zeros(len(lengths) + 1, np.int64)
        xp.cumsum(lengths, out=begins[1:])
        pools = begins[here.bounds]
        n, first = len(pools) - 1, int(self.homes(part.size)[part.rank])
        rows = xp.arange(n, dtype=np.int64)
        stands = xp.full(n, -1 - hop, np.int64)  # no vertex has such a number
        items = [rows, stands, rows + first, rows]
        counts, offsets = xp.empty(n, np.int64), xp.zeros(n + 1, np.int64)
        size = self.fanouts[hop]
        kernels.neighbors_counts(n, *items[:3], pools, size, 0, np.uint64(0), seed, counts)
        xp.cumsum(counts, out=offsets[1:])
        total = int(offsets[-1])
        out = [xp.empty(total, np.int64) for _ in range(3)]
        self._launch_alike(kernels, env, items, pools, None, offsets, size, seed, out)
        places = xp.sort(out[1])
        found = xp.searchsorted(begins[1:], places, side="right")
        return found, places - begins[found]

    def _requests(self, part: Part, inbox: Inbox, each: int) -> tuple[list[Array], Array]:
        """Numbers, `each` for every request, and its row here."""
        numbers = [inbox.records["number"][k::each] for k in range(each)]
        return numbers, inbox.records["vertex"][::each] - part.vertex_map.dtype.type(part.first_position)

    def _to_homes(self, part: Part, env: Environment, instances: Array) -> np.ndarray:
        """Bounds of the requests of each rank, which came in the order of the ranks."""
        xp = env.xp
        homes = xp.searchsorted(env.backend.from_host(self.homes(part.size)[1:-1]), instances, side="right")
        return env.backend.to_host(xp.searchsorted(homes, xp.arange(part.size + 1), side="left"))

    def _lengths(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        """Owners: how long rows are."""
        (instances, places), rows = self._requests(part, inbox, 2)
        indptr = state.rows.indptr
        number = env.xp.empty(2 * len(places), np.int64)
        number[0::2], number[1::2] = places, indptr[rows + 1] - indptr[rows]
        bounds = self._to_homes(part, env, instances)
        records = {"number": number, "vertex": env.xp.zeros(len(number), part.vertex_map.dtype)}
        return Messages.of_records(records, 2 * bounds, active=len(number) > 0, frontier=len(rows))

    def _chosen(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        """Homes: three records for an edge: (instance, position), (number of the edge, -), (place in the row, -)."""
        xp, here = env.xp, state.frontiers[-1]
        lengths = xp.zeros(len(here.vertices), np.int64)
        lengths[inbox.records["number"][0::2]] = inbox.records["number"][1::2]
        items, offsets = self._picked(part, state, env, lengths)
        state.items = items
        positions = part.vertex_map.to_position(env.backend, here.vertices[items])
        records, bounds = routed(env, owners(env, part, positions), {
            "instance": here.instances[items], "position": positions,
            "edge": xp.arange(len(offsets), dtype=np.int64), "offset": offsets,
        })  # fmt: skip
        number = xp.empty(3 * len(offsets), np.int64)
        number[0::3], number[1::3], number[2::3] = records["instance"], records["edge"], records["offset"]
        vertex = xp.repeat(records["position"], 3)
        return Messages.of_records({"number": number, "vertex": vertex}, 3 * bounds, active=len(offsets) > 0)

    def _edges(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        """Owners: the neighbours at these places."""
        (instances, edges, offsets), rows = self._requests(part, inbox, 3)
        slots = state.rows.indices[state.rows.indptr[rows] + offsets]
        bounds = self._to_homes(part, env, instances)
        records = {"number": env.xp.ascontiguousarray(edges), "vertex": ids_of_slots(part, env, slots)}
        return Messages.of_records(records, bounds, active=len(edges) > 0, edges=len(edges))


def layer(
    G: Graph,
    seeds: Any,
    sizes: Sequence[int],
    *,
    direction: str = "out",
    seed: int = 0,
    placement: str = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods:
    """Layer sampling: at each hop, a number of edges out of all that leave the frontier of an instance.

    Drawn without replacement, all edges alike: a vertex with more of them gives more. Edges of a hop stand in the order
    of the frontier, and of the neighbours' ids. Where the frontier has fewer edges than asked for, all are taken.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, or sequence of arrays
        As for `neighbors`.
    sizes : sequence of int
        Edges of an instance at each hop, 0 or more.
    direction : {"out", "in"}
    seed, placement, client, progress
        As for `neighbors`; placement="streamed" raises Unsupported.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For sizes that are no whole numbers of 0 or more, or an unknown name.
    OverBudget
        If the samples do not fit the memory.

    References
    ----------
    Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs, SC 2020, Section II-A.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> gd.sample.layer(G, [0], sizes=[2, 5]).dst.tolist()
    [1, 2, 3, 3]
    """
    checked_graph(G)
    flat, bounds = checked_seeds(G, seeds)
    sampler = Layers(
        flat, bounds, checked_sizes(sizes, "sizes", 0), seed=whole("seed", seed),
        direction=checked_name("direction", direction, DIRECTIONS),
    )  # fmt: skip
    return sampled(G, sampler, placement, client, progress)
