"""Metapath walks: their law by enumeration, the same bits wherever they are drawn, proofs, bad input."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from walk_laws import LEAST_P, p_of_counts

import graphdask as gd
from graphdask.errors import InputError, VerificationError, VertexNotFound

NAMES = ["one vertex with a self-loop", "duplicates both ways", "star outward", "short path", "no edges", "scale-free"]
walk = gd.sample.metapath_walk


def typed(name):
    """A graph whose edges have the types 0, 1 and 2."""
    n, src, dst, directed = GRAPHS[name]()
    types = np.random.default_rng(n).integers(0, 3, len(src))
    return gd.from_edges(src, dst, types, num_vertices=n, directed=directed)


def test_paths_have_the_probabilities_of_the_definition():
    rng = np.random.default_rng(4)
    src, dst, types = rng.integers(0, 5, 14), rng.integers(0, 5, 14), rng.integers(0, 2, 14)
    path, length, trials = [0, 1, 1], 4, 60_000
    found = walk(gd.from_edges(src, dst, num_vertices=5), np.full(trials, 2), length, metapath=path, edge_types=types)
    law = {(2,): 1.0}
    for step in range(length):
        grown = defaultdict(float)
        for walked, chance in law.items():
            ends = dst[(src == walked[-1]) & (types == path[step % 3])] if walked[-1] >= 0 else []
            for end in ends if len(ends) else [-1]:
                grown[*walked, int(end)] += chance / max(len(ends), 1)
        law = grown
    counts = Counter(map(tuple, found.verify().walks.tolist()))
    assert set(counts) <= set(law)
    assert p_of_counts([counts[of] for of in law], list(law.values())) > LEAST_P
    assert any(of[-1] == -1 for of in law)


def test_with_one_type_it_is_the_simple_walk():
    graph = gd.from_edges(*GRAPHS["scale-free"]()[1:3])
    starts = graph.vertex_ids[::7]
    types = np.full(graph.num_edges, -3)
    for placement in ("replicated", "partitioned"):
        found = walk(graph, starts, 9, metapath=[-3], edge_types=types, seed=8, placement=placement)
        np.testing.assert_array_equal(found.walks, gd.sample.random_walk(graph, starts, 9, seed=8).walks)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", NAMES)
def test_walks_are_the_same_wherever_they_are_drawn(name, device, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = typed(name)
    starts = np.arange(graph.num_vertices).repeat(2)[:40]
    options = {"metapath": [0, 2, 1, 2], "seed": 3}
    expected = walk(graph.partition(1, device="cpu"), starts, 11, **options)
    for parts, by, ghosts in ((1, "range", "all"), (3, "random", "1-hop")):
        for placement in ("replicated", "partitioned"):
            divided = graph.partition(parts, by, ghosts, device=device)
            found = walk(divided, starts, 11, **options, placement=placement).verify()
            np.testing.assert_array_equal(found.walks, expected.walks)
            np.testing.assert_array_equal(found.lengths, expected.lengths)
            assert walk(divided, starts[:1], 0, **options, placement=placement).walks.tolist() == [[0]]


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_planted_errors_are_found(placement):
    n = 12
    around = np.arange(n)
    src, dst = np.tile(around, 2), np.concatenate([(around + 1) % n, (around + 2) % n])
    graph = gd.from_edges(src, dst, np.repeat([0, 1], n), num_vertices=n).partition(3, "random", device="cpu")
    for row, length, message in (
        ([2, 3, 5, 6, 7], 4, "goes from 6 to 7"),  # an edge, of the other type
        ([2, 3, 5, 9, 11], 4, "goes from 5 to 9"),
        ([2, 3, 5, -1, -1], 2, "ends at 5"),
        ([2, 3, 5, 6, 8], 3, "behind its end"),
        ([1, 2, 4, 5, 7], 4, "at its start"),
    ):
        found = walk(graph, np.full(9, 2), 4, metapath=[0, 1], placement=placement).verify()
        assert found.walks.tolist() == [[2, 3, 5, 6, 8]] * 9
        columns = found.parts[1].columns
        columns["walks"][1], columns["lengths"][1] = row, length
        with pytest.raises(VerificationError, match=message):
            found.verify()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"metapath": []}, InputError, "metapath="),
        ({"metapath": "01"}, InputError, "metapath='01'"),
        ({"metapath": [0, 1.5]}, InputError, r"metapath\[1\]=1.5"),
        ({"edge_types": None}, InputError, "no weights to be read as edge_types"),
        ({"edge_types": [0]}, InputError, r"edge_types has the shape \(1,\); one for each of the 2 edges"),
        ({"edge_types": [0.5, 1.0]}, InputError, "edge_types are of the dtype float64"),
        ({"edge_types": ["a", "b"]}, InputError, "edge_types has the dtype"),
        ({"starts": 9}, VertexNotFound, "start 9"),
        ({"length": -1}, InputError, "length=-1"),
        ({"placement": "nowhere"}, InputError, "placement='nowhere'"),
    ],
)
def test_bad_input(wrong, error, message):
    graph = gd.from_edges([0, 1], [1, 0])
    with pytest.raises(error, match=message):
        walk(graph, **{"starts": 0, "length": 3, "metapath": [0], "edge_types": [0, 1], **wrong})
    assert graph.replicas is None


def test_types_need_edges_in_an_order_that_the_caller_knows():
    with pytest.raises(InputError, match="made on the workers"):
        walk(gd.generate.rmat(4), 0, 3, metapath=[0], edge_types=[0])


def test_types_that_no_edge_can_have_end_walks():
    graph = gd.from_edges([0, 1], [1, 0], np.array([0, 1], np.int32))
    assert walk(graph, 0, 3, metapath=[0, 2**40]).verify().walks.tolist() == [[0, 1, -1, -1]]
    assert walk(graph, 0, 3, metapath=[-(2**70)]).verify().lengths.tolist() == [0]
