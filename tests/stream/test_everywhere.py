"""Labels, cores, strong components and triangles of graphs on disk: NetworkX's answers, and those in memory."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask.interface.registry import algorithms
from graphdask.stream import cores
from graphdask.stream.everywhere import Everywhere
from graphdask.stream.run import STREAMED
from graphdask.stream.tuning import STREAM

RESULTS = {primitive.result_type for primitive, form in STREAMED.items() if isinstance(form.run, Everywhere)}
KNOWN = {getattr(gd, name): known for name, known in algorithms().items() if known.result in RESULTS}
del KNOWN[gd.connected_components]  # a search that shares the result of strong components
del KNOWN[gd.modularity]  # of labels that a caller has
COLUMNS = {call: known.columns for call, known in KNOWN.items()}
UNDIRECTED = tuple(call for call, known in KNOWN.items() if known.undirected)
NAMES = (
    "one vertex with a self-loop", "duplicates both ways", "isolated vertices", "no edges", "only self-loops",
    "star inward", "cycle", "path backward", "binary tree", "complete", "sparse random, directed",
    "dense random, directed", "dense random, undirected", "scale-free",
)  # fmt: skip


def equal(a, b):
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)


def compare(G, S, calls=tuple(COLUMNS)):
    """Each algorithm over the store, beside memory."""
    for call in calls:
        if not (G.directed and call in UNDIRECTED):
            in_memory, from_disk = call(G), call(S)
            for column in COLUMNS[call]:
                equal(getattr(in_memory, column), getattr(from_disk, column))


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_in_memory(stored, name):
    n, src, dst, directed = GRAPHS[name]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    S = stored(G, "120KiB")
    compare(G, S)
    for parts in (3, 4):
        compare(G, S.partition(parts))
    compare(G, stored(G, "1MiB", order="ids").partition(2))


@pytest.mark.slow
def test_cores_and_triangles_are_those_of_networkx(stored):
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph = nx.Graph(list(zip(src.tolist(), dst.tolist(), strict=True)))
    S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "64KiB")
    assert gd.core_number(S).core.tolist() == [nx.core_number(graph)[v] for v in range(n)]
    found = gd.triangles(S)
    assert found.count.tolist() == [nx.triangles(graph)[v] for v in range(n)]
    assert found.total == sum(nx.triangles(graph).values()) // 3
    np.testing.assert_allclose(
        gd.local_clustering_coefficient(S).coefficient, [nx.clustering(graph)[v] for v in range(n)]
    )


@pytest.mark.parametrize("parts", [1, 4, 7])
def test_strong_components_of_rings_that_chunks_take_by_turns(stored, rng, parts):
    n = 600
    order = rng.permutation(n)
    ring = np.arange(n)
    ring = order[ring], order[np.where(ring % 50 == 49, ring - 49, ring + 1)]
    between = order[np.arange(0, n - 50, 50)], order[np.arange(50, n, 50)]
    src, dst = (np.concatenate(ends) for ends in zip(ring, between, strict=True))
    G = gd.from_edges(src, dst, rng.random(len(src)), num_vertices=n)
    S = stored(G, "120KiB", order="ids").partition(parts)
    expected = np.empty(n, np.int64)
    for members in order.reshape(-1, 50):
        expected[members] = members.min()
    np.testing.assert_array_equal(gd.strongly_connected_components(S).label, expected)


def test_rows_of_triangles_that_do_not_fit_at_once(stored):
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    G = gd.from_edges(np.append(src, src), np.append(dst, dst), num_vertices=n, directed=directed)
    many = gd.triangles(stored(G, "1MiB"))
    few = gd.triangles(gd.stream.open(many.graph.store.path, "24KiB"))
    equal(few.count, many.count)
    equal(few.count, gd.triangles(G).count)
    assert few.stats.streamed["sweeps"] > many.stats.streamed["sweeps"] == 1


@pytest.mark.parametrize("parts", [1, 2])
def test_what_is_said_to_be_enough_memory_is(stored, parts):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    for direction in (True, False):
        path = stored(gd.from_edges(src, dst, num_vertices=n, directed=direction)).store.path
        for call in COLUMNS if not direction else COLUMNS.keys() - set(UNDIRECTED):
            with pytest.raises(gd.OverBudget) as caught:
                call(gd.stream.open(path, "3KiB").partition(parts))
            more = float(str(caught.value).split("open with ")[1].split()[0])
            call(gd.stream.open(path, int((3 / 1024 + more) * 2**20)).partition(parts))


@pytest.mark.parametrize("directed", [True, False])
def test_what_is_said_to_be_taken_is_nearly_all_that_there_is_use_for(stored, directed):
    src, dst = np.random.default_rng(2).integers(0, 300, (2, 9000))
    S = stored(gd.from_edges(src, dst, num_vertices=300, directed=directed), "48KiB")
    apart = set(UNDIRECTED) if directed else {gd.strongly_connected_components}  # which are components there
    for call in COLUMNS.keys() - apart:
        assert 0.9 * S.memory < call(S).stats.memory <= S.memory, call


@pytest.mark.parametrize("parts", [None, 2])
def test_through_a_device_they_go_by_the_host(streamed, parts):
    for name in ("sparse random, directed", "scale-free"):
        n, src, dst, directed = GRAPHS[name]()
        G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
        S = streamed(G, "160KiB", parts=parts)
        compare(G.partition(1, device="cpu"), S)
        for call in COLUMNS.keys() - (set(UNDIRECTED) if directed else set()):
            call(S).verify()


def test_what_they_cannot_do_is_said(stored):
    S = stored(gd.from_edges([0, 1], [1, 0]), inward=False)
    for call in COLUMNS.keys() - set(UNDIRECTED):
        with pytest.raises(gd.errors.Unsupported, match="build it with inward=True"):
            call(S)
    S = stored(gd.from_edges([0, 1], [1, 2], directed=False))
    assert gd.label_propagation(S, 0).iterations == 0
    assert len(gd.triangles(stored(gd.from_edges([], [], directed=False))).count) == 0
    assert len(gd.strongly_connected_components(stored(gd.from_edges([], []))).label) == 0


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("name", "memory", "threads"), [("scale-free", "1MiB", [16]), ("star", "192KiB", range(2, 16))]
)
def test_labels_are_the_same_by_any_number_of_cores(stored, host, tuned, watched, name, memory, threads, directed):
    """Rows are divided among threads from the first edge on; a row of many edges leaves memory for fewer threads."""
    star = 3000, np.zeros(2999, np.int64), np.arange(1, 3000)
    n, src, dst = star if name == "star" else GRAPHS[name]()[:3]
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = gd.label_propagation(G, 20)
    begun = watched(cores.Cores, "__init__", lambda self, count=0: count)
    tuned(STREAM, one_core=1)
    for count in (1, 16):
        host.cores(count)
        found = gd.label_propagation(stored(G, memory), 20)
        equal(found.label, expected.label)
        assert found.iterations == expected.iterations
    assert begun[0] == 1
    assert begun[1] in threads
