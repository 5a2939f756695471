"""Columns of edges and of vertices go through a file that is streamed, and come with samples, programs and formats."""

from __future__ import annotations

import struct

import numpy as np
import pandas as pd
import pytest
from column_kinds import column_kinds

import graphdask as gd
from graphdask.errors import FormatError, InputError, Unsupported
from graphdask.sample import NeighborLoader
from graphdask.stream.store import Store

N, M = 60, 700
RNG = np.random.default_rng(23)
SRC, DST = RNG.integers(0, N, M), RNG.integers(0, N, M)
TIME, SCORE = RNG.integers(0, 10**12, M), RNG.random(N)
ORDERS = ("layers", "ids")


def graph(**how):
    columns = {"edge_columns": {"time": TIME, "text": [f"e{k}" for k in range(M)]}, "vertex_columns": {"score": SCORE}}
    return gd.from_edges(SRC, DST, num_vertices=N, **(columns | how))


def frame_of_all():
    columns = column_kinds(M)
    return pd.DataFrame({"src": SRC, "dst": DST} | columns), list(columns)


@pytest.mark.parametrize("order", ORDERS)
def test_every_type_comes_back_from_a_file(order, tmp_path):
    frame, names = frame_of_all()
    people = frame[names].iloc[:N].assign(id=np.arange(N))
    G = gd.from_frame(frame, edge_columns=names, vertex_columns=people)
    S = gd.stream.build(G, tmp_path / "g.gdl", order=order)
    again = gd.stream.build(S, tmp_path / "again.gdl", order=order)
    for found in (S, gd.stream.open(tmp_path / "g.gdl"), S.in_memory(), again, again.in_memory().partition(2)):
        assert (found.edge_columns, found.vertex_columns) == (G.edge_columns, G.vertex_columns)
        pd.testing.assert_frame_equal(found.to_frame(), G.to_frame())
        pd.testing.assert_frame_equal(found.to_frame("vertices"), G.to_frame("vertices"))
    S.verify()


def attributes(kind):
    """A graph, and the ends and times of the edges that its rows name."""
    if kind == "multigraph":
        src, dst, time = np.tile(SRC, 3), np.tile(DST, 3), np.arange(3 * M)
        return gd.from_edges(src, dst, edge_columns={"time": time}), src, dst, time
    if kind == "merged on the workers":
        G = gd.from_edges(SRC, DST, edge_columns={"time": TIME}).to_undirected(multi_edges="merge")
        return G, SRC, DST, TIME
    G = graph(directed=kind != "undirected", self_loops="drop" if kind == "without loops" else "keep")
    if kind != "dynamic":
        return G, SRC, DST, TIME
    D, more = gd.DynamicGraph(G), (np.array([0, 5, 9]), np.array([1, 2, 3]))
    D.update(insert=more, delete=(SRC[:9], DST[:9]), columns={"time": [1, 2, 3]})
    return D, np.append(SRC, more[0]), np.append(DST, more[1]), np.append(TIME, [1, 2, 3])


KINDS = ("directed", "undirected", "multigraph", "without loops", "dynamic", "merged on the workers")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_attributes_of_edges_of_batches_and_samples_are_those_of_their_rows(kind, parts, tmp_path):
    G, src, dst, time = attributes(kind)
    S = gd.stream.build(G, tmp_path / "g.gdl", memory="1MiB", chunk=1024, order=ORDERS[parts % 2])
    S = gd.stream.open(tmp_path / "g.gdl", memory="64KiB").partition(parts)
    seen = 0
    for batch in NeighborLoader(S, [4, 3], batch_size=9):
        u, v = batch.n_id[batch.edge_index]
        there, back = (src[batch.e_id] == u) & (dst[batch.e_id] == v), (src[batch.e_id] == v) & (dst[batch.e_id] == u)
        assert (there if S.directed else there | back).all()
        np.testing.assert_array_equal(S.edge_column("time", batch.e_id), time[batch.e_id])
        seen += len(batch.e_id)
    assert seen > N
    s = gd.sample.neighbors(S, range(N), fanouts=[3, 2])
    np.testing.assert_array_equal(s.to_frame(columns=["time"]).time, time[s.edge])
    np.testing.assert_array_equal(s.edge, gd.sample.neighbors(G, range(N), fanouts=[3, 2]).edge)


def test_questions_subgraphs_and_weights_find_the_columns(tmp_path):
    G = graph()
    S = gd.stream.build(G, tmp_path / "g.gdl")
    u, v = int(SRC[5]), int(DST[5])
    assert sorted(S.edge_column("time", S.edge(u, v).row)) == sorted(TIME[(u == SRC) & (v == DST)])
    np.testing.assert_array_equal(S.vertex_column("score"), SCORE)
    part = gd.subgraph(S, range(20), edge_rows=True)
    pd.testing.assert_frame_equal(part.to_graph().to_frame(), gd.subgraph(G, range(20)).to_graph().to_frame())
    np.testing.assert_array_equal(
        gd.sssp(S.with_weights("time"), 0).distance, gd.sssp(G.with_weights("time"), 0).distance
    )
    timed = {"times": "time", "seed_times": np.full(9, 10**11)}
    found, known = (gd.sample.temporal_neighbors(H, range(9), fanouts=[3], edge_rows=True, **timed) for H in (S, G))
    np.testing.assert_array_equal(found.edge, known.edge)
    (batch,) = NeighborLoader(S, [3], batch_size=N, weight_attr="time", replace=True)
    np.testing.assert_array_equal(S.edge_column("time", batch.e_id), TIME[batch.e_id])
    assert S.to_networkx(edge_columns=["text"], multigraph=True).size() == M


