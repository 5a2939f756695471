"""PageRank is NetworkX's and LDBC's, with the same bits for every division of the graph, and says how it ended."""

from __future__ import annotations

import re
import tracemalloc
from itertools import product

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graphs import GRAPHS
from memory import OTHERS
from reference import adjacency, power_iteration

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.io import read_vertex_values
from graphdask.partition.tuning import PARTITION

PARTS = (1, 2, 3, 4, 7)
DIVISIONS = tuple(product(("range", "random"), ("all", "1-hop")))
EXCHANGES = ("selective", "broadcast")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def networkx_graph(n, src, dst, directed, weights=None):
    g = nx.MultiDiGraph() if directed else nx.MultiGraph()
    g.add_nodes_from(range(n))
    weights = np.ones(len(src)) if weights is None else weights
    g.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    return g


def networkx_ranks(g, **arguments):
    found = nx.pagerank(g, tol=1e-15, max_iter=2000, **arguments)
    return np.array([found[v] for v in range(len(g))])


def with_loops(n, src, dst, directed):
    """The edges, and a self-loop for each vertex that has none."""
    lacking = np.setdiff1d(np.arange(n), src[src == dst])
    return np.concatenate([src, lacking]), np.concatenate([dst, lacking])


def same_everywhere(graph, parts, expected, rtol=1e-9, device="cpu", divisions=DIVISIONS, **arguments):
    """Ranks near the expected ones, with the same bits for every division and exchange."""
    first = None
    for number, (by, ghosts) in product(parts, divisions):
        divided = graph.partition(number, by=by, ghosts=ghosts, device=device)
        exchange = EXCHANGES[(number + divisions.index((by, ghosts))) % 2]
        found = gd.pagerank(divided, exchange=exchange, **arguments)
        first = first or found
        np.testing.assert_array_equal(found.rank, first.rank, f"parts={number}, by={by}, ghosts={ghosts}")
        assert (found.iterations, found.residual) == (first.iterations, first.residual)
        # what a vertex that nothing leads to began with only fades, and NetworkX stops earlier
        np.testing.assert_allclose(found.rank, expected, rtol=rtol, atol=1e-20)
    found.verify()
    return first


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", GRAPHS)
def test_ranks_are_networkxs(name, device):
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = networkx_ranks(networkx_graph(n, src, dst, directed))
    parts = PARTS if "random" in name else (1, 3)
    divisions = DIVISIONS if name == "sparse random, directed" else DIVISIONS[1:3]
    found = same_everywhere(graph, parts, expected, device=device, divisions=divisions, tol=1e-14)
    assert found.converged
    assert found.rank.dtype == np.float64
    assert abs(found.rank.sum() - 1) < 1e-12


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["float64", "float32", "int32", "int64"])
@pytest.mark.parametrize("directed", [True, False])
def test_weights_personalization_and_start_are_networkxs(directed, kind, device, rng):
    n, m = 120, 700
    src, dst = rng.integers(0, n, m), rng.integers(0, n - 20, m)  # some vertices have no in-edges
    src[src == 7] = 8  # and one no out-edges, where edges are directed
    weights = rng.integers(0, 9, m).astype(kind) if "int" in kind else rng.random(m).astype(kind)
    weights[src == 50] = 0
    g = networkx_graph(n, src, dst, directed, weights)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    given = {3: 2.0, 119: 1, 50: 0.5, 4: 0}
    begin = rng.random(n)
    same_everywhere(graph, (1, 4), networkx_ranks(g), tol=1e-14, device=device, divisions=DIVISIONS[2:])
    same_everywhere(
        graph, (1, 3), networkx_ranks(g, personalization=given), tol=1e-14, device=device, divisions=DIVISIONS[1:3],
        personalization=given, start=begin,
    )  # fmt: skip
    plain = networkx_ranks(g, weight=None)
    found = gd.pagerank(graph.partition(3, device=device), tol=1e-14, weighted=False)
    np.testing.assert_allclose(found.verify().rank, plain, rtol=1e-9)
    one = np.zeros(n)
    one[7] = 3
    found = gd.pagerank(graph.partition(2, device=device), 0.5, 1e-15, personalization=one)
    np.testing.assert_allclose(found.rank, networkx_ranks(g, alpha=0.5, personalization={7: 1}), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["only self-loops", "star outward", "dense random, directed", "two triangles"])
