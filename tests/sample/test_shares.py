"""What a worker is sent of a sampler is what its own instances begin with, in as few bytes as vertices are numbered."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.gang.arguments import travelling_bytes
from graphdask.sample.sampler import planning
from graphdask.sample.spec import Spec

INSTANCES, RANKS, BESIDES = 30_000, 3, 4_000
VERTEX, BOUND = 4, 8

CALLS = {
    "random walks": (lambda G, seeds: gd.sample.random_walk(G, seeds, 4), VERTEX),
    "node2vec": (lambda G, seeds: gd.sample.node2vec(G, seeds, 4, p=2.0), VERTEX),
    "frontiers": (lambda G, seeds: gd.sample.frontier_sampling(G, seeds.reshape(-1, 3), 4), VERTEX),
    "neighbours": (lambda G, seeds: gd.sample.neighbors(G, seeds, [2]), VERTEX),
    "of groups": (lambda G, seeds: gd.sample.neighbors(G, list(seeds.reshape(-1, 3)), [2]), VERTEX + BOUND / 3),
    "forest fires": (lambda G, seeds: gd.sample.forest_fire(G, seeds, 0.3, 2), VERTEX),
    "layers": (lambda G, seeds: gd.sample.layer(G, list(seeds.reshape(-1, 3)), [2]), VERTEX + BOUND / 3),
    "functions": (lambda G, seeds: gd.sample.run(G, Spec(depth=2), seeds), VERTEX),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_share_is_of_its_own_instances(call, rng):
    sample, each = CALLS[call]
    src, dst = rng.integers(0, 40_000, (2, 100))
    G = gd.from_edges(src, dst, num_vertices=40_000, directed=False)
    seeds = rng.permutation(40_000)[:INSTANCES]
    with planning() as planned:
        sample(G, seeds)
    (made,) = planned
    shares = [made.sampler.share(rank, RANKS) for rank in range(RANKS)]
    assert sum(share.instances for share in shares) == made.sampler.instances
    assert all(travelling_bytes(share) <= each * INSTANCES / RANKS + BESIDES for share in shares)
    assert seeds.dtype == np.int64
