"""What every sampler refuses, and what comes out where there is nothing to draw: the same cases for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from specs import by_weight

import graphdask as gd
from graphdask.errors import FunctionError, InputError, VertexNotFound
from graphdask.sample.spec import Spec

SAMPLE = gd.sample
WALKS = {
    "walk": SAMPLE.random_walk,
    "walk by weight": lambda G, start, length: SAMPLE.random_walk(G, start, length, bias="weight"),
    "walk by degree": lambda G, start, length: SAMPLE.random_walk(G, start, length, bias="degree"),
    "node2vec": lambda G, start, length: SAMPLE.node2vec(G, start, length, 2, 0.5),
    "node2vec by weight": lambda G, start, length: SAMPLE.node2vec(G, start, length, 2, 0.5, weighted=True),
    "Metropolis-Hastings": SAMPLE.metropolis_hastings,
    "metapath": lambda G, start, length: SAMPLE.metapath_walk(
        G, start, length, metapath=[0], edge_types=np.zeros(6, int)
    ),
    "frontier": lambda G, start, length: SAMPLE.frontier_sampling(G, [[start]], length),
}
"""Of one start; those by weight end where all weights are 0."""
HOPS = {
    "neighbours": lambda G, seed, hops: SAMPLE.neighbors(G, [seed], [9] * hops),
    "neighbours by weight": lambda G, seed, hops: SAMPLE.neighbors(G, [seed], [9] * hops, bias="weight"),
    "again by weight": lambda G, seed, hops: SAMPLE.neighbors(G, [seed], [9] * hops, bias="weight", replace=True),
    "snowball": lambda G, seed, hops: SAMPLE.snowball(G, [seed], hops),
    "fire": lambda G, seed, hops: SAMPLE.forest_fire(G, [seed], 0.99999, hops),
    "fire by weight": lambda G, seed, hops: SAMPLE.forest_fire(G, [seed], 0.99999, hops, bias="weight"),
    "layer": lambda G, seed, hops: SAMPLE.layer(G, [seed], [9] * hops),
    "layer by weight": lambda G, seed, hops: SAMPLE.layer(G, [seed], [9] * hops, bias="weight"),
    "in time": lambda G, seed, hops: SAMPLE.temporal_neighbors(
        G, [seed], [9] * hops, seed_times=[9], times=np.arange(6)
    ),
    "functions": lambda G, seed, hops: SAMPLE.run(G, Spec(depth=hops, neighbor_size=9), [seed]),
    "functions by weight": lambda G, seed, hops: SAMPLE.run(
        G, Spec(edge_bias=by_weight, depth=hops, neighbor_size=9), [seed]
    ),
    "by rejection": lambda G, seed, hops: SAMPLE.run(
        G, Spec(edge_bias=by_weight, edge_bound=9, depth=hops, neighbor_size=9), [seed]
    ),
    "by keys": lambda G, seed, hops: SAMPLE.run(
        G, Spec(edge_bias=by_weight, select="reservoir", depth=hops, neighbor_size=9), [seed]
    ),
    "functions, layer": lambda G, seed, hops: SAMPLE.run(
        G, Spec(edge_bias=by_weight, per="layer", depth=hops, neighbor_size=9), [seed]
    ),
}
"""Of one seed, up to nine neighbours."""


def graph(weights=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)):
    """From 4 there is no edge, from 0 there are three."""
    made = gd.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], weights, num_vertices=5, directed=False)
    return made.partition(1, device="cpu")


def drawn(name, G, at, size):
    return {**WALKS, **HOPS}[name](G, at, size)


def edges(found):
    """How many were drawn."""
    return int(found.lengths.sum()) if hasattr(found, "lengths") else len(found.src)


@pytest.mark.parametrize("name", [*WALKS, *HOPS])
def test_vertices_that_are_not_there_or_have_no_edges_and_no_steps(name):
    G = graph()
    with pytest.raises(VertexNotFound, match=r"9 is not in the graph; its vertices are 0 to 4"):
        drawn(name, G, 9, 2)
    assert edges(drawn(name, G, 4, 2).verify()) == 0
    assert edges(drawn(name, G, 0, 0).verify()) == 0
    assert edges(drawn(name, G, 0, 2).verify()) > 0
    if name in WALKS or name in ("snowball", "fire", "functions"):
        with pytest.raises(InputError, match=r"(length|depth)=-1"):
            drawn(name, G, 0, -1)


@pytest.mark.parametrize("name", HOPS)
def test_more_neighbours_than_there_are(name):
    found = drawn(name, graph(), 0, 1).verify()
    assert found.dst.tolist() == [1, 2, 3] if name != "again by weight" else len(found.dst) == 9


@pytest.mark.parametrize("name", [name for name in (*WALKS, *HOPS) if "weight" in name or name.startswith("by ")])
def test_weights_that_are_no_biases(name):
    for wrong in (-2.0, np.inf):
        G = graph([1.0, wrong, 3.0, 4.0, 5.0, 6.0])
        with pytest.raises((InputError, FunctionError), match="negative" if wrong < 0 else "infinite"):
            drawn(name, G, 0, 2)
    with pytest.raises((InputError, FunctionError), match="negative"):
        drawn(name, graph([1, -2, 3, 4, 5, 6]), 0, 2)
    for nothing in (np.zeros(6), np.zeros(6, int)):
        assert edges(drawn(name, graph(nothing), 0, 2).verify()) == 0
    with pytest.raises(InputError, match=r"weights\[1\] is NaN"):
        graph([1.0, np.nan, 3.0, 4.0, 5.0, 6.0])


@pytest.mark.slow
@pytest.mark.parametrize("moves", [SAMPLE.random_walk_with_restart, SAMPLE.random_walk_with_jump])
def test_walks_that_go_on_from_a_vertex_without_edges(moves):
    for G in (graph(), graph(np.zeros(6))):
        assert moves(G, 4, 3, 0.2).verify().lengths.tolist() == [3]
        assert moves(G, 4, 0, 0.2).verify().walks.tolist() == [[4]]
        with pytest.raises(VertexNotFound):
            moves(G, 9, 3, 0.2)
    assert moves(graph(np.zeros(6)), 0, 3, 0.2, bias="weight").verify().lengths.tolist() == [3]
