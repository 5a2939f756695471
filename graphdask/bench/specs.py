"""Samplers given as functions of the user, beside those that are built in: what the framework costs, by each way to
choose edges.

Sources: Pandey et al., c-saw, Section III (the interface) and Figures 10 to 12 (ways to choose); Grover, Leskovec:
node2vec, KDD 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphdask.sample.spec import Spec

WALK_SPECS: tuple[tuple[str, str | None, str], ...] = (
    ("spec", None, "uniform"),
    ("spec", "weight", "inverse"),
    ("spec", "weight", "alias"),
    ("spec", "weight", "rejection"),
    ("spec", "weight", "reservoir"),
    ("spec", "node2vec 2 0.5", "rejection"),
)
SAMPLE_SPECS: tuple[tuple[str, str | None, str], ...] = (
    ("spec", None, "uniform"),
    ("spec", "weight", "inverse"),
    ("spec", "weight", "rejection"),
    ("spec", "weight", "reservoir"),
)
"""Sampler, what edges are chosen by, and how."""
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


BIASES: dict[str, Callable[[Any], Any]] = {"weight": weight, "node2vec 2 0.5": second_order}


def spec_of(bias: str | None, method: str, size: int | list[int]) -> Spec:
    """A walk of `size` steps, or neighbours of so many at each hop."""
    more: dict[str, Any] = {}
    if bias is not None:
        more = {"edge_bias": BIASES[bias], "select": method}
    if bias == "weight" and method == "rejection":
        more["edge_bound"] = HEAVIEST
    if isinstance(size, int):
        return Spec(neighbor_size=1, depth=size, replace=True, **more)
    return Spec(neighbor_size=size, **more)
