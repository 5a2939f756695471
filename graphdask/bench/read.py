"""Reading edges of text to a graph: graphdask beside pandas and SciPy, each call in a process of its own.

Both sides read the same file and end in rows of neighbours in memory: `read_graph` and `persist` here, a CSR matrix
there, by way of `pandas.read_csv` and `scipy.sparse.coo_matrix`. `graph` is `read_graph` alone, which keeps edges and
counts parallel ones. The packages of both sides are imported before the call; what graphdask loads on first use, its
own modules and compiled kernels, counts in the call, and not in a second one in the same process. Memory is the peak
of resident memory (VmHWM), which counts pages of mapped files and of libraries; what the process has once the side's
packages are imported stands beside it. Bytecode of modules is kept, as it is where a package is installed. The first
process of a side may write it and compile kernels, and is reported apart.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.harness import CLOCK, Record, missing, recorded, versions
from graphdask.bench.memory import resident
from graphdask.errors import GraphdaskError, VerificationError

CASES = ("text", "weights", "csv", "gzip", "rmat")
"""`u<tab>v`, `u<tab>v<tab>w`, CSV with a header and weights, the first one compressed, and `u<tab>v` of an R-MAT graph
whose ids are random numbers below 2**63."""
WEIGHTED = ("weights", "csv")
SIDES = {"graphdask": ("rows", "graph"), "pandas, SciPy": ("rows",)}
"""What each side ends in: rows of neighbours, or a graph that keeps the edges."""
SHOWN = ("case", "reader", "product", "cpu_s", "again_cpu_s", "seconds", "peak_mb", "above_import_mb", "process_cpu_s",
         "first_cpu_s", "skipped")  # fmt: skip
LIMIT = 600
"""Seconds that a process may take."""


@recorded
def run(
    edges: int = 5_000_000,
    *,
    vertices: int = 1_000_000,
    scale: int = 18,
    cases: tuple[str, ...] = CASES,
    repeats: int = 3,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
) -> Iterator[Record]:
    """Measure reading.

    Parameters
    ----------
    edges, vertices : int
        Of a uniform random directed graph, or about: ids that no edge names are no vertices.
    scale : int
        Of the R-MAT graph, which has 16 edges per vertex.
    cases : tuple of str
        Of `CASES`.
    repeats : int
        Processes of each side that are counted, after a first one.
    seed : int
        Of the generated edges.
    directory : path-like, optional
        Where files are written; they are removed afterwards.

    Yields
    ------
    dict
        For each case, `reader` and `product`: medians of `cpu_s` (CPU seconds of the call, user and system), `seconds`
        (wall clock of the call), `peak_mb` (of the process), `above_import_mb` (less what it had before the call),
        `process_cpu_s` (CPU seconds of the process, imports too) and `again_cpu_s` (of a second call in the process);
        `cpu_s_min` and `again_cpu_s_min`, the least; `first_cpu_s` of the first process; `edges`, `vertices`,
        `file_mb`, `version`, `cores`. Or `skipped` with the reason.

    Raises
    ------
    VerificationError
        If the sides find different numbers of vertices or of distinct edges.
    """
    rng = np.random.default_rng(seed)
    uniform, weights = rng.integers(0, vertices, (2, edges)), rng.integers(1, 256, edges)
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        for case in cases:
            ends = _rmat(scale, rng) if case == "rmat" else uniform
            path = _written(Path(folder), case, ends, weights)
            found: dict[str, Any] = {}
            for reader, product, packages in _sides():
                row: dict[str, Any] = {"case": case, "reader": reader, "product": product}
                if reason := missing(*packages):
                    yield row | {"skipped": reason}
                    continue
                measured = [_in_process(reader, product, path, case) for _ in range(repeats + 1)]
                facts = {key: measured[0].pop(key) for key in ("vertices", "distinct")}
                if found and facts != found:
                    raise VerificationError(f"{reader} found {facts} in the case {case}, the reader before {found}")
                found = facts
                medians = {key: float(np.median([each[key] for each in measured[1:]])) for key in measured[0]}
                yield row | medians | facts | {
                    "clock": CLOCK,
                    **{f"{key}_min": min(each[key] for each in measured[1:]) for key in ("cpu_s", "again_cpu_s")},
                    "first_cpu_s": measured[0]["cpu_s"], "edges": ends.shape[1],
                    "file_mb": path.stat().st_size / 1e6, **versions(*packages),
                }  # fmt: skip
            path.unlink()


def _sides() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for reader, products in SIDES.items():
        for product in products:
            yield reader, product, ("graphdask",) if reader == "graphdask" else ("pandas", "scipy")


def _written(folder: Path, case: str, ends: np.ndarray, weights: np.ndarray) -> Path:
    """The file of a case, without comments, which only one side could read."""
    path = folder / {"text": "edges.txt", "weights": "edges3.txt", "csv": "edges.csv", "gzip": "edges.txt.gz",
                     "rmat": "rmat.txt"}[case]  # fmt: skip
    columns = [*ends, weights] if case in WEIGHTED else list(ends)
    line = ("," if case == "csv" else "\t").join(["%d"] * len(columns))
    with gzip.open(path, "wb", 6) if case == "gzip" else path.open("wb") as file:
        if case == "csv":
            file.write(b"source,target,weight\n")
        for first in range(0, ends.shape[1], 1 << 16):
            rows = zip(*(column[first : first + (1 << 16)].tolist() for column in columns), strict=True)
            file.write("".join(f"{line % row}\n" for row in rows).encode())
    return path


def _rmat(scale: int, rng: np.random.Generator) -> np.ndarray:
    """The ends of the edges of an R-MAT graph, whose ids are random."""
    from graphdask.generate import rmat

    edges = rmat(scale, edge_factor=16, seed=int(rng.integers(1 << 31))).edges("cpu")
    ids = rng.integers(0, 2**63 - 1, 1 << scale)
    return np.stack([ids[edges.src], ids[edges.dst]])


def _in_process(reader: str, product: str, path: Path, case: str) -> dict[str, Any]:
    """What a new process measures of one call."""
    call = [sys.executable, "-m", "graphdask.bench.read", reader, product, os.fspath(path), case]
    keeping = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=LIMIT, env=keeping)
    except subprocess.TimeoutExpired:
        raise GraphdaskError(f"{reader} has not read {path.name} in {LIMIT} s") from None
    if done.returncode:
        raise GraphdaskError(f"{reader} failed to read {path.name}: {done.stderr.strip()[-500:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _measured(reader: str, product: str, path: str, case: str) -> dict[str, Any]:
    """Import the packages of a side, read, and return time and memory; for a process that has done nothing else."""
    import time

    read = _graphdask(product, path, case) if reader == "graphdask" else _pandas(path, case)
    before = resident("VmRSS") / 1e6
    cpu, wall = time.process_time(), time.perf_counter()
    held = read()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resident("VmHWM") / 1e6
    process = time.process_time()
    if reader == "graphdask":
        facts = {"vertices": held.num_vertices, "distinct": held.num_edges - held.report["parallel_edges"]}
    else:
        degree = np.diff(held.indptr) + np.bincount(held.indices, minlength=held.shape[0])
        facts = {"vertices": int(np.count_nonzero(degree)), "distinct": int(held.nnz)}
    del held
    again = time.process_time()
    read()
    again = time.process_time() - again
    return facts | {
        "cpu_s": cpu, "seconds": wall, "peak_mb": peak, "above_import_mb": peak - before, "process_cpu_s": process,
        "again_cpu_s": again,
    }  # fmt: skip


def _graphdask(product: str, path: str, case: str) -> Any:
    import dask.config  # noqa: F401
    import numba  # noqa: F401
    import scipy.sparse  # noqa: F401

    from graphdask.graph.construct import read_graph

    def read() -> Any:
        graph = read_graph(path, weights=case in WEIGHTED, progress=False)
        return graph.partition(parts=1, device="cpu").persist(progress=False) if product == "rows" else graph

    return read


def _pandas(path: str, case: str) -> Any:
    import pandas as pd
    import scipy.sparse as sp

    def read() -> Any:
        frame = pd.read_csv(
            path, sep="," if case == "csv" else "\t", header=0 if case == "csv" else None, dtype=np.int64
        )
        src, dst = frame.iloc[:, 0].to_numpy(), frame.iloc[:, 1].to_numpy()
        weights = frame.iloc[:, 2].to_numpy() if frame.shape[1] > 2 else np.ones(len(frame), np.int8)
        if case == "rmat":  # no matrix is as large as its ids
            numbers = pd.factorize(np.concatenate([src, dst]), sort=True)[0]
            src, dst = numbers[: len(src)], numbers[len(src) :]
        size = int(max(src.max(), dst.max())) + 1
        return sp.coo_matrix((weights, (src, dst)), shape=(size, size)).tocsr()

    return read


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:])))
