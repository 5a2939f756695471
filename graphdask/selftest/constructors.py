"""Constructors: graphs from arrays of every type and length, odd arguments in the place of right ones.

They give a graph or an error of graphdask. A graph has the edges that were given, where these are whole numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices
from graphdask.selftest.odd_values import INTEGERS, any_value, array
from graphdask.selftest.public import gd

MOST_EDGES = 60


class Constructors:
    """The target `constructors`."""

    def __init__(self, folder: Path):
        self.graph = gd.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
        self.calls = _calls(self.graph)

    def run(self, choices: Choices) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if choices.one_in(3):
                return self._odd(choices)
            return _compared(choices)

    def _odd(self, choices: Choices) -> str:
        """A call with one argument, perhaps two, that are odd."""
        function, given = choices.among(self.calls)
        given = dict(given)
        names = list(given)
        for _ in range(choices.among((1, 1, 2))):
            name = choices.among(names)
            given[name] = array(choices) if choices.one_in(2) else any_value(choices)
        made = function(**given)
        if isinstance(made, gd.Graph) and made.num_vertices < 1000:
            made.edges()
        return function.__name__


def _calls(graph: Any) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    how = {"self_loops": "keep", "multi_edges": "keep"}
    ends = {"src": [0, 1, 2], "dst": [1, 2, 0]}
    frame = {"src": np.array([0, 1]), "dst": np.array([1, 2]), "w": np.array([1.0, 2.0])}
    return [
        (gd.from_edges, ends | {"weights": [1.0, 2.0, 3.0], "num_vertices": 3, "directed": True} | how),
        (gd.from_edges, ends | {"vertices": [0, 1, 2]}),
        (gd.from_edges, {"src": ["a", "b"], "dst": ["b", "c"], "vertices": ["a", "b", "c"]}),
        (gd.from_scipy, {"A": sp.csr_matrix(np.eye(3)), "directed": True} | how),
        (gd.from_frame, {"frame": frame, "src": "src", "dst": "dst", "weight": "w"}),
        (gd.DynamicGraph, {"G": graph}),
        (_updated, {"G": graph, "insert": ([0, 1], [2, 2]), "delete": ([0], [1])}),
        (graph.partition, {"parts": 2, "by": "random", "ghosts": "all", "device": "cpu", "id_width": 32, "seed": 1}),
        (graph.subgraph, {"vertices": [0, 1]}),
        (graph.neighbors, {"vertex": 0}),
        (graph.has_edge, {"u": 0, "v": 1}),
        (gd.generate.preferential_attachment, {"n": 20, "degree": 2, "p": 0.5, "seed": 1}),
        (gd.generate.erdos_renyi, {"n": 20, "m": 30, "seed": 1}),
        (gd.generate.rmat, {"scale": 4, "edge_factor": 2, "seed": 1}),
    ]


def _updated(G: Any, insert: Any, delete: Any) -> None:
    """Change a graph that changes."""
    gd.DynamicGraph(G).update(insert=insert, delete=delete)


def _compared(choices: Choices) -> str:
    """A graph of whole numbers of any type, whose edges are compared with what was given."""
    length = choices.below(MOST_EDGES)
    width = choices.among((4, 60, 2**31, 2**40))
    rng = np.random.default_rng(choices.below(2**20))
    low = -width if choices.one_in(3) else 0
    src, dst = rng.integers(low, width, (2, length))
    kind = choices.among(INTEGERS)
    src, dst = src.astype(kind), dst.astype(choices.among((kind, *INTEGERS)))
    directed = not choices.one_in(2)
    weights = rng.integers(1, 5, length).astype(choices.among(("float64", "float32", "int64", "uint8")))
    graph = gd.from_edges(src, dst, weights if choices.one_in(2) else None, directed=directed)
    parts = choices.among((1, 2, 3, 7))
    by = choices.among(("range", "random", "biased-random"))
    seed = {} if by == "range" else {"seed": 1}
    found = graph.partition(parts, by, device="cpu", **seed).edges()
    _check(graph, src, dst, directed, found)
    if length:
        _check_degrees(graph, src, dst, directed)
    if choices.one_in(4):
        graph.partition(parts, by, choices.among(("all", "1-hop")), device="cpu", **seed).verify()
    return f"from_edges of {kind}"


def _sorted(src: Any, dst: Any, directed: bool) -> list[tuple[int, int]]:
    pairs = zip((int(x) for x in src), (int(x) for x in dst), strict=True)
    return sorted(pairs if directed else (min((a, b), (b, a)) for a, b in pairs))


def _check(graph: Any, src: np.ndarray, dst: np.ndarray, directed: bool, found: Any) -> None:
    expected = _sorted(src, dst, directed)
    if _sorted(found[0], found[1], directed) != expected:
        raise Wrong("other edges: the graph does not have the edges that were given")
    named = {x for pair in expected for x in pair}
    if graph.num_edges != len(expected) or (min(named, default=0) < 0 and graph.num_vertices != len(named)):
        raise Wrong(f"other sizes: {graph.num_vertices} vertices and {graph.num_edges} edges of {len(expected)}")


def _check_degrees(graph: Any, src: np.ndarray, dst: np.ndarray, directed: bool) -> None:
    vertex = int(src[0])
    pairs = _sorted(src, dst, True)
    forward = [b for a, b in pairs if a == vertex]
    back = [] if directed else [a for a, b in pairs if b == vertex and a != b]
    found = sorted(int(x) for x in np.asarray(graph.neighbors(vertex)))
    if sorted(set(found)) != sorted({*forward, *back}):
        raise Wrong(f"other neighbours: of {vertex} {found}, not {sorted([*forward, *back])}")
