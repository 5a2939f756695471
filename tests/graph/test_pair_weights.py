"""Weights that are a function of an edge's ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.partition.sources import GeneratedSource, PairWeights


def weighted(graph, most, seed=0):
    return replace(graph, source=GeneratedSource(graph.source.generator, graph.source.skewed, PairWeights(most, seed)))


def test_weights_are_uniform():
    src, dst = (x.ravel() for x in np.meshgrid(np.arange(600, dtype=np.int32), np.arange(600, 1200, dtype=np.int32)))
    for most in (1, 7, 64):
        drawn = PairWeights(most, 5).of(get_backend("cpu"), src, dst)
        assert (drawn.dtype, drawn.min(), drawn.max()) == (np.int32, 1, most)
        if most > 1:
            assert stats.chisquare(np.bincount(drawn, minlength=most + 1)[1:]).pvalue > 1e-4


def test_weights_know_neither_the_direction_nor_the_neighbours_of_an_edge():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 1 << 40, (2, 5000))
    there, back = (PairWeights(255, 3).of(get_backend("cpu"), *ends) for ends in ((src, dst), (dst, src)))
    np.testing.assert_array_equal(there, back)
    alone = PairWeights(255, 3).of(get_backend("cpu"), src[100:200], dst[100:200])
    np.testing.assert_array_equal(there[100:200], alone)
    assert abs(np.corrcoef(there, PairWeights(255, 4).of(get_backend("cpu"), src, dst))[0, 1]) < 0.06


def test_no_number_of_blocks_changes_a_weight():
    graph = weighted(gd.generate.rmat(9, 8, self_loops="drop"), 255)
    whole = np.stack(graph.source.piece(0, 1).edges(get_backend("cpu")))
    parts = [np.stack(graph.source.piece(k, 5).edges(get_backend("cpu"))) for k in range(5)]
    np.testing.assert_array_equal(whole, np.concatenate(parts, axis=1))


def test_parallel_edges_agree_so_merging_loses_no_weight():
    kept = weighted(gd.generate.rmat(6, 16), 255)
    merged = weighted(gd.generate.rmat(6, 16, multi_edges="merge"), 255)
    edges = {(min(u, v), max(u, v)): w for u, v, w in zip(*(x.tolist() for x in kept.edges("cpu")), strict=True)}
    assert len(edges) == merged.num_edges
    np.testing.assert_array_equal(gd.sssp(kept, 3).distance, gd.sssp(merged, 3).distance)


@pytest.mark.gpu
def test_a_gpu_draws_the_same_weights():
    rng = np.random.default_rng(2)
    src, dst = rng.integers(0, 1 << 40, (2, 5000))
    cuda = get_backend("cuda")
    found = PairWeights(255, 3).of(cuda, cuda.from_host(src), cuda.from_host(dst))
    np.testing.assert_array_equal(cuda.to_host(found), PairWeights(255, 3).of(get_backend("cpu"), src, dst))
