"""First-order random walks over partitions of which some are on the device.

A walker's state is its row of `walks`, the steps it has made, and the partition where it stands; the walkers that stand
in a partition are its queue. A launch takes the queue of a resident partition and lets each walker go until it leaves.

Source: Pandey et al., c-saw, Section V: queues of (vertex, instance, depth), workload-aware scheduling, thread blocks.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.backend import PER_PROCESSOR, Array
from graphdask.engine import Environment, RankResult
from graphdask.errors import OverBudget
from graphdask.part import Part
from graphdask.residency import Lanes, ResidentSet
from graphdask.sample._walkers import LAUNCH
from graphdask.sample.streamed import (
    PREPARING,
    HostRows,
    Layout,
    Streamed,
    budget_of,
    laid_out,
    prepared,
    record,
    report,
)
from graphdask.sample.walks import METROPOLIS, FirstOrder, Rows

READS = {"uniform": 1, "metropolis": 1, "alias": 3, "rejection": 4, "inverse": 10}
"""Of a step, about, by method, besides what is kept."""
KEPT = ("indptr", "totals")
"""What stays on the device of partitions that are read in place: what every step reads first."""
READ_IN_PLACE = ("uniform", "alias")
"""Methods whose steps read so little of a row that on a GPU they read it in place, where nobody says by which scheme;
as measured (cluster/records). Other methods read more, or were not measured."""
LANES = 8
"""Partitions that are sampled at the same time at most."""
QUEUE = 24
"""Bytes of a walker besides its vertices and what is said of it: its place in a queue, and what finds its partition."""
COUNTING = 4
"""Blocks of a processor that count walkers; each adds its counts to those of all."""


def run(sampler: FirstOrder, part: Part, host: Environment, env: Environment, options: Streamed) -> RankResult:
    """Draw the walks of a sampler; `part` is the whole graph in host memory, and `env` of the device."""
    drawn = _Run(sampler, part, host, env, options)
    try:
        return drawn.result()
    finally:
        drawn.resident.close()


def schemes_of(options: Streamed, method: str, rows: HostRows, env: Environment) -> list[str]:
    """The scheme to use, and the next one should it not fit; why that is so, `Streamed` says."""
    if options.scheme is not None:
        return [options.scheme]
    kept = rows.indptr.nbytes + sum(rows.rows[name].nbytes for name in KEPT if name in rows.rows)
    small = 2 * kept <= budget_of(options, env.backend, env.memory_share)
    if env.backend.name == "cuda" and method in READ_IN_PLACE and small:
        return ["in-place", "BAL"]
    return ["BAL"]


def _host_rows(made: Rows, part: Part) -> HostRows:
    """What kernels read of each row, by the names of `walk_streamed`."""
    rows, biases = HostRows(part.out.indptr, {"indices": part.out.indices}), made.biases
    if biases.kind is None:
        return rows
    _, values, greatest, totals, shifts, table, other = biases.arguments
    rows.rows["totals"] = totals
    if biases.method != "rejection":
        rows.edges["table"] = table
        return rows if biases.method == "inverse" else replace(rows, edges=rows.edges | {"other": other})
    rows.edges["values"], rows.rows["greatest"], rows.sparse["table"] = values, greatest, table
    if len(shifts):
        rows.rows["shifts"] = shifts
    return rows


class _Run:
    def __init__(self, sampler: FirstOrder, part: Part, host: Environment, env: Environment, options: Streamed):
        self.sampler, self.part, self.env = sampler, part, env
        with PREPARING:
            made = sampler.rows(part, host)
        self.biases = made.biases
        rows = prepared(part, host, env.backend, (sampler.bias, self.biases.method), lambda: _host_rows(made, part))
        degrees = made.degrees if sampler.method == "metropolis" else made.degrees[:1]
        width, n = part.vertex_map.dtype.itemsize, sampler.instances
        for scheme in schemes_of(options, sampler.method, rows, env):
            self.scheme, kept = scheme, KEPT if scheme == "in-place" else ()
            try:
                self.layout: Layout = laid_out(
                    options, scheme, rows, env.backend, env.memory_share, n, (sampler.length + 2) * width + 8 + QUEUE,
                    degrees.nbytes, sampler.name, kept,
                )  # fmt: skip
                break
            except OverBudget:
                if scheme in (options.scheme, "BAL"):
                    raise
        walks, free = n * ((sampler.length + 1) * width + 4), int(host.backend.free_memory() * host.memory_share)
        if self.layout.batch < n and walks > free:
            raise OverBudget(
                f"{n:,} walks of {sampler.length:,} steps are {walks:,} bytes, and {free:,} may be used of the host's "
                f"memory; draw fewer at a time"
            )
        self.degrees = env.backend.from_host(degrees)
        self.cuts = env.backend.from_host(self.layout.cut.cuts)
        self.resident = ResidentSet(env.backend, self.layout.cut.pieces, self.layout.resident, kept)
        self.lanes = Lanes(env.backend, LANES)
        dtypes = {"values": self.biases.dtype, "greatest": self.biases.dtype, "totals": np.uint64, "shifts": np.int32}
        dtypes |= {"table": np.uint64, "other": np.int32}
        self.empty = {name: env.xp.empty(0, dtype) for name, dtype in dtypes.items()}
        self.kernels = env.kernels("walk", index_t=part.vertex_map.dtype, bias_t=self.biases.dtype)
        self.queues = env.kernels("queues")
        method, *_ = self.biases.arguments
        self.method = METROPOLIS if sampler.method == "metropolis" else method
        self.said = sampler.length, sampler.seed, *sampler.moves, part.num_vertices
        """What every launch is told of the walks."""
        self.firsts = self.layout.cut.cuts.tolist()
        self.sweep: list[int] = []
        """Partitions that are still to be visited in their order."""
        self.imbalances: list[float] = []
        self.in_place = 0

    def result(self) -> RankResult:
        sampler, n = self.sampler, self.sampler.instances
        batches = range(0, max(n, 1), self.layout.batch)
        if len(batches) == 1:
            walks, lengths = self._batch(slice(0, n))
        else:
            walks = np.empty((n, sampler.length + 1), self.part.vertex_map.dtype)
            lengths = np.empty(n, np.int32)
            for begin in batches:
                rows = slice(begin, min(begin + self.layout.batch, n))
                walks[rows], lengths[rows] = map(self.env.backend.to_host, self._batch(rows))
        columns: dict[str, Any] = {"walks": walks, "lengths": lengths}
        imbalance = float(np.mean(self.imbalances)) if self.imbalances else 0.0
        values = {"streamed": report(self.scheme, self.layout, self.resident, imbalance, len(batches), self.in_place)}
        return RankResult(
            columns, values, {name: column.dtype for name, column in columns.items()}, self.env.history, "",
            self.env.backend.description, self.layout.memory,
        )  # fmt: skip

    def _batch(self, rows: slice) -> tuple[Array, Array]:
        """Walks of some instances, counted from the sampler's first."""
        env, xp, sampler, count = self.env, self.env.xp, self.sampler, self.layout.cut.count
        first = sampler.first + rows.start
        starts = sampler.of(sampler.starts, first, sampler.first + rows.stop).astype(self.part.vertex_map.dtype)
        self.starts, self.first = env.backend.from_host(starts), first
        self.walks = xp.full((len(starts), sampler.length + 1), -1, starts.dtype)
        self.walks[:, 0] = self.starts
        self.lengths = xp.zeros(len(starts), np.int32)
        self.places = (xp.searchsorted(self.cuts[1:], self.starts, side="right")).astype(np.int32)
        if not sampler.length:
            self.places.fill(count)
        self.queue = xp.empty(len(starts), np.int64)
        self.sweep, made, frontier, started = [], 0, 0, time.perf_counter()
        while True:
            bounds, steps = self._queues()
            if frontier:
                record(env, sampler.name, frontier, steps - made, started)
            active = {k: int(bounds[k + 1] - bounds[k]) for k in range(count) if bounds[k] < bounds[k + 1]}
            if not active:
                return self.walks, self.lengths
            made, started, chosen = steps, time.perf_counter(), self._chosen(active)
            self._launch(chosen, active, bounds)
            frontier = sum(active[k] for k in chosen)

    def _queues(self) -> tuple[np.ndarray, int]:
        """Put the walkers that go on in the order of their partitions; where those of each begin, and steps made."""
        count, n = self.layout.cut.count, len(self.places)
        tally = self.env.xp.zeros(2 * count + 1, np.int64)
        self.queues.queues_count(n, self.places, self.lengths, count, tally, per_processor=COUNTING, shared=4 * count)
        self.queues.queues_fill(n, self.places, count, tally, self.queue, shared=12 * count)
        told = self.env.backend.to_host(tally[: count + 1])
        return np.concatenate([[0], np.cumsum(told[:-1])]), int(told[-1])

    def _chosen(self, active: dict[int, int]) -> list[int]:
        """The partitions that are sampled next; those after them are on their way to the device."""
        resident = self.resident
        if self.scheme in ("baseline", "BA"):
            self.sweep = [k for k in self.sweep if k in active] or sorted(active)
            chosen, self.sweep = self.sweep[: self.layout.resident], self.sweep[self.layout.resident :]
            self._bring(chosen, chosen)
            return chosen
        ready = [k for k in resident.numbers if k in active]
        absent = sorted((k for k in active if k not in resident), key=lambda k: (-active[k], k))
        here: list[int] = []
        if self.scheme == "in-place":
            here = self._in_place(absent, active)
            absent = [k for k in absent if k not in here]
            self.in_place += sum(active[k] for k in here)
        coming = absent[: self.layout.resident - len(ready)]
        self._bring(coming, ready + coming)
        return sorted(ready + here, key=lambda k: (-active[k], k)) or coming

    def _in_place(self, absent: list[int], active: dict[int, int]) -> list[int]:
        """Partitions to be read in host memory: those that would not be worth the place of another one for a step of
        each walker there, or room that is free for the steps of a whole walk."""
        here, free = [], self.resident.room
        for number in absent:
            steps = self.sampler.length if free else 1
            if self.layout.cut.costs_more(number, active[number] * READS[self.sampler.method] * steps):
                here.append(number)
            else:
                free = max(free - 1, 0)
        return here

    def _bring(self, wanted: list[int], kept: list[int]) -> None:
        """Begin to copy partitions in the place of those that are not kept."""
        for number in wanted:
            if number not in self.resident:
                if not self.resident.room:
                    self.resident.release(next(k for k in self.resident.numbers if k not in kept))
                self.resident.start(number)

    def _launch(self, chosen: list[int], active: dict[int, int], bounds: np.ndarray) -> None:
        """Sample partitions beside each other."""
        most, longest = LAUNCH[self.env.backend.name]
        total, blocks = sum(active[k] for k in chosen), {}
        for number in chosen:
            part_of = active[number] / total if self.scheme in ("BAL", "in-place") else 1 / len(chosen)
            blocks[number] = max(1, round(PER_PROCESSOR * part_of))
        if len(chosen) > 1:
            loads = np.array([active[k] / blocks[k] for k in chosen])
            self.imbalances.append(float(loads.std() / loads.mean()))
        self.lanes.fork(len(chosen))
        for launch, number in enumerate(chosen):
            queue = self.queue[int(bounds[number]) : int(bounds[number + 1])]
            budget = 1 if self.scheme in ("baseline", "BA") else max(1, min(longest, most // len(queue)))
            base, end = self.firsts[number : number + 2]
            with self.lanes[launch]:
                resident = number in self.resident
                of = self.empty | (self.resident[number] if resident else self.resident.in_place(number))
                self.kernels.walk_streamed(
                    len(queue), queue, self.first, budget, *self.said, self.starts, of["indptr"], of["indices"],
                    self.method, of["values"], of["greatest"], of["totals"], of["shifts"], of["table"], of["other"],
                    self.degrees, base, end - base, self.cuts, self.layout.cut.count, self.walks, self.lengths,
                    self.places, per_processor=blocks[number],
                )  # fmt: skip
        self.lanes.join()
