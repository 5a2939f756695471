"""Random walks over a store: walkers wait in the queue of the chunk where they stand.

The chunk where most wait is read, if it is not in memory, and stays until its queue is empty: each walker there goes on
until it leaves the chunk or ends. What a step draws depends on the seed, the walk and the step alone, so the order in
which chunks are visited changes no walk.

Source: Pandey et al., c-saw, Section V; Yang et al., KnightKing (SOSP 2019), Section 5, for walkers that travel.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import INDEX
from graphdask.part import Csr
from graphdask.sample._walkers import BUDGET, PartState, Walkers
from graphdask.sample.biases import EdgeBiases
from graphdask.sample.streamed import record
from graphdask.stream.rows import ChunkEnvironment, StoredRows, per_vertex
from graphdask.stream.shared import StreamedPart

AT_HAND = 8
"""What a walker counts for where the chunk is in memory."""
LAUNCHED = 40 + 12 * BUDGET
"""Bytes of a walker, at most, besides its records, while it walks in a chunk."""
WRITTEN = 28 * BUDGET
"""On a device, where its steps are written all at once, more."""


def run(sampler: Walkers, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """Walks of a sampler; also the rows that were gone through, and bytes of what is per vertex and per walker."""
    drawn = _Run(sampler, part, env)
    n, width = sampler.instances, sampler.length + 1
    batches = range(0, n, drawn.most)
    xp = env.xp if len(batches) < 2 else np  # of several batches a device has the walks of one at a time
    walks, lengths = xp.full((n, width), -1, np.int32), xp.zeros(n, np.int32)
    for begin in batches:
        rows = slice(begin, min(begin + drawn.most, n))
        if xp is env.xp:
            drawn.batch(rows, walks[rows], lengths[rows])
        else:
            made = env.xp.full((rows.stop - begin, width), -1, np.int32), env.xp.zeros(rows.stop - begin, np.int32)
            drawn.batch(rows, *made)
            walks[rows], lengths[rows] = (env.backend.to_host(column) for column in made)
    return {"walks": walks, "lengths": lengths}, drawn.stored, drawn.state


class _Run:
    def __init__(self, sampler: Walkers, part: StreamedPart, env: ChunkEnvironment):
        self.sampler, self.env, self.xp = sampler, env, env.xp
        on_device = env.backend.name == "cuda"
        asks = bool(getattr(sampler, "asks_degrees", False))
        fixed = per_vertex(part.store, asks, False) * part.num_vertices
        self.dtypes = {name: np.dtype(np.int32 if of == INDEX else of) for name, of in sampler.record_columns.items()}
        record_bytes = 28 + sum(dtype.itemsize for dtype in self.dtypes.values())
        launched = LAUNCHED + 2 * record_bytes
        if on_device:  # where walks are, and what writes them
            record_bytes, launched = record_bytes + 4 * sampler.length + 8, launched + WRITTEN
        room = max(part.memory - fixed, 0) // 4  # for walkers; the rest is for chunks
        self.launched = max(1, room // 2 // launched)
        """Walkers that walk at a time."""
        self.most = max(1, room // 2 // record_bytes)
        """Walkers that are in queues at a time."""
        self.most = min(self.most, max(sampler.instances, 1))
        self.launched = min(self.launched, self.most)
        queues = self.most * record_bytes + self.launched * launched
        self.stored = StoredRows(
            env, part.store, part.store.sections["out"], part.memory - queues, sampler.name, sampler.work,
            self._tables, asks,
        )  # fmt: skip
        self.state = self.stored.per_vertex * part.num_vertices + queues

    def _tables(self, csr: Csr) -> int:
        bias = self.sampler.bias
        return 0 if bias is None else EdgeBiases.memory(csr, bias, getattr(self.sampler, "method", "auto"))

    def batch(self, rows: slice, walks: Array, lengths: Array) -> None:
        """Walks of some instances, counted from the sampler's first."""
        stored, env, xp, none = self.stored, self.env, self.xp, len(self.stored)
        sampler = copy.copy(self.sampler)
        sampler.first, sampler.last = self.sampler.first + rows.start, self.sampler.first + rows.stop
        self.walks, self.lengths = walks, lengths
        starts = sampler.of(sampler.starts, sampler.first, sampler.last)
        self.starts = env.backend.from_host(starts.astype(np.int32))
        walks[:, 0] = self.starts
        if not sampler.length:
            return
        records = sampler.departures(env, xp.arange(sampler.first, sampler.last, dtype=np.int64))
        self.records = {name: column.astype(self.dtypes[name]) for name, column in records.items()}
        self.records["at"] = stored.positions(self.starts).astype(np.int32)
        self.places = stored.pieces(self.records["at"])
        waiting = self._counted(self.places)
        visits, frontier, edges, started = 0, 0, 0, time.perf_counter()
        while waiting[:none].any():
            turns = self._busiest(waiting[:none])
            stored.ask(turns)
            entries, made = self._visited(sampler, turns, waiting)
            frontier, edges, visits = frontier + entries, edges + made, visits + 1
            if visits % none == 0:  # a superstep of the statistics
                record(env, sampler.name, frontier, edges, started)
                frontier, edges, started = 0, 0, time.perf_counter()
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
            queue = self.xp.flatnonzero(self.places == number)
            for begin in range(0, len(queue), self.launched):
                some = queue[begin : begin + self.launched]
                edges += self._walked(sampler, part, state, some)
                left = self._counted(self.places[some])
                left[number] -= len(some)
                waiting += left
            frontier += len(queue)
            self.env.check_deadline(sampler.name, f"chunk {number}")
        return frontier, edges

    def _counted(self, places: Array) -> np.ndarray:
        """How many walkers wait in each piece, and after these how many have come to their ends."""
        return self.env.backend.to_host(self.xp.bincount(places, minlength=len(self.stored) + 1))

    def _busiest(self, waiting: np.ndarray) -> list[int]:
        """Where most walkers wait, and some that come after it; those in what is in memory count for several, as
        nothing is to be read for them."""
        counted = waiting.copy()
        counted[self.stored.held] *= AT_HAND
        first = np.argsort(-counted, kind="stable")[: 1 + self.env.ahead]
        return first[counted[first] > 0].tolist()

    def _walked(self, sampler: Walkers, part: Any, state: PartState, some: np.ndarray) -> int:
        """Let some walkers go on in a chunk; returns the steps that they made."""
        came = {name: column[some] for name, column in self.records.items()}
        came["at"] -= np.int32(part.first_position)
        before = self.lengths[some]
        path, made, target, records = sampler.advance(part, self.env, state, came)
        self._write(some, before, path, made)
        self.lengths[some] = before + made
        for name, column in records.items():
            self.records[name][some] = column
        onward = target >= 0
        positions = self.stored.positions(target[onward])
        self.places[some] = len(self.stored)
        self.places[some[onward]] = self.stored.pieces(positions)
        self.records["at"][some[onward]] = positions
        return int(made.sum())

    def _write(self, some: Array, before: Array, path: Array, made: Array) -> None:
        """Put what some walkers came to into their walks."""
        if isinstance(self.walks, np.ndarray):
            for step in range(int(made.max(initial=0))):
                moved = np.flatnonzero(made > step)
                self.walks[some[moved], before[moved] + (step + 1)] = path[moved, step]
            return
        steps = self.xp.arange(1, path.shape[1] + 1, dtype=np.int32)
        there = steps <= made[:, None]
        places = (some * self.walks.shape[1] + before)[:, None] + steps
        self.walks.reshape(-1)[places[there]] = path[there]
