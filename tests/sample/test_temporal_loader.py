"""Minibatches in time: no edge is later than its seed, what a seed sees is all there is, the same bits everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, Unsupported
from graphdask.sample import NeighborLoader

RNG = np.random.default_rng(11)
N = 40
SRC, DST, TIMES = RNG.integers(0, N, 300), RNG.integers(0, N, 300), RNG.integers(0, 50, 300)
INPUT, INPUT_TIME = RNG.integers(0, N, 23), RNG.integers(-5, 55, 23)
"""With vertices that are there again."""
ARRAYS = ("n_id", "edge_index", "e_id", "input_id", "batch", "seed_time")


@pytest.fixture(scope="module")
def graph():
    return gd.from_edges(SRC, DST, TIMES, num_vertices=N)


def reported(batches):
    return [
        [getattr(batch, name).tolist() for name in ARRAYS]
        + [batch.batch_size, batch.num_sampled_nodes, batch.num_sampled_edges]
        for batch in batches
    ]


def seen(seed, limit, hops):
    """By brute force: (time, source, destination) of the edges that lead to a seed until a time, and the distances."""
    near, edges = {seed: 0}, []
    for hop in range(hops):
        for v in [v for v, distance in near.items() if distance == hop]:
            for k in np.flatnonzero((v == DST) & (limit >= TIMES)):
                edges.append((TIMES[k], SRC[k], v))
                near.setdefault(SRC[k], hop + 1)
    return sorted(edges), near


@pytest.mark.parametrize("options", [{}, {"temporal_strategy": "last"}])
def test_with_all_neighbours_every_seed_has_what_it_sees(graph, options):
    loader = NeighborLoader(graph, [-1, -1], INPUT, batch_size=5, input_time=INPUT_TIME, **options)
    batches = list(loader)
    assert [batch.batch_size for batch in batches] == [5, 5, 5, 5, 3]
    assert np.concatenate([batch.input_id for batch in batches]).tolist() == list(range(23))
    for batch in batches:
        seeds = batch.n_id[: batch.batch_size]
        assert seeds.tolist() == INPUT[batch.input_id].tolist()
        assert batch.seed_time.tolist() == INPUT_TIME[batch.input_id].tolist()
        edge, (source, end) = batch.e_id, batch.edge_index
        assert (SRC[edge] == batch.n_id[source]).all()
        assert (DST[edge] == batch.n_id[end]).all()
        assert (batch.batch[source] == batch.batch[end]).all()
        assert (TIMES[edge] <= batch.seed_time[batch.batch[end]]).all()
        hops = np.repeat([0, 1, 2], batch.num_sampled_nodes)
        steps = list(zip(hops.tolist(), batch.batch.tolist(), strict=True))
        assert steps == sorted(steps)
        assert (hops[end] == np.repeat([0, 1], batch.num_sampled_edges)).all()
        for number, (seed, limit) in enumerate(zip(seeds.tolist(), batch.seed_time.tolist(), strict=True)):
            edges, near = seen(seed, limit, 2)
            mine, of_mine = batch.batch == number, batch.batch[end] == number
            assert dict(zip(batch.n_id[mine].tolist(), hops[mine].tolist(), strict=True)) == near
            found = zip(TIMES[edge[of_mine]], *batch.n_id[batch.edge_index[:, of_mine]], strict=True)
            assert sorted(found) == edges


def test_the_latest_are_the_latest(graph):
    (batch,) = NeighborLoader(
        graph, [3], INPUT, batch_size=23, input_time=INPUT_TIME, temporal_strategy="last"
    )  # fmt: skip
    for number, (seed, limit) in enumerate(zip(INPUT, INPUT_TIME, strict=True)):
        mine = batch.batch[batch.edge_index[1]] == number
        latest = [time for time, *_ in seen(seed, limit, 1)[0]][-3:]
        assert sorted(TIMES[batch.e_id[mine]].tolist()) == latest


def test_seeds_are_instances_of_temporal_sampling(graph):
    loader = NeighborLoader(
        graph, [3, 2], INPUT, batch_size=4, input_time=INPUT_TIME, shuffle=True, drop_last=True, seed=9
    )  # fmt: skip
    batches = [*loader, *loader]
    places = np.concatenate([batch.input_id for batch in batches])
    assert len(places) == 40
    whole = gd.sample.temporal_neighbors(
        graph, INPUT[places], [3, 2], seed_times=INPUT_TIME[places], direction="in", seed=9
    )
    for b, batch in enumerate(batches):
        for number in range(4):
            expected, mine = whole.subgraph(4 * b + number), np.flatnonzero(batch.batch == number)
            assert batch.n_id[mine].tolist() == expected.nodes.tolist()
            ends = batch.edge_index[:, batch.batch[batch.edge_index[1]] == number]
            assert np.searchsorted(mine, ends).tolist() == [expected.col.tolist(), expected.row.tolist()]


@pytest.mark.parametrize("options", [{}, {"temporal_strategy": "last", "direction": "out"}])
def test_batches_are_the_same_wherever_they_are_drawn(graph, options):
    options = {"batch_size": 4, "shuffle": True, "input_time": INPUT_TIME, **options}
    expected = reported(NeighborLoader(graph, [3, 2], INPUT, prefetch=0, batches_per_run=1, **options))
    assert reported(NeighborLoader(graph, [3, 2], INPUT, batches_per_run=4, **options)) == expected
    bare = gd.from_edges(SRC, DST, num_vertices=N)
    assert reported(NeighborLoader(bare, [3, 2], INPUT, times=TIMES, **options)) == expected
    for placement in ("partitioned", "replicated", "streamed"):
        parts = graph.partition(3, by="random", device="cpu")
        assert reported(NeighborLoader(parts, [3, 2], INPUT, placement=placement, **options)) == expected


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_batches_of_a_gpu_are_the_same_and_stay_there(graph, monkeypatch, device):
    options = {"batch_size": 4, "input_time": INPUT_TIME, "batches_per_run": 3, "x": np.arange(N) * 2}
    kinds = [{"temporal_strategy": strategy} for strategy in ("uniform", "last")]
    expected = [list(NeighborLoader(graph, [3, 2], INPUT, **options, **kind)) for kind in kinds]
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    on_gpu = graph.partition(1, device="cuda")
    for kind, theirs in zip(kinds, expected, strict=True):
        found = list(NeighborLoader(on_gpu, [3, 2], INPUT, **options, **kind))
        assert not isinstance(found[0].batch, np.ndarray)
        assert reported(found) == reported(theirs)
        assert [batch.x.tolist() for batch in found] == [(2 * batch.n_id).tolist() for batch in theirs]


def test_a_loader_without_edges_or_hops():
    lonely = gd.from_edges([0], [0], num_vertices=3)
    for fanouts in ([], [2]):
        loader = NeighborLoader(lonely, fanouts, [1, 2, 1], batch_size=2, times=[1.5], input_time=1)
        assert [batch.n_id.tolist() for batch in loader] == [[1, 2], [1]]
        assert [batch.batch.tolist() for batch in loader] == [[0, 1], [0]]
        assert [batch.edge_index.shape for batch in loader] == [(2, 0), (2, 0)]
    assert list(NeighborLoader(lonely, [1], [], times=[1], input_time=[])) == []
    (batch,) = NeighborLoader(lonely, [1], times=[1.5], input_time=[1.5, 0, 0], batch_size=3)
    assert (batch.n_id.tolist(), batch.batch.tolist(), batch.edge_index.tolist()) == ([0, 1, 2], [0, 1, 2], [[0], [0]])


@pytest.mark.learn
def test_data_of_pytorch_geometric_say_whose_each_vertex_is(graph):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    options = {"batch_size": 7, "input_time": INPUT_TIME}
    plain = NeighborLoader(graph, [2, 2], INPUT, **options)
    for found, batch in zip(NeighborLoader(graph, [2, 2], INPUT, output="pyg", **options), plain, strict=True):
        assert isinstance(found, data.Data)
        assert found.validate()
        assert set(found.keys()) == {*ARRAYS, "batch_size", "num_nodes", "num_sampled_nodes", "num_sampled_edges"}
        for name in ARRAYS:
            assert found[name].dtype == torch.int64
            assert found[name].tolist() == getattr(batch, name).tolist()
        assert (found.num_nodes, found.num_edges) == (batch.num_nodes, len(batch.e_id))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_time": [1, 2]}, r"input_time has the shape \(2,\); one for each of the 23 input vertices"),
        ({"input_time": 1.5}, "input_time has the dtype float64; they are whole numbers"),
        ({"input_time": 1, "times": [1]}, r"times has the shape \(1,\)"),
        ({"input_time": float("nan"), "times": np.ones(300)}, "input_time has a NaN"),
        ({"input_time": 1, "bias": "weight"}, "bias='weight' is not for draws in time"),
        ({"input_time": 1, "method": "updated"}, "method='updated' is not for draws in time"),
        ({"input_time": 1, "temporal_strategy": "first"}, "temporal_strategy='first'"),
        ({"input_time": 1, "temporal_strategy": "last", "replace": True}, "leave replace=True out"),
        ({"times": TIMES}, "times says nothing without input_time="),
        ({"temporal_strategy": "last"}, "temporal_strategy='last' says nothing without input_time="),
    ],
)
def test_arguments_without_meaning_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        NeighborLoader(graph, [2], INPUT if "input_time" in options else None, **options)


def test_times_are_not_in_partitions_nor_made_up(graph):
    with pytest.raises(Unsupported, match=r"temporal neighbour sampling of a streamed graph .* partitions=2"):
        NeighborLoader(graph, [2], INPUT, input_time=1, placement=gd.sample.Streamed(partitions=2))
    with pytest.raises(InputError, match="no weights to be read as times"):
        NeighborLoader(gd.from_edges(SRC, DST), [2], input_time=1)
