"""Several ranks, each with a device, stream a store: answers are those in memory to the last bit, whoever reads what.

On the emulator, and on a GPU that they share, ranks are threads; a process for each GPU is what `multigpu` is for.
"""

from __future__ import annotations

import dask
import numpy as np
import pytest
from emulated import emulated, stand_in
from gangs import dask_cluster
from graphs import GRAPHS

import graphdask as gd
from graphdask.cluster.local import local_cluster
from graphdask.stream import shared

CALLS = {
    "bfs": lambda G: gd.bfs(G, 1),
    "sssp": lambda G: gd.sssp(G, 2),
    "components": gd.connected_components,
    "pagerank": lambda G: gd.pagerank(G, max_iter=5),
    "loops": lambda G: gd.pagerank(G, max_iter=3, dangling="self-loop", personalization={2: 1.0}, dtype="float32"),
}

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def streamed(request, monkeypatch, stored):
    """Store a graph, and open it for ranks that have a device."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())

    def store(G, parts, memory="1MiB", host_memory=None, **options):
        path = stored(G, **options).store.path
        return gd.stream.open(path, memory, device="cuda", host_memory=host_memory).partition(parts)

    return store


def weights_of(kind, count):
    rng = np.random.default_rng(7)
    drawn = {"whole": rng.integers(1, 9, count), "zeros": rng.integers(0, 2, count), "floats": rng.random(count)}
    return drawn.get(kind)


def hubs():
    """Rows that all blocks share, of a section whose chunks lie across the border of ranks."""
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, 700, 8000), np.concatenate([np.full(5000, 3), rng.integers(0, 700, 3000)])
    return 700, np.concatenate([src, np.full(5000, 9)]), np.concatenate([dst, rng.integers(0, 700, 5000)]), True


MADE = GRAPHS | {"hubs": hubs}


def same(G, S, calls=CALLS):
    """All answers over S are those over G in memory."""
    for name in calls:
        a, b = CALLS[name](G), CALLS[name](S)
        for column in a.columns:
            assert getattr(a, column).dtype == getattr(b, column).dtype
            np.testing.assert_array_equal(getattr(a, column), getattr(b, column), err_msg=name)
        assert b.stats.ranks == S.plan.parts
        assert b.stats.streamed["device"] == "cuda"
    return b


@pytest.mark.parametrize(
    ("name", "kind", "order", "parts"),
    [
        ("dense random, directed", "zeros", "layers", 3),
        ("sparse random, undirected", "zeros", "layers", 2),
        ("sparse random, directed", "floats", "ids", 2),
        ("dense random, undirected", "whole", "layers", 3),
        ("scale-free", None, "ids", 1),
        ("scale-free", None, "layers", 7),
        ("hubs", "floats", "layers", 3),
        ("no edges", None, "layers", 2),
        ("only self-loops", "floats", "layers", 3),
    ],
)
def test_ranks_together_answer_as_one_in_memory(streamed, name, kind, order, parts):
    n, src, dst, directed = MADE[name]()
    G = gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)
    same(G, streamed(G, parts, order=order, chunk=4096 if name == "hubs" else 1024))


@pytest.mark.parametrize("kind", ["whole", "nothing"])
def test_a_path_to_and_fro_among_ranks_is_told_in_pieces(streamed, monkeypatch, kind):
    monkeypatch.setattr(shared, "LEAST", 2)
    n, rng = 120, np.random.default_rng(5)
    order = np.concatenate([np.arange(n), np.tile(rng.permutation(n), 2)])
    weights = np.append(rng.integers(1, 9, len(order) - 1), np.full(n, 50)) * (kind == "whole")
    src, dst = np.concatenate([order[:-1], np.full(n, 7)]), np.concatenate([order[1:], np.arange(n)])
    G = gd.from_edges(src, dst, weights, num_vertices=n)
    same(G, streamed(G, 3, order="ids"), ("sssp", "bfs"))


def test_an_edge_between_two_large_trees_is_not_left_to_the_other(streamed):
    n, centre = 600, 300
    src = np.concatenate([np.zeros(centre - 1, int), np.full(n - centre - 1, centre), [5]])
    dst = np.concatenate([np.arange(1, centre), np.arange(centre + 1, n), [n - 1]])
    G = gd.from_edges(src, dst, num_vertices=n, directed=False)
    assert gd.connected_components(streamed(G, 2, order="ids")).label.tolist() == [0] * n


def test_results_are_proved(streamed):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), 2)
    for call in CALLS.values():
        call(S).verify()


def test_chunks_stay_in_memory_of_the_host_and_all_are_counted(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), 3)
    size = sum(sum(S.store.sections["out"].sizes(number)) for number in range(S.chunks))
    first, then = (gd.pagerank(S, max_iter=3).stats.streamed for _ in range(2))
    assert first["from_disk"] == first["nbytes"] == first["least"] == size
    assert (then["from_disk"], then["nbytes"]) == (0, size)


def test_little_memory_moves_chunks_again(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    found = same(G, streamed(G, 2, "32KiB", "12KiB"), ("bfs", "pagerank")).stats.streamed
    assert found["nbytes"] > found["least"]
    assert found["from_disk"] > found["least"]


def test_each_rank_needs_its_own_memory(streamed):
    n, src, dst, directed = GRAPHS["scale-free"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), 2, "8KiB")
    with pytest.raises(gd.OverBudget, match="MiB are left"):
        gd.bfs(S, 0)
    S.memory = 1 << 20
    gd.bfs(S, 0).verify()


def test_a_distance_that_is_too_large_names_the_vertex(streamed):
    S = streamed(gd.from_edges([5, 6], [6, 7], [2**62, 2**62]), 2)
    with pytest.raises(gd.InputError, match="the distance of vertex 7 is too large for int64"):
        gd.sssp(S, 5)


def test_a_graph_without_vertices(streamed):
    S = streamed(gd.from_edges([], []), 2)
    assert len(gd.connected_components(S).label) == len(gd.pagerank(S).rank) == 0


def test_what_is_done_on_cpus_alone_says_so(streamed, stored):
    S = streamed(gd.from_edges([0, 1], [1, 2]), 2)
    for call in (gd.betweenness, lambda graph: gd.sample.random_walk(graph, [0], 2)):
        with pytest.raises(gd.Unsupported, match=r'through .* CPUs?; open .* with\s+device="cpu"'):
            call(S)
    once = gd.stream.open(S.store.path, device="cuda", passes="one")
    with pytest.raises(gd.Unsupported, match='passes="one" is for one rank'):
        gd.bfs(once.partition(2), 0)
    with dask.config.set({"graphdask.device": "auto"}):
        either = gd.stream.open(S.store.path, "1MiB", host_memory="1MiB").partition(2)
        with pytest.raises(gd.InputError, match="host_memory= is for a GPU"):
            gd.betweenness(either)
        either.host_memory = None
        assert "device" not in gd.betweenness(either).stats.streamed
        assert gd.bfs(either, 0).stats.streamed["device"] == "cuda"


@pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning")
def test_a_worker_streams_through_its_device(streamed):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    G = gd.from_edges(src, dst, weights_of("floats", len(src)), num_vertices=n, directed=directed)
    distance, rank = gd.sssp(G, 2).distance, gd.pagerank(G, max_iter=3).rank
    with dask_cluster(1, processes=False) as client, client.as_current():
        for parts in (1, 2):
            S = streamed(G, parts)
            for again in (False, True):
                found = gd.sssp(S, 2)
                np.testing.assert_array_equal(found.distance, distance)
                assert found.stats.ranks == parts
                assert found.stats.streamed["device"] == "cuda"
                assert (found.stats.streamed["from_disk"] == 0) == again
                found.verify()
            np.testing.assert_array_equal(gd.pagerank(S, max_iter=3).rank, rank)


@pytest.mark.multigpu
@pytest.mark.parametrize("comm", ["auto", "nccl"])
def test_a_process_for_each_gpu(stored, comm):
    rng = np.random.default_rng(1)
    src, dst = (20_000 * rng.random((2, 300_000)) ** 2).astype(np.int64)
    G = gd.from_edges(src, dst, rng.random(len(src)), num_vertices=20_000, directed=False)
    path = stored(G, chunk="64KiB", building="1GiB").store.path
    answers = {name: CALLS[name](G) for name in CALLS}
    S = gd.stream.open(path, "16MiB", device="cuda")
    with local_cluster(2, "cuda") as client, client.as_current(), dask.config.set({"graphdask.comm": comm}):
        for again in (False, True):
            for name, expected in answers.items():
                found = CALLS[name](S)
                for column in expected.columns:
                    np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=name)
                assert found.stats.ranks == 2
                assert found.stats.streamed["device"] == "cuda"
                assert (found.stats.streamed["from_disk"] > 0) == (name == "bfs" and not again)
            found.verify()
