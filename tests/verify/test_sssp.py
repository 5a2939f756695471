"""True shortest paths pass; one value changed, and verify names that vertex, or an edge at it, by the caller's ids."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import lightest

import graphdask as gd

# 100 -2-> 110 -3-> 120 -1-> 130 -4-> 140, 100 -5-> 115 -0-> 120, 120 -0-> 125 -0-> 115; 150 -> 160 is apart; 170 alone
EDGES = [
    (100, 110, 2), (110, 120, 3), (120, 130, 1), (130, 140, 4), (100, 115, 5), (115, 120, 0), (120, 125, 0),
    (125, 115, 0), (130, 110, 9), (150, 160, 1),
]  # fmt: skip
VERTICES = [100, 110, 115, 120, 125, 130, 140, 150, 160, 170]
PARTS = (1, 3, 12)


def graph_of(parts, ghosts="all", floats=False):
    src, dst, weights = np.array(EDGES).T
    weights = weights * 0.5 if floats else weights
    return gd.from_edges(src, dst, weights, vertices=VERTICES).partition(
        parts, by="random", ghosts=ghosts, device="cpu"
    )


def corrupt(result, vertex, column, value):
    """Write a value where the partitions keep it; a vertex as parent goes in as its number."""
    rank, place = result.built.vertex_map.locate(VERTICES.index(vertex))
    kept = result.parts.values[rank].columns[column]
    if column == "parent":
        kept[place] = VERTICES.index(value) if value in VERTICES else value
    else:
        kept[place] = value if kept.dtype.kind == "i" else np.inf if value == -1 else value * 0.5


def named(error):
    """The vertices that a message names."""
    return {int(x) for x in re.findall(r"\d{3}", str(error).partition(":")[2])}


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("parts", PARTS)
def test_the_true_result_passes(parts, floats):
    result = gd.sssp(graph_of(parts, floats=floats), 100)
    assert result.verify() is result
    distance = np.array([0, 2, 5, 5, 5, 6, 10, -1, -1, -1])
    expected = np.where(distance < 0, np.inf, distance * 0.5) if floats else distance
    assert result.distance.tolist() == expected.tolist()
    assert result.parent.tolist() == [100, 100, 100, 110, 120, 120, 130, -1, -1, -1]


CORRUPT = {
    "distance + 1": (130, "distance", 7),
    "distance + 1 at a leaf": (140, "distance", 11),
    "distance - 1": (130, "distance", 5),
    "distance far too large": (140, "distance", 2**40),
    "distance negative": (140, "distance", -7),
    "distance 0 beside the source": (110, "distance", 0),
    "source not at distance 0": (100, "distance", 1),
    "source with another parent": (100, "parent", 110),
    "reached without distance": (130, "distance", -1),
    "reached without parent": (130, "parent", -1),
    "unreached with distance": (160, "distance", 2),
    "unreached with parent": (160, "parent", 150),
    "parent that is no neighbour": (140, "parent", 110),
    "parent that is a neighbour the wrong way": (110, "parent", 120),
    "parent over an edge that is not tight": (110, "parent", 130),
    "parent is itself": (130, "parent", 130),
    "parent that is no vertex": (130, "parent", 10**6),
    "parent below -1": (130, "parent", -5),
}


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("what", CORRUPT)
def test_a_wrong_value_is_named(what, parts, floats):
    vertex, column, value = CORRUPT[what]
    for ghosts in ("all", "1-hop"):
        result = gd.sssp(graph_of(parts, ghosts, floats), 100)
        corrupt(result, vertex, column, value)
        with pytest.raises(gd.VerificationError) as raised:
            result.verify()
        assert vertex in named(raised.value), str(raised.value)


@pytest.mark.parametrize("parts", PARTS)
def test_nan_is_named(parts):
    result = gd.sssp(graph_of(parts, floats=True), 100)
    corrupt(result, 130, "distance", np.nan)
    with pytest.raises(gd.VerificationError, match="vertex 130 has a distance that is negative or NaN"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_parents_that_go_in_a_circle_of_weight_zero_are_found(parts):
    # 115 -> 120 -> 125 -> 115 are tight, but lead to no source
    for floats in (False, True):
        result = gd.sssp(graph_of(parts, floats=floats), 100)
        for vertex, parent in ((120, 115), (125, 120)):
            corrupt(result, vertex, "parent", parent)
        result.verify()  # 100 -> 115 -> 120 -> 125 is a tree as well
        corrupt(result, 115, "parent", 125)
        with pytest.raises(gd.VerificationError, match="vertex 115 has no edge from its parent 125 that explains"):
            result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_vertices_reached_by_nothing_are_found(parts):
    result = gd.sssp(graph_of(parts), 100)
    for vertex, distance, parent in ((150, 11, 140), (160, 12, 150)):
        corrupt(result, vertex, "distance", distance)
        corrupt(result, vertex, "parent", parent)
    with pytest.raises(gd.VerificationError, match="vertex 150 has no edge from its parent 140"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_a_reached_set_that_is_left_is_found(parts):
    result = gd.sssp(graph_of(parts), 100)
    corrupt(result, 140, "distance", -1)
    corrupt(result, 140, "parent", -1)
    with pytest.raises(gd.VerificationError, match="the edge from 130 to 140 makes a shorter path, or leaves"):
        result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_every_single_wrong_value_is_found(parts, rng):
    n, m = 40, 90
    src, dst = rng.integers(0, n, (2, m))
    weights = rng.integers(1, 5, m)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=False).partition(parts, by="random", device="cpu")
    result = gd.sssp(graph, 0).verify()
    matrix, distance = lightest(n, src, dst, weights, False).toarray(), result.distance
    for column, vertex in ((column, vertex) for column in ("distance", "parent") for vertex in range(1, n)):
        rank, place = result.built.vertex_map.locate(vertex)
        kept = result.parts.values[rank].columns[column]
        true = kept[place]
        wrong = kept[place] = next(x for x in rng.integers(-1, n, 100) if x != true)
        tight = matrix[wrong, vertex] and distance[wrong] >= 0
        if column == "parent" and wrong >= 0 and tight and distance[wrong] + matrix[wrong, vertex] == distance[vertex]:
            result.verify()  # another neighbour on a shortest path is as good a parent
        else:
            with pytest.raises(gd.VerificationError):
                result.verify()
        kept[place] = true
    result.verify()
