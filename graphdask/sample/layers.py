"""Layer sampling: a number of edges out of all that leave the frontier of an instance, hop by hop.

The pool of an instance is the rows of its frontier, one after the other. Places in it are drawn at the instance's home,
which asks the owners of the vertices for the lengths of their rows first, and then for the edges at these places: four
exchanges a hop.

With a bias every edge has a key, a random number with the exponential law of that rate, and those of the smallest keys
are drawn: in proportion to the biases, one after the other among what is left. Owners of vertices send the smallest of
each row, and the home keeps the smallest of all: two exchanges a hop.

Sources: Pandey et al., c-saw, Section II-A; Gao, Wang, Ji, Large-scale learnable graph convolutional networks (2018);
Efraimidis, Spirakis, Weighted random sampling with a reservoir (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed, choice
from graphdask.interface.parameters import documented
from graphdask.kernels.neighbors.reservoir_pack import Reservoirs
from graphdask.partition.part import Csr, Part
from graphdask.sample._edge_tables import degrees_of_slots
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.biases import checked_bias
from graphdask.sample.drawing import draw_kept, draw_successively, launch_kept, loads_of
from graphdask.sample.fanouts import METHODS
from graphdask.sample.hops import DIRECTIONS, checked_collisions, checked_seeds, checked_sizes
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import Placement, numbered, owners, routed, sampled
from graphdask.sample.traversal import Edges, Traversal, TraversalState, ids_of_slots

KEYED = 1 << 16
"""Vertices of which keys are made in one launch."""


class Layers(Traversal):
    """The sampler: `fanouts[h]` edges out of all that leave the frontier of hop h."""

    name = "layer sampling"
    by_partitions = on_disk = False

    def _edges_at_most(self, instances: int, degree: float, reached: float | None = None) -> tuple[float, float]:
        edges = float(instances) * sum(self.fanouts)
        return self.seeds_of(instances) + edges, edges

    def memory(self, part: Part, allocation: Allocation) -> int:
        needed = super().memory(part, allocation)
        if self.bias is None:
            return needed
        expanded, _ = self._edges_at_most(-(-self.instances // part.size), 0.0)
        mean = part.out.num_edges * part.size / max(part.num_vertices, 1)
        keyed = min(expanded, float(part.num_vertices * self.instances)) * min(mean, max(self.fanouts, default=0))
        return needed + int(keyed) * (80 + (40 if part.size > 1 else 0))

    @property
    def _table(self) -> tuple[str, ...]:
        return ("float biases", str(self.bias), self.direction)

    def _biased(self, part: Part, env: Environment, rows: Csr) -> TraversalState:
        """Rows whose weights are the biases, as floats."""
        kernels, values = env.kernels("neighbors", index_t=part.vertex_map.dtype), rows.weights
        if self.bias == "weight" and values is not None and values.dtype == np.float64:
            return TraversalState(rows, None, kernels)
        values = part.tables.get(self._table)
        held = int(values is not None)
        if not (held if part.size == 1 else env.least(held)):
            made = degrees_of_slots(part, env, rows)[rows.indices] if self.bias == "degree" else rows.weights
            assert made is not None
            made = made.astype(np.float64)
            values = part.tables.keep(self._table, made, made.nbytes)
        return TraversalState(Csr(rows.indptr, rows.indices, values), None, kernels)

    def superstep(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        if self.bias is not None:
            return self._by_keys(part, state, inbox, env)
        xp, here = env.xp, state.frontiers[-1]
        more = len(state.hops) + 1 < len(self.fanouts)
        if part.size == 1:
            rows, indptr = part.vertex_map.to_position(env.backend, here.vertices), state.rows.indptr
            items, offsets = self._picked(part, state, env, indptr[rows + 1] - indptr[rows])
            places = indptr[rows[items]] + offsets
            slots = state.rows.indices[places]
            self._keep(state, env, items, ids_of_slots(part, env, slots), self._caller_rows(state, places))
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
        dst, caller_rows = xp.empty_like(inbox.records["vertex"]), None
        dst[inbox.records["number"]] = inbox.records["vertex"]
        if self.numbered:
            caller_rows = xp.empty(len(dst), np.int64)
            caller_rows[inbox.records["number"]] = inbox.records["edge"]
        assert state.items is not None
        self._keep(state, env, state.items, dst, caller_rows)
        if not more:
            return self._nothing(part, active=False)
        state.frontiers.append(self._fresh(part, state, env))
        return self._asked(part, state, env)

    def _by_keys(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        """A superstep of sampling with a bias."""
        xp, here, came = env.xp, state.frontiers[-1], inbox.records
        more = len(state.hops) + 1 < len(self.fanouts)
        if part.size == 1:
            rows = part.vertex_map.to_position(env.backend, here.vertices).astype(here.vertices.dtype, copy=False)
            found = self._keyed(part, state, env, rows, here.vertices, here.instances, len(state.hops))
            self._merge(state, env, *found)
            if more:
                state.frontiers.append(self._fresh(part, state, env))
            return self._nothing(part, active=more, frontier=len(rows), edges=len(state.hops[-1].dst))
        if len(env.history) % 2 == 0:
            caller_rows, keys = came["edge"][0::2] if self.numbered else None, came["number"][1::2].view(np.float64)
            self._merge(state, env, came["number"][0::2], keys, came["vertex"][0::2], caller_rows)
            drawn = len(state.hops[-1].dst)
            if not more:
                return self._nothing(part, active=False, edges=drawn)
            state.frontiers.append(self._fresh(part, state, env))
            return self._asked(part, state, env, edges=drawn)
        instances, places = (xp.ascontiguousarray(came["number"][k::2]) for k in range(2))
        rows = came["vertex"][0::2] - part.vertex_map.dtype.type(part.first_position)
        items, keys, dst, caller_rows = self._keyed(part, state, env, rows, part.ids[rows], instances, self._hop(env))
        number = xp.empty(2 * len(items), np.int64)
        number[0::2], number[1::2] = places[items], keys.view(np.int64)
        bounds = 2 * env.backend.to_host(self.bounds_of_homes(env, part.size, instances[items]))
        records = {"number": number, "vertex": xp.repeat(dst, 2)}
        if caller_rows is not None:
            records["edge"] = xp.repeat(caller_rows, 2)
        return Messages.of_records(records, bounds, active=len(items) > 0, frontier=len(rows))

    def _keyed(
        self,
        part: Part,
        state: TraversalState,
        env: Environment,
        rows: Array,
        vertices: Array,
        instances: Array,
        hop: int,
    ) -> tuple[Array, Array, Array, Array | None]:
        """Of each vertex the edges of the smallest keys: whose they are, ascending, their keys, neighbours and rows."""
        xp, csr, n = env.xp, state.rows, len(rows)
        counts = xp.minimum(csr.indptr[rows + 1] - csr.indptr[rows], self.fanouts[hop])
        offsets = xp.zeros(n + 1, np.int64)
        xp.cumsum(counts, out=offsets[1:])
        total = int(offsets[-1])
        refuse_beyond_memory(env, self.name, f"hop {hop}", total, 80)
        keys, places = xp.empty(total, np.float64), xp.empty(total, np.int64)
        for begin in range(0, n, KEYED):
            self.check_deadline(env, begin, hop)
            here = slice(begin, begin + KEYED)
            pack = Reservoirs(
                rows=rows[here], vertices=vertices[here], instances=instances[here], indptr=csr.indptr,
                values=csr.weights, starts=offsets[here], counts=counts[here],
                seed=np.uint64(self.seed), keys=keys, places=places,
            )  # fmt: skip
            launch_kept(env, "keys", len(counts[here]), pack)
        (kept,) = xp.nonzero(places >= 0)
        items = xp.searchsorted(offsets[1:], kept, side="right")
        places = csr.indptr[rows[items]] + places[kept]
        return items, keys[kept], ids_of_slots(part, env, csr.indices[places]), self._caller_rows(state, places)

    def _caller_rows(self, state: TraversalState, places: Array) -> Array | None:
        """Rows of the edges at some places in what the caller gave; None where nobody asks."""
        return state.numbers_at(places) if self.numbered else None

    def _merge(
        self,
        state: TraversalState,
        env: Environment,
        items: Array,
        keys: Array,
        dst: Array,
        caller_rows: Array | None = None,
    ) -> None:
        """Keep the edges of the smallest keys of each instance, in the order of the frontier and the neighbours."""
        xp, here = env.xp, state.frontiers[-1]
        order = xp.argsort(dst, kind="stable")
        order = order[xp.argsort(items[order], kind="stable")]
        items, keys, dst, caller_rows = (
            items[order],
            keys[order],
            dst[order],
            None if caller_rows is None else caller_rows[order],
        )
        instances = here.instances[items]
        order = xp.argsort(keys, kind="stable")
        order = order[xp.argsort(instances[order], kind="stable")]
        starts = xp.searchsorted(instances, instances, side="left")  # of each edge's instance, in either order
        places = xp.arange(len(order)) - starts
        chosen = xp.sort(order[places < self.fanouts[len(state.hops)]])
        self._keep(state, env, items[chosen], dst[chosen], None if caller_rows is None else caller_rows[chosen])

    def _keep(
        self, state: TraversalState, env: Environment, items: Array, dst: Array, caller_rows: Array | None = None
    ) -> None:
        here = state.frontiers[-1]
        starts = env.xp.searchsorted(items, here.bounds, side="left")
        state.hops.append(Edges(here.vertices[items], dst, here.instances[items], starts, caller_rows))

    def _picked(self, part: Part, state: TraversalState, env: Environment, lengths: Array) -> tuple[Array, Array]:
        """Of each edge drawn, its vertex's place in the frontier, and its place in the row of that; in their order."""
        xp, here, hop, seed = env.xp, state.frontiers[-1], len(state.hops), np.uint64(self.seed)
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
        if self.alike:
            self._launch_alike(kernels, env, items, pools, None, offsets, size, seed, out)
        else:
            self._draw_pools(
                TraversalState(Csr(pools, pools[:0]), None, kernels), env, items, counts, offsets, hop, out
            )
        places = xp.sort(out[1])
        found = xp.searchsorted(begins[1:], places, side="right")
        return found, places - begins[found]

    def _draw_pools(
        self,
        state: TraversalState,
        env: Environment,
        items: list[Array],
        counts: Array,
        offsets: Array,
        hop: int,
        out: Any,
    ) -> None:
        seed, size, kept = np.uint64(self.seed), self.fanouts[hop], self.method == "reservoir"
        loads = offsets if kept else loads_of(self, env, state.rows, items[0], counts, size)
        for a, b in self._launches(env, len(counts), loads, None):
            self.check_deadline(env, a, hop)
            some, of_some = [array[a:b] for array in items], offsets[a : b + 1]
            if kept:
                draw_kept(self, state, env, some, of_some, seed, out)
            else:
                draw_successively(self, state, env, some, of_some, loads[a : b + 1], size, seed, out)

    def targets(self, state: TraversalState) -> Array | None:
        """Places in pools stand for edges."""
        return None

    def _requests(self, part: Part, inbox: Inbox, each: int) -> tuple[list[Array], Array]:
        """Numbers, `each` for every request, and its row here."""
        numbers = [inbox.records["number"][k::each] for k in range(each)]
        return numbers, inbox.records["vertex"][::each] - part.vertex_map.dtype.type(part.first_position)

    def _lengths(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        """Owners: how long rows are."""
        (instances, places), rows = self._requests(part, inbox, 2)
        indptr = state.rows.indptr
        number = env.xp.empty(2 * len(places), np.int64)
        number[0::2], number[1::2] = places, indptr[rows + 1] - indptr[rows]
        bounds = env.backend.to_host(self.bounds_of_homes(env, part.size, instances))
        records = self._unnumbered(env, {"number": number, "vertex": env.xp.zeros(len(number), part.vertex_map.dtype)})
        return Messages.of_records(records, 2 * bounds, active=len(number) > 0, frontier=len(rows))

    def _chosen(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
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
        sent = self._unnumbered(env, {"number": number, "vertex": vertex})
        return Messages.of_records(sent, 3 * bounds, active=len(offsets) > 0)

    def _unnumbered(self, env: Environment, records: dict[str, Array]) -> dict[str, Array]:
        """Records that say nothing of edges, as they travel."""
        return records | ({"edge": env.xp.zeros(len(records["number"]), np.int64)} if self.numbered else {})

    def _edges(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        """Owners: the neighbours at these places."""
        (instances, edges, offsets), rows = self._requests(part, inbox, 3)
        places = state.rows.indptr[rows] + offsets
        bounds = env.backend.to_host(self.bounds_of_homes(env, part.size, instances))
        slots = state.rows.indices[places]
        records = {"number": env.xp.ascontiguousarray(edges), "vertex": ids_of_slots(part, env, slots)}
        if self.numbered:
            records["edge"] = state.numbers_at(places)
        return Messages.of_records(records, bounds, active=len(edges) > 0, edges=len(edges))


@documented
def layer(
    G: Graph,
    seeds: Any,
    sizes: Sequence[int],
    *,
    bias: str | None = None,
    direction: str = "out",
    method: str = "auto",
    collisions: str = "auto",
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods:
    """Layer sampling: at each hop, a number of edges out of all that leave the frontier of an instance.

    Drawn without replacement, all edges alike, so that a vertex with more of them gives more, or by a bias, in
    proportion among what is left. Edges of a hop stand in the order of the frontier, and of the neighbours' ids. Where
    the frontier has fewer edges than asked for, all are taken.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, or sequence of arrays
        As for `neighbors`.
    sizes : sequence of int
        Edges of an instance at each hop, 0 or more.
    bias : {None, "weight", "degree"}
        What an edge is drawn in proportion to: nothing, its weight, or the number of the neighbour's own edges in
        `direction`; one of bias 0 is like none. Probabilities are right to within 2^-52.
    direction : {"out", "in"}
    method, collisions
        How edges that are all alike are drawn; as for `neighbors`. With a bias it is by exponential keys, which is what
        "auto" and "reservoir" mean.

    Returns
    -------
    Neighborhoods

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For sizes that are no whole numbers of 0 or more, an unknown name, a bias by weight of a graph without
        weights, or a weight that is negative or infinite.

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
    choice("method", method, METHODS)
    if bias is not None and method not in ("auto", "reservoir"):
        raise InputError(
            f"method={shown(method)} is for layers without a bias; with one they are drawn by exponential keys, that "
            f"is method='reservoir'"
        )
    sampler = Layers(
        flat, bounds, checked_sizes(sizes, "sizes", 0), bias=checked_bias(G, bias), seed=checked_seed(seed),
        direction=choice("direction", direction, DIRECTIONS), method=method if bias is None else "auto",
        collisions=checked_collisions(collisions, method),
    )  # fmt: skip
    return sampled(G, numbered(sampler, edge_rows), placement, client, progress)
