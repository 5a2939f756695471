"""Samplers of functions whose partitions ask each other within a step, on a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from gangs import active
from graphs import GRAPHS
from specs import specs

import graphdask as gd


@pytest.mark.slow
def test_the_same_on_a_cluster(two_workers):
    n, src, dst, directed = GRAPHS["scale-free"]()
    weights = np.random.default_rng(n).integers(0, 5, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    seeds = np.arange(n)[:30]
    for name in ("node2vec", "layer"):
        expected = gd.sample.run(graph.partition(1, device="cpu"), specs(3)[name], seeds)
        with active(two_workers):
            found = gd.sample.run(graph, specs(3)[name], seeds, placement="partitioned").verify()
            assert (found.stats.ranks, found.placement) == (2, "partitioned")
            for column in expected.columns:
                np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
