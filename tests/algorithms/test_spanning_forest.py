"""Minimum spanning forests are those of a sequential program, edge by edge; wrong ones are found."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS
from reference import kruskal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

import graphdask as gd
from graphdask.algorithms.tuning import FOREST


def weights_of(kind, count, rng):
    return {"ties": rng.integers(-2, 3, count), "floats": rng.standard_normal(count), "none": None}[kind]


@pytest.mark.parametrize("parts", [1, 3])
def test_edges_are_those_of_kruskals_algorithm(parts, rng):
    for name in ("scale-free", "duplicates both ways", "only self-loops", "sparse random, undirected", "short path"):
        n, src, dst, _ = GRAPHS[name]()
        for kind in ("ties", "floats", "none"):
            weights = weights_of(kind, len(src), rng)
            G = gd.from_edges(src, dst, weights, num_vertices=n, directed=False).partition(
                parts, "random", device="cpu"
            )
            values = np.ones(len(src), np.int64) if weights is None else weights
            rows = kruskal(n, src, dst, values)
            found = gd.minimum_spanning_forest(G).verify()
            assert found.row.tolist() == rows, (name, kind)
            assert found.weight.tolist() == values[rows].tolist()
            assert found.source.tolist() == np.minimum(src, dst)[rows].tolist()
            assert found.destination.tolist() == np.maximum(src, dst)[rows].tolist()
            assert found.label.tolist() == gd.connected_components(G).label.tolist()
            assert found.num_trees == n - len(rows)


def test_the_weight_is_scipys_if_light_edges_come_first(rng, tuned):
    n = 200
    src, dst = np.triu_indices(n, 1)
    weights = rng.random(len(src))
    expected = minimum_spanning_tree(coo_array((weights, (src, dst)), (n, n)).tocsr())
    for parts, light in ((1, 1), (1, 20), (2, 1)):
        tuned(FOREST, light=light)
        G = gd.from_edges(src, dst, weights, num_vertices=n, directed=False).partition(parts, device="cpu")
        found = gd.minimum_spanning_forest(G).verify()
        assert found.total_weight == pytest.approx(expected.sum(), rel=1e-12)
        assert sorted(found.weight.tolist()) == sorted(expected.data.tolist())


def test_names_and_rows_are_the_callers():
    G = gd.from_edges(["b", "a", "c", "b"], ["a", "c", "b", "b"], [2, 2, 2, 0], directed=False)
    found = gd.minimum_spanning_forest(G)
    assert (found.source.tolist(), found.destination.tolist()) == (["a", "a"], ["b", "c"])
    assert (found.row.tolist(), found.total_weight, found.label.tolist()) == ([0, 1], 4, ["a", "a", "a"])


SRC, DST, WEIGHTS = [10, 20, 30, 40, 10, 50], [20, 30, 40, 10, 30, 60], [1, 2, 3, 4, 5, 1]
"""A cycle with a chord, whose forest has the rows 0, 1, 2, and an edge apart, row 5."""


def change(result, row, /, **values):
    """Write values for an edge of the result where it is kept."""
    ids = result.graph.vertex_ids.tolist()
    for part in result.parts.values:
        for place in np.flatnonzero(part.columns["row"] == row):
            for name, value in values.items():
                part.columns[name][place] = ids.index(value) if name in ("source", "destination") else value


WRONG = {
    "a heavier edge": ({"source": 10, "destination": 40, "weight": 4, "row": 3}, "can replace a heavier one"),
    "an edge that there is not": ({"source": 20, "destination": 40}, "no edge from 20 to 40"),
    "another weight": ({"weight": 2}, "no edge from 30 to 40 of this row and weight"),
    "another row": ({"row": 4}, "no edge from 30 to 40 of this row and weight"),
    "an edge twice": ({"source": 20, "destination": 30, "weight": 2, "row": 1}, "in the result twice"),
}


@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_edges_are_found(parts):
    G = gd.from_edges(SRC, DST, WEIGHTS, directed=False).partition(parts, device="cpu")
    for values, message in WRONG.values():
        result = gd.minimum_spanning_forest(G).verify()
        assert result.row.tolist() == [0, 1, 2, 5]
        change(result, 2, **values)
        with pytest.raises(gd.VerificationError, match=message):
            result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_trees_and_cycles_are_found(parts):
    G = gd.from_edges(SRC, DST, WEIGHTS, directed=False).partition(parts, device="cpu")
    result = gd.minimum_spanning_forest(G)
    rank, place = result.built.vertex_map.locate(4)
    result.parts.values[rank].columns["label"][place] = 0
    with pytest.raises(gd.VerificationError, match="vertex 50 has another label than its component"):
        result.verify()
    result = gd.minimum_spanning_forest(G)
    change(result, 5, source=10, destination=40, weight=4, row=3)  # a cycle, and an edge that is missing
    with pytest.raises(gd.VerificationError, match="closes a cycle"):
        result.verify()
    result = gd.minimum_spanning_forest(G)
    for part in result.parts.values:
        kept = part.columns["row"] != 5
        part.columns.update({name: part.columns[name][kept] for name in ("source", "destination", "weight", "row")})
    with pytest.raises(gd.VerificationError, match="the edges and components are 5 in all, not 6"):
        result.verify()
