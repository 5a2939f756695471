"""Ids of 64 bits where 32 would do: the same answers from every algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import Plan, make_vertex_map

DIRECTED = {
    "bfs": lambda G: gd.bfs(G, 0),
    "components": gd.connected_components,
    "strong": gd.strongly_connected_components,
    "pagerank": lambda G: gd.pagerank(G, tol=1e-6),
    "betweenness": lambda G: gd.betweenness(G, [0, 3]),
    "sssp": lambda G: gd.sssp(G, 0),
    "label propagation": lambda G: gd.label_propagation(G, 3),
}
UNDIRECTED = {"triangles": gd.triangles, "clustering": gd.local_clustering_coefficient, "core": gd.core_number}


def graph(directed):
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 120, (2, 500))
    weights = rng.integers(1, 9, 500).astype(np.int32) if directed else None
    return gd.from_edges(src, dst, weights, num_vertices=130, directed=directed)


def check(name, parts, device):
    run, G = (DIRECTED | UNDIRECTED)[name], graph(name in DIRECTED)
    narrow, wide = (run(G.partition(parts, by="random", device=device, id_width=width)) for width in (32, 64))
    for column in type(wide).columns:
        np.testing.assert_array_equal(getattr(wide, column), getattr(narrow, column))
    wide.verify()


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", [*DIRECTED, *UNDIRECTED])
def test_wide_ids_change_no_answer(name, parts):
    check(name, parts, "cpu")


@pytest.mark.parametrize("name", ["bfs", "components", "sssp", "pagerank"])
def test_wide_ids_change_no_answer_on_the_emulator(name, monkeypatch):
    stand_in(monkeypatch, emulated())
    check(name, 3, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", [*DIRECTED, *UNDIRECTED])
def test_wide_ids_change_no_answer_on_a_gpu(name, parts):
    check(name, parts, "cuda")


@pytest.mark.parametrize("by", ["range", "random", "biased-random", np.arange(130) % 3])
def test_partitions_hold_ids_of_the_width_that_was_asked_for(by):
    for width in (32, 64):
        held = graph(False).partition(3, by=by, device="cpu", ghosts="1-hop", id_width=width).persist()
        for part in held.built.parts.values:
            assert isinstance(part, Part)
            assert {part.out.indices.dtype, part.ids.dtype, part.ghosts.dtype} == {np.dtype(f"int{width}")}


def test_widths_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="id_width=16 is neither 32 nor 64"):
        graph(True).partition(id_width=16)
    with pytest.raises(InputError, match="id_width=32 is too narrow for 3,000,000,000 vertices"):
        make_vertex_map(Plan(2, id_width=32), 3_000_000_000, 2, False, lambda: (np.zeros(1), np.zeros(0)))
