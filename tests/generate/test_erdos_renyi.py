"""Blocks, distinctness, id widths, small graphs and bad input of uniform random graphs."""

import pickle

import networkx as nx
import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget
from graphdask.generate.erdos_renyi import ErdosRenyi, edges

GRAPHS = [
    ErdosRenyi(1000, 5000, 1),
    ErdosRenyi(1001, 5000, 2),
    ErdosRenyi(1000, 5000, 3, directed=True),
    ErdosRenyi(2, 1, 4),
    ErdosRenyi(3, 2, 5),
    ErdosRenyi(40, 780, 6),
    ErdosRenyi(41, 41 * 40, 7, directed=True),
    ErdosRenyi(5, 0, 8),
    ErdosRenyi(0, 0, 9),
]


def all_edges(backend, graph, size):
    blocks = [graph.block(backend, rank, size) for rank in range(size)]
    return [np.concatenate([backend.to_host(block[i]) for block in blocks]) for i in (0, 1)]


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_any_number_of_blocks_makes_the_same_graph(backend, graph):
    whole = all_edges(get_backend("cpu"), graph, 1)
    for size in (1, 2, 3, 4, 7, 16):
        np.testing.assert_array_equal(all_edges(backend, graph, size), whole)
        lengths = [len(graph.block(backend, rank, size)[0]) for rank in range(size)]
        assert [graph.block_edges(rank, size) for rank in range(size)] == lengths


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 7, 20, 33])
def test_all_possible_edges_are_the_complete_graph(n, directed):
    complete = nx.complete_graph(n, nx.DiGraph if directed else nx.Graph)
    assert ErdosRenyi(n, 0, 1, directed).possible_edges == complete.number_of_edges()
    src, dst = ErdosRenyi(n, complete.number_of_edges(), 1, directed).block(get_backend("cpu"), 0, 1)
    made = nx.empty_graph(n, type(complete))
    made.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    assert len(src) == made.number_of_edges()
    assert set(made.nodes) == set(range(n))
    assert nx.utils.graphs_equal(made, complete)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [50, 51, 70_000, 70_001])
def test_edges_are_distinct_and_no_self_loops(n, directed):
    m = min(300_000, ErdosRenyi(n, 0, 0, directed).possible_edges * 3 // 4)
    src, dst = ErdosRenyi(n, m, 2, directed).block(get_backend("cpu"), 0, 1)
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    assert 0 <= min(src.min(), dst.min()) <= max(src.max(), dst.max()) < n
    assert not (src == dst).any()
    assert len(np.unique(src.astype(np.int64) * n + dst)) == m


@pytest.mark.parametrize(
    ("n", "dtype"), [(2**31 - 2, np.int32), (2**31 - 1, np.int64), (2**40, np.int64), (2**62, np.int64)]
)
@pytest.mark.parametrize("directed", [False, True])
def test_ids_are_as_wide_as_those_of_the_graph(backend, n, dtype, directed):
    graph = ErdosRenyi(n, 1 << 40, 3, directed)
    src, dst = (backend.to_host(column) for column in edges(backend, graph, (1 << 40) - 4000, 1 << 40))
    for column in (src, dst):
        assert column.dtype == dtype == graph.dtype
        assert 0 <= column.min() < n // 256
        assert n - n // 256 < column.max() < n
    assert (src != dst).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [60, 61])
def test_the_built_graph_has_the_edges_of_the_blocks(n, directed):
    src, dst = ErdosRenyi(n, 200, 4, directed).block(get_backend("cpu"), 0, 1)
    expected = nx.empty_graph(n, nx.DiGraph if directed else nx.Graph)
    expected.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    for parts in (1, 3):
        G = gd.generate.erdos_renyi(n, 200, seed=4, directed=directed).partition(parts, device="cpu")
        assert G.num_edges == G.persist().built.num_edges == 200
        G.verify()
        reached = nx.single_source_shortest_path_length(expected, 0)
        assert gd.bfs(G, 0).depth.tolist() == [reached.get(v, -1) for v in range(n)]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 0), (2, 0), (2, 1), (3, 3)])
