"""Rows of the edges of a graph that changes: those of the arrays that it began with, then every batch's behind them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import Unsupported
from graphdask.sample import NeighborLoader

N, M, EACH = 25, 150, 40
RNG = np.random.default_rng(31)
FIRST = (RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(1, 9, M))
BATCHES = [
    ((RNG.integers(0, N + 4 * b, EACH), RNG.integers(0, N + 4 * b, EACH), RNG.integers(1, 9, EACH)),
     (RNG.integers(0, N, 30), RNG.integers(0, N, 30)) if b % 2 else None)
    for b in range(5)
]  # fmt: skip
NAMES = np.array([f"v{(11 * i) % 97:02d}" for i in range(97)], object)


def pair(u, v, directed):
    return (u, v) if directed else (min(u, v), max(u, v))


def replayed(directed, batches):
    """The row of every edge that is there, one change after the other."""
    rows = {}
    for row in np.argsort(FIRST[2], kind="stable").tolist():  # of parallel edges the first of the lightest
        rows.setdefault(pair(int(FIRST[0][row]), int(FIRST[1][row]), directed), row)
    for number, (insert, delete) in enumerate(batches):
        for u, v in [] if delete is None else zip(*delete, strict=True):
            rows.pop(pair(int(u), int(v), directed), None)
        for place, (u, v) in enumerate(zip(*insert[:2], strict=True)):
            rows[pair(int(u), int(v), directed)] = M + number * EACH + place
    return rows


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("names", [None, NAMES], ids=["numbers", "strings"])
def test_edges_that_were_inserted_have_the_rows_behind_those_before(directed, names):
    def called(array):
        return array if names is None else names[array]

    D = gd.DynamicGraph(gd.from_edges(called(FIRST[0]), called(FIRST[1]), FIRST[2], directed=directed))
    number = {called(np.array([v]))[0]: v for v in range(97)}
    for done in range(len(BATCHES) + 1):
        if done:
            (src, dst, weights), delete = BATCHES[done - 1]
            delete = None if delete is None else tuple(map(called, delete))
            D.update(insert=(called(src), called(dst), weights), delete=delete)
        expected = replayed(directed, BATCHES[:done])
        for G in (D, pickle.loads(pickle.dumps(D)), D.partition(3, by="random")):
            found = {}
            for batch in NeighborLoader(G, [-1], batch_size=9, placement="partitioned"):
                for (u, v), row in zip(batch.n_id[batch.edge_index].T.tolist(), batch.e_id.tolist(), strict=True):
                    assert found.setdefault(pair(number[u], number[v], directed), row) == row
            assert found == expected


def test_workers_tell_the_same_rows(two_workers):
    D = gd.DynamicGraph(gd.from_edges(*FIRST))
    for insert, delete in BATCHES:
        D.update(insert=insert, delete=delete, client=two_workers)
    expected = replayed(True, BATCHES)
    s = gd.sample.snowball(D, D.vertex_ids, 1, edge_rows=True, placement="partitioned", client=two_workers)
    assert dict(zip(zip(s.src.tolist(), s.dst.tolist(), strict=True), s.edge.tolist(), strict=True)) == expected


def test_where_workers_dropped_entries_of_a_batch_rows_are_refused():
    frames = pytest.importorskip("dask.dataframe")
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    D.update(insert=frames.from_pandas(pd.DataFrame({"src": [0, 2], "dst": [2, 0]}), npartitions=1))
    assert sorted(gd.sample.snowball(D, [0, 1, 2], 1).edge.tolist()) == [0, 1, 2, 3]
    D.update(insert=frames.from_pandas(pd.DataFrame({"src": [1, 1], "dst": [0, 0]}), npartitions=1))
    s = gd.sample.snowball(D, [0, 1, 2], 1)
    with pytest.raises(Unsupported, match="which its workers dropped"):
        _ = s.edge


def test_columns_that_cannot_be_joined_to_edges_are_refused_with_what_leaves_them_out(tmp_path):
    frames = pytest.importorskip("dask.dataframe")
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 0], edge_columns={"t": [1, 2, 3]}))
    D.update(insert=frames.from_pandas(pd.DataFrame({"src": [0, 0, 1], "dst": [2, 2, 0]}), npartitions=2))
    G = D.present
    for call in (lambda: G.write(tmp_path / "g.csv"), G.to_arrow):
        with pytest.raises(Unsupported, match=r"leave out columns of edges, .*, as gd.from_edges\(\*G.edges\(\), dir"):
            call()
    gd.from_edges(*G.edges(), directed=G.directed).write(tmp_path / "g.csv")
    assert gd.read_graph(tmp_path / "g.csv").num_edges == 5
