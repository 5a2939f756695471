"""Eigenvector centrality, Katz centrality and HITS against NetworkX; how their iterations start and end."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from networkx.algorithms.link_analysis.hits_alg import _hits_python

import graphdask as gd

N = 40


def both(directed: bool, weighted: bool) -> tuple[gd.Graph, nx.Graph]:
    """A random graph with a self-loop, here and in NetworkX."""
    G = nx.gnp_random_graph(N, 0.12, seed=3, directed=directed)
    G.add_edge(5, 5)
    src, dst = np.array(G.edges).T
    weights = np.random.default_rng(2).integers(1, 9, len(src)) / 4 if weighted else None
    if weights is not None:
        for u, v, weight in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
            G[u][v]["weight"] = weight
    return gd.from_edges(src, dst, weights, num_vertices=N, directed=directed).partition(2, device="cpu"), G


def in_order(scores):
    return np.array([scores[node] for node in range(N)])


@pytest.mark.parametrize(("directed", "weighted"), [(True, True), (True, False), (False, True)])
def test_answers_and_iterations_are_those_of_networkx(directed, weighted):
    G, H = both(directed, weighted)
    weight = "weight" if weighted else None
    found = gd.eigenvector_centrality(G, 1e-9, 200)
    known = nx.eigenvector_centrality(H, 200, 1e-9 / N, weight=weight)
    np.testing.assert_allclose(found.score, in_order(known), rtol=1e-13)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.eigenvector_centrality(H, found.iterations - 1, 1e-9 / N, weight=weight)
    found = gd.katz_centrality(G, 0.03, 2.0, 1e-9, normalized=False)
    known = nx.katz_centrality(H, 0.03, 2.0, 500, 1e-9, normalized=False, weight=weight)
    np.testing.assert_allclose(found.score, in_order(known), rtol=1e-13)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.katz_centrality(H, 0.03, 2.0, found.iterations - 1, 1e-9, weight=weight)
    hub, authority = _hits_python(H, 500, 1e-13)
    found = gd.hits(G, 1e-13)
    np.testing.assert_allclose(found.hub, in_order(hub), rtol=1e-10)
    np.testing.assert_allclose(found.authority, in_order(authority), rtol=1e-10)


def test_iterations_begin_where_they_are_told_to():
    G, H = both(True, True)
    start = np.arange(1.0, N + 1)
    found = gd.eigenvector_centrality(G, 0, 3, start=start)
    assert (found.iterations, found.converged) == (3, False)
    given = dict(enumerate(start.tolist()))
    known = nx.eigenvector_centrality(H, 3, 1.0, given, "weight")  # such a change is small enough at once
    np.testing.assert_allclose(gd.eigenvector_centrality(G, 0, 1, start=given).score, in_order(known), rtol=1e-14)
    A = nx.to_numpy_array(H, range(N))
    authority = start @ A
    hub = A @ authority
    found = gd.hits(G, 0, 1, start=start)
    np.testing.assert_allclose(found.authority, authority / authority.sum(), rtol=1e-13)
    np.testing.assert_allclose(found.hub, hub / hub.sum(), rtol=1e-13)
    assert found.iterations == 1


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_the_first_multiplication_of_equal_scores_has_the_bits_of_any_other(monkeypatch, device):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    src, dst = np.random.default_rng(8).integers(0, 64, (2, 500)) ** 2 // 64  # with duplicates and self-loops
    for directed in (False, True):
        G = gd.from_edges(src, dst, num_vertices=64, directed=directed)
        for parts in (1, 3):
            H = G.partition(parts, "random", device="cuda" if device == "emulated" else "cpu")
            for call, columns in ((gd.eigenvector_centrality, ["score"]), (gd.hits, ["hub", "authority"])):
                given = call(G.partition(2, device="cpu"), 0, 4, start=np.ones(64))  # 1 / 64, a power of two
                found = call(H, 0, 4)
                for column in columns:
                    np.testing.assert_array_equal(getattr(found, column), getattr(given, column))


def test_iterations_that_end_too_early_are_said():
    G = gd.from_edges([0, 1, 2], [1, 2, 3])
    with pytest.warns(gd.GraphdaskWarning, match=r"eigenvector_centrality stopped after max_iter=7 .* above tol=1e-10"):
        found = gd.eigenvector_centrality(G, max_iter=7)
    assert not found.converged
    assert found.verify().iterations == 7
    cycle = gd.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.warns(gd.GraphdaskWarning, match="katz_centrality stopped after max_iter=9"):
        gd.katz_centrality(cycle, 1.5, max_iter=9)
    with pytest.raises(gd.InputError, match=r"overflows .* alpha=2 is not below 1 divided by the largest eigenvalue"):
        gd.katz_centrality(cycle, 2, max_iter=5000)
    with pytest.raises(gd.InputError, match=r"the absolute value of alpha=-2 is not below 1 divided by .* nearer to 0"):
        gd.katz_centrality(cycle, -2, max_iter=5000)


def test_graphs_that_change_are_ranked_as_they_are():
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3]).partition(2, device="cpu"))
    D.update(insert=([3], [0]), delete=([2], [0]))
    now = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    np.testing.assert_array_equal(gd.katz_centrality(D).score, gd.katz_centrality(now).score)
    np.testing.assert_array_equal(gd.hits(D).hub, gd.hits(now).hub)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("eigenvector_centrality", {"tol": -1}, "tol=-1 is not a finite number of 0 or more"),
        ("hits", {"max_iter": 0}, "max_iter=0 is not a whole number of 1 or more"),
        ("hits", {"weighted": True}, "the edges of this graph have no weights"),
        ("hits", {"start": [0, 0]}, "start sums to 0"),
        ("katz_centrality", {"alpha": np.inf}, "alpha=inf is not a finite number"),
        ("katz_centrality", {"beta": np.inf}, "beta=inf is not a finite number"),
        ("katz_centrality", {"tol": 0, "max_iter": 10**18}, "of which each takes a microsecond"),
    ],
)
def test_what_has_no_meaning_is_refused(name, options, message):
    with pytest.raises(gd.InputError, match=message):
        getattr(gd, name)(gd.from_edges([0], [1]), **options)


@pytest.mark.parametrize("name", ["eigenvector_centrality", "katz_centrality", "hits"])
def test_weights_below_0_are_refused_with_their_edge(name):
    with pytest.raises(gd.InputError, match=f"the weight -1.0 of the edge from 1 to 2 is negative; {name} requires"):
        getattr(gd, name)(gd.from_edges([0, 1], [1, 2], [1.0, -1.0]))
    huge = gd.from_edges([0, 1, 2, 3, 0], [1, 2, 0, 0, 2], [1e308] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(gd.InputError, match="overflows"):
            getattr(gd, name)(huge)
