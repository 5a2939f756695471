"""Triangles, clustering coefficients, core numbers and propagated labels are those of NetworkX, SciPy and LDBC."""

from __future__ import annotations

import tracemalloc
from functools import cache

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from memory import OTHERS
from reference import adjacency, local_clustering, propagated_labels, triangle_counts

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask import execute
from graphdask.algorithms import triangles
from graphdask.algorithms.tuning import CORES, LABELS, TRIANGLES
from graphdask.io import read_vertex_values
from graphdask.partition.tuning import PARTITION

PARTS = (1, 2, 3, 4, 7)
COMBINATIONS = {
    1: [("range", "all", "selective")],
    2: [("random", "1-hop", "broadcast"), ("range", "all", "selective")],
    3: [("random", "all", "selective"), ("range", "1-hop", "broadcast")],
    4: [("range", "1-hop", "selective"), ("random", "all", "broadcast")],
    7: [("range", "all", "broadcast"), ("random", "1-hop", "selective")],
}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(autouse=True)
def by_messages(tuned):
    """Ranks peel small graphs by messages, too, instead of gathering them at once."""
    tuned(CORES, at_once={"cpu": 0, "cuda": 0})


@cache
def expected(name):
    """The graph; triangles, core numbers and, of undirected graphs, clustering by NetworkX; the rest by SciPy."""
    n, src, dst, directed = GRAPHS[name]()
    g = nx.Graph()
    g.add_nodes_from(range(n))
    g.add_edges_from((a, b) for a, b in zip(src.tolist(), dst.tolist(), strict=True) if a != b)
    by_networkx = [nx.triangles(g), nx.core_number(g), nx.clustering(g)]
    count, core, clustering = (np.array([values[v] for v in range(n)]) for values in by_networkx)
    matrix = adjacency(n, src, dst, directed)
    if directed:
        clustering = local_clustering(matrix)
    label = propagated_labels(matrix, directed, 4)
    return gd.from_edges(src, dst, num_vertices=n, directed=directed), count, core, clustering, label


def check(name, parts, device="cpu", combinations=None):
    graph, count, core, clustering, label = expected(name)
    for by, ghosts, exchange in combinations or COMBINATIONS[parts]:
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        either = divided.to_undirected()
        found = gd.triangles(either, exchange=exchange)
        np.testing.assert_array_equal(found.count, count)
        assert found.count.dtype == np.int64
        assert found.total == count.sum() // 3
        cores = gd.core_number(either, exchange=exchange)
        np.testing.assert_array_equal(cores.core, core)
        coefficients = gd.local_clustering_coefficient(divided, exchange=exchange)
        np.testing.assert_array_equal(coefficients.coefficient, clustering)
        labels = gd.label_propagation(divided, 4, exchange=exchange)
        np.testing.assert_array_equal(labels.label, label)
        for result in (found, cores, coefficients, labels):
            assert (result.stats.ranks, result.stats.ghosts, result.stats.exchange) == (parts, ghosts, exchange)
            result.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_are_those_of_networkx_and_scipy(name, parts):
    several = COMBINATIONS[parts]
    check(name, parts, combinations=[several[list(GRAPHS).index(name) % len(several)]])


@pytest.mark.gpu
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_on_a_gpu(name, parts):
    check(name, parts, "cuda")


@pytest.mark.parametrize("by", ["biased-random", "metis", "owners"])
def test_answers_do_not_depend_on_the_partitioner(by, rng):
    by = rng.integers(0, 3, 300) if by == "owners" else by
    check("sparse random, directed", 3, combinations=[(by, "1-hop", "selective"), (by, "all", "broadcast")])


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["dense random, directed", "scale-free"])
def test_64_bit_vertex_numbers_give_the_same(name, parts, tuned):
    tuned(PARTITION, narrow_ids=0)
    expected.cache_clear()  # the graph is to be made anew
    check(name, parts)
    divided = expected(name)[0].partition(parts, device="cpu").to_undirected()
    assert gd.core_number(divided).core.dtype == np.int64
    expected.cache_clear()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("name", ["dense random, directed", "dense random, undirected", "star outward", "scale-free"])
