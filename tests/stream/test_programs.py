"""Programs over graphs on disk give what they give in memory, bit for bit, whatever is in memory at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs import GRAPHS
from plain_programs import graph_of
from some_programs import programs

import graphdask as gd

NAMES = list(programs())
SHAPES = (
    "dense random, directed", "sparse random, undirected", "duplicates both ways", "only self-loops", "no edges",
    "one vertex with a self-loop", "star inward", "scale-free", "isolated vertices", "path backward",
    "sparse random, directed", "dense random, undirected", "binary tree",
)  # fmt: skip
PARTS, ORDERS = (1, 2, 3, 4, 7), ("layers", "ids")
FEW = ("shortest", "rank", "waves")


def of_shape(name, shape):
    """A graph with weights, a program, and the arguments of its run."""
    n, src, dst, directed = GRAPHS[shape]()
    weights = np.random.default_rng(len(src)).integers(1, 9, len(src)) / 4
    program, arguments = programs()[name]
    arguments = {**arguments, "active": [0]} if n == 1 and "active" in arguments else arguments
    return graph_of(n, src, dst, weights, directed), program, arguments


def same(found, expected):
    assert (found.iterations, repr(found.aggregates)) == (expected.iterations, repr(expected.aggregates))
    assert found.columns == expected.columns
    for name in expected.columns:
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), name


def in_little(S, parts, program, arguments):
    """A run in little memory: less is refused."""
    memory = 1024
    while True:
        try:
            return gd.run(gd.stream.open(S.store.path, memory).partition(parts), program, **arguments), memory
        except gd.OverBudget as error:
            refused = str(error)
        assert "states of vertices" in refused  # before any work
        memory += memory // 8


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_on_disk_gives_what_one_in_memory_gives(stored, name):
    """Each program for some shapes, orders of rows and numbers of parts, in little memory and in much."""
    turn = NAMES.index(name)
    for at in range(4):
        shape, parts = SHAPES[(turn + 3 * at) % len(SHAPES)], PARTS[(turn + at) % len(PARTS)]
        G, program, arguments = of_shape(name, shape)
        S, expected = stored(G, order=ORDERS[(turn + at) % 2]), gd.run(G, program, **arguments)
        found, memory = in_little(S, parts, program, arguments)
        same(found, expected)
        assert found.stats.memory <= memory
        assert found.stats.ranks == parts
        same(gd.run(gd.stream.open(S.store.path, "1MiB").partition(parts), program, **arguments).verify(), expected)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [None, 3])
def test_through_a_device_too(streamed, parts):
    for name, shape in zip(FEW, ("dense random, directed", "star inward", "scale-free"), strict=True):
        G, program, arguments = of_shape(name, shape)
        expected = gd.run(G.partition(1, device="cpu"), program, **arguments)
        same(gd.run(streamed(G, "256KiB", parts=parts), program, **arguments).verify(), expected)


@pytest.mark.parametrize("parts", [1, 2])
def test_what_is_said_to_be_enough_memory_is(stored, parts):
    rng = np.random.default_rng(1)
    path = stored(gd.from_edges(*rng.integers(0, 6000, (2, 20000)), rng.random(20000))).store.path
    for name in FEW:
        program, arguments = programs()[name]
        with pytest.raises(gd.OverBudget, match=r"program takes .* MiB for the states .* gives 0.0 MiB") as caught:
            gd.run(gd.stream.open(path, "3KiB").partition(parts), program, **arguments)
        more = float(str(caught.value).split("open with ")[1].split()[0])
        gd.run(gd.stream.open(path, int((3 / 1024 + more) * 2**20)).partition(parts), program, **arguments)


def test_only_chunks_with_a_vertex_that_sends_are_read(stored):
    n = 2000
    S = stored(gd.from_edges(np.arange(n - 1), np.arange(1, n), np.ones(n - 1), num_vertices=n), "1MiB", order="ids")
    program, arguments = programs()["shortest"]
    found = gd.run(S, program, max_supersteps=50, **arguments)
    assert found.distance[:52].tolist() == [*map(float, range(51)), np.inf]
    assert S.chunks > 10
    assert found.stats.streamed["chunks_read"] == 1
    every = gd.run(S, programs()["rank"][0])
    assert every.stats.streamed["sweeps"] == every.iterations == 6
    assert every.stats.streamed["distinct"] == sum(map(sum, map(S.store.sections["inward"].sizes, range(S.chunks))))


def test_first_states_and_active_vertices_are_those_of_the_caller(stored):
    _, src, dst, _ = GRAPHS["dense random, directed"]()
    G = gd.from_edges([f"v{u}" for u in src], [f"v{v}" for v in dst], np.ones(len(src)))
    S = stored(G)
    some = list(G.vertex_ids[[7, 50, 3]])
    program = gd.Program(
        state={"distance": (float, 0.0), "parent": (int, lambda v: v.degree)},
        message=({"distance": float, "parent": int}, "min"),
        send=lambda e: {"distance": e.source.distance + e.weight, "parent": e.source.parent},
        apply=lambda v, m: m.distance < v.distance and {"distance": m.distance, "parent": m.parent},
    )
    for arguments in (
        {"active": some, "init": {"distance": dict(zip(some, (0.5, 0.0, 9.0), strict=True))}},
        {"init": {"distance": np.arange(G.num_vertices) / 7, "parent": np.arange(G.num_vertices)[::-1]}},
    ):
        for parts in (1, 3):
            same(gd.run(gd.stream.open(S.store.path).partition(parts), program, **arguments),
                 gd.run(G, program, **arguments))  # fmt: skip


def test_wrong_bits_are_found(stored):
    for parts in (1, 2):
        G, program, arguments = of_shape("shortest", "dense random, directed")
        found = gd.run(stored(G).partition(parts), program, **arguments)
        values = {name: column.copy() for name, column in found.parts.values[0].columns.items()}
        values["distance"][5:7] += 1.0
        found.parts.values[0] = replace(found.parts.values[0], columns=values)
        with pytest.raises(gd.VerificationError, match=r"program: vertex \d+ has another distance when it is run"):
            found.verify()


def test_what_programs_over_stores_refuse(stored):
    G = gd.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 4.0])
    S = stored(G, inward=False)
    push, pull = programs()["shortest"], programs()["weights added"]
    same(gd.run(S, push[0], **push[1]).verify(), gd.run(G, push[0], **push[1]))
    with pytest.raises(gd.Unsupported, match=r"graph.gdl was built without in-edges; build it with inward=True"):
        gd.run(S, pull[0])
    with pytest.raises(gd.Unsupported, match="exchange= has no meaning for a streamed graph"):
        gd.run(S, push[0], exchange="broadcast")
    with pytest.raises(gd.Unsupported, match='passes="one" is not exact for this: program is no search'):
        gd.run(gd.stream.open(S.store.path, passes="one"), push[0])
    with pytest.raises(gd.VertexNotFound, match="9"):
        gd.run(S, push[0], active=[9])
    broken = gd.Program(
        state={"x": (int, 0)}, message=(int, "min"), send=lambda e: 1 // e.source.x, apply=lambda v, m: {"x": m}
    )  # fmt: skip
    with pytest.raises(
        gd.errors.FunctionError, match=r"(?s)test_programs.py:\d+: send failed: division by zero.*1 // e.source.x"
    ):
        gd.run(S, broken)
