"""Streaming from disk: the cost of a layered edge list, its size, and how fast algorithms go through it.

Before every run the file is read from its beginning to its end in blocks, through the operating system's cache and past
it, as a disk may have another rate a minute later; the faster one is what the run is compared with, and the same
algorithm in memory. The file is dropped from the cache before each, so that all come from the disk. The time of the
cores says how much of the disk's rate computing leaves within reach, whoever else is using them; what an edge takes at
least is that of a sum over the ends of all edges, in no rows. Budgets are shares of the bytes of the edges, in which
buffers are too, beside what the algorithm keeps per vertex; what the process takes at its peak, as the operating system
counts it, is compared with the budget. Chunks are as large as `build` makes them for the least budget; the last records
are of iterations of PageRank with chunks of several sizes, read ahead and not, where all chunks must move.

Source: WolfPath, Sections 5.2 (memory), 5.3 (preprocessing) and 5.4 (Figure 9: asynchronous copies).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.algorithms.pagerank import PageRank
from graphdask.bench.analysis.graphs import of_file, weighted
from graphdask.bench.harness import CLOCK, Record, Runs, recorded, repeat
from graphdask.bench.memory import HighWater
from graphdask.bench.stream_device import measured
from graphdask.bench.streaming import (
    HEAVIEST,
    PAGERANK,
    WEIGHTED,
    beside_memory,
    built,
    call_of,
    iterate,
    record_of,
    starts,
)  # fmt: skip
from graphdask.device.backend import get_backend
from graphdask.generate.rmat import rmat
from graphdask.stream import components, distances, paths
from graphdask.stream.construct import chunk_for
from graphdask.stream.direct import BLOCK as PAGE
from graphdask.stream.direct import Direct, aligned_memory
from graphdask.stream.graph import open_
from graphdask.stream.pagerank import HANDS
from graphdask.stream.pagerank import state_bytes as pagerank_state
from graphdask.stream.window import AHEAD

SHOWN = (
    "record", "share", "chunk", "read_ahead", "seconds", "in_memory", "times", "sweeps", "mb", "mb_per_s",
    "of_sequential", "within_reach", "ns_per_edge", "of_link", "over_link", "over_least", "overlap", "budget_mb",
    "of_budget", "of_csr",
)  # fmt: skip
"""Columns of the table."""
BLOCK = 8 << 20
"""Bytes of a block of the sequential read."""
STATES = {
    "bfs from the root": paths.SEARCH, "bfs from elsewhere": paths.SEARCH, "components": components.BYTES,
    PAGERANK: pagerank_state(PageRank(0.85, 0.0, 5)), "sssp from the root": distances.WIDE,
}  # fmt: skip
"""Bytes per vertex of a budget, beside the share of the edges."""


@recorded
def run(
    scale: int = 20,
    *,
    edge_factor: int = 16,
    shares: Sequence[float] = (0.25, 0.5, 0.75),
    chunks: Sequence[int | None] = (None, 1 << 18, 1 << 21, 1 << 24),
    repeats: int = 3,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    graph_file: str | os.PathLike[str] | None = None,
) -> Iterator[Record]:
    """Measure building and streaming.

    Parameters
    ----------
    scale, edge_factor, seed : int
        Of an undirected R-MAT graph.
    graph_file : path-like, optional
        An undirected graph from this file instead; its directions are left out.
    shares : sequence of float
        Budgets, as shares of the bytes of the edges, beside what an algorithm keeps per vertex.
    chunks : sequence of int
        Bytes of a chunk; the first is used but where chunks are compared. None: what `build` takes by itself where it
        is given the least of the budgets.
    repeats : int
        Of every run; the median is kept, after one to warm up.
    directory : path-like, optional
        Where the file is; it is removed afterwards. Default: that of temporary files.
    device : {"cpu", "cuda"}
        `cuda` measures what `graphdask.bench.stream_device` describes.

    Yields
    ------
    dict
        `record`; `seconds` (median), `mb` that were read and `mb_per_s`; `of_sequential`, their share of the rate at
        which the file is read in blocks, the faster of `cached_mb_per_s` and `direct_mb_per_s` (0 where the chunks are
        not read so either); `over_least`, the bytes divided by those of the scanned edges, each counted once;
        `in_memory` seconds and how many `times` that; `overlap`, `sweeps`. `ns_per_edge`, the time of all cores divided
        by the scanned edges, and `within_reach`, the share of the sequential rate that it allows if the cores do
        nothing else. `budget_mb`, and `of_budget`, the memory of the process at its peak divided by that; None if the
        system cannot reset the peak. Of the build: `of_csr`, the size divided by that of compressed sparse rows, and
        `medges_per_s`.

    Raises
    ------
    VerificationError
        If an answer is not the one in memory.
    """
    made = rmat(scale, edge_factor, seed=seed) if graph_file is None else of_file(graph_file).to_undirected()
    if device == "cuda":
        yield from measured(made, shares, repeats, directory)
        return
    of = {"graph": f"rmat {scale} x {edge_factor}" if graph_file is None else os.path.basename(graph_file)}
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        for row in _records(made, Path(folder) / "graph.gdl", shares, chunks, repeats, seed):
            yield row | of | {"clock": CLOCK}


def _records(
    made: Any, path: Path, shares: Sequence[float], chunks: Sequence[int | None], repeats: int, seed: int
) -> Iterator[Record]:
    graph = made.partition(1, device="cpu")
    graph.persist(progress=False)
    least = int(min(STATES.values()) * graph.num_vertices + min(shares) * 8 * graph.num_edges)
    sizes = [chunk_for(least) if chunk is None else chunk for chunk in chunks]
    for at, chunk in enumerate(sizes):
        store, row = built(graph, path, chunk, _building(graph, chunk))
        yield row
        described = {name: row[name] for name in ("vertices", "edges", "chunk")}
        rates = _rates(path, repeats)
        yield {"record": "sequential read", **described, "mb": row["mb"], "mb_per_s": max(rates.values())} | rates
        if not at:
            yield {"record": "sum over ends", **described, "ns_per_edge": _least(store, repeats)}
            for share in shares:
                for row in _algorithms(graph, path, share, repeats, set(STATES) - set(WEIGHTED)):
                    yield row | described | {"share": share}
        for ahead in (0, 2):
            rates = _rates(path, repeats)
            runs = repeat(partial(iterate, opened(path, PAGERANK, 0.0, ahead)), repeats, before=partial(_forget, path))
            yield _beside(record_of(PAGERANK, runs) | _worked(runs), rates) | described | {"read_ahead": ahead}
    heavy = weighted(made, seed, HEAVIEST).partition(1, device="cpu")
    heavy.persist(progress=False)
    built(heavy, path, sizes[0], _building(heavy, sizes[0]))[0].close()
    described |= {"chunk": sizes[0], "weights": str(heavy.source.weight_dtype)}
    for share in shares:
        for row in _algorithms(heavy, path, share, repeats, set(WEIGHTED)):
            yield row | described | {"share": share}


def _building(graph: Any, chunk: int) -> int:
    """Bytes for what a build keeps per vertex, some chunks, and the edges."""
    return max(56 * graph.num_vertices + (64 << 20) + 8 * graph.num_edges, 16 * chunk)


def opened(path: Path, name: str, share: float, ahead: int | None = None) -> Any:
    """Return the file, opened with the bytes of an algorithm per vertex and a share of those of the edges.

    If the memory of a few chunks is more than the share, it is taken instead.
    """
    with open_(path, device="cpu") as S:
        n, section = S.num_vertices, S.store.sections["out"]
        chunks, rows = (AHEAD if ahead is None else ahead) + HANDS, section.most_rows + 1
        few = chunks * (section.most_bytes + 2 * PAGE) + (4 + 8 * HANDS) * rows
        edges = sum(section.edge_bytes(int(count)) for count in section.table["edges"])
    return open_(path, STATES[name] * n + max(few, int(share * edges)), read_ahead=ahead, device="cpu")


def _algorithms(graph: Any, path: Path, share: float, repeats: int, names: set[str]) -> Iterator[Record]:
    """Each algorithm over the file, and in memory."""
    where = starts(path, graph)
    for name in (name for name in STATES if name in names):
        call, rates, streamed = call_of(name, where), _rates(path, repeats), opened(path, name, share)
        runs = repeat(partial(call, streamed), repeats, before=partial(_forget, path))
        with HighWater() as memory:
            call(streamed)
        inside, budget = beside_memory(name, runs, repeat(partial(call, graph), repeats)), streamed.memory
        yield _beside(record_of(name, runs) | _worked(runs), rates) | inside | {
            "budget_mb": budget / 1e6, "of_budget": None if memory.bytes is None else memory.bytes / budget,
        }  # fmt: skip


def _worked(runs: Runs) -> Record:
    """What the cores took."""
    cpu, edges = min(runs.cpu), sum(step["edges"] for step in runs.result.stats.supersteps)
    return {"cpu": cpu, "edges_looked": edges, "ns_per_edge": 1e9 * cpu / max(edges, 1)}


def _beside(row: Record, rates: dict[str, float]) -> Record:
    """Besides, against the faster sequential read, in MB per second."""
    rate = max(rates.values())
    reach = min(1.0, row["mb"] / rate * len(os.sched_getaffinity(0)) / row["cpu"])
    return row | rates | {"of_sequential": row["mb_per_s"] / rate, "within_reach": reach}


def _least(store: Any, repeats: int) -> float:
    """Nanoseconds that an edge takes a core that only looks up a float64 of the vertex at its end."""
    opened, section = store.store, store.store.sections["out"]
    kernels, memory = get_backend("cpu").kernels("pagerank"), np.empty(section.most_bytes, np.uint8)
    x, none, taken = np.ones(opened.num_vertices), np.zeros(0, np.int32), np.zeros(max(repeats, 2))
    for number in range(len(section)):
        ends = opened.read(section, number, memory).targets
        row = np.array([0, len(ends)], np.int64)
        for turn in range(len(taken)):
            began = time.thread_time()
            kernels.pagerank_sum(1, row, ends, none.astype(np.float32), 0, x, none, 0, np.empty(1))
            taken[turn] += time.thread_time() - began
    return 1e9 * float(taken.min()) / max(section.num_edges, 1)


def _forget(path: Path) -> None:
    """Drop a file from the operating system's cache."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def _rates(path: Path, repeats: int) -> dict[str, float]:
    """MB per second, through the operating system's cache and past it."""
    return {"cached_mb_per_s": _sequential(path, repeats, False), "direct_mb_per_s": _sequential(path, repeats, True)}


def _sequential(path: Path, repeats: int, past: bool) -> float:
    """MB per second at which a file is read in blocks, the median; past the cache 0 where that is not to be had."""
    memory, rates = aligned_memory(BLOCK), []
    for _ in range(repeats):
        _forget(path)
        with path.open("rb", buffering=0) as file, closing(Direct(file.fileno())) as direct:
            size, began = path.stat().st_size, time.perf_counter()
            if past and not all(direct.read(at, memory, min(BLOCK, size - at)) for at in range(0, size, BLOCK)):
                return 0.0
            while not past and file.readinto(memory.data):
                pass
        rates.append(size / (time.perf_counter() - began) / 1e6)
    return float(np.median(rates))
