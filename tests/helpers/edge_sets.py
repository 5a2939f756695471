"""Graphs whose edges are known from somewhere else, and edges in a form in which they can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphdask as gd
from graphdask.verify.preferential_attachment import recompute


@dataclass(frozen=True)
class Known:
    """A graph, and what it was made of."""

    graph: gd.Graph
    edges: Counter
    vertices: list
    """In ascending order."""


def counted(src: Any, dst: Any, weights: Any, directed: bool) -> Counter:
    """How often each edge is there; an undirected one from its smaller end."""
    weights = [None] * len(src) if weights is None else np.asarray(weights).tolist()
    triples = zip(np.asarray(src).tolist(), np.asarray(dst).tolist(), weights, strict=True)
    return Counter((u, v, w) if directed or u <= v else (v, u, w) for u, v, w in triples)


def edges_of(graph: gd.Graph) -> Counter:
    return counted(*graph.edges("cpu"), graph.directed)


def listed(src: Any, dst: Any, weights: Any = None, *, vertices: Any = None, directed: bool = True) -> Known:
    graph = gd.from_edges(src, dst, weights, directed=directed, vertices=vertices)
    named = set(src) | set(dst) if vertices is None else set(vertices)
    return Known(graph, counted(src, dst, weights, directed), sorted(named))


def attached(n: int, degree: int, *, merge: bool = False, **options: Any) -> Known:
    """Preferential attachment, its edges from the definition of the generator, in plain Python."""
    graph = gd.generate.preferential_attachment(n, degree, multi_edges="merge" if merge else "keep", **options)
    kept = gd.generate.preferential_attachment(n, degree, **options)
    targets = recompute(kept.source.generator, range(n))
    pairs = Counter((t, v, None) for v, found in enumerate(targets) for t in found)
    if merge:
        pairs = Counter(set(pairs))
    return Known(graph, pairs, list(range(n)))


def _random(directed: bool, weights: str) -> Known:
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 40, (2, 200)) * 7
    values = rng.integers(-5, 5, 200) if weights == "int64" else rng.random(200).astype(weights)
    return listed(src.tolist(), dst.tolist(), values, directed=directed)


GRAPHS: dict[str, Callable[[], Known]] = {
    "no vertex": lambda: listed([], []),
    "one vertex": lambda: listed([], [], vertices=[0]),
    "isolated vertices, sparse ids": lambda: listed([10, 20], [20, 50], vertices=[10, 20, 30, 50, 2**40]),
    "consecutive ids from 5": lambda: listed([5, 6], [6, 8], vertices=range(5, 10), directed=False),
    "self-loops and duplicates": lambda: listed([0, 1, 1, 2, 2], [0, 2, 2, 1, 2], directed=False),
    "names": lambda: listed(["a", "7", "c d"], ["b", "7", "\u00e9"], vertices=["7", "a", "b", "c d", "z", "\u00e9"]),
    "names and weights": lambda: listed(["1", "2"], ["2", "3"], [0.1, 1e-300], directed=False),
    "real weights": lambda: _random(True, "float64"),
    "short weights": lambda: _random(False, "float32"),
    "whole weights": lambda: _random(False, "int64"),
    "preferential attachment": lambda: attached(150, 3, p=0.3, seed=2),
    "preferential attachment, merged": lambda: attached(150, 3, merge=True, p=0.3, seed=2),
}
