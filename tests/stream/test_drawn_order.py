"""Independent sets and colours over a graph on disk are those in memory, whatever the memory; wrong ones are found."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS
from streams import changed, equal

import graphdask as gd

CALLS = {
    "set": gd.maximal_independent_set, "colors": gd.greedy_coloring,
    "largest first": lambda G, seed=0: gd.greedy_coloring(G, seed, "largest_first"),
}  # fmt: skip


def graph(name):
    n, src, dst, _ = GRAPHS[name]()
    return gd.from_edges(src, dst, num_vertices=n, directed=False)


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("order", ["layers", "ids"])
def test_answers_are_those_in_memory(stored, parts, order):
    for seed, name in enumerate(("scale-free", "dense random, undirected", "duplicates both ways", "star outward")):
        G, S = graph(name), stored(graph(name), "128KiB", order=order).partition(parts)
        for call in CALLS.values():
            equal(call(S, seed).verify(), call(G, seed))
            equal(call(S, 2**64 - 1 - seed), call(G, 2**64 - 1 - seed))


@pytest.mark.parametrize("parts", [1, 3])
def test_neighbours_that_do_not_fit_at_once(stored, parts):
    src, dst = np.random.default_rng(2).integers(0, 300, (2, 9000))
    G = gd.from_edges(src, dst, num_vertices=300, directed=False)
    path = stored(G, chunk=2048).store.path
    for call in CALLS.values():
        many, few = (call(gd.stream.open(path, memory).partition(parts)) for memory in ("1MiB", "36KiB"))
        equal(few.verify(), call(G))
        equal(many, few)
        assert many.stats.streamed["sweeps"] == 2
        assert few.stats.streamed["sweeps"] > 2
        assert few.stats.streamed["nbytes"] <= (few.stats.streamed["sweeps"] + parts) * few.graph.nbytes
    # a vertex beside a member takes no memory
    assert CALLS["set"](few.graph).stats.streamed["sweeps"] < few.stats.streamed["sweeps"]


@pytest.mark.parametrize("parts", [None, 2])
def test_a_graph_opened_for_a_device_has_the_same_answers(streamed, parts):
    G = graph("scale-free")
    S = streamed(G, "160KiB", parts=parts)
    for call in CALLS.values():
        equal(call(S, 3).verify(), call(G.partition(1, device="cpu"), 3))


@pytest.mark.parametrize(
    ("name", "column", "vertex", "value", "reason"),
    [
        ("set", "member", "beside", True, "is in the set, and so is one of its neighbours"),
        ("set", "member", "member", False, "is outside the set, and no earlier neighbour is in it"),
        ("colors", "color", "beside", -1, "has no colour"),
        ("colors", "color", "beside", 10**6, "has no colour"),
        ("colors", "color", "beside", 0, "has not the smallest colour that its earlier neighbours leave"),
        ("largest first", "color", "member", 5, "has not the smallest colour that its earlier neighbours leave"),
    ],
)
def test_wrong_results_are_found(stored, name, column, vertex, value, reason):
    result = CALLS[name](stored(graph("scale-free"), "1MiB")).verify()
    inside = result.member if name == "set" else result.color == 0
    at = int(np.flatnonzero(inside if vertex == "member" else ~inside)[7])
    with pytest.raises(gd.VerificationError, match=reason):
        changed(result, **{column: (at, value)}).verify()


def test_the_answer_to_another_seed_is_found_to_be_wrong(stored):
    S = stored(graph("scale-free"), "1MiB")
    for name, column in (("set", "member"), ("colors", "color")):
        result, other = CALLS[name](S, 1), CALLS[name](S, 2)
        with pytest.raises(gd.VerificationError, match="neighbour"):
            changed(result, **{column: (slice(None), getattr(other, column))}).verify()
