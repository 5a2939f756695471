"""Samplers beside each other and beside others': sampled edges per second (SEPS), of whole calls and of their parts.

Walks by each bias and method, and traversal sampling by each way to draw without replacement, as in Figure 10 of the
c-saw paper; the same as functions of the user (graphdask.bench.specs). Some walks also start from every vertex, which
is said as a range and a number of walks for each. The graph is R-MAT, weighted from 1 to 64, undirected. Tables of
biases stay with the graph; the first call of a case makes them, and its time is recorded separately. Samplers of other
libraries are in graphdask.bench.sample_peers.

Source: Pandey et al., c-saw, Section VI: 4,000 walks of 2,000 steps, and 2,000 sampling instances.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from graphdask.bench.analysis.timing import CLOCK, finish
from graphdask.bench.kernel_time import kernel_ms
from graphdask.bench.sample_peers import peers as sample_peers
from graphdask.bench.specs import FIRE, HEAVIEST, POOL, SAMPLE_SPECS, STEPS, WALK_SPECS, Compared, spec_of
from graphdask.errors import DeadlineExceeded, InputError, OverBudget
from graphdask.kernels.common.compiling import Timer, clock

SHOWN = (
    "sampler", "like", "bias", "method", "starts", "instances", "size", "at_once", "ranks", "scheme", "edges",
    "kernel_ms", "draw_ms", "run_ms", "ms", "host_ms", "kernel_mseps", "draw_mseps", "mseps", "clock",
    "graphdask_ms", "over_graphdask", "differs", "times", "draw_times",
    "transfers", "transferred_mb", "in_place", "imbalance", "skipped",
)  # fmt: skip
"""Columns of the table."""


@dataclass(frozen=True)
class Suite:
    """How much is drawn, and from what."""

    scale: int
    walks: tuple[tuple[int, int], ...]
    """Numbers of walks, and their lengths."""
    samples: tuple[tuple[int, tuple[int, ...]], ...]
    """Numbers of instances of one seed each, and their fan-outs."""
    minibatches: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    """Numbers of minibatches, seeds of each, and fan-outs, for the loader."""
    own: bool = True
    """Whether ours are measured by themselves too."""


SUITES = {
    ("quick", "cpu"): Suite(
        14, ((2000, 80),), ((2000, (2, 2)), (2000, (10, 10)), (2000, (15, 10, 5))), ((10, 100, (15, 10, 5)),)
    ),
    ("quick", "cuda"): Suite(
        18, ((100_000, 80),), ((100_000, (10, 10)), (20_000, (15, 10, 5))), ((20, 1000, (15, 10, 5)),)
    ),
    ("full", "cpu"): Suite(
        18, ((50_000, 80), (400, 2000)), ((20_000, (10, 10)), (2000, (15, 10, 5))), ((20, 1000, (15, 10, 5)),)
    ),
    ("full", "cuda"): Suite(
        22,
        ((1_000_000, 80), (4000, 2000)),
        ((1_000_000, (10, 10)), (2000, (2, 2)), (100_000, (15, 10, 5))),
        ((100, 1000, (15, 10, 5)),),
    ),
    ("peers", "cpu"): Suite(16, ((2000, 80),), ((2000, (10, 10)),), own=False),
    ("peers", "cuda"): Suite(
        22, ((1_000_000, 80), (4000, 2000)), ((1_000_000, (10, 10)), (2000, (2, 2)), (100_000, (15, 10, 5))), own=False
    ),
    ("selection", "cpu"): Suite(12, (), ((2000, (2, 2)), (200, (40, 20)))),
    ("selection", "cuda"): Suite(20, (), ((2000, (2, 2)), (100_000, (10, 10)), (20_000, (64,)))),
    ("out-of-memory", "cpu"): Suite(14, ((2000, 80),), ((2000, (10, 10)),)),
    ("out-of-memory", "cuda"): Suite(20, ((4000, 200), (1_000_000, 80)), ((2000, (2, 2)), (200_000, (10, 10)))),
}
"""By name and device."""

FEWER = 100
"""How many times as few walks are drawn by a reservoir, which looks at all edges of a vertex in each step."""

WALKS: tuple[tuple[str, str | None, str], ...] = (
    ("random_walk", None, "uniform"),
    ("random_walk", "weight", "rejection"),
    ("random_walk", "weight", "inverse"),
    ("random_walk", "weight", "alias"),
    ("random_walk", "weight", "reservoir"),
    ("random_walk", "degree", "rejection"),
    ("restart 0.15", None, "uniform"),
    ("jump 0.15", None, "uniform"),
    ("metropolis_hastings", None, "uniform"),
    ("node2vec 2 0.5", None, "uniform"),
    ("node2vec 2 0.5", "weight", "rejection"),
)
MANY, BRIEF = 50, 0.2
"""Times that a call is measured, unless they take so many seconds together; but as often as asked for."""
MOST_POOLS = 5000
"""Of frontier sampling, each an array of its own."""
FROM_RANGE: tuple[tuple[str, str | None, str], ...] = (
    ("random_walk", None, "uniform"),
    ("random_walk", "weight", "alias"),
    ("node2vec 2 0.5", None, "uniform"),
)
"""Those of them that are measured from a range too, as who wants walks from every vertex says it."""
NEIGHBORHOODS: tuple[tuple[str, str | None, str], ...] = (
    ("neighbors", None, "replace"),
    ("neighbors", None, "auto"),
    ("neighbors", None, "repeated"),
    ("neighbors", None, "updated"),
    ("neighbors", None, "bipartite"),
    ("neighbors", "weight", "replace"),
    ("neighbors", "weight", "auto"),
    ("neighbors", "weight", "repeated"),
    ("neighbors", "weight", "updated"),
    ("neighbors", "weight", "bipartite"),
    ("neighbors", "weight", "reservoir"),
    ("layer", None, "auto"),
    ("layer", "weight", "auto"),
    ("forest_fire", None, "auto"),
    ("frontier_sampling", None, "auto"),
)
"""Sampler, bias and method."""


def run(
    suite: str = "quick",
    *,
    scale: int | None = None,
    graph: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
    samplers: Sequence[str] = (),
    walks: Sequence[int] = (),
    ranks: Sequence[int] = (1,),
    placement: str = "auto",
    device: str = "auto",
    repeats: int = 3,
    seed: int = 0,
    gather: bool = True,
    peers: bool = True,
    client: Any = None,
    each: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Measure samplers.

    Parameters
    ----------
    suite : {"quick", "full", "peers", "selection", "out-of-memory"}
        `peers` has others' samplers alone, each with ours beside it. `selection` compares ways to draw several
        neighbours of a vertex, by time, tries and looks for collisions (graphdask.bench.selection). The last one draws
        the same samples from a graph in memory and from one streamed by each scheme (graphdask.bench.out_of_memory).
    scale : int, optional
        Of an R-MAT graph with 2**scale vertices and 16 edges for each. Default: the suite's.
    graph : path-like, optional
        A graph from this file instead, its weights or such as R-MAT is given.
    directed : bool, optional
        How the file is read; default: as it says.
    samplers : sequence of str
        Only those whose names begin so; default: all.
    walks : sequence of int
        How many walks there are in each case, of the suite's first length; default: as many as the suite has.
    ranks : sequence of int
        Workers, or ranks of this process.
    placement : {"auto", "replicated", "partitioned"}
    device : {"auto", "cpu", "cuda"}
    repeats : int
        Each call runs once to warm up and then this often; one of a few milliseconds oftener, unless this is 1.
    seed : int
    gather : bool
        Whether samples are brought to the caller, and that is measured; many walks are more than a host takes.
    peers : bool
        Whether others' samplers are measured too, where they are installed, without a client: igraph, NetworkX,
        torch-cluster, pyg-lib; on a GPU pylibcugraph.
    client : distributed.Client, optional
    each : callable, optional
        Given each record as soon as it is there.

    Returns
    -------
    list of dict
        For each case `sampler`, `bias`, `method`, of walks `starts` (`array`, or `range`), `instances`, `size` (length
        of walks, or fan-outs), `ranks`, `placement`, `device`, `scale`; `edges` (sampled), `first_ms` (the first call,
        with tables), `compile_ms` (what compiling took in it besides), `ms` (median of the later calls, after which the
        samples are on the devices), `run_ms` (of it on
        the workers, from when they are called until their devices are done), `draw_ms` (of that what the slowest rank
        was drawing, its starts taken to its device included), `host_ms` (of a call and of bringing all columns to the
        caller); on GPUs of this process `kernel_ms` (of another call what its kernels took on the device, by events
        around each launch) and `kernels` (of each, by name); `mseps`, `run_mseps`, `draw_mseps`, `kernel_mseps` and
        `host_mseps` (millions of edges per second of each); of functions of the user `like` (the built-in sampler that
        draws the same), `times` and `draw_times` (how many times as long an edge takes as with that one in this run, of
        `ms` and of `draw_ms`); of others' samplers `like`, `clock` ("call"), `graphdask_ms`, `graphdask_edges` and
        `graphdask_mseps` of the same walks or seeds by that one, and `over_graphdask`, its `ms` over that, or `differs`
        and what does; or `skipped`. Out of memory besides: `scheme`, and of the
        last call `transfers` of partitions to the device, `transferred_mb`, `in_place` and `imbalance` (as in
        `Stats.streamed`). Of selection besides: `table`, `collisions`, and what graphdask.bench.selection says. Of the
        loader `ms` is that of an epoch, and `at_once` how many batches are drawn together, where it is said.

    Raises
    ------
    InputError
        For an unknown suite or sampler, or numbers that are not above 0.
    """
    from graphdask.device.backend import cuda_device_count

    device = ("cuda" if cuda_device_count() else "cpu") if device == "auto" else device
    if (suite, device) not in SUITES:
        raise InputError(f"suite={suite!r} is not one of {', '.join(sorted({name for name, _ in SUITES}))}")
    if min(1 if scale is None else scale, repeats, *ranks, *walks) < 1:
        raise InputError(
            f"scale={scale}, repeats={repeats}, ranks={tuple(ranks)} and walks={tuple(walks)} must be 1 or more"
        )
    size = SUITES[suite, device]
    if walks and not size.walks:
        raise InputError(f"walks={tuple(walks)} says nothing for suite={suite!r}, which has none; leave it out")
    if walks:
        size = replace(size, walks=tuple((count, size.walks[0][1]) for count in walks))
    known = sorted({"loader"}.union(name.split()[0] for name, _, _ in (*WALKS, *WALK_SPECS, *NEIGHBORHOODS)))
    for name in samplers:
        if not any(each_name.startswith(name) for each_name in known):
            raise InputError(f"sampler={name!r} is not one of {', '.join(known)}")
    made: type[Bench] = Bench
    if suite == "out-of-memory":
        from graphdask.bench.out_of_memory import OutOfMemory

        if placement != "auto":
            raise InputError(f"placement={placement!r} does not go with suite='out-of-memory', which compares them")
        made = OutOfMemory
    if suite == "selection":
        from graphdask.bench.selection import Selection

        made = Selection
    if graph is not None and scale is not None:
        raise InputError(f"scale={scale} is of R-MAT graphs; leave it out with graph={os.fspath(graph)!r}")
    bench = made(size, size.scale if scale is None else scale, placement, device, repeats, seed, gather, client)
    if graph is not None:
        from graphdask.bench.analysis.graphs import of_file

        bench.read, bench.scale = of_file(graph, directed), None
    records = []
    named = {} if graph is None else {"graph": os.path.basename(graph)}
    for record in bench.records(tuple(samplers), ranks, peers):
        record |= named
        records.append(record)
        if each is not None:
            each(record)
    return records


