"""Rows of edges in a file that is streamed: kept where they are asked for, told by samples and loaders, checked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import FormatError, InputError, Unsupported
from graphdask.sample import NeighborLoader
from graphdask.stream.tuning import STREAM

N, M = 60, 700
RNG = np.random.default_rng(17)
SRC, DST, WEIGHTS = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(1, 4, M)


def check(s, src, dst, directed):
    """The ends at the rows are the sampled ones; each edge once or, undirected, at both ends."""
    if hasattr(s, "e_id"):
        (u, v), rows = s.n_id[s.edge_index], s.e_id
    else:
        u, v, rows = s.src, s.dst, s.edge
    there, back = (src[rows] == u) & (dst[rows] == v), (src[rows] == v) & (dst[rows] == u)
    assert (there if directed else there | back).all()
    return rows


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("order", ["layers", "ids"])
@pytest.mark.parametrize("how", [{}, {"self_loops": "drop"}, {"multi_edges": "merge"}, {"weights": WEIGHTS}])
def test_rows_of_a_graph_go_through_the_file(tmp_path, directed, order, how):
    G = gd.from_edges(SRC, DST, num_vertices=N, directed=directed, **how)
    S = gd.stream.build(G, tmp_path / "g.gdl", order=order, memory="1MiB", chunk=1024, edge_rows=True)
    expected = set(check(gd.sample.snowball(G, range(N), 1), SRC, DST, directed).tolist())
    for direction in ("in", "out"):
        (batch,) = NeighborLoader(S, [-1], batch_size=N, direction=direction)
        rows = check(batch, SRC, DST, directed)
        assert set(rows.tolist()) == expected
        assert len(rows) == len(expected) or not directed
    bias = "weight" if "weights" in how else None
    for memory in ("64KiB", "1MiB"):
        some = gd.stream.open(tmp_path / "g.gdl", memory=memory)
        for s in (
            gd.sample.neighbors(some, range(N), [3, 4], bias=bias, edge_rows=True),
            gd.sample.neighbors(some, range(N), [3, 4], bias=bias).with_edges(),
            gd.sample.neighbors(some.in_memory(), range(N), [3, 4], bias=bias, edge_rows=True),
            gd.sample.neighbors(some.in_memory().partition(3), range(N), [3, 4], bias=bias, placement="partitioned"),
        ):
            np.testing.assert_array_equal(s.edge, gd.sample.neighbors(G, range(N), [3, 4], bias=bias).edge)
    S.store.verify()


def test_rows_of_a_file_that_is_read_in_blocks_are_its_lines(tmp_path, tuned):
    tuned(STREAM, block_edges=64)
    path = tmp_path / "edges.csv"
    pd.DataFrame({"source": SRC, "target": DST}).to_csv(path, index=False)
    S = gd.stream.build(path, tmp_path / "g.gdl", memory="1MiB", chunk=1024, edge_rows=True)
    for batch in NeighborLoader(S, [3, 3], batch_size=9):
        check(batch, SRC, DST, True)


def test_rows_of_generated_edges(tmp_path):
    G = gd.generate.rmat(6, 8, seed=3, self_loops="drop")
    S = gd.stream.build(G, tmp_path / "g.gdl", edge_rows=True)
    edges = G.edges()
    for batch in NeighborLoader(S, [3, 3], batch_size=9):
        check(batch, edges.src, edges.dst, False)


def test_workers_tell_the_rows_of_a_file(tmp_path, two_workers):
    G = gd.from_edges(SRC, DST, num_vertices=N)
    S = gd.stream.build(G, tmp_path / "g.gdl", memory="1MiB", chunk=1024, edge_rows=True)
    s = gd.sample.neighbors(S, range(N), [3, 4], edge_rows=True, client=two_workers)
    np.testing.assert_array_equal(s.edge, gd.sample.neighbors(G, range(N), [3, 4]).edge)


WALKS = {
    "uniform": lambda G, **how: gd.sample.random_walk(G, range(N), 20, **how),
    "restart and jump": lambda G, **how: gd.sample.random_walk(G, range(N), 20, restart=0.2, jump=0.1, **how),
    "alias": lambda G, **how: gd.sample.random_walk(G, range(N), 20, bias="weight", method="alias", **how),
    "inverse": lambda G, **how: gd.sample.random_walk(G, range(N), 20, bias="weight", method="inverse", **how),
    "rejection": lambda G, **how: gd.sample.random_walk(G, range(N), 20, bias="weight", method="rejection", **how),
    "degree": lambda G, **how: gd.sample.random_walk(G, range(N), 20, bias="degree", **how),
    "node2vec": lambda G, **how: gd.sample.node2vec(G, range(N), 20, p=0.5, q=2, weighted=False, **how),
    "node2vec by weight": lambda G, **how: gd.sample.node2vec(G, range(N), 20, p=2, q=0.5, weighted=True, **how),
    "metropolis": lambda G, **how: gd.sample.metropolis_hastings(G, range(N), 20, **how),
}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", WALKS)
def test_walks_of_a_file_have_the_rows_that_they_have_in_memory(tmp_path, name, directed):
    if name == "metropolis" and directed:
        return
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed)
    expected = WALKS[name](G, edge_rows=True).verify()
    there = expected.edge >= 0
    rows, u, v = expected.edge[there], expected.walks[:, :-1][there], expected.walks[:, 1:][there]
    forward, back = (SRC[rows] == u) & (DST[rows] == v), (SRC[rows] == v) & (DST[rows] == u)
    assert (forward if directed else forward | back).all()
    for order in ("layers", "ids"):
        path = tmp_path / f"{order}.gdl"
        gd.stream.build(G, path, order=order, memory="1MiB", chunk=1024, edge_rows=True)
        for memory in ("80KiB", "1MiB"):
            S = gd.stream.open(path, memory=memory)
            for s in (WALKS[name](S, edge_rows=True), WALKS[name](S).with_edges()):
                np.testing.assert_array_equal(s.walks, expected.walks)
                np.testing.assert_array_equal(s.edge, expected.edge)


@pytest.mark.parametrize("name", ["uniform", "alias", "node2vec"])
def test_walks_of_a_file_by_a_device_have_the_same_rows(streamed, name):
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=False)
    S = streamed(G, memory="1MiB", edge_rows=True)
    expected = WALKS[name](G.partition(1, device="cpu"), edge_rows=True)
    s = WALKS[name](S, edge_rows=True)
    np.testing.assert_array_equal(s.walks, expected.walks)
    np.testing.assert_array_equal(s.edge, expected.edge)


@pytest.mark.parametrize("directed", [True, False])
def test_subgraphs_of_a_file_have_the_rows_that_they_have_in_memory(tmp_path, directed):
    G = gd.from_edges(SRC, DST, num_vertices=N, directed=directed)
    S = gd.stream.build(G, tmp_path / "g.gdl", memory="1MiB", chunk=1024, edge_rows=True)
    for draw in (
        lambda H, **how: gd.sample.saint_walks(H, 5, 4, instances=6, **how),
        lambda H, **how: gd.sample.saint_nodes(H, 20, instances=3, **how),
    ):
        expected = draw(G, edge_rows=True).verify()
        check(expected, SRC, DST, directed)
        for s in (draw(S, edge_rows=True), draw(S).with_edges()):
            np.testing.assert_array_equal(s.dst, expected.dst)
            np.testing.assert_array_equal(s.edge, expected.edge)
            np.testing.assert_array_equal(s.edge_norm, expected.edge_norm)


@pytest.mark.slow
def test_workers_walk_over_a_file_with_its_rows(tmp_path, two_workers):
    G = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N)
    S = gd.stream.build(G, tmp_path / "g.gdl", memory="1MiB", chunk=1024, edge_rows=True)
    s = WALKS["alias"](S, edge_rows=True, client=two_workers)
    np.testing.assert_array_equal(s.edge, WALKS["alias"](G, edge_rows=True).edge)


def test_a_file_without_rows_says_what_to_do(tmp_path):
    S = gd.stream.build(gd.from_edges(SRC, DST), tmp_path / "g.gdl")
    with pytest.raises(Unsupported, match=r"build it with edge_rows=True .* or sample without edge rows"):
        list(NeighborLoader(S, [2]))
    assert len(list(NeighborLoader(S, [2], edge_rows=False, batch_size=N))) == 1
    for sample in (gd.sample.neighbors(S, [0], [2]), gd.sample.neighbors(S.in_memory(), [0], [2])):
        with pytest.raises(Unsupported, match="build it with edge_rows=True"):
            _ = sample.edge
    for draw in (gd.sample.random_walk, gd.sample.node2vec):
        with pytest.raises(Unsupported, match="build it with edge_rows=True"):
            _ = draw(S, [0], 2).edge
        with pytest.raises(Unsupported, match="build it with edge_rows=True"):
            draw(S, [0], 2, edge_rows=True)
    for how in ({}, {"edge_rows": True}):
        with pytest.raises(Unsupported, match="build it with edge_rows=True"):
            _ = gd.sample.saint_walks(S, 3, 2, **how).edge


def test_edges_that_workers_merge_have_rows_that_are_those_in_memory(tmp_path):
    merged = gd.generate.rmat(5, 8, multi_edges="merge")
    S = gd.stream.build(merged, tmp_path / "g.gdl", edge_rows=True)
    rows = [gd.sample.neighbors(H, range(32), fanouts=[-1], edge_rows=True).edge for H in (S, merged)]
    np.testing.assert_array_equal(*rows)
    with pytest.raises(InputError, match="edge_rows=2 is neither True, False nor None"):
        gd.stream.build(merged, tmp_path / "g.gdl", edge_rows=2)


def test_damaged_rows_are_not_reported(tmp_path):
    path = tmp_path / "g.gdl"
    S = gd.stream.build(gd.from_edges(SRC, DST, num_vertices=N), path, edge_rows=True)
    offset = int(S.store.sections["out"].numbers["offset"][0])
    with path.open("r+b") as file:
        file.seek(offset + 5)
        byte = file.read(1)[0]
        file.seek(offset + 5)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(FormatError, match="the rows of the edges of chunk 0 of out are damaged"):
        gd.sample.neighbors(gd.stream.open(path), [0], [2], edge_rows=True)
    with pytest.raises(FormatError, match="the rows of the edges of chunk 0 of out are damaged"):
        gd.stream.open(path).store.verify()
