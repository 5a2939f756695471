"""A true result passes; one value changed, and verify names that vertex, or an edge at it, by the caller's ids."""

from __future__ import annotations

import re

import numpy as np
import pytest

import graphdask as gd

# 100 -> 110 -> 120 -> 130 -> 140, 100 -> 115 -> 120, 130 -> 110; 150 -> 160 is apart; 170 is alone
SRC = [100, 110, 120, 130, 100, 115, 130, 150]
DST = [110, 120, 130, 140, 115, 120, 110, 160]
VERTICES = [100, 110, 115, 120, 130, 140, 150, 160, 170]
PARTS = (1, 3, 12)


def names(ids):
    """The graph's ids as numbers, as strings, or as they are with a gap."""
    return {
        "gaps": (SRC, DST, VERTICES),
        "strings": ([f"v{x}" for x in SRC], [f"v{x}" for x in DST], [f"v{x}" for x in VERTICES]),
    }[ids]


def graph_of(ids, parts, directed=True, by="random", ghosts="all"):
    src, dst, vertices = names(ids)
    return gd.from_edges(src, dst, vertices=vertices, directed=directed).partition(
        parts, by=by, ghosts=ghosts, device="cpu"
    )


def corrupt(result, vertex, column, value):
    """Write a value where the partitions keep it; a vertex as value goes in as its number."""
    number = VERTICES.index(vertex)
    rank, place = result.built.vertex_map.locate(number)
    if value in VERTICES:
        value = VERTICES.index(value)
    result.parts.values[rank].columns[column][place] = value


def named(error):
    """The vertices that a message names, as they are in VERTICES."""
    return {int(x) for x in re.findall(r"\d{3}", str(error).partition(":")[2])}


CORRUPT_BFS = {
    "depth + 1": (120, "depth", 3, {120}),
    "depth + 1 at a leaf": (140, "depth", 5, {140}),
    "depth - 1": (120, "depth", 1, {120}),
    "depth far too large": (140, "depth", 2**31 - 1, {140}),
    "depth below -1": (140, "depth", -7, {140}),
    "depth 0 beside the source": (110, "depth", 0, {110}),
    "source not at depth 0": (100, "depth", 1, {100}),
    "source with another parent": (100, "parent", 110, {100}),
    "reached without depth": (130, "depth", -1, {130}),
    "reached without parent": (130, "parent", -1, {130}),
    "unreached with depth": (160, "depth", 2, {160}),
    "unreached with parent": (160, "parent", 150, {160}),
    "parent that is no neighbour": (140, "parent", 110, {140, 110}),
    "parent that is a neighbour the wrong way": (110, "parent", 120, {110, 120}),
    "parent at the wrong level": (110, "parent", 130, {110, 130}),
    "parent is itself": (130, "parent", 130, {130}),
    "parent that is no vertex": (130, "parent", 10**6, {130}),
    "parent below -1": (130, "parent", -5, {130}),
    "unreached with a parent below -1": (160, "parent", -5, {160}),
}


@pytest.mark.parametrize("ids", ["gaps", "strings"])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("what", CORRUPT_BFS)
def test_a_wrong_search_is_named(what, parts, ids):
    vertex, column, value, expected = CORRUPT_BFS[what]
    for ghosts in ("all", "1-hop"):
        result = gd.bfs(graph_of(ids, parts, ghosts=ghosts), "v100" if ids == "strings" else 100)
        assert result.verify() is result
        corrupt(result, vertex, column, value)
        with pytest.raises(gd.VerificationError) as raised:
            result.verify()
        assert vertex in named(raised.value), str(raised.value)
        if column == "parent" and value in VERTICES:
            assert expected <= named(raised.value), str(raised.value)


