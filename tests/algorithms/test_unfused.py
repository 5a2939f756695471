"""Searches whose advance and filter are two kernels give what the fused kernel gives, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from covering import pairs
from emulated import emulated, stand_in
from graphs import GRAPHS
from kernel_launch import POISON, Launch, check_queue, random_rows

import graphdask as gd
from graphdask.bench.analysis.choices import search_unfused
from graphdask.kernels.bfs.bfs_pack import COUNTS, Search

OWNED, SLOTS = 70, 110


def star(leaves=9_000):
    """A vertex whose row no block takes at once, in the middle of a path."""
    src = np.concatenate([[0, 1], np.full(leaves, 2), [3]])
    dst = np.concatenate([[1, 2], np.arange(3, leaves + 3), [leaves + 3]])
    return leaves + 4, src, dst, False


def broad():
    """So many vertices that the queues of a block fill up and empty again."""
    rng = np.random.default_rng(9)
    return 4000, rng.integers(0, 4000, 9000), rng.integers(0, 4000, 9000), True


def clique():
    """A hundred vertices among a thousand, joined all with all."""
    src, dst = np.triu_indices(100, 1)
    return 1_000, src, dst, False


WEIGHTS = {
    "none": lambda rng, m: None,
    "above 0": lambda rng, m: rng.integers(1, 9, m),
    "integers": lambda rng, m: rng.integers(0, 4, m).astype(np.int32),
    "large": lambda rng, m: rng.integers(2**29, 2**30, m),
    "larger": lambda rng, m: rng.integers(0, 2**50, m),
    "single": lambda rng, m: rng.choice([0, 0.25, 1, 3], m).astype(np.float32),
    "double": lambda rng, m: rng.random(m),
}


def of(make, *where, weights="none", **how):
    n, src, dst, directed = make()
    drawn = WEIGHTS[weights](np.random.default_rng(n), len(src))
    return gd.from_edges(src, dst, drawn, num_vertices=n, directed=directed).partition(*where, **how)


def push(graph, source=0, **how):
    return gd.bfs(graph, source, direction="push", **how)


def push_apart(graph, source=0, **how):
    return search_unfused("bfs", graph, source, **how)


def paths_apart(graph, source=0, **how):
    return search_unfused("sssp", graph, source, **how)


def check_same(found, expected):
    for column in expected.columns:
        mine, other = getattr(found, column), getattr(expected, column)
        np.testing.assert_array_equal(mine, other)
        assert mine.dtype == other.dtype


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(2))
def test_the_two_kernels_do_what_the_fused_one_does(backend, dtype, rng, repeat, hub):
    indptr, indices = random_rows(rng, OWNED, SLOTS, dtype, hub)
    ids = rng.permutation(1000)[:OWNED].astype(dtype)
    frontier = np.union1d(rng.integers(0, OWNED, 30), np.diff(indptr).argmax()).astype(dtype)
    settled = np.union1d(frontier, rng.integers(0, SLOTS, 20))
    seen = np.zeros((SLOTS + 31) // 32, np.uint32)
    np.bitwise_or.at(seen, settled // 32, np.uint32(1) << (settled % 32).astype(np.uint32))
    parents = np.full(SLOTS, np.iinfo(dtype).max, dtype)
    parents[settled] = 5
    edges = np.concatenate([np.arange(indptr[u], indptr[u + 1]) for u in frontier])
    rows = np.repeat(frontier, np.diff(indptr)[frontier])

    def world():
        counters = np.zeros(len(COUNTS), np.int64)
        counters[COUNTS.place.here] = len(frontier)
        return parents.copy(), *(np.full(length, POISON, dtype) for length in (OWNED, SLOTS - OWNED, OWNED)), counters

    expected, own, ghosts, hubs, counters = world()
    Launch(backend, "bfs", dtype)(
        len(frontier) + 300, frontier, 0, Search(
            indptr=indptr, indices=indices, ids=ids, seen=seen, parent=expected, owned=OWNED, slots=SLOTS,
            own_queue=own, ghost_queue=ghosts, hubs=hubs, counters=counters,
        ), names=("bfs_push", "bfs_push_hubs"),
    )  # fmt: skip
    parent, own_too, ghosts_too, hubs, after = world()
    led, launch = np.full(2 * indptr[-1] + 2, POISON, dtype), Launch(backend, "bfs_unfused", dtype)
    search = Search(
        indptr=indptr, indices=indices, ids=ids, seen=seen, parent=parent, owned=OWNED, slots=SLOTS,
        own_queue=own_too, ghost_queue=ghosts_too, hubs=hubs, counters=after, led=led,
    )  # fmt: skip
    launch(len(frontier) + 300, frontier, search, names=("bfs_advance", "bfs_advance_hubs"))
    assert COUNTS.of(after).led == COUNTS.of(after).edges == len(edges)
    reported = [tuple(pair) for pair in led[: 2 * len(edges)].reshape(-1, 2).tolist()]
    check_queue(led[2 * len(edges) :], 0, [])
    assert sorted(reported) == sorted(zip(indices[edges].tolist(), ids[rows].tolist(), strict=True))
    launch(300, search, names=("bfs_filter",))
    np.testing.assert_array_equal(parent, expected)
    mine, fused = COUNTS.of(after), COUNTS.of(counters)
    assert (mine.next, mine.ghosts, mine.edges) == (fused.next, fused.ghosts, fused.edges)
    check_queue(own_too, mine.next, own[: fused.next].tolist())
    check_queue(ghosts_too, mine.ghosts, ghosts[: fused.ghosts].tolist())


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_search_has_the_same_bits(name, parts):
    graph = of(GRAPHS[name], parts, device="cpu")
    source = graph.num_vertices // 3
    exchange, allocation = ("selective", "just-enough") if parts % 2 else ("broadcast", 1.0)
    found = push_apart(graph, source, exchange=exchange, allocation=allocation).verify()
    expected = push(graph, source, exchange=exchange)
    check_same(found, expected)
    assert [step["edges"] for step in found.stats] == [step["edges"] for step in expected.stats]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("make", [star, broad, *(GRAPHS[name] for name in ("only self-loops", "scale-free"))])
def test_a_search_on_the_emulator_of_a_gpu_has_the_same_bits(make, parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    expected = push(of(make, parts, device="cpu"))
    for allocation in ("maximal", "just-enough"):
        found = push_apart(of(make, parts, device="cuda"), allocation=allocation).verify()
        check_same(found, expected)
        assert [step["edges"] for step in found.stats] == [step["edges"] for step in expected.stats]  # level by level


@pytest.mark.parametrize(("name", "weights", "parts"), pairs(list(GRAPHS), list(WEIGHTS), [1, 2, 3, 4, 7]))
def test_shortest_paths_have_the_same_bits(name, weights, parts):
    graph = of(GRAPHS[name], parts, weights=weights, device="cpu")
    source = graph.num_vertices // 3
    exchange, allocation = ("selective", "just-enough") if parts % 2 else ("broadcast", 1.0)
    found = paths_apart(graph, source, exchange=exchange, allocation=allocation).verify()
    check_same(found, gd.sssp(graph, source))


@pytest.mark.parametrize(
    ("make", "weights", "parts"),
    [(star, "above 0", 1), (star, "double", 3), (broad, "integers", 3), (broad, "above 0", 3), (broad, "double", 1)],
)
def test_shortest_paths_on_the_emulator_of_a_gpu_have_the_same_bits(make, weights, parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    expected = gd.sssp(of(make, parts, weights=weights, device="cpu"), 0)
    graph = of(make, parts, weights=weights, device="cuda")
    for allocation, delta in (("maximal", None), ("just-enough", 0.5)):
        check_same(paths_apart(graph, 0, delta=delta, allocation=allocation).verify(), expected)


def test_what_lies_between_the_kernels_is_announced_and_allocated():
    graph = of(star, 1, device="cpu")
    fused, maximal = push(graph).stats, push_apart(graph).stats
    between = 2 * 4 * 2 * graph.num_edges  # both directions of an edge: two entries of 32 bits each
    assert maximal.memory - fused.memory == maximal.allocated_start - fused.allocated_start == between
    grown = push_apart(graph, allocation="just-enough").stats
    assert grown.memory - push(graph, allocation="just-enough").stats.memory < between
    assert grown.growths > 0
    with pytest.raises(gd.OverBudget, match=r"the array between advance and filter of BFS, .* use allocation="):
        push_apart(of(clique, 1, device="cpu"), allocation=0.4)


@pytest.mark.parametrize(("weights", "label"), [("above 0", 8), ("integers", 4), ("double", 8)])
def test_what_lies_between_relaxing_and_queueing_is_announced_and_allocated(weights, label):
    graph = of(star, 1, weights=weights, device="cpu")
    fused, maximal = gd.sssp(graph, 0).stats, paths_apart(graph, 0).stats
    between = (4 + label) * 2 * graph.num_edges
    assert maximal.allocated_start - fused.allocated_start == pytest.approx(between, abs=8)  # the limit after a split
    assert maximal.memory - fused.memory == between if weights == "above 0" else maximal.memory >= fused.memory
    grown = paths_apart(graph, 0, allocation="just-enough").stats
    assert grown.allocated_start < maximal.allocated_start - between // 2
    assert grown.growths > 0
    with pytest.raises(gd.OverBudget, match=r"the array between advance and filter of SSSP, .* use allocation="):
        paths_apart(of(clique, 1, weights=weights, device="cpu"), 0, delta=1e9, allocation=0.3)
