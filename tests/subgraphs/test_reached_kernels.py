"""Pairs of source and vertex that are reached first: kernels against plain Python, marks against sorted pairs."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in
from kernel_launch import Packed, rows_of_all_lengths

import graphdask as gd
from graphdask.kernels.subgraphs.reached_pack import ReachedPairs
from graphdask.subgraphs.tuning import SUBGRAPHS


def bits(marked, sources, slots):
    words = np.zeros((sources, -(-slots // 32)), np.uint32)
    for source, slot in marked:
        words[source, slot >> 5] |= np.uint32(1 << (slot & 31))
    return words.reshape(-1)


def test_neighbours_that_are_not_marked_are_found_once(backend, dtype, rng):
    slots, sources = 700, 3
    indptr, indices = rows_of_all_lengths(rng, dtype, slots)
    owned = len(indptr) - 1
    marked = {(int(rng.integers(sources)), int(rng.integers(slots))) for _ in range(300)}
    pairs = np.sort(rng.choice(sources * owned, 120, replace=False)).astype(np.int64)
    reached = {
        (pair // owned, slot)
        for pair in pairs.tolist()
        for slot in indices[indptr[pair % owned] : indptr[pair % owned + 1]].tolist()
    }
    d = Packed(
        backend, ReachedPairs, indptr=indptr, indices=indices, owned=owned, slots=slots,
        marks=bits(marked, sources, slots), stride=-(-slots // 32), pairs=pairs, items=len(pairs),
        begins=np.zeros(len(pairs), np.int64), ends=np.zeros(len(pairs), np.int64),
        own=np.full(sources * owned, -1), remote=np.full(sources * slots, -1), counters=np.zeros(2, np.int64),
    )  # fmt: skip
    kernels = backend.kernels("reached", index_t=dtype)
    kernels.reached_rows(len(pairs), d.pack)
    ends = np.cumsum(d.host("ends"))
    d.pack.ends = backend.from_host(ends)
    kernels.reached_visit(-(-int(ends[-1]) // 256), d.pack, per_item=32)
    fresh = reached - marked
    own, remote = d.counts()
    assert sorted(d.host("own")[:own].tolist()) == sorted(s * owned + slot for s, slot in fresh if slot < owned)
    assert sorted(d.host("remote")[:remote].tolist()) == sorted(s * slots + slot for s, slot in fresh if slot >= owned)
    np.testing.assert_array_equal(d.host("marks"), bits(reached | marked, sources, slots))

    given = rng.integers(0, sources * owned, 400)
    new = {(pair // owned, pair % owned) for pair in given.tolist()} - reached - marked
    d.pack.assign(pairs=backend.from_host(given), counters=backend.from_host(np.zeros(2, np.int64)))
    kernels.reached_take(len(given), d.pack)
    assert sorted(d.host("own")[: d.counts().own].tolist()) == sorted(s * owned + slot for s, slot in new)
    np.testing.assert_array_equal(d.host("marks"), bits(reached | marked | new, sources, slots))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_marks_and_sorted_pairs_find_the_same(monkeypatch, rng, device, direction, tuned):
    if device == "cuda":
        stand_in(monkeypatch, emulated())
    graph = gd.from_edges(*(rng.integers(0, 120, (2, 300))), num_vertices=120)
    sources = [[5, 7, 5], [], [7], *([each] for each in rng.integers(0, 120, 30))]
    first = None
    for parts, by, words in ((1, "range", 1 << 26), (1, "random", 0), (3, "random", 1 << 26), (3, "random", 0),
                             (7, "range", 1 << 26), (7, "range", 60)):  # fmt: skip
        tuned(SUBGRAPHS, marks=words)
        r = gd.k_hop_neighbors(graph.partition(parts, by, "1-hop", device=device), sources, 3, direction=direction)
        found = [r.instance, r.hop, r.vertex, r.offsets]
        first = first or found
        for a, b in zip(found, first, strict=True):
            np.testing.assert_array_equal(a, b)
        assert parts == 3 or r.verify() is r


def test_ego_graphs_of_many_sources_and_those_that_travel():
    import pickle

    rng = np.random.default_rng(8)
    graph = gd.from_edges(*rng.integers(0, 500, (2, 900)), num_vertices=500)
    sources = rng.integers(0, 500, 10_000)
    first = None
    for parts in (1, 3):
        s = gd.ego_graph(graph.partition(parts, device="cpu"), sources, center=False)
        found = [s.src, s.dst, s.instance, s.edge, s.vertices, s.vertex_offsets]
        first = first or found
        for a, b in zip(found, first, strict=True):
            np.testing.assert_array_equal(a, b)
        arrived = pickle.loads(pickle.dumps(gd.ego_graph(graph.partition(parts, device="cpu"), sources, center=False)))
        np.testing.assert_array_equal(arrived.vertices, s.vertices)
        np.testing.assert_array_equal(arrived.dst, s.dst)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_ego_graphs_of_nothing_are_empty(monkeypatch, device):
    if device == "cuda":
        stand_in(monkeypatch, emulated())
    G = gd.from_edges([0, 1], [1, 2], num_vertices=5).partition(1, device=device)
    for sources, center in (([], True), ([3, 4], False)):
        s = gd.ego_graph(G, sources, 2, center=center).verify()
        assert (s.vertices.tolist(), s.src.tolist()) == ([], [])
        assert s.vertex_offsets.tolist() == s.edge_offsets.tolist() == [0] * (len(sources) + 1)
