"""Writing edges: graphdask against pandas and pyarrow in the same run, the same edges to the same folder.

The peers are given the edges in memory; graphdask is measured twice, on the same arrays and generating them as it
writes. Text must come out the same, byte for byte, from all.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.harness import Record, missing, of_file, recorded, repeat, versions
from graphdask.errors import VerificationError

Writer = Callable[[Path], Any]


@recorded
def run(
    edges: int = 10_000_000,
    *,
    repeats: int = 3,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
) -> Iterator[Record]:
    """Measure writing.

    Parameters
    ----------
    edges : int
        About how many; of a preferential attachment graph with degree 4.
    repeats : int
        Each writer runs once to warm up and then this often.
    seed : int
    directory : path-like, optional
        Where files are written; they are removed afterwards.

    Yields
    ------
    dict
        For each writer `writer`, `format`, `writers` (threads that write), `seconds` (median), `mb_per_s` (of the
        file), `medges_per_s`, `file_mb`, `edges`, `version`, `cores`, `machine`; or `writer` and `skipped`.

    Raises
    ------
    VerificationError
        If two writers make different text of the same edges.
    """
    from graphdask.generate import preferential_attachment
    from graphdask.graph.construct import from_edges

    generated = preferential_attachment(max(edges // 4, 5), degree=4, seed=seed).partition(device="cpu")
    src, dst, _ = generated.edges("cpu")
    held = from_edges(src, dst, directed=False, num_vertices=generated.num_vertices)
    texts: dict[str, int] = {}
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        for name, package, form, writer in _writers(generated, held, src, dst):
            row = {"writer": name, "format": form}
            if reason := missing(package):
                yield row | {"skipped": reason}
                continue
            path = Path(folder) / f"edges.{form}"
            runs = repeat(partial(writer, path), repeats)
            if form in ("txt", "csv"):
                found = _lines_digest(path)
                if texts.setdefault(form, found) != found:
                    raise VerificationError(f"{name} wrote other {form} lines than those before it")
            measured = of_file(runs, path.stat().st_size, len(src))
            yield row | {"writers": runs.result, **measured, **versions(package)}
            path.unlink()


def _writers(generated: Any, held: Any, src: np.ndarray, dst: np.ndarray) -> list[tuple[str, str, str, Writer]]:
    """(name, package, ending, function) of every writer; the functions return how many threads wrote, or None."""

    def graphdask(graph: Any) -> Writer:
        return lambda path: graph.write(path, overwrite=True, progress=False).writers

    def columns(form: str) -> dict[str, np.ndarray]:
        """The same lines for all: CSV says in a column that edges have no direction."""
        return {"src": src, "dst": dst} | ({"directed": np.zeros(len(src), np.int8)} if form == "csv" else {})

    def pandas(form: str) -> Writer:
        def write(path: Path) -> None:
            import pandas as pd

            frame = pd.DataFrame(columns(form), copy=False)
            if form == "parquet":
                frame.to_parquet(path, index=False)
            else:
                frame.to_csv(path, sep="\t" if form == "txt" else ",", header=form == "csv", index=False)

        return write

    def pyarrow(form: str) -> Writer:
        def write(path: Path) -> None:
            import pyarrow as pa
            from pyarrow import csv, parquet

            table = pa.table(columns(form))
            if form == "parquet":
                parquet.write_table(table, path)
            else:
                options = csv.WriteOptions(
                    include_header=form == "csv", delimiter="\t" if form == "txt" else ",", quoting_style="none"
                )
                csv.write_csv(table, path, options)

        return write

    rows: list[tuple[str, str, str, Writer]] = []
    for form in ("txt", "csv", "parquet"):
        rows += [
            ("graphdask, generating", "graphdask", form, graphdask(generated)),
            ("graphdask", "graphdask", form, graphdask(held)),
            ("pandas", "pandas", form, pandas(form)),
            ("pyarrow", "pyarrow", form, pyarrow(form)),
        ]
    return [
        *rows,
        ("graphdask", "graphdask", "gdg", graphdask(held)),
        ("graphdask", "graphdask", "npz", graphdask(held)),
    ]


def _lines_digest(path: Path) -> int:
    """A hash of the lines with edges: comments and names of columns are each writer's own."""
    import zlib

    digest = 0
    with path.open("rb") as file:
        for line in file:
            if line[:1].isdigit():
                digest = zlib.crc32(line, digest)
                break
        while block := file.read(1 << 22):
            digest = zlib.crc32(block, digest)
    return digest
