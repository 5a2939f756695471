"""Rows of sampled edges: `edge_attr[batch.e_id]` are the attributes of the edges, however a graph was made and cut."""

from __future__ import annotations

import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import graphdask as gd
from graphdask.errors import OverBudget
from graphdask.gang import building
from graphdask.partition.edge_rows import memory
from graphdask.partition.tuning import PARTITION
from graphdask.sample import NeighborLoader, Streamed

N, M = 50, 400
RNG = np.random.default_rng(12)
SRC, DST, WEIGHTS = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(0, 4, M)
"""With self-loops and with parallel edges, of which some have the same weight."""
PLACEMENTS = ("replicated", "partitioned", "streamed", Streamed(partitions=4, resident=2))
NAMES = np.array([f"v{(7 * i) % N}" for i in range(N)], object)


def of_the_edges(batches, src, dst, directed):
    """Check that the ends that the caller gave at the rows are the sampled ones; the rows of each batch."""
    found = []
    for batch in batches:
        u, v = (batch.n_id[ends] for ends in batch.edge_index)
        there, back = ((src[batch.e_id] == a) & (dst[batch.e_id] == b) for a, b in ((u, v), (v, u)))
        assert (there if directed else there | back).all()
        found.append(batch.e_id)
    assert sum(map(len, found))
    return found


def first_of_the_lightest(directed, loops):
    """With pandas: the rows that stay where parallel edges are merged."""
    frame = pd.DataFrame({"u": SRC, "v": DST, "weight": WEIGHTS})
    if not directed:
        frame["u"], frame["v"] = np.minimum(SRC, DST), np.maximum(SRC, DST)
    frame = frame if loops else frame[frame.u != frame.v]
    return set(frame.sort_values("weight", kind="stable").drop_duplicates(["u", "v"]).index)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS * 0.5])
def test_all_edges_of_a_multigraph_have_their_own_rows(directed, weights):
    G = gd.from_edges(SRC, DST, weights, num_vertices=N, directed=directed)
    for direction in ("in", "out"):
        (rows,) = of_the_edges(NeighborLoader(G, [-1], batch_size=N, direction=direction), SRC, DST, directed)
        loops = 0 if directed else (SRC == DST).sum()
        assert np.bincount(rows, minlength=M).tolist() == [1 if directed or SRC[k] == DST[k] else 2 for k in range(M)]
        assert len(rows) == (M if directed else 2 * M - loops)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("loops", ["keep", "drop"])
@pytest.mark.parametrize("merged_by", ["from_edges", "workers"])
def test_edges_that_are_left_out_count_and_the_first_of_the_lightest_stays(directed, loops, merged_by):
    merge = {"multi_edges": "merge"} if merged_by == "from_edges" else {}
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed, self_loops=loops, **merge)
    if merged_by == "workers":
        G, directed = G.to_undirected(multi_edges="merge"), False
    expected = first_of_the_lightest(directed, loops == "keep")
    for parts in (1, 3):
        loader = NeighborLoader(G.partition(parts, by="random"), [-1], batch_size=N, placement="partitioned")
        (rows,) = of_the_edges(loader, SRC, DST, directed)
        assert set(rows.tolist()) == expected


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"bias": "weight"}, {"bias": "degree"}, {"replace": True}, {"method": "reservoir"}]
)
@pytest.mark.parametrize("ids", ["numbers", "strings"])
def test_rows_are_right_and_the_same_wherever_batches_are_drawn(directed, options, ids):
    src, dst = (SRC, DST) if ids == "numbers" else (NAMES[SRC], NAMES[DST])
    G = gd.from_edges(src, dst, WEIGHTS, directed=directed)
    for direction in ("in", "out"):
        how = {"batch_size": 7, "direction": direction, **options}
        expected = of_the_edges(NeighborLoader(G, [3, 4], **how), src, dst, directed)
        for parts, by in ((1, "range"), (2, "random"), (3, "biased-random"), (3, "range")):
            H = G.partition(parts, by=by)
            for placement in PLACEMENTS:
                found = NeighborLoader(H, [3, 4], placement=placement, **how)
                for mine, theirs in zip(found, expected, strict=True):
                    assert mine.e_id.tolist() == theirs.tolist()


def test_with_a_bias_by_weight_edges_of_weight_0_have_no_row_among_those_drawn():
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N)
    (rows,) = of_the_edges(NeighborLoader(G, [M], batch_size=N, bias="weight"), SRC, DST, True)
    assert sorted(rows.tolist()) == np.flatnonzero(WEIGHTS).tolist()


def test_rows_are_found_of_a_graph_that_is_there_already_in_both_directions():
    G = gd.from_edges(SRC, DST, num_vertices=N).partition(3, by="random").persist()
    for direction in ("out", "in", "out"):
        of_the_edges(NeighborLoader(G, [3], direction=direction, placement="partitioned"), SRC, DST, True)
    part = G.built.parts[0]
    assert part.out.rows.dtype == part.inward.rows.dtype == np.int32
    assert part.nbytes >= part.out.rows.nbytes + part.inward.rows.nbytes


def test_without_rows_none_are_found_and_the_batches_are_the_same():
    for placement in ("replicated", "partitioned"):
        G = gd.from_edges(SRC, DST, num_vertices=N).partition(2)
        bare = list(NeighborLoader(G, [3, 2], batch_size=9, placement=placement, edge_rows=False))
        held = G.replicas.held[0] if placement == "replicated" else G.built.parts[0]
        assert held.inward.rows is None
        for mine, theirs in zip(bare, NeighborLoader(G, [3, 2], batch_size=9, placement=placement), strict=True):
            assert mine.e_id is None
            assert mine.edge_index.tolist() == theirs.edge_index.tolist()
    times = np.arange(M)
    how = {"batch_size": 9, "times": times, "input_time": 200}
    for mine, theirs in zip(NeighborLoader(G, [3], edge_rows=False, **how), NeighborLoader(G, [3], **how), strict=True):
        assert mine.e_id is None
        assert mine.edge_index.tolist() == theirs.edge_index.tolist()
        assert (times[theirs.e_id] <= 200).all()