def test_self_loops_are_given_to_those_without(name):
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = networkx_ranks(networkx_graph(n, *with_loops(n, src, dst, directed), directed))
    same_everywhere(graph, (1, 3), expected, tol=1e-14, dangling="self-loop", divisions=DIVISIONS[1:3])


@pytest.mark.parametrize("device", DEVICES)
def test_rows_of_very_many_edges_have_the_same_bits_everywhere(device, rng):
    n = 30_000
    ends = [(np.zeros(n, int), np.arange(n))]
    ends += [(np.full(k, row), rng.integers(0, n, k)) for row, k in enumerate((8, 9, 256, 257, 4096, 4097, 9001), 1)]
    ends += [(rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n))]
    dst, src = (np.concatenate(column) for column in zip(*ends, strict=True))
    weights = rng.random(len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n)
    matrix = sp.coo_array((weights, (src, dst)), shape=(n, n)).tocsr()
    with pytest.warns(gd.GraphdaskWarning, match="stopped after max_iter=10 iterations"):
        found = same_everywhere(
            graph, (1, 2, 3), power_iteration(matrix, iterations=10), 1e-12, device, DIVISIONS[1:3], max_iter=10
        )
    with pytest.warns(gd.GraphdaskWarning):
        on_cpu = gd.pagerank(graph.partition(1, device="cpu"), max_iter=10)
    np.testing.assert_array_equal(found.rank, on_cpu.rank)
    assert found.residual == on_cpu.residual


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dangling", ["uniform", "self-loop"])
def test_single_precision_is_near_double(device, dangling):
    n, src, dst, directed = GRAPHS["dense random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    double = gd.pagerank(graph.partition(1, device=device), dangling=dangling)
    single = same_everywhere(
        graph, (1, 2, 3, 7), double.rank, 2e-6, device, DIVISIONS[1:3], dtype=np.float32, tol=1e-6, dangling=dangling
    )
    assert single.rank.dtype == np.float32
    assert single.to_dask()["rank"].dtype == np.float32


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_the_residual_is_the_norm_of_the_last_change(norm):
    n, src, dst, directed = GRAPHS["sparse random, directed"]()
    matrix = adjacency(n, src, dst, directed)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(3, device="cpu")
    found = gd.pagerank(graph, tol=1e-6, norm=norm)
    change = np.abs(
        power_iteration(matrix, iterations=found.iterations) - power_iteration(matrix, iterations=found.iterations - 1)
    )
    assert found.residual == pytest.approx(change.sum() if norm == "l1" else change.max(), rel=1e-9)
    assert found.residual <= 1e-6
    with pytest.warns(gd.GraphdaskWarning):
        before = gd.pagerank(graph, tol=1e-6, norm=norm, max_iter=found.iterations - 1)
    assert not before.converged
    assert before.residual > 1e-6
    exact = power_iteration(matrix, iterations=400)
    assert np.abs(found.rank - exact).sum() <= found.error
    assert len(found.stats) == found.iterations + 1
    found.verify()
    before.verify()


def test_an_iteration_takes_one_superstep_and_the_end_none():
    n, src, dst, directed = GRAPHS["scale-free"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(2, device="cpu")
    with pytest.warns(gd.GraphdaskWarning):
        found = gd.pagerank(graph, max_iter=5)
    assert len(found.stats) == 6
    assert [step["edges"] for step in found.stats] == [0] + [2 * len(src)] * 5


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", ["scale-free", "two triangles"])  # in the second no rank ever changes
@pytest.mark.parametrize("device", DEVICES)
def test_a_tolerance_of_0_means_as_many_iterations_as_max_iter_says(name, parts, device):
    n, src, dst, directed = GRAPHS[name]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, device=device)
    for options in ({}, {"norm": "linf"}, {"dangling": "self-loop"}, {"dtype": "float32"}):
        found = gd.pagerank(graph, tol=0, max_iter=7, **options).verify()
        assert found.iterations == 7
        assert found.converged == (found.residual == 0)
    matrix = np.zeros((n, n))
    np.add.at(matrix, (dst, src), 1.0)
    if not directed:
        proper = src != dst
        np.add.at(matrix, (src[proper], dst[proper]), 1.0)
    total = matrix.sum(axis=0)
    rank = np.full(n, 1 / n)
    for _ in range(7):
        rank = 0.85 * (matrix @ (rank / np.maximum(total, 1)) + rank[total == 0].sum() / n) + 0.15 / n
    np.testing.assert_allclose(gd.pagerank(graph, tol=0.0, max_iter=7).rank, rank, rtol=1e-9)


@pytest.mark.parametrize("method", ["static", "nd", "dt", "df", "dfp"])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_tolerance_of_0_with_a_method_means_as_many_iterations_as_max_iter_says(method, parts):
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 2], num_vertices=4).partition(parts, device="cpu"))
    gd.pagerank(D, method="static", tol=0, max_iter=3)
    for insert in (([3], [1]), ([3], [2]), ([], [])):
        D.update(insert=insert)
        assert gd.pagerank(D, method=method, tol=0, max_iter=9).iterations == 9


