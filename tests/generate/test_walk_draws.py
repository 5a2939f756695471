"""What one step of a walk draws from a hash: the vertex, the edge and the coin are uniform and independent.

Taken from the step that the generator takes (kernels/generate/pa_walk.py), whatever its reduction: near vertices, those
on both sides of 2^31, far ones, and where 32 bits would be too coarse. Seeds are fixed; bounds leave a right generator
a chance of 1e-5 to fail once.
"""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy import stats

from graphdask.generate.preferential_attachment import coin_threshold
from graphdask.kernels.generate import pa_walk

COUNT = 400_000
LIKELY = 1e-5
STARTS = (10**6, 10**8, (1 << 31) - COUNT, (1 << 31) - COUNT // 2, 1 << 31, 1 << 40, 1 << 55)
MODELS = ((1, 0.5), (2, 0.25), (4, 0.5), (7, 0.9), (300, 0.5), (4, 0.00001))


@numba.njit(nogil=True)
def take_a_step(degree, threshold, seed, vertex, edges, walking):
    pa_walk.steps(len(vertex), pa_walk.model(degree, threshold, seed), vertex, edges, walking)


def draws(start, degree, p, seed=1, edge=None):
    """The drawn u as a fraction of its range, u itself, the edge, and whether it is a copy, for COUNT vertices."""
    first = np.arange(start, start + COUNT, dtype=np.uint64)
    vertex = first.copy()
    edges = np.arange(COUNT, dtype=np.uint64) % np.uint64(degree) if edge is None else np.full(COUNT, edge, np.uint64)
    walking = np.empty(COUNT, np.uint8)
    take_a_step(np.uint64(degree), np.uint64(coin_threshold(p)), np.uint64(seed), vertex, edges, walking)
    return vertex / first, vertex, edges.astype(np.int64), walking.astype(bool)


def assert_independent(*columns, shares):
    """Chi-square test of the joint table of some columns of small integers against the product of their shares."""
    table = np.zeros([len(share) for share in shares])
    np.add.at(table, columns, 1)
    expected = np.array(1.0)
    for share in shares:
        expected = np.multiply.outer(expected, share)
    expected = expected * len(columns[0])
    full = expected >= 5
    observed, expected = np.append(table[full], table[~full].sum()), np.append(expected[full], expected[~full].sum())
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1] * (observed[:-1].sum() / expected[:-1].sum())
    assert LIKELY < stats.chisquare(observed, expected).pvalue < 1 - LIKELY


def bins_of_edges(degree):
    """How edges are grouped, and the share of each group."""
    groups = min(degree, 8)
    group = np.arange(degree) * groups // degree
    return group, np.bincount(group) / degree


@pytest.mark.parametrize(("degree", "p"), MODELS)
@pytest.mark.parametrize("start", STARTS)
def test_vertex_edge_and_coin_are_independent(start, degree, p):
    place, u, edge, copied = draws(start, degree, p)
    assert (place >= 0).all()
    assert (place < 1).all()
    assert (edge < degree).all()
    group, shares = bins_of_edges(degree)
    even, coin = np.full(16, 1 / 16), np.array([p, 1 - p])
    assert_independent((place * 16).astype(int), group[edge], copied.astype(int), shares=(even, shares, coin))
    # The digits of u that the edge and the coin would follow, if they were taken from the same bits.
    low = (u & np.uint64(15)).astype(int)
    assert_independent(low, group[edge], copied.astype(int), shares=(even, shares, coin))


@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("start", STARTS)
def test_steps_of_neighbouring_slots_and_seeds_are_independent(start, degree):
    p = 0.5
    base = draws(start, degree, p, edge=0)
    others = {
        "next edge": draws(start, degree, p, edge=1),
        "next vertex": tuple(np.roll(column, 1) for column in base),
        "next seed": draws(start, degree, p, seed=2, edge=0),
        "far seed": draws(start, degree, p, seed=1 + (1 << 63), edge=0),
    }
    even, edges, coin = np.full(8, 1 / 8), np.full(degree, 1 / degree), np.array([p, 1 - p])
    for other in others.values():
        assert_independent((base[0] * 8).astype(int), (other[0] * 8).astype(int), shares=(even, even))
        both = base[2], other[2], base[3].astype(int), other[3].astype(int)
        assert_independent(*both, shares=(edges, edges, coin, coin))
