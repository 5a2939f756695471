"""Several ranks, each with a device, stream a store: answers are those in memory to the last bit, whoever reads what.

On the emulator, and on a GPU that they share, ranks are threads; a process for each GPU is what `multigpu` is for.
"""

from __future__ import annotations

import dask
import numpy as np
import pytest
from gangs import dask_cluster
from graphs import GRAPHS
from streams import WALKS, equal, weights_of

import graphdask as gd
from graphdask.cluster.local import local_cluster
from graphdask.stream.tuning import STREAM

CALLS = {
    "bfs": lambda G: gd.bfs(G, 1),
    "sssp": lambda G: gd.sssp(G, 2),
    "components": gd.connected_components,
    "pagerank": lambda G: gd.pagerank(G, max_iter=5),
    "loops": lambda G: gd.pagerank(G, max_iter=3, dangling="self-loop", personalization={2: 1.0}, dtype="float32"),
}

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped")


def hubs():
    """Rows that all blocks share, of a section whose chunks lie across the border of ranks."""
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, 700, 8000), np.concatenate([np.full(5000, 3), rng.integers(0, 700, 3000)])
    return 700, np.concatenate([src, np.full(5000, 9)]), np.concatenate([dst, rng.integers(0, 700, 5000)]), True


MADE = GRAPHS | {"hubs": hubs}


def same(G, S, calls=CALLS):
    """All answers over S are those over G in memory."""
    for name in calls:
        b = CALLS[name](S)
        equal(b, CALLS[name](G))
        assert b.stats.ranks == S.plan.parts
        assert b.stats.streamed["device"] == "cuda"
    return b


@pytest.mark.parametrize(
    ("name", "kind", "order", "parts"),
    [
        ("dense random, directed", "zeros", "layers", 3),
        ("sparse random, undirected", "zeros", "layers", 2),
        ("sparse random, directed", "floats", "ids", 2),
        ("dense random, undirected", "whole", "layers", 4),
        ("scale-free", None, "ids", 1),
        ("scale-free", None, "layers", 7),
        ("hubs", "floats", "layers", 3),
        ("no edges", None, "layers", 4),
        ("only self-loops", "floats", "layers", 3),
    ],
)
def test_ranks_together_answer_as_one_in_memory(streamed, name, kind, order, parts):
    n, src, dst, directed = MADE[name]()
    G = gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)
    same(G, streamed(G, "1MiB", parts=parts, order=order, chunk=4096 if name == "hubs" else 1024))


@pytest.mark.parametrize(
    ("name", "sources", "order", "parts"),
    [
        ("sparse random, directed", 12, "ids", 4),
        ("sparse random, undirected", 5, "layers", 3),
        ("isolated vertices", None, "layers", 2),
        ("hubs", 3, "layers", 3),
        ("hubs", [3], "ids", 1),
        ("only self-loops", None, "layers", 2),
    ],
)
def test_betweenness_is_that_in_memory_on_a_device(streamed, name, sources, order, parts):
    n, src, dst, directed = MADE[name]()
    G = gd.from_edges(src, dst, weights_of("whole", len(src)), num_vertices=n, directed=directed)
    S = streamed(G, "4MiB", parts=parts, order=order, chunk=4096 if name == "hubs" else 1024)
    found = gd.betweenness(S, sources, weight=None)
    equal(found, gd.betweenness(G.partition(1, device="cuda"), sources, weight=None))
    np.testing.assert_allclose(found.score, gd.betweenness(G, sources, weight=None).score, rtol=1e-12, atol=1e-12)
    assert (found.stats.ranks, found.stats.streamed["device"]) == (parts, "cuda")
    found.verify()


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_betweenness_with_room_for_any_number_of_chunks(streamed, directed):
    src, dst = np.random.default_rng(3).integers(0, 60, (2, 4500))
    G = gd.from_edges(src, dst, num_vertices=60, directed=directed)
    S = streamed(G, parts=3)
    one, some = (gd.betweenness(G.partition(1, device="cuda"), sources).score for sources in ([5], 9))
    read = []
    for memory in (16 << 10, 20 << 10, 24 << 10, 32 << 10, 40 << 10):
        S.memory = memory
        try:
            found = gd.betweenness(S, [5])
        except gd.OverBudget:
            assert not read
            continue
        np.testing.assert_array_equal(found.score, one)
        assert found.stats.memory <= memory
        read.append(found.stats.streamed["chunks_read"])
    np.testing.assert_allclose(gd.betweenness(S, 9).score, some, rtol=1e-12, atol=1e-12)
    assert read == sorted(read, reverse=True)
    assert read[0] > read[-1]


@pytest.mark.parametrize("kind", ["whole", "nothing"])
def test_a_path_to_and_fro_among_ranks_is_sent_in_pieces(streamed, tuned, kind):
    tuned(STREAM, reported=2)
    n, rng = 120, np.random.default_rng(5)
    order = np.concatenate([np.arange(n), np.tile(rng.permutation(n), 2)])
    weights = np.append(rng.integers(1, 9, len(order) - 1), np.full(n, 50)) * (kind == "whole")
    src, dst = np.concatenate([order[:-1], np.full(n, 7)]), np.concatenate([order[1:], np.arange(n)])
    G = gd.from_edges(src, dst, weights, num_vertices=n)
    same(G, streamed(G, "1MiB", parts=3, order="ids"), ("sssp", "bfs"))


