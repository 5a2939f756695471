"""Frames as libraries have them in odd forms: what is taken has Python's values, what is refused is named."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphdask as gd
from graphdask.errors import InputError


def of(name: str) -> Any:
    return pytest.importorskip(name)


def edges(frame: Any, **options: Any) -> list[tuple[Any, ...]]:
    table = gd.from_frame(frame, **options).to_arrow()
    return list(zip(*table.to_pydict().values(), strict=True))


PAIRS = {"src": [5, 6], "dst": [6, 9]}
EXPECTED = [(5, 6), (6, 9)]

TAKEN = {
    "nullable": lambda: pd.DataFrame({name: pd.array(ids, "Int64") for name, ids in PAIRS.items()}),
    "arrow dtype": lambda: pd.DataFrame(PAIRS, dtype=pd.ArrowDtype(pa.uint32())),
    "sparse": lambda: pd.DataFrame({name: pd.arrays.SparseArray(ids) for name, ids in PAIRS.items()}),
    "categories of numbers": lambda: pd.DataFrame({name: pd.Categorical(ids) for name, ids in PAIRS.items()}),
    "index with gaps": lambda: pd.DataFrame(PAIRS, index=[7, 7]),
    "another column twice": lambda: pd.DataFrame([[5, 6, 0, 0], [6, 9, 0, 0]], columns=["src", "dst", "x", "x"]),
    "record array": lambda: np.array([(5, 6), (6, 9)], [("src", "i4"), ("dst", "u8")]).view(np.recarray),
    "decimals": lambda: pa.table({name: pa.array(list(map(Decimal, ids))) for name, ids in PAIRS.items()}),
    "runs": lambda: pa.table({"src": [5, 6], "dst": pa.RunEndEncodedArray.from_arrays([1, 2], [6, 9])}),
    "batch": lambda: pa.RecordBatch.from_pydict(PAIRS),
    "reader": lambda: pa.table(PAIRS).to_reader(),
    "polars": lambda: of("polars").DataFrame(PAIRS),
    "polars, lazy": lambda: of("polars").DataFrame(PAIRS).lazy(),
    "polars, others that Arrow has not": lambda: of("polars").DataFrame(
        PAIRS | {"x": of("polars").Series([object(), None], dtype=of("polars").Object)}),
    "duckdb": lambda: of("duckdb").sql("select * from (values (5::hugeint, 6), (6, 9)) t(src, dst)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAKEN)
def test_ids_are_taken_in_every_form(kind):
    assert edges(TAKEN[kind]()) == EXPECTED


def test_strings_of_every_type_are_ids():
    view, large = pa.array(["a", "b"], pa.string_view()), pa.array(["b", "c"], pa.large_string())
    assert edges(pa.table({"src": view, "dst": large})) == [("a", "b"), ("b", "c")]
    polars = of("polars")
    words = polars.Enum(["c", "b", "a"])
    frame = polars.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "kind": ["c", None]}, schema_overrides={
        "src": polars.Categorical, "dst": words, "kind": words})  # fmt: skip
    assert edges(frame, edge_columns=["kind"]) == [("a", "b", "c"), ("b", "c", None)]


def test_decimals_are_weights():
    table = pa.table(PAIRS | {"w": [Decimal("1.5"), Decimal("2.25")], "n": [Decimal(2), Decimal(3)]})
    assert gd.from_frame(table, weight="w").to_frame().weight.tolist() == [1.5, 2.25]
    assert gd.from_frame(table, weight="n").to_frame().weight.tolist() == [2, 3]


def test_all_columns_are_kept():
    frame = pd.DataFrame(PAIRS | {"time": [1, 2], "w": [0.5, 1.5], "weight": [7, 8]})
    assert list(gd.from_frame(frame, weight="w", edge_columns=True).edge_columns) == ["time"]
    tables = {("a", "x", "b"): frame, ("b", "y", "b"): PAIRS}
    G = gd.from_frames(tables, weight=None, edge_columns=True)
    assert G.edge_column("x", "time").tolist() == [1, 2]
    assert G.edge_column("x", "w").tolist() == [0.5, 1.5]


def test_a_lazy_frame_computes_what_is_named():
    polars = of("polars")

    def failing(_: Any) -> Any:
        raise AssertionError

    frame = polars.DataFrame(PAIRS).lazy().with_columns(bad=polars.col("src").map_batches(failing, polars.Int64))
    assert edges(frame) == EXPECTED
    assert gd.from_frames({("a", "x", "b"): frame}).num_edges == 2


BIG = np.array([1, 2**63 + 5], np.uint64)
REFUSED = {
    "uint64": (lambda: pd.DataFrame({"src": BIG, "dst": BIG}), {}, r"'src'\[1\] = 9223372036854775813 is above"),
    "hugeint": (
        lambda: pa.table({"src": [Decimal(2**70)], "dst": [1]}), {},
        "'src' is of the type decimal.* int64 does not hold"),
    "column": (lambda: pd.Series([1, 2]), {}, "df is a pandas.*Series, one column; give a data frame"),
    "twice": (lambda: pd.DataFrame([[1, 2, 3]], columns=["src", "dst", "src"]), {}, "more than one column 'src'"),
    "complex": (
        lambda: pd.DataFrame(PAIRS | {"z": [1j, 2]}), {"edge_columns": ["z"]}, "'z' .*row 0 holds .*Arrow cannot hold"),
    "objects of polars": (
        lambda: of("polars").DataFrame(PAIRS | {"o": of("polars").Series([object()] * 2, dtype=of("polars").Object)}),
        {"edge_columns": ["o"]}, "'o' is of the type Object, which Arrow has not"),
    "wide numbers of polars": (
        lambda: of("polars").DataFrame(PAIRS, schema_overrides={"src": of("polars").Int128}), {},
        "'src' is of the type Int128, which Arrow has not; cast it"),
    "vertices of another kind": (
        lambda: pd.DataFrame(PAIRS), {"vertex_columns": {"id": ["a"], "x": [1]}},
        "ids of edges such as 5 and of vertices such as 'a' are not of one kind"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named(case):
    made, options, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        gd.from_frame(made(), **options)
