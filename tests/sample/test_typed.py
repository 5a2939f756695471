"""Neighbour sampling and metapath walks along edges with types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound

USERS, ITEMS = 50, 40
RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    rates = rng.integers(0, USERS, 200), rng.integers(0, ITEMS, 200)
    return {RATES: rates, KNOWS: (rng.integers(0, USERS, 90), rng.integers(0, USERS, 90))}


@pytest.fixture(scope="module")
def graph(tables):
    return gd.from_frames(tables, vertices={"user": USERS, "item": ITEMS}, reverse=True)


def all_within(tables, seeds, hops):
    """Vertices by type, hop by hop in the order in which edges reach them, and edges (type, row, src, dst)."""
    ends = {RATES: tables[RATES], BACK: tables[RATES][::-1], KNOWS: tables[KNOWS]}
    known = {"user": list(dict.fromkeys(seeds)), "item": []}
    frontier, drawn = {"user": list(known["user"]), "item": []}, []
    for _ in range(hops):
        fresh = {"user": [], "item": []}
        for kind in (RATES, BACK, KNOWS):
            src, dst = ends[kind]
            for v in frontier[kind[2]]:
                rows = np.flatnonzero(dst == v)
                for row in rows[np.argsort(src[rows], kind="stable")].tolist():
                    drawn.append((kind, row))
                    fresh[kind[0]].append(int(src[row]))
        frontier = {}
        for name, found in fresh.items():
            frontier[name] = [v for v in dict.fromkeys(found) if v not in known[name]]
            known[name] += frontier[name]
    return known, drawn


@pytest.mark.parametrize("parts", [1, 3])
def test_with_all_neighbours_vertices_and_edges_are_those_within_hops(tables, graph, parts):
    seeds = [[4, 9, 4], [], [17]]
    where = "replicated" if parts == 1 else "partitioned"
    s = gd.sample.neighbors(
        graph.partition(parts), ("user", seeds), [-1, -1], direction="in", edge_rows=True, placement=where,
    ).verify()  # fmt: skip
    ends = {RATES: tables[RATES], BACK: tables[RATES][::-1], KNOWS: tables[KNOWS]}
    for i, of_one in enumerate(seeds):
        known, drawn = all_within(tables, of_one, 2)
        for name, ids in known.items():
            assert s.nodes[name][slice(*s.node_offsets[name][i : i + 2])].tolist() == ids
            assert s.node_sizes[name][i].sum() == len(ids)
        assert s.node_sizes["user"][i, 0] == len(set(of_one))
        for kind, (src, dst) in ends.items():
            here = slice(*s.edge_offsets[kind][i : i + 2])
            rows = s.edge[kind][here]
            assert sorted(rows.tolist()) == sorted(row for of, row in drawn if of == kind)
            far, near = np.array(known[kind[0]], int), np.array(known[kind[2]], int)
            assert (far[s.col[kind][here]] == src[rows]).all()
            assert (near[s.row[kind][here]] == dst[rows]).all()
            assert (np.diff(s.hop[kind][here]) >= 0).all()
            assert s.edge_sizes[kind][i].tolist() == np.bincount(s.hop[kind][here], minlength=2).tolist()


def arrays_of(s):
    return {
        field: {kind: values.tolist() for kind, values in getattr(s, field).items()}
        for field in ("nodes", "node_offsets", "row", "col", "hop", "edge", "edge_offsets")
    }


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"direction": "out", "method": "reservoir"}])
def test_the_same_for_every_number_of_partitions(graph, options):
    fanouts = {"rates": [2, 1], "rev_rates": [3, 2], "knows": [1, 0]}
    given = dict(fanouts=fanouts, seed=5, edge_rows=True, **options)
    expected = arrays_of(gd.sample.neighbors(graph, ("item", [3, 8, 3]), **given).verify())
    for parts in (2, 3):
        found = gd.sample.neighbors(graph.partition(parts), ("item", [3, 8, 3]), placement="partitioned", **given)
        assert arrays_of(found) == expected
    assert max(map(len, expected["row"].values())) > 3


def test_a_budget_holds_for_each_type_and_draws_do_not_depend_on_other_types(tables, graph):
    seeds = ("user", list(range(USERS)))
    s = gd.sample.neighbors(graph, seeds, {"rates": [0], "rev_rates": [3], "knows": [2]}, direction="in", seed=1)
    degrees = np.bincount(tables[RATES][0], minlength=USERS), np.bincount(tables[KNOWS][1], minlength=USERS)
    assert s.edge_sizes[RATES].sum() == 0
    assert s.edge_sizes[BACK][:, 0].tolist() == np.minimum(degrees[0], 3).tolist()
    assert s.edge_sizes[KNOWS][:, 0].tolist() == np.minimum(degrees[1], 2).tolist()
    alone = gd.from_frames({KNOWS: tables[KNOWS]}, vertices={"user": USERS})
    t = gd.sample.neighbors(alone, seeds, [2], direction="in", seed=1)
    of_user = s.nodes["user"][s.col[KNOWS] + np.repeat(s.node_offsets["user"][:-1], np.diff(s.edge_offsets[KNOWS]))]
    of_alone = t.nodes["user"][t.col[KNOWS] + np.repeat(t.node_offsets["user"][:-1], np.diff(t.edge_offsets[KNOWS]))]
    assert of_user.tolist() == of_alone.tolist()


def test_draws_are_uniform_over_the_edges_of_a_type():
    hub = np.zeros(6, int), np.arange(6)
    G = gd.from_frames({("a", "x", "b"): hub, ("a", "y", "b"): (hub[0][:2], hub[1][:2])}, reverse=True)
    s = gd.sample.neighbors(G, ("a", [0] * 6000), {"x": [1], "rev_x": [0], "y": [0], "rev_y": [0]}, seed=3)
    counts = np.bincount(s.nodes["b"], minlength=6)
    assert (np.abs(counts - 1000) < 4 * np.sqrt(1000)).all()


def test_weights_of_a_type_are_its_biases():
    G = gd.from_frames({("a", "x", "b"): pd.DataFrame({"src": [0, 0], "dst": [1, 2], "w": [0.0, 3.0]})}, weight="w")
    s = gd.sample.neighbors(G, ("a", [0] * 50), [1], bias="weight")
    assert set(s.nodes["b"].tolist()) == {2}


def test_walks_go_along_types_by_name(tables, graph):
    starts = list(range(USERS))
    w = gd.sample.metapath_walk(graph, ("user", starts), 4, metapath=["rates", BACK], walks_per_start=2, seed=9)
    walks = w.verify().walks
    assert graph.named("user", walks[:, 0]).tolist() == np.repeat(starts, 2).tolist()
    pairs = set(zip(*(array.tolist() for array in tables[RATES]), strict=True))
    for step in range(4):
        users, items = (walks[:, step], walks[:, step + 1])[:: 1 if step % 2 == 0 else -1]
        alive = walks[:, step + 1] >= 0
        named = graph.named("user", users[alive]).tolist(), graph.named("item", items[alive]).tolist()
        assert set(zip(*named, strict=True)) <= pairs
    again = gd.sample.metapath_walk(
        graph.partition(3), ("user", starts), 4, metapath=["rates", BACK], walks_per_start=2, seed=9
    )
    assert (again.walks == walks).all()


@pytest.mark.parametrize(
    ("seeds", "fanouts", "message"),
    [
        ([1, 2], [2], r"does not say the type; give a pair such as seeds=\('user', ids\)"),
        (("shop", [1]), [2], "no type of vertices"),
        (("user", [1]), {"rates": [1]}, r"has no numbers for edges of type \('item', 'rev_rates', 'user'\)"),
        (("user", [1]), {"rates": [1], "rev_rates": [1, 2], "knows": [1]}, "has 1 hops for one type and 2 for another"),
        (("user", [1]), {"rates": [1], RATES: [1], "rev_rates": [1], "knows": [1]}, "twice"),
        (("user", [1]), {"likes": [1]}, "is no type of edges"),
    ],
)
def test_what_is_refused(graph, seeds, fanouts, message):
    with pytest.raises(InputError, match=message):
        gd.sample.neighbors(graph, seeds, fanouts)


def test_vertices_and_walks_that_are_refused(graph):
    with pytest.raises(VertexNotFound, match="vertex of type 'item' 40"):
        gd.sample.neighbors(graph, ("item", [40]), [1])
    with pytest.raises(InputError, match="and goes on along 'rates', whose edges leave 'user'"):
        gd.sample.metapath_walk(graph, ("user", [1]), 3, metapath=["rates"])
    with pytest.raises(InputError, match="metapath begins with edges from 'user'"):
        gd.sample.metapath_walk(graph, ("item", [1]), 1, metapath=["rates"])
    with pytest.raises(InputError, match="this graph has types of its own"):
        gd.sample.metapath_walk(graph, ("user", [1]), 1, metapath=["rates"], edge_types=[1])
