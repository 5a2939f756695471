"""The cases of `graphdask bench sample`: walks and traversal samplers by each bias and method, and their timing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphdask.bench.analysis.graphs import weighted
from graphdask.bench.harness import CLOCK, repeat, timed_call
from graphdask.bench.kernel_time import kernel_ms
from graphdask.bench.minibatches import minibatches
from graphdask.bench.sample_links import LIKE, links_beside
from graphdask.bench.sample_peers import peers as sample_peers
from graphdask.bench.specs import FIRE, HEAVIEST, POOL, SAMPLE_SPECS, STEPS, WALK_SPECS, Compared, spec_of
from graphdask.errors import DeadlineExceeded, OverBudget
from graphdask.generate import rmat
from graphdask.sample.framework import run as sample
from graphdask.sample.frontier import frontier_sampling
from graphdask.sample.hops import forest_fire, neighbors
from graphdask.sample.layers import layer
from graphdask.sample.second_order import node2vec
from graphdask.sample.walks import metropolis_hastings, random_walk


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
    links: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    """Numbers of minibatches, links of each, and fan-outs, for the loader of links beside PyTorch Geometric's."""
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
    ("peers", "cpu"): Suite(
        16,
        ((2000, 80),),
        ((2000, (10, 10)),),
        own=False,
        links=((50, 16, (10, 5)), (20, 16, (15, 10)), (4, 512, (10, 5)), (4, 512, (15, 10))),
    ),
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
"""How many times as few walks are drawn by a reservoir, which scans all edges of a vertex in each step."""

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
                    yield compared(row | {"ranks": count} | common | self.tried(call))
            if not samplers or "loader".startswith(samplers):
                yield from self.minibatches(divided, {"ranks": count} | common)
            divided.replicas = divided.built = divided.on_host = None
        if peers and self.client is None:
            whole = graph.partition(1, device=self.device)
            sizes = self.suite.walks, self.suite.samples
            for record in sample_peers(
                *sizes, whole, self._starts, self.repeats, partial(self._alike, whole), self.device, samplers
            ):
                yield record | {"ranks": 1} | common
            if self.device == "cpu" and (not samplers or LIKE.startswith(samplers)):
                for record in links_beside(self.suite.links, whole, self.seed, self.repeats):
                    yield record | {"ranks": 1} | common

    def _alike(
        self, graph: Any, like: str, bias: str | None, method: str, starts: np.ndarray, size: Any
    ) -> Callable[[], Any]:
        """The call of ours that draws what a peer draws."""
        if isinstance(size, int):
            return self._walks(graph, like, bias, method, starts, size)
        return self._samples(graph, like, bias, method, starts, list(size))

    def minibatches(self, graph: Any, common: dict[str, Any]) -> Iterator[dict[str, Any]]:
        where = {"seed": self.seed, "placement": self.placement, "client": self.client}
        for record in minibatches(graph, self.suite.minibatches, self.repeats, **where):
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
        spec = spec_of(bias, method, size)
        return lambda: sample(graph, spec, seeds, **self._where)

    def tried(self, call: Callable[[], Any]) -> dict[str, Any]:
        """What a case takes; of one that is too much for the memory or the deadline the reason."""
        try:
            return self.measured(call)
        except (DeadlineExceeded, OverBudget) as error:
            return {"skipped": str(error)}

    def measured(self, call: Callable[[], Any]) -> dict[str, Any]:
        besides: dict[str, list[float]] = {"run_ms": [], "draw_ms": [], "host_ms": []}

        def each(result: Any, seconds: float) -> None:
            besides["run_ms"].append(result.stats.seconds)
            besides["draw_ms"].append(result.stats.bsp.seconds)
            if self.gather:
                gathering, _ = timed_call(lambda: [getattr(result, name) for name in result.columns])
                besides["host_ms"].append(seconds + gathering)

        runs = repeat(call, self.repeats, oftener=True, each=each)
        result, seconds = runs.result, {"ms": runs.seconds, **besides}
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
            "first_ms": 1e3 * runs.first,
            "compile_ms": 1e3 * runs.compiled,
            **times,
            **rates,
        } | (streamed if result.stats.streamed else {})

    def _of_kernels(self, call: Callable[[], Any], edges: int) -> dict[str, Any]:
        """What kernels take, where they are launched from this process."""
        if self.device != "cuda" or self.client is not None:
            return {}
        of_each = kernel_ms(call)
        took = sum(of_each.values())
        return {"kernel_ms": took, "kernels": of_each} | ({"kernel_mseps": edges / took / 1e3} if took else {})