def test_a_graph_without_vertices_takes_no_iterations_with_a_tolerance_of_0():
    assert gd.pagerank(gd.from_edges([], []), tol=0, max_iter=7).iterations == 0


def test_a_tolerance_near_nothing_is_reached_when_no_rank_changes():
    n, src, dst, directed = GRAPHS["two triangles"]()
    found = gd.pagerank(gd.from_edges(src, dst, num_vertices=n, directed=directed), tol=1e-300)
    assert found.converged
    assert found.residual == 0


@pytest.mark.parametrize("parts", [1, 3])
def test_no_damping_leaves_where_walkers_start(parts):
    graph = gd.from_edges(["a", "b", "b"], ["b", "c", "a"]).partition(parts, device="cpu")
    assert gd.pagerank(graph, 0, personalization={"c": 3, "a": 1}).verify().rank.tolist() == [0.25, 0.0, 0.75]


@pytest.mark.parametrize("parts", PARTS)
def test_the_empty_graph_has_no_ranks(parts):
    found = gd.pagerank(gd.from_edges([], [], num_vertices=0).partition(parts, device="cpu")).verify()
    assert found.rank.shape == (0,)
    assert (found.iterations, found.residual, found.converged) == (0, 0.0, True)


@pytest.mark.slow
def test_64_bit_vertex_numbers_give_the_same(tuned):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    expected = gd.pagerank(graph.partition(2, device="cpu"), tol=1e-6).rank
    tuned(PARTITION, narrow_ids=0)
    wide = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(3, device="cpu")
    found = gd.pagerank(wide, tol=1e-6).verify()
    assert wide.built.parts.values[0].out.indices.dtype == np.int64
    np.testing.assert_array_equal(found.rank, expected)


# iterations and damping that the answers were made with; single precision's 0.85 shows in one of them
LDBC = {
    "example/example-directed": (True, "example/example-directed-PR", 2, 0.85),
    "example/example-undirected": (False, "example/example-undirected-PR", 2, 0.85),
    "pr/dir-input": (True, "pr/dir-output", 40, 0.85),
    "pr/undir-input": (False, "pr/undir-output", 26, float(np.float32(0.85))),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", LDBC)
def test_ranks_are_those_of_ldbc(shared_data, name, device):
    folder = shared_data / "ldbc-graphalytics"
    directed, answer, iterations, damping = LDBC[name]
    graph = gd.read_graph(folder / name, format="adjlist" if "input" in name else None, directed=directed)
    ids, rank = read_vertex_values(folder / answer)
    np.testing.assert_array_equal(graph.vertex_ids, np.sort(ids))
    with pytest.warns(gd.GraphdaskWarning):
        same_everywhere(
            graph, PARTS, rank[np.argsort(ids)], 1e-12, device, DIVISIONS[1:3],
            weighted=False, damping=damping, tol=1e-300, max_iter=iterations,
        )  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "name", ["social/email-Eu-core.txt.gz", "temporal/CollegeMsg.txt", "social/soc-Slashdot0902.txt.gz"]
)
def test_ranks_of_real_graphs_are_scipys(shared_data, name, device):
    pairs = np.loadtxt(shared_data / name, usecols=(0, 1), dtype=np.int64)
    ids, numbers = np.unique(pairs, return_inverse=True)
    matrix = adjacency(len(ids), *numbers.reshape(-1, 2).T, directed=True)
    graph = gd.read_graph(shared_data / name, format="temporal" if "temporal" in name else None)
    with pytest.warns(gd.GraphdaskWarning):
        same_everywhere(
            graph, (1, 3), power_iteration(matrix, iterations=20), 1e-12, device, DIVISIONS[1:3],
            tol=1e-300, max_iter=20,
        )  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.usefixtures("alone")
