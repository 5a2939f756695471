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

import ctypes
import gc
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.components import connected_components
from graphdask.algorithms.pagerank import PageRank
from graphdask.algorithms.ranking import pagerank
from graphdask.algorithms.sssp import sssp
from graphdask.bench.analysis.graphs import of_file, weighted
from graphdask.bench.analysis.timing import CLOCK
from graphdask.device.backend import get_backend
from graphdask.errors import GraphdaskWarning, VerificationError
from graphdask.generate.rmat import rmat
from graphdask.kernels.common.compiling import clock
from graphdask.stream import components, distances, paths
from graphdask.stream.construct import build, chunk_for
from graphdask.stream.direct import BLOCK as PAGE
from graphdask.stream.direct import Direct, aligned_room
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
    "pagerank, 5 iterations": pagerank_state(PageRank(0.85, 0.0, 5)), "sssp from the root": distances.WIDE,
}  # fmt: skip
"""Bytes per vertex of a budget, beside the share of the edges."""
WEIGHTED = ("sssp from the root",)
"""What is run on a graph with weights, which are drawn where it has none."""
HEAVIEST = 64
ITERATIONS = 5
"""Of PageRank."""


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
) -> list[dict[str, Any]]:
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

    Returns
    -------
    list of dict
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
        from graphdask.bench.stream_device import measured

        return list(measured(made, shares, repeats, directory))
    graph = made.partition(1, device="cpu")
    graph.persist(progress=False)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "graph.gdl"
        least = int(min(STATES.values()) * graph.num_vertices + min(shares) * 8 * graph.num_edges)
        sizes = [chunk_for(least) if chunk is None else chunk for chunk in chunks]
        for at, chunk in enumerate(sizes):
            began = clock()
            store = build(graph, path, chunk=chunk, memory=_building(graph, chunk), overwrite=True)
            seconds, edges = clock() - began, store.num_edges
            described: dict[str, Any] = {"vertices": graph.num_vertices, "edges": edges, "chunk": chunk}
            arcs = store.store.sections["out"].num_edges
            rows.append(
                {"record": "build", **described, "seconds": seconds, "mb": store.nbytes / 1e6,
                 "medges_per_s": edges / seconds / 1e6, "layers": store.layers, "chunks": store.chunks,
                 "of_csr": store.nbytes / (8 * (graph.num_vertices + 1) + 4 * arcs)}
            )  # fmt: skip
            rates, mb = _rates(path, repeats), store.nbytes / 1e6
            rows.append(
                {"record": "sequential read", **described, "mb": mb, "mb_per_s": max(rates.values())} | rates
            )  # fmt: skip
            if not at:
                rows.append({"record": "sum over ends", **described, "ns_per_edge": _least(store, repeats)})
                for share in shares:
                    rows += [row | described | {"share": share} for row in _algorithms(graph, path, share, repeats)]
            for ahead in (0, 2):
                rates = _rates(path, repeats)
                found = _timed(iterate(opened(path, "pagerank, 5 iterations", 0.0, ahead)), path, repeats)
                row = _beside(record_of("pagerank, 5 iterations", *found[:2]) | _worked(*found[1:]), rates)
                rows.append(row | described | {"read_ahead": ahead})
        heavy = weighted(made, seed, HEAVIEST).partition(1, device="cpu")
        heavy.persist(progress=False)
        build(heavy, path, chunk=sizes[0], memory=_building(heavy, sizes[0]), overwrite=True).close()
        described |= {"chunk": sizes[0], "weights": str(heavy.source.weight_dtype)}
        for share in shares:
            of_weights = _algorithms(heavy, path, share, repeats, WEIGHTED)
            rows += [row | described | {"share": share} for row in of_weights]
    of = {"graph": f"rmat {scale} x {edge_factor}" if graph_file is None else os.path.basename(graph_file)}
    return [row | of | {"clock": CLOCK} for row in rows]


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


