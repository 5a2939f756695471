"""The examples in public docstrings run and print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

import dask
import pytest

import graphdask as gd

MODULES = ("graphdask", "graphdask.algorithms.bfs", "graphdask.algorithms.clustering",
           "graphdask.algorithms.components", "graphdask.algorithms.core_number",
           "graphdask.algorithms.label_propagation", "graphdask.algorithms.triangles", "graphdask.construct",
           "graphdask.generate", "graphdask.generate.waiting_queue", "graphdask.graph")  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    with dask.config.set({"graphdask.device": "cpu"}):
        failed, attempted = doctest.testmod(import_module(name), raise_on_error=False)
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize(
    "function",
    [gd.bfs, gd.connected_components, gd.from_edges, gd.read_graph, gd.from_scipy, gd.from_networkx,
     gd.from_dask_dataframe, gd.generate.preferential_attachment, gd.generate.sequential_copy_model,
     gd.generate.sequential_barabasi_albert, gd.generate.waiting_queue, gd.Graph.partition,
     gd.Graph.edges, gd.Graph.edge_blocks, gd.Graph.to_dask_dataframe, gd.Graph.to_dask_array, gd.Graph.write,
     gd.Graph.to_undirected, gd.triangles, gd.local_clustering_coefficient, gd.core_number, gd.label_propagation],
)  # fmt: skip
def test_public_functions_state_parameters_and_errors(function):
    text = function.__doc__
    assert "Parameters\n" in text
    if function is not gd.from_networkx:
        assert "Raises\n" in text
