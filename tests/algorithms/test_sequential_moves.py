"""Moves of one vertex after the other end where nothing is left to gain; groups are connected, and rows add up."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from graphdask.algorithms.sequential_moves import Climb, Rows
from graphdask.comm.single import SingleCommunicator
from graphdask.device.backend import get_backend
from graphdask.engine.loop import Environment
from graphdask.engine.watchdog import Watchdog

SIZE = 60


@pytest.fixture
def rows(rng):
    """Rows of a random weighted graph with self-loops, and isolated vertices at the end."""
    matrix = sp.random_array((SIZE, SIZE), density=0.06, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
    matrix = (matrix + matrix.T).tolil()
    matrix[-3:], matrix[:, -3:] = 0, 0
    matrix = matrix.tocsr().astype(np.int64)
    matrix.eliminate_zeros()
    wide = [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data]
    return Rows(*wide, np.asarray(matrix.sum(axis=1), np.int64), np.arange(SIZE))


def climb_of(rows, resolution=1.0, refined=True):
    env = Environment(get_backend("cpu"), 0, 1, "selective", Watchdog(), comm=SingleCommunicator())
    return Climb(env, resolution, int(rows.weights.sum()), 3, refined)


def matrix_of(rows):
    return sp.csr_array((rows.weights, rows.indices, rows.indptr), shape=(len(rows), len(rows)))


def graph_of(rows):
    """NetworkX's graph of it, whose self-loops count twice at their vertices."""
    graph = nx.from_scipy_sparse_array(matrix_of(rows).astype(float))
    for u, _, data in nx.selfloop_edges(graph, data=True):
        graph[u][u]["weight"] = data["weight"] / 2
    return graph


def modularity(graph, label, resolution):
    return nx.community.modularity(
        graph, [set(np.flatnonzero(label == c)) for c in np.unique(label)], "weight", resolution
    )


@pytest.mark.parametrize("resolution", [0.5, 1.0, 3.0])
def test_where_no_vertex_moves_none_gains_by_a_move(rows, resolution):
    climb, graph = climb_of(rows, resolution), graph_of(rows)
    label, before, number = np.arange(len(rows)), None, 0
    while not np.array_equal(before, label):
        number, before = number + 1, label
        label = climb._moved(rows, label, number)
    assert 1 < number < 20
    best = modularity(graph, label, resolution)
    unused = np.setdiff1d(np.arange(len(rows)), label)[0]
    for u in range(len(rows)):
        for community in {unused, *label[list(graph[u])].tolist()}:
            other = label.copy()
            other[u] = community
            assert modularity(graph, other, resolution) <= best + 1e-12


def test_groups_are_connected_parts_of_communities(rows):
    climb, graph = climb_of(rows), graph_of(rows)
    outer = climb._moved(rows, np.arange(len(rows)), 1)
    groups = climb._refined(rows, outer, 1)
    assert len(np.unique(groups)) < len(rows)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        assert len(np.unique(outer[members])) == 1
        assert nx.is_connected(graph.subgraph(members.tolist()))
    assert modularity(graph, groups, 1.0) >= modularity(graph, np.arange(len(rows)), 1.0)


def test_rows_of_communities_are_sums_of_rows(rows, rng):
    label = rng.integers(0, 7, len(rows))
    climb = climb_of(rows)
    place, size = climb.numbered(label)
    _, first = np.unique(label, return_index=True)
    assert size == len(first)
    np.testing.assert_array_equal(place[np.sort(first)], np.arange(size))
    joined = rows.joined(climb.kernels, place, size)
    which = sp.csr_array((np.ones(len(rows), np.int64), (place, np.arange(len(rows)))))
    np.testing.assert_array_equal(matrix_of(joined).toarray(), (which @ matrix_of(rows) @ which.T).toarray())
    np.testing.assert_array_equal(joined.degree, which @ rows.degree)


@pytest.mark.parametrize("refined", [False, True])
def test_another_pass_is_no_worse_than_the_first(rows, refined):
    climb, graph = climb_of(rows, refined=refined), graph_of(rows)
    first = climb.best(rows, None, 0)
    second = climb.best(rows, first, first.sweeps)
    assert second.quality >= first.quality >= climb.up(rows, np.arange(SIZE), 0, refined).quality
    assert second.quality == pytest.approx(modularity(graph, second.at, 1.0))
    assert second.sweeps > first.sweeps
