"""Samplers given as functions of the user, beside those that are built in: what the framework costs, by each way to
choose edges.

Sources: Pandey et al., c-saw, Section III (the interface) and Figures 10 to 12 (ways to choose); Grover, Leskovec:
node2vec, KDD 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphdask.sample.spec import Spec

WALK_SPECS: tuple[tuple[str, str | None, str], ...] = (
    ("spec", None, "uniform"),
    ("spec", "weight", "inverse"),
    ("spec", "weight", "alias"),
    ("spec", "weight", "rejection"),
    ("spec", "weight", "reservoir"),
    ("spec", "node2vec 2 0.5", "rejection"),
    ("spec", "metropolis_hastings", "uniform"),
)
SAMPLE_SPECS: tuple[tuple[str, str | None, str], ...] = (
    ("spec", None, "uniform"),
    ("spec", "weight", "inverse"),
    ("spec", "weight", "rejection"),
    ("spec", "weight", "reservoir"),
    ("spec", "layer", "uniform"),
    ("spec", "layer weight", "inverse"),
    ("spec", "forest_fire", "uniform"),
    ("spec", "frontier_sampling", "uniform"),
)
"""Sampler, what edges are chosen by or what it is like, and how edges are chosen."""
FIRE = 0.7
"""Of forest fires."""
POOL, STEPS = 100, 50
"""Vertices of a pool in frontier sampling, and its steps."""
HEAVIEST = 64
"""The greatest weight of the graphs that are sampled."""


def weight(e: Any) -> Any:
    return e.weight


def second_order(e: Any) -> float:
    if e.destination_is_previous:
        return 0.5
    if e.destination_near_previous or e.previous < 0:
        return 1.0
    return 2.0


def metropolis(e: Any) -> Any:
    return e.destination if e.random * e.destination_degree < e.source_degree else e.source


def burning(v: Any) -> int:
    return int(math.log(1.0 - v.random) / math.log(FIRE))


def degree(v: Any) -> Any:
    return v.degree


BIASES: dict[str, Callable[[Any], Any]] = {"weight": weight, "node2vec 2 0.5": second_order}


def spec_of(bias: str | None, method: str, size: int | list[int]) -> Spec:
    """A walk of `size` steps, or neighbours of so many at each hop; or what a sampler of the name does."""
    sizes = [size] if isinstance(size, int) else size
    if bias == "metropolis_hastings":
        return Spec(update=metropolis, depth=sizes[0], replace=True)
    if bias == "layer" or bias == "layer weight":
        return Spec(edge_bias=weight if bias == "layer weight" else None, neighbor_size=sizes, per="layer")
    if bias == "forest_fire":
        return Spec(neighbor_size=burning, depth=len(sizes))
    if bias == "frontier_sampling":
        return Spec(vertex_bias=degree, frontier_size=1, depth=STEPS, replace=True)
    more: dict[str, Any] = {}
    if bias is not None:
        more = {"edge_bias": BIASES[bias], "select": method}
    if bias == "weight" and method == "rejection":
        more["edge_bound"] = HEAVIEST
    if isinstance(size, int):
        return Spec(neighbor_size=1, depth=size, replace=True, **more)
    return Spec(neighbor_size=size, **more)


BUILT_IN: dict[tuple[bool, str | None, str], tuple[str, str | None, str]] = {
    (True, None, "uniform"): ("random_walk", None, "uniform"),
    (True, "weight", "inverse"): ("random_walk", "weight", "inverse"),
    (True, "weight", "rejection"): ("random_walk", "weight", "rejection"),
    (True, "weight", "alias"): ("random_walk", "weight", "alias"),
    (True, "weight", "reservoir"): ("random_walk", "weight", "reservoir"),
    (True, "node2vec 2 0.5", "rejection"): ("node2vec 2 0.5", None, "uniform"),
    (False, None, "uniform"): ("neighbors", None, "auto"),
    (False, "weight", "inverse"): ("neighbors", "weight", "auto"),
    (False, "weight", "rejection"): ("neighbors", "weight", "auto"),
    (False, "weight", "reservoir"): ("neighbors", "weight", "reservoir"),
    (True, "metropolis_hastings", "uniform"): ("metropolis_hastings", None, "uniform"),
    (False, "layer", "uniform"): ("layer", None, "auto"),
    (False, "layer weight", "inverse"): ("layer", "weight", "auto"),
    (False, "forest_fire", "uniform"): ("forest_fire", None, "auto"),
    (False, "frontier_sampling", "uniform"): ("frontier_sampling", None, "auto"),
}
"""The built-in sampler that draws the same as functions, by whether they walk, their bias and method."""


@dataclass
class Compared:
    """Records, each beside that of the built-in sampler that draws the same, if that was measured before."""

    seen: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    def __call__(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record, with how many times as long as with the built-in one an edge takes."""
        if "skipped" in record:
            return record
        walks, size = isinstance(record["size"], int), str(record["size"])
        asked = record["bias"], record["method"]
        key: Any = BUILT_IN.get((walks, *asked)) if record["sampler"] == "spec" else None
        if key is None:
            if record.get("starts") != "range":
                self.seen[record["sampler"], *asked, size, record["ranks"], record["instances"]] = record
            return record
        record["like"] = key[0]
        key = (*key, size, record["ranks"])
        instances = record["instances"]
        built_in = self.seen.get((*key, instances)) or next(
            (each for name, each in self.seen.items() if name[:-1] == key), None
        )
        if built_in is None or built_in["device"] != record["device"]:
            return record
        of = {"times": "mseps", "draw_times": "draw_mseps"}
        return record | {name: built_in[rate] / record[rate] for name, rate in of.items() if record.get(rate)}
