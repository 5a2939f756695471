"""Columns of text whose whole numbers need 64 bits without a sign."""

import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import GraphdaskWarning


def test_csv_keeps_whole_numbers_without_a_sign(tmp_path):
    columns = {"wide": pd.array([2**64 - 1, None, 2**63, 1], "UInt64"), "float": [1e19, 2.0, 3.0, 2.5]}
    with pytest.warns(GraphdaskWarning, match="read back as what their values look like"):
        gd.from_edges([0, 1, 2, 2], [1, 2, 0, 1], edge_columns=columns).write(tmp_path / "graph.csv")
    found = gd.read_graph(tmp_path / "graph.csv", edge_columns=True).to_arrow()
    assert {name: str(found[name].type) for name in columns} == {"wide": "uint64", "float": "double"}
    assert found["wide"].to_pylist() == [2**64 - 1, None, 2**63, 1]
    assert found["float"].to_pylist() == columns["float"]