def iterate(G: Any) -> Callable[[], Any]:
    """Some iterations of PageRank."""

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphdaskWarning)  # they do not converge, and need not
            return pagerank(G, max_iter=ITERATIONS, tol=1e-300, progress=False)

    return call


def _algorithms(
    graph: Any, path: Path, share: float, repeats: int, of: tuple[str, ...] = ()
) -> Iterator[dict[str, Any]]:
    """Each algorithm over the file, or those that are named, and in memory."""
    with open_(path, device="cpu") as S:
        root = int(S.store.header["root"])
    label = connected_components(graph, progress=False).label
    elsewhere = int(np.flatnonzero(label == label[root])[-1])
    calls: dict[str, Callable[[Any], Callable[[], Any]]] = {
        "bfs from the root": lambda G: lambda: bfs(G, root, progress=False),
        "bfs from elsewhere": lambda G: lambda: bfs(G, elsewhere, progress=False),
        "components": lambda G: lambda: connected_components(G, progress=False),
        "pagerank, 5 iterations": iterate,
        "sssp from the root": lambda G: lambda: sssp(G, root, progress=False),
    }
    for name, call in calls.items():
        if name not in (of or set(calls) - set(WEIGHTED)):
            continue
        rates, streamed = _rates(path, repeats), opened(path, name, share)
        seconds, result, cpu = _timed(call(streamed), path, repeats)
        peak, budget = _grown(call(streamed)), streamed.memory
        expected_seconds, expected, _ = _timed(call(graph), None, repeats)
        for column in result.columns:
            if not np.array_equal(result._column(column), expected._column(column)):
                raise VerificationError(f"{name}: {column} is not what it is in memory")
        row = _beside(record_of(name, seconds, result) | _worked(result, cpu), rates)
        yield row | {
            "in_memory": expected_seconds, "times": seconds / expected_seconds, "budget_mb": budget / 1e6,
            "of_budget": None if peak is None else peak / budget,
        }  # fmt: skip


def record_of(name: str, seconds: float, result: Any) -> dict[str, Any]:
    found = result.stats.streamed
    return {
        "record": name, "seconds": seconds, "mb": found["nbytes"] / 1e6, "mb_per_s": found["nbytes"] / seconds / 1e6,
        "over_least": found["nbytes"] / max(found["least"], 1), "overlap": found["overlap"],
        "sweeps": found["sweeps"], "chunks_skipped": found["chunks_skipped"], "waiting": found["waiting"],
    }  # fmt: skip


def _worked(result: Any, cpu: float) -> dict[str, Any]:
    """What the cores took."""
    edges = sum(step["edges"] for step in result.stats.supersteps)
    return {"cpu": cpu, "edges_looked": edges, "ns_per_edge": 1e9 * cpu / max(edges, 1)}


def _beside(row: dict[str, Any], rates: dict[str, float]) -> dict[str, Any]:
    """Besides, against the faster sequential read, in MB per second."""
    rate = max(rates.values())
    reach = min(1.0, row["mb"] / rate * len(os.sched_getaffinity(0)) / row["cpu"])
    return row | rates | {"of_sequential": row["mb_per_s"] / rate, "within_reach": reach}


def _timed(call: Callable[[], Any], path: Path | None, repeats: int) -> tuple[float, Any, float]:
    """Median seconds, the last result, and the least time of all cores; with a path, that file is not in the cache at
    the beginning."""
    result, seconds, cpu = call(), [], []
    for _ in range(repeats):
        if path is not None:
            _forget(path)
        began, worked = clock(), time.process_time()
        result = call()
        seconds.append(clock() - began)
        cpu.append(time.process_time() - worked)
    return float(np.median(seconds)), result, min(cpu)


def _grown(call: Callable[[], Any]) -> int | None:
    """Bytes that the process takes at the peak of a call beside what it had before, as Linux counts them."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, and does not hide what is taken
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        before = _status("VmRSS:")
        call()
        return _status("VmHWM:") - before
    return None


def _status(name: str) -> int:
    """Bytes that Linux says of this process under a name."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


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
    memory, rates = aligned_room(BLOCK), []
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
