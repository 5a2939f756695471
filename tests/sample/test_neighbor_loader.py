"""Minibatches: what a batch holds, which batches an epoch has, and how the loader ends."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.errors import InputError, MissingDependency, OverBudget, VertexNotFound
from graphdask.sample import NeighborLoader
from graphdask.sample.tuning import SAMPLE

ARRAYS = ("n_id", "edge_index", "e_id", "input_id")
N = 60
PAIRS = np.unique(np.random.default_rng(5).integers(0, N * N, 260))
SRC, DST = PAIRS // N, PAIRS % N
INPUT = np.random.default_rng(6).permutation(N)[:37]


@pytest.fixture(scope="module")
def graph():
    return gd.from_edges(SRC, DST, num_vertices=N)


@pytest.fixture(scope="module")
def weighted():
    """With parallel edges, and weights of which some are 0."""
    src, dst = np.concatenate([SRC, SRC[:90]]), np.concatenate([DST, DST[:90]])
    return gd.from_edges(src, dst, np.random.default_rng(7).integers(0, 4, len(src)), num_vertices=N)


def reported(batches):
    return [
        [getattr(batch, name).tolist() for name in ARRAYS]
        + [batch.batch_size, batch.num_sampled_nodes, batch.num_sampled_edges]
        for batch in batches
    ]


def test_a_batch_by_hand():
    #    a <- b <- d    the messages that reach a in two hops; d is reached by both ways
    #    a <- c <- d
    G = gd.from_edges(["b", "c", "d", "d", "a"], ["a", "a", "b", "c", "d"])
    (batch,) = NeighborLoader(G, [-1, -1], input_nodes=["a"])
    assert batch.n_id.tolist() == ["a", "b", "c", "d"]
    assert batch.edge_index.tolist() == [[1, 2, 3, 3], [0, 0, 1, 2]]
    assert batch.e_id.tolist() == [0, 1, 2, 3]  # as they stand above
    assert (batch.num_sampled_nodes, batch.num_sampled_edges) == ([1, 2, 1], [2, 2])
    assert (batch.batch_size, batch.num_nodes, batch.input_id.tolist()) == (1, 4, [0])
    (batch,) = NeighborLoader(G, [-1], input_nodes=["a", "d"], batch_size=2, direction="out")
    assert batch.n_id.tolist() == ["a", "d", "b", "c"]
    assert batch.edge_index.tolist() == [[0, 1, 1], [1, 2, 3]]


def test_with_all_neighbours_a_batch_is_what_can_reach_its_seeds(graph):
    g = nx.DiGraph(zip(DST.tolist(), SRC.tolist(), strict=True))  # reversed
    g.add_nodes_from(range(N))
    batches = list(NeighborLoader(graph, [-1, -1], INPUT, batch_size=5))
    assert [batch.batch_size for batch in batches] == [5] * 7 + [2]
    assert np.concatenate([batch.input_id for batch in batches]).tolist() == list(range(37))
    for batch in batches:
        seeds = batch.n_id[: batch.batch_size]
        assert seeds.tolist() == INPUT[batch.input_id].tolist()
        depth = nx.multi_source_dijkstra_path_length(g, set(seeds.tolist()), cutoff=2)
        assert sorted(batch.n_id.tolist()) == sorted(depth)
        assert [depth[v] for v in batch.n_id.tolist()] == np.repeat([0, 1, 2], batch.num_sampled_nodes).tolist()
        ends = batch.n_id[batch.edge_index]
        assert {tuple(pair) for pair in ends.T.tolist()} == {(v, u) for u, v in g.edges if depth.get(u, 2) < 2}
        assert (SRC[batch.e_id] == ends[0]).all()
        assert (DST[batch.e_id] == ends[1]).all()
        assert sum(batch.num_sampled_edges) == len(batch.e_id) == len(set(batch.e_id.tolist()))


def test_batches_are_instances_of_neighbour_sampling(graph):
    loader = NeighborLoader(graph, [3, 2], INPUT, batch_size=5, shuffle=True, seed=2**64 - 4)
    epochs = [list(loader) for _ in range(2)]
    for batches in epochs:
        assert sorted(np.concatenate([batch.input_id for batch in batches]).tolist()) == list(range(37))
    batches = epochs[0] + epochs[1]
    seeds = [INPUT[batch.input_id] for batch in batches]
    whole = gd.sample.neighbors(graph, seeds, [3, 2], direction="in", seed=2**64 - 4)
    for number, batch in enumerate(batches):
        expected = whole.subgraph(number)
        assert batch.n_id.tolist() == expected.nodes.tolist()
        assert batch.edge_index.tolist() == [expected.col.tolist(), expected.row.tolist()]
        assert tuple(batch.num_sampled_nodes) == expected.sizes


@pytest.mark.parametrize("name", ["scale-free", "duplicates both ways", "star outward", "only self-loops", "no edges"])
def test_batches_drawn_in_one_go_are_those_of_neighbour_sampling(name, tuned):
    """Also where no room is left, and where a batch alone is larger than the room."""
    n, src, dst, directed = GRAPHS[name]()
    whole, order = gd.from_edges(src, dst, num_vertices=n, directed=directed), np.random.default_rng(4).permutation(n)
    for options in ({"num_neighbors": [3, 2, -1]}, {"num_neighbors": [40, 3], "replace": True}, {"num_neighbors": []}):
        loader = NeighborLoader(whole, input_nodes=order, batch_size=max(n // 5, 1), direction="out", seed=3, **options)
        seeds = np.split(order, range(loader.batch_size, n, loader.batch_size))
        fanouts, replace = options["num_neighbors"], options.get("replace", False)
        expected = gd.sample.neighbors(whole, seeds, fanouts, replace=replace, seed=3)
        for room in (1, 1 << 21):
            tuned(SAMPLE, minibatch_edges=room)
            loader.epoch, at = 0, 0
            for number, batch in enumerate(loader):
                theirs = expected.subgraph(number)
                assert batch.n_id.tolist() == theirs.nodes.tolist()
                assert batch.edge_index.tolist() == [theirs.row.tolist(), theirs.col.tolist()]
                assert tuple(batch.num_sampled_nodes) == theirs.sizes
                assert np.repeat(range(len(fanouts)), batch.num_sampled_edges).tolist() == theirs.hop.tolist()
                at += len(batch.e_id)
            assert at == len(expected.src)


def test_epochs_differ_and_come_again(graph):
    options = {"batch_size": 8, "shuffle": True, "drop_last": True}
    loader = NeighborLoader(graph, [2], **options)
    assert len(loader) == 7
    first, second = reported(loader), reported(loader)
    assert loader.epoch == 2
    assert first != second
    assert len(first) == 7
    loader.epoch = 1
    assert reported(loader) == second
    assert reported(NeighborLoader(graph, [2], **options)) == first
    assert reported(NeighborLoader(graph, [2], seed=1, **options)) != first
    order = np.concatenate([row[3] for row in first])
    keys = np.random.Philox(key=np.array([0, 0x4E4C], np.uint64), counter=np.zeros(4, np.uint64)).random_raw(N)
    assert order.tolist() == np.argsort(keys)[:56].tolist()


@pytest.mark.parametrize(
    "options", [{}, {"bias": "weight"}, {"bias": "degree", "replace": True}, {"direction": "out", "bias": "weight"}]
)
def test_batches_are_the_same_wherever_they_are_drawn(weighted, options):
    options = {"batch_size": 4, "shuffle": True, **options}
    expected = reported(NeighborLoader(weighted, [3, 2], prefetch=0, batches_per_run=1, **options))
    assert reported(NeighborLoader(weighted, [3, 2], batches_per_run=4, prefetch=2, **options)) == expected
    for batch in (None, 3):
        where = gd.sample.Streamed(partitions=4, resident=2, batch=batch)
        assert reported(NeighborLoader(weighted, [3, 2], batches_per_run=7, placement=where, **options)) == expected
    for by in ("range", "random"):
        H = weighted.partition(3, by=by)
        assert reported(NeighborLoader(H, [3, 2], batches_per_run=6, placement="partitioned", **options)) == expected


def test_edge_numbers_tell_parallel_edges_apart(weighted):
    (batch,) = NeighborLoader(weighted, [-1], batch_size=N)
    assert sorted(batch.e_id.tolist()) == list(range(weighted.num_edges))
    (batch,) = NeighborLoader(weighted, [40], batch_size=N, bias="weight")
    ends, weights = np.array([batch.n_id[row] for row in batch.edge_index]), weighted.edges().weights
    src, dst = weighted.edges()[:2]
    assert (src[batch.e_id] == ends[0]).all()
    assert (dst[batch.e_id] == ends[1]).all()
    assert sorted(batch.e_id.tolist()) == np.flatnonzero(weights).tolist()


def reported_on_host(batches):
    return [[batch.n_id.get().tolist(), batch.edge_index.get().tolist()] for batch in batches]


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_batch_stays_on_the_gpu_and_is_the_same(weighted, monkeypatch, device):
    options = {"batch_size": 7, "batches_per_run": 3, "x": np.arange(N) * 2}
    expected = list(NeighborLoader(weighted, [3, 40], INPUT, bias="weight", **options))
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    H = weighted.partition(device="cuda")
    found = list(NeighborLoader(H, [3, 40], INPUT, bias="weight", **options))
    lonely = gd.from_edges([0], [0], num_vertices=3).partition(device="cuda")
    assert reported_on_host(NeighborLoader(lonely, [], batch_size=2)) == [[[0, 1], [[], []]], [[2], [[], []]]]
    assert reported_on_host(NeighborLoader(lonely, [1], [1, 2])) == [[[1], [[], []]], [[2], [[], []]]]
    for mine, theirs in zip(found, expected, strict=True):
        for name in ARRAYS:
            assert not isinstance(getattr(mine, name), np.ndarray)
            assert getattr(mine, name).get().tolist() == getattr(theirs, name).tolist()
        assert mine.num_sampled_nodes == theirs.num_sampled_nodes
        assert mine.num_sampled_edges == theirs.num_sampled_edges
        assert mine.x.tolist() == theirs.x.tolist()


@pytest.mark.parametrize("placement", ["replicated", "partitioned", "streamed"])
def test_disjoint_seeds_are_instances_of_their_own(graph, placement):
    again = np.concatenate([INPUT, INPUT[:3]])
    divided = graph.partition(3, device="cpu")
    loader = NeighborLoader(
        divided, [3, 2], again, batch_size=6, shuffle=True, disjoint=True, seed=5, placement=placement
    )  # fmt: skip
    batches = [*loader, *loader]
    places = np.concatenate([batch.input_id for batch in batches])
    whole = gd.sample.neighbors(graph, again[places], [3, 2], direction="in", seed=5)
    first = 0
    for batch in batches:
        for number in range(batch.batch_size):
            expected, mine = whole.subgraph(first + number), np.flatnonzero(batch.batch == number)
            assert batch.n_id[mine].tolist() == expected.nodes.tolist()
            ends = batch.edge_index[:, batch.batch[batch.edge_index[1]] == number]
            assert np.searchsorted(mine, ends).tolist() == [expected.col.tolist(), expected.row.tolist()]
        assert (SRC[batch.e_id] == batch.n_id[batch.edge_index[0]]).all()
        first += batch.batch_size


def test_attributes_are_looked_up_and_transformed(graph):
    x, y = np.arange(3 * N, dtype=np.float32).reshape(N, 3), np.arange(N) % 5
    for prefetch in (0, 1):
        loader = NeighborLoader(
            graph, [2], INPUT, batch_size=9, x=x, y=y, prefetch=prefetch, transform=lambda batch: (batch, "seen")
        )
        for batch, word in loader:
            assert word == "seen"
            assert (batch.x == x[batch.n_id]).all()
            assert (batch.y == batch.n_id % 5).all()
    assert "x=[" in repr(batch)
    assert repr(loader) == "<NeighborLoader: 5 batches of 9 of 37 vertices, neighbours [2]>"


def test_input_vertices_are_all_or_some_or_masked():
    G = gd.from_edges([10, 20, 30], [20, 30, 10])
    for given, expected in ((None, [10, 20, 30]), ([30, 10], [30, 10]), (np.array([False, True, True]), [20, 30])):
        batches = list(NeighborLoader(G, [], given))
        assert [batch.n_id.tolist() for batch in batches] == [[v] for v in expected]
    assert list(NeighborLoader(G, [1], [])) == []
    assert list(NeighborLoader(gd.from_edges([], []), [1])) == []


def loading_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("graphdask-loader")]


def test_a_pass_that_is_left_ends_its_threads_and_has_drawn_no_more_than_it_may(graph, watched):
    drawn = watched(execute, "sample")
    iterator = iter(NeighborLoader(graph, [2], batches_per_run=1, prefetch=2))
    for _ in range(4):
        next(iterator)
    iterator.close()
    assert not loading_threads()
    assert 4 <= len(drawn) <= 4 + 1 + 2 + 1  # used, ahead of its use, prepared, and being drawn
    for batch in NeighborLoader(graph, [2], batches_per_run=2):
        assert batch.batch_size == 1
        break
    del batch
    drawn.clear()
    list(NeighborLoader(graph, [2], batches_per_run=20))
    assert len(drawn) == 3
    assert not loading_threads()


def test_an_error_comes_to_who_asks_for_the_batch(graph, fault):
    fault(execute, "sample", OverBudget("too much"))
    with pytest.raises(OverBudget, match="too much"):
        next(iter(NeighborLoader(graph, [2])))
    assert not loading_threads()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_neighbors": 3}, "num_neighbors=3 is not a sequence"),
        ({"num_neighbors": [-2]}, r"num_neighbors\[0\]=-2"),
        ({"num_neighbors": [-1], "replace": True}, "replace=True a number"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"shuffle": 1}, "shuffle=1"),
        ({"prefetch": -1}, "prefetch=-1"),
        ({"batches_per_run": 0}, "batches_per_run=0"),
        ({"output": "tensors"}, "output='tensors' is not one of arrays, torch, pyg"),
        ({"transform": 3}, "transform=3 cannot be called"),
        ({"x": np.zeros((3, 2))}, r"x has the shape \(3, 2\); it has a row for each of 60"),
        ({"y": [1, 2]}, r"y has the shape \(2,\); it has a row for each of 60"),
        ({"y": {1, 2}}, "y is a set"),
        ({"input_nodes": [4, 7, 4]}, "input_nodes has 4 twice, at places 0 and 2"),
        ({"input_nodes": np.array([True])}, "input_nodes has 1 elements of bool"),
        ({"input_nodes": [[1]]}, "input_nodes has 2 dimensions"),
        ({"bias": "weight"}, "no weights"),
        ({"placement": "here"}, "placement='here'"),
    ],
)
def test_arguments_without_meaning_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        NeighborLoader(graph, **{"num_neighbors": [2], **options})


def test_an_input_vertex_that_is_none_is_named(graph):
    with pytest.raises(VertexNotFound, match="input node 60 is not in the graph"):
        NeighborLoader(graph, [2], [1, 60])


def test_torch_is_asked_for_only_where_it_is_needed(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert len(list(NeighborLoader(graph, [2], batch_size=30))) == 2
    with pytest.raises(MissingDependency, match="output='torch' needs torch"):
        NeighborLoader(graph, [2], output="torch")
    taken = []
    monkeypatch.setitem(
        sys.modules, "torch", SimpleNamespace(from_dlpack=lambda a: taken.append(a) or np.from_dlpack(a))
    )
    (batch,) = NeighborLoader(graph, [2], batch_size=N, output="torch", x=np.ones((N, 2)))
    assert all(map(np.shares_memory, taken, (batch.n_id, batch.edge_index, batch.e_id)))
    assert len(taken) == 5
    with pytest.raises(InputError, match="those of this graph are strings"):
        NeighborLoader(gd.from_edges(["a"], ["b"]), [1], output="torch")


@pytest.mark.learn
def test_tensors_have_the_values_of_the_arrays(graph):
    torch = pytest.importorskip("torch")
    x = torch.arange(N * 2).reshape(N, 2)
    options = {"batch_size": 6, "x": x, "y": np.arange(N)}
    for tensors, arrays in zip(
        NeighborLoader(graph, [3, 2], output="torch", **options), NeighborLoader(graph, [3, 2], **options), strict=True
    ):
        for name in ARRAYS:
            assert getattr(tensors, name).dtype == torch.int64
            assert getattr(tensors, name).tolist() == getattr(arrays, name).tolist()
        assert tensors.x.equal(x[tensors.n_id])
        assert tensors.y.equal(tensors.n_id)


@pytest.mark.gpu
def test_tensors_of_a_graph_on_a_gpu_are_there_too(graph):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    expected = list(NeighborLoader(graph, [3, 2], batch_size=20))
    x = torch.arange(N, device="cuda")
    found = NeighborLoader(graph.partition(device="cuda"), [3, 2], batch_size=20, output="torch", x=x)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.edge_index.is_cuda
        assert mine.edge_index.tolist() == theirs.edge_index.tolist()
        assert mine.x.equal(mine.n_id)


@pytest.mark.learn
def test_data_of_pytorch_geometric_have_what_its_own_loader_gives(graph):
    pytest.importorskip("torch_geometric")
    for batch in NeighborLoader(graph, [-1, -1], INPUT, batch_size=6, output="pyg", x=np.ones((N, 2))):
        assert set(batch.keys()) == {
            "x", "edge_index", "n_id", "e_id", "num_nodes", "batch_size", "input_id", "num_sampled_nodes",
            "num_sampled_edges",
        }  # fmt: skip
        batch.validate(raise_on_error=True)


@pytest.mark.slow
def test_workers_of_a_cluster_draw_the_same_batches(two_workers, graph):
    expected = reported(NeighborLoader(graph, [3, 2], batch_size=8))
    for placement in ("replicated", "partitioned"):
        loader = NeighborLoader(
            graph.partition(), [3, 2], batch_size=8, batches_per_run=3, placement=placement, client=two_workers
        )
        assert reported(loader) == expected
