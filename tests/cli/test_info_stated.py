"""`graphdask info` of a large file that states its numbers: they are told without reading the edges."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse

import graphdask as gd
from graphdask.commands.tuning import COMMANDS
from graphdask.io.stated import stated

METIS = "% a comment\n4 3 1\n2 5\n1 5 3 6\n2 6 4 7\n3 7\n"


@pytest.fixture
def files(tmp_path):
    """A path of four vertices and three edges in every format that states its numbers, by name."""
    G = gd.from_edges([1, 2, 3], [2, 3, 4], np.array([5, 6, 7]), directed=True)
    (tmp_path / "g.graph").write_text(METIS)
    for name in ("g.npz", "g.gdg", "g.parquet"):
        G.write(tmp_path / name)
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.coo_array(([5, 6, 7], ([0, 1, 2], [1, 2, 3])), (4, 4)))
    gd.from_edges(["a", "b", "c"], ["b", "c", "d"]).write(tmp_path / "names.gdg")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "read", "vertices", "weights"),
    [
        ("g.graph", "its first line", 4, "int64"),
        ("g.npz", "the headers of its arrays", 4, "int64"),
        ("sparse.npz", "the headers of its arrays", 4, "int64"),
        ("g.gdg", "its header", 4, "int64"),
        ("names.gdg", "its header", 4, None),
        ("g.parquet", "its footer", 4, "int64"),
    ],
)
def test_numbers_that_a_file_states(call, files, tuned, name, read, vertices, weights):
    whole = json.loads(call("info", files / name, "--json", "--all").stdout)
    tuned(COMMANDS, first_bytes=1)
    found = json.loads(call("info", files / name, "--json").stdout)
    assert (found["read"], found["complete"], found["weights"]) == (read, False, weights)
    assert found["vertices"] in (vertices, None)
    assert (found["vertices"] or vertices, found["edges"]) == (whole["vertices"], whole["edges"])
    assert (found["directed"], found["weighted"]) == (whole["directed"], whole["weighted"])
    shown = call("info", files / name).stdout
    assert f"read {read}, which states these numbers; --all reads the edges, and counts" in " ".join(shown.split())
    assert json.loads(call("info", files / name, "--json", "--all").stdout) == whole


def test_a_small_file_is_read_and_options_of_reading_read_it_too(call, files, tuned):
    assert json.loads(call("info", files / "g.gdg", "--json").stdout)["complete"]
    tuned(COMMANDS, first_bytes=1)
    assert json.loads(call("info", files / "g.gdg", "--json", "--self-loops", "drop").stdout)["complete"]
    assert json.loads(call("info", files / "g.gdg", "--json", "--undirected").stdout)["directed"] is False


@pytest.mark.parametrize("format", ["metis", "npz", "native", "parquet", "dimacs", "ldbc", "edgelist"])
def test_a_file_that_states_nothing_or_is_damaged_is_read(tmp_path, format):
    (tmp_path / "g").write_bytes(b"no numbers here\n" * 3)
    assert stated(tmp_path / "g", format) is None
