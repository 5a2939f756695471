"""A column of the edges stands in for their weights, wherever the edges are made."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import InputError


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_a_column_as_weights_gives_the_answers_of_these_weights(parts):
    rng = np.random.default_rng(3)
    src, dst, length = rng.integers(0, 30, (3, 150))
    score = rng.random(30)
    columns = {"km": length, "date": length.astype("datetime64[D]"), "near": length < 9}
    G = gd.from_edges(src, dst, num_vertices=30, edge_columns=columns, vertex_columns={"score": score})
    expected = gd.from_edges(src, dst, length, num_vertices=30)
    for name in ("km", "date"):
        W = G.with_weights(name).partition(parts)
        assert gd.sssp(W, 0).distance.tolist() == gd.sssp(expected, 0).distance.tolist()
        assert W.to_frame()[name].tolist() == G.to_frame()[name].tolist()
    assert G.with_weights("near").edges().weights.tolist() == (length < 9).astype(int).tolist()
    assert not G.weighted
    near = gd.Program(
        state={"best": (float, 0.0), "score": (float, 0.0)},
        message=(float, "max"),
        send=lambda e: e.source.score * e.weight,
        apply=lambda v, m: m > v.best and {"best": m},
    )
    init = {"score": G.vertex_column("score")}
    r = gd.run(G.with_weights("km").partition(parts), near, init=init, max_supersteps=1)
    best = np.zeros(30)
    np.maximum.at(best, dst, score[src] * length)
    assert r.best.tolist() == best.tolist()


def as_dask(frame):
    return gd.from_frame(dd.from_pandas(frame, npartitions=3), "a", "b", edge_columns=["t", "name"])


def as_changed(frame):
    D = gd.DynamicGraph(gd.from_frame(frame.iloc[:-4], "a", "b", edge_columns=["t", "name"]))
    last = frame.iloc[-4:]
    D.update(insert=(last.a, last.b), columns={"t": last.t, "name": last.name})
    return D


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize(
    ("made", "merged"),
    [
        (as_dask, False),
        (lambda frame: as_dask(frame).reverse(), False),
        (lambda frame: as_dask(frame).to_undirected(multi_edges="merge"), True),
        (as_changed, True),
        (lambda frame: as_changed(frame).reverse(), True),
    ],
    ids=["dask", "reversed", "merged", "changed", "changed, reversed"],
)
def test_edges_made_on_the_workers_have_a_column_as_weights(made, merged, parts):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"a": rng.permutation(20) % 12, "b": rng.integers(0, 12, 20), "t": rng.integers(1, 99, 20)})
    frame["name"] = [f"n{t}" for t in frame.t]
    if merged:  # which of two parallel edges stays is another test's question
        frame = frame[~pd.DataFrame(np.sort(frame[["a", "b"]])).duplicated()].reset_index(drop=True)
    G = made(frame)
    W = G.with_weights("t").partition(parts, "random")
    found = W.to_frame()
    assert (found.weight == found.t).all()
    assert (found.name == [f"n{t}" for t in found.t]).all()
    assert sorted(found.t) == sorted(frame.t)
    s = gd.sample.neighbors(W, W.vertex_ids, [-1])
    assert s.weight.tolist() == s.column("t").tolist() == frame.t.to_numpy()[s.edge].tolist()
    assert not G.weighted
    again = gd.from_edges(found.src, found.dst, found.t, vertices=W.vertex_ids, directed=W.directed)
    assert gd.sssp(W, 3).distance.tolist() == gd.sssp(again, 3).distance.tolist()
    t = gd.sample.temporal_neighbors(G, [3], [-1], seed_times=50, times="t")
    assert (t.column("t") <= 50).all()


def test_edges_have_no_weights_but_columns_and_arrays_of_their_order():
    G = gd.from_edges([0, 1, 1], [1, 0, 2], edge_columns={"t": [1, 2, 3]})
    with pytest.raises(InputError, match=r"made on the workers.*name a column of its edges"):
        gd.sample.temporal_neighbors(gd.DynamicGraph(G), [0], [1], seed_times=5, times=[1, 2, 3])
    with pytest.raises(InputError, match="columns of numbers or dates are t"):
        G.with_weights("x")
    with pytest.raises(InputError, match="columns of numbers or dates are none"):
        gd.DynamicGraph(gd.from_edges([0], [1])).with_weights("x")
    assert G.reverse().with_weights("t").edges().weights.tolist() == [1, 2, 3]
