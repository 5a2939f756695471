"""Arrays, indices and lists that are given as columns keep their values and types, as Series of pandas do."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphdask as gd
from graphdask.errors import InputError

ARRAYS = {
    "int": pd.array([2**60 + 1, None], "Int64"), "uint": pd.array([2**64 - 1, None], "UInt64"),
    "bool": pd.array([True, None], "boolean"), "text": pd.array(["a", None], "string"),
    "category": pd.Categorical(["a", None]), "zoned": pd.array([pd.Timestamp("2026-01-01", tz="UTC"), None]),
    "arrow": pd.array([[1], None], pd.ArrowDtype(pa.list_(pa.int8()))),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("of", [pd.Series, pd.Index, lambda array: array], ids=["series", "index", "array"])
def test_arrays_and_indices_of_pandas_are_the_columns_that_series_are(of, kind):
    found = gd.from_edges([0, 1], [1, 0], edge_columns={"c": of(ARRAYS[kind])}).to_arrow()["c"]
    expected = pa.chunked_array([pa.array(pd.Series(ARRAYS[kind]))])
    assert (found.type, found.to_pylist()) == (expected.type, expected.to_pylist())
    assert found.null_count == 1


@pytest.mark.parametrize(
    "of", [list, np.array, pd.Series, pd.Index, pa.array, lambda values: pa.array(values).dictionary_encode()]
)
def test_a_batch_takes_columns_of_all_kinds(of):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], edge_columns={"c": [1, 2]}))
    D.update(insert=([2, 0], [0, 2]), columns={"c": of([7, 8])})
    assert sorted(D.to_arrow().to_pylist(), key=lambda row: row["c"])[2:] == [
        {"src": 2, "dst": 0, "c": 7}, {"src": 0, "dst": 2, "c": 8},
    ]  # fmt: skip


TABLES = {
    "arrow": lambda table: table,
    "batch": lambda table: table.to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "pandas": lambda table: table.to_pandas(),
    "narwhals": lambda table: pytest.importorskip("narwhals").from_native(table),
    "polars": lambda table: pytest.importorskip("polars").from_arrow(table),
    "polars, lazy": lambda table: pytest.importorskip("polars").from_arrow(table).lazy(),
    "duckdb": lambda table: pytest.importorskip("duckdb").from_arrow(table),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_batch_is_a_table_of_any_library(kind):
    new = pa.table({"more": [1, 2], "dst": [0, 4], "src": [2, 0], "weight": [7.0, 8.0]})
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], [1.0, 2.0], num_vertices=5))
    D.update(insert=TABLES[kind](new))
    assert gd.sssp(D, 2).distance.tolist() == [7.0, 8.0, 0.0, np.inf, 15.0]
    D.update(delete=TABLES[kind](new))
    assert D.num_edges == 2
    with pytest.raises(InputError, match=r"insert.* has no column 'weight'"):
        D.update(insert=TABLES[kind](new.drop_columns(["weight"])))


def test_chunks_without_rows_are_no_hindrance():
    one = pa.array(np.array([5]))
    for chunks in ([one, one[1:]], [one[:0], one], [one[:0], one, one[1:]]):
        column = pa.chunked_array(chunks)
        for given in ({"id": column, "size": column}, pa.table({"id": column, "size": column})):
            G = gd.from_frame({"src": [0], "dst": [1]}, "src", "dst", vertex_columns=given)
            assert G.vertex_column("size", [5]).tolist() == [5]


def test_lists_keep_numbers_of_64_bits_and_nanoseconds():
    times, spans = [pd.Timestamp(1, unit="ns"), None], [pd.Timedelta(7, unit="ns"), None]
    columns = {
        "number": [2**64 - 1, None],
        "time": times,
        "span": spans,
        "short": [datetime.datetime(2026, 1, 1), None],
    }
    found = gd.from_edges([0, 1], [1, 0], edge_columns=columns).to_arrow()
    assert [str(found[name].type) for name in columns] == ["uint64", "timestamp[ns]", "duration[ns]", "timestamp[us]"]
    for name, values in columns.items():
        assert found[name].to_pylist() == values
    with pytest.raises(InputError, match="row 1 holds 18446744073709551616"):
        gd.from_edges([0, 1], [1, 0], edge_columns={"number": [1, 2**64]})
