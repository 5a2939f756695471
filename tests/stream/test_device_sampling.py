"""Samples of a graph on disk through a device: those in memory to the last bit, on the emulator and on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd

WALKS = {
    "uniform": lambda G, at: gd.sample.random_walk(G, at, 40, seed=3),
    "rejection": lambda G, at: gd.sample.random_walk(G, at, 7, bias="weight", method="rejection"),
    "inverse": lambda G, at: gd.sample.random_walk(G, at, 7, bias="weight", method="inverse", restart=0.2, jump=0.2),
    "alias": lambda G, at: gd.sample.random_walk(G, at, 7, bias="degree", method="alias"),
    "node2vec": lambda G, at: gd.sample.node2vec(G, at, 7, 0.5, 2.0),
    "of no steps": lambda G, at: gd.sample.random_walk(G, at, 0),
}
NEIGHBOURHOODS = {
    "neighbors": lambda G, at: gd.sample.neighbors(G, at, [5, 3]),
    "of in-edges": lambda G, at: gd.sample.neighbors(G, [at, at[:3]], [3, 3], direction="in", bias="weight"),
    "by degree": lambda G, at: gd.sample.neighbors(G, at, [4], bias="degree", replace=True),
    "forest fire": lambda G, at: gd.sample.forest_fire(G, at, direction="in"),
    "temporal": lambda G, at: gd.sample.temporal_neighbors(G, at, [3, 2], seed_times=5, strategy="last"),
}


def made(name):
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(7).integers(0, 9, len(src))
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def same(found, expected):
    for name in expected.columns:
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("order", ["layers", "ids"])
def test_samples_are_those_in_memory(streamed, order):
    G = made("dense random, directed")
    S, at = streamed(G, "64KiB", order=order), G.vertex_ids[::4]
    assert S.chunks > 2
    for draw in (WALKS | NEIGHBOURHOODS).values():
        found = draw(S, at)
        same(found, draw(G, at))
        assert found.stats.streamed["device"] == "cuda"


@pytest.mark.parametrize("name", ["one vertex with a self-loop", "no edges", "star around the last", "short path"])
def test_shapes_that_are_unlike_most_graphs(streamed, name):
    G = made(name)
    S = streamed(G)
    for draw in (WALKS["uniform"], WALKS["alias"], NEIGHBOURHOODS["of in-edges"]):
        same(draw(S, G.vertex_ids), draw(G, G.vertex_ids))


def test_undirected_graphs_have_metropolis_hastings_walks_and_saint_subgraphs(streamed):
    G = made("sparse random, undirected")
    S = streamed(G)
    same(gd.sample.metropolis_hastings(S, G.vertex_ids, 9), gd.sample.metropolis_hastings(G, G.vertex_ids, 9))
    same(gd.sample.saint_nodes(S, 20, 3), gd.sample.saint_nodes(G, 20, 3))


@pytest.mark.parametrize(("memory", "host_memory"), [("16KiB", "12KiB"), ("16KiB", None), ("1MiB", "12KiB")])
def test_samples_do_not_depend_on_how_much_is_in_memory(streamed, memory, host_memory):
    G = made("dense random, directed")
    S = streamed(G, memory, None if host_memory is None else 0, host_memory)
    for draw in (WALKS["rejection"], NEIGHBOURHOODS["neighbors"]):
        found = draw(S, G.vertex_ids[:40])
        same(found, draw(G, G.vertex_ids[:40]))
    streamed = found.stats.streamed
    assert found.placement == "on disk"
    assert found.stats.memory <= S.memory
    assert (streamed["nbytes"] == streamed["least"]) == (memory == "1MiB")
    assert (streamed["from_disk"] > 0) == (host_memory is not None)  # without, what was drawn before has left it there


def test_too_little_memory_and_what_is_asked_for_in_vain_are_said_beforehand(streamed):
    S = streamed(made("dense random, directed"), "3KiB")
    with pytest.raises(gd.OverBudget, match="for a chunk with its tables"):
        gd.sample.random_walk(S, [0], 2)
    with pytest.raises(gd.Unsupported, match=r"layer sampling .* S\.in_memory\(\)"):
        gd.sample.layer(S, [0], [2])
    with pytest.raises(gd.Unsupported, match="several ranks, and workers, stream through their CPUs"):
        gd.sample.random_walk(S.partition(2), [0], 2)


@pytest.mark.gpu
@pytest.mark.parametrize("memory", ["24MiB", "96MiB"])
def test_many_walkers_and_chunks_of_many_rows(stored, memory):
    G = gd.generate.rmat(18, 16, seed=3, directed=False)
    S = gd.stream.open(stored(G, chunk="512KiB", building="1GiB").store.path, memory, device="cuda")
    at = np.arange(G.num_vertices)
    for draw in (WALKS["uniform"], WALKS["alias"]):
        same(draw(S, at), draw(G, at))
    same(gd.sample.node2vec(S, at[:20_000], 9, 0.5, 2.0), gd.sample.node2vec(G, at[:20_000], 9, 0.5, 2.0))
    same(gd.sample.neighbors(S, at[:20_000], [10, 10]), gd.sample.neighbors(G, at[:20_000], [10, 10]))