def test_an_edge_between_two_large_trees_is_not_left_to_the_other(streamed):
    n, centre = 600, 300
    src = np.concatenate([np.zeros(centre - 1, int), np.full(n - centre - 1, centre), [5]])
    dst = np.concatenate([np.arange(1, centre), np.arange(centre + 1, n), [n - 1]])
    G = gd.from_edges(src, dst, num_vertices=n, directed=False)
    assert gd.connected_components(streamed(G, "1MiB", parts=2, order="ids")).label.tolist() == [0] * n


@pytest.mark.slow
def test_results_are_proved(streamed):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), "1MiB", parts=2)
    for call in (*CALLS.values(), lambda S: gd.betweenness(S, 5)):
        call(S).verify()


def test_chunks_stay_in_memory_of_the_host_and_all_are_counted(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), "1MiB", parts=3)
    size = sum(sum(S.store.sections["out"].sizes(number)) for number in range(S.chunks))
    first, then = (gd.pagerank(S, max_iter=3).stats.streamed for _ in range(2))
    assert first["from_disk"] == first["nbytes"] == first["distinct"] == size
    assert (then["from_disk"], then["nbytes"]) == (0, size)


def test_little_memory_moves_chunks_again(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    found = same(G, streamed(G, "32KiB", None, "12KiB", parts=2), ("bfs", "pagerank")).stats.streamed
    assert found["nbytes"] > found["distinct"]
    assert found["from_disk"] > found["distinct"]


def test_each_rank_needs_its_own_memory(streamed):
    n, src, dst, directed = GRAPHS["scale-free"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), "8KiB", parts=2)
    with pytest.raises(gd.OverBudget, match="MiB more"):
        gd.bfs(S, 0)
    S.memory = 1 << 20
    gd.bfs(S, 0).verify()


def test_a_distance_that_is_too_large_names_the_vertex(streamed):
    S = streamed(gd.from_edges([5, 6], [6, 7], [2**62, 2**62]), "1MiB", parts=2)
    with pytest.raises(gd.InputError, match="the distance of vertex 7 is too large for int64"):
        gd.sssp(S, 5)


def test_a_graph_without_vertices(streamed):
    S = streamed(gd.from_edges([], []), "1MiB", parts=2)
    assert len(gd.connected_components(S).label) == len(gd.pagerank(S).rank) == len(gd.betweenness(S).score) == 0


def test_one_pass_is_for_one_rank(streamed):
    S = streamed(gd.from_edges([0, 1], [1, 2]))
    once = gd.stream.open(S.store.path, device="cuda", passes="one")
    with pytest.raises(gd.Unsupported, match='passes="one" is for one rank'):
        gd.bfs(once.partition(2), 0)


def test_ranks_take_the_devices_that_are_there(streamed):
    S = streamed(gd.from_edges([0, 1], [1, 2]))
    with dask.config.set({"graphdask.device": "auto"}):
        either = gd.stream.open(S.store.path, "1MiB", host_memory="1MiB").partition(2)
        for found in (gd.betweenness(either), gd.bfs(either, 0), gd.sample.neighbors(either, [0], [2])):
            assert found.stats.streamed["device"] == "cuda"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
def test_a_worker_streams_through_its_device(streamed):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    G = gd.from_edges(src, dst, weights_of("floats", len(src)), num_vertices=n, directed=directed)
    distance, rank, at = gd.sssp(G, 2).distance, gd.pagerank(G, max_iter=3).rank, G.vertex_ids[::9]
    score = gd.betweenness(G.partition(1, device="cuda"), 3, weight=None)
    with dask_cluster(1, processes=False) as client, client.as_current():
        for parts in (1, 2):
            S = streamed(G, "3MiB", parts=parts)
            for again in (False, True):
                found = gd.sssp(S, 2)
                np.testing.assert_array_equal(found.distance, distance)
                assert found.stats.ranks == parts
                assert found.stats.streamed["device"] == "cuda"
                assert (found.stats.streamed["from_disk"] == 0) == again
                found.verify()
            np.testing.assert_array_equal(gd.pagerank(S, max_iter=3).rank, rank)
            equal(gd.betweenness(S, 3, weight=None).verify(), score)
            equal(WALKS["alias"](S, at), WALKS["alias"](G, at))


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["auto", "nccl"])
def test_a_process_for_each_gpu(stored, comm):
    rng = np.random.default_rng(1)
    src, dst = (20_000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    G = gd.from_edges(src, dst, rng.random(len(src)), num_vertices=20_000, directed=False)
    path = stored(G, chunk="64KiB", building="1GiB").store.path
    alone, at = G.partition(1, device="cuda"), G.vertex_ids
    calls = CALLS | {
        "betweenness": lambda G: gd.betweenness(G, 8, weight=None),
        "walk": lambda G: gd.sample.random_walk(G, at, 20, bias="weight"),
        "neighbors": lambda G: gd.sample.neighbors(G, at[::7], [9, 5]),
    }
    answers = {name: calls[name](alone if name == "betweenness" else G) for name in calls}
    S = gd.stream.open(path, "32MiB", device="cuda")
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
        for again in (False, True):
            for name, expected in answers.items():
                found = calls[name](S)
                equal(found, expected)
                assert found.stats.ranks == 2
                assert found.stats.streamed["device"] == "cuda"
                if name in CALLS:
                    assert (found.stats.streamed["from_disk"] > 0) == (name == "bfs" and not again)
                if name in ("loops", "betweenness"):
                    found.verify()
