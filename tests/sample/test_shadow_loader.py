"""Subgraphs of roots: against the rule of PyTorch Geometric's ShaDowKHopSampler in plain Python, and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, Unsupported, VertexNotFound
from graphdask.sample import NeighborLoader, ShaDowLoader

RNG = np.random.default_rng(37)
N = 26
SRC, DST = RNG.integers(0, N, 90), RNG.integers(0, N, 90)
"""With parallel edges and self-loops."""
ROOTS = RNG.integers(0, N, 17)
"""With vertices that are there again."""
ARRAYS = ("n_id", "edge_index", "e_id", "batch", "ptr", "root_n_id", "input_id")


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graph(request):
    return gd.from_edges(SRC, DST, directed=request.param, num_vertices=N)


def reported(batches):
    return [
        [getattr(batch, name).tolist() for name in ARRAYS] + [batch.batch_size, batch.num_nodes] for batch in batches
    ]


def by_pytorch_geometric(directed, roots, depth):
    """With all neighbours, by the rule of `ego_k_hop_sample_adj`: what it returns, and each edge with its row."""
    edges = sorted(zip(SRC.tolist(), DST.tolist(), range(len(SRC)), strict=True))
    if not directed:
        edges = sorted(edges + [(v, u, row) for u, v, row in edges if u != v])
    n_id, batch, ptr, root_n_id, found = [], [], [0], [], []
    for number, root in enumerate(roots):
        near = {root}
        for _ in range(depth):
            near |= {u for u, v, _ in edges if v in near}
        place = {vertex: len(n_id) + i for i, vertex in enumerate(sorted(near))}
        n_id += sorted(near)
        batch += [number] * len(near)
        ptr.append(len(n_id))
        root_n_id.append(place[root])
        found += [(place[u], place[v], row) for u, v, row in edges if u in near and v in near]
    return n_id, batch, ptr, root_n_id, found


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("num_neighbors", [-1, 90])
def test_with_all_neighbours_batches_are_those_of_pytorch_geometric(graph, depth, num_neighbors):
    loader = ShaDowLoader(graph, depth, num_neighbors, ROOTS, batch_size=5)
    for batch in loader:
        expected = by_pytorch_geometric(graph.directed, ROOTS[batch.input_id].tolist(), depth)
        assert [getattr(batch, name).tolist() for name in ("n_id", "batch", "ptr", "root_n_id")] == list(expected[:4])
        found = list(zip(*batch.edge_index.tolist(), batch.e_id.tolist(), strict=True))
        assert sorted(found) == sorted(expected[4])
        assert [edge[:2] for edge in found] == [edge[:2] for edge in expected[4]]
        assert {getattr(batch, name).dtype for name in ARRAYS} == {np.dtype(np.int64)}


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"direction": "out"}, {"bias": "degree"}])
def test_vertices_are_those_of_neighbour_sampling_and_edges_all_between_them(graph, options):
    whole = nx.MultiDiGraph()
    for row, (u, v) in enumerate(zip(SRC.tolist(), DST.tolist(), strict=True)):
        whole.add_edge(u, v, row=row)
        if not graph.directed and u != v:
            whole.add_edge(v, u, row=row)
    options = {"batch_size": 5, "shuffle": True, "seed": 8, **options}
    loader = ShaDowLoader(graph, 2, 3, ROOTS, **options)
    plain = NeighborLoader(graph, [3, 3], ROOTS, disjoint=True, **options)
    for batch, drawn in zip([*loader, *loader], [*plain, *plain], strict=True):
        assert batch.input_id.tolist() == drawn.input_id.tolist()
        assert batch.n_id[batch.root_n_id].tolist() == ROOTS[batch.input_id].tolist()
        assert np.repeat(np.arange(batch.batch_size), np.diff(batch.ptr)).tolist() == batch.batch.tolist()
        assert (batch.batch[batch.edge_index[0]] == batch.batch[batch.edge_index[1]]).all()
        for number in range(batch.batch_size):
            mine = batch.n_id[batch.ptr[number] : batch.ptr[number + 1]]
            assert mine.tolist() == sorted(drawn.n_id[drawn.batch == number].tolist())
            of_mine = batch.batch[batch.edge_index[0]] == number
            ends = batch.n_id[batch.edge_index[:, of_mine]].tolist()
            found = sorted(zip(*ends, batch.e_id[of_mine].tolist(), strict=True))
            assert found == sorted(whole.subgraph(mine.tolist()).edges(data="row"))


def test_batches_are_the_same_wherever_they_are_drawn(graph, monkeypatch):
    options = {"batch_size": 4, "shuffle": True, "seed": 3}
    expected = reported(ShaDowLoader(graph, 2, 3, ROOTS, batches_per_run=1, prefetch=0, **options))
    assert reported(ShaDowLoader(graph, 2, 3, ROOTS, **options)) == expected
    for parts in (2, 3, 4, 7):
        divided = graph.partition(parts, by="random", device="cpu")
        assert reported(ShaDowLoader(divided, 2, 3, ROOTS, placement="partitioned", **options)) == expected
    divided = graph.partition(3, device="cpu")
    assert reported(ShaDowLoader(divided, 2, 3, ROOTS, placement="streamed", **options)) == expected
    stand_in(monkeypatch, emulated())
    on_gpu = list(ShaDowLoader(graph.partition(1, device="cuda"), 2, 3, ROOTS, **options))
    assert not any(isinstance(getattr(on_gpu[0], name), np.ndarray) for name in ARRAYS)
    assert reported(on_gpu) == expected


def test_workers_of_a_cluster_draw_the_same_batches(two_workers, graph):
    expected = reported(ShaDowLoader(graph, 2, 3, ROOTS, batch_size=4))
    loader = ShaDowLoader(
        graph.partition(), 2, 3, ROOTS, batch_size=4, placement="partitioned", client=two_workers
    )  # fmt: skip
    assert reported(loader) == expected


def test_x_is_of_the_vertices_and_y_of_the_roots():
    G = gd.from_edges(["a", "b", "c"], ["b", "c", "d"])
    x, y = np.arange(8.0).reshape(4, 2), np.array([5, 6, 7, 8])
    first, second = ShaDowLoader(G, 1, -1, ["d", "b", "a"], batch_size=2, x=x, y=y, transform=lambda batch: batch)
    assert (first.n_id.tolist(), first.ptr.tolist(), first.root_n_id.tolist()) == (list("cdab"), [0, 2, 4], [1, 3])
    assert (first.edge_index.tolist(), first.e_id.tolist()) == ([[0, 2], [1, 3]], [2, 0])
    assert (first.x.tolist(), first.y.tolist()) == (x[[2, 3, 0, 1]].tolist(), [8, 6])
    assert (second.n_id.tolist(), second.y.tolist(), second.batch_size) == (["a"], [5], 1)
    loader = ShaDowLoader(G, 2, 3, batch_size=3, drop_last=True, edge_rows=False)
    (batch,) = loader
    assert batch.e_id is None
    assert repr(loader) == "<ShaDowLoader: 1 batches of 3 of 4 roots, neighbours [3, 3]>"
    assert repr(batch).startswith("ShaDowBatch(n_id=[6], edge_index=[2, 3], batch=[6], ptr=[4]")


def test_a_loader_without_roots_or_edges():
    lonely = gd.from_edges([0], [0], num_vertices=3)
    made = list(ShaDowLoader(lonely, 2, 3, [1, 0, 1], batch_size=2))
    assert [batch.n_id.tolist() for batch in made] == [[1, 0], [1]]
    assert [batch.edge_index.tolist() for batch in made] == [[[1], [1]], [[], []]]
    assert list(ShaDowLoader(lonely, 2, 3, [])) == []
    (batch,) = ShaDowLoader(lonely, 2, 3, [1, 0], batch_size=10**12)
    assert (batch.n_id.tolist(), batch.ptr.tolist(), batch.batch_size) == ([1, 0], [0, 1, 2], 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": -1}, "depth=-1"),
        ({"depth": 1025}, "depth=1025"),
        ({"depth": 1.5}, "depth=1.5"),
        ({"num_neighbors": -2}, "num_neighbors=-2"),
        ({"num_neighbors": [2, 2]}, r"num_neighbors=\[2, 2\]"),
        ({"num_neighbors": -1, "replace": True}, "replace=True a number"),
        ({"node_idx": [1]}, "no argument node_idx=; did you mean input_nodes=?"),
        ({"subgraph_type": "induced"}, "no argument subgraph_type="),
        ({"y": [1, 2]}, "y has the shape"),
    ],
)
def test_arguments_without_meaning_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        ShaDowLoader(graph, **{"depth": 2, "num_neighbors": 2, **options})


def test_what_cannot_be_drawn_is_refused(graph):
    with pytest.raises(VertexNotFound, match="input node 26 is not in the graph"):
        ShaDowLoader(graph, 2, 2, [1, 26])
    with pytest.raises(Unsupported, match="induced subgraphs of a streamed graph"):
        ShaDowLoader(graph, 2, 2, placement=gd.sample.Streamed(partitions=2))


@pytest.mark.learn
def test_batches_of_pytorch_geometric_have_the_fields_of_its_own(graph):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    options = {"batch_size": 4, "x": torch.arange(2 * N).reshape(N, 2), "y": torch.arange(N)}
    arrays = ShaDowLoader(graph, 2, 3, ROOTS, **options)
    for batch, expected in zip(ShaDowLoader(graph, 2, 3, ROOTS, output="pyg", **options), arrays, strict=True):
        assert isinstance(batch, data.Batch)
        assert set(batch.keys()) >= {"batch", "ptr", "root_n_id", "edge_index", "x", "y"}
        assert (batch.num_graphs, batch.num_nodes) == (expected.batch_size, expected.num_nodes)
        for name in ARRAYS:
            assert batch[name].tolist() == getattr(expected, name).tolist()
        assert batch.x.equal(options["x"][batch.n_id])
        assert batch.y.equal(batch.n_id[batch.root_n_id])
        batch.validate(raise_on_error=True)
