"""Independent sets and colours are those of a sequential program; wrong ones are found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from common_checks import hub
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd

WORD = 2**64


def mixed(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def drawn(n, seed):
    begin = mixed((seed + 0x9E3779B97F4A7C15) % WORD)
    return [mixed((v * 0x9E3779B97F4A7C15 + begin) % WORD) for v in range(n)]


def graph_and_orders(name, seed):
    """The edges, NetworkX's graph of them, and the order of its nodes for each strategy."""
    n, src, dst, _ = GRAPHS[name]()
    g = nx.MultiGraph()
    g.add_nodes_from(range(n))
    g.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    by = drawn(n, seed)
    degree = {v: len(g.edges(v)) for v in g}
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    orders = {
        "random": sorted(g, key=lambda v: -by[v]), "largest_first": sorted(g, key=lambda v: (-degree[v], -by[v])),
    }  # fmt: skip
    return n, src, dst, nx.Graph(g), orders


@pytest.mark.parametrize("parts", [1, 3])
def test_answers_are_those_of_a_sequential_program(parts):
    for number, name in enumerate(("scale-free", "duplicates both ways", "only self-loops", "star outward", "complete",
                                   "sparse random, undirected")):  # fmt: skip
        n, src, dst, g, orders = graph_and_orders(name, number)
        G = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, "random", device="cpu")
        for strategy, order in orders.items():
            expected = nx.greedy_color(g, lambda _, __, order=order: order)
            found = gd.greedy_coloring(G, number, strategy)
            assert found.color.tolist() == [expected[v] for v in range(n)], (name, strategy)
            assert found.num_colors <= max(degree for _, degree in g.degree) + 1
        chosen = set()
        for v in orders["random"]:
            if chosen.isdisjoint(g[v]):
                chosen.add(v)
        assert gd.maximal_independent_set(G, number).members.tolist() == sorted(chosen)


def test_another_seed_gives_another_answer():
    n, src, dst, _ = GRAPHS["scale-free"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=False)
    assert (gd.maximal_independent_set(G, 1).member != gd.maximal_independent_set(G, 2**64 - 1).member).any()
    assert (gd.greedy_coloring(G, 1).color != gd.greedy_coloring(G, 2).color).any()


@pytest.mark.parametrize("parts", [1, 3])
def test_rows_of_very_many_later_neighbours_are_deferred_on_a_gpu(parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    n, src, dst, _ = hub()
    G = gd.from_edges(src, dst, num_vertices=n, directed=False)
    on_cpu, on_gpu = (
        gd.greedy_coloring(G.partition(parts, device=device), strategy="largest_first") for device in ("cpu", "cuda")
    )
    assert on_cpu.color.tolist() == on_gpu.verify().color.tolist()


PATH = [30, 10, 20, 40, 50]


def change(result, column, changes):
    """Write values where the partitions keep them."""
    for vertex, value in changes.items():
        rank, place = result.built.vertex_map.locate(result.graph.vertex_ids.tolist().index(vertex))
        result.parts.values[rank].columns[column][place] = value


@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_sets_are_found(parts):
    G = gd.from_edges(PATH[:-1], PATH[1:], directed=False).partition(parts, device="cpu")
    true = gd.maximal_independent_set(G).verify().member
    both = next(v for v, member in zip(G.vertex_ids.tolist(), true, strict=True) if not member)
    outside = next(v for v, member in zip(G.vertex_ids.tolist(), true, strict=True) if member)
    ends = {30: True, 10: False, 20: True, 40: False, 50: True}
    middle = {30: False, 10: True, 20: False, 40: True, 50: False}
    other = ends if [ends[v] for v in sorted(ends)] != true.tolist() else middle
    for changes, message in (
        ({both: True}, "is in the set, and so is one of its neighbours"),
        ({outside: False}, "outside the set"),
        (other, "no earlier neighbour is in it"),
    ):
        result = gd.maximal_independent_set(G)
        change(result, "member", changes)
        with pytest.raises(gd.VerificationError, match=message):
            result.verify()


@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_colors_are_found(parts):
    G = gd.from_edges(PATH[:-1], PATH[1:], directed=False).partition(parts, device="cpu")
    true = dict(zip(G.vertex_ids.tolist(), gd.greedy_coloring(G).verify().color.tolist(), strict=True))
    zero, one = (next(v for v in PATH if true[v] == color) for color in (0, 1))
    for changes, message in (
        ({zero: -1}, f"vertex {zero} has no colour"),
        ({one: 0}, "has the colour of a neighbour"),
        ({zero: 4}, f"vertex {zero} has not the smallest colour"),
    ):
        result = gd.greedy_coloring(G)
        change(result, "color", changes)
        with pytest.raises(gd.VerificationError, match=message):
            result.verify()


def test_bad_arguments_are_named():
    G = gd.from_edges([0], [1], directed=False)
    with pytest.raises(gd.InputError, match="seed=-1 is not a whole number"):
        gd.maximal_independent_set(G, -1)
    with pytest.raises(gd.InputError, match="strategy='degree' is not one of random, largest_first"):
        gd.greedy_coloring(G, strategy="degree")


def test_names_of_vertices_are_kept():
    G = gd.from_edges(np.array(["hub"] * 3), np.array(["a", "b", "c"]), directed=False)
    assert gd.maximal_independent_set(G).members.tolist() in (["a", "b", "c"], ["hub"])
