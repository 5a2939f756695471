"""Chunks through a device: answers are those in memory to the last bit, on the emulator and on a GPU."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest
from graphs import GRAPHS, two_stars
from streams import weights_of

import graphdask as gd
from graphdask.stream import device_pagerank, device_sums, device_window
from graphdask.stream.tuning import STREAM

pytestmark = pytest.mark.filterwarnings("ignore:pagerank stopped")


def hub():
    """A row that all blocks share, and one that a block takes by turns."""
    rng = np.random.default_rng(8)
    src = np.concatenate([np.zeros(4500, np.int64), rng.integers(0, 700, 900), np.full(2500, 5)])
    dst = np.concatenate([rng.integers(0, 700, 4500), rng.integers(0, 700, 900), rng.integers(0, 700, 2500)])
    return 700, src, dst, False


MADE = {"a hub": hub, **{name: GRAPHS[name] for name in ("dense random, directed", "scale-free", "only self-loops")}}


def equal(a, b):
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a hub", None), ("a hub", "floats"), ("a hub", "whole"), ("dense random, directed", "zeros"),
     ("dense random, directed", "whole"), ("scale-free", "floats"), ("only self-loops", "zeros")],
)  # fmt: skip
def test_answers_are_those_in_memory_to_the_last_bit(streamed, name, kind):
    n, src, dst, directed = MADE[name]()
    G = gd.from_edges(src, dst, weights_of(kind, len(src)), num_vertices=n, directed=directed)
    chunk = 4096 if name == "a hub" else 1024
    S = streamed(G, "256KiB", order="ids" if kind == "whole" else "layers", chunk=chunk)
    a, b = gd.sssp(G, 1), gd.sssp(S, 1)
    equal(a.distance, b.distance)
    equal(a.parent, b.parent)
    a, b = gd.bfs(G, n - 1), gd.bfs(S, n - 1)
    equal(a.depth, b.depth)
    equal(a.parent, b.parent)
    equal(gd.connected_components(G).label, gd.connected_components(S).label)
    options = {"dtype": "float32"} if kind == "whole" else {"dangling": "self-loop"} if kind else {}
    a, b = (gd.pagerank(graph, max_iter=4, tol=1e-30, **options) for graph in (G, S))
    equal(a.rank, b.rank)
    assert (a.iterations, a.residual, a.error) == (b.iterations, b.residual, b.error)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sources", "order"), [
    ("a hub", 3, "layers"), ("dense random, directed", 40, "layers"), ("dense random, directed", [7], "ids"),
    ("scale-free", 9, "layers"), ("only self-loops", None, "layers"),
])  # fmt: skip
def test_betweenness_is_that_in_memory_on_the_device_to_the_last_bit(streamed, name, sources, order):
    n, src, dst, directed = MADE[name]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "3MiB", order=order, chunk=4096 if name == "a hub" else 1024)
    found = gd.betweenness(S, sources).verify()
    equal(gd.betweenness(G.partition(1, device="cuda"), sources).score, found.score)
    np.testing.assert_allclose(found.score, gd.betweenness(G, sources).score, rtol=1e-12, atol=1e-12)
    streamed = found.stats.streamed
    assert streamed["device"] == "cuda"
    assert streamed["nbytes"] >= streamed["distinct"] > 0


@pytest.mark.slow
def test_betweenness_with_room_for_a_few_sources_at_a_time(streamed):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, 800 * n, 0)
    found = gd.betweenness(S, 33)
    np.testing.assert_allclose(found.score, gd.betweenness(G, 33).score, rtol=1e-12, atol=1e-12)
    assert found.stats.memory <= 800 * n
    assert found.stats.streamed["chunks_read"] + found.stats.streamed["chunks_resident"] > 0


def reached(G, S, source, **how):
    """A search, and what it moved."""
    a, b = gd.bfs(G, source, **how), gd.bfs(S, source, **how)
    equal(a.depth, b.depth)
    equal(a.parent, b.parent)
    assert b.stats.streamed["nbytes"] >= b.stats.streamed["least"]
    return b.stats.streamed


@pytest.mark.parametrize("name", [
    "a hub", "short path", "dense random, directed", "star around the last", "duplicates both ways", "binary tree",
    "isolated vertices", "one vertex",
])  # fmt: skip
def test_rows_are_read_where_the_host_has_them(streamed, name):
    n, src, dst, directed = (MADE | GRAPHS)[name]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "256KiB", order="ids" if "star" in name else "layers", chunk=8192 if name == "a hub" else 1024)
    for source in (0, n - 1):
        for how in ({}, {"direction": "push"}):
            found = reached(G, S, source, **how)
            assert found["chunks_read"] == 0
            assert found["distinct"] == 0 or found["in_place"] > 0
    a, b = gd.sssp(G, n // 2), gd.sssp(S, n // 2)
    equal(a.distance, b.distance)
    equal(a.parent, b.parent)
    c = gd.connected_components(S)
    equal(gd.connected_components(G).label, c.label)
    assert b.stats.streamed["chunks_read"] == 0
    assert (c.stats.streamed["chunks_read"] > 0) == directed


def test_a_row_is_read_once_or_only_where_it_begins(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "256KiB")
    section = S.store.sections["out"]
    first = reached(G, S, 3)
    assert first["from_disk"] == first["distinct"] > 0
    pushed = reached(G, S, 3, direction="push")
    assert pushed["chunks_skipped"] == 0
    assert first["from_disk"] + pushed["from_disk"] == sum(sum(section.sizes(k)) for k in range(S.chunks))
    pushed, pulled, edges = reached(G, S, 3, direction="push"), reached(G, S, 3), 4 * section.num_edges
    assert edges <= pushed["in_place"] <= edges + 32 * n
    assert pulled["in_place"] < edges / 2
    assert pushed["from_disk"] == pulled["from_disk"] == 0


@pytest.mark.parametrize(("host_memory", "ahead"), [("12KiB", None), (None, 2)])
def test_chunks_are_copied_where_the_host_has_no_room_or_one_says_how_many(streamed, host_memory, ahead):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "96KiB", ahead, host_memory)
    joined = gd.connected_components(S)
    equal(gd.connected_components(G).label, joined.label)
    for found in (reached(G, S, 3), joined.stats.streamed):
        assert found["in_place"] == 0 < found["chunks_read"]


@pytest.mark.gpu
def test_rows_of_a_large_graph_are_read_in_place(stored):
    G = gd.generate.rmat(18, 16, seed=3, directed=False)
    path = stored(G, chunk="512KiB", building="1GiB").store.path
    S = gd.stream.open(path, "6MiB", device="cuda")
    root, edges = int(S.store.header["root"]), 4 * S.store.sections["out"].num_edges
    label = gd.connected_components(G).label
    for source in (root, int(np.flatnonzero(label == label[root])[-1])):
        for _ in range(2):
            assert reached(G, S, source)["in_place"] < edges / 2
        reached(G, S, source, direction="push")  # which reads chunks that no pull needed
        assert reached(G, S, source, direction="push")["in_place"] < 1.1 * edges
    found = gd.connected_components(S)
    equal(found.label, label)
    assert found.stats.streamed["in_place"] < edges / 2


@pytest.mark.gpu
@pytest.mark.parametrize("memory", ["20MiB", "26MiB", "80MiB"])
def test_copies_and_kernels_keep_out_of_each_others_way(stored, memory):
    G = gd.generate.rmat(18, 16, seed=3, directed=False)
    S = gd.stream.open(stored(G, chunk="512KiB", building="1GiB").store.path, memory, read_ahead=2, device="cuda")
    label = gd.connected_components(G).label
    equal(gd.connected_components(S).label, label)
    for source in (0, int(np.flatnonzero(label == label[0])[-1])):
        a, b = gd.bfs(G, source), gd.bfs(S, source)
        equal(a.depth, b.depth)
        equal(a.parent, b.parent)
    equal(gd.pagerank(G, max_iter=20).rank, gd.pagerank(S, max_iter=20).rank)
    S.memory *= 8  # for the tables of as many sources at a time
    equal(gd.betweenness(G.partition(1, device="cuda"), 4).score, gd.betweenness(S, 4).score)


def test_a_chunk_is_worked_on_until_nothing_in_it_changes(streamed):
    n = 1200
    weights = np.random.default_rng(1).integers(1, 100, n - 1)
    S = streamed(gd.from_edges(np.arange(1, n), np.arange(n - 1), weights, num_vertices=n, directed=False), "256KiB")
    found = gd.sssp(S, n - 1)
    np.testing.assert_array_equal(found.distance, np.append(np.cumsum(weights[::-1])[::-1], 0))
    streamed = found.stats.streamed
    assert streamed["sweeps"] <= 2
    assert streamed["chunks_read"] + streamed["chunks_resident"] <= 3 * S.chunks


@pytest.mark.parametrize(("memory", "host_memory", "ahead"), [("40KiB", "12KiB", None), ("36KiB", None, 0)])
def test_what_does_not_stay_moves_again_and_what_does_comes_once(streamed, memory, host_memory, ahead):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, memory, ahead, host_memory)
    size = sum(sum(S.store.sections["out"].sizes(number)) for number in range(S.chunks))
    equal(gd.pagerank(S, max_iter=5).rank, gd.pagerank(G, max_iter=5).rank)
    few = gd.pagerank(S, max_iter=2).stats.streamed
    assert few["device"] == "cuda"
    assert few["nbytes"] > few["distinct"] == size
    assert (few["from_disk"] > 0) == (host_memory is not None)
    S.memory = 1 << 21
    much = gd.pagerank(S, max_iter=3).stats.streamed
    assert much["nbytes"] == much["distinct"] == size
    assert much["chunks_resident"] == S.chunks * (much["sweeps"] - 1)


@pytest.mark.parametrize("stay", [[], [2, 3, 7], [0, 9], list(range(1, 10)), list(range(10))])
def test_chunks_that_are_copied_come_first_and_last_and_the_others_between_them(stay):
    window = device_window.DeviceWindow.__new__(device_window.DeviceWindow)
    window.chunks, window._there = range(10), dict.fromkeys(stay)
    mixed, others = window.mixed(), [number for number in range(10) if number not in stay]
    assert sorted(mixed) == list(range(10))
    assert [number for number in mixed if number not in stay] == others
    if len(others) > 1:
        assert (mixed[0], mixed[-1]) == (others[0], others[-1])
        cuts = np.diff([mixed.index(number) for number in others]) - 1
        assert cuts.max() - cuts.min() <= 1


@pytest.mark.parametrize(("memory", "ahead", "still_there"), [("28KiB", None, 3), ("24KiB", 0, 1), ("32KiB", 3, 4)])
def test_what_is_in_a_buffer_still_is_not_copied_again(streamed, memory, ahead, still_there):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, memory, ahead)
    equal(gd.pagerank(S, max_iter=4, tol=1e-30).rank, gd.pagerank(G, max_iter=4, tol=1e-30).rank)
    found = gd.pagerank(S, max_iter=4, tol=1e-30).stats.streamed
    visits = S.chunks * found["sweeps"]
    assert 0 <= found["chunks_read"] + found["chunks_resident"] - visits <= still_there  # those for an iteration more
    assert found["chunks_resident"] >= still_there * (found["sweeps"] - 1)


@pytest.mark.slow
def test_an_iteration_that_is_begun_in_vain_changes_nothing(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "28KiB")
    for tol in (1e-3, 1e-7):
        a, b = gd.pagerank(G, tol=tol), gd.pagerank(S, tol=tol)
        equal(a.rank, b.rank)
        assert 1 < a.iterations == b.iterations == b.stats.streamed["sweeps"] < 500


def test_results_are_proved(streamed):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed), "1MiB")
    for found in (gd.bfs(S, 0), gd.connected_components(S), gd.pagerank(S, tol=1e-3)):
        found.verify()


@pytest.mark.parametrize("ahead", [None, 2])
def test_an_edge_between_two_large_trees_is_not_left_to_the_other(streamed, ahead):
    n, src, dst = two_stars()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=False), "96KiB", ahead, order="ids")
    assert gd.connected_components(S).label.tolist() == [0] * n


def test_a_distance_that_is_too_large_names_the_vertex(streamed):
    with pytest.raises(gd.InputError, match="the distance of vertex 7 is too large for int64"):
        gd.sssp(streamed(gd.from_edges([5, 6], [6, 7], [2**62, 2**62])), 5)


@pytest.mark.slow
def test_a_graph_without_vertices(streamed):
    S = streamed(gd.from_edges([], []))
    assert len(gd.connected_components(S).label) == len(gd.pagerank(S).rank) == len(gd.betweenness(S).score) == 0


@pytest.mark.slow
def test_a_deep_road_in_place_is_one_launch_once_its_chunks_are_there(streamed):
    n = 1400
    S = streamed(gd.from_edges(np.arange(n - 1), np.arange(1, n), num_vertices=n, directed=False), "1MiB")
    gd.bfs(S, n - 1)
    assert gd.sssp(S, 0).distance.tolist() == list(range(n))


@pytest.mark.slow
def test_one_window_is_gone_before_the_next_is_made(streamed, watched):
    windows: weakref.WeakSet[device_window.DeviceWindow] = weakref.WeakSet()
    watched(device_window.DeviceWindow, "__init__", lambda window, *given, **named: windows.add(window))
    there = watched(device_pagerank, "give_back", lambda backend: len(windows))
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    G = gd.from_edges(src, dst, np.ones(len(src)), num_vertices=n)
    equal(gd.pagerank(streamed(G), max_iter=4, tol=1e-30).rank, gd.pagerank(G, max_iter=4, tol=1e-30).rank)
    assert there == [0]


def test_too_little_memory_is_said_beforehand(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    with pytest.raises(gd.OverBudget, match=r"BFS takes 20 bytes of the device per vertex"):
        gd.bfs(streamed(G, "1KiB"), 0)
    with pytest.raises(gd.OverBudget, match=r"betweenness takes 125 bytes of the device per vertex"):
        gd.betweenness(streamed(G, "1KiB"))
    with pytest.raises(gd.OverBudget, match=r"betweenness streams chunks of up to .* MiB more, or build the file"):
        gd.betweenness(streamed(G, 125 * n + 100))
    with pytest.raises(gd.OverBudget, match=r"PageRank streams chunks of up to .* MiB more, or build the file"):
        gd.pagerank(streamed(G, "18KiB"))
    with pytest.raises(gd.OverBudget, match=r"of host_memory= 0\.0 MiB are left"):
        gd.bfs(streamed(G, host_memory="1KiB"), 0)


def test_a_damaged_chunk_is_named_and_nothing_stays_behind(streamed):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    S = streamed(gd.from_edges(src, dst, num_vertices=n, directed=directed))
    offset = int(S.store.sections["out"].table["offset"][1])
    with S.store.path.open("r+b") as file:
        file.seek(offset + 70)
        byte = file.read(1)
        file.seek(offset + 70)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(gd.FormatError, match="of chunk 1 of out are damaged"):
        gd.connected_components(S)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("graphdask-read")]


def test_memory_of_the_host_is_for_a_gpu(stored):
    S = stored(gd.from_edges([0], [1]))
    with pytest.raises(gd.InputError, match="host_memory='1GiB' is for a GPU"):
        gd.stream.open(S.store.path, host_memory="1GiB", device="cpu")


@pytest.mark.usefixtures("late_copies")
@pytest.mark.parametrize("ahead", [0, 3])
def test_no_buffer_changes_before_its_copy_has_come(streamed, ahead):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, "28KiB", ahead, "12KiB")
    equal(gd.pagerank(G, max_iter=3).rank, gd.pagerank(S, max_iter=3).rank)
    found = gd.bfs(S, 5)
    equal(gd.bfs(G, 5).parent, found.parent)
    assert found.stats.streamed["from_disk"] > 0


def test_one_pass_from_the_root_is_exact(streamed):
    n, src, dst, directed = GRAPHS["scale-free"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = streamed(G, root=0)
    S = gd.stream.open(S.store.path, "96KiB", device="cuda", passes="one")
    a, b = gd.bfs(G, 0), gd.bfs(S, 0)
    equal(a.depth, b.depth)
    equal(a.parent, b.parent)
    assert b.stats.streamed["sweeps"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("kind", [None, "floats"])
def test_chunks_that_stay_are_summed_together(streamed, watched, kind, lost):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    src, dst = np.append(src, np.arange(700) % n), np.append(dst, np.full(700, 3))  # a row of several parts
    weights = None if kind is None else np.random.default_rng(2).random(len(src)) + 0.5
    G = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    S = streamed(G, "60KiB" if kind is None else "90KiB")

    def others_came(chunks):
        """To the places of the first ones; how many there were."""
        several = len(chunks)
        del chunks[:lost]
        return several

    sizes = watched(device_window.DeviceWindow, "together", answer=others_came)
    for options in ({}, {"dtype": "float32", "dangling": "self-loop"}, {"personalization": {3: 1.0, 5: 2.0}}):
        equal(gd.pagerank(S, max_iter=5, **options).rank, gd.pagerank(G, max_iter=5, **options).rank)
    assert max(sizes) > 2


def test_tables_of_small_chunks_that_stay_are_counted_and_do_not_grow(streamed, watched, tuned):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S, counts = streamed(G, "60KiB"), []
    made = watched(device_sums.Sums, "table_buffer", lambda sums, words: sums)
    for iterations, sets in ((6, 2), (9, 2), (9, 0.5)):
        tuned(STREAM, kept_tables=sets)
        result = gd.pagerank(S, max_iter=iterations, tol=1e-30)
        equal(result.rank, gd.pagerank(G, max_iter=iterations, tol=1e-30).rank)
        (sums,) = set(made)
        counts.append(len(made))
        made.clear()
        size = device_sums.table_bytes(sums.window.section, range(S.chunks))
        assert 8 * len(sums.words) == size > 60 * sets * S.chunks
        assert result.stats.memory <= S.memory
    steady, same, anew = counts
    assert 1 < steady == same < anew
