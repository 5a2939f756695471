"""Traversal sampling: instances grow from their seeds hop by hop, over some neighbours of each vertex of a frontier.

A vertex is expanded at most once in an instance, at the hop that reaches it first. The frontier of hop 0 is the seeds,
that of the next one the vertices that the edges of this one reach for the first time, in the order of these edges. So
one list serves all: edges stand in the order of their instance, then of the vertex in the frontier, then as drawn.

An instance is at home on one rank, which knows its frontier and what it has visited. With the whole graph there, all
happens at home. Else the home sends each vertex of the frontier to its owner, which draws the neighbours and sends them
back: two exchanges a hop. What is drawn depends on the seed, the instance and the vertex alone
(kernels/neighbors/neighbors.py).

Sources: Pandey et al., c-saw, Sections II-A and III; Hamilton, Ying, Leskovec, Inductive representation learning on
large graphs (2017), for a fixed number of neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.kernels.neighbors.neighbors_pack import ItemDraws
from graphdask.partition.build import from_cyclic, to_cyclic_positions
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample._edge_tables import biased_rows, edge_rows
from graphdask.sample._together import Numbered, neighbors_together
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.drawing import draw_kept, draw_successively, loads_of
from graphdask.sample.fanouts import FEW, Fanouts
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import owners, routed
from graphdask.sample.taken import Taken, listed
from graphdask.sample.tuning import SAMPLE

CHUNK = 1 << 22
"""Vertices of a frontier in one launch: some tens of milliseconds."""


@dataclass
class Frontier:
    """Vertices that instances expand at a hop, in the order of the instances."""

    vertices: Array
    """Vertex numbers, index dtype."""
    instances: Array
    """int64."""
    bounds: Array
    """int64, shape (instances + 1,): where the vertices of each instance begin."""


@dataclass
class Edges:
    """Edges drawn at a hop, in the order of the frontier."""

    src: Array
    dst: Array
    instances: Array
    starts: Array
    """int64, shape (instances + 1,): where the edges of each instance begin."""
    numbers: Array | None = None
    """Which row of what the caller gave each is, where that is asked for; of the dtype in which rows are kept."""


def in_order(xp: Any, here: Frontier, places: Array, dst: Array, numbers: Array | None) -> Edges:
    """Edges drawn for the vertices at some places of a frontier, in its order; those of each stay in theirs."""
    order = xp.argsort(places, kind="stable")
    places, dst = places[order], dst[order]
    starts = xp.searchsorted(places, here.bounds, side="left")
    of_graph = None if numbers is None else numbers[order]
    return Edges(here.vertices[places], dst, here.instances[places], starts, of_graph)


@dataclass
class TraversalState:
    rows: Csr
    """What neighbours are drawn from; without those of bias 0."""
    sums: Array | None
    """int64: sums of the biases of each row (graphdask.sample.biases)."""
    kernels: Any
    frontiers: list[Frontier] = field(default_factory=list)
    """Of every hop so far."""
    hops: list[Edges] = field(default_factory=list)
    kept: Array | None = None
    """Where each of `rows` was before those of bias 0 were left out; None where none were."""
    edge_rows: Array | None = None
    """Which row of what the caller gave each edge here is; with None the place of an edge here is its number."""
    columns: dict[str, Array] | None = None
    """The result, where all is drawn already."""
    items: Array | None = None
    """Layer sampling: of each edge that is asked for, its vertex's place in the frontier."""

    def numbers_at(self, places: Array) -> Array:
        """Numbers of the edges at some places of `rows`, int64."""
        return self.numbers_as_kept(places).astype(np.int64, copy=False)

    def numbers_as_kept(self, places: Array) -> Array:
        """The same, of the dtype in which the partition keeps them."""
        for known in (self.kept, self.edge_rows):
            if known is not None:  # all places are within; NumPy takes half as long where it need not ask that first
                places = known.take(places, mode="clip") if isinstance(known, np.ndarray) else known[places]
        return places


