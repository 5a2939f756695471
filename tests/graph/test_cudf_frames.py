"""Frames of cuDF: ends and weights stay on the device, other columns are copied, strings and missing values are read
through Arrow. Expected values are those of pandas."""

from __future__ import annotations

import sys

import narwhals
import numpy as np
import pandas as pd
import pytest
from cudf_frames import DaskFrame, DataFrame, Series, stand_in_for_cudf
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.device.arrays import on_gpu
from graphdask.errors import InputError
from graphdask.graph.adapters import column_values

CALLS = {
    "a": np.array([4, 2, 4, 9], np.int32), "b": np.array([2, 9, 9, 4], np.int32), "w": [1.5, 2.0, 0.5, 3.0],
    "kind": ["x", None, "y", "x"], "time": [7, None, 9, 1], "unread": [object.__name__] * 4,
}  # fmt: skip


@pytest.fixture(autouse=True, params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch) -> str:
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    return request.param


def in_pandas() -> pd.DataFrame:
    return pd.DataFrame(CALLS | {"time": pd.array(CALLS["time"], "Int64")})


@pytest.mark.parametrize("more", [None, ["kind", "time"]])
def test_ends_and_weights_stay_on_the_device(more):
    frame = DataFrame(CALLS)
    G = gd.from_frame(frame, "a", "b", "w", edge_columns=more, directed=False)
    assert on_gpu(G.source.src)
    assert on_gpu(G.source.weights)
    assert frame.copied == (more or [])
    expected = gd.from_frame(in_pandas(), "a", "b", "w", edge_columns=more, directed=False)
    assert G.to_arrow().to_pydict() == expected.to_arrow().to_pydict()


def test_columns_of_from_edges_leave_device_arrays_there():
    frame = DataFrame(CALLS)
    G = gd.from_edges(frame["a"], frame["b"], frame["w"], edge_columns=DataFrame({"kind": CALLS["kind"]}))
    assert on_gpu(G.source.src)
    assert frame.copied == []
    assert G.to_frame()["kind"].isna().tolist() == [False, True, False, False]


def test_names_and_columns_of_vertices_are_read_through_arrow():
    names = {"a": ["ann", "bob"], "b": ["bob", "cy"], "age": [1, 2]}
    people = {"id": ["cy", "eve"], "age": [40, None]}
    G = gd.from_frame(DataFrame(names), "a", "b", edge_columns=["age"], vertex_columns=DataFrame(people))
    assert G.vertex_ids.tolist() == ["ann", "bob", "cy", "eve"]
    assert G.vertex_column("age", ["cy"]).tolist() == [40]
    assert gd.from_edges(Series(["ann"]), Series(["bob"])).vertex_ids.tolist() == ["ann", "bob"]


@pytest.mark.parametrize("vertices", [{"id": [2, 7], "s": [1, 2]}, {"s": [1, 2, 3]}])
def test_columns_of_vertices_beside_ends_on_the_device(vertices):
    made, expected = (
        gd.from_frame(kind(CALLS), "a", "b", vertex_columns=vertices) for kind in (DataFrame, pd.DataFrame)
    )
    assert made.to_arrow("vertices").to_pydict() == expected.to_arrow("vertices").to_pydict()


def test_from_frames_takes_them():
    tables = {("user", "rates", "item"): DataFrame({"src": [3, 5], "dst": [1, 1], "stars": [4, None]})}
    G = gd.from_frames(tables, edge_columns=["stars"])
    assert G.edge_column("rates", "stars").tolist() == [4, None]


def test_missing_ids_and_wrong_ones_are_named():
    with pytest.raises(InputError, match=r"df: column 'a'\[1\] is missing"):
        gd.from_frame(DataFrame({"a": [1, None], "b": [1, 2]}), "a", "b")
    with pytest.raises(InputError, match=r"df: column 'b'\[0\] = -1 is negative"):
        gd.from_frame(DataFrame({"a": [1, 2], "b": [-1, 2]}), "a", "b")
    with pytest.raises(InputError, match=r"src is on a GPU and has missing values"):
        gd.from_edges(Series([1, None]), Series([1, 2]))
    with pytest.raises(InputError, match=r"df has no column 'src'; it has a, b"):
        gd.from_frame(DataFrame({"a": [1, 2], "b": [-1, 2]}))


def test_partitions_of_dask_frames_of_cudf_have_their_values_copied():
    assert column_values(Series([3, 1])).tolist() == [3, 1]
    assert column_values(Series(["a", "b"])).tolist() == ["a", "b"]
    with pytest.raises(InputError, match=r"\[1\] is missing"):
        column_values(Series([3, None]))


@pytest.mark.parametrize("more", [None, ["kind", "time"], True])
@pytest.mark.parametrize("how", [{}, {"self_loops": "drop"}, {"multi_edges": "merge"}])
def test_frames_of_dask_cudf_give_what_pandas_gives(more, how):
    halves = [DataFrame({name: values[part] for name, values in CALLS.items()}) for part in (slice(2), slice(2, 4))]
    G = gd.from_frame(DaskFrame(halves), "a", "b", "w", edge_columns=more, **how)
    expected = gd.from_frame(in_pandas(), "a", "b", "w", edge_columns=more, **how)
    assert G.to_arrow().to_pydict() == expected.to_arrow().to_pydict()
    assert gd.from_dask_dataframe(DaskFrame(halves), "a", "b").num_edges == 4
    with pytest.raises(InputError, match="the data frame has no column 'c'; it has a, b, w"):
        gd.from_dask_dataframe(DaskFrame(halves), "a", "c")


def test_graphs_results_and_samples_become_frames_of_cudf(monkeypatch):
    G = gd.from_frame(in_pandas(), "a", "b", "w", edge_columns=["kind"]).partition(1, device="cpu")
    made = (G, gd.bfs(G, 4), gd.sample.neighbors(G, [4], fanouts=[2]))
    monkeypatch.setitem(sys.modules, "cudf", None)
    with pytest.raises(ImportError, match="cudf"):
        narwhals.from_arrow(G, backend="cudf")
    stand_in_for_cudf(monkeypatch)
    for each in made:
        frame = narwhals.from_arrow(each, backend="cudf").to_native()
        assert isinstance(frame, DataFrame)
        assert frame.to_arrow().to_pydict() == each.to_arrow().to_pydict()
