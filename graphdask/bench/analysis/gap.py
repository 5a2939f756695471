"""The GAP Benchmark Suite on the same graph: its compiled programs are run, and the times that they print are read.

The graph is handed over as its serialized form, with the vertex numbers that graphdask has, so that both start from
the same vertices.

Source: Beamer, Asanovic, Patterson: The GAP Benchmark Suite, arXiv 1508.03619; https://github.com/sbeamer/gapbs.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.analysis.algorithms import EACH_ITERATION, PAGERANK
from graphdask.bench.analysis.peers import Edges, in_milliseconds
from graphdask.errors import InputError

PROGRAMS = {"bfs": "bfs", "components": "cc", "betweenness": "bc", "pagerank": "pr", "pagerank-20": "pr",
            "triangles": "tc", "sssp": "sssp"}  # fmt: skip
"""The program of each algorithm; its PageRank knows no weights."""
STOPS: dict[str, dict[str, Any]] = {"pagerank": PAGERANK, "pagerank-20": EACH_ITERATION}
"""When its PageRank ends: `tol` bounds the sum of the changes there too."""
WARM_RUNS = 3
"""Runs from each source, of which the median counts: the first of a process pays for its memory."""
DELTAS = (2, 16, 64, 256)
"""Widths of buckets that its SSSP is tried with; the best of them counts."""
TIMEOUT = 600.0


def check(folder: str | os.PathLike[str]) -> Path:
    """Raise InputError where the folder has none of the programs; return it."""
    path = Path(folder)
    if not any((path / name).is_file() for name in PROGRAMS.values()):
        names = ", ".join(dict.fromkeys(PROGRAMS.values()))
        raise InputError(f"{folder} has none of the GAP suite's programs {names}; build them first")
    return path


def measure(
    folder: Path, algorithms: Sequence[str], edges: Edges, sources: Sequence[int], repeats: int, threads: int
) -> list[dict[str, Any]]:
    """Run the programs; a record for each algorithm that there is one for, or one with `skipped` and the reason."""
    about = {"implementation": "gap", "threads": threads}
    wanted = [name for name in algorithms if name in PROGRAMS]
    if not wanted:
        return []
    weighted = edges.weights is not None
    if edges.n >= 2**31 or (weighted and edges.weights.dtype.kind != "i"):  # type: ignore[union-attr]
        return [about | {"skipped": "its graphs have 32-bit ids and whole weights"}]
    records = []
    with tempfile.TemporaryDirectory() as scratch:
        graph = Path(scratch) / ("graph.wsg" if weighted else "graph.sg")
        write(edges, graph)
        for name in wanted:
            program = folder / PROGRAMS[name]
            if not program.is_file():
                records.append(about | {"algorithm": name, "skipped": f"there is no {program}"})
                continue
            try:
                runs, options = _timed(name, program, graph, sources, repeats, threads)
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                records.append(about | {"algorithm": name, "skipped": f"{type(error).__name__}: {error}"})
                continue
            seconds, iterations = zip(*runs, strict=True)
            records.append(about | {"algorithm": name, "options": options} | in_milliseconds(seconds, iterations))
    return records


def _timed(
    name: str, program: Path, graph: Path, sources: Sequence[int], repeats: int, threads: int
) -> tuple[list[tuple[float, int | None]], dict[str, Any]]:
    """Seconds from each source, or of each run where there is none, with its iterations; and what was chosen for it."""
    if program.name in ("cc", "tc"):
        return _run(program, graph, threads, "-n", repeats + 1)[1:], {}
    if program.name == "pr":
        stop = {key: STOPS[name][key] for key in ("tol", "max_iter")}
        return _run(program, graph, threads, "-n", repeats + 1, "-i", stop["max_iter"], "-t", stop["tol"])[1:], stop
    chosen: dict[str, Any] = {}
    extra: list[Any] = []
    if program.name == "sssp":
        tried = {delta: _median(program, graph, threads, sources[0], "-d", delta) for delta in DELTAS}
        chosen["delta"] = min(tried, key=lambda delta: tried[delta])
        extra = ["-d", chosen["delta"]]
    return [(_median(program, graph, threads, source, *extra), None) for source in sources], chosen


def _median(program: Path, graph: Path, threads: int, source: int, *options: Any) -> float:
    runs = _run(program, graph, threads, "-n", WARM_RUNS, "-r", int(source), *options)
    return statistics.median(seconds for seconds, _ in runs)


def _run(program: Path, graph: Path, threads: int, *options: Any) -> list[tuple[float, int | None]]:
    """Seconds and iterations of the trials that a program prints."""
    done = subprocess.run(
        [str(program), "-f", str(graph), *map(str, options)],
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    return trials(done.stdout)


def trials(printed: str) -> list[tuple[float, int | None]]:
    """Return the seconds of each trial that a program printed, and its number of iterations.

    Iterations are counted by the line that the program prints for each; None if there is none.

    Raises
    ------
    ValueError
        If there is no trial.
    """
    found: list[tuple[float, int | None]] = []
    iterations = 0
    for line in printed.splitlines():
        if re.fullmatch(r" *\d+ +[0-9.e+-]+ *", line):  # its number, and the change
            iterations += 1
        elif seconds := re.fullmatch(r"Trial Time:\s+([0-9.]+)\s*", line):
            found.append((float(seconds[1]), iterations or None))
            iterations = 0
    if not found:
        raise ValueError(f"no trial time in what it printed: {printed[-200:]!r}")
    return found


def write(edges: Edges, path: Path) -> None:
    """Write the suite's serialized graph, `.sg` or with weights `.wsg`.

    Whether it is directed (1 byte), the numbers of stored arcs and of vertices (int64), row offsets (int64) and
    neighbours (int32, with weights pairs of int32); for a directed graph offsets and neighbours of the in-edges too.
    """
    src, dst, weights = edges.arcs
    with path.open("wb") as file:
        file.write(np.bool_(edges.directed).tobytes())
        file.write(np.array([len(src), edges.n], np.int64).tobytes())
        for rows, columns in ((src, dst), (dst, src))[: 1 + edges.directed]:
            order = np.lexsort((columns, rows))
            counts = np.bincount(rows, minlength=edges.n)
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tofile(file)
            values = columns[order].astype(np.int32)
            if weights is not None:
                values = np.column_stack([values, weights[order].astype(np.int32)])
            values.tofile(file)
