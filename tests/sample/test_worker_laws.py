"""What instances of different workers draw has nothing to do with each other.

Samples are the same bits for every number of workers, so what adjacent instances draw is independent across the
borders of shares because it is anywhere. But a worker that numbered its instances from 0 on would draw what the first
one draws, and so would a wrong sample that is the same everywhere: so pairs are those of the same place in their
shares, too.
"""

from __future__ import annotations

import numpy as np
import pytest
from mutants import Mutants
from specs import by_weight
from walk_laws import LEAST_P, p_of_counts, p_of_independence

import graphdask as gd
from graphdask.sample.spec import Spec

N = 6
SHARE = 20_000
SAMPLE = gd.sample
LAST = {
    "walks": lambda G, at: SAMPLE.random_walk(G, at, 1).walks[:, 1],
    "walks by weight": lambda G, at: SAMPLE.random_walk(G, at, 2, bias="weight").walks[:, 2],
    "node2vec": lambda G, at: SAMPLE.node2vec(G, at, 2, 2.0, 2.0).walks[:, 2],
    "Metropolis-Hastings": lambda G, at: SAMPLE.metropolis_hastings(G, at, 2).walks[:, 2],
    "frontier": lambda G, at: SAMPLE.frontier_sampling(G, at.reshape(-1, 1), 1).dst[:, 0],
    "neighbours": lambda G, at: SAMPLE.neighbors(G, at, [1]).dst,
    "neighbours by weight": lambda G, at: SAMPLE.neighbors(G, at, [1], bias="weight").dst,
    "layer": lambda G, at: SAMPLE.layer(G, at, [1]).dst,
    "layer by weight": lambda G, at: SAMPLE.layer(G, at, [1], bias="weight").dst,
    "fire": lambda G, at: np.minimum(np.diff(SAMPLE.forest_fire(G, at, 0.7, 1).edge_offsets), N - 1),
    "neighbours in time": lambda G, at: SAMPLE.temporal_neighbors(G, at, [1], seed_times=1).dst,
    "metapaths": lambda G, at: SAMPLE.metapath_walk(G, at, 2, metapath=[1]).walks[:, 2],
    "roots of GraphSAINT": lambda G, at: SAMPLE.saint_walks(G, 1, 0, len(at)).walks.walks[:, 0],
    "functions": lambda G, at: SAMPLE.run(G, Spec(edge_bias=by_weight, depth=1), at).dst,
    "walks of functions": lambda G, at: SAMPLE.run(G, Spec(depth=1, replace=True), at).dst,
}  # fmt: skip
"""Of each instance a small number that is drawn."""


def check_workers(name):
    src, dst = np.triu_indices(N)
    G = gd.from_edges(src, dst, np.ones(len(src), int), directed=False).partition(3, device="cpu")
    drawn = LAST[name](G, np.zeros(3 * SHARE, np.int64))
    one, other, third = drawn.reshape(3, SHARE)
    for left, right in ((one, other), (other, third), (one, third), (one[1:], other[:-1]), (one[:-1], other[1:])):
        assert p_of_independence(left, right) > LEAST_P
    counts = [np.bincount(share, minlength=N) for share in (one, other, third)]
    assert p_of_counts(counts, np.tile(np.mean(counts, axis=0) / SHARE, (3, 1))) > LEAST_P


@pytest.mark.parametrize("name", LAST)
def test_workers_are_independent(name):
    check_workers(name)


@pytest.mark.slow
def test_shares_that_are_numbered_anew_are_noticed(tmp_path):
    mutants = Mutants(tmp_path, "walk", {"anew": ("np.uint64(first + base + j)", "np.uint64(base + j)")})
    with mutants.running("anew"), pytest.raises(AssertionError):
        check_workers("walks")