def test_small_blocks_batches_and_tables_give_the_same(name, parts, device, tuned):
    tuned(PARTITION, block_edges=7, block_rows=5)
    tuned(TRIANGLES, rows=1)
    tuned(LABELS, table=64)
    check(name, parts, device, COMBINATIONS[parts][:1])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("settled", [0, 8, 10**6])
def test_rows_without_changed_neighbours_keep_their_labels(parts, settled, tuned):
    tuned(LABELS, settled=settled)
    for name in ("dense random, directed", "sparse random, undirected", "scale-free", "binary tree"):
        n, src, dst, directed, *_ = GRAPHS[name]()
        graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, "random", device="cpu")
        for iterations in (2, 3, 7):
            found = gd.label_propagation(graph, iterations).verify().label
            np.testing.assert_array_equal(
                found, propagated_labels(adjacency(n, src, dst, directed), directed, iterations)
            )


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["dense random, directed", "dense random, undirected", "star outward", "scale-free"])
def test_triangles_are_the_same_whatever_a_job_is(name, parts, monkeypatch, tuned):
    """Of warps and of blocks, and of vertices with several jobs each."""
    stand_in(monkeypatch, emulated())
    n, src, dst, directed, *_ = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, "random", device="cuda")
    found = [gd.local_clustering_coefficient(graph).coefficient]
    for share, short in ((1, 2), (3, 0)):
        tuned(TRIANGLES, share=share, short=short)
        found.append(gd.local_clustering_coefficient(graph).coefficient)
    tuned(TRIANGLES, share=512, short=128)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, "random", device="cpu")
    found.append(gd.local_clustering_coefficient(graph).coefficient)
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def test_rows_of_ghosts_come_in_batches_no_larger_than_asked_for(tuned):
    """So no rank holds the whole graph."""
    seen = []

    class Counting(triangles.Triangles):
        def _count(self, part, state, others, env):
            if state.pack.read_counters(env.backend).candidates or others.indices is not state.rows.indices:
                seen.append((others.num_edges, state.rows.num_edges, int(np.diff(state.rows.indptr).max(initial=0))))
            return super()._count(part, state, others, env)

    tuned(TRIANGLES, rows=1)
    n, src, dst, _ = GRAPHS["dense random, undirected"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(5, by="random", device="cpu")
    found = execute.run(graph, Counting())
    assert found.total == expected("dense random, undirected")[1].sum() // 3
    assert len(found.stats) > 3
    longest = max(row for _, _, row in seen)
    assert max(batch - own for batch, own, _ in seen) <= 4 * (longest + 1)


LDBC = {
    "example/example-directed": (True, "example/example-directed-LCC", "example/example-directed-CDLP", 2),
    "example/example-undirected": (False, "example/example-undirected-LCC", "example/example-undirected-CDLP", 2),
    "lcc/dir-input": (True, "lcc/dir-output", None, 0),
    "lcc/undir-input": (False, "lcc/undir-output", None, 0),
    "cdlp/dir-input": (True, None, "cdlp/dir-output", 5),
    "cdlp/undir-input": (False, None, "cdlp/undir-output", 5),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", LDBC)
def test_answers_are_those_of_ldbc(shared_data, name, parts, device):
    folder = shared_data / "ldbc-graphalytics"
    directed, coefficients, labels, iterations = LDBC[name]
    graph = gd.read_graph(folder / name, format="adjlist" if "input" in name else None, directed=directed)
    if "input" in name and not directed:  # each edge stands at both ends
        graph = gd.read_graph(folder / name, format="adjlist", directed=True).to_undirected(multi_edges="merge")
    for by, ghosts, exchange in COMBINATIONS[parts]:
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        if coefficients is not None:
            ids, values = read_vertex_values(folder / coefficients)
            found = gd.local_clustering_coefficient(divided, exchange=exchange).verify()
            np.testing.assert_array_equal(graph.vertex_ids, np.sort(ids))
            np.testing.assert_allclose(found.coefficient, values[np.argsort(ids)], atol=1e-12)
        if labels is not None:
            ids, values = read_vertex_values(folder / labels)
            found = gd.label_propagation(divided, iterations, exchange=exchange).verify()
            np.testing.assert_array_equal(found.label, values[np.argsort(ids)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["social/email-Eu-core.txt.gz", "formats/PGPgiantcompo.graph"])
def test_real_graphs(shared_data, name, parts, device):
    graph = gd.read_graph(shared_data / name)
    src, dst = graph.source.src, graph.source.dst
    matrix = adjacency(graph.num_vertices, src, dst, graph.directed)
    divided = graph.partition(parts, device=device)
    either = divided.to_undirected()
    np.testing.assert_array_equal(gd.triangles(either).verify().count, triangle_counts(matrix))
    found = gd.local_clustering_coefficient(divided).verify()
    np.testing.assert_array_equal(found.coefficient, local_clustering(matrix))
    found = gd.label_propagation(divided).verify()
    number = propagated_labels(matrix, graph.directed, 10)
    np.testing.assert_array_equal(found.label, graph.vertex_ids[number])
    g = nx.Graph((a, b) for a, b in zip(src.tolist(), dst.tolist(), strict=True) if a != b)
    g.add_nodes_from(range(graph.num_vertices))
    core = nx.core_number(g)
    np.testing.assert_array_equal(gd.core_number(either).verify().core, [core[v] for v in range(len(core))])


# as the pages of the Stanford collection state them
SNAP = {
    "social/email-Eu-core.txt.gz": 105_461,
    "social/soc-Slashdot0902.txt.gz": 602_592,
    "web/web-NotreDame.txt.gz": 8_910_005,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", SNAP)
def test_triangles_of_real_graphs_are_as_many_as_published(shared_data, name, parts, device):
    graph = gd.read_graph(shared_data / name).to_undirected().partition(parts, device=device)
    assert gd.triangles(graph).verify().total == SNAP[name]


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2])
def test_hubs_on_a_gpu(parts, rng):
    n, m = 20_000, 100_000
    src = np.concatenate([np.zeros(n - 1, np.int64), rng.integers(0, n, m), np.full(9000, 5)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, n, m), rng.integers(0, n, 9000)])
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, device="cuda")
    matrix = adjacency(n, src, dst, directed=False)
    np.testing.assert_array_equal(gd.triangles(graph).verify().count, triangle_counts(matrix))
    np.testing.assert_array_equal(gd.label_propagation(graph, 3).verify().label, propagated_labels(matrix, False, 3))
    on_cpu = gd.core_number(graph.partition(1, device="cpu")).verify().core
    np.testing.assert_array_equal(gd.core_number(graph).verify().core, on_cpu)


