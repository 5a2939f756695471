"""Blocks of minibatches: what a network computes layer by layer is what powers of the adjacency matrix give."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError, MissingDependency
from graphdask.sample import LinkNeighborLoader, NeighborLoader

RNG = np.random.default_rng(43)
N = 30
SRC, DST = RNG.integers(0, N, 120), RNG.integers(0, N, 120)
"""With parallel edges and self-loops."""
INPUT = RNG.permutation(N)[:17]


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def graph(request):
    return gd.from_edges(SRC, DST, directed=request.param, num_vertices=N)


def gathered(directed, direction):
    """The matrix whose entry (v, u) is how many edges v gathers from u by."""
    matrix = np.zeros((N, N), np.int64)
    ends = (DST, SRC) if direction == "in" else (SRC, DST)
    np.add.at(matrix, ends, 1)
    if not directed:
        np.add.at(matrix, tuple(end[SRC != DST] for end in reversed(ends)), 1)
    return matrix


def computed(batch, x):
    """Sums over the edges of each block, the outermost first."""
    for block in batch.blocks():
        assert len(x) == block.num_src
        out = np.zeros(block.num_dst, np.int64)
        np.add.at(out, block.row, x[block.col])
        x = out
    return x


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_layers_over_all_neighbours_compute_powers_of_the_matrix(graph, hops, direction, disjoint):
    x = RNG.integers(0, 9, N)
    expected = np.linalg.matrix_power(gathered(graph.directed, direction), hops) @ x
    for parts, placement in ((1, "replicated"), (2, "partitioned"), (3, "partitioned")):
        loader = NeighborLoader(
            graph.partition(parts, device="cpu"), [-1] * hops, INPUT, batch_size=5, direction=direction,
            disjoint=disjoint, placement=placement, x=x,
        )  # fmt: skip
        for batch in loader:
            assert len(batch.blocks()) == hops
            assert computed(batch, batch.x)[: batch.batch_size].tolist() == expected[INPUT[batch.input_id]].tolist()


@pytest.mark.parametrize("options", [{}, {"direction": "out"}, {"disjoint": True}, {"replace": True}])
def test_blocks_of_draws_have_the_edges_of_their_hops(graph, options):
    for batch in NeighborLoader(graph, [3, 2], INPUT, batch_size=5, **options):
        outer, inner = batch.blocks()
        assert (outer.num_src, outer.num_dst, inner.num_src) == (batch.num_nodes, inner.num_src, outer.num_dst)
        assert (inner.num_dst, len(inner.row)) == (batch.batch_size, batch.num_sampled_edges[0])
        assert outer.e_id.tolist() == batch.e_id.tolist()
        for block in (outer, inner):
            assert (block.row < block.num_dst).all()
            assert (block.col < block.num_src).all()
            ends = [block.col, block.row] if options.get("direction") != "out" else [block.row, block.col]
            assert np.shares_memory(block.row, batch.edge_index)
            assert np.stack(ends).tolist() == batch.edge_index[:, : len(block.row)].tolist()
            if graph.directed:
                assert (SRC[block.e_id] == batch.n_id[ends[0]]).all()
                assert (DST[block.e_id] == batch.n_id[ends[1]]).all()


def test_blocks_in_time_see_what_the_seed_sees():
    times = RNG.integers(0, 50, 120)
    G = gd.from_edges(SRC, DST, times, num_vertices=N)
    (batch,) = NeighborLoader(G, [-1, -1], INPUT, batch_size=17, input_time=25, edge_rows=False)
    assert {block.e_id for block in batch.blocks()} == {None}
    early = times <= 25
    matrix = np.zeros((N, N), np.int64)
    np.add.at(matrix, (DST[early], SRC[early]), 1)
    assert computed(batch, batch.n_id)[:17].tolist() == (matrix @ matrix @ np.arange(N))[INPUT].tolist()


def test_blocks_of_links_compute_their_ends(graph):
    matrix = gathered(graph.directed, "in")
    for batch in LinkNeighborLoader(graph, [-1, -1], batch_size=30, neg_sampling="binary"):
        ends = batch.n_id[batch.edge_label_index]
        out = computed(batch, batch.n_id)
        assert out[batch.edge_label_index].tolist() == (matrix @ matrix @ np.arange(N))[ends].tolist()


@pytest.mark.parametrize("subgraph_type", ["induced", "bidirectional"])
def test_batches_of_other_edges_have_no_blocks(graph, subgraph_type):
    batch = next(iter(NeighborLoader(graph, [2], subgraph_type=subgraph_type)))
    for method in (batch.blocks, batch.to_dgl):
        with pytest.raises(InputError, match="blocks are of the edges of hops; make the loader with subgraph_type="):
            method()


def test_dgl_is_given_the_blocks(graph, monkeypatch):
    (batch,) = NeighborLoader(graph, [3, 2], INPUT, batch_size=17)
    monkeypatch.setitem(sys.modules, "dgl", None)
    with pytest.raises(MissingDependency, match="to_dgl needs dgl"):
        batch.to_dgl()
    made = lambda ends, **counts: SimpleNamespace(ends=ends, **counts, srcdata={}, dstdata={}, edata={})  # noqa: E731
    monkeypatch.setitem(sys.modules, "dgl", SimpleNamespace(create_block=made, NID="_ID", EID="_ID"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_dlpack=np.from_dlpack))
    for theirs, ours in zip(batch.to_dgl(), batch.blocks(), strict=True):
        assert [end.tolist() for end in theirs.ends] == [ours.col.tolist(), ours.row.tolist()]
        assert (theirs.num_src_nodes, theirs.num_dst_nodes) == (ours.num_src, ours.num_dst)
        assert theirs.srcdata["_ID"].tolist() == batch.n_id[: ours.num_src].tolist()
        assert theirs.dstdata["_ID"].tolist() == batch.n_id[: ours.num_dst].tolist()
        assert theirs.edata["_ID"].tolist() == batch.e_id[: len(ours.row)].tolist()
    (names,) = NeighborLoader(gd.from_edges(["a"], ["b"]), [1], ["b"])
    with pytest.raises(InputError, match="those of this graph are strings"):
        names.to_dgl()


@pytest.mark.parametrize("output", ["arrays", "torch"])
def test_layers_of_dgl_compute_powers_of_the_matrix(graph, output):
    torch = pytest.importorskip("torch")
    dgl = pytest.importorskip("dgl", reason="needs DGL, which is built for few versions of PyTorch")
    loader = NeighborLoader(graph, [-1, -1], INPUT, batch_size=5, output=output)
    expected = (np.linalg.matrix_power(gathered(graph.directed, "in"), 2) @ np.arange(N))[INPUT]
    for batch in loader:
        x = torch.as_tensor(batch.n_id, dtype=torch.float64)
        for block in batch.to_dgl():
            assert block.srcdata[dgl.NID].tolist() == batch.n_id[: block.num_src_nodes()].tolist()
            x = torch.zeros(block.num_dst_nodes(), dtype=x.dtype).index_add_(0, block.edges()[1], x[block.edges()[0]])
        assert x.tolist() == expected[np.asarray(batch.input_id)].tolist()
