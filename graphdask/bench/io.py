"""Reading a generated edge list: graphdask against pandas and pyarrow on the same file in the same run.

The file is SNAP text, tab-separated, ids below 2^24; every reader must return the edges that were written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from graphdask.bench.harness import Record, missing, of_file, recorded, repeat, versions
from graphdask.errors import VerificationError
from graphdask.io import EdgeList, read_edges, write_edges

Reader = Callable[[], tuple[np.ndarray, np.ndarray]]


@recorded
def run(
    size_mb: float = 100,
    *,
    threads: int | None = None,
    repeats: int = 3,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
) -> Iterator[Record]:
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

    Yields
    ------
    dict
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
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "edges.txt"
        write_edges(edges, path)
        skip = sum(line.startswith(b"#") for line in path.read_bytes()[:4096].splitlines())
        for name, package, used, reader in _readers(path, skip, threads):
            if reason := missing(package):
                yield {"reader": name, "skipped": reason}
                continue
            runs = repeat(reader, repeats)
            if not all(map(np.array_equal, runs.result, (edges.src, edges.dst))):
                raise VerificationError(f"{name} returned other edges than were written to {path}")
            measured = of_file(runs, path.stat().st_size, edges.num_edges)
            yield {"reader": name, "threads": used, **measured, **versions(package)}


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
