"""Arrays, indices and lists that are given as columns keep their values and types, as Series of pandas do."""

import datetime

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
