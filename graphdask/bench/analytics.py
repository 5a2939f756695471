"""How fast the algorithms run from many sources, on 1 to N ranks, beside other libraries on the same graphs.

The graphs stand in `analysis/graphs.py`, the algorithms in `analysis/algorithms.py`, what is timed in
`analysis/timing.py`. Others are measured once for each graph, with all cores that they use by themselves; the GAP
suite for each number of ranks, with as many threads.

Sources: Pan et al., Multi-GPU Graph Analytics, Section VII; Graph500, whose TEPS are counted over the edges of the
input in the component of the source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.analysis import gap
from graphdask.bench.analysis.algorithms import Algorithm, chosen
from graphdask.bench.analysis.anew import forget_tables
from graphdask.bench.analysis.choices import AS_GIVEN, CHOICES, UNFUSED, Choice, paths_unfused
from graphdask.bench.analysis.graphs import Case, Facts, cases, input_edges, weighted
from graphdask.bench.analysis.peers import PEERS, Edges
from graphdask.bench.analysis.peers import measure as measure_peer
from graphdask.bench.analysis.timing import PeakMemory, measure, quiet, timed
from graphdask.bench.harness import Record, recorded
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.errors import InputError, MissingDependency, OverBudget, Unsupported
from graphdask.io.outputs import pictures_output

SHOWN = (
    "scaling", "graph", "algorithm", "implementation", "ranks", "choice", "ms", "iteration_ms", "ms_min", "ms_max",
    "supersteps_ms", "first_ms", "mteps_input", "mteps_looked", "supersteps", "bytes_sent", "memory_ratio", "speedup",
    "over_graphdask", "verified", "skipped",
)  # fmt: skip
"""Columns of the table that a person sees; the JSON lines have more."""
SOURCES = {"quick": 16, "full": 64}
REPEATS = {"quick": 3, "full": 10}
"""Runs of algorithms that have no source."""


@dataclass
class Plan:
    """What is measured, and how."""

    algorithms: list[Algorithm]
    device: str
    sources: int
    repeats: int
    seed: int
    max_weight: int
    verify: bool
    peers: bool
    gapbs: Path | None
    client: Any
    divide: dict[str, Any]
    """Arguments of `Graph.partition`."""
    where: dict[str, Any]
    """Arguments of every run."""
    choices: Sequence[Choice] = (AS_GIVEN,)


@recorded
def run(
    suite: str = "quick",
    *,
    algorithms: tuple[str, ...] = (),
    scales: tuple[int, ...] = (),
    edge_factor: int | None = None,
    files: tuple[str, ...] = (),
    directed: bool | None = None,
    scaling: tuple[str, ...] = (),
    ranks: tuple[int, ...] = (),
    device: str = "auto",
    by: str | None = None,
    ghosts: str | None = None,
    exchange: str | None = None,
    choices: bool = False,
    sources: int | None = None,
    repeats: int | None = None,
    seed: int = 0,
    max_weight: int = 255,
    verify: bool = False,
    peers: bool = True,
    gapbs: str | os.PathLike[str] | None = None,
    plot: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    client: Any = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Iterator[Record]:
    """Measure the algorithms.

    Parameters
    ----------
    suite : {"quick", "full"}
        `quick` ends in a minute on two cores.
    algorithms : tuple of str
        Names of `graphdask.bench.analysis.algorithms.measured`; none means all.
    scales, edge_factor, files, directed
        R-MAT graphs and files instead of the suite's graphs; see `graphdask.bench.analysis.graphs.cases`.
    scaling : tuple of {"strong", "weak-edge", "weak-vertex"}
        The sets of the paper's Figure 5 instead.
    ranks : tuple of int
        Default: 1, 2, 4 ... up to the GPUs, cores or workers that there are.
    device : {"auto", "cpu", "cuda"}
    by, ghosts, exchange : str, optional
        Partitioner, remote vertices that a partition knows, and partitions that a change is sent to. Default: what each
        chooses.
    choices : bool
        Measure each of `graphdask.bench.analysis.choices.CHOICES` instead of one way to divide and exchange.
    sources : int, optional
        Vertices to start from; default: 16, in the full suite 64. The same for all numbers of ranks and peers.
    repeats : int, optional
        Runs of algorithms without a source; default: 3, in the full suite 10.
    seed : int
        Of graphs, weights and sources.
    max_weight : int
        Graphs without weights are given whole ones from 1 to this, where an algorithm takes weights.
    verify : bool
        Prove one answer of each algorithm, on each graph and number of ranks.
    peers : bool
        Measure other libraries too.
    gapbs : path-like, optional
        Folder of the compiled GAP suite.
    plot : path-like, optional
        Folder for the figures, as PNG.
    overwrite : bool
        Replace figures that are there. Default: raise OutputExists, before anything is measured.
    client : distributed.Client, optional
        Run on its workers.
    progress : callable
        Wraps the list of graphs, as tqdm does.

    Yields
    ------
    dict
        A record for each graph, algorithm and number of ranks, then for each peer: `clock`, which is "call" for all,
        `ms` (of the whole call) and `supersteps_ms` with `_min` and `_max`, `mteps_input`, `mteps_looked`,
        `supersteps`, `bytes_sent`, `memory_estimate`, `memory_peak`, `memory_ratio`, `memory_allocated` (the
        algorithm's own arrays in the end), `memory_growths`, `bsp`, ...; of PageRank `iterations`, where they are
        known, and `iteration_ms`, which is `ms` divided by them; `first_ms`, `first_supersteps_ms`,
        `first_memory_estimate` and so on are of a run that has to make what runs leave with the partitions for the next
        ones, where they do. `over_graphdask` of a peer is its time over ours with the best number of ranks, of the GAP
        suite over ours with as many ranks as it had threads; the time is `ms`, of `pagerank-20` and `pagerank-weighted`
        `iteration_ms`. Where a peer is asked for something else, it has `differs`, which says what, and no such ratio.
        What cannot run has `skipped` and the reason.

    Raises
    ------
    InputError
        For an unknown name, or a number out of range.
    VerificationError
        With `verify`, if an answer is wrong.
    """
    backend = get_backend(device)
    most = _places(backend.name, client)
    ranks = ranks or tuple(size for size in (1, 2, 4, 8, 16) if size <= most)
    planned = cases(
        suite, backend.name, ranks, scales=scales, edge_factor=edge_factor, files=files, directed=directed,
        scaling=scaling,
    )  # fmt: skip
    for name, number in (("sources", sources), ("repeats", repeats), ("max_weight", max_weight)):
        if number is not None and number < 1:
            raise InputError(f"{name}={number} must be at least 1")
    plan = Plan(
        algorithms=chosen(algorithms),
        device=backend.name,
        sources=sources or SOURCES[suite],
        repeats=repeats or REPEATS[suite],
        seed=seed,
        max_weight=max_weight,
        verify=verify,
        peers=peers,
        gapbs=None if gapbs is None else gap.check(gapbs),
        client=client,
        divide={"device": backend.name, "by": by, "ghosts": ghosts},
        where={"exchange": exchange, "client": client, "progress": False},
        choices=CHOICES if choices else (AS_GIVEN,),
    )
    if plot is not None:
        from graphdask.bench.analysis.figures import PICTURES, draw

        pictures_output(plot, PICTURES, overwrite)
    records: list[dict[str, Any]] = []
    for case in progress(planned):
        for record in _of_graph(case, plan):
            records.append({"benchmark": "analytics", "scaling": case.scaling, **record})
            _add_speedup(records)
            yield records[-1]
    if plot is not None:
        draw(records, Path(plot), overwrite)


def _places(device: str, client: Any) -> int:
    """GPUs, cores or workers."""
    if client is not None:
        return len(client.nthreads())
    return cuda_device_count() if device == "cuda" else len(os.sched_getaffinity(0))


def _of_graph(case: Case, plan: Plan) -> Iterator[dict[str, Any]]:
    """The records of one graph: first of the algorithms that take no weights, then of those that do."""
    for weights, dtype in ((False, None), (True, None), (True, "float32")):
        kind = weights, dtype
        algorithms = [each for each in plan.algorithms if (each.weights, each.weight_dtype) == kind]
        if not algorithms:
            continue
        graph = case.make(plan.seed)
        if weights:
            graph = weighted(graph, plan.seed, plan.max_weight, dtype)
        yield from _of_algorithms(case, plan, graph, algorithms)


def _of_algorithms(case: Case, plan: Plan, graph: Any, algorithms: list[Algorithm]) -> Iterator[dict[str, Any]]:
    about: dict[str, Any] = {"graph": case.name, "directed": graph.directed, "weighted": graph.weighted}
    about |= {"weights": str(graph.source.weight_dtype)} if graph.weighted else {}
    best: dict[tuple[str, int | None], float] = {}
    numbers = np.zeros(0, np.int64)
    for size, choice in product(case.ranks, plan.choices):
        about |= {"choice": choice.name} if choice.name else {}
        try:
            graph = graph.partition(**{**plan.divide, **choice.divide, "parts": size})
            graph.persist(client=plan.client, progress=False)
        except MissingDependency as error:
            yield about | {"implementation": "graphdask", "ranks": size, "skipped": str(error)}
            continue
        facts = Facts.of(graph)
        about |= {"vertices": graph.num_vertices, "edges": graph.num_edges}
        numbers = facts.sources(plan.sources, plan.seed)
        edges = input_edges(graph, facts, numbers, **plan.where)
        for algorithm in algorithms:
            record = about | {"algorithm": algorithm.name, "implementation": "graphdask", "ranks": size}
            if not algorithm.fits(graph.directed):
                yield record | {"skipped": f"{'' if algorithm.directed else 'un'}directed graphs only"}
            elif unused := [name for name in choice.where if not algorithm.takes(name)]:
                yield record | {"skipped": f"{algorithm.function} has no option {unused[0]}"}
            elif not choice.fused and algorithm.name not in UNFUSED:
                yield record | {"skipped": f"no kernel of {algorithm.name} can be separated into advance and filter"}
            elif not len(numbers):
                yield record | {"skipped": "the graph has no edge to another vertex"}
            else:
                try:
                    found = _measured(algorithm, graph, numbers, edges, size, plan, choice)
                except (OverBudget, Unsupported, InputError) as error:  # Katz's alpha is too large for some graphs
                    yield record | {"skipped": str(error)}
                    continue
                ours = found[algorithm.compared]
                best[algorithm.name, size] = ours
                best[algorithm.name, None] = min(ours, best.get((algorithm.name, None), ours))
                yield record | found
    names = [algorithm.name for algorithm in algorithms if algorithm.fits(graph.directed)]
    compared = {algorithm.name: algorithm.compared for algorithm in algorithms}
    if len(numbers) and (plan.peers or plan.gapbs is not None):
        for record in _others(plan, names, graph, numbers, case.ranks):
            name = str(record.get("algorithm"))
            ours, theirs = best.get((name, record.get("ranks"))), record.get(compared.get(name, "ms"))
            ratio = {"over_graphdask": theirs / ours} if ours and theirs and "differs" not in record else {}
            yield about | record | ratio


def _measured(
    algorithm: Algorithm, graph: Any, numbers: np.ndarray, edges: list[int], size: int, plan: Plan, choice: Choice
) -> dict[str, Any]:
    """What one algorithm did with one number of ranks; the first run, which compiles, is not counted."""
    ids = graph.vertex_ids
    sources = [ids[number] for number in numbers] if algorithm.source else [None] * plan.repeats
    reached = edges if algorithm.source else [graph.num_edges] * plan.repeats

    def once(source: Any) -> Any:
        where = {**plan.where, **choice.where}
        if not choice.fused:
            return paths_unfused(graph, source, **where)
        return algorithm.run(graph, source, **where)

    def memory() -> dict[str, Any]:
        with quiet(), PeakMemory(plan.device, size, plan.client is None) as memory:
            stats = once(sources[0]).stats
        peak = memory.bytes
        return {
            "memory_estimate": stats.memory,
            "memory_peak": peak,
            "memory_allocated": stats.allocated_end,
            "memory_growths": stats.growths,
            "memory_ratio": None if peak is None or not stats.memory else peak / stats.memory,
        }

    forget_tables(graph)  # of other algorithms
    with quiet():
        first = once(sources[0])
        if plan.verify:
            first.verify()
    del first
    before = {}
    if forget_tables(graph):
        (anew,) = timed(once, sources[:1])
        forget_tables(graph)
        before = {"ms": anew.call_seconds * 1e3, "supersteps_ms": anew.seconds * 1e3, **memory()}
    return measure(once, sources, reached) | {
        "options": dict(algorithm.options),
        "sources": len(numbers) if algorithm.source else None,
        **memory(),
        **{f"first_{name}": value for name, value in before.items()},
        "verified": plan.verify or None,
    }


def _others(
    plan: Plan, names: list[str], graph: Any, numbers: np.ndarray, ranks: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """Records of other libraries, and of the GAP suite with as many threads as there were ranks."""
    edges = Edges.of(graph)
    if plan.peers:
        for peer in PEERS:
            yield from measure_peer(peer, names, edges, numbers.tolist(), plan.repeats)
    if plan.gapbs is not None:
        for size in ranks:
            for record in gap.measure(plan.gapbs, names, edges, numbers.tolist(), plan.repeats, size):
                yield record | {"ranks": size}


def _add_speedup(records: list[dict[str, Any]]) -> None:
    """Against the smallest number of ranks in the run: in time, and of weak scaling in rate, as the graphs grow."""
    last = records[-1]
    if last.get("implementation") != "graphdask" or "ms" not in last:
        return
    keys = ("scaling" if last["scaling"] else "graph", "algorithm", "weighted", "choice")
    for record in records[:-1]:
        if record.get("implementation") == "graphdask" and all(record.get(key) == last.get(key) for key in keys):
            if "ms" not in record or record["ranks"] == last["ranks"]:
                continue
            weak = (last["scaling"] or "").startswith("weak")
            grown = last["edges"] / record["edges"] if weak and record["edges"] else 1.0
            last["speedup"] = record["ms"] / last["ms"] * grown
            return
