"""Vertex programs beside the algorithms that graphdask has, and beside other libraries: the same answers, from ten
lines of Python.

Each case is a program, a call of the algorithm, and a call of each library of `graphdask.bench.program_peers` that is
installed, on the same graph in the same process; all are timed as whole calls. BFS pushes on both of our sides, SSSP
has whole weights as float64, PageRank runs a given number of iterations, and graphdask has no algorithm for the ten
rounds of Katz. Answers are compared: integers are equal, floats within 1e-9.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.bfs import bfs
from graphdask.algorithms.components import connected_components
from graphdask.algorithms.ranking import pagerank
from graphdask.algorithms.sssp import sssp
from graphdask.bench.analysis.graphs import weighted
from graphdask.bench.analysis.peers import Edges
from graphdask.bench.harness import CLOCK, Record, Runs, missing, recorded, repeat
from graphdask.bench.program_peers import PEERS, Asked
from graphdask.errors import VerificationError
from graphdask.generate.rmat import rmat
from graphdask.program.program import Program
from graphdask.program.run import run as run_program

CASES = ("bfs", "sssp", "components", "pagerank", "katz")
SHOWN = ("case", "side", "ms", "ms_min", "first_ms", "compile_s", "supersteps", "over_algorithm", "over_program",
         "skipped")  # fmt: skip
MOST_WEIGHT = 255
"""Of edges: whole numbers from 1 on, as float64."""
ROUNDS = 10
"""Of Katz."""
ALPHA = 1e-4
"""Of Katz: the weight of a walk falls by this with each edge."""


@dataclass
class Sides:
    """The two calls of a case, and the column in which their answers are compared."""

    program: Callable[[], Any]
    algorithm: Callable[[], Any] | None
    column: str


@recorded
def run(
    scale: int = 16,
    *,
    edge_factor: int = 16,
    cases: tuple[str, ...] = CASES,
    iterations: int = 20,
    parts: int = 1,
    device: str = "cpu",
    repeats: int = 3,
    seed: int = 0,
    peers: bool = True,
) -> Iterator[Record]:
    """Measure programs.

    Parameters
    ----------
    scale, edge_factor : int
        Of an undirected R-MAT graph, without self-loops and parallel edges, which NetworkX merges.
    cases : tuple of str
        Of `CASES`.
    iterations : int
        Of PageRank.
    parts : int
        Partitions, ranks of this process.
    device : {"cpu", "cuda"}
    repeats : int
        Calls that are counted, after a first one.
    seed : int
        Of the graph and of the weights.
    peers : bool
        Measure other libraries too, with all cores that they use by themselves.

    Yields
    ------
    dict
        For each case and side: `ms`, the median, `ms_min`, `first_ms` and `compile_s` of the first call, `supersteps`,
        and of the program `over_algorithm`, its median by that of the algorithm. For each peer `version`, and
        `over_program`, its median by that of the program; or `skipped` with the reason.

    Raises
    ------
    VerificationError
        If the answers differ.
    """
    graph = rmat(scale, edge_factor, seed=seed, self_loops="drop", multi_edges="merge")
    heavy = weighted(graph, seed, MOST_WEIGHT, "float64").partition(parts, device=device)
    graph = graph.partition(parts, device=device)
    source = int(np.bincount(connected_components(graph).label).argmax())
    asked = Asked(source, iterations, ROUNDS, ALPHA)
    made = _made(graph, heavy) if peers else {}
    about = {"scale": scale, "edge_factor": edge_factor, "parts": parts, "device": device, "clock": CLOCK}
    for case in cases:
        sides = _sides(case, graph, heavy, source, iterations)
        rows = {}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "pagerank stopped")
            for side, call in (("algorithm", sides.algorithm), ("program", sides.program)):
                if call is not None:
                    rows[side] = repeat(call, repeats)
        found = getattr(rows["program"].result, sides.column)
        if sides.algorithm is not None:
            _compare(case, f"{sides.column} of the program", found, getattr(rows["algorithm"].result, sides.column))
        for side, runs in rows.items():
            record = {"case": case, "side": side, **_times(runs), "supersteps": len(runs.result.stats), **about}
            if side == "program" and "algorithm" in rows:
                record["over_algorithm"] = runs.median / rows["algorithm"].median
            yield record
        for peer in PEERS if peers else ():
            record = {"case": case, "side": peer.name, **about, "parts": 1, "device": "cpu"}
            there = made[peer.name]
            if isinstance(there, str):
                yield record | {"skipped": there}
                continue
            runs = repeat(lambda: peer.runs[case](there[case == "sssp"], asked), repeats)  # noqa: B023  at once
            answer = peer.read(case, runs.result, graph.num_vertices)
            if answer is not None:
                _compare(case, f"{sides.column} of {peer.name}", answer, found)
            over = runs.median / rows["program"].median
            yield record | _times(runs) | {"over_program": over, "version": peer.version}


def _made(graph: Any, heavy: Any) -> dict[str, Any]:
    """For each peer its graphs, without weights and with them; or why there are none."""
    edges, made = [Edges.of(each) for each in (graph, heavy)], dict[str, Any]()
    for peer in PEERS:
        why = missing(peer.module)
        if len(edges[0].src) > peer.most:
            why = f"{len(edges[0].src):,} edges are more than the {peer.most:,} that it is given"
        made[peer.name] = why or [peer.make(each) for each in edges]
    return made


def _times(runs: Runs) -> Record:
    return {
        "ms": 1e3 * runs.median, "ms_min": 1e3 * min(runs.seconds), "first_ms": 1e3 * runs.first,
        "compile_s": runs.compiled,
    }  # fmt: skip


def _compare(case: str, what: str, found: Any, expected: Any) -> None:
    if not np.allclose(found, expected, rtol=1e-9, atol=0.0):
        raise VerificationError(f"{case}: {what} is not that of the other side")


def _sides(case: str, graph: Any, heavy: Any, source: int, iterations: int) -> Sides:
    """The calls of a case; they close over numbers, which functions of programs then have."""
    n = max(graph.num_vertices, 1)
    if case == "bfs":
        hops = Program(
            state={"depth": (np.int32, -1)},
            message=(int, "min"),
            send=lambda e: e.source.depth + 1,
            apply=lambda v, m: v.depth < 0 and {"depth": m},
        )
        return Sides(
            lambda: run_program(graph, hops, active=source, init={"depth": {source: 0}}),
            lambda: bfs(graph, source, direction="push"),
            "depth",
        )
    if case == "sssp":
        shortest = Program(
            state={"distance": (float, math.inf)},
            message=(float, "min"),
            send=lambda e: e.source.distance + e.weight,
            apply=lambda v, m: m < v.distance and {"distance": m},
        )
        return Sides(
            lambda: run_program(heavy, shortest, active=source, init={"distance": {source: 0.0}}),
            lambda: sssp(heavy, source),
            "distance",
        )
    if case == "components":
        smallest = Program(
            state={"label": (int, lambda v: v.id)},
            message=(int, "min"),
            send=lambda e: e.source.label,
            apply=lambda v, m: m < v.label and {"label": m},
        )
        return Sides(lambda: run_program(graph, smallest), lambda: connected_components(graph), "label")
    if case == "pagerank":
        out = Program(state={"out": (int, lambda v: v.degree)}, message="any", apply=lambda v, m: None)
        first = float((run_program(graph, out, max_supersteps=0).out == 0).mean())
        ranks = Program(
            state={"rank": (float, 1.0 / n)},
            message=(float, "sum"),
            send=lambda e: e.source.rank / e.source.degree,
            apply=lambda v, m: {"rank": (0.15 + 0.85 * (v.lost if v.superstep else first)) / n + 0.85 * m},
            activity="all",
            aggregate={"lost": ("sum", lambda old, new: 0.0 if new.degree else new.rank)},
            max_supersteps=iterations,
        )
        return Sides(lambda: run_program(graph, ranks), lambda: pagerank(graph, tol=0, max_iter=iterations), "rank")
    katz = Program(
        state={"centrality": (float, 0.0)},
        message=(float, "sum"),
        send=lambda e: e.source.centrality,
        apply=lambda v, m: {"centrality": 1.0 + ALPHA * m},
        activity="all",
        max_supersteps=ROUNDS,
    )
    return Sides(lambda: run_program(graph, katz), None, "centrality")