class Traversal(Fanouts[TraversalState]):
    """The sampler: `fanouts[h]` neighbours of each vertex in the frontier of hop h; -1 stands for all."""

    name = "neighbour sampling"
    gives_edges = True
    by_partitions = on_disk = True
    result_type = Neighborhoods

    @property
    def record_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What records hold; the row of an edge where it is asked for."""
        columns = {"number": np.int64, "vertex": INDEX}
        return columns | {"edge": np.int64} if self.numbered else columns

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        return listed(columns, bool(self.replace))

    def init(self, part: Part, env: Environment) -> tuple[TraversalState, Messages]:
        state = self._prepared(part, env)
        if type(self) in (Traversal, NumberedTraversal):
            known = None if state.edge_rows is None else Numbered(state.kept, state.edge_rows)
            state.columns = neighbors_together(self, part, env, state.rows, state.sums, known)
        if state.columns is not None:
            edges = len(state.columns["dst"])
            return state, self._nothing(part, active=False, frontier=len(self.seeds), edges=edges)
        state.frontiers.append(self._seeds_at_home(part, env))
        if part.size > 1 and self.fanouts:
            return state, self._asked(part, state, env)
        return state, self._nothing(part, active=bool(self.fanouts))

    def _seeds_at_home(self, part: Part, env: Environment) -> Frontier:
        bounds = self.homes(part.size)
        first, last = int(bounds[part.rank]), int(bounds[part.rank + 1])
        if self.one_each:
            seeds = env.backend.from_host(self.of(self.seeds, first, last).astype(part.vertex_map.dtype))
            instances = env.xp.arange(first, last, dtype=np.int64)
            return Frontier(seeds, instances, env.xp.arange(last - first + 1, dtype=np.int64))
        of_each = self.of(self.bounds, first, last + 1)
        seeds = self.seeds[of_each[0] : of_each[-1]].astype(part.vertex_map.dtype)
        instances = np.repeat(np.arange(first, last), np.diff(of_each))
        return Frontier(*(env.backend.from_host(a) for a in (seeds, instances, of_each - of_each[0])))

    def prepare(self, part: Part, env: Environment) -> None:
        self._prepared(part, env)

    def _prepared(self, part: Part, env: Environment) -> TraversalState:
        kernels = env.kernels("neighbors", index_t=part.vertex_map.dtype)
        rows = part.inward if self.inward else part.out
        assert rows is not None
        numbers = edge_rows(part, rows) if self.numbered else None
        if self.bias is None:
            return TraversalState(rows, None, kernels, edge_rows=numbers)
        state = self._biased(part, env, rows)
        state.edge_rows = numbers
        return state

    def _biased(self, part: Part, env: Environment, rows: Csr) -> TraversalState:
        """Rows without the edges of bias 0, and the sums of the others."""
        kernels, found = env.kernels("neighbors", index_t=part.vertex_map.dtype), part.tables.get(self._table)
        held = int(found is not None)
        if not (held if part.size == 1 else env.least(held)):
            made, sums, kept = found = biased_rows(part, env, rows, str(self.bias))
            nbytes = sums.nbytes + (0 if made is rows else made.nbytes) + (0 if kept is None else kept.nbytes)
            part.tables.keep(self._table, found, nbytes)
        made, sums, kept = found
        return TraversalState(made, sums, kernels, kept=kept)

    def superstep(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        hop = len(state.hops)
        if part.size == 1:
            here = state.frontiers[-1]
            rows = part.vertex_map.to_position(env.backend, here.vertices)
            src, slots, instances, offsets, numbers = self.draw_hop(
                state, env, rows, here.vertices, here.instances, here.instances, hop
            )
            dst = ids_of_slots(part, env, slots)
            state.hops.append(Edges(src, dst, instances, offsets[here.bounds], numbers))
            more = hop + 1 < len(self.fanouts)  # as many supersteps on every rank
            if more:
                state.frontiers.append(self._fresh(part, state, env))
            return self._nothing(part, active=more, frontier=len(here.vertices), edges=len(dst))
        if len(env.history) % 2:
            return self._answered(part, state, inbox, env)
        self._take_in(state, inbox, env)
        if hop + 1 == len(self.fanouts):
            return self._nothing(part, active=False)
        state.frontiers.append(self._fresh(part, state, env))
        return self._asked(part, state, env)

    def _nothing(self, part: Part, **more: Any) -> Messages:
        types = {"number": np.int64, "vertex": part.vertex_map.dtype, "edge": np.int64}
        none = {name: part.ids[:0].astype(types[name]) for name in self.record_columns}
        return Messages.of_records(none, np.zeros(part.size + 1, np.int64), **more)

    def _asked(self, part: Part, state: TraversalState, env: Environment, edges: int = 0) -> Messages:
        """The frontier, to the owners; two records for a vertex: (instance, position), (place in the frontier, -)."""
        xp, here = env.xp, state.frontiers[-1]
        positions = part.vertex_map.to_position(env.backend, here.vertices)
        records, bounds = routed(env, owners(env, part, positions), {
            "instance": here.instances, "position": positions, "place": xp.arange(len(positions), dtype=np.int64),
        })  # fmt: skip
        number = xp.empty(2 * len(positions), np.int64)
        number[0::2], number[1::2] = records["instance"], records["place"]
        vertex = xp.repeat(records["position"], 2)
        # every rank goes on until no rank has a frontier: the exchange says when, except for what a rank tells itself
        sent = {"number": number, "vertex": vertex}
        if self.numbered:
            sent["edge"] = xp.zeros(len(number), np.int64)
        return Messages.of_records(sent, 2 * bounds, active=len(positions) > 0, edges=edges)

    def _answered(self, part: Part, state: TraversalState, inbox: Inbox, env: Environment) -> Messages:
        """The neighbours of vertices that are asked for, to the homes, which have asked in the order of their ranks."""
        xp, came = env.xp, inbox.records
        instances = xp.ascontiguousarray(came["number"][0::2])
        places = xp.ascontiguousarray(came["number"][1::2])
        rows = came["vertex"][0::2] - part.vertex_map.dtype.type(part.first_position)
        _, slots, places, offsets, numbers = self.draw_hop(
            state, env, rows, part.ids[rows], instances, places, self._hop(env)
        )
        bounds = offsets[self.bounds_of_homes(env, part.size, instances)]
        records = {"number": places, "vertex": ids_of_slots(part, env, slots)}
        if numbers is not None:
            records["edge"] = numbers.astype(np.int64, copy=False)
        return Messages.of_records(
            records, env.backend.to_host(bounds), active=len(places) > 0, frontier=len(rows), edges=len(places)
        )

    def _hop(self, env: Environment) -> int:
        return len(env.history) // 2

    def _take_in(self, state: TraversalState, inbox: Inbox, env: Environment) -> None:
        """The edges of the frontier, in its order; each vertex's came from one rank in theirs."""
        records = inbox.records
        numbers = records["edge"] if self.numbered else None
        state.hops.append(in_order(env.xp, state.frontiers[-1], records["number"], records["vertex"], numbers))

    def draw_hop(
        self,
        state: TraversalState,
        env: Environment,
        rows: Array,
        vertices: Array,
        instances: Array,
        tags: Array,
        hop: int,
    ) -> tuple[Array, Array, Array, Array, Array | None]:
        """Draw for the vertices of a frontier: src, dst (slots), tag of each edge's vertex, where each vertex begins,
        and numbers of the edges if they are asked for."""
        state, rows = self._seen(state, env, rows, instances, hop)
        xp, kernels, n, seed = env.xp, state.kernels, len(rows), np.uint64(self.seed)
        fanout, indptr = self.fanouts[hop], state.rows.indptr
        counts, offsets = xp.empty(n, np.int64), xp.zeros(n + 1, np.int64)
        kernels.neighbors_counts(
            n, rows, vertices, instances, indptr, fanout, int(self.replace), np.uint64(self.burn), seed, counts
        )
        xp.cumsum(counts, out=offsets[1:])
        total = int(offsets[-1])
        dtype = vertices.dtype
        refuse_beyond_memory(env, self.name, f"hop {hop}", total, 4 * dtype.itemsize + 28)
        out = xp.empty(total, dtype), xp.empty(total, dtype), xp.empty(total, np.int64)
        loads = offsets
        if not self.alike and self.method != "reservoir":
            loads = loads_of(self, env, state.rows, rows, counts, fanout)
        for a, b in self._launches(env, n, loads, total if loads is offsets else None):
            self.check_deadline(env, a, hop)
            items = [array[a:b] for array in (rows, vertices, instances, tags)]
            of_items = offsets[a : b + 1]
            if self.alike:
                self._draw_alike(state, env, items, of_items, fanout, seed, out)
            elif self.method == "reservoir":
                draw_kept(self, state, env, items, of_items, seed, out)
            else:
                draw_successively(self, state, env, items, of_items, loads[a : b + 1], fanout, seed, out)
        if not self.numbered:
            return *out, offsets, None
        src, places, tag = out
        if state.edge_rows is not None:
            numbers = xp.empty(total, state.edge_rows.dtype)
            reported = env.kernels("edge_rows", index_t=dtype, row_t=state.edge_rows.dtype).edge_rows_reported
            reported(total, places, state.rows.indices, state.kept, state.edge_rows, numbers)
            return src, places, tag, offsets, numbers
        slots = state.rows.indices[places]
        return src, slots, tag, offsets, state.numbers_at(places)

    def targets(self, state: TraversalState) -> Array | None:
        """What kernels say of an edge: the slot that it leads to, or with None its place."""
        return None if self.numbered else state.rows.indices

    def _launches(self, env: Environment, n: int, loads: Array, total: int | None) -> Iterator[tuple[int, int]]:
        """Ranges of items that make a launch: so many, and of no more words than the buffers hold, or one item.

        `total` is the last of the loads, where that is known.
        """
        if not len(loads) or (int(loads[-1]) if total is None else total) <= SAMPLE.tree_launch:
            for a in range(0, n, CHUNK):
                yield a, min(a + CHUNK, n)
            return
        host, a = env.backend.to_host(loads), 0
        while a < n:
            b = max(int(np.searchsorted(host, host[a] + SAMPLE.tree_launch, side="right")) - 1, a + 1)
            b = min(b, a + CHUNK, n)
            yield a, b
            a = b

    def check_deadline(self, env: Environment, begin: int, hop: int) -> None:
        """Raise DeadlineExceeded between two launches of a hop, of which this one begins with item `begin`."""
        if not begin:
            return
        env.backend.synchronize()
        env.check_deadline(self.name, f"hop {hop}")

    def _seen(
        self, state: TraversalState, env: Environment, rows: Array, instances: Array, hop: int
    ) -> tuple[TraversalState, Array]:
        """What instances see of the graph: a state with rows, and which of them is that of each vertex."""
        return state, rows

    def _draw_alike(
        self,
        state: TraversalState,
        env: Environment,
        items: list[Array],
        offsets: Array,
        fanout: int,
        seed: np.uint64,
        out: Any,
    ) -> None:
        self._launch_alike(
            state.kernels, env, items, state.rows.indptr, self.targets(state), offsets, fanout, seed, out
        )

    def _launch_alike(
        self, kernels: Any, env: Environment, items: list[Array], indptr: Array, indices: Array | None, offsets: Array,
        fanout: int, seed: np.uint64, out: Any,
    ) -> None:  # fmt: skip
        n = len(items[0])
        rows, vertices, instances, tags = items
        src, dst, tag = out
        draws = ItemDraws(
            rows=rows, vertices=vertices, instances=instances, tags=tags, indptr=indptr, indices=indices,
            offsets=offsets, replace=int(self.replace), seed=seed, src=src, dst=dst, tag=tag,
        )  # fmt: skip
        kernels.neighbors_uniform(n, draws)
        if env.backend.name == "cpu" or self.replace or not (self.burn or fanout < 0 or fanout > FEW):
            return
        origin = stop = 0
        if self.burn or fanout > 0:
            origin, stop = (int(bound) for bound in env.backend.to_host(offsets[::n]))
        drawn, table = env.xp.empty(stop - origin, np.int64), env.xp.empty(2 * (stop - origin), np.int64)
        kernels.neighbors_uniform_long(n, origin, drawn, table, draws, per_item=256)

    def _fresh(self, part: Part, state: TraversalState, env: Environment) -> Frontier:
        """What the last hop has reached that was not visited."""
        xp, dtype, kernels, edges = env.xp, part.vertex_map.dtype, state.kernels, state.hops[-1]
        regions = sum((frontier.bounds for frontier in state.frontiers), edges.starts)
        capacity = 2 * (sum(len(frontier.vertices) for frontier in state.frontiers) + len(edges.dst))
        keys = xp.full(capacity, -1, dtype)
        earliest = xp.full(0 if env.backend.name == "cpu" else capacity, np.iinfo(np.int64).max, np.int64)
        fresh = xp.empty(len(edges.dst), np.uint8)
        first = int(self.homes(part.size)[part.rank])
        for frontier in state.frontiers:
            kernels.neighbors_enter(
                len(frontier.vertices), frontier.vertices, frontier.instances, first, regions, 1, keys, earliest, fresh
            )
        shared = first, regions
        kernels.neighbors_enter(len(fresh), edges.dst, edges.instances, *shared, 0, keys, earliest, fresh)
        kernels.neighbors_fresh(len(fresh), edges.dst, edges.instances, *shared, keys, earliest, fresh)
        sums = xp.cumsum(fresh, dtype=np.int64) if len(fresh) else xp.empty(0, np.int64)
        total = int(sums[-1]) if len(fresh) else 0
        made = Frontier(xp.empty(total, dtype), xp.empty(total, np.int64), xp.zeros(len(edges.starts), np.int64))
        kernels.neighbors_keep(
            len(fresh), edges.dst, edges.instances, None, sums, edges.starts, len(edges.starts), made.vertices,
            made.instances, None, made.bounds,
        )  # fmt: skip
        return made

    def result(self, part: Part, state: TraversalState, env: Environment) -> dict[str, Array]:
        if isinstance(state, TraversalState) and state.columns is not None:
            return state.columns
        xp, hops = env.xp, state.hops
        total = sum(len(edges.dst) for edges in hops)
        src, dst = (xp.empty(total, part.vertex_map.dtype) for _ in range(2))
        hop_of, instance = xp.empty(total, np.int32), xp.empty(total, np.int64)
        bounds = self.homes(part.size)
        first, count = int(bounds[part.rank]), int(bounds[part.rank + 1] - bounds[part.rank])
        number = xp.empty(total if self.numbered else 0, np.int64)
        for hop, edges in enumerate(hops):
            # the hops after it of the instances before come before, and the hops before it of those up to the instance
            others = [other.starts[1:] if of < hop else other.starts[:-1] for of, other in enumerate(hops) if of != hop]
            shifts = reduce(lambda one, other: one + other, others) if others else xp.zeros(count, np.int64)
            state.kernels.neighbors_place(
                len(edges.dst), hop, first, shifts, edges.src, edges.dst, edges.instances, src, dst, hop_of, instance,
            )  # fmt: skip
            if edges.numbers is not None:
                kernels = env.kernels("edge_rows", index_t=part.vertex_map.dtype, row_t=edges.numbers.dtype)
                kernels.edge_rows_placed(len(edges.dst), first, shifts, edges.instances, edges.numbers, number)
        columns = {"src": src, "dst": dst, "hop": hop_of, "instance": instance}
        return columns | {"edge": number} if self.numbered else columns


class NumberedTraversal(Traversal):
    """The same, which says of every edge which row of what the caller gave it is."""

    numbered = True


def ids_of_slots(part: Part, env: Environment, slots: Array) -> Array:
    """Vertex numbers of an array of slots."""
    if part.size == 1 and type(part.vertex_map) is VertexMap:
        return slots
    return part.vertex_map.to_id(env.backend, from_cyclic(part, to_cyclic_positions(part, slots)))
