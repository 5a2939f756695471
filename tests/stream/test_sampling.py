"""Samples of a graph on disk: those in memory to the last bit, with room for any number of chunks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from streams import NEIGHBOURHOODS, WALKS, equal, weighted

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.engine.watchdog import Watchdog
from graphdask.stream.rows import SPARE, ChunkEnvironment, StoredRows, per_vertex
from graphdask.stream.store import Store


@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("name", ["dense random, directed", "sparse random, undirected"])
def test_samples_are_those_in_memory(stored, name, order):
    G = weighted(name)
    S = stored(G, "40KiB", order=order)
    assert S.chunks > 2
    for draw in (WALKS | NEIGHBOURHOODS).values():
        equal(draw(S, G.vertex_ids), draw(G, G.vertex_ids))


@pytest.mark.parametrize("name", [
    "one vertex", "one vertex with a self-loop", "only self-loops", "only duplicates", "isolated vertices", "no edges",
    "star outward", "star inward", "star around the last", "short path",
])  # fmt: skip
def test_shapes_that_are_unlike_most_graphs(stored, name):
    G = weighted(name)
    S = stored(G)
    for draw in (WALKS["uniform"], WALKS["rejection"], WALKS["node2vec"], *NEIGHBOURHOODS.values()):
        equal(draw(S, G.vertex_ids), draw(G, G.vertex_ids))


def test_nothing_is_drawn_from_no_vertices(stored):
    S = stored(gd.from_edges(np.zeros(0, int), np.zeros(0, int), np.zeros(0)))
    assert gd.sample.random_walk(S, np.zeros(0, int), 3).walks.shape == (0, 4)
    assert len(gd.sample.neighbors(S, np.zeros(0, int), [2]).src) == 0


def test_undirected_graphs_have_metropolis_hastings_walks_and_saint_subgraphs(stored):
    G = weighted("dense random, undirected")
    S = stored(G)
    at = G.vertex_ids
    equal(gd.sample.metropolis_hastings(S, at, 9), gd.sample.metropolis_hastings(G, at, 9))
    equal(gd.sample.saint_nodes(S, 20, 3), gd.sample.saint_nodes(G, 20, 3))
    equal(gd.sample.saint_edges(S, 20, 3), gd.sample.saint_edges(G, 20, 3))
    equal(gd.sample.saint_walks(S, 9, 4, 3), gd.sample.saint_walks(G, 9, 4, 3))


def test_a_graph_of_names_keeps_them(stored):
    src, dst = np.array(["b", "a", "c", "b"]), np.array(["a", "c", "b", "d"])
    G = gd.from_edges(src, dst)
    S = stored(G)
    equal(gd.sample.random_walk(S, ["a", "d"], 4), gd.sample.random_walk(G, ["a", "d"], 4))
    equal(gd.sample.neighbors(S, ["b"], [-1, 2]), gd.sample.neighbors(G, ["b"], [-1, 2]))


@pytest.mark.slow
def test_samples_do_not_depend_on_how_much_is_in_memory(stored):
    G = weighted("dense random, directed")
    S = stored(G)
    read = {}
    for memory in ("12KiB", "16KiB", "64KiB", "1MiB"):
        S = gd.stream.open(S.store.path, memory)
        found = WALKS["uniform"](S, G.vertex_ids)
        equal(found, WALKS["uniform"](G, G.vertex_ids))
        read[memory] = found.stats.streamed["chunks_read"]
    assert list(read.values()) == sorted(read.values(), reverse=True)
    assert read["1MiB"] == S.chunks < read["12KiB"]
    assert found.placement == "on disk"
    assert found.stats.streamed["nbytes"] == found.stats.streamed["distinct"] <= S.nbytes


@pytest.mark.parametrize("ahead", [0, None, 3])
def test_chunks_that_come_next_are_read_while_others_are_drawn_from(stored, watched, ahead):
    G = weighted("dense random, directed")
    S = stored(G)
    S = gd.stream.open(S.store.path, "24KiB", read_ahead=ahead)
    threads = watched(Store, "read", lambda *given: threading.current_thread().name)
    for draw in (WALKS["uniform"], WALKS["alias"], NEIGHBOURHOODS["neighbors"], NEIGHBOURHOODS["of in-edges"]):
        threads.clear()
        found = draw(S, G.vertex_ids)
        equal(found, draw(G, G.vertex_ids))
        streamed = found.stats.streamed
        assert streamed["chunks_read"] == len(threads)
        beside = sum(name.startswith("graphdask-read") for name in threads)
        assert beside == 0 if ahead == 0 else beside > len(threads) // 4
        assert streamed["chunks_unused"] <= beside
        assert found.stats.memory <= 24 << 10
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("graphdask-read")]


def test_what_was_read_ahead_goes_where_another_chunk_is_entered(stored):
    S = stored(weighted("dense random, directed"), inward=False)
    section, n = S.store.sections["out"], S.num_vertices
    most = max(sum(section.sizes(number)) + 28 * (int(section.table[number]["rows"]) + 1) for number in range(4))
    memory = (per_vertex(S.store, False) * n + most + section.most_bytes + 64) * SPARE // (SPARE - 1) + 1
    env = ChunkEnvironment(get_backend("cpu"), 0, 1, "selective", Watchdog(), ahead=1)
    rows = StoredRows(env, S.store, section, memory, "a test", 0, lambda csr: 0)
    waiting = np.zeros(len(rows), np.int64)
    rows.enter(0, waiting)
    rows.settle(0)
    rows.read_ahead([0, 1, 2], waiting)
    assert rows.held == [0, 1]
    rows._coming[1].result()
    rows.read_ahead([2], waiting)  # one at a time
    assert rows.held == [0, 1]
    waiting[0] = 1
    rows.enter(3, waiting)  # for which 1 goes, where nobody waits
    assert (rows.traffic.chunks, rows.traffic.unused) == (3, 1)
    rows.close()


def test_ranks_draw_their_shares_and_chunks_of_instances_are_those_of_all(stored):
    G = weighted("sparse random, undirected")
    S, at = stored(G), G.vertex_ids
    for draw in (WALKS["inverse"], NEIGHBOURHOODS["neighbors"]):
        expected = draw(G, at)
        shared = draw(S.partition(3), at)
        equal(shared, expected)
        assert shared.stats.ranks == 3
    walks = [some.walks for some in gd.sample.in_chunks(gd.sample.random_walk, S, at, 9, chunk=77)]
    np.testing.assert_array_equal(np.concatenate(walks), gd.sample.random_walk(G, at, 9).walks)


def test_edges_have_the_rows_that_they_have_in_memory(stored):
    from graphdask import execute
    from graphdask.sample.traversal import NumberedTraversal

    G = weighted("dense random, directed")
    for order in ("layers", "ids"):
        S = stored(G, order=order, edge_rows=True)
        for options in ({}, {"direction": "in"}, {"bias": "weight"}):
            a, b = (execute.sample(H, NumberedTraversal(np.arange(9), None, (4, 3), **options), "auto") for H in (G, S))
            np.testing.assert_array_equal(b._internal("edge"), a._internal("edge"))


def test_what_is_not_drawn_from_disk_says_what_to_do_instead(stored):
    G = weighted("dense random, directed")
    S, sample = stored(G, inward=False), gd.sample
    spec = sample.Spec(depth=2)
    for call, reason in (
        (lambda: sample.metapath_walk(S, [0], 2, metapath=[1]), r"metapath walk .* S\.in_memory\(\)"),
        (lambda: sample.layer(S, [0], [2]), r"layer sampling .* S\.in_memory\(\)"),
        (lambda: sample.frontier_sampling(S, [[0, 1]], 2), r"S\.in_memory\(\)"),
        (lambda: sample.personalized_pagerank(S, [0], walks=9), r"S\.in_memory\(\)"),
        (lambda: sample.random_edges(S, 2), r"edge sampling .* S\.in_memory\(\)"),
        (lambda: sample.run(S, spec, [0]), r"S\.in_memory\(\)"),
        (lambda: sample.random_walk(S, [0], 2, placement="partitioned"), "leave it out"),
        (lambda: sample.random_walk(S, [0], 2, placement="streamed"), "leave it out"),
        (lambda: sample.neighbors(S, [0], [2], direction="in"), "inward=True"),
        (lambda: sample.random_walk(gd.stream.open(S.store.path, passes="one"), [0], 2), 'passes="exact"'),
        (lambda: sample.random_walk(S, [0], 2).verify(), r"S\.in_memory\(\)"),
    ):  # fmt: skip
        with pytest.raises(gd.errors.Unsupported, match=reason):
            call()
    assert S.store.sections.keys() == {"out"}
    with pytest.raises(gd.errors.VertexNotFound):
        sample.random_walk(S, [G.num_vertices], 2)
    with pytest.raises(gd.errors.OverBudget, match="for a chunk with its tables"):
        sample.random_walk(gd.stream.open(S.store.path, "3KiB"), [0], 2)


def test_a_weight_that_is_no_bias_is_refused_by_its_edge(stored):
    S = stored(gd.from_edges([0, 1], [1, 2], [1.0, -2.0]))
    with pytest.raises(gd.InputError, match=r"weight -2\.0 of the edge from 1 to 2"):
        gd.sample.random_walk(S, [0], 2, bias="weight")


def test_a_damaged_chunk_is_refused_by_name(stored):
    S = stored(weighted("dense random, directed"))
    entry = S.store.sections["out"].table[1]
    with S.store.path.open("r+b") as file:
        file.seek(int(entry["offset"]) + S.store.sections["out"].sizes(1)[0])
        file.write(b"\xff\xff\xff\xff")
    for memory in ("1GiB", "12KiB"):  # all at once; one chunk after the other, read ahead
        with pytest.raises(gd.errors.FormatError, match="chunk 1 of out"):
            gd.sample.random_walk(gd.stream.open(S.store.path, memory), np.arange(200), 9)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("graphdask-read")]


MEASURED = """
import ctypes, gc, json, sys
import numpy as np, graphdask as gd

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