@pytest.mark.parametrize("parts", [1, 4])
def test_a_long_path_is_peeled_in_few_supersteps(parts):
    n = 30_000
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).partition(parts, by="range", device="cpu")
    found = gd.core_number(graph).verify()
    assert (found.core == 1).all()
    assert len(found.stats) <= 3 * parts


@cache
def dense_cores():
    """A graph whose innermost cores have hundreds of vertices, and its core numbers by NetworkX."""
    graph = gd.generate.rmat(12, seed=1)
    src, dst, *_ = graph.edges()
    g = nx.empty_graph(graph.num_vertices)
    g.add_edges_from((u, v) for u, v in zip(src.tolist(), dst.tolist(), strict=True) if u != v)
    cores = nx.core_number(g)
    return graph, np.array([cores[v] for v in range(graph.num_vertices)])


@pytest.mark.parametrize(
    ("levels", "crowded", "worth"), [(1, 3, 1 << 15), (8, 3, 1 << 15), (16, 0, 1 << 40), (8, 0, 0)]
)
@pytest.mark.parametrize("parts", [2, 3, 7])
def test_core_numbers_do_not_depend_on_how_many_levels_a_superstep_has(levels, crowded, worth, parts, tuned):
    graph, expected = dense_cores()
    tuned(CORES, levels=levels, crowded=crowded, worth={"cpu": worth})
    found = gd.core_number(graph.partition(parts, device="cpu")).verify()
    np.testing.assert_array_equal(found.core, expected)


def test_propagation_ends_early_where_nothing_changes():
    graph = gd.from_edges([0, 1, 2], [1, 2, 0], directed=False).partition(2, device="cpu")
    found = gd.label_propagation(graph, 1000).verify()
    assert found.iterations < 10
    np.testing.assert_array_equal(
        found.label, propagated_labels(adjacency(3, [0, 1, 2], [1, 2, 0], False), False, 1000)
    )


