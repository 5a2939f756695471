"""Metapath walks, temporal neighbours, personalised PageRank and GraphSAINT on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd

CALLS = {
    "metapath": lambda G, v, **o: gd.sample.metapath_walk(G, v, 30, metapath=[2, 0, 1], **o),
    "uniform": lambda G, v, **o: gd.sample.temporal_neighbors(G, v, [9, 40], seed_times=1, **o),
    "last": lambda G, v, **o: gd.sample.temporal_neighbors(G, v, [5, 3], seed_times=1, strategy="last", **o),
    "pagerank": lambda G, v, **o: gd.sample.personalized_pagerank(G, v[:50], 3000, top=20, **o),
    "nodes": lambda G, v, **o: gd.sample.saint_nodes(G, 500, 9, **o),
    "edges": lambda G, v, **o: gd.sample.saint_edges(G, 300, 9, **o),
    "walks": lambda G, v, **o: gd.sample.saint_walks(G, 200, 4, 9, **o),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", CALLS)
def test_the_same_of_many_on_a_gpu(name):
    rng = np.random.default_rng(7)
    edges = gd.generate.rmat(14, seed=2).edges()
    types = rng.integers(0, 3, len(edges.src))
    graph = gd.from_edges(edges.src, edges.dst, types, directed=False)
    vertices = rng.choice(graph.vertex_ids, 3000)
    expected = CALLS[name](graph.partition(1, device="cpu"), vertices)
    for parts, placement in ((1, "replicated"), (3, "partitioned"), (1, "streamed")):
        divided = graph.partition(parts, "random", "1-hop", device="cuda")
        found = CALLS[name](divided, vertices, placement=placement).verify()
        for column in found.columns:
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
