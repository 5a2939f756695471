"""Centralities by power iteration over graphs on disk: NetworkX's answers, and those in memory, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd

CALLS = {
    gd.eigenvector_centrality: (("score",), {"tol": 1e-6, "max_iter": 20}),
    gd.katz_centrality: (("score",), {"alpha": 0.01, "tol": 1e-6}),
    gd.hits: (("hub", "authority"), {"tol": 0.0, "max_iter": 3}),
}

pytestmark = pytest.mark.filterwarnings("ignore:eigenvector_centrality stopped")


def of_shape(shape, weighted=False):
    n, src, dst, directed = GRAPHS[shape]()
    weights = np.random.default_rng(len(src)).random(len(src)) if weighted else None
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def same(found, expected, columns):
    for name in columns:
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    assert (found.iterations, found.residual) == (expected.iterations, expected.residual)


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_answers_are_those_in_memory(stored, parts):
    for at, (call, (columns, arguments)) in enumerate(CALLS.items()):
        G = of_shape(("dense random, directed", "scale-free")[(at + parts) % 2], weighted=True)
        S = stored(G, "160KiB", order=("layers", "ids")[at % 2]).partition(parts)
        found = call(S, **arguments).verify()
        assert found.stats.memory <= S.memory
        same(found, call(G, **arguments), columns)


def test_hubs_are_those_of_networkx(stored):
    _, src, dst, _ = GRAPHS["scale-free"]()
    known, _ = nx.hits(nx.Graph(list(zip(src.tolist(), dst.tolist(), strict=True))), tol=1e-12)
    found = gd.hits(stored(gd.from_edges(src, dst, directed=False), "160KiB"), 1e-10)
    np.testing.assert_allclose(found.hub, [known.get(v, 0.0) for v in range(len(found.hub))], atol=1e-8)


def test_through_a_device_too(streamed):
    G = of_shape("dense random, directed")
    columns, arguments = CALLS[gd.hits]
    expected = gd.hits(G, **arguments)
    for parts in (None, 3):
        same(gd.hits(streamed(G, "256KiB", parts=parts), **arguments).verify(), expected, columns)


@pytest.mark.parametrize("call", CALLS)
def test_too_little_memory_is_refused_with_what_is_enough(stored, call):
    columns, arguments = CALLS[call]
    G = of_shape("dense random, directed")
    path = stored(G).store.path
    with pytest.raises(gd.OverBudget, match=r"for the states of vertices .* gives 0.0 MiB") as caught:
        call(gd.stream.open(path, "3KiB"), **arguments)
    more = float(str(caught.value).split("open with ")[1].split()[0])
    same(call(gd.stream.open(path, int((3 / 1024 + more) * 2**20)), **arguments), call(G, **arguments), columns)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_wrong_score_is_found(stored, parts):
    for call, (columns, arguments) in CALLS.items():
        found = call(stored(of_shape("scale-free"), "160KiB").partition(parts), **arguments)
        values = {name: column.copy() for name, column in found.parts.values[0].columns.items()}
        values[columns[0]][5] *= 1.001
        found.parts.values[0] = replace(found.parts.values[0], columns=values)
        with pytest.raises(gd.VerificationError, match=rf"vertex \d+ has another {columns[0]} after its last"):
            found.verify()


def test_edges_in_the_other_direction_are_needed(stored):
    for call in CALLS:
        with pytest.raises(gd.Unsupported, match=r"was built without in-edges; build it with inward=True"):
            call(stored(gd.from_edges([0, 1], [1, 0]), inward=False))
