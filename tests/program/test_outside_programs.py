"""Programs that carry lists in their states or run in rounds, by a search from each seed and by plain loops: from
memory, after updates, and from disk."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

import graphdask as gd

N = 60
SEEDS = [1, 5, 9, 22, 40]


def offer(e):
    """The first of the nearest seeds of the source that the destination does not have as near."""
    s, d = e.source, e.destination
    for k in range(3):
        seed = s.s0 if k == 0 else s.s1 if k == 1 else s.s2
        far = (s.d0 if k == 0 else s.d1 if k == 1 else s.d2) + e.weight
        known = d.d0 if seed == d.s0 else d.d1 if seed == d.s1 else d.d2
        if math.isfinite(far) and far < known:
            return {"far": far, "seed": seed}
    return None


def keep(v, m):
    """Drop what the list has of the seed, and insert it."""
    if v.received == 0:
        return None
    d0, s0, d1, s1, d2, s2 = v.d0, v.s0, v.d1, v.s1, v.d2, v.s2
    if m.seed == s0:
        d0, s0, d1, s1, d2, s2 = d1, s1, d2, s2, math.inf, -1
    elif m.seed == s1:
        d1, s1, d2, s2 = d2, s2, math.inf, -1
    if m.far < d0:
        return m.far, m.seed, d0, s0, d1, s1
    if m.far < d1:
        return d0, s0, m.far, m.seed, d1, s1
    return d0, s0, d1, s1, m.far, m.seed


NEAREST = gd.Program(
    state={
        f"{name}{k}": (kind, none) for k in range(3) for name, kind, none in (("d", float, math.inf), ("s", int, -1))
    },
    message=({"far": float, "seed": int}, "min"),
    send=offer,
    apply=keep,
    direction="both",
    activity="all",
    until=lambda a: a.active == 0,
)


def propose(e):
    """In turn: left vertices propose, right ones accept, left ones confirm."""
    s, d, turn = e.source, e.destination, e.superstep % 3
    if turn == 0:
        return s.id if s.left and not d.left and s.mate < 0 and d.mate < 0 else None
    if turn == 1:
        return s.id if not s.left and s.offer == d.id else None
    return s.id if s.left and s.mate == d.id else None


def answer(v, m):
    turn = v.superstep % 3
    if turn == 0:
        return {"offer": m if v.received else -1, "tries": v.tries + (v.received > 0)}
    if turn == 1:
        return {"mate": m} if v.left and v.mate < 0 and v.received else None
    return {"mate": v.mate if v.left or v.mate >= 0 or not v.received else m, "offer": -1}


MATCHING = gd.Program(
    state={"mate": (np.int16, -1), "left": (bool, lambda v: v.id % 2 == 0), "offer": (int, -1), "tries": (np.uint8, 0)},
    message=(int, "min"),
    send=propose,
    apply=answer,
    direction="both",
    activity="all",
    aggregate={"offers": ("count", lambda old, new: new.offer >= 0)},
    until=lambda a: a.superstep % 3 == 1 and a.offers == 0,
)


@pytest.fixture(scope="module")
def edges():
    rng = np.random.default_rng(4)
    keys = np.unique(rng.integers(0, N, 160) * N + rng.integers(0, N, 160))
    keys = keys[keys // N != keys % N]
    return keys // N, keys % N, rng.integers(1, 40, len(keys)) / 4


@pytest.fixture(params=["one", "three", "updated", "streamed"])
def graph(request, edges, tmp_path):
    G = gd.from_edges(*edges, num_vertices=N)
    if request.param == "updated":
        half = [column[: len(column) // 2] for column in edges]
        D = gd.DynamicGraph(gd.from_edges(*half, num_vertices=N))
        D.update(insert=tuple(column[len(column) // 2 :] for column in edges))
        return D
    if request.param == "streamed":
        return gd.stream.build(G, tmp_path / "g.gdl", chunk=1024, inward=True)
    return G.partition(3 if request.param == "three" else 1)


def test_three_nearest_seeds_are_those_of_a_search_from_each(graph, edges):
    found = gd.run(graph, NEAREST, init={"d0": dict.fromkeys(SEEDS, 0.0), "s0": {seed: seed for seed in SEEDS}})
    plain = nx.Graph()
    plain.add_nodes_from(range(N))
    for u, v, weight in zip(*(column.tolist() for column in edges), strict=True):
        plain.add_edge(u, v, weight=min(weight, plain.get_edge_data(u, v, {"weight": math.inf})["weight"]))
    far = {seed: nx.single_source_dijkstra_path_length(plain, seed) for seed in SEEDS}
    for v in range(N):
        nearest = sorted(far[seed].get(v, math.inf) for seed in SEEDS)[:3]
        assert [found.d0[v], found.d1[v], found.d2[v]] == nearest
        seeds = [seed for seed in (found.s0[v], found.s1[v], found.s2[v]) if seed >= 0]
        assert [far[seed][v] for seed in seeds] == [each for each in nearest if each < math.inf]
        assert len(set(seeds)) == len(seeds)


def test_proposals_match_as_rounds_of_plain_loops(graph, edges):
    found = gd.run(graph, MATCHING)
    mate, tries, rounds = [-1] * N, [0] * N, 0
    pairs = {(u, v) if u % 2 == 0 else (v, u) for u, v in zip(*(c.tolist() for c in edges[:2]), strict=True)}
    pairs = [(u, v) for u, v in pairs if v % 2 == 1]
    pairs = [(u, v) for u, v in pairs if u % 2 == 0]
    while True:
        offers: dict[int, int] = {}
        for u, v in pairs:
            if mate[u] < 0 and mate[v] < 0:
                offers[v] = min(offers.get(v, N), u)
        if not offers:
            break
        rounds += 1
        accepted: dict[int, int] = {}
        for v, u in offers.items():
            tries[v] += 1
            accepted[u] = min(accepted.get(u, N), v)
        for u, v in accepted.items():
            mate[u], mate[v] = v, u
    assert found.iterations == 3 * rounds + 1
    assert (found.mate.dtype, found.tries.dtype) == (np.int16, np.uint8)
    np.testing.assert_array_equal(found.mate, mate)
    np.testing.assert_array_equal(found.tries, tries)


@pytest.mark.slow
def test_an_integer_that_its_small_type_does_not_hold_is_named():
    counted = gd.Program(
        state={"level": (np.uint8, 0)},
        message="count",
        apply=lambda v, m: {"level": v.level + m * 200},
        max_supersteps=2,
    )
    with pytest.raises(gd.errors.FunctionError, match="apply gives level an integer that does not fit uint8; take int"):
        gd.run(gd.from_edges([0, 1], [1, 0]).partition(2), counted)
    with pytest.raises(gd.errors.InputError, match="256, which is no uint8; give an integer of 8 bits, not negative"):
        gd.run(gd.from_edges([0, 1], [1, 0]), counted, init={"level": {0: 256}})
