"""Small graphs for the tests, by name: (number of vertices, sources, destinations, directed), each edge once."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np

Edges = tuple[int, np.ndarray, np.ndarray, bool]


def _listed(n: int, pairs: list[tuple[int, int]], directed: bool) -> Edges:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return n, array[:, 0], array[:, 1], directed


def _from_networkx(g: nx.Graph) -> Edges:
    return _listed(g.number_of_nodes(), list(g.edges()), g.is_directed())


def _path(n: int, directed: bool) -> Edges:
    return n, np.arange(n - 1), np.arange(1, n), directed


def _random(n: int, m: int, directed: bool, seed: int) -> Edges:
    rng = np.random.default_rng(seed)
    return n, rng.integers(0, n, m), rng.integers(0, n, m), directed


GRAPHS: dict[str, Callable[[], Edges]] = {
    "one vertex": lambda: _listed(1, [], True),
    "one vertex with a self-loop": lambda: _listed(1, [(0, 0)], False),
    "only self-loops": lambda: _listed(5, [(i, i) for i in range(5)], True),
    "only duplicates": lambda: _listed(2, [(0, 1)] * 9, True),
    "duplicates both ways": lambda: _listed(2, [(0, 1), (1, 0)] * 4, False),
    "isolated vertices": lambda: _listed(12, [(3, 7)], False),
    "no edges": lambda: _listed(6, [], False),
    "two triangles": lambda: _listed(6, [(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)], False),
    "star outward": lambda: _listed(60, [(0, i) for i in range(1, 60)], True),
    "star inward": lambda: _listed(60, [(i, 0) for i in range(1, 60)], True),
    "star around the last": lambda: _listed(60, [(59, i) for i in range(59)], False),
    "cycle": lambda: _from_networkx(nx.cycle_graph(31, nx.DiGraph)),
    "short path": lambda: _path(50, directed=False),
    "path backward": lambda: _listed(30, [(i + 1, i) for i in range(29)], True),
    "complete": lambda: _from_networkx(nx.complete_graph(25)),
    "binary tree": lambda: _from_networkx(nx.balanced_tree(2, 7)),
    "bipartite": lambda: _from_networkx(nx.complete_bipartite_graph(3, 40)),
    "sparse random, directed": lambda: _random(300, 360, True, 1),
    "sparse random, undirected": lambda: _random(300, 200, False, 2),
    "dense random, directed": lambda: _random(200, 3000, True, 3),
    "dense random, undirected": lambda: _random(200, 3000, False, 4),
    "scale-free": lambda: _from_networkx(nx.barabasi_albert_graph(400, 3, seed=5)),
}


def two_stars():
    """Two stars, the larger one behind, and an edge between leaves of theirs."""
    src = np.concatenate([np.zeros(199, np.int64), np.full(399, 200), [199]])
    return 600, src, np.concatenate([np.arange(1, 200), np.arange(201, 600), [599]])
