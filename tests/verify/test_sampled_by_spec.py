"""Edges sampled by a spec: the true ones pass, and every kind of error is found."""

from __future__ import annotations

import numpy as np
import pytest
from specs import by_degree, by_weight, metropolis, specs

import graphdask as gd
from graphdask.errors import VerificationError
from graphdask.sample.spec import Spec

N = 40


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(11)
    src, dst = rng.integers(0, N - 1, 260), rng.integers(0, N - 1, 260)
    return gd.from_edges(src, dst, rng.integers(1, 4, 260), num_vertices=N).partition(2, device="cpu")


def sampled(graph, spec):
    return gd.sample.run(graph, spec, [[0, 1], [2], [3, 4, 5], [6]])


def first_rank(result):
    return result.parts.values[0].columns


@pytest.mark.parametrize("name", specs(1))
def test_true_ones_pass(graph, name):
    sampled(graph, specs(4)[name]).verify()


def swapped(columns):
    for column in columns.values():
        column[[0, -1]] = column[[-1, 0]]


def put(column, place, value):
    def plant(columns):
        columns[column][place] = value(columns) if callable(value) else value

    return plant


def missing_neighbour(columns):
    return N - 1


def doubled(columns):
    for column in columns.values():
        column[1] = column[0]


WALK = Spec(edge_bias=by_weight, depth=3, replace=True)
TREE = Spec(neighbor_size=2, depth=2)
LAYER = Spec(neighbor_size=3, depth=2, per="layer")
POOL = Spec(vertex_bias=by_degree, frontier_size=1, depth=3, replace=True)
MOVED = Spec(update=metropolis, depth=3, replace=True)


@pytest.mark.parametrize(
    ("spec", "plant", "message"),
    [
        (TREE, swapped, "out of order, or of no vertex or hop"),
        (TREE, put("hop", -1, 2), "out of order, or of no vertex or hop"),
        (TREE, put("dst", 0, N), "out of order, or of no vertex or hop"),
        (TREE, put("instance", -1, 3), "out of order, or of no vertex or hop"),
        (WALK, put("dst", -1, missing_neighbour), "is none of the graph"),
        (MOVED, put("dst", 0, missing_neighbour), "is none of the graph"),
        (Spec(neighbor_size=2, depth=1), doubled, "is expanded twice, or gives too many edges or one too often"),
    ],
)
def test_planted_errors_are_found(graph, spec, plant, message):
    result = sampled(graph, spec)
    plant(first_rank(result))
    with pytest.raises(VerificationError, match=message):
        result.verify()


def replaced(result, rows):
    """The first rank's edges, as rows of (src, dst, hop, instance)."""
    columns = first_rank(result)
    for k, name in enumerate(("src", "dst", "hop", "instance")):
        columns[name] = np.array([row[k] for row in rows], columns[name].dtype)


@pytest.mark.parametrize(
    ("spec", "rows", "message"),
    [
        (WALK, [(7, 8, 0, 0)], "leaves no vertex of the pool"),
        (MOVED, [(7, 8, 0, 0)], "leaves no vertex of the pool"),
        (WALK, [(0, 1, 0, 0), (2, 3, 1, 0)], "leaves no vertex of the pool"),
        (WALK, [(1, 2, 0, 1)], "leaves no vertex of the pool"),
        (WALK, [(0, 1, 1, 0), (1, 2, 2, 0)], "too many edges in a step"),
        (WALK, [(0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0)], "too many edges in a step"),
        (POOL, [(0, 1, 0, 0), (1, 2, 0, 0)], "too many edges in a step"),
        (LAYER, [(0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), (1, 2, 0, 0)], "too many edges in a step"),
        (TREE, [(0, 1, 0, 0), (1, 2, 0, 0), (1, 2, 1, 0)], "is expanded twice, or gives too many edges"),
        (TREE, [(0, 1, 0, 0), (0, 1, 0, 0)], "is expanded twice, or gives too many edges or one too often"),
        (
            Spec(neighbor_size=2, depth=1, replace=True),
            [(0, 1, 0, 0)] * 3,
            "is expanded twice, or gives too many edges",
        ),
    ],
)
def test_edges_that_cannot_be_are_found(spec, rows, message):
    path = gd.from_edges(np.arange(9), np.arange(1, 10), np.ones(9)).partition(1, device="cpu")
    result = sampled(path, spec).verify()
    replaced(result, rows)
    with pytest.raises(VerificationError, match=message):
        result.verify()
