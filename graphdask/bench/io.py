"""Reading a generated edge list: graphdask against pandas and pyarrow on the same file in the same run.

The file is SNAP text, tab-separated, ids below 2^24; every reader must return the edges that were written.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import VerificationError
from graphdask.io import EdgeList, read_edges, write_edges

Reader = Callable[[], tuple[np.ndarray, np.ndarray]]


def run(
    size_mb: float = 100,
    *,
    threads: int | None = None,
    repeats: int = 3,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Measure reading.

    Parameters
    ----------
    size_mb : float
        Size of the text file, in millions of bytes, about.
    threads : int, optional
        Parsing threads of graphdask; None: one for each core. It is measured with one thread as well.
    repeats : int
        Each reader runs once to warm up and then this often.
    seed : int
        Of the generated edges.
    directory : path-like, optional
        Where the file is written; it is removed afterwards.

    Returns
    -------
    list of dict
        For each reader `reader`, `threads`, `seconds` (median), `mb_per_s`, `medges_per_s`, `edges`,
        `file_mb`, `version`, `cores`; or `reader` and `skipped` with the reason.

    Raises
    ------
    VerificationError
        If a reader returns other edges than were written.
    """
    rng = np.random.default_rng(seed)
    count = max(int(size_mb * 1e6 / 16.7), 1)
    edges = EdgeList(*rng.integers(0, 2**24, (2, count)))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "edges.txt"
        write_edges(edges, path)
        skip = sum(line.startswith(b"#") for line in path.read_bytes()[:4096].splitlines())
        for name, package, used, reader in _readers(path, skip, threads):
            if importlib.util.find_spec(package) is None:
                rows.append({"reader": name, "skipped": f"{package} is not installed"})
                continue
            version = importlib.metadata.version(package)
            rows.append(
                {
                    "reader": name,
                    "threads": used,
                    **_measure(name, reader, edges, path, repeats),
                    "version": version,
                    "cores": os.cpu_count(),
                    "machine": platform.processor() or platform.machine(),
                }
            )
    return rows


def _readers(path: Path, skip: int, threads: int | None) -> list[tuple[str, str, int | None, Reader]]:
    """(name, package, threads, function) of every reader."""

    def graphdask(used: int | None) -> Reader:
        def read() -> tuple[np.ndarray, np.ndarray]:
            found = read_edges(path, threads=used, progress=False)
            return found.src, found.dst

        return read

    def pandas() -> tuple[np.ndarray, np.ndarray]:
        import pandas as pd

        frame = pd.read_csv(path, sep="\t", header=None, skiprows=skip, dtype=np.int64)
        return frame[0].to_numpy(), frame[1].to_numpy()

    def pyarrow(parallel: bool) -> Reader:
        def read() -> tuple[np.ndarray, np.ndarray]:
            from pyarrow import csv

            table = csv.read_csv(
                path,
                csv.ReadOptions(use_threads=parallel, skip_rows=skip, column_names=["src", "dst"]),
                csv.ParseOptions(delimiter="\t"),
            )
            return table.column(0).to_numpy(), table.column(1).to_numpy()

        return read

    return [
        ("graphdask", "graphdask", 1, graphdask(1)),
        ("graphdask", "graphdask", threads, graphdask(threads)),
        ("pandas.read_csv", "pandas", 1, pandas),
        ("pyarrow.csv", "pyarrow", 1, pyarrow(False)),
        ("pyarrow.csv", "pyarrow", None, pyarrow(True)),
    ]


def _measure(name: str, reader: Reader, edges: EdgeList, path: Path, repeats: int) -> dict[str, Any]:
    src, dst = reader()
    if not (np.array_equal(src, edges.src) and np.array_equal(dst, edges.dst)):
        raise VerificationError(f"{name} returned other edges than were written to {path}")
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        reader()
        seconds.append(time.perf_counter() - start)
    median = float(np.median(seconds))
    size = path.stat().st_size / 1e6
    return {
        "seconds": median,
        "mb_per_s": size / median,
        "medges_per_s": edges.num_edges / median / 1e6,
        "edges": edges.num_edges,
        "file_mb": size,
    }
