"""Graphs, results and samples are tables to all that takes Arrow's C interface; values are those of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import graphdask as gd
from graphdask.errors import InputError


def polars_of(value: Any) -> dict[str, list[Any]]:
    return pytest.importorskip("polars").DataFrame(value).to_dict(as_series=False)


def duckdb_of(value: Any) -> dict[str, list[Any]]:
    found = pytest.importorskip("duckdb").sql("select * from value").fetchdf()
    return found.map(lambda each: each.tolist() if isinstance(each, np.ndarray) else each).to_dict("list")


def narwhals_of(value: Any) -> dict[str, list[Any]]:
    nw = pytest.importorskip("narwhals")
    return nw.from_arrow(value, backend="pyarrow").to_dict(as_series=False)


TO = {
    "pyarrow": lambda value: pa.table(value).to_pydict(),
    "pandas": lambda value: {k: listed(v) for k, v in pd.DataFrame.from_arrow(value).to_dict("list").items()},
    "polars": polars_of, "duckdb": duckdb_of, "narwhals": narwhals_of,
}  # fmt: skip


def listed(values: list[Any]) -> list[Any]:
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in values]


def named_graph() -> gd.Graph:
    edges = pd.DataFrame({"a": ["ann", "bob", "ann"], "b": ["bob", "cy", "cy"], "w": [1.5, 2, 0.5], "time": [5, 7, 9]})
    people = pd.DataFrame({"id": ["ann", "cy"], "age": [30, 40]})
    return gd.from_frame(edges, "a", "b", "w", edge_columns=["time"], vertex_columns=people)


def things() -> dict[str, Any]:
    G = named_graph()
    return {
        "graph": G,
        "search": gd.bfs(G, "ann"),
        "in parts": gd.pagerank(G.partition(3)),
        "samples": gd.sample.neighbors(G, ["ann"], fanouts=[2, 2]),
        "walks": gd.sample.random_walk(gd.from_edges([0, 1, 2], [1, 2, 0]), [0, 2], 3),
    }


@pytest.mark.parametrize("thing", ["graph", "search", "in parts", "samples", "walks"])
@pytest.mark.parametrize("library", TO)
def test_libraries_take_what_to_frame_has(library, thing):
    value = things()[thing]
    expected = {name: listed(values) for name, values in value.to_frame().to_dict("list").items()}
    found = {name: listed(values) for name, values in TO[library](value).items()}
    none = {
        name: [None if each is pd.NA or each != each else each for each in values] for name, values in found.items()
    }
    assert none == {name: [None if each != each else each for each in values] for name, values in expected.items()}


def test_columns_of_the_graph_stand_beside():
    G = named_graph()
    ranks, s = gd.pagerank(G), gd.sample.snowball(G, ["ann"], depth=2)
    assert ranks.to_arrow(["age"])["age"].to_pylist() == [30, None, 40]
    assert s.to_arrow(["time"]).to_pydict()["time"] == s.column("time").tolist()
    walks = gd.sample.random_walk(G, ["ann", "cy"], 2)
    assert walks.to_arrow(["time"])["time"].to_pylist() == walks.to_frame(["time"])["time"].tolist()
    with pytest.raises(InputError, match="there is no column 'name'; there are age"):
        ranks.to_arrow(["name"])


def test_a_column_that_is_there_already_is_refused():
    G = gd.from_edges([0], [1], vertex_columns={"rank": [1, 2]})
    with pytest.raises(InputError, match="the table has a column 'rank' of its own"):
        gd.pagerank(G).to_arrow(["rank"])


def test_a_graph_is_made_of_a_graph_and_of_samples():
    G = named_graph()
    assert gd.same_graph(gd.from_frame(G, weight="weight"), G)
    s = gd.sample.neighbors(G, ["ann"], fanouts=[2, 2])
    assert gd.from_frame(s).num_edges == len(s.src)


def test_a_table_is_no_column():
    G = gd.from_edges([0], [1])
    with pytest.raises(InputError, match="it is a table; give one of its columns, such as 'vertex'"):
        gd.sample.random_walk(G, gd.bfs(G, 0), 2)
