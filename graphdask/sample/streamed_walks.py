"""First-order random walks over partitions of which some are on the device.

A walker's state is its row of `walks`, the steps it has made, and the partition where it stands. A launch lets walkers
go on over all partitions that it reads, on the device or in place; a walker that comes to another one waits in its
queue.

Source: Pandey et al., c-saw, Section V: queues of (vertex, instance, depth), workload-aware scheduling, thread blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.device.backend import PER_PROCESSOR, Array
from graphdask.device.residency import Lanes, ResidentSet, fetched, on_device, seen_in_place
from graphdask.engine.loop import Environment, RankResult
from graphdask.errors import OverBudget
from graphdask.kernels.common.compiling import clock
from graphdask.kernels.walks.walk_pack import StreamedWalks
from graphdask.partition.part import Csr, Part
from graphdask.sample.arcs import STEP, arc_types
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
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.walkers import threads_for
from graphdask.sample.walks import METROPOLIS, FirstOrder, Rows

READS = {"uniform": 1, "metropolis": 1, "alias": 1, "rejection": 4, "inverse": 10}
"""Of a step, about, by method, besides what is said of rows."""
OF_ROWS, OF_EDGES = ("indptr", "greatest", "totals", "shifts"), ("indices", "values", "table", "other", "arcs")
"""What is said of rows and of edges: fields of StreamedWalks (kernels/walks/walk_pack.py)."""
NEAR, FAR, WAITS = 0, 1, 2
"""How a partition is read, as kernels/walks/walk.py has it."""
CELLS = 5
"""Of alias tables, as kernels/walks/walk.py has it."""
CHUNK = 1 << 16
"""Rows whose cells are made at a time."""
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


def schemes_of(options: Streamed, rows: HostRows, env: Environment) -> list[str]:
    """The scheme to use, and the next one should it not fit; why that is so, `Streamed` says."""
    if options.scheme is not None:
        return [options.scheme]
    of_rows = sum(array.nbytes for array in rows.of_rows.values())
    if env.backend.name == "cuda" and 2 * of_rows <= budget_of(options, env.backend, env.memory_share):
        return ["in-place", "BAL"]
    return ["BAL"]


def _host_rows(made: Rows, part: Part, host: Environment) -> HostRows:
    """What kernels read of each row, by the names of `walk_streamed`."""
    ends = {"indices": part.out.indices} if made.arcs is None else {"arcs": made.arcs}
    rows, biases = HostRows(part.out.indptr, ends), made.biases
    if biases.kind is None:
        return rows
    values, greatest, totals, shifts, table, other = biases.tables.values()
    rows.rows["totals"] = totals
    if biases.method == "alias" and made.arcs is not None:
        rows.edges["table"], rows.edges["other"] = table, other
        return rows
    if biases.method == "alias":
        return replace(rows, edges={"table": _cells(part.out, table, other, host)})
    if biases.method == "inverse":
        rows.edges["table"] = table
        return rows
    rows.edges["values"], rows.rows["greatest"], rows.sparse["table"] = values, greatest, table
    if len(shifts):
        rows.rows["shifts"] = shifts
    return rows


def _cells(csr: Csr, share: np.ndarray, other: np.ndarray, host: Environment) -> np.ndarray:
    """An alias table with the neighbours in it, so that a step reads in one place (kernels/walks/walk.py)."""
    small = csr.indices.itemsize == 4
    words, free = 2 if small else 3, int(host.backend.free_memory() * host.memory_share)
    if 8 * words * csr.num_edges > free:
        raise OverBudget(
            f"alias tables to stream need {8 * words * csr.num_edges:,} bytes of the host's memory, of which {free:,} "
            f'may be used; use method="rejection", or raise the setting graphdask.memory-fraction'
        )
    cells = np.empty((csr.num_edges, words), np.uint64)
    cells[:, 0] = share
    for a in range(0, csr.num_rows, CHUNK):
        begins = csr.indptr[a : a + CHUNK + 1]
        here = slice(int(begins[0]), int(begins[-1]))
        theirs = csr.indices[np.repeat(begins[:-1], np.diff(begins)) + other[here]]
        if small:
            cells[here, 1] = csr.indices[here].astype(np.uint64) | theirs.astype(np.uint64) << np.uint64(32)
        else:
            cells[here, 1], cells[here, 2] = csr.indices[here], theirs
    return cells


class _Run:
    def __init__(self, sampler: FirstOrder, part: Part, host: Environment, env: Environment, options: Streamed):
        self.sampler, self.part, self.env = sampler, part, env
        with PREPARING:
            made = sampler.rows(part, host)
        self.biases = made.biases
        of = sampler.bias, self.biases.method, *(["arcs"] if sampler.numbered else [])
        rows = prepared(part, host, env.backend, of, lambda: _host_rows(made, part, host))
        degrees = made.degrees if sampler.method == "metropolis" else made.degrees[:1]
        width, n = part.vertex_map.dtype.itemsize, sampler.instances
        of_walk = sampler.length * (width + STEP * sampler.numbered)
        for scheme in schemes_of(options, rows, env):
            self.scheme, self.whole = scheme, scheme == "in-place"
            fixed = degrees.nbytes + self.whole * sum(array.nbytes for array in rows.of_rows.values())
            try:
                self.layout: Layout = laid_out(
                    options, scheme, rows, env.backend, env.memory_share, n, of_walk + 2 * width + 8 + QUEUE,
                    fixed, sampler.name, self.whole,
                )  # fmt: skip
                break
            except OverBudget:
                if scheme in (options.scheme, "BAL"):
                    raise
        if self.layout.batch < n:
            walks, free = n * (of_walk + width + 4), int(host.backend.free_memory() * host.memory_share)
            if walks > free:
                raise OverBudget(
                    f"{n:,} walks of {sampler.length:,} steps are {walks:,} bytes, and {free:,} may be used of the "
                    f"host's memory; draw fewer at a time"
                )
        cut, backend = self.layout.cut, env.backend
        self.degrees, self.cuts = backend.from_host(degrees), backend.from_host(cut.cuts)
        self.resident = ResidentSet(backend, cut.pieces, self.layout.resident, cut.lengths)
        self.lanes = Lanes(backend, 0 if self.whole else LANES)
        dtypes = {"values": self.biases.dtype, "greatest": self.biases.dtype, "totals": np.uint64, "shifts": np.int32}
        dtypes |= {"table": np.uint64, "other": np.int32, "indices": part.vertex_map.dtype}
        dtypes["arcs"] = dtypes["indices"] if made.arcs is None else made.arcs.dtype
        near = {name: env.xp.empty(0, dtype) for name, dtype in dtypes.items()} | self.resident.pools
        far = {name: near[name] for name in OF_EDGES}
        self.of_rows = 0
        """Bytes of what is said of all rows, where the device has it."""
        if self.whole:
            near |= {name: on_device(backend, array) for name, array in rows.of_rows.items()}
            far |= {name: seen_in_place(backend, array) for name, array in (rows.edges | rows.sparse).items()}
            self.of_rows = sum(array.nbytes for array in rows.of_rows.values())
        cells = {} if sampler.numbered else {"alias": CELLS}
        method = {"metropolis": METROPOLIS, **cells}.get(sampler.method, self.biases.fields["method"])
        tables = {name: near[name].reshape(-1) for name in OF_ROWS + OF_EDGES}
        tables |= {f"far_{name}": far[name].reshape(-1) for name in OF_EDGES}
        for name in ("arcs", "far_arcs"):
            tables[name] = tables[name].reshape(-1, 2) if sampler.numbered else None
        restart, leave, dead = sampler.moves
        self.pack = StreamedWalks(
            length=sampler.length, seed=sampler.seed, restart=restart, leave=leave, dead=dead,
            vertices=part.num_vertices, degrees=self.degrees, cuts=self.cuts, parts=cut.count, whole=int(self.whole),
            method=method, **tables,
        )  # fmt: skip
        types = {"index_t": part.vertex_map.dtype, "bias_t": self.biases.dtype, **arc_types(tables["arcs"])}
        self.kernels = env.kernels("walk", **types)
        self.queues = env.kernels("queues")
        self.sweep: list[int] = []
        """Partitions that are still to be visited in their order."""
        self.imbalances: list[float] = []
        self.in_place = env.xp.zeros(1, np.uint64)
        """Steps from vertices whose edges were read in place."""
        self.pack.reported = self.in_place

    def result(self) -> RankResult:
        sampler, n = self.sampler, self.sampler.instances
        batches = range(0, max(n, 1), self.layout.batch)
        if len(batches) == 1:
            columns = self._batch(slice(0, n))
        else:
            shapes = {"walks": ((n, sampler.length + 1), self.part.vertex_map.dtype), "lengths": (n, np.int32)}
            if sampler.numbered:
                shapes["edge"] = ((n, sampler.length), np.int64)
            columns = {name: np.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}
            for begin in batches:
                rows = slice(begin, min(begin + self.layout.batch, n))
                for name, drawn in self._batch(rows).items():
                    fetched(drawn, columns[name][rows])
        imbalance = float(np.mean(self.imbalances)) if self.imbalances else 0.0
        in_place = int(self.env.backend.to_host(self.in_place)[0])
        figures = report(self.scheme, self.layout, self.resident, imbalance, len(batches), in_place)
        values = {"streamed": {**figures, "nbytes": figures["nbytes"] + self.of_rows}}
        return RankResult(
            columns, values, {name: column.dtype for name, column in columns.items()}, self.env.history, "",
            self.env.backend.description, self.layout.memory,
        )  # fmt: skip

    def _batch(self, rows: slice) -> dict[str, Any]:
        """Walks of some instances, counted from the sampler's first."""
        env, xp, sampler, count = self.env, self.env.xp, self.sampler, self.layout.cut.count
        first = sampler.first + rows.start
        self.pack.release("starts", "walks", "lengths", "places", "edges")
        starts = sampler.of(sampler.starts, first, sampler.first + rows.stop).astype(self.part.vertex_map.dtype)
        self.starts, self.first = env.backend.from_host(starts), first
        self.walks = xp.full((len(starts), sampler.length + 1), -1, starts.dtype)
        self.walks[:, 0] = self.starts
        self.lengths = xp.zeros(len(starts), np.int32)
        self.edges = xp.full((len(starts), sampler.length), -1, np.int64) if sampler.numbered else None
        self.places = (xp.searchsorted(self.cuts[1:], self.starts, side="right")).astype(np.int32)
        if not sampler.length:
            self.places.fill(count)
        self.pack.starts, self.pack.walks, self.pack.lengths = self.starts, self.walks, self.lengths
        self.pack.places, self.pack.edges = self.places, self.edges
        self.queue = xp.empty(len(starts), np.int64)
        self.sweep, made, frontier, started = [], 0, 0, clock()
        while True:
            bounds, steps = self._queues()
            if frontier:
                record(env, sampler.name, frontier, steps - made, started)
            active = {k: int(bounds[k + 1] - bounds[k]) for k in range(count) if bounds[k] < bounds[k + 1]}
            if not active:
                columns = {"walks": self.walks, "lengths": self.lengths}
                return columns if self.edges is None else {**columns, "edge": self.edges}
            started = clock()
            left = max(sum(active.values()) * sampler.length - steps, 0)
            chosen, ways = self._chosen(active, left + (sampler.instances - rows.stop) * sampler.length)
            made, frontier = steps, self._launch(chosen, ways, active, bounds)

    def _queues(self) -> tuple[np.ndarray, int]:
        """Put the walkers that go on in the order of their partitions; where those of each begin, and steps made."""
        count, n = self.layout.cut.count, len(self.places)
        tally = self.env.xp.zeros(2 * count + 1, np.int64)
        self.queues.queues_count(n, self.places, self.lengths, count, tally, per_processor=COUNTING, shared=4 * count)
        self.queues.queues_fill(n, self.places, count, tally, self.queue, shared=12 * count)
        counts = self.env.backend.to_host(tally[: count + 1])
        return np.concatenate([[0], np.cumsum(counts[:-1])]), int(counts[-1])

    def _chosen(self, active: dict[int, int], left: int) -> tuple[list[int], dict[int, int]]:
        """The partitions whose queues are sampled next, and how each that walkers go on over is read; those that are to
        be sampled after them are on their way to the device. There are so many steps left to make, of all batches."""
        resident = self.resident
        if self.scheme in ("baseline", "BA"):
            self.sweep = [k for k in self.sweep if k in active] or sorted(active)
            chosen, self.sweep = self.sweep[: self.layout.resident], self.sweep[self.layout.resident :]
            self._bring(chosen, chosen)
            return chosen, dict.fromkeys(chosen, NEAR)
        far: list[int] = []
        if self.scheme == "in-place":
            self._fill(active, left)
            far = self._in_place(active)
        ready = [k for k in resident.numbers if k in active]
        absent = sorted((k for k in active if k not in resident and k not in far), key=lambda k: (-active[k], k))
        coming = absent[: self.layout.resident - len(ready)]
        self._bring(coming, ready + coming)
        chosen = ready + [k for k in far if k in active]
        near = [k for k in resident.numbers if k not in coming] if chosen else resident.numbers
        chosen = sorted(chosen, key=lambda k: (-active[k], k)) or coming
        return chosen, dict.fromkeys(near, NEAR) | dict.fromkeys(far, FAR)

    def _fill(self, active: dict[int, int], left: int) -> None:
        """Bring the partitions of which most is expected to be read, as long as there is free memory, and less is
        to be copied than to be read in place: the next step of each walker is where it stands, and those to come are
        where the edges are."""
        cut, reads = self.layout.cut, READS[self.sampler.method]
        absent = [k for k in range(cut.count) if k not in self.resident]
        later = max(left - sum(active.values()), 0) / max(sum(cut.edges), 1)
        steps = {k: active.get(k, 0) + later * cut.edges[k] for k in absent}
        wanted = sorted(absent, key=lambda k: (-steps[k], k))[: self.resident.free_slots]
        self._bring([k for k in wanted if not cut.costs_more(k, reads * steps[k])], [])

    def _in_place(self, active: dict[int, int]) -> list[int]:
        """Partitions to be read in host memory: those that are not worth the place of another one for one step of each
        walker that stands there, or that would, if all walkers waited for partitions that are not on the device."""
        absent = [k for k in range(self.layout.cut.count) if k not in self.resident]
        waiting, reads = sum(active.values()) / max(len(absent), 1), READS[self.sampler.method]
        return [k for k in absent if self.layout.cut.costs_more(k, reads * max(active.get(k, 0), waiting))]

    def _bring(self, wanted: list[int], kept: list[int]) -> None:
        """Begin to copy partitions in the place of those that are not kept."""
        for number in wanted:
            if number not in self.resident:
                if not self.resident.free_slots:
                    self.resident.release(next(k for k in self.resident.numbers if k not in kept))
                self.resident.start(number)

    def _reported(self, read: dict[int, int]) -> Array:
        """What a launch receives of partitions that it reads in these ways (kernels/walks/walk.py)."""
        cut, ways = self.layout.cut, np.zeros((3, self.layout.cut.count), np.int64)
        ways[2] = WAITS
        for number, way in read.items():
            ways[2, number] = way
            if way == NEAR:
                slot = self.resident.slot(number)
                ways[1, number] = slot * cut.most_edges
                if self.whole:
                    ways[1, number] -= cut.begins[number]
                else:
                    ways[0, number] = slot * cut.lengths["indptr"] - int(cut.cuts[number])
        return self.env.backend.from_host(ways.reshape(-1))

    def _launch(self, chosen: list[int], read: dict[int, int], active: dict[int, int], bounds: np.ndarray) -> int:
        """Sample the queues of partitions beside each other, or together; how many walkers they have."""
        self.pack.ways, count = self._reported(read), self.layout.cut.count
        queues = {k: slice(int(bounds[k]), int(bounds[k + 1])) for k in chosen}
        total, blocks = sum(active[k] for k in chosen), dict.fromkeys(chosen, PER_PROCESSOR)
        if self.scheme == "in-place":
            queues, blocks = {-1: slice(0, int(bounds[count]))}, {-1: PER_PROCESSOR}
        elif len(chosen) > 1:
            for k in chosen:
                part_of = active[k] / total if self.scheme == "BAL" else 1 / len(chosen)
                blocks[k] = max(1, round(PER_PROCESSOR * part_of))
            loads = np.array([active[k] / blocks[k] for k in chosen])
            self.imbalances.append(float(loads.std() / loads.mean()))
        most, longest = SAMPLE.walk_launch[self.env.backend.name]
        self.lanes.fork(len(queues))
        for launch, (k, rows) in enumerate(queues.items()):
            queue = self.queue[rows]
            budget = 1 if self.scheme in ("baseline", "BA") else max(1, min(longest, most // len(queue)))
            with self.lanes[launch]:
                self.kernels.walk_streamed(
                    len(queue), queue, self.first, budget, self.pack,
                    per_processor=blocks[k], threads=threads_for(self.env, len(queue)),
                )  # fmt: skip
        self.lanes.join()
        return total
