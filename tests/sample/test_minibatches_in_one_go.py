"""All hops of minibatches in one go: the batches that neighbour sampling draws hop by hop, in any order of threads."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import EmulatedCuda, stand_in
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.errors import OverBudget
from graphdask.sample import NeighborLoader
from graphdask.sample.minibatch_traversal import MinibatchTraversal
from graphdask.sample.tuning import SAMPLE

OPTIONS = (
    ([3, 2, 4], {}),
    ([20, 1], {"seed": 2**63 + 9}),
    ([40, 2], {"replace": True}),
    ([3, 0, 2], {}),
    ([], {}),
    ([5, 3], {"bias": "weight"}),
    ([2, 3], {"bias": "degree", "replace": True}),
    ([4, 2], {"method": "repeated"}),
    ([4, 3], {"bias": "weight", "method": "updated"}),
)
SHAPES = ("star outward", "duplicates both ways", "only self-loops", "no edges", "short path", "one vertex")


def hubs():
    """Rows longer than what is drawn, and isolated vertices."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(100, np.int64), rng.integers(0, 80, 400), np.full(60, 7)])
    return 90, src, rng.integers(0, 80, len(src)), True


def on_device(made, device, monkeypatch, seed=0, **how):
    if device == "emulated":
        stand_in(monkeypatch, EmulatedCuda(seed, most_blocks=8, preemptive=seed % 2 == 0))
    return made.partition(1, device="cpu" if device == "cpu" else "cuda", **how)


@pytest.fixture
def only_in_one_go(fault):
    fault(MinibatchTraversal, "superstep", AssertionError("drawn hop by hop"))


def host(array):
    return array if isinstance(array, np.ndarray) else array.get()


def check(loader, expected, direction):
    """Batches are the instances of neighbour sampling."""
    edges, at = expected.graph.edges(), 0
    for number, batch in enumerate(loader):
        theirs, index = expected.subgraph(number), host(batch.edge_index)
        row, col = index if direction == "out" else index[::-1]
        nodes, e_id = host(batch.n_id), host(batch.e_id)
        np.testing.assert_array_equal(nodes, theirs.nodes)
        np.testing.assert_array_equal(row, theirs.row)
        np.testing.assert_array_equal(col, theirs.col)
        assert tuple(batch.num_sampled_nodes) == theirs.sizes
        hops = len(batch.num_sampled_edges)
        assert np.repeat(range(hops), batch.num_sampled_edges).tolist() == theirs.hop.tolist()
        np.testing.assert_array_equal(edges.src[e_id], nodes[index[0] if direction == "in" else row])
        np.testing.assert_array_equal(edges.dst[e_id], nodes[index[1] if direction == "in" else col])
        at += len(e_id)
    assert at == len(expected.src)


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("make", [*(pytest.param(GRAPHS[name], id=name) for name in SHAPES), hubs])
def test_the_batches_of_neighbour_sampling(make, device, monkeypatch, only_in_one_go, tuned):
    n, src, dst, _ = make()[:4]
    weights = np.random.default_rng(9).integers(0, 5, len(src))
    on_cpu = gd.from_edges(src, dst, weights, num_vertices=n).partition(1, device="cpu")
    order = np.random.default_rng(4).permutation(n)
    size = max(n // 4, 1)
    for number, (fanouts, options) in enumerate(OPTIONS):
        direction = ("in", "out")[number % 2]
        on_it = on_device(on_cpu, device, monkeypatch, number, id_width=(32, 64)[number % 3 == 1])
        # one launch; one for each batch
        tuned(SAMPLE, minibatch_vertices=(1 << 25, size * 85)[number % 4 == 0])
        loader = NeighborLoader(on_it, fanouts, order, batch_size=size, direction=direction, **options)
        expected = gd.sample.neighbors(
            on_cpu, np.split(order, range(size, n, size)), fanouts, direction=direction, **options
        )
        check(loader, expected, direction)


@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_what_would_take_too_much_goes_hop_by_hop(device, monkeypatch, tuned, watched):
    n, src, dst, _ = hubs()
    on_cpu = gd.from_edges(src, dst, num_vertices=n).partition(1, device="cpu")
    on_gpu = on_device(on_cpu, device, monkeypatch)
    asked = watched(MinibatchTraversal, "superstep")
    for fanouts, group in (([33], 1 << 25), ([-1, 2], 1 << 25), ([1] * 9, 1 << 25), ([4, 3], 200)):
        tuned(SAMPLE, minibatch_vertices=group)
        one, other = (list(NeighborLoader(of, fanouts, batch_size=20)) for of in (on_cpu, on_gpu))
        assert asked, fanouts
        asked.clear()
        for mine, theirs in zip(other, one, strict=True):
            np.testing.assert_array_equal(mine.n_id.get(), theirs.n_id)
            np.testing.assert_array_equal(mine.edge_index.get(), theirs.edge_index)


def test_room_is_announced(monkeypatch, free_memory):
    """What a launch has room for, before it is taken."""
    n, src, dst, _ = hubs()
    on_gpu = on_device(gd.from_edges(src, dst, num_vertices=n), "emulated", monkeypatch)
    sampler = MinibatchTraversal(np.arange(n), np.array([0, n]), [30, 30, 30])
    result = execute.sample(on_gpu, sampler, "replicated", progress=False)
    assert result.parts.summary[0].memory >= 68 * n * (1 + 30 + 900 + 27000)
    free_memory(1 << 24, "cuda")
    with pytest.raises(OverBudget, match="neighbour sampling needs about"):
        list(NeighborLoader(on_gpu, [30, 30, 30], batch_size=n, placement="replicated"))


@pytest.mark.gpu
def test_the_same_of_many_on_a_gpu():
    """Launches of many blocks, hubs that all instances reach, tables that are full of other instances."""
    rng, n = np.random.default_rng(8), 1 << 17
    src = np.concatenate([np.zeros(1 << 18, np.int64), rng.integers(0, n // 2, 1 << 21)])
    weights = rng.integers(0, 100, len(src))
    made = gd.from_edges(src, rng.integers(0, n, len(src)), weights, num_vertices=n, directed=False)
    on_cpu, on_gpu = (made.partition(1, device=device) for device in ("cpu", "cuda"))
    for size, fanouts, options in (
        (1000, [15, 10, 5], {"batches_per_run": 20}),
        (1000, [15, 10], {"bias": "weight"}),
        (1, [10, 10], {}),
        (20_000, [10, 10], {"replace": True}),
    ):
        given = rng.permutation(n)[: min(20 * size + size // 2, n)]
        one, other = (NeighborLoader(of, fanouts, given, batch_size=size, **options) for of in (on_cpu, on_gpu))
        for mine, theirs in zip(other, one, strict=True):
            for name in ("n_id", "edge_index", "e_id"):
                np.testing.assert_array_equal(getattr(mine, name).get(), getattr(theirs, name))
            assert mine.num_sampled_nodes == theirs.num_sampled_nodes
            assert mine.num_sampled_edges == theirs.num_sampled_edges
