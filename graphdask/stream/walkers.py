"""Random walks over a store: walkers wait in the queue of the chunk where they stand.

The chunk where most wait is read, if it is not in memory, and stays until its queue is empty: each walker there goes on
until it leaves the chunk or ends. What a step draws depends on the seed, the walk and the step alone, so the order in
which chunks are visited changes no walk.

Source: Pandey et al., c-saw, Section V; Yang et al., KnightKing (SOSP 2019), Section 5, for walkers that travel.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX
from graphdask.kernels.common.compiling import clock
from graphdask.kernels.common.queues_pack import QueueEntries
from graphdask.partition.part import Csr
from graphdask.sample.arcs import STEP
from graphdask.sample.biases import EdgeBiases
from graphdask.sample.streamed import record
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.walkers import PartState, Walkers
from graphdask.stream.rows import ChunkEnvironment, StoredRows, per_vertex
from graphdask.stream.shared_store import StreamedPart

AT_HAND = 8
"""What a walker counts for where the chunk is in memory."""
LAUNCHED = 40
"""Bytes of a walker, at most, besides its records and its steps, while it walks in a chunk."""


def run(sampler: Walkers, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """Walks of a sampler; also the rows that were gone through, and bytes of what is per vertex and per walker."""
    drawn = _Run(sampler, part, env)
    n, width = sampler.instances, sampler.length + 1
    batches = range(0, n, drawn.most)
    xp = env.xp if len(batches) < 2 else np  # of several batches a device has the walks of one at a time

    def columns(xp: Any, count: int) -> dict[str, Any]:
        made = {"walks": xp.full((count, width), -1, np.int32), "lengths": xp.zeros(count, np.int32)}
        return made | ({"edge": xp.full((count, width - 1), -1, np.int64)} if sampler.numbered else {})

    out = columns(xp, n)
    for begin in batches:
        rows = slice(begin, min(begin + drawn.most, n))
        if xp is env.xp:
            drawn.batch(rows, **{name: column[rows] for name, column in out.items()})
        else:
            made = columns(env.xp, rows.stop - begin)
            drawn.batch(rows, **made)
            for name, column in made.items():
                out[name][rows] = env.backend.to_host(column)
    return out, drawn.stored, drawn.state


class _Run:
    def __init__(self, sampler: Walkers, part: StreamedPart, env: ChunkEnvironment):
        self.sampler, self.env, self.xp = sampler, env, env.xp
        on_device = env.backend.name == "cuda"
        asks = sampler.asks_degrees
        fixed = per_vertex(part.store, asks) * part.num_vertices
        self.dtypes = {name: np.dtype(np.int32 if of == INDEX else of) for name, of in sampler.record_columns.items()}
        record_bytes = 28 + sum(dtype.itemsize for dtype in self.dtypes.values())
        of_step = 12 + 5 * STEP * sampler.numbered
        launched = LAUNCHED + 2 * record_bytes + of_step * SAMPLE.walk_steps
        if on_device:  # where walks are
            record_bytes += (4 + STEP * sampler.numbered) * sampler.length + 8
        free = max(part.memory - fixed, 0) // 4  # for walkers; the rest is for chunks
        self.launched = max(1, free // 2 // launched)
        """Walkers that walk at a time."""
        self.most = max(1, free // 2 // record_bytes)
        """Walkers that are in queues at a time."""
        self.most = min(self.most, max(sampler.instances, 1))
        self.launched = min(self.launched, self.most)
        queues = self.most * record_bytes + self.launched * launched
        self.stored = StoredRows(
            env, part.store, part.store.sections["out"], part.memory - queues, sampler.name, sampler.work,
            self._tables, asks, sampler.numbered,
        )  # fmt: skip
        self.state = self.stored.per_vertex * part.num_vertices + queues

    def _tables(self, csr: Csr) -> int:
        bias, arcs = self.sampler.bias, 16 * csr.num_edges if self.sampler.numbered else 0
        return arcs + (0 if bias is None else EdgeBiases.memory(csr, bias, self.sampler.method))

    def batch(self, rows: slice, walks: Array, lengths: Array, edge: Array | None = None) -> None:
        """Walks of some instances, counted from the sampler's first."""
        stored, env, xp, none = self.stored, self.env, self.xp, len(self.stored)
        sampler = copy.copy(self.sampler)
        sampler.first, sampler.last = self.sampler.first + rows.start, self.sampler.first + rows.stop
        self.walks, self.lengths, self.edges = walks, lengths, edge
        starts = sampler.of(sampler.starts, sampler.first, sampler.last)
        self.starts = env.backend.from_host(starts.astype(np.int32))
        walks[:, 0] = self.starts
        if not sampler.length:
            return
        records = sampler.departures(env, xp.arange(sampler.first, sampler.last, dtype=np.int64))
        self.records = {name: column.astype(self.dtypes[name]) for name, column in records.items()}
        self.records["at"] = stored.positions(self.starts).astype(np.int32)
        self.places = stored.pieces(self.records["at"])
        waiting = env.backend.to_host(xp.bincount(self.places, minlength=none + 1))
        visits, frontier, edges, started = 0, 0, 0, clock()
        while waiting[:none].any():
            turns = self._busiest(waiting[:none])
            stored.ask(turns)
            entries, made = self._visited(sampler, turns, waiting)
            frontier, edges, visits = frontier + entries, edges + made, visits + 1
            if visits % none == 0:  # a superstep of the statistics
                record(env, sampler.name, frontier, edges, started)
                frontier, edges, started = 0, 0, clock()
        if frontier:
            record(env, sampler.name, frontier, edges, started)

    def _visited(self, sampler: Walkers, turns: list[int], waiting: np.ndarray) -> tuple[int, int]:
        """Empty the queue of the first of some chunks; returns its entries, and the steps that were made. Nothing here
        outlives it, so that the chunk can go when the next one is read."""
        stored, number, frontier, edges = self.stored, turns[0], 0, 0
        part = stored.enter(number, waiting)
        of = sampler.rows(part, self.env)
        stored.settle(number)
        stored.read_ahead(turns[1:], waiting)
        state = PartState(of, self.starts, stored.numbers)
        while waiting[number]:
            queue, tally = self.xp.flatnonzero(self.places == number), self.xp.zeros(len(stored) + 2, np.int64)
            for begin in range(0, len(queue), self.launched):
                self._walked(sampler, part, state, queue[begin : begin + self.launched], tally)
            counts = self.env.backend.to_host(tally)
            waiting[number] = 0
            waiting += counts[:-1]
            frontier, edges = frontier + len(queue), edges + int(counts[-1])
            self.env.check_deadline(sampler.name, f"chunk {number}")
        return frontier, edges

    def _busiest(self, waiting: np.ndarray) -> list[int]:
        """Where most walkers wait, and some that come after it; those in what is in memory count for several, as
        nothing is to be read for them."""
        counted = waiting.copy()
        counted[self.stored.held] *= AT_HAND
        first = np.argsort(-counted, kind="stable")[: 1 + self.env.ahead]
        return first[counted[first] > 0].tolist()

    def _walked(self, sampler: Walkers, part: Any, state: PartState, some: Array, tally: Array) -> None:
        """Let some walkers go on in a chunk; `tally` counts where they wait then, and their steps.

        On a device it is as few operations as may be: they take longer than what they do for the walkers of a chunk.
        """
        came = {name: column[some] for name, column in self.records.items()}
        came["at"] -= np.int32(part.first_position)
        path, made, target, records, edges = sampler.advance(part, self.env, state, came)
        if edges is not None:
            assert self.edges is not None
            columns = self.xp.arange(path.shape[1], dtype=np.int32)[None, :]
            filled = columns < made[:, None]
            walker = self.xp.broadcast_to(some[:, None], path.shape)[filled]
            self.edges[walker, (self.lengths[some][:, None] + columns)[filled]] = edges[filled]
        self.env.kernels("queues").queues_leave(
            len(some), QueueEntries(
                queue=some, path=path, budget=path.shape[1], made=made, target=target, **self.stored.finding,
                walks=self.walks, width=self.walks.shape[1], lengths=self.lengths, at=self.records["at"],
                places=self.places, tally=tally,
            ),
        )  # fmt: skip
        for name, column in records.items():
            if name != "instance":  # who it is does not change
                self.records[name][some] = column
