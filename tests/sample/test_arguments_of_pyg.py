"""Arguments of PyTorch Geometric's loaders: each works by its name, or its refusal says what to use instead."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pyarrow
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.sample import (
    ClusterLoader,
    HGTLoader,
    LinkNeighborLoader,
    NeighborLoader,
    ShaDowLoader,
    TypedLinkNeighborLoader,
    TypedNeighborLoader,
)

RNG = np.random.default_rng(41)
N = 30
SRC, DST = RNG.integers(0, N, 200), RNG.integers(0, N, 200)
WEIGHTS, TIMES = RNG.integers(0, 4, 200), RNG.integers(0, 50, 200)
BORN = RNG.integers(0, 50, N)
INPUT = RNG.permutation(N)[:17]
LOADERS = [NeighborLoader, LinkNeighborLoader]


def made(directed=True, weights=None, **more):
    return gd.from_edges(
        SRC, DST, weights, num_vertices=N, directed=directed,
        edge_columns={"w": WEIGHTS, "t": TIMES.astype("datetime64[s]"), "name": np.array(["a"] * 200), **more},
        vertex_columns={"born": BORN, "label": np.array(["b"] * N)},
    )  # fmt: skip


def reported(batches):
    names = ("n_id", "edge_index", "e_id", "input_id", "batch")
    return [[None if (value := getattr(b, name)) is None else value.tolist() for name in names] for b in batches]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("loader", LOADERS)
def test_a_weight_attribute_is_what_neighbours_are_drawn_by(loader, directed):
    options = {"batch_size": 6, "seed": 3}
    of_weights = gd.from_edges(SRC, DST, WEIGHTS, num_vertices=N, directed=directed)
    expected = reported(loader(of_weights, [3, 2], bias="weight", **options))
    assert expected != reported(loader(of_weights, [3, 2], **options))
    for bias in (None, "weight"):
        assert reported(loader(made(directed), [3, 2], weight_attr="w", bias=bias, **options)) == expected
    assert reported(loader(made(directed, TIMES), [3, 2], weight_attr="w", **options)) == expected
    assert reported(loader(of_weights, [3, 2], weight_attr="weight", **options)) == expected
    divided = made(directed).partition(3, by="random", device="cpu")
    assert reported(loader(divided, [3, 2], weight_attr="w", placement="partitioned", **options)) == expected


def test_an_edge_of_weight_0_is_never_drawn_and_others_all():
    (batch,) = NeighborLoader(made(), [200], batch_size=N, weight_attr="w")
    assert sorted(batch.e_id.tolist()) == np.flatnonzero(WEIGHTS).tolist()


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_a_time_attribute_of_edges_is_that_column(directed, strategy):
    limits, options = RNG.integers(0, 50, 17), {"batch_size": 5, "temporal_strategy": strategy}
    expected = reported(NeighborLoader(made(directed), [3, 2], INPUT, input_time=limits, times=TIMES, **options))
    G = made(directed)
    assert reported(NeighborLoader(G, [3, 2], INPUT, input_time=limits, time_attr="t", **options)) == expected
    links, at = np.stack([SRC[:20], DST[:20]]), TIMES[:20]
    pairs = [
        LinkNeighborLoader(G, [3, 2], links, None, at, neg_sampling="binary", **options, **given)
        for given in ({"times": TIMES}, {"time_attr": "t"})
    ]
    assert reported(pairs[0]) == reported(pairs[1])


def seen(seed, limit, hops, ends):
    """By brute force: rows of the edges along which vertices are reached that are not later than a seed."""
    near, rows = {seed: 0}, set()
    for hop in range(hops):
        for v in [v for v, distance in near.items() if distance == hop]:
            for row in np.flatnonzero((ends[1] == v) & (BORN[ends[0]] <= limit)).tolist():
                rows.add(row)
                near.setdefault(int(ends[0][row]), hop + 1)
    return sorted(rows)


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("given", [None, 25, "each"])
def test_a_time_attribute_of_vertices_is_the_time_of_the_neighbour(direction, given):
    limits = RNG.integers(0, 50, 17) if given == "each" else given
    ends = (SRC, DST) if direction == "in" else (DST, SRC)
    options = {"batch_size": 5, "time_attr": "born", "input_time": limits, "direction": direction}
    expected = BORN[INPUT] if given is None else np.broadcast_to(limits, 17)
    loader = NeighborLoader(made(), [-1, -1], INPUT, **options)
    for batch in loader:
        assert batch.seed_time.tolist() == expected[batch.input_id].tolist()
        for number, place in enumerate(batch.input_id.tolist()):
            mine = batch.batch[batch.edge_index[1]] == number
            assert sorted(batch.e_id[mine].tolist()) == seen(INPUT[place], expected[place], 2, ends)
    divided = made().partition(3, by="random", device="cpu")
    assert reported(NeighborLoader(divided, [-1, -1], INPUT, placement="partitioned", **options)) == reported(loader)


def test_links_see_vertices_that_are_not_later():
    links, limits = np.stack([SRC[:20], DST[:20]]), RNG.integers(0, 50, 20)
    (batch,) = LinkNeighborLoader(made(), [-1], links, None, limits, time_attr="born", batch_size=20)
    found = [[] for _ in range(40)]
    for owner, row in zip(batch.edge_index[1].tolist(), batch.e_id.tolist(), strict=True):
        found[owner].append(row)
    for end, rows in enumerate(found):
        assert sorted(rows) == seen(links.reshape(-1)[end], limits[end % 20], 1, (SRC, DST))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_attr": "none"}, "weight_attr='none': the edges have no such column; columns of numbers or dates are"),
        ({"weight_attr": "name"}, "weight_attr='name': the column is of the type string"),
        ({"weight_attr": WEIGHTS}, "weight_attr=.* is not text or None"),
        ({"weight_attr": "weight"}, "weight_attr='weight': the edges have no such column"),
        ({"weight_attr": "w", "bias": "degree"}, "bias='degree' and weight_attr='w' exclude each other"),
        ({"weight_attr": "w", "input_time": 1, "time_attr": "t"}, "weight_attr='w' is not for draws in time"),
        ({"time_attr": "t"}, "time_attr says nothing without input_time="),
        ({"time_attr": "t", "times": TIMES, "input_time": 1}, "times and time_attr exclude each other"),
        ({"time_attr": 3, "input_time": 1}, "time_attr=3 is not text or None"),
        ({"time_attr": "when", "input_time": 1}, "time_attr='when': the edges have no such column"),
        ({"time_attr": "label"}, "time_attr='label': the column is of the type string; give numbers or dates"),
    ],
)
def test_names_without_meaning_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        NeighborLoader(made(), [2], **options)


def test_times_of_vertices_that_there_cannot_be_are_refused():
    with pytest.raises(InputError, match="an undirected edge would have two times"):
        NeighborLoader(made(directed=False), [2], time_attr="born")
    with pytest.raises(InputError, match="time_attr='born' is a column of the edges and of the vertices"):
        NeighborLoader(made(born=TIMES), [2], time_attr="born")
    with pytest.raises(InputError, match="time_attr says nothing without edge_label_time="):
        LinkNeighborLoader(made(), [2], time_attr="born")
    with pytest.raises(InputError, match="negatives would have ends of any time"):
        LinkNeighborLoader(made(), [2], edge_label_time=3, time_attr="born", neg_sampling="binary")
    G = gd.from_edges(["a"], ["b"], vertex_columns={"born": pyarrow.array([1, None])})
    with pytest.raises(InputError, match="time_attr='born': vertex b of the column is missing; fill it in"):
        NeighborLoader(G, [2], time_attr="born")
    changed = gd.DynamicGraph(gd.from_edges([0], [1], vertex_columns={"born": [1, 2]}))
    changed.update(insert=([1], [0]))
    for graph in (dataclasses.replace(made(), merge=True), changed.present):
        with pytest.raises(InputError, match="are made on the workers, or batches have changed them"):
            NeighborLoader(graph, [2], time_attr="born")


@pytest.mark.parametrize("loader", [*LOADERS, ShaDowLoader])
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("num_workers", "did you mean prefetch="),
        ("prefetch_factor", "did you mean prefetch="),
        ("persistent_workers", "did you mean prefetch="),
        ("generator", "did you mean seed="),
        ("filter_per_worker", "takes the rows of x and y, ahead of their use as prefetch= says; leave it out"),
        ("is_sorted", "edges may stand in any order; leave it out"),
        ("neighbor_sampler", "give the options of the draws to the loader itself"),
        ("pin_memory", "leave it out"),
    ],
)
def test_other_arguments_of_pytorch_geometric_are_answered(loader, given, meant):
    positional = (2, 2) if loader is ShaDowLoader else ([2],)
    with pytest.raises(InputError, match=f"no argument {given}=; .*{meant}"):
        loader(made(), *positional, **{given: 1})


def test_arguments_that_other_loaders_have_are_answered():
    with pytest.raises(InputError, match="no argument transform_sampler_output=; transform= is called with the batch"):
        ShaDowLoader(made(), 2, 2, transform_sampler_output=1)
    for loader in LOADERS:
        with pytest.raises(InputError, match="no argument directed=; did you mean subgraph_type="):
            loader(made(), [2], directed=False)
    with pytest.raises(InputError, match="no argument weight_attr=; did you mean bias="):
        ShaDowLoader(made(), 2, 2, weight_attr="w")


@pytest.mark.learn
def test_every_argument_of_pytorch_geometric_is_there_or_answered():
    theirs = pytest.importorskip("torch_geometric.loader")
    typed = gd.from_frames({("user", "rates", "item"): ([0], [1])}, reverse=True)
    for ours, name, given in (
        (NeighborLoader, "NeighborLoader", (made(), [2])),
        (LinkNeighborLoader, "LinkNeighborLoader", (made(), [2])),
        (ShaDowLoader, "ShaDowKHopSampler", (made(), 2, 2)),
        (ClusterLoader, "ClusterLoader", (made(), np.zeros(N, int))),
        (TypedNeighborLoader, "NeighborLoader", (typed, [2], "user")),
        (TypedLinkNeighborLoader, "LinkNeighborLoader", (typed, [2], "rates")),
        (HGTLoader, "HGTLoader", (typed, [2], "user")),
    ):
        has = inspect.signature(ours).parameters
        for argument in inspect.signature(getattr(theirs, name)).parameters:
            if argument in has or argument in ("data", "cluster_data", "kwargs"):
                continue
            with pytest.raises(
                InputError, match=f"no argument {argument}=; (did you mean|.*leave it out|.*give|.*may)"
            ):
                ours(*given, **{argument: 1})