def test_memory_is_what_was_announced(directed, weighted, rng):
    n, m = 200_000, 1_000_000
    src, dst = rng.integers(0, n, (2, m))
    weights = rng.random(m) if weighted else None
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed).partition(1, device="cpu")
    gd.connected_components(graph)  # builds the in-edges
    gd.pagerank(graph, tol=0.1, personalization=np.ones(n), dangling="self-loop")  # loads the kernels
    tracemalloc.start()
    found = gd.pagerank(graph, tol=0.1, dangling="self-loop")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak - OTHERS) / 1.1 < found.stats.memory < 1.1 * peak


BAD = {
    "damping=1.0": (dict(damping=1.0), "damping=1.0 is not"),
    "damping below 0": (dict(damping=-0.1), "damping=-0.1 is not"),
    "damping NaN": (dict(damping=float("nan")), "damping=nan is not"),
    "damping a string": (dict(damping="0.85"), "damping='0.85' is not"),
    "tol below 0": (dict(tol=-1e-9), "tol=-1e-09 is not a number of 0 or more"),
    "tol NaN": (dict(tol=float("nan")), "tol=nan is not"),
    "max_iter=0": (dict(max_iter=0), "max_iter=0 is not"),
    "max_iter a float": (dict(max_iter=3.0), "max_iter=3.0 is not"),
    "dangling": (dict(dangling="spread"), "dangling='spread' is not one of uniform, self-loop"),
    "norm": (dict(norm="l2"), "norm='l2' is not one of l1, linf"),
    "dtype": (dict(dtype="float16"), "dtype='float16' is not one of float64, float32"),
    "dtype, a number": (dict(dtype=3), "dtype=3 is not one of float64, float32"),
    "dtype, no such": (dict(dtype="single precision"), "dtype='single precision' is not one of"),
    "weighted": (dict(weighted="yes"), "weighted='yes' is neither True, False nor None"),
    "no weights": (dict(weighted=True), "the edges of this graph have no weights"),
    "personalization sums to 0": (dict(personalization={10: 0.0}), r"personalization sums to 0\.0"),
    "empty personalization": (dict(personalization={}), r"personalization sums to 0\.0"),
    "personalization overflows": (dict(personalization=[1e308] * 3), "personalization sums to inf"),
    "negative": (dict(personalization={10: 1, 20: -1}), r"personalization of vertex 20 is -1\.0"),
    "NaN": (dict(personalization=[1.0, np.nan, 1]), "personalization of vertex 20 is nan"),
    "infinite": (dict(start={40: np.inf}), "start of vertex 40 is inf"),
    "shape": (dict(personalization=[1.0, 2.0]), r"shape \(2,\); 3 vertices need one value each"),
    "no numbers": (dict(personalization=["x", "y", "z"]), "what is not a number"),
    "neither": (dict(start=object()), "neither a dict nor an array"),
    "start sums to 0": (dict(start=[0, 0, 0]), r"start sums to 0\.0"),
    "exchange": (dict(exchange="all"), "exchange='all' is not one of"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_any_work(name):
    arguments, message = BAD[name]
    graph = gd.from_edges([10, 20], [20, 40])
    with pytest.raises(gd.InputError, match=message):
        gd.pagerank(graph, **arguments)
    assert graph.built is None


def test_an_unknown_vertex_is_named():
    graph = gd.from_edges([10, 20], [20, 40])
    with pytest.raises(gd.VertexNotFound, match="personalization vertex 15 is not in the graph"):
        gd.pagerank(graph, personalization={10: 1, 15: 1})
    with pytest.raises(gd.InputError, match="start vertex 'a' is not a whole number"):
        gd.pagerank(graph, start={"a": 1})


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("weight", [-1.0, np.inf])
def test_weights_that_are_no_rates_are_refused(weight, parts):
    graph = gd.from_edges(["a", "b", "c"], ["b", "c", "a"], [1.0, weight, 1.0]).partition(parts, device="cpu")
    for _ in range(2):
        with pytest.raises(gd.InputError, match=rf"the weight {weight} of the edge from b to c is .*weighted=False"):
            gd.pagerank(graph)
        graph.persist()
    assert gd.pagerank(graph, weighted=False).converged


@pytest.mark.parametrize(("weight", "dtype"), [(1e-30, "float32"), (1e30, "float32"), (1e-200, "float64")])
def test_weights_beyond_the_dtype_are_refused(weight, dtype):
    graph = gd.from_edges([0, 1], [1, 0], [1.0, weight])
    with pytest.raises(gd.InputError, match=rf"weigh {re.escape(f'{weight:g}')} together; in {dtype}"):
        gd.pagerank(graph, dtype=dtype)
