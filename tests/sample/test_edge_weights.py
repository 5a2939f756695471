"""Weights of sampled edges are those of their rows."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError, Unsupported

N, M = 40, 200
RNG = np.random.default_rng(3)
SRC, DST, WEIGHTS = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.permutation(M) + 1


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("options", [{}, {"self_loops": "drop", "multi_edges": "merge"}, {"directed": False}])
def test_weights_are_those_that_were_given(options, dtype, parts):
    G = gd.from_edges(SRC, DST, WEIGHTS.astype(dtype), num_vertices=N, **options).partition(parts)
    where = "replicated" if parts == 1 else "partitioned"
    s = gd.sample.neighbors(G, [[3, 8], [5]], [4, 3], seed=1, placement=where)
    assert len(s.src) > 10
    assert s.weight.dtype == dtype
    assert s.weight.tolist() == WEIGHTS[s.edge].tolist()
    if options.get("directed", True):
        assert (SRC[s.edge] == s.src).all()


def test_steps_of_walks_along_no_edge_have_none():
    G = gd.from_edges([0, 1], [1, 2], [5, 7])
    w = gd.sample.random_walk(G, [0, 2], 3)
    np.testing.assert_array_equal(w.weight, [[5, 7, np.nan], [np.nan] * 3])


def test_graphs_without_weights_have_none():
    G = gd.generate.rmat(6, 8, seed=2)
    with pytest.raises(InputError, match="carry no weights"):
        _ = gd.sample.neighbors(G, [1], [2]).weight


def test_edges_made_on_workers_are_refused():
    ddf = gd.from_edges(SRC, DST, WEIGHTS).to_dask_dataframe(2)
    G = gd.from_dask_dataframe(ddf, "src", "dst", "weight")
    with pytest.raises(Unsupported, match="take them from what it was made of"):
        _ = gd.sample.neighbors(G, [3], [2]).weight
