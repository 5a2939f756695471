"""Ways to draw several neighbours of a vertex beside each other, as in Figures 10 to 12 of the c-saw paper.

10. The time of each way: repeated, updated and bipartite draws, which detect collisions by a search, a bitmap or a
    strided bitmap; and ways that are not in the paper. Speed-ups are over repeated draws with a search.
11. How often a neighbour is tried for each that is drawn, by repeated and bipartite draws; updated draws try once.
12. How many of the drawn neighbours a search scans to detect a collision, and how many bits of a bitmap are read
    instead.

The applications are the paper's four: neighbour sampling with and without a bias, forest fire, and layer sampling. For
layer sampling only times are measured: by weight, all edges of a layer are scanned anyway, by exponential keys, or by
sums as a function of the user. Tries and scans are counted on a CPU, which draws the same neighbours as a GPU. So runs
that are timed count nothing.

Source: Pandey et al., c-saw, Section VI-B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphdask.bench.sample_cases import Bench
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.gang.clients import active_client
from graphdask.kernels.neighbors.tries import tries_count
from graphdask.sample.fanouts import METHODS
from graphdask.sample.methods import DISTINCT
from graphdask.sample.sampler import sampled
from graphdask.sample.traversal import Traversal, TraversalState

WAYS = (
    ("repeated", "linear"), ("repeated", "bitmap"), ("repeated", "strided"), ("updated", "auto"),
    ("bipartite", "linear"), ("bipartite", "bitmap"), ("bipartite", "strided"), ("auto", "auto"), ("reservoir", "auto"),
)  # fmt: skip
"""Method, and how collisions are seen; the first is what the others are compared with."""
APPLICATIONS = (("neighbors", "weight"), ("forest_fire", None), ("neighbors", None), ("layer", None))
BURN = 0.7
_CASE = ("skipped", "sampler", "bias", "instances", "size", "method")
TABLES = {
    "Figure 10: time": (*_CASE, "collisions", "ranks", "edges", "draw_ms", "ms", "mseps", "speedup"),
    "Figure 11: tries for each neighbour": (*_CASE, "drawn", "tries", "tries_each", "fewer"),
    "Figure 12: looks for collisions": (*_CASE, "searched", "bits", "ratio"),
}
"""Columns of each table."""


class Counted(Traversal):
    """A sampler that counts what its draws take."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.counted = np.zeros(4, np.int64)

    def draw_hop(
        self,
        state: TraversalState,
        env: Environment,
        rows: Array,
        vertices: Array,
        instances: Array,
        tags: Array,
        hop: int,
    ) -> tuple[Array, Array, Array, Array, Array | None]:
        drawn = super().draw_hop(state, env, rows, vertices, instances, tags, hop)
        tries_count(
            len(rows), rows, vertices, instances, state.rows.indptr, drawn[3], state.sums, METHODS.index(self.method),
            np.uint64(self.seed), self.counted,
        )  # fmt: skip
        return drawn


class Selection(Bench):
    """Each application by each way."""

    def records(self, samplers: tuple[str, ...], ranks: Sequence[int], peers: bool) -> Iterator[dict[str, Any]]:
        ten, eleven, twelve = TABLES
        common: dict[str, Any] = {"device": self.device, "scale": self.scale}
        first: float | None = None
        graph = self._graph()
        for count in ranks:
            divided = graph.partition(count, device=self.device)
            for row, call in self._cases(divided):
                if samplers and not row["sampler"].startswith(samplers):
                    continue
                found = self.tried(call)
                if (row["method"], row["collisions"]) == WAYS[0]:
                    first = found.get("ms")
                if row["collisions"] is not None and first is not None and "ms" in found:
                    found["speedup"] = first / found["ms"]
                yield {"table": ten} | row | {"ranks": count} | common | found
        if active_client() is not None:
            yield {"table": eleven, "skipped": "tries are counted in this process, without workers"}
            return
        here, before = graph.partition(1, device="cpu"), 0.0
        for row, counted in self._counts(here, samplers):
            drawn, tries, searched, bits = counted.tolist()
            on_cpu = row | common | {"device": "cpu"}
            each = tries / max(drawn, 1)
            before = each if row["method"] == WAYS[0][0] else before
            yield (
                {"table": eleven}
                | on_cpu
                | {"drawn": drawn, "tries": tries, "tries_each": each, "fewer": before / each}
            )
            yield {"table": twelve} | on_cpu | {"searched": searched, "bits": bits, "ratio": bits / max(searched, 1)}

    def _cases(self, graph: Any) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
        from graphdask.sample.framework import run
        from graphdask.sample.hops import forest_fire, neighbors
        from graphdask.sample.layers import layer
        from graphdask.sample.spec import Spec

        for count, sizes in self.suite.samples:
            seeds, fanouts = self._starts(count), list(sizes)
            for sampler, bias in APPLICATIONS:
                named: dict[str, Any] = {"sampler": sampler, "bias": bias, "instances": count, "size": fanouts}
                draw: Callable[..., Any] = partial(neighbors, graph, seeds, fanouts)
                if sampler == "forest_fire":
                    draw = partial(forest_fire, graph, seeds, BURN, len(fanouts))
                if sampler == "layer":
                    draw = partial(layer, graph, seeds, fanouts)
                for method, collisions in WAYS:
                    how = {"method": method, "collisions": collisions}
                    yield named | how, partial(draw, bias=bias, **how, **self._where)
            named = {"sampler": "layer", "bias": "weight", "instances": count, "size": fanouts, "collisions": None}
            yield named | {"method": "keys"}, partial(layer, graph, seeds, fanouts, bias="weight", **self._where)
            for method in DISTINCT:
                spec = Spec(
                    edge_bias=lambda e: e.weight, neighbor_size=sizes, per="layer", revisit=False, select=method
                )  # fmt: skip
                yield named | {"method": method}, partial(run, graph, spec, seeds, **self._where)

    def _counts(self, graph: Any, samplers: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        from graphdask.sample.hops import checked_seeds

        for count, sizes in self.suite.samples:
            seeds, bounds = checked_seeds(graph, self._starts(count))
            for sampler, bias in APPLICATIONS:
                if sampler == "layer" or (samplers and not sampler.startswith(samplers)):
                    continue
                burns = sampler == "forest_fire"
                fanouts, burn = ((-1,) * len(sizes), int(BURN * 2**64)) if burns else (sizes, 0)
                for method in ("repeated", "bipartite"):
                    made = Counted(seeds, bounds, fanouts, bias=bias, method=method, burn=burn, seed=self.seed)
                    sampled(graph, made, "replicated", None, False)
                    named = {"sampler": sampler, "bias": bias, "instances": count, "size": list(sizes)}
                    yield named | {"method": method}, made.counted
