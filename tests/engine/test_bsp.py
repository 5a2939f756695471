"""The BSP terms of a run: sums and largest ranks by hand, and l where the supersteps allow to tell it."""

from __future__ import annotations

import dataclasses

import pytest

import graphdask as gd
from graphdask.engine.loop import Superstep
from graphdask.results.bsp import BspTerms, Share


def step(number, edges=0, messages=0, compute=0.0, code=0.0, exchange=0.0, wait=0.0):
    return Superstep(number, 1, edges, messages, 8 * messages, (), compute, code, exchange, wait)


TWO_RANKS = (
    [step(0, 0, 1, 5.0, 0.0, 0.5, 0.0), step(1, 900, 100, 2.0, 0.3, 0.5, 0.0), step(2, 4, 0, 0.1, 0.0, 0.1, 0.0)],
    [step(0, 0, 1, 4.0, 0.0, 0.5, 1.0), step(1, 100, 200, 1.0, 0.4, 0.5, 1.0), step(2, 2, 1, 0.1, 0.0, 0.1, 0.0)],
)


def test_the_terms_are_sums_over_ranks_and_the_slowest_rank_of_each_superstep():
    terms = BspTerms.of(TWO_RANKS)
    assert (terms.work_edges, terms.volume_vertices, terms.volume_bytes) == (1006, 303, 8 * 303)
    assert terms.work_seconds == pytest.approx(5.0 + 2.0 + 0.1)
    assert terms.coding_seconds == pytest.approx(0.4)
    assert terms.transfer_seconds == pytest.approx(1.1)
    assert terms.wait_seconds == pytest.approx(0.5 + 0.5)
    assert terms.supersteps == 3
    assert terms.seconds == pytest.approx(5.5 + 2.9 + 0.2)  # of the second rank; the first took 8.5
    assert terms.bottleneck == "W"


def test_latency_is_the_median_of_supersteps_with_next_to_no_work():
    terms = BspTerms.of(TWO_RANKS)
    assert (terms.latency_seconds, terms.latency_from) == (pytest.approx(0.2), "light supersteps")
    road = [[step(k, 10, 0, 1e-5 * (1 + k % 3)) for k in range(100)] + [step(100, 5000, 0, 1e-3)]]
    assert BspTerms.of(road).latency_seconds == pytest.approx(2e-5)
    assert BspTerms.of(road).bottleneck == "l"


def test_where_all_supersteps_have_work_the_exchange_bounds_the_latency():
    equal = [[step(k, 1000, 1000, 2.0, 0.1, 0.2 + k / 10, 0.05) for k in range(5)]]
    terms = BspTerms.of(equal)
    assert (terms.latency_seconds, terms.latency_from) == (pytest.approx(0.35), "exchange")


@pytest.mark.parametrize("ranks", [[], [[]], [[], []]])
def test_without_supersteps_there_are_no_terms_to_tell(ranks):
    terms = BspTerms.of(ranks)
    assert (terms.supersteps, terms.seconds, terms.latency_from) == (0, 0, "nothing")


@pytest.mark.parametrize(
    ("parts", "named"),
    [((4, 1, 1, 1), "W"), ((1, 4, 1, 1), "C"), ((1, 1, 4, 1), "H"), ((1, 1, 1, 4), "wait")],
)
def test_the_bottleneck_of_a_superstep_is_its_largest_part_or_its_latency(parts, named):
    share = Share(*parts, seconds=7)
    assert share.bottleneck(1.0) == named
    assert share.bottleneck(3.5) == "l"


def test_a_run_says_its_terms():
    G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False).partition(parts=2, device="cpu")
    gd.bfs(G, 0)  # what is compiled is counted apart, by each rank and by the call
    stats = gd.bfs(G, 0).stats
    assert stats.bsp.work_edges == stats.edges
    assert stats.bsp.volume_bytes == stats.bytes_sent
    assert 0 < stats.bsp.seconds <= stats.seconds
    assert stats.to_dict()["bsp"] == dataclasses.asdict(stats.bsp)
    assert f"S {len(stats)}; l " in repr(stats)
    assert len(stats.shares) == len(stats)
