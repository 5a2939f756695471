"""Personalised PageRank by walks: against NetworkX, the same rows everywhere, proofs, bad input."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from scipy.stats import binom
from walk_laws import LEAST_P, p_of_counts

import graphdask as gd
from graphdask.errors import InputError, OverBudget, VerificationError, VertexNotFound
from graphdask.sample.tuning import SAMPLE

NAMES = ["one vertex with a self-loop", "duplicates both ways", "star outward", "short path", "no edges", "scale-free"]
COLUMNS = ("source", "vertex", "estimate", "instance")
draw = gd.sample.personalized_pagerank


def exact(n, src, dst, directed, source, restart):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    ranks = nx.pagerank(graph, 1 - restart, {source: 1}, tol=1e-13, max_iter=5000)
    return np.array([ranks[v] for v in range(n)])


@pytest.mark.parametrize(("directed", "restart"), [(True, 0.15), (False, 0.15), (True, 0.6), (False, 0.02)])
def test_estimates_are_within_the_binomial_bounds_of_the_exact_ranks(directed, restart):
    n, walks = 9, 40_000
    rng = np.random.default_rng(6)
    src, dst = rng.integers(0, n - 2, 18), rng.integers(0, n - 1, 18)
    src, dst = src[src != dst], dst[src != dst]  # a vertex without out-edges, one without any
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    found = draw(graph, [0, 5, n - 2, n - 1], walks, restart=restart, seed=3).verify()
    for i, source in enumerate([0, 5, n - 2, n - 1]):
        ranks, mine = exact(n, src, dst, directed, source, restart), found.instance == i
        counts = np.zeros(n)
        counts[found.vertex[mine]] = found.estimate[mine] * walks
        low, high = binom.interval(1 - 1e-6, walks, ranks)
        assert ((low <= counts) & (counts <= high)).all()
        assert (counts[ranks < 1e-12] == 0).all()
        assert p_of_counts(counts, np.where(ranks < 1e-12, 0, ranks)) > LEAST_P
        assert (found.source[mine] == source).all()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_same_wherever_they_are_drawn(name, device, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    sources = np.random.default_rng(1).integers(0, n, 5)
    for top in (None, 2):
        expected = draw(graph.partition(1, device="cpu"), sources, 30, top=top)
        tuned(SAMPLE, pagerank_steps=3)
        for parts, placement in ((1, "replicated"), (3, "replicated"), (3, "partitioned")):
            divided = graph.partition(parts, "random", "1-hop", device=device)
            found = draw(divided, sources, 30, top=top, placement=placement).verify()
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
                assert getattr(found, column).dtype == getattr(expected, column).dtype


def test_the_top_rows_are_those_of_the_largest_estimates():
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    every, few = draw(graph, [4, 4, 9], 500), draw(graph, [4, 4, 9], 500, top=3).verify()
    np.testing.assert_allclose(np.bincount(every.instance, every.estimate), 1)
    for i in range(3):
        rows = [(-e, v) for e, v, j in zip(every.estimate, every.vertex, every.instance, strict=True) if j == i]
        mine = few.instance == i
        assert list(zip(-few.estimate[mine], few.vertex[mine], strict=True)) == sorted(rows)[:3]
    assert not np.array_equal(every.estimate[every.instance == 0], every.estimate[every.instance == 1])


def test_walks_that_end_at_once_or_nowhere_else():
    graph = gd.from_edges(["a", "b"], ["b", "a"], vertices=["a", "b", "c"])
    found = draw(graph, ["a", "c"], 20, restart=1.0).verify()
    assert found.vertex.tolist() == ["a", "c"]
    assert draw(graph, "c", 20, restart=0.01).verify().estimate.tolist() == [1.0]
    assert len(draw(graph, [], 20).verify().vertex) == 0


def kept_rows(result):
    return max((kept.columns for kept in result.parts.values), key=lambda columns: len(columns["vertex"]))


def change(column, place, by):
    def plant(columns):
        columns[column] = columns[column].copy()
        columns[column][place] += by

    return plant


def drop(columns):
    for name in columns:
        columns[name] = columns[name][:-1]


def swap(columns):
    for name in columns:
        columns[name] = np.append(columns[name][:-2], columns[name][:-3:-1])


def twice(columns):
    columns["vertex"][-1] = columns["vertex"][-2]


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
@pytest.mark.parametrize("top", [None, 3])
def test_planted_errors_are_found(top, placement):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n + 1).partition(2, "random", device="cpu")
    plants = [
        change("vertex", -1, n), change("source", 0, 1), change("estimate", 0, 0.001), change("estimate", 0, 1),
        change("instance", -1, 50), swap, twice, drop,
    ]  # fmt: skip
    for plant in plants:
        found = draw(graph, [0, 1], 200, top=top, placement=placement).verify()
        plant(kept_rows(found))
        with pytest.raises(VerificationError):
            found.verify()
    found = draw(graph, [0, 1], 200, placement=placement)
    kept_rows(found)["vertex"][-1] = n
    with pytest.raises(VerificationError, match=f"ends at {n}, to which no edge leads"):
        found.verify()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"sources": 9}, VertexNotFound, "source 9"),
        ({"sources": [[0]]}, InputError, "sources must be one vertex"),
        ({"walks": 0}, InputError, "walks=0"),
        ({"walks": 1.5}, InputError, "walks=1.5"),
        ({"restart": 0}, InputError, "restart=0.0 is below 1e-06"),
        ({"restart": 1.5}, InputError, "restart=1.5"),
        ({"top": 0}, InputError, "top=0"),
        ({"seed": "x"}, InputError, "seed='x'"),
        ({"placement": "nowhere"}, InputError, "placement='nowhere'"),
        ({"walks": 2**50}, OverBudget, "personalised PageRank needs about"),
    ],
)
def test_bad_input(wrong, error, message):
    graph = gd.from_edges([0, 1], [1, 0])
    with pytest.raises(error, match=message):
        draw(graph, **{"sources": 0, "walks": 3, **wrong})
