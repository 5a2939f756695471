"""GEXF and GraphML by `G.write`: NetworkX reads the same graph, and so does graphdask."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

import graphdask as gd
from graphdask.cli import cli
from graphdask.errors import InputError, OutputExists, Unsupported

SRC, DST = [1, 2, 3, 3], [7, 7, 1, 2]


def read(path):
    return (nx.read_gexf if path.suffix == ".gexf" else nx.read_graphml)(path)


@pytest.mark.parametrize("format", ["gexf", "graphml"])
@pytest.mark.parametrize("directed", [True, False])
def test_networkx_and_graphdask_read_the_same_graph(format, directed, tmp_path):
    G = gd.from_edges(
        SRC, DST, [0.5, 1.5, 2.5, 3.5], directed=directed, edge_columns={"stars": [5, 4, 3, 2]},
        vertex_columns={"word": ["a", "b", "c", "d"]},
    )  # fmt: skip
    path = tmp_path / f"g.{format}"
    written = G.write(path)
    assert (written.format, written.files, written.edges, written.writers) == (format, 1, 4, 1)
    assert written.bytes == path.stat().st_size
    found = read(path)
    assert found.is_directed() == directed
    if directed:
        assert set(found.edges) == {("1", "7"), ("2", "7"), ("3", "1"), ("3", "2")}
    facts = {(*sorted((u, v)), data["weight"], data["stars"]) for u, v, data in found.edges(data=True)}
    assert facts == {("1", "7", 0.5, 5), ("2", "7", 1.5, 4), ("1", "3", 2.5, 3), ("2", "3", 3.5, 2)}
    assert {v: data["word"] for v, data in found.nodes(data=True)} == {"1": "a", "2": "b", "3": "c", "7": "d"}
    again = gd.read_graph(path, edge_columns=["stars"], vertex_columns=["word"])
    assert gd.same_graph(again, G)
    with pytest.raises(OutputExists, match="exists"):
        G.write(path)
    assert G.write(path, overwrite=True).edges == 4


def test_merged_and_generated_graphs_and_names(tmp_path):
    merged = gd.from_edges([0, 0, 1], [1, 1, 2], multi_edges="merge")
    generated = gd.generate.erdos_renyi(20, 40, seed=1)
    named = gd.from_edges(["ann", "bob"], ["bob", "eve"])
    for number, G in enumerate((merged, generated, named)):
        path = tmp_path / f"{number}.graphml"
        assert G.write(path).edges == G.num_edges == read(path).number_of_edges()
        assert gd.same_graph(gd.read_graph(path), G)


def test_vertices_without_edges_are_there(tmp_path):
    G = gd.from_edges([0], [1], num_vertices=4)
    G.write(tmp_path / "g.gexf")
    assert sorted(read(tmp_path / "g.gexf")) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("format", ["gexf", "graphml"])
def test_what_they_are_not_for_is_refused_before_any_work(format, tmp_path):
    G = gd.from_edges(np.zeros(1_000_001, int), np.ones(1_000_001, int))
    path = tmp_path / f"g.{format}"
    with pytest.raises(
        Unsupported, match=f"{format} is for graphs that are drawn: 1,000,001 edges are more than 1,000"
    ):
        G.write(path)
    G = gd.from_edges([0], [1])
    with pytest.raises(InputError, match=f"files=2 are of a folder, and {format} is one file"):
        G.write(path, files=2)
    with pytest.raises(InputError, match=f"is the name of a folder, and {format} is one file"):
        G.write(f"{tmp_path}/g/", format)
    with pytest.raises(InputError, match="device='gpu' is not one of auto, cpu, cuda"):
        G.write(path, device="gpu")
    assert not list(tmp_path.iterdir())


def test_the_command_generates_them(tmp_path):
    line = ["generate", "er", "--vertices", "10", "--edges", "20", "--output", str(tmp_path / "g.graphml")]
    done = CliRunner().invoke(cli, line)
    assert done.exit_code == 0, done.output
    assert read(tmp_path / "g.graphml").number_of_edges() == 20