@pytest.mark.parametrize("loops", ["keep", "drop"])
def test_rows_of_generated_edges_are_places_among_all_edges(loops):
    graphs = [
        gd.generate.rmat(6, 8, seed=3, directed=True, self_loops=loops),
        gd.generate.rmat(6, 8, seed=3, self_loops=loops),
        gd.generate.preferential_attachment(60, degree=4, seed=1),
        gd.generate.erdos_renyi(60, 300, seed=2),
    ]
    for G in graphs:
        edges = G.edges()
        for parts in (1, 3):
            loader = NeighborLoader(G.partition(parts), [-1], batch_size=G.num_vertices, placement="partitioned")
            (rows,) = of_the_edges(loader, edges.src, edges.dst, G.directed)
            assert set(rows.tolist()) == set(range(len(edges.src)))


def test_rows_of_generated_edges_that_are_merged_are_places_among_those_before():
    every = gd.generate.rmat(5, 16, seed=3, directed=True).edges()
    first = set(pd.DataFrame({"u": every.src, "v": every.dst}).drop_duplicates().index)
    for parts in (1, 2):
        G = gd.generate.rmat(5, 16, seed=3, directed=True, multi_edges="merge").partition(parts)
        loader = NeighborLoader(G, [-1], batch_size=32, placement="partitioned")
        (rows,) = of_the_edges(loader, every.src, every.dst, True)
        assert set(rows.tolist()) == first


def test_rows_of_a_data_frame_are_those_of_all_partitions():
    frames = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"a": SRC, "b": DST, "w": WEIGHTS})
    for directed in (True, False):
        G = gd.from_dask_dataframe(frames.from_pandas(table, npartitions=5), "a", "b", "w", directed=directed)
        for parts in (1, 2, 7):
            loader = NeighborLoader(G.partition(parts, by="random"), [4, 4], batch_size=9, placement="partitioned")
            of_the_edges(loader, SRC, DST, directed)


def test_rows_of_a_file_of_a_matrix_and_of_a_networkx_graph(tmp_path):
    path = tmp_path / "edges.csv"
    pd.DataFrame({"source": SRC, "target": DST}).to_csv(path, index=False)
    of_the_edges(NeighborLoader(gd.read_graph(path, self_loops="drop"), [3, 3], batch_size=9), SRC, DST, True)
    A = sp.coo_array((WEIGHTS + 1, (SRC, DST)), (N, N))
    of_the_edges(NeighborLoader(gd.from_scipy(A), [3, 3], batch_size=9), SRC, DST, True)
    g = nx.MultiGraph(zip(SRC.tolist(), DST.tolist(), strict=True))
    src, dst = np.array([(u, v) for u, v, _ in g.edges]).T
    of_the_edges(NeighborLoader(gd.from_networkx(g), [3, 3], batch_size=9), src, dst, False)


@pytest.mark.slow
def test_workers_of_a_cluster_tell_the_same_rows(two_workers):
    for directed in (True, False):
        G = gd.from_edges(NAMES[SRC], NAMES[DST], WEIGHTS, directed=directed)
        how = {"batch_size": 7, "batches_per_run": 3}
        expected = of_the_edges(NeighborLoader(G, [3, 4], **how), NAMES[SRC], NAMES[DST], directed)
        for placement in ("replicated", "partitioned"):
            for parts, by in ((1, "range"), (2, "random"), (3, "range")):
                H = G.partition(parts, by=by)
                found = NeighborLoader(H, [3, 4], placement=placement, client=two_workers, **how)
                assert [batch.e_id.tolist() for batch in found] == [rows.tolist() for rows in expected]


def test_the_memory_for_rows_is_announced(free_memory):
    G = gd.from_edges(SRC, DST, num_vertices=N).persist()
    free_memory(20_000)
    with pytest.raises(OverBudget, match=r"the rows of the edges need about .* sample without edge rows"):
        list(NeighborLoader(G, [2], batch_size=1, batches_per_run=1, placement="partitioned", direction="out"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [32, 64])
def test_rows_that_32_bits_are_too_few_for_take_64(tuned, width):
    tuned(PARTITION, narrow_ids=N + 1)  # of which there are more edges than vertices
    for placement in PLACEMENTS:
        G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N).partition(3, id_width=width)
        of_the_edges(NeighborLoader(G, [3, 2], batch_size=9, placement=placement, bias="weight"), SRC, DST, True)
        held = G.built.parts[0] if placement == "partitioned" else G.replicas.held[0]
        assert held.inward.rows.dtype == np.int64


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
@pytest.mark.parametrize("width", [32, 64])
def test_finding_rows_takes_no_more_than_is_announced(directed, weights, width):
    rng, n, m = np.random.default_rng(3), 1 << 10, 1 << 16
    given = None if weights is None else rng.integers(0, 9, m).astype(weights)
    made = gd.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), given, num_vertices=n, directed=directed)
    G = made.partition(1, id_width=width).persist()
    announced = memory(G.built.parts[0], building.rows_plan(G, False), 1)
    tracemalloc.start()
    try:
        found = building.with_edge_rows(G, G.built, False, False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.parts[0].out.rows) == G.built.parts[0].out.num_edges
    assert peak <= announced
