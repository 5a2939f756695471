"""Columns of edges in NPZ archives that other programs wrote: their other arrays with a value for each edge."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import graphdask as gd
from graphdask.errors import FormatError


def test_an_archive_of_others_has_its_other_arrays_as_columns(tmp_path):
    arrays = {"time": [5, 6], "name": ["x", "y"], "rest": [1, 2, 3], "matrix": np.ones((2, 2))}
    np.savez(tmp_path / "graph.npz", src=[0, 1], dst=[1, 2], weights=[1.5, 2.5], **arrays)
    G = gd.read_graph(tmp_path / "graph.npz", edge_columns=True)
    assert G.to_arrow().to_pydict() == {
        "src": [0, 1], "dst": [1, 2], "weight": [1.5, 2.5], "time": [5, 6], "name": ["x", "y"],
    }  # fmt: skip
    with pytest.raises(FormatError, match="edge_columns: there is no column 'rest'; the file has time, name"):
        gd.read_graph(tmp_path / "graph.npz", edge_columns=["rest"])
    scipy.sparse.save_npz(tmp_path / "matrix.npz", scipy.sparse.eye_array(3))
    assert not gd.read_graph(tmp_path / "matrix.npz", edge_columns=True).edge_columns
    with pytest.raises(FormatError, match="edge_columns: there is no column 'time'; the file has none"):
        gd.read_graph(tmp_path / "matrix.npz", edge_columns=["time"])
    np.savez(tmp_path / "other.npz", src=[0, 1], dst=[1, 2], edge_columns=[1, 2])
    with pytest.raises(FormatError, match=r"edge_columns is int64 of shape .* and no column that graphdask wrote"):
        gd.read_graph(tmp_path / "other.npz", edge_columns=True)
