"""Minibatches with the reverses of the edges that were drawn, against plain Python and PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.sample import LinkNeighborLoader, NeighborLoader

RNG = np.random.default_rng(29)
N = 24
SRC, DST, TIMES = RNG.integers(0, N, 140), RNG.integers(0, N, 140), RNG.integers(0, 50, 140)
"""With parallel edges and self-loops."""
INPUT, INPUT_TIME = RNG.permutation(N)[:17], RNG.integers(0, 50, 17)
KINDS = {
    "shared": {},
    "all neighbours": {"num_neighbors": [-1, -1]},
    "with replacement": {"num_neighbors": [9, 4], "replace": True},
    "disjoint": {"disjoint": True},
    "outward": {"direction": "out"},
    "in time": {"input_time": INPUT_TIME, "times": TIMES},
    "the latest": {"input_time": INPUT_TIME, "times": TIMES, "temporal_strategy": "last"},
    "without rows": {"edge_rows": False},
}


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graph(request):
    return gd.from_edges(SRC, DST, directed=request.param, num_vertices=N)


def batches(graph, options, subgraph_type="bidirectional", **more):
    given = {"num_neighbors": [3, 2], "input_nodes": INPUT, "batch_size": 5, "seed": 2, **options, **more}
    return list(NeighborLoader(graph, subgraph_type=subgraph_type, **given))


def both_ways(batch):
    """By plain Python: {(destination, source): row} of the edges of a batch and their reverses."""
    rows = [None] * batch.edge_index.shape[1] if batch.e_id is None else batch.e_id.tolist()
    edges = list(zip(*batch.edge_index.tolist(), rows, strict=True))
    found = {}
    for source, end, row in edges:
        found.setdefault((end, source), row)
    for source, end, row in edges:
        found.setdefault((source, end), row)
    return found


def reported(made):
    def listed(values):
        return None if values is None else values.tolist()

    return [
        [*(listed(getattr(batch, name)) for name in ("n_id", "edge_index", "e_id", "batch")), batch.num_sampled_nodes]
        for batch in made
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_batches_have_the_edges_drawn_and_their_reverses(graph, kind):
    alone = batches(graph, KINDS[kind], "directional")
    for batch, drawn in zip(batches(graph, KINDS[kind]), alone, strict=True):
        assert batch.n_id.tolist() == drawn.n_id.tolist()
        assert (batch.num_sampled_nodes, batch.num_sampled_edges) == (drawn.num_sampled_nodes, None)
        expected = sorted(both_ways(drawn).items())
        assert batch.edge_index[::-1].T.tolist() == [list(pair) for pair, _ in expected]
        if kind == "without rows":
            assert batch.e_id is None
            continue
        assert batch.e_id.tolist() == [row for _, row in expected]
        ends = np.sort(batch.n_id[batch.edge_index], axis=0)
        assert ends.tolist() == np.sort([SRC[batch.e_id], DST[batch.e_id]], axis=0).tolist()


@pytest.mark.parametrize("kind", ["shared", "disjoint", "in time"])
def test_batches_are_the_same_wherever_they_are_drawn(graph, monkeypatch, kind):
    options = {"shuffle": True, **KINDS[kind]}
    expected = reported(batches(graph, options, batches_per_run=1))
    times = options.pop("times", None)
    parted = graph if times is None else gd.from_edges(SRC, DST, times, directed=graph.directed, num_vertices=N)
    assert reported(batches(parted, options)) == expected
    for parts in (2, 3, 4, 7):
        divided = parted.partition(parts, by="random", device="cpu")
        assert reported(batches(divided, options, placement="partitioned")) == expected
    assert reported(batches(parted.partition(3, device="cpu"), options, placement="streamed")) == expected
    stand_in(monkeypatch, emulated())
    on_gpu = batches(parted.partition(1, device="cuda"), options)
    assert not isinstance(on_gpu[0].edge_index, np.ndarray)
    assert not isinstance(on_gpu[0].e_id, np.ndarray)
    assert reported(on_gpu) == expected


def test_workers_of_a_cluster_draw_the_same_batches(two_workers, graph):
    expected = reported(batches(graph, {}))
    assert reported(batches(graph.partition(), {}, placement="partitioned", client=two_workers)) == expected


@pytest.mark.parametrize("options", [{}, {"disjoint": True}, {"neg_sampling": "triplet"}])
def test_links_have_reverses_too(graph, options):
    options = {"batch_size": 30, "neg_sampling": "binary", "seed": 4, **options}
    made = LinkNeighborLoader(graph, [2, 2], subgraph_type="bidirectional", **options)
    for batch, drawn in zip(made, LinkNeighborLoader(graph, [2, 2], **options), strict=True):
        expected = sorted(both_ways(drawn).items())
        assert batch.edge_index[::-1].T.tolist() == [list(pair) for pair, _ in expected]
        assert batch.e_id.tolist() == [row for _, row in expected]
        for name in ("n_id", "edge_label_index", "src_index", "dst_pos_index", "dst_neg_index"):
            assert np.array_equal(getattr(batch, name), getattr(drawn, name)), name


def test_batches_without_edges_or_vertices():
    lonely = gd.from_edges([0], [0], num_vertices=3)
    made = list(NeighborLoader(lonely, [2], [1, 0], subgraph_type="bidirectional"))
    assert [batch.edge_index.tolist() for batch in made] == [[[], []], [[0], [0]]]
    assert [batch.e_id.tolist() for batch in made] == [[], [0]]


@pytest.mark.learn
@pytest.mark.parametrize("kind", KINDS)
def test_edges_are_those_of_pytorch_geometric(graph, kind):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.sampler.utils import to_bidirectional

    alone = batches(graph, KINDS[kind], "directional", output="torch")
    for batch, drawn in zip(batches(graph, KINDS[kind]), alone, strict=True):
        rows = torch.arange(drawn.edge_index.shape[1]) if drawn.e_id is None else drawn.e_id
        row, col, edge = to_bidirectional(*drawn.edge_index, *drawn.edge_index, rows, rows)
        assert batch.edge_index.tolist() == [row.tolist(), col.tolist()]
        if batch.e_id is not None:  # of several edges it takes any
            candidates = {}
            for source, end, each in zip(*drawn.edge_index.tolist(), drawn.e_id.tolist(), strict=True):
                candidates.setdefault((source, end), set()).add(each)
                candidates.setdefault((end, source), set()).add(each)
            for pair, mine, theirs in zip(batch.edge_index.T.tolist(), batch.e_id.tolist(), edge.tolist(), strict=True):
                assert {mine, theirs} <= candidates[tuple(pair)]