calls = {
    "uniform": lambda S: gd.sample.random_walk(S, np.arange(S.num_vertices) % 64, 8),
    "weight": lambda S: gd.sample.random_walk(S, np.arange(S.num_vertices) % 64, 4, bias="weight", method="alias"),
    "node2vec": lambda S: gd.sample.node2vec(S, np.arange(1000) % 64, 4, 0.5, 2.0, weighted=False),
    "neighbors": lambda S: gd.sample.neighbors(S, np.arange(500) % 64, [4, 4], bias="weight"),
}
for call in calls.values():
    call(gd.stream.open(sys.argv[1] + ".small", "4MiB"))
found = {}
for name, call in calls.items():
    S = gd.stream.open(sys.argv[1], int(sys.argv[2]))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, and does not hide what is taken
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")  # the peak is counted from here
    before = status("VmRSS:")
    result = call(S)
    held = sum(result.parts.fetch(lambda kept: sum(column.nbytes for column in kept.columns.values())))
    found[name] = status("VmHWM:") - before, held, result.stats.memory
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_memory_beside_the_samples_is_below_the_budget(tmp_path):
    memory, rng = 12 << 20, np.random.default_rng(1)
    for name, n, m in (("graph.gdl.small", 64, 400), ("graph.gdl", 1 << 16, 1 << 20)):
        src, dst = rng.integers(0, n, m) ** 2 // n, rng.integers(0, n, m)
        G = gd.from_edges(src, dst, rng.integers(1, 9, m), num_vertices=n)
        S = gd.stream.build(G, tmp_path / name, memory="16MiB", chunk="128KiB", inward=False)
    assert S.nbytes > memory
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(S.store.path), str(memory)], capture_output=True, text=True, timeout=600,
        check=False, env=os.environ | {"GRAPHDASK_DEVICE": "cpu"},
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("the peak of a process cannot be reset here")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert {name: size for name, (size, held, _) in found.items() if size > 1.1 * memory + held} == {}
    assert all(announced <= memory for _, _, announced in found.values())
