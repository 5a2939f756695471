"""Minibatches with induced edges: all edges between the vertices of a batch or of a seed, against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, Unsupported
from graphdask.sample import LinkNeighborLoader, NeighborLoader

RNG = np.random.default_rng(23)
N = 30
SRC, DST = RNG.integers(0, N, 150), RNG.integers(0, N, 150)
"""With parallel edges and self-loops."""
INPUT = RNG.permutation(N)[:17]


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graph(request):
    return gd.from_edges(SRC, DST, directed=request.param, num_vertices=N)


def of_networkx(directed):
    whole = nx.MultiDiGraph()
    for row, (u, v) in enumerate(zip(SRC.tolist(), DST.tolist(), strict=True)):
        whole.add_edge(u, v, row=row)
        if not directed and u != v:
            whole.add_edge(v, u, row=row)
    return whole


def reported(batches):
    return [
        [getattr(batch, name).tolist() for name in ("n_id", "edge_index", "e_id", "input_id")]
        + [None if batch.batch is None else batch.batch.tolist(), batch.num_sampled_nodes, batch.num_sampled_edges]
        for batch in batches
    ]


@pytest.mark.parametrize("disjoint", [False, True])
def test_batches_have_all_edges_between_their_vertices(graph, disjoint):
    whole, options = of_networkx(graph.directed), {"batch_size": 5, "disjoint": disjoint, "seed": 2}
    alone = NeighborLoader(graph, [2, 2], INPUT, **options)
    for batch, plain in zip(
        NeighborLoader(graph, [2, 2], INPUT, subgraph_type="induced", **options), alone, strict=True
    ):
        assert batch.n_id.tolist() == plain.n_id.tolist()
        assert batch.num_sampled_nodes == plain.num_sampled_nodes
        assert batch.num_sampled_edges is None
        of_each = batch.batch if disjoint else np.zeros(len(batch.n_id), int)
        for number in range(of_each.max() + 1):
            vertices = batch.n_id[of_each == number]
            mine = of_each[batch.edge_index[0]] == number
            source, end = batch.n_id[batch.edge_index[:, mine]].tolist()
            found = list(zip(source, end, batch.e_id[mine].tolist(), strict=True))
            assert sorted(found) == sorted(whole.subgraph(vertices.tolist()).edges(data="row"))
            assert [edge[:2] for edge in found] == sorted(edge[:2] for edge in found)
        assert (of_each[batch.edge_index[0]] == of_each[batch.edge_index[1]]).all()


@pytest.mark.parametrize("disjoint", [False, True])
def test_batches_are_the_same_wherever_they_are_drawn(graph, monkeypatch, disjoint):
    options = {"batch_size": 4, "shuffle": True, "subgraph_type": "induced", "disjoint": disjoint}
    expected = reported(NeighborLoader(graph, [3, 2], INPUT, batches_per_run=1, **options))
    assert reported(NeighborLoader(graph, [3, 2], INPUT, **options)) == expected
    for parts in (2, 3, 4, 7):
        divided = graph.partition(parts, by="random", device="cpu")
        assert reported(NeighborLoader(divided, [3, 2], INPUT, placement="partitioned", **options)) == expected
    divided = graph.partition(3, device="cpu")
    assert reported(NeighborLoader(divided, [3, 2], INPUT, placement="streamed", **options)) == expected
    stand_in(monkeypatch, emulated())
    on_gpu = list(NeighborLoader(graph.partition(1, device="cuda"), [3, 2], INPUT, **options))
    assert not isinstance(on_gpu[0].edge_index, np.ndarray)
    assert reported(on_gpu) == expected


def test_links_have_induced_edges_too(graph):
    whole = of_networkx(graph.directed)
    loader = LinkNeighborLoader(
        graph, [2], batch_size=40, subgraph_type="induced", neg_sampling="binary", edge_rows=False
    )  # fmt: skip
    for batch in loader:
        assert batch.e_id is None
        found = sorted(zip(*batch.n_id[batch.edge_index].tolist(), strict=True))
        assert found == sorted(whole.subgraph(batch.n_id.tolist()).edges())


def test_without_meaning_it_is_refused(graph):
    with pytest.raises(InputError, match="subgraph_type='undirected' is not one of"):
        NeighborLoader(graph, [2], subgraph_type="undirected")
    with pytest.raises(InputError, match="subgraph_type='induced' has edges of all times"):
        NeighborLoader(graph, [2], input_time=1, times=np.ones(150), subgraph_type="induced")
    with pytest.raises(Unsupported, match="induced subgraphs of a streamed graph"):
        NeighborLoader(graph, [2], subgraph_type="induced", placement=gd.sample.Streamed(partitions=2))
