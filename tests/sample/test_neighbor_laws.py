"""Traversal samplers draw from the law that they name: against enumeration, and integrals over exponential clocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from set_laws import (
    IN_ORDER,
    METHODS,
    check_inclusion,
    check_instances,
    check_one_pass,
    check_row_of_40,
    check_vertices,
    drawn,
    fits,
    included,
)
from specs import LEAST, agree, orders

import graphdask as gd


@pytest.mark.parametrize("method", METHODS)
def test_orders_by_weight_where_rows_are_not_short(method):
    check_row_of_40(IN_ORDER[method])


@pytest.mark.parametrize(("degree", "k"), [(33, 10), (34, 33), (40, 36), (60, 5)])
@pytest.mark.parametrize("method", METHODS)
def test_neighbours_are_included_as_exponential_clocks_ring(degree, k, method):
    weights = np.arange(degree) % 7 + 1
    weights[0], weights[-1] = 20, 3
    rows = drawn(degree, k, 10_000, weights, seed=2, method=method)
    assert (np.diff(np.sort(rows, axis=1), axis=1) > 0).all()
    check_inclusion(rows, included(weights, k), degree)


@pytest.mark.parametrize("degree", [1, 2, 31, 32, 33, 1023, 1024, 1025, 40_000])
def test_first_draw_and_draws_with_replacement_follow_the_weights(degree):
    weights = np.arange(degree) % 5 + 1
    trials = 20_000 if degree < 40_000 else 400_000
    for rows in (drawn(degree, 1, trials, weights), drawn(degree, 1, trials, weights, replace=True)):
        counts = np.bincount(rows.reshape(-1), minlength=degree)
        for place in (0, degree - 1):
            chance = weights[place] / weights.sum()
            assert abs(counts[place] - trials * chance) <= 4.5 * np.sqrt(trials * chance * (1 - chance))
        assert fits(counts, trials * weights / weights.sum())


def test_with_replacement_draws_are_independent():
    for weights in (None, np.array([1, 2, 3])):
        rows = drawn(3, 2, 60_000, weights, replace=True)
        share = np.full(3, 1 / 3) if weights is None else weights / weights.sum()
        counts = np.zeros((3, 3))
        np.add.at(counts, (rows[:, 0], rows[:, 1]), 1)
        assert fits(counts.reshape(-1), 60_000 * np.outer(share, share).reshape(-1))


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"method": "bipartite"}])
def test_instances_are_independent(options):
    check_instances(drawn, **options)


def test_vertices_of_an_instance_and_seeds_are_independent():
    check_vertices()


@pytest.mark.parametrize("p", [0.0, 0.2, 0.7, 0.99])
def test_a_fire_burns_a_geometric_number_of_edges(p):
    degree, trials = 60, 40_000
    graph = gd.from_edges(np.zeros(degree, np.int64), np.arange(1, degree + 1), directed=True)
    fire = gd.sample.forest_fire(graph.partition(1, device="cpu"), np.zeros(trials, np.int64), p, depth=1, seed=3)
    counts = np.bincount(np.diff(fire.edge_offsets), minlength=degree + 1)
    law = np.append((1 - p) * p ** np.arange(degree), p**degree)
    assert fits(counts, trials * law)
    for burnt in (1, 3):
        mine = np.flatnonzero(np.diff(fire.edge_offsets) == burnt)
        if p and len(mine):
            rows = fire.dst[fire.edge_offsets[mine][:, None] + np.arange(burnt)] - 1
            check_inclusion(rows, np.full(degree, burnt / degree), degree)


def test_the_mean_of_a_fire():
    n, p = 2000, 0.6
    src = np.repeat(np.arange(n), 50)
    graph = gd.from_edges(src, (src + np.tile(np.arange(1, 51), n)) % n, directed=True).partition(1, device="cpu")
    fire = gd.sample.forest_fire(graph, np.arange(n), p, depth=1)
    mean, spread = p / (1 - p), np.sqrt(p) / (1 - p)
    assert abs(len(fire.src) / n - mean) < 4 * spread / np.sqrt(n)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_layer_takes_all_sets_of_edges_alike(method):
    """Two seeds of 4 and 2 edges, and one of none."""
    graph = gd.from_edges([0, 0, 0, 0, 1, 1], [3, 4, 5, 6, 7, 8], num_vertices=9, directed=True).partition(
        1, device="cpu"
    )
    trials = 100_000
    for k in (1, 2, 3):
        found = gd.sample.layer(graph, [[0, 1, 2]] * trials, [k], seed=k, method=method)
        rows = np.sort(found.dst.reshape(trials, k) - 3, axis=1)
        sets, counts = np.unique((1 << rows).sum(axis=1), return_counts=True)
        assert len(sets) == {1: 6, 2: 15, 3: 20}[k]
        assert fits(counts, np.full(len(sets), trials / len(sets)))


@pytest.mark.parametrize("weights", [[5, 1, 0, 2, 3, 1], [0.5, 1e-3, 0.0, 2.5, 0.25, 0.125]])
def test_a_layer_is_drawn_in_proportion_among_what_is_left(weights):
    """Two seeds of 4 and 2 edges; one of the edges has no weight."""
    graph = gd.from_edges([0, 0, 0, 0, 1, 1], [3, 4, 5, 6, 7, 8], weights, num_vertices=9, directed=True).partition(
        1, device="cpu"
    )
    for k in (1, 2, 3):
        found = gd.sample.layer(graph, [[0, 1]] * 20_000, [k], bias="weight", seed=k)
        law = {}
        for order, chance in orders(np.array(weights), k).items():
            law[tuple(sorted(order))] = law.get(tuple(sorted(order)), 0.0) + chance
        agree(map(tuple, (found.dst.reshape(-1, k) - 3).tolist()), law)
    found = gd.sample.layer(graph, [[0, 1]], [6], bias="weight").verify()
    assert found.dst.tolist() == [3, 4, 6, 7, 8]


def test_hops_of_a_layer_are_independent():
    """A ring of vertices with the next 5 as neighbours: what is taken at a hop does not tell what is at the next."""
    n, trials = 64, 60_000
    src = np.repeat(np.arange(n), 5)
    graph = gd.from_edges(src, (src + np.tile(np.arange(1, 6), n)) % n, directed=True).partition(1, device="cpu")
    found = gd.sample.layer(graph, np.zeros(trials, np.int64), [1, 1])
    step = (found.dst - found.src).reshape(trials, 2) % n - 1
    table = np.zeros((5, 5))
    np.add.at(table, (step[:, 0], step[:, 1]), 1)
    assert chi2_contingency(table)[1] > LEAST
    assert fits(table.reshape(-1), np.full(25, trials / 25))


@pytest.mark.slow
def test_random_edges_and_vertices_are_all_alike():
    check_one_pass(3000)
