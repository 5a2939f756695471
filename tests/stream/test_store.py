"""A layered edge list on disk: what it holds, its size, and that nothing opens which is not whole."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import dask
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask.errors import WriteError
from graphdask.partition.larger import memory_for
from graphdask.stream.construct import chunk_for
from graphdask.stream.format import ALIGNMENT, Writer


def sorted_edges(G):
    """Edges in ascending order, an undirected one from its smaller end, with weights."""
    src, dst, weights = G.edges("cpu")
    if not G.directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    columns = [src, dst] if weights is None else [src, dst, weights]
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("name", ["dense random, directed", "dense random, undirected", "only self-loops", "no edges"])
def test_a_store_holds_the_edges_of_the_graph(stored, name, order, weighted):
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(3).random(len(src)) if weighted else None
    G = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    S = stored(G, order=order)
    assert (S.num_vertices, S.num_edges, S.directed, S.weighted) == (n, len(src), directed, weighted)
    for ours, theirs in zip(sorted_edges(S), sorted_edges(G), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(gd.connected_components(S.in_memory()).label, gd.connected_components(G).label)


def test_layers_are_those_of_a_search_from_the_root(stored):
    n, src, dst, directed = GRAPHS["binary tree"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), root=0)
    ids = np.concatenate([ids for _, ids in S.store.order()])
    assert S.layers == 8
    assert ids.tolist() == sorted(range(n), key=lambda v: ((v + 1).bit_length(), v))
    table = S.store.sections["out"].table
    assert table["layer"].tolist() == [(int(ids[first]) + 1).bit_length() - 1 for first in table["first"]]


def test_every_component_is_in_the_layers_of_its_smallest_vertex(stored):
    S = stored(gd.from_edges([4, 5, 1, 2], [5, 6, 2, 3], num_vertices=8, directed=False), root=6)
    assert [int(v) for _, ids in S.store.order() for v in ids] == [0, 1, 6, 7, 2, 5, 3, 4]
    assert S.layers == 3


def test_what_the_root_of_a_directed_graph_does_not_reach_stands_beyond_its_layers(stored):
    S = stored(gd.from_edges([0, 2, 3, 4, 5], [1, 3, 1, 5, 4], num_vertices=6), root=0)
    assert [int(v) for _, ids in S.store.order() for v in ids] == [0, 1, 2, 3, 4, 5]
    assert S.layers == 5


def test_chunks_have_a_size_and_rows_are_whole(stored):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    section = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), chunk=2048).store.sections["out"]
    sizes = 4 * section.table["edges"] + 8 * section.table["rows"]
    assert sizes.max() <= 2048
    assert (sizes[:-1] >= 1024).all()
    hub = stored(gd.from_edges(np.zeros(900, int), np.arange(1, 901)), chunk=1024).store.sections["out"]
    assert hub.table["edges"].tolist()[0] == 900


def test_a_store_is_no_larger_than_the_rows_in_memory(tmp_path):
    G = gd.generate.rmat(12, 16, seed=1)
    S = gd.stream.build(G, tmp_path / "graph.gdl")
    in_memory = 8 * (G.num_vertices + 1) + 4 * 2 * G.num_edges
    assert S.nbytes < 1.1 * in_memory


def test_a_store_made_in_many_buckets_is_the_same_file(tmp_path):
    G = gd.generate.rmat(11, 16, seed=2)
    one, many = (gd.stream.build(G, tmp_path / name, memory=memory, chunk="16KiB").store
                 for name, memory in (("one.gdl", "64MiB"), ("many.gdl", "1MiB")))  # fmt: skip
    for section in one.sections:
        np.testing.assert_array_equal(one.sections[section].table, many.sections[section].table)
    end = one.sections["out"].table["offset"].max()
    assert one.path.read_bytes()[ALIGNMENT:end] == many.path.read_bytes()[ALIGNMENT:end]


def test_a_native_file_is_read_in_blocks(tmp_path):
    rng = np.random.default_rng(5)
    src, dst, weights = 7 * rng.integers(0, 500, 9000), 7 * rng.integers(0, 500, 9000), rng.random(9000)
    G = gd.from_edges(src, dst, weights)
    gd.io.write_edges(gd.io.EdgeList(src, dst, weights), tmp_path / "graph.gdg")
    S = gd.stream.build(tmp_path / "graph.gdg", tmp_path / "graph.gdl", memory="600KiB", chunk="4KiB")
    np.testing.assert_array_equal(S.vertex_ids, G.vertex_ids)
    np.testing.assert_array_equal(gd.sssp(S, 14).distance, gd.sssp(G, 14).distance)
    assert not gd.stream.build(tmp_path / "graph.gdg", tmp_path / "plain.gdl", weights=False).weighted
    (tmp_path / "graph.txt").write_text("5 6\n6 7\n")
    T = gd.stream.build(tmp_path / "graph.txt", tmp_path / "text.gdl", directed=False)
    assert (T.num_edges, T.directed, T.vertex_ids.tolist()) == (2, False, [5, 6, 7])


def test_a_flipped_byte_anywhere_is_refused(stored):
    S = stored(gd.from_edges([10, 20, 20, 40], [20, 30, 40, 10], [1.5, 2.5, 3.5, 4.5]))
    path = S.store.path
    good = path.read_bytes()
    for place in range(0, len(good), 3):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        with pytest.raises(gd.FormatError, match=r"graph\.gdl"):
            gd.stream.open(path).verify()
    path.write_bytes(good)
    gd.stream.open(path).verify()


def test_a_damaged_chunk_is_named_when_it_is_read(stored):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed))
    path, section = S.store.path, S.store.sections["out"]
    place = int(section.table[5]["offset"]) + section.sizes(5)[0] + 4
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    opened = gd.stream.open(path, "1MiB")
    with pytest.raises(gd.FormatError, match=r"graph\.gdl: the edges of chunk 5 of out are damaged"):
        gd.connected_components(opened)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-1], "truncated or damaged"),
        (lambda data: data[:40], "truncated: 40 bytes"),
        (lambda data: data + b"x", "truncated or damaged"),
        (lambda data: data[:8] + b"\3" + data[9:], "format version 3; this graphdask reads versions 1 and 2: build"),
        (lambda data: data.replace(b"\r\n", b"\n", 1), "changed in transfer"),
        (lambda data: b"", "not a layered edge list"),
        (lambda data: bytes(64) + data[64:], "not a layered edge list, or one that was not finished"),
    ],
)
def test_what_is_no_whole_file_of_this_version_is_refused(stored, change, reason):
    path = stored(gd.from_edges([0, 1], [1, 2])).store.path
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(gd.FormatError, match=reason):
        gd.stream.open(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sorted", "whole"])
def test_a_build_that_is_killed_leaves_nothing_that_opens_and_the_next_one_clears_up(tmp_path, name):
    program = (
        "import os, signal, sys, graphdask as gd\n"
        "from graphdask.stream.format import Writer\n"
        "finish = Writer.finish\n"
        "def killed(self, described):\n"
        f"    if {name!r} == 'sorted': finish(self, described)\n"
        f"    if {name!r} in self._file.name: self._file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "    finish(self, described)\n"
        "Writer.finish = killed\n"
        f"gd.stream.build(gd.from_edges([0, 1], [1, 2]), {str(tmp_path / 'graph.gdl')!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=300, check=False)
    assert done.returncode == -9
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not (tmp_path / "graph.gdl").exists()
    assert left
    for path in left:
        with pytest.raises(gd.FormatError):
            gd.stream.open(path)
    (tmp_path / ".other.gdl.1.tmp").mkdir()
    assert gd.stream.build(gd.from_edges([0, 1], [1, 2]), tmp_path / "graph.gdl").num_edges == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.gdl.1.tmp", "graph.gdl"]


def test_a_full_disk_is_an_error_and_leaves_no_file(tmp_path, fault):
    fault(Writer, "append", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(WriteError, match=r"graph\.gdl cannot be written: no space left on device; nothing is left"):
        gd.stream.build(gd.from_edges([0, 1], [1, 2]), tmp_path / "graph.gdl")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_really_full_is_an_error_too():
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    writer = Writer.__new__(Writer)
    writer._file, writer.end = full.open("wb", buffering=1 << 10), 0
    with pytest.raises(OSError, match="No space left"):
        writer.append(np.zeros(1 << 16, np.uint8))
    writer.close()


G = gd.from_edges([0, 1, 2], [1, 2, 0])


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"order": "degree"}, gd.InputError, "order='degree' is not one of layers, ids"),
        ({"memory": "much"}, gd.InputError, "memory='much' is no number of bytes"),
        ({"chunk": 10}, gd.InputError, "chunk=10 is too small"),
        ({"root": 9}, gd.VertexNotFound, "root 9"),
        ({"root": 1, "order": "ids"}, gd.InputError, "root= is where layers are counted from"),
        ({"directed": True}, gd.InputError, "directed= and weights= are for a file"),
        ({"memory": 1100, "G": gd.from_edges([0], [999], num_vertices=1000)}, gd.OverBudget, "for 1,000 vertices"),
        ({"G": gd.from_edges([0], [1], directed=False), "inward": True}, gd.InputError, "inward=True is for a"),
        ({"G": 5}, gd.InputError, "G is a int, neither a Graph nor the path"),
        ({"G": dask.delayed(G)}, gd.InputError, "G is a Delayed, neither a Graph nor the path"),
        ({"memory": "16KiB", "G": gd.from_edges(np.zeros(900, int), np.ones(900, int))}, gd.OverBudget, "900 edges"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_and_leave_nothing(tmp_path, options, error, reason):
    given = {"G": G} | options
    with pytest.raises(error, match=reason):
        gd.stream.build(given.pop("G"), tmp_path / "graph.gdl", **given)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path):
    path = tmp_path / "graph.gdl"
    gd.stream.build(G, path)
    with pytest.raises(gd.InputError, match="exists; pass overwrite=True"):
        gd.stream.build(G, path)
    assert gd.stream.build(G, path, overwrite=True).num_edges == 3
    with pytest.raises(gd.InputError, match="there is no directory"):
        gd.stream.build(G, tmp_path / "nowhere" / "graph.gdl")


def test_what_cannot_be_streamed_says_what_to_do(stored):
    S = stored(G, inward=False)
    for call, reason in (
        (lambda: gd.strongly_connected_components(S), "built without them; build it with inward=True"),
        (lambda: gd.pagerank(S), "built without them; build it with inward=True"),
        (lambda: gd.bfs(S, 0, direction="pull"), "leave direction= out"),
        (lambda: gd.sssp(S, 0, delta=2), "leave delta= out"),
        (lambda: gd.bfs(S, 0, exchange="selective"), "exchange= has no meaning"),
        (lambda: gd.bfs(S, 0, allocation="fixed"), "allocation= has no meaning"),
        (lambda: S.partition(2, "random"), r"S\.in_memory\(\)\.partition"),
        (lambda: S.partition(2, device="cuda"), "give the number of parts alone"),
    ):
        with pytest.raises(gd.errors.Unsupported, match=reason):
            call()
    with pytest.raises(gd.OverBudget, match=r"open with .* MiB more, or build"):
        gd.bfs(stored(gd.from_edges(np.zeros(900, int), np.ones(900, int)), "2KiB"), 0)
    S.close()
    with pytest.raises(gd.InputError, match="was closed; open it again"):
        gd.bfs(S, 0)


def test_an_error_of_reading_it_like_any_file_says_what_opens_it(stored):
    with pytest.raises(gd.InputError, match=r"is a graph that is streamed: run, profile and info"):
        gd.read_graph(stored(G).store.path)


def test_negative_weights_are_refused_before_anything_is_read(stored):
    S = stored(gd.from_edges([4, 6], [6, 8], [1.0, -2.0]))
    with pytest.raises(gd.InputError, match=r"the weight -2\.0 of the edge from 6 to 8 is negative"):
        gd.sssp(S, 4)
    with pytest.raises(gd.InputError, match=r"the weight -2\.0 of the edge from 6 to 8 is negative"):
        gd.pagerank(S)
    assert gd.bfs(S, 4).depth.tolist() == [0, 1, 2]


def test_a_graph_that_is_too_large_for_memory_is_offered_to_be_streamed():
    graph = gd.generate.erdos_renyi(1_000_000, 1 << 24, seed=0).partition(1, device="cpu")
    with dask.config.set({"graphdask.memory-fraction": 1e-7}), pytest.raises(gd.OverBudget) as caught:
        gd.bfs(graph, 0)
    assert 'Or stream it from disk: graphdask.stream.build(G, "graph.gdl", memory="184MiB"), which' in str(caught.value)
    assert 'graphdask.stream.open("graph.gdl", memory="184MiB"), is a graph' in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("star", [False, True])
def test_the_memory_that_is_said_is_enough(star, rng, tmp_path):
    n = 100_000
    edges = [np.zeros(n - 1, np.int64), np.arange(1, n)] if star else rng.integers(0, n, (2, 8 * n))
    G = gd.from_edges(*edges, rng.random(len(edges[0])) + 0.1, num_vertices=n)
    said = memory_for(n)
    S = gd.stream.build(G, tmp_path / "graph.gdl", memory=said)
    for run in (S, S.partition(2)):
        gd.betweenness(run, [0], weight=None)
        assert gd.bfs(run, 0).depth.max() > 0
        assert len(gd.pagerank(run, max_iter=1, tol=1, dangling="self-loop", personalization={0: 1.0}).rank) == n


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3])
def test_so_much_more_is_enough(stored, parts):
    """A vertex has many edges in, another one fewer edges out: chunks of either direction are not alike."""
    n, m = 9000, 40_000
    src, dst = np.append(np.arange(m) % n, np.ones(n // 2, np.int64)), np.append(np.zeros(m, int), np.arange(n // 2))
    G = gd.from_edges(src, dst, np.arange(len(src)) % 7 + 0.5, num_vertices=n)
    path = stored(G, building="16MiB").store.path
    enough_at_once(lambda memory: gd.stream.open(path, memory).partition(parts))


@pytest.mark.slow
def test_so_much_more_is_enough_on_a_device(streamed):
    n, m = 1000, 3000
    src, dst = np.append(np.arange(m) % n, np.ones(n // 2, np.int64)), np.append(np.zeros(m, int), np.arange(n // 2))
    G = gd.from_edges(src, dst, np.arange(len(src)) % 7 + 0.5, num_vertices=n)
    path = streamed(G).store.path
    enough_at_once(lambda memory: gd.stream.open(path, memory, device="cuda", read_ahead=2))


def enough_at_once(opened):
    """Each algorithm runs in what it says that it needs, when it is told so for the first time."""
    calls = {
        "bfs": lambda S: gd.bfs(S, 0), "sssp": lambda S: gd.sssp(S, 0), "components": gd.connected_components,
        "betweenness": lambda S: gd.betweenness(S, 64, weight=None),
        "betweenness of one": lambda S: gd.betweenness(S, [0], weight=None),
        "pagerank": lambda S: gd.pagerank(S, max_iter=1, tol=3),
        "pagerank with loops": lambda S: gd.pagerank(S, max_iter=1, tol=3, dangling="self-loop", weighted=False),
    }  # fmt: skip
    for name, call in calls.items():
        for kib in (1, 150):
            try:
                call(opened(kib << 10))
            except gd.OverBudget as error:
                more = float(re.search(r"open with ([\d.,]+) MiB more", str(error))[1])
                call(opened((kib << 10) + int(more * 2**20)))
            else:
                assert kib > 1, name


def test_chunks_are_small_beside_memory_and_no_smaller_than_pays():
    assert [chunk_for(memory << 20) >> 10 for memory in (1, 16, 32, 64, 128, 512, 4096)] == [
        64, 1024, 2048, 2048, 4096, 16384, 16384,
    ]  # fmt: skip
    assert chunk_for(0) == 1024
