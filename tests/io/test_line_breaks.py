"""A line of CSV is an edge, so a column with line breaks has no place in it."""

import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import InputError


@pytest.mark.parametrize("broken", ["a\nb", "a\r"])
@pytest.mark.parametrize("name", ["graph.csv", "graph/"])
def test_csv_refuses_strings_with_line_breaks(name, broken, tmp_path):
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"n": ["b", broken], "c": pd.Categorical([None, "x"])})
    with pytest.raises(InputError, match=r"the edge column n: .* has a line break, and a line of csv is an edge"):
        G.write(f"{tmp_path}/{name}", "csv")
    assert not any(tmp_path.rglob("*.csv"))
    G.write(tmp_path / "graph.parquet")
    assert gd.read_graph(tmp_path / "graph.parquet", edge_columns=True).edge_column("n").tolist() == ["b", broken]