def test_string_ids_come_back_as_labels():
    graph = gd.from_edges(["b", "c", "d"], ["c", "d", "b"], directed=False).partition(2, device="cpu")
    assert gd.label_propagation(graph, 3).label.tolist() == ["b", "b", "b"]


@pytest.mark.parametrize("multi_edges", ["keep", "merge"])
@pytest.mark.parametrize("parts", [1, 3])
def test_an_undirected_graph_made_of_a_directed_one(parts, multi_edges, rng):
    src, dst, weights = rng.integers(0, 30, 90), rng.integers(0, 30, 90), rng.random(90)
    graph = gd.from_edges(src, dst, weights, num_vertices=30).partition(parts, device="cpu")
    made = graph.to_undirected(multi_edges=multi_edges)
    same = gd.from_edges(src, dst, weights, num_vertices=30, directed=False, multi_edges=multi_edges)
    assert not made.directed
    assert graph.directed
    assert made.num_edges == same.num_edges
    np.testing.assert_array_equal(gd.bfs(made, 3).depth, gd.bfs(same.partition(device="cpu"), 3).depth)
    made.verify()
    assert made.to_undirected() is made
    with pytest.raises(gd.InputError, match="multi_edges='drop' is not one of keep, merge"):
        graph.to_undirected(multi_edges="drop")


@pytest.mark.parametrize(
    ("iterations", "said"),
    [
        (-1, "must be a whole number, 0 or more"),
        *((wrong, "is not a whole number") for wrong in (1.5, True, "3", None)),
    ],
)
def test_iterations_are_a_whole_number(iterations, said):
    with pytest.raises(gd.InputError, match=f"iterations={iterations!r} {said}"):
        gd.label_propagation(gd.from_edges([0], [1]), iterations)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize("name", ["scale-free", "duplicates both ways", "only self-loops", "sparse random, undirected"])
def test_ranks_that_gather_the_graph_find_the_same_core_numbers(name, parts, device, tuned):
    tuned(CORES, patience=0)
    graph, _, core, _, _ = expected(name)
    divided = graph.partition(parts, by="random", ghosts="1-hop", device=device).to_undirected()
    found = gd.core_number(divided).verify()
    np.testing.assert_array_equal(found.core, core)
    assert found.core.dtype == np.int32


@pytest.mark.parametrize("parts", [2, 3, 4, 7])
def test_ranks_of_a_small_graph_gather_it_at_once(parts, tuned):
    tuned(CORES, at_once={"cpu": 1 << 20})
    graph, expected = dense_cores()
    found = gd.core_number(graph.partition(parts, device="cpu")).verify()
    np.testing.assert_array_equal(found.core, expected)
    assert len(found.stats.supersteps) == 1


@pytest.mark.slow
def test_a_path_on_many_ranks_takes_few_supersteps(tuned):
    path = gd.from_edges(np.arange(4999), np.arange(1, 5000), directed=False).partition(3, by="random", device="cpu")
    found = gd.core_number(path).verify()
    assert (found.core == 1).all()
    assert len(found.stats.supersteps) <= CORES.patience + 1
    tuned(CORES, gathered=9997)  # it has two stored edges more
    found = gd.core_number(path).verify()
    assert (found.core == 1).all()
    assert len(found.stats.supersteps) > CORES.patience + 1


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ["core_number", "label_propagation", "local_clustering_coefficient"])
@pytest.mark.usefixtures("alone")
def test_the_memory_announced_is_about_what_is_used(name, directed, parts, rng, tuned):
    tuned(LABELS, table=1 << 16)
    tuned(TRIANGLES, rows=1 << 14)
    n, m = 1 << 15, 1 << 18
    src, dst = rng.integers(0, n, m), (rng.random(m) ** 3 * n).astype(np.int64)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed and name != "core_number")
    graph = graph.partition(parts, by="random", device="cpu").persist()
    function = getattr(gd, name)
    function(graph)
    tracemalloc.start()
    found = function(graph)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.1 * found.stats.memory * parts + OTHERS
    if parts == 1:
        assert found.stats.memory <= 1.5 * peak
