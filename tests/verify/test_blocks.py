"""Proofs of articulation points, bridges and biconnected components find every kind of wrong answer, and name it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.algorithms.blocks import Blocks
from graphdask.algorithms.search_tree import SearchTree

PARTS = (1, 3)
# two triangles joined by a bridge, a parallel edge, a self-loop, an isolated vertex, a cycle at an articulation point
SRC = np.array([0, 1, 2, 2, 3, 4, 5, 6, 6, 6, 4, 9, 10, 11])
DST = np.array([1, 2, 0, 3, 4, 5, 3, 7, 7, 6, 9, 10, 11, 4])
N = 13


def graph(parts, src=SRC, dst=DST, n=N):
    return gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, "random", device="cpu")


def column(result, name):
    """Values of the vertices, in numbers."""
    return np.array([result.parts.values[rank].columns[name][place] for rank, place in places(result)])


def places(result):
    return [result.built.vertex_map.locate(v) for v in range(result.graph.num_vertices)]


def write(result, name, values):
    for (rank, place), value in zip(places(result), values, strict=True):
        result.parts.values[rank].columns[name][place] = value


def refused(result, match=None):
    with pytest.raises(gd.VerificationError, match=match):
        result.verify()


@pytest.fixture(params=PARTS)
def cases(request, rng):
    """Graphs of which every change is tried."""
    drawn = [graph(request.param, *rng.integers(0, 7, (2, edges)), 7) for edges in (7, 11)]
    return [graph(request.param), *drawn]


@pytest.mark.slow
def test_every_other_articulation_point_is_found(cases):
    for G in cases:
        result = gd.articulation_points(G)
        right = column(result, "articulation")
        for vertex in range(G.num_vertices):
            given = right.copy()
            given[vertex] ^= True
            write(result, "articulation", given)
            refused(result, f"vertex {vertex} is in several" if not given[vertex] else f"vertex {vertex} is an art")


def components_without(src, dst, n, bridges):
    kept = np.setdiff1d(np.arange(len(src)), bridges)
    g = nx.empty_graph(n)
    g.add_edges_from(zip(src[kept].tolist(), dst[kept].tolist(), strict=True))
    label = np.empty(n, np.int64)
    for component in nx.connected_components(g):
        label[list(component)] = min(component)
    return label


@pytest.mark.parametrize("parts", PARTS)
def test_bridges_that_are_added_or_left_out_are_found_though_labels_fit(parts):
    right = set(gd.bridges(graph(parts)).row.tolist())
    assert right == {3}
    for row in range(0, len(SRC), 3):
        result = gd.bridges(graph(parts))
        wrong = sorted(right ^ {row})
        rank = next(iter(result.parts.values))
        for each in result.parts.values:
            for name in ("row", "source", "destination"):
                each.columns[name] = each.columns[name][:0]
        columns = {"row": wrong, "source": np.minimum(SRC, DST)[wrong], "destination": np.maximum(SRC, DST)[wrong]}
        for name, values in columns.items():
            rank.columns[name] = np.asarray(values, rank.columns[name].dtype)
        write(result, "label", components_without(SRC, DST, N, wrong))
        ends = sorted((SRC[row], DST[row]))
        message = "is not listed" if row in right else "is no bridge"
        refused(result, f"from {ends[0]} to {ends[1]} {message}")


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("row", 4, "the edge from 2 to 3 is no bridge, or is listed twice, or has another row"),
        ("source", 1, "the edge from 1 to 3 is no bridge"),
        ("destination", 4, "the edge from 2 to 4 is no bridge"),
        ("source", N, "bridge"),
    ],
)
def test_bridges_of_other_rows_or_ends_are_found(parts, name, value, message):
    result = gd.bridges(graph(parts))
    next(part for part in result.parts.values if len(part.columns["row"])).columns[name][0] = value
    refused(result, message)


@pytest.mark.parametrize("parts", PARTS)
def test_a_bridge_that_is_listed_twice_is_found(parts):
    result = gd.bridges(graph(parts))
    rank = next(part for part in result.parts.values if len(part.columns["row"]))
    for name in ("row", "source", "destination"):
        rank.columns[name] = np.repeat(rank.columns[name], 2)
    refused(result, "from 2 to 3 is no bridge, or is listed twice")


@pytest.mark.parametrize(
    ("call", "name"),
    [(gd.bridges, "label"), (gd.biconnected_components, "label"), (gd.biconnected_components, "parent")],
)
def test_every_other_label_or_parent_of_a_vertex_is_found(cases, call, name, rng):
    for G in cases:
        result = call(G)
        right = column(result, name)
        for vertex in range(G.num_vertices):
            wrong = sorted({*right.tolist(), vertex, -1, G.num_vertices} - {right[vertex]})
            given = right.copy()
            given[vertex] = rng.choice(wrong)
            write(result, name, given)
            refused(result)


@pytest.mark.parametrize("parts", PARTS)
def test_every_other_row_or_label_of_an_edge_is_found(parts):
    result = gd.biconnected_components(graph(parts))
    for name in ("row", "edge_label"):
        for rank in range(parts):
            column = result.parts.values[rank].columns[name]
            for place in range(len(column)):
                column[place] += 1
                refused(result, "has row .* or component")
                column[place] -= 1
    result.verify()
    rank = next(part for part in result.parts.values if len(part.columns["row"]))
    for name in ("row", "edge_label"):
        rank.columns[name] = rank.columns[name][1:]
    refused(result, "edges are given where there are")


def relabelled(result, label):
    """Give vertices these labels, and edges those of their lower ends."""
    parent = column(result, "parent")
    row_of = dict(zip(range(len(SRC)), zip(SRC.tolist(), DST.tolist(), strict=True), strict=True))
    write(result, "label", label)
    for part in result.parts.values:
        for place, row in enumerate(part.columns["row"].tolist()):
            u, v = row_of[row]
            part.columns["edge_label"][place] = label[v] if parent[v] == u else label[u]


@pytest.mark.parametrize("parts", PARTS)
def test_components_that_are_merged_or_split_alike_everywhere_are_found(parts):
    G = graph(parts)
    right = column(gd.biconnected_components(G), "label")
    names = sorted(set(right.tolist()) - {-1})
    assert len(names) == 5
    for one in names:
        for other in names:
            if one < other:
                result = gd.biconnected_components(G)
                relabelled(result, np.where(right == other, one, right))
                refused(result)
        inside = np.flatnonzero(right == one)
        for chosen in range(1, 2 ** (len(inside) - 1)):
            some = inside[[chosen >> k & 1 == 1 for k in range(len(inside))]]
            label = right.copy()
            label[some] = some.min()
            rest = np.setdiff1d(inside, some)
            label[rest] = rest.min()
            result = gd.biconnected_components(G)
            relabelled(result, label)
            refused(result)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("call", [gd.articulation_points, gd.bridges, gd.biconnected_components])
def test_what_the_proof_goes_by_is_checked_too(parts, call, monkeypatch):
    G = graph(parts)
    numbers, reach = SearchTree.numbers, SearchTree.reach

    def all_one(tree, env):
        number, size = numbers(tree, env)
        return number * 0 + 1, size

    def other_size(tree, env):
        number, size = numbers(tree, env)
        return number, size + (number == 2)

    def nowhere(tree, part, env, number):
        return number, number

    def everywhere(tree, part, env, number):
        least, greatest = reach(tree, part, env, number)
        return least * 0, greatest

    for name, wrong in (("numbers", all_one), ("numbers", other_size), ("reach", nowhere), ("reach", everywhere)):
        with monkeypatch.context() as patched:
            # A planted error of the code that run and proof share.
            patched.setattr(SearchTree, name, wrong)
            refused(call(G), "numbers of the subtree of vertex")


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("call", [gd.articulation_points, gd.bridges])
def test_other_blocks_of_the_proof_are_found(parts, call, monkeypatch):
    """What the proof takes for blocks comes from the code of the run; if that merges all, the proof says so."""
    result = call(graph(parts))
    made = Blocks.__init__

    def merged(self, part, env, tree):
        made(self, part, env, tree)
        self.label = self.label * 0

    # A planted error of the code that run and proof share.
    monkeypatch.setattr(Blocks, "__init__", merged)
    refused(result, "of the blocks that the proof found")
