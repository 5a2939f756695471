"""The forest of a rank's edges, by twins and by CUDA kernels, is that of a sequential program, edge by edge."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from reference import kruskal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

import graphdask as gd
from graphdask.algorithms.tuning import FOREST
from graphdask.partition.tuning import PARTITION

WEIGHTS = {
    "none": lambda rng, m: None,
    "equal": lambda rng, m: np.full(m, 7),
    "int32": lambda rng, m: rng.integers(-3, 4, m).astype(np.int32),
    "int64": lambda rng, m: rng.choice([-(2**63), -1, 0, 1, 2**63 - 1], m),
    "float32": lambda rng, m: rng.standard_normal(m).astype(np.float32),
    "float64": lambda rng, m: rng.choice([-np.inf, -1e300, -0.0, 0.0, 5e-324, 1.0, np.inf], m),
}


def pairs(rng, n, m):
    """Random edges with self-loops, parallel edges, isolated vertices, and a vertex of a row that blocks share."""
    src, dst = rng.integers(0, n - 9, (2, m))
    src[: m // 2] = n // 2
    dst[rng.random(m) < 0.05] = n // 3
    return src, dst


def forest_of(n, src, dst, weights, parts, device, monkeypatch, width=32):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
        device = "cuda"
    by, ghosts = ("random", "1-hop") if parts == 3 else ("range", "all")
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=False)
    return gd.minimum_spanning_forest(graph.partition(parts, by, ghosts, device=device, id_width=width))


def check(found, n, src, dst, weights):
    values = np.ones(len(src), np.int64) if weights is None else weights
    rows = kruskal(n, src, dst, values)
    assert found.row.tolist() == rows
    assert found.weight.dtype == values.dtype
    assert found.weight.tobytes() == values[rows].tobytes()  # -0.0 and 0.0 are equal weights, and each stays what it is
    assert found.source.tolist() == np.minimum(src, dst)[rows].tolist()
    assert found.destination.tolist() == np.maximum(src, dst)[rows].tolist()


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("wide", [False, True], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("parts", [1, 3])
def test_edges_are_those_of_kruskals_algorithm(device, wide, parts, rng, monkeypatch, tuned):
    if wide:
        tuned(PARTITION, narrow_ids=0)
    n = 700
    src, dst = pairs(rng, n, 11_000)
    for kind, make in WEIGHTS.items():
        weights = make(rng, len(src))
        found = forest_of(n, src, dst, weights, parts, device, monkeypatch, 64 if wide else 32)
        try:
            check(found, n, src, dst, weights)
        except AssertionError as error:
            raise AssertionError(f"weights: {kind}") from error
        found.verify()


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_a_long_path_becomes_one_tree(device, order, monkeypatch):
    """Each vertex takes the edge to the next one: the first round makes a tree as deep as the path is long."""
    n = 3_000
    src = np.arange(n - 1)
    weights = src if order == "ascending" else -src
    found = forest_of(n, src, src + 1, weights, 1, device, monkeypatch)
    assert found.row.tolist() == list(range(n - 1))
    assert not found.label.any()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_list_that_is_too_short_is_made_again(device, rng, monkeypatch, tuned):
    tuned(FOREST, listed=0)
    n = 90
    src, dst = np.triu_indices(n, 1)
    weights = rng.random(len(src))
    found = forest_of(n, src, dst, weights, 1, device, monkeypatch)
    check(found, n, src, dst, weights)
    expected = minimum_spanning_tree(coo_array((weights, (src, dst)), (n, n)).tocsr())
    assert sorted(found.weight.tolist()) == sorted(expected.data.tolist())