@pytest.mark.filterwarnings("ignore:.* vertices without edges are not written")
@pytest.mark.parametrize("name", ["g.parquet", "g.gdg", "g.csv", "parts/"])
def test_other_formats_have_the_columns_again(name, tmp_path):
    G = graph(vertex_columns=None)
    options = {"format": "parquet", "files": 2} if name.endswith("/") else {}
    G.write(f"{tmp_path}/{name}", **options)
    S = gd.stream.build(f"{tmp_path}/{name}", tmp_path / "g.gdl", edge_columns=True)
    pd.testing.assert_frame_equal(S.to_frame(), G.to_frame())
    S.write(f"{tmp_path}/back_{name}", **options)
    found = gd.read_graph(f"{tmp_path}/back_{name}", edge_columns=["time", "text"])
    pd.testing.assert_frame_equal(found.to_frame(), G.to_frame())
    assert gd.stream.build(f"{tmp_path}/{name}", tmp_path / "none.gdl").edge_columns == {}


def test_columns_are_chosen_by_name(tmp_path):
    G, path = graph(), tmp_path / "g.gdl"
    S = gd.stream.build(G, path, edge_columns=["text"], vertex_columns=False)
    assert (list(S.edge_columns), list(S.vertex_columns)) == (["text"], [])
    S = gd.stream.build(G, path, edge_columns=False, overwrite=True)
    assert (list(S.edge_columns), list(S.vertex_columns)) == ([], ["score"])
    assert S.store.edge_rows is None
    np.testing.assert_array_equal(S.vertex_column("score", [3, 1]), SCORE[[3, 1]])
    for how, said in (
        ({"edge_columns": ["tim"]}, "edge_columns: there is no column 'tim'; there are time, text"),
        ({"vertex_columns": ["time"]}, "vertex_columns: there is no column 'time'; there are score"),
        ({"edge_columns": "time"}, "edge_columns='time' is not a list of names of columns"),
        ({"edge_rows": False}, "edge_rows=False leaves out the rows by which columns of edges are found"),
    ):
        with pytest.raises(InputError, match=said):
            gd.stream.build(G, path, overwrite=True, **how)
    gd.from_edges([0], [1]).write(tmp_path / "plain.txt")
    with pytest.raises(FormatError, match="edge_columns: there is no column 'km'"):
        gd.stream.build(tmp_path / "plain.txt", path, overwrite=True, edge_columns=["km"])


def version(path):
    return struct.unpack_from("<I", path.read_bytes(), 8)[0]


def test_nothing_of_a_column_is_read_until_it_is_asked_for(tmp_path, watched):
    S = gd.stream.build(graph(), tmp_path / "g.gdl")
    plain = gd.stream.build(graph(edge_columns=None, vertex_columns=None), tmp_path / "plain.gdl")
    assert (version(S.store.path), version(plain.store.path)) == (2, 1)  # which older versions read
    read = watched(Store, "mapped", lambda store, entry, what: what)
    S = gd.stream.open(tmp_path / "g.gdl")
    gd.pagerank(S)
    gd.sample.neighbors(S, [0], fanouts=[5], edge_rows=True)
    assert read == ["what the columns of edges are", "what the columns of vertices are"]
    S.edge_column("time", [3])
    S.edge_column("time", [4])
    assert read[2:] == ["the column 'time' of edges"]


def test_a_damaged_column_is_not_reported(tmp_path):
    path = tmp_path / "g.gdl"
    S = gd.stream.build(graph(), path)
    entry = S.store.header["columns"]["edges"]["columns"][0]
    with path.open("r+b") as file:
        file.seek(entry["offset"] + entry["bytes"] // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
    S = gd.stream.open(path)
    assert S.edge_column("text", [3]).tolist() == ["e3"]
    with pytest.raises(FormatError, match="the column 'time' of edges is damaged"):
        S.edge_column("time", [3])
    with pytest.raises(FormatError, match="a column of edges is damaged"):
        S.verify()


def test_rows_that_nobody_knows_are_refused(tmp_path):
    D = gd.DynamicGraph(graph())
    frame = pd.DataFrame({"src": [0, 0], "dst": [1, 1]})
    dask_frame = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=1)
    D.update(insert=dask_frame)
    with pytest.raises(Unsupported, match="rows of this dynamic graph's edges are not known"):
        gd.stream.build(D, tmp_path / "g.gdl")


def test_workers_read_the_columns_of_their_file(tmp_path, two_workers):
    program = gd.Program(
        state={"least": (int, 2**62)}, message=(int, "min"), send=lambda e: e.time,
        apply=lambda v, m: m < v.least and {"least": m}, max_supersteps=1,
    )  # fmt: skip
    S = gd.stream.build(graph(), tmp_path / "g.gdl", memory="1MiB", chunk=1024)
    expected = np.full(N, 2**62)
    np.minimum.at(expected, DST, TIME)
    np.testing.assert_array_equal(gd.run(S, program, client=two_workers).least, expected)
    s = gd.sample.neighbors(S, range(N), fanouts=[3], client=two_workers)
    np.testing.assert_array_equal(s.to_frame(columns=["time"]).time, TIME[s.edge])
