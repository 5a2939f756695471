"""What the benchmarks of streaming share, from a disk and through a GPU: calls, builds and records."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.components import connected_components
from graphdask.algorithms.ranking import pagerank
from graphdask.algorithms.sssp import sssp
from graphdask.bench.harness import Record, Runs, check_columns, timed_call
from graphdask.errors import GraphdaskWarning
from graphdask.stream.construct import build
from graphdask.stream.graph import open_

PAGERANK = "pagerank, 5 iterations"
ITERATIONS = 5
WEIGHTED = ("sssp from the root",)
"""What is run on a graph with weights, which are drawn where it has none."""
HEAVIEST = 64


def built(graph: Any, path: Path, chunk: int, memory: int | str) -> tuple[Any, Record]:
    """Build a file, and return it with its record."""
    seconds, S = timed_call(partial(build, graph, path, chunk=chunk, memory=memory, overwrite=True))
    arcs = S.store.sections["out"].num_edges
    return S, {
        "record": "build", "vertices": S.num_vertices, "edges": S.num_edges, "chunk": chunk, "seconds": seconds,
        "mb": S.nbytes / 1e6, "medges_per_s": S.num_edges / seconds / 1e6, "layers": S.layers, "chunks": S.chunks,
        "of_csr": S.nbytes / (8 * (S.num_vertices + 1) + 4 * arcs),
    }  # fmt: skip


def starts(path: Path, graph: Any) -> dict[str, int]:
    """Where searches start: at the root of a file, and at another vertex of its component, by these names."""
    with open_(path, device="cpu") as S:
        root = int(S.store.header["root"])
    label = connected_components(graph, progress=False).label
    return {"from the root": root, "from elsewhere": int(np.flatnonzero(label == label[root])[-1])}


def call_of(name: str, where: dict[str, int]) -> Callable[[Any], Any]:
    """Return a function of a graph that runs the algorithm of a record, from one of the `starts`."""
    if name.startswith("components"):
        return partial(connected_components, progress=False)
    if name.startswith("pagerank"):
        return iterate
    start = next(vertex for at, vertex in where.items() if at in name)
    return partial(sssp if name.startswith("sssp") else bfs, source=start, progress=False)


def iterate(G: Any) -> Any:
    """Some iterations of PageRank."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphdaskWarning)  # they do not converge, and need not
        return pagerank(G, max_iter=ITERATIONS, tol=1e-300, progress=False)


def record_of(name: str, runs: Runs) -> Record:
    """What streaming took."""
    found, seconds = runs.result.stats.streamed, runs.median
    return {
        "record": name, "seconds": seconds, "mb": found["nbytes"] / 1e6, "mb_per_s": found["nbytes"] / seconds / 1e6,
        "over_least": found["nbytes"] / max(found["least"], 1), "overlap": found["overlap"],
        "sweeps": found["sweeps"], "chunks_skipped": found["chunks_skipped"], "waiting": found["waiting"],
    }  # fmt: skip


def beside_memory(name: str, runs: Runs, inside: Runs) -> Record:
    """What the same took in memory; VerificationError if the answer is another."""
    check_columns(name, runs.result, inside.result)
    return {"in_memory": inside.median, "times": runs.median / inside.median}
