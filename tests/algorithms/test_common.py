"""What all algorithms have in common: one answer over partitions, devices and disk, on graphs of every shape."""

from __future__ import annotations

import re

import dask
import pytest
from common_checks import (
    SHAPES,
    broad,
    hub,
    no_vertices,
    one_answer_from_disk,
    one_answer_on_devices,
    one_answer_over_partitions,
    takes_no_other_graph,
)
from emulated import emulated, stand_in
from source_tree import ROOT

import graphdask as gd
from graphdask.interface.registry import ALGORITHMS, algorithms

NAMES = tuple(algorithms())
ON_DEVICES = (
    "one vertex with a self-loop", "only self-loops", "duplicates both ways", "isolated vertices", "star inward",
    "star around the last", "short path", "cycle", "sparse random, directed", "dense random, undirected", "scale-free",
)  # fmt: skip

pytestmark = [
    pytest.mark.filterwarnings("ignore:(pagerank|eigenvector_centrality|katz_centrality|hits) stopped"),
    pytest.mark.filterwarnings("ignore:the score of vertex"),
]

every = pytest.mark.parametrize("name", NAMES)
LONG = dict.fromkeys(
    (
        "betweenness", "closeness_centrality", "harmonic_centrality", "articulation_points", "bridges",
        "edge_betweenness", "biconnected_components", "louvain", "leiden",
    ),
    pytest.mark.slow,
)  # fmt: skip
"""On the emulator: they run many kernels, one after the other."""
on_the_emulator = pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in NAMES])


@every
def test_answers_are_the_same_over_partitions(name):
    for shape in SHAPES:
        one_answer_over_partitions(ALGORITHMS[name], shape)


@every
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_graph_without_vertices_has_an_empty_answer(name, device, monkeypatch):
    if device == "cuda":
        stand_in(monkeypatch, emulated())
    no_vertices(ALGORITHMS[name], device)


@every
def test_what_is_no_graph_is_refused(name):
    takes_no_other_graph(ALGORITHMS[name])


@on_the_emulator
@pytest.mark.parametrize("parts", [1, 3])
def test_answers_are_the_same_on_the_emulator_of_a_gpu(name, parts, monkeypatch):
    stand_in(monkeypatch, emulated())
    for make in (*(SHAPES[shape] for shape in ON_DEVICES), hub, *((broad,) if parts == 1 else ())):
        one_answer_on_devices(ALGORITHMS[name], make(), parts)


@pytest.mark.gpu
@every
@pytest.mark.parametrize("parts", [1, 3])
def test_answers_are_the_same_on_a_gpu(name, parts):
    for make in (*SHAPES.values(), hub, broad):
        one_answer_on_devices(ALGORITHMS[name], make(), parts)


@every
def test_answers_are_the_same_from_disk(name, tmp_path):
    with dask.config.set({"graphdask.device": "cpu"}):
        for shape in SHAPES:
            one_answer_from_disk(ALGORITHMS[name], shape, tmp_path / "graph.gdl")


def test_what_is_declared_is_public():
    assert set(NAMES) <= set(gd.__all__)
    commands = [algorithm.command for algorithm in ALGORITHMS.values()]
    assert len(commands) == len(set(commands))


def test_the_table_of_the_documentation_has_a_row_for_each():
    page = (ROOT / "docs" / "analytics.md").read_text()
    rows = {row[1]: row for row in re.finditer(r"^\| `gd\.(\w+)\(.*\)` \| (.*) \| `(.*)` \|$", page, re.MULTILINE)}
    assert sorted(rows) == sorted(NAMES)
    for name, row in rows.items():
        assert row[3] == ALGORITHMS[name].command
        assert all(f"`{column}`" in row[2] for column in ALGORITHMS[name].columns)
