"""Traversal sampling: its ways to draw without replacement beside each other, as in the c-saw paper's Figure 10.

Sampled edges per second (SEPS) of whole calls on one rank: of the paper's setting, two neighbours and two hops, and of
fan-outs that neural networks use. What is made of biases stays with the partition, and so is not in the time. The peer
is what a user of NetworkX writes: a loop over frontiers that calls Python's `random.sample` for each vertex.

Source: Pandey et al., c-saw, Section VI, whose sampling runs have 2,000 instances.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphdask.errors import InputError

SHOWN = ("sampler", "bias", "method", "fanouts", "edges", "ms", "mseps", "skipped")
SETTINGS: tuple[tuple[int, ...], ...] = ((2, 2), (10, 10), (15, 10, 5))
CASES: tuple[tuple[str, str | None, str], ...] = (
    ("neighbors", None, "auto"),
    ("neighbors", None, "repeated"),
    ("neighbors", None, "updated"),
    ("neighbors", None, "bipartite"),
    ("neighbors", None, "replace"),
    ("neighbors", "weight", "auto"),
    ("neighbors", "weight", "repeated"),
    ("neighbors", "weight", "updated"),
    ("neighbors", "weight", "bipartite"),
    ("neighbors", "weight", "replace"),
    ("layer", None, "auto"),
    ("forest_fire", None, "auto"),
)


def run(
    scale: int = 16,
    *,
    instances: int = 2000,
    fanouts: Sequence[Sequence[int]] = SETTINGS,
    device: str = "cpu",
    repeats: int = 3,
    seed: int = 0,
    peers: bool = True,
) -> list[dict[str, Any]]:
    """Measure traversal samplers.

    Parameters
    ----------
    scale : int
        Of an R-MAT graph with 2**scale vertices and 16 edges for each, weighted from 1 to 64.
    instances : int
        Each from a vertex of its own, drawn among all.
    fanouts : sequence of sequence of int
        Settings; a layer takes as many edges of an instance and hop as the fan-out says.
    device : {"cpu", "cuda"}
    repeats : int
        Each call runs once to warm up and then this often.
    seed : int
    peers : bool
        Whether NetworkX is measured too.

    Returns
    -------
    list of dict
        For each setting and case `sampler`, `bias`, `method`, `fanouts`, `edges` (sampled), `ms` (median of the calls),
        `mseps` (millions of sampled edges per second), `device`, `scale`, `instances`; or `skipped`.

    Raises
    ------
    InputError
        For numbers that are not above 0.
    """
    if min(scale, instances, repeats) < 1:
        raise InputError(f"scale={scale}, instances={instances} and repeats={repeats} must be 1 or more")
    from graphdask.construct import from_edges
    from graphdask.generate import rmat

    src, dst, _ = rmat(scale, edge_factor=16, seed=seed).partition(1, device="cpu").edges("cpu")
    random_numbers = np.random.default_rng(seed)
    weights = random_numbers.integers(1, 65, len(src)).astype(np.int32)
    graph = from_edges(src, dst, weights, num_vertices=1 << scale, directed=False).partition(1, device=device)
    seeds = random_numbers.integers(0, 1 << scale, instances)
    common = {"device": device, "scale": scale, "instances": instances}
    rows = []
    for sizes in fanouts:
        for sampler, bias, method in CASES:
            call = _call(graph, seeds, list(sizes), sampler, bias, method)
            row = {"sampler": sampler, "bias": bias, "method": method, "fanouts": list(sizes)}
            rows.append(row | _measured(call, repeats) | common)
        if peers:
            row = {"sampler": "NetworkX", "bias": None, "method": "random.sample", "fanouts": list(sizes)}
            if importlib.util.find_spec("networkx") is None:
                rows.append(row | {"skipped": "networkx is not installed"} | common)
            else:
                rows.append(row | _measured(_networkx(src, dst, seeds[:200], sizes), 1) | common)
    return rows


def _call(
    graph: Any, seeds: np.ndarray, sizes: list[int], sampler: str, bias: str | None, method: str
) -> Callable[[], int]:
    from graphdask.sample.hops import forest_fire, neighbors
    from graphdask.sample.layers import layer

    def call() -> int:
        if sampler == "layer":
            found = layer(graph, seeds, sizes, progress=False)
        elif sampler == "forest_fire":
            found = forest_fire(graph, seeds, 0.7, len(sizes), progress=False)
        elif method == "replace":
            found = neighbors(graph, seeds, sizes, bias=bias, replace=True, progress=False)
        else:
            found = neighbors(graph, seeds, sizes, bias=bias, method=method, progress=False)
        return sum(found._rows)

    return call


def _measured(call: Callable[[], int], repeats: int) -> dict[str, Any]:
    edges, seconds = call(), []
    for _ in range(repeats):
        started = time.perf_counter()
        edges = call()
        seconds.append(time.perf_counter() - started)
    median = statistics.median(seconds)
    return {"edges": edges, "ms": 1e3 * median, "mseps": edges / median / 1e6}


def _networkx(src: np.ndarray, dst: np.ndarray, seeds: np.ndarray, sizes: Sequence[int]) -> Callable[[], int]:
    import networkx

    graph = networkx.Graph()
    graph.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    drawing = random.Random(0)

    def call() -> int:
        edges = 0
        for start in seeds.tolist():
            seen, frontier = {start}, [start]
            for size in sizes:
                reached = []
                for vertex in frontier:
                    neighbours = list(graph[vertex]) if vertex in graph else []
                    for other in drawing.sample(neighbours, min(size, len(neighbours))):
                        edges += 1
                        if other not in seen:
                            seen.add(other)
                            reached.append(other)
                frontier = reached
        return edges

    return call
