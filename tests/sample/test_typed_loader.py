"""Minibatches of a graph with types: what a batch holds, which batches an epoch has, and what is refused."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound

RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")
FANOUTS = {RATES: [3, 2], BACK: [4, 2], KNOWS: [1, 2]}


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    return {
        RATES: (rng.integers(100, 140, 200), rng.integers(0, 30, 200)),
        KNOWS: (rng.integers(100, 140, 60), rng.integers(100, 140, 60)),
    }


@pytest.fixture(scope="module")
def graph(tables):
    return gd.from_frames(tables, vertices={"user": np.arange(100, 140), "item": 30}, reverse=True)


def contents(batch):
    return (
        {name: ids.tolist() for name, ids in batch.n_id.items()},
        {kind: index.tolist() for kind, index in batch.edge_index.items()},
        {kind: rows.tolist() for kind, rows in batch.e_id.items()},
        batch.input_id.tolist(), batch.num_sampled_nodes, batch.num_sampled_edges,
    )  # fmt: skip


def test_a_batch_is_an_instance_of_neighbour_sampling_and_its_rows_are_right(tables, graph):
    seeds = np.random.default_rng(2).permutation(np.arange(100, 140))[:23]
    loader = gd.sample.TypedNeighborLoader(graph, FANOUTS, ("user", seeds), batch_size=5, shuffle=True, seed=7)
    assert len(loader) == 5
    epochs = [list(loader), list(loader)]
    for batches in epochs:
        assert sorted(np.concatenate([batch.input_id for batch in batches]).tolist()) == list(range(23))
    batches = epochs[0] + epochs[1]
    s = gd.sample.neighbors(
        graph, ("user", [seeds[batch.input_id] for batch in batches]), FANOUTS, direction="in", seed=7, edge_rows=True
    )
    ends = {RATES: tables[RATES], BACK: tables[RATES][::-1], KNOWS: tables[KNOWS]}
    for number, batch in enumerate(batches):
        assert batch.n_id["user"][: batch.batch_size].tolist() == seeds[batch.input_id].tolist()
        assert batch.num_nodes == sum(len(ids) for ids in batch.n_id.values())
        for name, ids in batch.n_id.items():
            assert ids.tolist() == s.nodes[name][slice(*s.node_offsets[name][number : number + 2])].tolist()
            assert sum(batch.num_sampled_nodes[name]) == len(ids)
        for kind, (src, dst) in ends.items():
            rows = batch.e_id[kind]
            assert rows.tolist() == s.edge[kind][slice(*s.edge_offsets[kind][number : number + 2])].tolist()
            assert (batch.n_id[kind[0]][batch.edge_index[kind][0]] == src[rows]).all()
            assert (batch.n_id[kind[2]][batch.edge_index[kind][1]] == dst[rows]).all()
            assert sum(batch.num_sampled_edges[kind]) == len(rows)


@pytest.mark.parametrize("options", [{}, {"replace": True}, {"direction": "out"}])
def test_batches_are_the_same_wherever_and_however_they_are_drawn(graph, options):
    given = {"batch_size": 6, "shuffle": True, **options}
    expected = [contents(batch) for batch in gd.sample.TypedNeighborLoader(graph, [2, 3], "item", prefetch=0, **given)]
    for more in ({"batches_per_run": 1}, {"batches_per_run": 2, "prefetch": 2}):
        found = gd.sample.TypedNeighborLoader(graph, [2, 3], "item", **more, **given)
        assert [contents(batch) for batch in found] == expected
    parts = graph.partition(3, by="random")
    found = gd.sample.TypedNeighborLoader(parts, [2, 3], "item", placement="partitioned", **given)
    assert [contents(batch) for batch in found] == expected


def test_attributes_are_those_of_the_vertices_and_a_transform_is_applied(graph):
    x = {"user": np.arange(80).reshape(40, 2), "item": np.arange(30) * 10}
    loader = gd.sample.TypedNeighborLoader(
        graph, FANOUTS, ("item", np.arange(30) % 3 == 0), batch_size=4, x=x, y={"item": np.arange(30)},
        edge_rows=False, drop_last=True, transform=lambda batch: (batch, "seen"),
    )  # fmt: skip
    assert len(loader) == 2
    for batch, word in loader:
        assert word == "seen"
        assert (batch.x["user"] == x["user"][batch.n_id["user"] - 100]).all()
        assert (batch.x["item"] == 10 * batch.n_id["item"]).all()
        assert (batch.y["item"] == batch.n_id["item"]).all()
        assert batch.e_id == {}
    assert repr(batch).startswith("TypedBatch(4 seeds of type 'item'; vertices ")
    assert repr(loader) == "<TypedNeighborLoader: 2 batches of 4 of 10 vertices of type 'item'>"


@pytest.mark.learn
def test_a_batch_of_pytorch_geometric_has_its_fields(graph):
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    given = {"batch_size": 4, "x": {"item": torch.arange(30)}}
    plain = list(gd.sample.TypedNeighborLoader(graph, FANOUTS, "user", batch_size=4))
    for batch, expected in zip(
        gd.sample.TypedNeighborLoader(graph, FANOUTS, "user", output="pyg", **given), plain, strict=True
    ):
        assert isinstance(batch, geometric.data.HeteroData)
        assert batch.validate()
        assert batch["user"].batch_size == expected.batch_size
        assert batch["item"].x.tolist() == batch["item"].n_id.tolist() == expected.n_id["item"].tolist()
        for kind, index in expected.edge_index.items():
            assert batch[kind].edge_index.tolist() == index.tolist()
            assert batch[kind].e_id.tolist() == expected.e_id[kind].tolist()
    (first, *_) = gd.sample.TypedNeighborLoader(graph, FANOUTS, "user", output="torch", **given)
    assert all(isinstance(ids, torch.Tensor) for ids in first.n_id.values())


def test_names_as_ids_and_what_is_refused(graph):
    named = gd.from_frames({("a", "x", "b"): (["p", "q"], ["r", "r"])})
    (batch,) = gd.sample.TypedNeighborLoader(named, [-1], ("b", ["r"]))
    assert batch.n_id["a"].tolist() == ["p", "q"]
    loader = gd.sample.TypedNeighborLoader
    for arguments, message in (
        ((gd.from_edges([0], [1]), [1], "user"), "not a TypedGraph; gd.from_frames makes one"),
        ((graph, [1], 3), r"does not say the type; give it, as 'user', or a pair such as \('user', ids\)"),
        ((graph, [1], "shop"), "no type of vertices"),
        ((graph, [1], ("user", [101, 101])), "input_nodes has 101 twice, at places 0 and 1"),
        ((graph, [1], ("user", np.ones(3, bool))), "3 elements of bool; there are 40 vertices"),
        ((graph, [1], ("user", [[101]])), "has 2 dimensions"),
        ((graph, {"rates": [1]}, "user"), "has no numbers for edges of type"),
    ):
        with pytest.raises(InputError, match=message):
            loader(*arguments)
    for options, message in (
        ({"x": np.arange(40)}, "x is a .*; it is a mapping of types"),
        ({"x": {"user": np.arange(3)}}, r"x\['user'\] has the shape \(3,\); it has a row for each of 40 vertices"),
        ({"output": "frames"}, "is not one of arrays, torch, pyg"),
        ({"transform": 3}, "cannot be called"),
    ):
        with pytest.raises(InputError, match=message):
            loader(graph, [1], "user", **options)
    with pytest.raises(VertexNotFound, match="vertex of type 'user' 7"):
        loader(graph, [1], ("user", [7]))


def test_batches_have_rows_of_columns(tables):
    src, dst = tables[RATES]
    rates = {"src": src, "dst": dst, "stars": np.arange(200) % 7, "note": [f"n{row}" for row in range(200)]}
    users = {"id": np.arange(139, 99, -1), "age": np.arange(40), "name": [f"u{id}" for id in range(139, 99, -1)]}
    G = gd.from_frames({RATES: rates, KNOWS: tables[KNOWS]}, reverse=True, edge_columns=["stars", "note"],
                       vertices={"user": users, "item": 30})  # fmt: skip
    wanted = {"vertex_columns": {"user": ["age", "name"]}, "edge_columns": {RATES: ["stars"], "rev_rates": ["note"]}}
    for batch in gd.sample.TypedNeighborLoader(G, FANOUTS, "user", batch_size=9, **wanted):
        users_of = batch.n_id["user"]
        assert batch.vertex_columns["user"]["age"].tolist() == (139 - users_of).tolist()
        assert batch.vertex_columns["user"]["name"].tolist() == [f"u{id}" for id in users_of]
        assert batch.edge_columns[RATES]["stars"].tolist() == (batch.e_id[RATES] % 7).tolist()
        assert batch.edge_columns[BACK]["note"].tolist() == [f"n{row}" for row in batch.e_id[BACK]]
        assert list(batch.edge_columns) == [RATES, BACK]
    for options, message in (
        (
            {"vertex_columns": {"user": ["size"]}},
            r"vertex_columns\['user'\]: name: vertices of type 'user' have",
        ),
        ({"vertex_columns": {"shop": ["age"]}}, "vertex_columns: 'shop' is no type of vertices"),
        ({"vertex_columns": ["age"]}, "vertex_columns is a list; it is a mapping of types"),
        ({"edge_columns": {"knows": ["stars"]}}, r"edge_columns\['knows'\]: .*no column 'stars'"),
        ({"edge_columns": {"rates": "stars"}}, r"edge_columns\['rates'\]='stars' is not a list of names"),
        ({"edge_columns": {"rates": ["stars"]}, "edge_rows": False}, "leave edge_rows=False out"),
    ):
        with pytest.raises(InputError, match=message):
            gd.sample.TypedNeighborLoader(G, FANOUTS, "user", **options)


@pytest.mark.skipif(find_spec("torch_geometric") is None, reason="PyTorch Geometric is not installed")
def test_a_heterodata_has_columns_as_fields():
    users, rates = {"id": [1, 2], "age": [5, 6]}, {"src": [1, 2], "dst": [7, 8], "stars": [0.5, 1.5]}
    G = gd.from_frames({RATES: rates}, vertices={"user": users}, edge_columns=["stars"])
    (data,) = gd.sample.TypedNeighborLoader(
        G, [-1], "item", batch_size=2, vertex_columns={"user": ["age"]}, edge_columns={"rates": ["stars"]}, output="pyg"
    )
    assert data["user"].age.tolist() == [5, 6]
    assert data[RATES].stars.tolist() == [0.5, 1.5]
    named = gd.from_frames({RATES: rates}, vertices={"user": {"id": [1, 2], "name": ["a", "b"]}})
    with pytest.raises(InputError, match="no tensor holds the column 'name'"):
        gd.sample.TypedNeighborLoader(named, [-1], "item", vertex_columns={"user": ["name"]}, output="pyg")
