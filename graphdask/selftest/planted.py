"""Verifiers: a true result passes `verify()`, and one in which an error is planted does not.

An error is planted where there is one right value: any other one, or two that make up for each other, is wrong. Floats
are changed by far more than a tolerance. Of a parent, which may have several right values, it is known by the depth.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.errors import VerificationError
from graphdask.interface.registry import algorithms
from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices
from graphdask.selftest.public import gd

COLUMNS: dict[str, tuple[str, ...]] = {
    "articulation_points": ("articulation",),
    "betweenness": ("score",),
    "bfs": ("depth", "parent"),
    "biconnected_components": ("edge_label",),
    "bridges": ("label", "source", "destination", "row"),
    "closeness_centrality": ("score", "reached"),
    "connected_components": ("label",),
    "core_number": ("core",),
    "edge_betweenness": ("score", "vertex_score", "source", "destination", "row"),
    "eigenvector_centrality": ("score",),
    "greedy_coloring": ("color",),
    "harmonic_centrality": ("score", "reached"),
    "hits": ("hub", "authority"),
    "katz_centrality": ("score",),
    "label_propagation": ("label",),
    "local_clustering_coefficient": ("coefficient", "links"),
    "maximal_independent_set": ("member",),
    "minimum_spanning_forest": ("source", "destination", "weight", "row", "label"),
    "pagerank": ("rank",),
    "sssp": ("distance", "parent"),
    "strongly_connected_components": ("label",),
    "triangles": ("count",),
}
"""Columns of results that have one right value, or, of parents, a known set of them."""
MOST_VERTICES, MOST_EDGES = 30, 90
DIFFERENCE = 0.02
"""By which a float is changed at least."""
BY = ("range", "random", "biased-random")


class Planted:
    """The target `verifiers`."""

    def __init__(self, folder: Path):
        self.algorithms = {name: each for name, each in algorithms().items() if name in COLUMNS}

    def run(self, choices: Choices) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._run(choices)

    def _run(self, choices: Choices) -> str:
        name = choices.among(tuple(self.algorithms))
        algorithm = self.algorithms[name]
        graph = _graph(choices, algorithm)
        result = getattr(gd, name)(graph, **algorithm.example(graph))
        try:
            result.verify()
        except VerificationError as error:
            raise Wrong(f"{name} refused: a true result does not pass: {error}") from error
        column = choices.among(COLUMNS[name])
        said = _plant(result, name, column, choices)
        if not said:
            return f"{name}, nothing to plant"
        try:
            result.verify()
        except VerificationError:
            return f"{name}.{column}"
        raise Wrong(f"{name}.{column} missed: verify() passes {said}")


def _graph(choices: Choices, algorithm: Any) -> Any:
    n, m = 2 + choices.below(MOST_VERTICES), choices.below(MOST_EDGES)
    rng = np.random.default_rng(choices.below(2**20))
    src, dst = rng.integers(0, n, (2, m))
    weights = rng.integers(1, 4, m).astype(np.float64) if algorithm.weights and choices.one_in(2) else None
    directed = not algorithm.undirected and not choices.one_in(2)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    by = choices.among(BY)
    return graph.partition(choices.among((1, 2, 3)), by, device="cpu", **({} if by == "range" else {"seed": 1}))


def _plant(result: Any, name: str, column: str, choices: Choices) -> str:
    """Write something wrong into a column; returns what, or nothing where all would be as right."""
    ranks = result.parts.values
    places = [(rank, place) for rank, each in enumerate(ranks) for place in range(len(each.columns[column]))]
    if not places:
        return ""
    arrays = [np.array(each.columns[column]) for each in ranks]
    one, other = choices.among(places), choices.among(places)
    old, second = (arrays[rank][place] for rank, place in (one, other))
    n, way = result.graph.num_vertices, choices.below(8)
    if old.dtype.kind == "f":
        new = _float(old, way, second)
    elif old.dtype.kind == "b":
        new = not old
    else:
        new = [old + 1, old - 1, n, -1, 0, choices.below(n), second, np.iinfo(old.dtype).max][way]
    if not _differs(new, old) or (column == "parent" and _right_parent(result, one, int(new), name)):
        return ""
    arrays[one[0]][one[1]] = new
    if way == 6 and one != other:  # exchanged
        arrays[other[0]][other[1]] = old
    elif way in (0, 1) and choices.one_in(2) and one != other and old.dtype.kind != "b" and column != "parent":
        arrays[other[0]][other[1]] = second - (new - old)  # the sum is as it was
    for each, array in zip(ranks, arrays, strict=True):
        each.columns[column] = array
    return f"{column} {new} in the place of {old}, way {way}"


def _float(old: Any, way: int, second: Any) -> float:
    values = (old + 0.5, old - 0.5, 2 * old, np.nan, 0.0, -old, second, np.inf)
    return float(values[way])


def _differs(new: Any, old: Any) -> bool:
    with np.errstate(invalid="ignore"):
        close = isinstance(old, np.floating) and abs(new - old) < DIFFERENCE
    return bool(new != old) and not close


def _right_parent(result: Any, where: tuple[int, int], parent: int, name: str) -> bool:
    """Whether another vertex may be the parent: one search is as good as another."""
    values = np.asarray(result.depth if name == "bfs" else result.distance)
    vertex = next(v for v in range(len(values)) if tuple(result.built.vertex_map.locate(v)) == where)
    if not 0 <= parent < len(values) or parent == vertex or np.asarray(result.parent)[vertex] in (-1, vertex):
        return False
    src, dst, weights = result.graph.edges()
    lengths = np.ones(len(src)) if name == "bfs" or weights is None else weights
    forward = ((src == parent) & (dst == vertex)) | ((dst == parent) & (src == vertex) & (not result.graph.directed))
    return bool((values[parent] + lengths[forward] == values[vertex]).any())
