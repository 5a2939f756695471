"""One edge of every vertex by its bias: the same neighbours for every division of the graph and on every device."""

from __future__ import annotations

import numpy as np
import pytest
from biased_rows import METHODS, drawn, environment
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.device.backend import get_backend
from graphdask.sample.biases import EdgeBiases

NAMES = [
    "one vertex", "one vertex with a self-loop", "only self-loops", "only duplicates", "isolated vertices", "no edges",
    "star outward", "sparse random, directed", "scale-free",
]  # fmt: skip


def graph_of(name, bias, parts, ghosts, by, device):
    n, src, dst, directed = GRAPHS[name]()
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 9, len(src)) if np.dtype(bias).kind == "i" else rng.random(len(src))
    graph = gd.from_edges(src, dst, weights.astype(bias), num_vertices=n, directed=directed)
    return graph.partition(parts, by=by, ghosts=ghosts, device=device)


def neighbours(graph, backend, kind, method):
    """For every vertex the ids of a neighbour drawn in each of 20 steps; -1 where there is none."""
    execute.persist(graph)
    n = graph.num_vertices
    out_degree, found = np.zeros(n, np.int64), np.full((20, n), -2)
    parts = graph.built.parts.values
    for part in parts:
        out_degree[backend.to_host(part.ids)] = np.diff(backend.to_host(part.out.indptr))
    for part in parts:
        position = (np.arange(part.num_slots) + part.first_position) % max(n, 1)
        if part.ghosts is not None:
            ghosts = (backend.to_host(part.ghosts) + part.first_position) % max(n, 1)
            position[part.num_owned :] = ghosts
        ids = backend.to_host(part.vertex_map.to_id(backend, backend.from_host(position.astype(part.ids.dtype))))
        np.testing.assert_array_equal(ids[: part.num_owned], backend.to_host(part.ids))
        degrees = backend.from_host(out_degree[ids].astype(np.int32))
        made = EdgeBiases.of(environment(backend), part, part.out, kind, method, degrees)
        rows = np.arange(part.num_owned)
        indices = np.append(ids[backend.to_host(part.out.indices)], -1)
        for step in range(20):
            edges, _ = drawn(backend, made, part.out, rows, ids[: part.num_owned], key=9, step=step)
            found[step, ids[: part.num_owned]] = indices[edges]
    return found


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(("parts", "ghosts", "by"), [(2, "all", "range"), (3, "1-hop", "random"), (7, "all", "random")])
@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_the_same_for_every_division(monkeypatch, name, parts, ghosts, by, device):
    stand_in(monkeypatch, emulated())
    cpu, backend = get_backend("cpu"), emulated() if device == "emulated" else get_backend("cpu")
    for bias in (np.int32, np.float64):
        whole = graph_of(name, bias, 1, "all", "range", "cpu")
        divided = graph_of(name, bias, parts, ghosts, by, "cuda" if device == "emulated" else "cpu")
        for kind, method in ((None, "auto"), ("degree", "auto"), *(("weight", method) for method in METHODS)):
            expected = neighbours(whole, cpu, kind, method)
            assert (expected > -2).all()
            np.testing.assert_array_equal(neighbours(divided, backend, kind, method), expected)
