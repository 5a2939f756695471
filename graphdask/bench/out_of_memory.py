"""Samples of a graph that does not fit the device, by each scheme, beside the same samples in memory.

The graph has 4 partitions, of which 2 are on the device, as in Figures 13 to 15 of the c-saw paper. Without batching,
instances are sampled in 4 groups.

Source: Pandey et al., c-saw, Section VI-C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from graphdask.bench.sample_cases import Bench
from graphdask.sample.streamed import SCHEMES, Streamed

PARTITIONS, RESIDENT, GROUPS = 4, 2, 4
CASES = (
    ("random_walk", None, "uniform"),
    ("random_walk", "weight", "alias"),
    ("neighbors", None, "auto"),
    ("neighbors", "weight", "auto"),
    ("forest_fire", None, "auto"),
)
"""Sampler, bias and method."""


class OutOfMemory(Bench):
    """Each case in memory, and by each scheme."""

    def _cases(self, graph: Any) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
        for sampler, bias, method in CASES:
            walks = sampler == "random_walk"
            for count, size in self.suite.walks if walks else self.suite.samples:
                named: dict[str, Any] = {"sampler": sampler, "bias": bias, "method": method, "instances": count}
                named["size"] = size if isinstance(size, int) else list(size)
                for scheme in ("in memory", *SCHEMES):
                    bench = replace(self, placement=self._placement(scheme, count))
                    make: Callable[..., Any] = bench._walks if walks else bench._samples
                    yield named | {"scheme": scheme}, make(graph, sampler, bias, method, self._starts(count), size)

    @staticmethod
    def _placement(scheme: str, count: int) -> Any:
        if scheme == "in memory":
            return "replicated"
        batch = -(-count // GROUPS) if scheme == "baseline" else None
        return Streamed(PARTITIONS, RESIDENT, scheme, batch=batch)
