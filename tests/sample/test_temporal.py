"""Temporal neighbour sampling: what an instance sees, the law of draws, the same bits everywhere, proofs, bad input."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from walk_laws import LEAST_P, p_of_counts

import graphdask as gd
from graphdask.errors import InputError, VerificationError, VertexNotFound

NAMES = ["one vertex with a self-loop", "duplicates both ways", "star outward", "short path", "no edges", "scale-free"]
COLUMNS = ("src", "dst", "hop", "instance")
draw = gd.sample.temporal_neighbors


def timed(name, kind=np.int64):
    """A graph whose edges have the times 0 to 8."""
    n, src, dst, directed = GRAPHS[name]()
    times = np.random.default_rng(n).integers(0, 9, len(src)).astype(kind)
    return gd.from_edges(src, dst, times, num_vertices=n, directed=directed)


def rows_in_time(G):
    """(time, end) of the edges of each vertex, in order."""
    rows = [[] for _ in range(G.num_vertices)]
    for a, b, time in zip(*(column.tolist() for column in G.edges()), strict=True):
        rows[a].append((time, b))
        if not G.directed and a != b:
            rows[b].append((time, a))
    return [sorted(row) for row in rows]


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_every_vertex_gives_what_its_seed_sees(strategy, kind):
    graph = timed("scale-free", kind)
    seeds, rows = np.arange(0, graph.num_vertices, 9), rows_in_time(graph)
    limits = np.random.default_rng(2).integers(-1, 10, len(seeds))
    found = draw(graph, seeds, [3, -1, 2], seed_times=limits, strategy=strategy).verify()
    assert found.hop.max() == 2
    for i, of_seed in enumerate(seeds.tolist()):
        mine = found.instance == i
        reached = {of_seed}
        for hop, fanout in enumerate((3, -1, 2)):
            here = mine & (found.hop == hop)
            for v in np.unique(found.src[here]).tolist():
                ends = [end for time, end in rows[v] if time <= limits[i]]
                drawn = found.dst[here & (found.src == v)].tolist()
                if strategy == "last" or fanout < 0:
                    assert drawn == ends[len(ends) - fanout if 0 <= fanout < len(ends) else 0 :]
                else:
                    assert len(drawn) == min(fanout, len(ends))
                    assert not Counter(drawn) - Counter(ends)
                assert v in reached
            reached |= set(found.dst[here].tolist())


def test_sets_of_edges_until_a_time_are_all_alike():
    times = [5.0, -1.5, 2.0, 0.0, 9.0, 2.0, 7.0]
    graph = gd.from_edges(np.zeros(7, int), np.arange(1, 8))
    trials, limits = 30_000, np.repeat([2, 5], 15_000)
    found = draw(graph, np.zeros(trials, int), [2], times=times, seed_times=limits, seed=1).verify()
    pairs = np.sort(found.dst.reshape(trials, 2), axis=1)
    for limit in (2, 5):
        there = [v for v in range(1, 8) if times[v - 1] <= limit]
        counts = Counter(map(tuple, pairs[limits == limit].tolist()))
        sets = list(combinations(there, 2))
        assert set(counts) == set(sets)
        assert p_of_counts([counts[one] for one in sets], np.full(len(sets), 1 / len(sets))) > LEAST_P
    again = draw(graph, np.zeros(trials, int), [2], times=times, seed_times=5, replace=True).verify().dst
    counts = np.bincount(again, minlength=8)[[1, 2, 3, 4, 6]]
    assert counts.sum() == 2 * trials
    assert p_of_counts(counts, np.full(5, 0.2)) > LEAST_P


def test_with_one_time_it_is_neighbour_sampling():
    graph = timed("scale-free")
    for direction in ("out", "in"):
        options = {"seed": 5, "direction": direction}
        found = draw(graph, [3, 4, 5], [4, 2], times=np.full(graph.num_edges, 7), seed_times=7, **options)
        expected = gd.sample.neighbors(graph, [3, 4, 5], [4, 2], **options)
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_are_the_same_wherever_they_are_drawn(name, device, monkeypatch):
    stand_in(monkeypatch, emulated())
    whole, rng = timed(name), np.random.default_rng(5)
    seeds = [rng.integers(0, whole.num_vertices, size) for size in (2, 0, 1, 4, 3)]
    for kind, options in (
        (np.int64, {"fanouts": [3, 2], "direction": "in"}),
        (np.float64, {"fanouts": [2, -1, 1], "strategy": "last"}),
        (np.int32, {"fanouts": [2, 40], "replace": True}),
    ):
        graph = timed(name, kind)
        expected = draw(graph.partition(1, device="cpu"), seeds, seed_times=[3, 4, 5, 6, 8], **options)
        for parts, placement in ((1, "replicated"), (3, "replicated"), (3, "partitioned")):
            divided = graph.partition(parts, "random", "1-hop", device=device)
            found = draw(divided, seeds, seed_times=[3, 4, 5, 6, 8], **options, placement=placement).verify()
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_planted_errors_are_found(placement):
    rng = np.random.default_rng(3)
    src, dst, times = rng.integers(0, 20, 200), rng.integers(0, 20, 200), rng.integers(0, 50, 200)
    graph = gd.from_edges(src, dst, times, num_vertices=21).partition(3, "random", device="cpu")
    first = int(src[0])
    of_first = (src == first) & (times <= 25)
    later = next(int(v) for v in dst[(src == first) & (times > 25)] if v not in dst[of_first])
    order = sorted(zip(times[of_first], dst[of_first], strict=True))
    earliest = next(int(v) for _, v in order if v not in [end for _, end in order[-3:]])

    def drawn(**options):
        return draw(graph, [first] * 5, [3], seed_times=25, placement=placement, **options).verify()

    for value, strategy in ((later, "uniform"), (later, "last"), (earliest, "last"), (20, "uniform"), (21, "uniform")):
        found = drawn(strategy=strategy)
        columns = max((kept.columns for kept in found.parts.values), key=lambda kept: len(kept["dst"]))
        columns["dst"][-1] = value
        with pytest.raises(VerificationError):
            found.verify()
    found = drawn()
    columns = max((kept.columns for kept in found.parts.values), key=lambda kept: len(kept["dst"]))
    for name in columns:
        columns[name] = columns[name][:-1]
    with pytest.raises(VerificationError, match="too few"):
        found.verify()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"times": None}, InputError, "no weights to be read as times"),
        ({"times": [1]}, InputError, r"times has the shape \(1,\)"),
        ({"times": [1.0, float("nan")]}, InputError, r"times\[1\] is NaN"),
        ({"seed_times": [1, 2]}, InputError, r"seed_times has the shape \(2,\); one for each of the 1 instances"),
        ({"seed_times": 1.5}, InputError, "whole numbers"),
        ({"seed_times": "now"}, InputError, "seed_times has the dtype"),
        ({"seed_times": 2**63}, InputError, "seed_times"),
        ({"seed_times": float("nan"), "times": [1.0, 2.0]}, InputError, "NaN"),
        ({"strategy": "first"}, InputError, "strategy='first'"),
        ({"strategy": "last", "replace": True}, InputError, "leave replace=True out"),
        ({"replace": True, "fanouts": [-1]}, InputError, "a number of neighbours is needed"),
        ({"fanouts": 3}, InputError, "fanouts=3"),
        ({"direction": "up"}, InputError, "direction='up'"),
        ({"seeds": [9]}, VertexNotFound, "seed 9"),
        ({"placement": "nowhere"}, InputError, "placement='nowhere'"),
    ],
)
def test_bad_input(wrong, error, message):
    graph = gd.from_edges([0, 1], [1, 0])
    with pytest.raises(error, match=message):
        draw(graph, **{"seeds": [0], "fanouts": [2], "times": [1, 2], "seed_times": 2, **wrong})
    assert graph.replicas is None
