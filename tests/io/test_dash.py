"""In Python `-` names no file and no stream; `./-` names a file that is called so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.io import EdgeList, read_edges, write_edges

EDGES = EdgeList(np.array([0, 1]), np.array([1, 2]))


@pytest.fixture
def graph(tmp_path, monkeypatch):
    """A graph, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return gd.from_edges([0, 1], [1, 2])


@pytest.mark.parametrize(
    "call",
    [
        lambda G: read_edges("-"),
        lambda G: read_edges("-", format="edgelist"),
        lambda G: gd.read_graph("-", format="csv"),
        lambda G: write_edges(EDGES, "-", format="csv"),
        lambda G: G.write("-"),
        lambda G: G.write("-", "csv", overwrite=True),
        lambda G: gd.bfs(G, 0).to_parquet("-"),
        lambda G: gd.sample.random_walk(G, [0], 2).to_parquet("-"),
        lambda G: gd.stream.build(G, "-"),
        lambda G: gd.stream.open("-"),
    ],
)
def test_a_dash_is_refused_with_what_to_do(graph, call):
    with pytest.raises(InputError, match=r"'-' names no file here, and no stream; './-' names a file"):
        call(graph)
    assert list(Path().iterdir()) == []


def test_a_file_that_is_called_dash_is_written_and_read(graph):
    write_edges(EDGES, "./-", format="edgelist")
    assert Path("-").is_file()
    assert read_edges("./-", format="edgelist").dst.tolist() == [1, 2]