def test_the_smallest_graphs_can_be_built(n, m):
    for G in (gd.generate.erdos_renyi(n, m), gd.generate.erdos_renyi(n, p=1.0 if m else 0.0)):
        assert (G.num_vertices, G.num_edges) == (n, m)
        G.partition(2, device="cpu").verify()


def test_g_n_p_is_g_n_m_for_a_binomial_m():
    G = gd.generate.erdos_renyi(500, p=0.03, seed=5, directed=True)
    assert G.report == {"generator": "G(n, p)", "n": 500, "m": G.num_edges, "p": 0.03, "seed": 5}
    assert G.source.generator == ErdosRenyi(500, G.num_edges, 5, directed=True)
    assert gd.generate.erdos_renyi(500, p=0.0).num_edges == 0
    assert gd.generate.erdos_renyi(500, p=1).num_edges == 500 * 499 // 2
    assert gd.generate.erdos_renyi(2**40, p=2.0**-79, seed=6).num_edges < 20


def test_a_source_travels_by_pickle():
    graph = ErdosRenyi(np.int64(1000), np.int32(3), np.uint64(2**64 - 1), True)
    assert pickle.loads(pickle.dumps(graph)) == graph == ErdosRenyi(1000, 3, 2**64 - 1, True)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n": -1, "m": 0}, "n=-1"),
        ({"n": 2**62 + 1, "m": 0}, "n=4611686018427387905"),
        ({"n": 10.0, "m": 0}, r"n=10\.0"),
        ({"n": None, "m": 0}, "n=None"),
        ({"n": 10}, "got neither"),
        ({"n": 10, "m": 5, "p": 0.1}, "got both"),
        ({"n": 10, "m": -1}, "m=-1"),
        ({"n": 10, "m": 46}, "m=46 edges are too many: n=10 vertices have 45 possible undirected edges"),
        ({"n": 10, "m": 91, "directed": True}, "90 possible directed edges"),
        ({"n": 0, "m": 1}, "0 possible"),
        ({"n": 1, "m": 1}, "0 possible"),
        ({"n": 2**40, "m": 2**63}, "below 2\\^63"),
        ({"n": 10, "m": 2.5}, r"m=2\.5"),
        ({"n": 10, "p": -0.1}, r"p=-0\.1"),
        ({"n": 10, "p": 1.0000001}, r"p=1\.0000001"),
        ({"n": 10, "p": float("nan")}, "p=nan"),
        ({"n": 10, "p": "x"}, "p='x'"),
        ({"n": 2**40, "p": 0.5}, r"p=0\.5 give more than 2\^62 edges"),
        ({"n": 10, "m": 1, "seed": -1}, "seed=-1"),
        ({"n": 10, "p": 0.5, "seed": 2**64}, "seed=18446744073709551616"),
        ({"n": 10, "m": 1, "seed": 1.0}, r"seed=1\.0"),
        ({"n": 10, "m": 1, "directed": 0}, "directed=0"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(InputError, match=named):
        gd.generate.erdos_renyi(**arguments)


def test_bad_ranges_are_named():
    cpu, graph = get_backend("cpu"), ErdosRenyi(10, 20)
    for start, stop in ((-1, 5), (5, 4), (0, 21)):
        with pytest.raises(InputError, match=f"edges {start} .. {stop}"):
            edges(cpu, graph, start, stop)
    for rank, size in ((0, 0), (2, 2), (-1, 2)):
        with pytest.raises(InputError, match=f"block rank={rank} of size={size}"):
            graph.block(cpu, rank, size)


def test_a_block_larger_than_the_memory_is_refused(backend):
    with pytest.raises(OverBudget, match=r"edges 0 \.\. 1125899906842624 need .* smaller blocks"):
        ErdosRenyi(1 << 30, 1 << 50).block(backend, 0, 1)