@pytest.mark.parametrize("parts", PARTS)
def test_vertices_reached_by_nothing_are_found(parts):
    # depth and parent of the part that is apart agree with each other, but no edge leads there
    result = gd.bfs(graph_of("gaps", parts), 100)
    for vertex, depth, parent in ((150, 4, 140), (160, 5, 150)):
        corrupt(result, vertex, "depth", depth)
        corrupt(result, vertex, "parent", parent)
    with pytest.raises(gd.VerificationError, match="vertex 150 has no edge from its parent 140"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_a_reached_set_that_is_left_is_found(parts):
    result = gd.bfs(graph_of("gaps", parts), 100)
    corrupt(result, 140, "depth", -1)
    corrupt(result, 140, "parent", -1)
    with pytest.raises(gd.VerificationError, match="the edge from 130 to 140 skips a level or leaves the reached set"):
        result.verify()


CORRUPT_LABELS = {
    "label of another component": (150, 110),
    "label of another component, alone": (170, 160),
    "label not the smallest": (110, 110),
    "label of a later neighbour": (100, 110),
    "label above the vertex": (115, 140),
    "label that is no vertex": (130, 10**6),
    "label below 0": (140, -1),
    "label far below 0": (140, -9),
}


@pytest.mark.parametrize("ids", ["gaps", "strings"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("what", CORRUPT_LABELS)
def test_a_wrong_label_is_named(what, parts, directed, ids):
    vertex, label = CORRUPT_LABELS[what]
    result = gd.connected_components(graph_of(ids, parts, directed))
    assert result.num_components == 3
    assert result.verify() is result
    corrupt(result, vertex, "label", label)
    with pytest.raises(gd.VerificationError) as raised:
        result.verify()
    assert vertex in named(raised.value), str(raised.value)


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("parts", PARTS)
def test_components_merged_under_one_label_are_found(parts, ghosts):
    result = gd.connected_components(graph_of("gaps", parts, ghosts=ghosts))
    for vertex in (150, 160):
        corrupt(result, vertex, "label", 100)
    with pytest.raises(gd.VerificationError, match="vertex 150 has the label 100, which is no vertex of its component"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_a_component_under_a_larger_id_of_its_own_is_found(parts):
    result = gd.connected_components(graph_of("gaps", parts))
    for vertex in (150, 160):
        corrupt(result, vertex, "label", 160)
    with pytest.raises(gd.VerificationError, match="vertex 150 has the label 160"):
        result.verify()


@pytest.mark.parametrize("parts", PARTS)
def test_a_component_cut_in_two_is_found(parts):
    result = gd.connected_components(graph_of("gaps", parts))
    corrupt(result, 160, "label", 160)
    with pytest.raises(gd.VerificationError, match=r"the edge from 1[56]0 to 1[56]0 joins two labels"):
        result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_every_single_wrong_depth_and_label_is_found(parts, rng):
    n = 40
    graph = gd.from_edges(rng.integers(0, n, 60), rng.integers(0, n, 60), num_vertices=n, directed=False)
    graph = graph.partition(parts, by="random", device="cpu")
    search, components = gd.bfs(graph, 0), gd.connected_components(graph)
    for result, column in ((search, "depth"), (search, "parent"), (components, "label")):
        for vertex in range(n):
            rank, place = result.built.vertex_map.locate(vertex)
            kept = result.parts.values[rank].columns[column]
            true = kept[place]
            wrong = next(x for x in rng.integers(-1, n, 100) if x != true)
            if column == "parent" and np.isin([vertex, wrong], [0]).all():
                continue
            kept[place] = wrong
            if column == "parent" and wrong >= 0 and is_tree_edge(graph, search.depth, wrong, vertex):
                result.verify()  # another neighbour one level nearer is as good a parent
            else:
                with pytest.raises(gd.VerificationError):
                    result.verify()
            kept[place] = true
        result.verify()


def is_tree_edge(graph, depth, u, v):
    ends = set(zip(graph.source.src.tolist(), graph.source.dst.tolist(), strict=True))
    return depth[v] == depth[u] + 1 and depth[u] >= 0 and ((u, v) in ends or (v, u) in ends)


def test_verification_failures_exit_with_3():
    assert gd.VerificationError("x").exit_code == 3