@dataclass
class Bench:
    """The cases of a suite."""

    suite: Suite
    scale: int | None
    """Of the R-MAT graph; None where the graph is that of a file."""
    placement: Any
    device: str
    repeats: int
    seed: int
    gather: bool
    client: Any
    read: Any = None
    """The graph of a file."""

    def _graph(self) -> Any:
        from graphdask.bench.analysis.graphs import weighted
        from graphdask.generate import rmat

        if self.scale is None:
            return weighted(self.read, self.seed, HEAVIEST)
        return weighted(rmat(self.scale, edge_factor=16, seed=self.seed), self.seed, HEAVIEST)

    def records(self, samplers: tuple[str, ...], ranks: Sequence[int], peers: bool) -> Iterator[dict[str, Any]]:
        graph = self._graph()
        common, compared = {"device": self.device, "scale": self.scale}, Compared()
        undefined = ("metropolis_hastings",) if graph.directed else ()
        for count in ranks if self.suite.own else ():
            divided = graph.partition(count, device=self.device)
            for row, call in self._cases(divided):
                asked = row["sampler"].startswith(samplers) if samplers else row["sampler"] not in undefined
                if asked:
                    yield compared(row | {"ranks": count} | common | self._tried(call))
            if not samplers or "loader".startswith(samplers):
                yield from self._minibatches(divided, {"ranks": count} | common)
            divided.replicas = divided.built = divided.on_host = None
        if peers and self.client is None:
            whole = graph.partition(1, device=self.device)
            sizes = self.suite.walks, self.suite.samples
            for record in sample_peers(
                *sizes, whole, self._starts, self.repeats, partial(self._alike, whole), self.device, samplers
            ):
                yield record | {"ranks": 1} | common

    def _alike(
        self, graph: Any, like: str, bias: str | None, method: str, starts: np.ndarray, size: Any
    ) -> Callable[[], Any]:
        """The call of ours that draws what a peer draws."""
        if isinstance(size, int):
            return self._walks(graph, like, bias, method, starts, size)
        return self._samples(graph, like, bias, method, starts, list(size))

    def _minibatches(self, graph: Any, common: dict[str, Any]) -> Iterator[dict[str, Any]]:
        from graphdask.bench.minibatches import minibatches

        where = {"seed": self.seed, "placement": self.placement, "client": self.client}
        for record in minibatches(graph, self.device, self.suite.minibatches, self.repeats, **where):
            yield record | common | {"placement": self.placement}

    def _starts(self, count: int) -> np.ndarray:
        return np.random.default_rng(self.seed).integers(0, self._vertices, count)

    @property
    def _vertices(self) -> int:
        return int(self.read.num_vertices) if self.scale is None else 1 << self.scale

    def _cases(self, graph: Any) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
        for count, length in self.suite.walks:
            for sampler, bias, method in (*WALKS, *WALK_SPECS):
                starts = self._starts(-(-count // FEWER) if method == "reservoir" else count)
                row = {"sampler": sampler, "bias": bias, "method": method, "instances": len(starts), "size": length}
                yield row | {"starts": "array"}, self._walks(graph, sampler, bias, method, starts, length)
            each = -(-count // self._vertices)
            every = range(count // each)
            for sampler, bias, method in FROM_RANGE:
                row = {"sampler": sampler, "bias": bias, "method": method, "instances": each * len(every)}
                row |= {"size": length, "starts": "range"}
                yield row, self._walks(graph, sampler, bias, method, every, length, each)
        for count, fanouts in self.suite.samples:
            for sampler, bias, method in (*NEIGHBORHOODS, *SAMPLE_SPECS):
                if "frontier_sampling" in (sampler, bias) and count > MOST_POOLS:
                    continue
                named: dict[str, Any] = {"sampler": sampler, "bias": bias, "method": method, "instances": count}
                yield (
                    named | {"size": list(fanouts)},
                    self._samples(graph, sampler, bias, method, self._starts(count), list(fanouts)),
                )

    @property
    def _where(self) -> dict[str, Any]:
        return {"seed": self.seed, "placement": self.placement, "client": self.client, "progress": False}

    def _walks(
        self,
        graph: Any,
        sampler: str,
        bias: str | None,
        method: str,
        starts: np.ndarray | range,
        length: int,
        each: int = 1,
    ) -> Callable[[], Any]:
        from graphdask.sample.second_order import node2vec
        from graphdask.sample.walks import metropolis_hastings, random_walk

        if sampler == "spec":
            return self._spec(graph, bias, method, starts, length)
        name, *numbers = sampler.split()
        where = self._where | {"walks_per_start": each}
        how = "auto" if method == "uniform" else method
        if name == "node2vec":
            p, q = map(float, numbers)
            return lambda: node2vec(graph, starts, length, p, q, weighted=bias is not None, method=how, **where)
        if name == "metropolis_hastings":
            return lambda: metropolis_hastings(graph, starts, length, **where)
        besides: dict[str, Any] = {name: float(numbers[0])} if numbers else {}
        return lambda: random_walk(graph, starts, length, bias=bias, method=how, **besides, **where)

    def _samples(
        self, graph: Any, sampler: str, bias: str | None, method: str, seeds: np.ndarray, sizes: list[int]
    ) -> Callable[[], Any]:
        from graphdask.sample.frontier import frontier_sampling
        from graphdask.sample.hops import forest_fire, neighbors
        from graphdask.sample.layers import layer

        if "frontier_sampling" in (sampler, bias):
            pools = np.array_split(self._starts(POOL * len(seeds)), len(seeds))
            if sampler == "spec":
                return self._spec(graph, bias, method, pools, sizes)
            return lambda: frontier_sampling(graph, pools, STEPS, **self._where)
        if sampler == "spec":
            return self._spec(graph, bias, method, seeds, sizes)
        if sampler == "layer":
            return lambda: layer(graph, seeds, sizes, bias=bias, **self._where)
        if sampler == "forest_fire":
            return lambda: forest_fire(graph, seeds, FIRE, len(sizes), **self._where)
        if method == "replace":
            return lambda: neighbors(graph, seeds, sizes, bias=bias, replace=True, **self._where)
        return lambda: neighbors(graph, seeds, sizes, bias=bias, method=method, **self._where)

    def _spec(self, graph: Any, bias: str | None, method: str, seeds: Any, size: int | list[int]) -> Callable[[], Any]:
        from graphdask.sample.framework import run as sample

        spec = spec_of(bias, method, size)
        return lambda: sample(graph, spec, seeds, **self._where)

    def _tried(self, call: Callable[[], Any]) -> dict[str, Any]:
        """What a case takes; of one that is too much for the memory or the deadline the reason."""
        try:
            return self._measured(call)
        except (DeadlineExceeded, OverBudget) as error:
            return {"skipped": str(error)}

    def _measured(self, call: Callable[[], Any]) -> dict[str, Any]:
        timer = Timer()
        result = call()
        first, compiled = timer.seconds, timer.compiled.seconds
        seconds: dict[str, list[float]] = {"ms": [], "run_ms": [], "draw_ms": [], "host_ms": []}
        while len(seconds["ms"]) < self.repeats or self._is_short(seconds["ms"]):
            result = None  # many walks fill a device: those of one call at a time
            started = clock()
            result = call()
            finish()
            seconds["ms"].append(clock() - started)
            seconds["run_ms"].append(result.stats.seconds)
            seconds["draw_ms"].append(result.stats.bsp.seconds)
            if self.gather:
                for name in result.columns:
                    getattr(result, name)
                seconds["host_ms"].append(clock() - started)
        # the statistics count the steps that walks were to make, and some end before
        edges = int(result.lengths.sum()) if "lengths" in result.columns else result.stats.edges
        median = {name: statistics.median(each) for name, each in seconds.items() if each}
        rates = {name.removesuffix("ms") + "mseps": edges / of / 1e6 for name, of in median.items()}
        streamed = {name: result.stats.streamed.get(name) for name in ("transfers", "in_place", "imbalance")}
        streamed |= {"transferred_mb": result.stats.streamed.get("nbytes", 0) / 1e6}
        times = {name: 1e3 * of for name, of in median.items()} | self._of_kernels(call, edges)
        return {
            "placement": result.placement,
            "clock": CLOCK,
            "edges": edges,
            "first_ms": 1e3 * first,
            "compile_ms": 1e3 * compiled,
            **times,
            **rates,
        } | (streamed if result.stats.streamed else {})

    def _is_short(self, seconds: list[float]) -> bool:
        """Whether a call takes so little that its median is better known by more of them."""
        return self.repeats > 1 and len(seconds) < MANY and sum(seconds) < BRIEF

    def _of_kernels(self, call: Callable[[], Any], edges: int) -> dict[str, Any]:
        """What kernels take, where they are launched from this process."""
        if self.device != "cuda" or self.client is not None:
            return {}
        of_each = kernel_ms(call)
        took = sum(of_each.values())
        return {"kernel_ms": took, "kernels": of_each} | ({"kernel_mseps": edges / took / 1e3} if took else {})
