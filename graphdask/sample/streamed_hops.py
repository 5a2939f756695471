"""Traversal sampling over partitions of which some are on the device, hop by hop.

The vertices of a frontier are put in the order of their partitions; those with work are visited one after the other, or
by `BAL` several in one launch, the next ones being copied meanwhile, and the edges put back in the order of the
frontier.

Source: Pandey et al., c-saw, Section V.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.residency import ResidentSet
from graphdask.engine.buffers import MAXIMAL
from graphdask.engine.loop import Environment, RankResult
from graphdask.kernels.common.compiling import clock
from graphdask.partition.part import Csr, Part
from graphdask.sample.streamed import PREPARING, HostRows, Layout, Streamed, laid_out, prepared, record, report
from graphdask.sample.traversal import Edges, Traversal, TraversalState, in_order


def run(sampler: Traversal, part: Part, host: Environment, env: Environment, options: Streamed) -> RankResult:
    """Draw the samples of a sampler; `part` is the whole graph in host memory, and `env` of the device."""
    drawn = _Run(sampler, part, host, env, options)
    try:
        return drawn.result()
    finally:
        drawn.resident.close()


OF_ROW = 48
"""Bytes of a vertex whose row is said anew: where it begins and ends, its number, and what makes them."""


class _Run:
    def __init__(self, sampler: Traversal, part: Part, host: Environment, env: Environment, options: Streamed):
        self.sampler, self.part, self.env = sampler, part, env
        self.scheme = options.scheme or "WS"
        with PREPARING:
            made = sampler._prepared(part, host)
        name = ("hops", sampler.bias, sampler.direction)
        rows = prepared(part, host, env.backend, name, lambda: _host_rows(made))
        n = sampler.instances
        self.made = made
        self.degree = made.rows.num_edges / max(made.rows.num_rows, 1)
        # of an edge that is put back in the order of the frontier; its vertex may be one whose row is said anew
        each = 32 + 2 * part.vertex_map.dtype.itemsize + (24 if sampler.numbered else 0)
        each += OF_ROW if self.scheme == "BAL" else 0
        needed = sampler.memory(part, MAXIMAL) + int(each * sampler._edges_at_most(n, self.degree)[1])
        self.layout: Layout = laid_out(
            options, self.scheme, rows, env.backend, env.memory_share, n, -(-needed // max(n, 1)), 0, sampler.name
        )
        cut = self.layout.cut
        self.cuts = env.backend.from_host(cut.cuts)
        self.resident = ResidentSet(env.backend, cut.pieces, self.layout.resident, cut.lengths)
        self.kernels = env.kernels("neighbors", index_t=part.vertex_map.dtype)
        self.in_place = 0

    def result(self) -> RankResult:
        n, first = self.sampler.instances, self.sampler.first
        begins = range(0, max(n, 1), self.layout.batch)  # a batch of no instances makes columns of no rows
        found = []
        for begin in begins:
            batch = copy.copy(self.sampler)
            batch.first, batch.last = first + begin, first + min(begin + self.layout.batch, n)
            made = self._batch(batch)
            if len(begins) > 1:
                made = {name: self.env.backend.to_host(column) for name, column in made.items()}
            found.append(made)
        columns: dict[str, Any] = found[0]
        if len(begins) > 1:
            columns = {name: np.concatenate([made[name] for made in found]) for name in columns}
        values = {"streamed": report(self.scheme, self.layout, self.resident, 0.0, len(begins), self.in_place)}
        return RankResult(
            columns, values, {name: column.dtype for name, column in columns.items()}, self.env.history, "",
            self.env.backend.description, self.layout.memory,
        )  # fmt: skip

    def _batch(self, sampler: Traversal) -> dict[str, Array]:
        env, xp = self.env, self.env.xp
        state = TraversalState(Csr(*(xp.empty(0, np.int64) for _ in range(2))), None, self.kernels)
        state.frontiers.append(sampler._seeds_at_home(self.part, env))
        for hop in range(len(sampler.fanouts)):
            started = clock()
            edges = self._hop(sampler, state, hop)
            state.hops.append(edges)
            frontier = len(state.frontiers[-1].vertices)
            if hop + 1 < len(sampler.fanouts):
                state.frontiers.append(sampler._fresh(self.part, state, env))
            env.backend.synchronize()
            record(env, sampler.name, frontier, len(edges.dst), started)
        return sampler.result(self.part, state, env)

    def _hop(self, sampler: Traversal, state: TraversalState, hop: int) -> Edges:
        """The edges of a frontier."""
        env, xp, count, here = self.env, self.env.xp, self.layout.cut.count, state.frontiers[-1]
        places = xp.searchsorted(self.cuts[1:], here.vertices, side="right").astype(np.uint16)
        order = xp.argsort(places, kind="stable")
        bounds = env.backend.to_host(xp.searchsorted(places[order], xp.arange(count + 1, dtype=np.uint16)))
        numbers, reached = [order[:0].astype(np.int64)], [here.vertices[:0]]
        edges = [order[:0].astype(np.int64)]
        for group in self._in_turn(np.diff(bounds), sampler.fanouts[hop]):
            queues = [order[int(bounds[number]) : int(bounds[number + 1])].astype(np.int64) for number in group]
            which = xp.concatenate(queues) if len(group) > 1 else queues[0]
            vertices = here.vertices[which]
            piece, rows = self._rows_of(group, vertices, [len(queue) for queue in queues])
            _, found, places_of, _, drawn = sampler.draw_hop(
                piece, env, rows, vertices, here.instances[which], which, hop
            )
            if drawn is not None:
                edges.append(self._of_the_graph(drawn, group))
            numbers.append(places_of)
            reached.append(found)
        of_graph = xp.concatenate(edges) if sampler.numbered else None
        return in_order(xp, here, xp.concatenate(numbers), xp.concatenate(reached), of_graph)

    def _rows_of(self, group: Sequence[int], vertices: Array, counts: list[int]) -> tuple[TraversalState, Array]:
        """What edges of vertices are drawn from, and the row of each; of each partition of a group so many, in turn.

        Of several partitions together it is all the free memory of the device, of which each vertex has two rows, the
        first being its own.
        """
        cut, number = self.layout.cut, group[0]
        if len(group) == 1:
            of = self.resident.in_place(number) if number not in self.resident else self.resident[number]
            rows = vertices - vertices.dtype.type(int(cut.cuts[number]))
            return TraversalState(Csr(of["indptr"], of["indices"]), of.get("sums"), self.kernels), rows
        xp, pools, bounds = self.env.xp, self.resident.pools, self.env.xp.empty(2 * len(vertices), np.int64)
        begin = 0
        for number, count in zip(group, counts, strict=True):
            here, slot, of = slice(begin, begin + count), self.resident.slot(number), self.resident[number]["indptr"]
            rows = vertices[here] - vertices.dtype.type(int(cut.cuts[number]))
            for side in (0, 1):
                bounds[side::2][here] = of[rows + rows.dtype.type(side)] + np.int64(slot * cut.most_edges)
            begin += count
        rows = xp.arange(0, 2 * len(vertices), 2, dtype=vertices.dtype)
        return TraversalState(Csr(bounds, pools["indices"]), pools.get("sums"), self.kernels), rows

    def _of_the_graph(self, places: Array, group: Sequence[int]) -> Array:
        """Numbers of edges, by their places in a partition, or in the buffer for several."""
        cut = self.layout.cut
        if len(group) == 1:
            places = places + np.int64(cut.begins[group[0]])
        else:
            shifts = np.zeros(self.layout.resident, np.int64)
            for number in group:
                slot = self.resident.slot(number)
                shifts[slot] = cut.begins[number] - slot * cut.most_edges
            places = places + self.env.backend.from_host(shifts)[places // max(cut.most_edges, 1)]
        if not self.sampler.numbered:
            return places
        return self.env.backend.from_host(self.made.numbers_at(self.env.backend.to_host(places)))

    def _in_turn(self, active: np.ndarray, fanout: int) -> Iterator[Sequence[int]]:
        """The partitions with work, of each launch: one in their order, or those that are there and then the most
        active first; by `BAL` all that are there, and then half as many as fit, so that others are copied
        meanwhile."""
        numbers, cut = [int(k) for k in np.flatnonzero(active)], self.layout.cut
        if self.scheme in ("WS", "BAL", "in-place"):
            numbers.sort(key=lambda k: (k not in self.resident, -active[k], k))
        far: list[int] = []
        if self.scheme == "in-place":
            reads = 2 + (fanout if fanout >= 0 else self.degree)
            far = [k for k in numbers if k not in self.resident and cut.costs_more(k, active[k] * reads)]
            self.in_place += sum(int(active[k]) for k in far)
        near, size = [k for k in numbers if k not in far], 1
        groups: list[list[int]] = []
        if self.scheme == "BAL":
            there = [k for k in near if k in self.resident]
            groups, near, size = [there] if there else [], near[len(there) :], max(self.layout.resident // 2, 1)
        groups += [near[a : a + size] for a in range(0, len(near), size)]
        yield from self.resident.visit_together(groups)
        yield from ([k] for k in far)


def _host_rows(made: TraversalState) -> HostRows:
    edges = {"indices": made.rows.indices}
    if made.sums is not None:
        edges["sums"] = made.sums
    return HostRows(made.rows.indptr, edges)
