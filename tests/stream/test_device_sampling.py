"""Samples of a graph on disk through a device: those in memory to the last bit, on the emulator and on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from streams import NEIGHBOURHOODS, WALKS, equal, weighted

import graphdask as gd
from graphdask.stream.store import Store


@pytest.mark.slow
@pytest.mark.parametrize("order", ["layers", "ids"])
def test_samples_are_those_in_memory(streamed, order):
    G = weighted("dense random, directed")
    S, at = streamed(G, "64KiB", order=order), G.vertex_ids[::4]
    assert S.chunks > 2
    for draw in (WALKS | NEIGHBOURHOODS).values():
        found = draw(S, at)
        equal(found, draw(G, at))
        assert found.stats.streamed["device"] == "cuda"


@pytest.mark.parametrize("name", ["one vertex with a self-loop", "no edges", "star around the last", "short path"])
def test_shapes_that_are_unlike_most_graphs(streamed, name):
    G = weighted(name)
    S = streamed(G)
    for draw in (WALKS["uniform"], WALKS["alias"], NEIGHBOURHOODS["of in-edges"]):
        equal(draw(S, G.vertex_ids), draw(G, G.vertex_ids))


def test_undirected_graphs_have_metropolis_hastings_walks_and_saint_subgraphs(streamed):
    G = weighted("sparse random, undirected")
    S = streamed(G)
    equal(gd.sample.metropolis_hastings(S, G.vertex_ids, 9), gd.sample.metropolis_hastings(G, G.vertex_ids, 9))
    equal(gd.sample.saint_nodes(S, 20, 3), gd.sample.saint_nodes(G, 20, 3))


@pytest.mark.usefixtures("late_copies")
def test_chunks_that_are_copied_together_are_drawn_from_when_all_have_come(streamed):
    G = weighted("dense random, directed")
    S, at = streamed(G, "64KiB", host_memory="12KiB"), G.vertex_ids[::20]
    found = WALKS["rejection"](S, at)
    equal(found, WALKS["rejection"](G, at))
    assert found.stats.streamed["from_disk"] > 12 << 10


def test_vertex_numbers_and_degrees_are_read_from_the_file_once(streamed, fault):
    G = weighted("dense random, directed")
    S, at = streamed(G, "64KiB"), G.vertex_ids[::20]
    expected = WALKS["alias"](G, at)
    equal(WALKS["alias"](S, at), expected)
    fault(Store, "rows", AssertionError("read again"))
    equal(WALKS["alias"](S, at), expected)


@pytest.mark.slow
def test_ranks_draw_their_shares(streamed):
    G = weighted("dense random, directed")
    S, at = streamed(G, "16KiB", host_memory="12KiB"), G.vertex_ids[::20]
    for k, draw in enumerate((WALKS | NEIGHBOURHOODS).values()):
        parts = 2 + k % 3
        found = draw(S.partition(parts), at)
        equal(found, draw(G, at))
        assert (found.stats.ranks, found.stats.streamed["device"]) == (parts, "cuda")


def test_ranks_draw_from_the_chunks_of_others_too(streamed):
    G = weighted("dense random, undirected")
    S, at = streamed(G, host_memory="40KiB", parts=3), G.vertex_ids[::9]
    size = sum(sum(S.store.sections["out"].sizes(number)) for number in range(S.chunks))
    expected = WALKS["uniform"](G, at)
    for _ in range(2):
        label = gd.connected_components(S)  # the chunks of a rank stay in its memory, and make room for others
        assert label.stats.streamed["from_disk"] <= size
        found = WALKS["uniform"](S, at)
        equal(found, expected)
        assert found.stats.streamed["from_disk"] > size - (40 << 10)
        assert found.stats.streamed["distinct"] > 2 * size


@pytest.mark.parametrize(("memory", "host_memory"), [("16KiB", "12KiB"), ("16KiB", None), ("1MiB", "12KiB")])
def test_samples_do_not_depend_on_how_much_is_in_memory(streamed, memory, host_memory):
    G = weighted("dense random, directed")
    S = streamed(G, memory, None if host_memory is None else 0, host_memory)
    for draw in (WALKS["rejection"], NEIGHBOURHOODS["neighbors"]):
        found = draw(S, G.vertex_ids[:40])
        equal(found, draw(G, G.vertex_ids[:40]))
    streamed = found.stats.streamed
    assert found.placement == "on disk"
    assert found.stats.memory <= S.memory
    assert (streamed["nbytes"] == streamed["distinct"]) == (memory == "1MiB")
    assert (streamed["from_disk"] > 0) == (host_memory is not None)  # without, what was drawn before has left it there


def test_too_little_memory_and_what_is_asked_for_in_vain_are_said_beforehand(streamed):
    S = streamed(weighted("dense random, directed"), "3KiB")
    with pytest.raises(gd.OverBudget, match="for a chunk with its tables"):
        gd.sample.random_walk(S, [0], 2)
    with pytest.raises(gd.Unsupported, match=r"layer sampling .* S\.in_memory\(\)"):
        gd.sample.layer(S, [0], [2])


@pytest.mark.gpu
@pytest.mark.parametrize("memory", ["24MiB", "96MiB"])
def test_many_walkers_and_chunks_of_many_rows(stored, memory):
    G = gd.generate.rmat(18, 16, seed=3, directed=False)
    S = gd.stream.open(stored(G, chunk="512KiB", building="1GiB").store.path, memory, device="cuda")
    at = np.arange(G.num_vertices)
    for draw in (WALKS["uniform"], WALKS["alias"]):
        equal(draw(S, at), draw(G, at))
    equal(gd.sample.node2vec(S, at[:20_000], 9, 0.5, 2.0), gd.sample.node2vec(G, at[:20_000], 9, 0.5, 2.0))
    equal(gd.sample.neighbors(S, at[:20_000], [10, 10]), gd.sample.neighbors(G, at[:20_000], [10, 10]))
