"""Minibatches of clusters: induced subgraphs against NetworkX, the same bits everywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, Unsupported
from graphdask.sample import ClusterLoader

RNG = np.random.default_rng(29)
N = 40
SRC, DST, LABELS = RNG.integers(0, N, 200), RNG.integers(0, N, 200), RNG.choice([-4, 0, 3, 7, 20, 21, 22], N)


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graph(request):
    return gd.from_edges(SRC, DST, directed=request.param, num_vertices=N)


def reported(batches):
    return [[getattr(batch, name).tolist() for name in ("n_id", "edge_index", "e_id", "clusters")] for batch in batches]


def test_batches_are_the_subgraphs_of_their_clusters(graph):
    whole = nx.MultiDiGraph()
    for row, (u, v) in enumerate(zip(SRC.tolist(), DST.tolist(), strict=True)):
        whole.add_edge(u, v, row=row)
        if not graph.directed and u != v:
            whole.add_edge(v, u, row=row)
    x, seen = np.arange(2 * N).reshape(N, 2), []
    batches = list(ClusterLoader(graph, LABELS, batch_size=3, shuffle=True, x=x, seed=6))
    assert [len(batch.clusters) for batch in batches] == [3, 3, 1]
    for batch in batches:
        vertices = np.flatnonzero(np.isin(LABELS, batch.clusters))
        assert batch.n_id.tolist() == vertices.tolist()
        assert batch.num_nodes == len(vertices)
        assert (batch.x == x[vertices]).all()
        source, end = batch.n_id[batch.edge_index].tolist()
        found = sorted(zip(source, end, batch.e_id.tolist(), strict=True))
        assert found == sorted(whole.subgraph(vertices.tolist()).edges(data="row"))
        seen += batch.clusters.tolist()
    assert sorted(seen) == sorted(set(LABELS.tolist()))


def test_batches_are_the_same_wherever_they_are_made(graph, monkeypatch):
    options = {"batch_size": 2, "shuffle": True}
    expected = reported(ClusterLoader(graph, LABELS, batches_per_run=1, prefetch=0, **options))
    assert reported(ClusterLoader(graph, LABELS, **options)) == expected
    for parts in (2, 3, 4, 7):
        divided = graph.partition(parts, by="random", device="cpu")
        assert reported(ClusterLoader(divided, LABELS, placement="partitioned", **options)) == expected
    divided = graph.partition(3, device="cpu")
    assert reported(ClusterLoader(divided, LABELS, placement="streamed", **options)) == expected
    stand_in(monkeypatch, emulated())
    on_gpu = list(ClusterLoader(graph.partition(1, device="cuda"), LABELS, **options))
    assert not isinstance(on_gpu[0].edge_index, np.ndarray)
    assert reported(on_gpu) == expected


def test_epochs_and_last_batches(graph):
    loader = ClusterLoader(graph, LABELS, batch_size=2, shuffle=True, drop_last=True, edge_rows=False)
    epochs = [[batch.clusters.tolist() for batch in loader] for _ in range(2)]
    assert [len(epoch) for epoch in epochs] == [3, 3]
    assert epochs[0] != epochs[1]
    assert next(iter(loader)).e_id is None
    in_order = [batch.clusters.tolist() for batch in ClusterLoader(graph, LABELS)]
    assert in_order == [[-4], [0], [3], [7], [20], [21], [22]]
    assert list(ClusterLoader(gd.from_edges([], []), [])) == []
    assert repr(loader) == "<ClusterLoader: 3 batches of 2 of 7 clusters>"


def test_what_is_no_cluster_is_refused(graph):
    with pytest.raises(InputError, match=r"clusters has the shape \(2,\) and the dtype int64; a whole number for each"):
        ClusterLoader(graph, [1, 2])
    with pytest.raises(InputError, match="the dtype float64"):
        ClusterLoader(graph, LABELS / 2)
    with pytest.raises(Unsupported, match="induced subgraphs of a streamed graph"):
        ClusterLoader(graph, LABELS, placement=gd.sample.Streamed(partitions=2))


@pytest.mark.learn
def test_data_of_pytorch_geometric_are_valid(graph):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    for batch in ClusterLoader(graph, torch.from_numpy(LABELS), output="pyg", x=torch.arange(N)):
        assert set(batch.keys()) == {"n_id", "edge_index", "e_id", "clusters", "x", "num_nodes"}
        batch.validate(raise_on_error=True)
        assert batch.x.equal(batch.n_id)
