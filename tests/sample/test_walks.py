"""Random walks: the same bits wherever they are drawn, what happens at the edges, bad input, and proofs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from memory import OTHERS

import graphdask as gd
from graphdask.errors import DeadlineExceeded, InputError, OverBudget, Unsupported, VerificationError, VertexNotFound
from graphdask.sample.tuning import SAMPLE

sample = gd.sample
LENGTH = 21
NAMES = [
    "one vertex", "one vertex with a self-loop", "only self-loops", "duplicates both ways", "isolated vertices",
    "no edges", "star outward", "star inward", "star around the last", "cycle", "short path", "complete",
    "sparse random, directed", "dense random, directed", "scale-free",
]  # fmt: skip
KINDS: dict[str, Callable[..., Any]] = {
    "simple": sample.random_walk,
    "rejection": partial(sample.random_walk, bias="weight", method="rejection"),
    "inverse": partial(sample.random_walk, bias="weight", method="inverse", restart=0.2),
    "alias": partial(sample.random_walk, bias="weight", method="alias"),
    "reservoir": partial(sample.random_walk, bias="weight", method="reservoir", restart=0.1),
    "degree": partial(sample.random_walk, bias="degree"),
    "restart": partial(sample.random_walk_with_restart, p=0.2),
    "jump": partial(sample.random_walk_with_jump, p=0.2),
    "both": partial(sample.random_walk, bias="weight", restart=0.1, jump=0.2),
    "metropolis": sample.metropolis_hastings,
    "node2vec": partial(sample.node2vec, p=2, q=0.5, weighted=False),
    "node2vec, common": partial(sample.node2vec, p=0.5, q=3, weighted=False),
    "node2vec, weighted": partial(sample.node2vec, p=0.25, q=4),
    "node2vec, alias": partial(sample.node2vec, p=3, q=2, method="alias"),
    "node2vec, reservoir": partial(sample.node2vec, p=2, q=0.25, method="reservoir"),
}


def made(name, kind=np.int64):
    n, src, dst, directed = GRAPHS[name]()
    weights = np.random.default_rng(n).integers(0, 5, len(src))
    return gd.from_edges(src, dst, weights.astype(kind), num_vertices=n, directed=directed)


def starts_of(graph):
    return np.random.default_rng(1).integers(0, graph.num_vertices, 17)


def walk(graph, kind, **options):
    if kind == "metropolis":
        graph = graph.to_undirected()
    return KINDS[kind](graph, starts_of(graph), LENGTH, seed=5, **options)


def same(found, expected):
    np.testing.assert_array_equal(found.walks, expected.walks)
    np.testing.assert_array_equal(found.lengths, expected.lengths)
    assert found.walks.dtype == expected.walks.dtype
    assert found.lengths.dtype == np.int32
    found.verify()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_walks_are_the_same_wherever_they_are_drawn(kind, name):
    graph = made(name)
    expected = walk(graph.partition(1, device="cpu"), kind)
    assert expected.walks.shape == (17, LENGTH + 1)
    assert ((expected.walks >= 0).sum(axis=1) == expected.lengths + 1).all()
    expected.verify()
    cases = [(1, "random", "all"), (2, "range", "1-hop"), (3, "random", "all"), (4, "random", "1-hop")]
    cases.append((7, np.arange(graph.num_vertices) % 7, "1-hop"))
    place = NAMES.index(name) + list(KINDS).index(kind)  # so that every kind and every graph meet every case
    for k, placement in enumerate(("partitioned", "replicated", "partitioned")):
        parts, by, ghosts = cases[(place + k) % len(cases)]
        found = walk(graph.partition(parts, by, ghosts, device="cpu"), kind, placement=placement)
        same(found, expected)
        assert found.placement == placement
        assert found.stats.ranks == parts


@pytest.mark.parametrize("kind", KINDS)
def test_walks_are_the_same_on_a_gpu(kind, monkeypatch):
    stand_in(monkeypatch, emulated())
    for name in ("sparse random, directed", "dense random, directed", "scale-free"):
        graph = made(name)
        expected = walk(graph.partition(1, device="cpu"), kind)
        for parts, by, ghosts in ((1, "range", "all"), (3, "random", "1-hop")):
            for placement in ("replicated", "partitioned"):
                if name == "scale-free" or (placement == "partitioned") == (parts > 1):
                    same(walk(graph.partition(parts, by, ghosts, device="cuda"), kind, placement=placement), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_walks_are_the_same_on_a_real_gpu(kind):
    for name in NAMES:
        graph = made(name)
        expected = walk(graph.partition(1, device="cpu"), kind)
        for parts in (1, 3):
            for placement in ("replicated", "partitioned"):
                same(walk(graph.partition(parts, "random", device="cuda"), kind, placement=placement), expected)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "kind", ["rejection", "alias", "reservoir", "node2vec", "node2vec, weighted", "node2vec, reservoir"]
)
def test_64_bit_numbers_give_the_same(kind, device, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = made("dense random, directed", np.float64)
    expected = walk(graph.partition(1, device="cpu"), kind)
    for parts, placement in ((1, "replicated"), (3, "partitioned")):
        found = walk(graph.partition(parts, id_width=64, device=device), kind, placement=placement)
        np.testing.assert_array_equal(found.walks, expected.walks)
        assert found.walks.dtype == np.int64


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("kind", ["simple", "reservoir", "node2vec", "node2vec, reservoir"])
def test_long_walks_take_several_launches(kind, device, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    graph = made("scale-free")
    expected = walk(graph.partition(1, device="cpu"), kind)
    tuned(SAMPLE, walk_launch=(24, 5), walk_steps=1)
    same(walk(graph.partition(1, device=device), kind), expected)
    same(walk(graph.partition(3, device=device), kind, placement="partitioned"), expected)
    assert len(walk(graph.partition(1, device=device), kind).stats) == 1 + 5 * 5
    with pytest.raises(DeadlineExceeded), gd_config(deadline=1e-9):
        walk(graph.partition(1, device=device), kind)


def gd_config(**settings):
    import dask

    return dask.config.set({f"graphdask.{name}": value for name, value in settings.items()})


@pytest.mark.slow
def test_on_a_cluster(two_workers):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    names = np.array([f"v{i:03d}" for i in range(n)])
    weights = np.arange(len(src)) % 4
    graph = gd.from_edges(names[src], names[dst], weights, directed=True)
    some = names[starts_of(graph)]
    alone = gd.from_edges(src, dst, weights, num_vertices=n, directed=True).partition(1, device="cpu")
    for draw in (sample.random_walk, partial(sample.node2vec, p=2, q=0.5)):
        expected = names[draw(alone, starts_of(graph), LENGTH).walks]
        for placement in ("replicated", "partitioned"):
            found = draw(graph, some, LENGTH, placement=placement, client=two_workers)
            np.testing.assert_array_equal(found.verify().walks, expected)


def test_a_walk_ends_where_no_edge_leads_on():
    graph = gd.from_edges([10, 20, 30], [20, 30, 40], weights=[1, 1, 0]).partition(1, device="cpu")
    w = sample.random_walk(graph, [10, 40, 30], 3)
    assert w.walks.tolist() == [[10, 20, 30, 40], [40, -1, -1, -1], [30, 40, -1, -1]]
    assert w.lengths.tolist() == [3, 0, 1]
    for draw in (partial(sample.random_walk, bias="weight"), sample.node2vec):
        assert draw(graph, [10, 30], 3).walks.tolist() == [[10, 20, 30, -1], [30, -1, -1, -1]]
    named = gd.from_edges(["a", "b"], ["b", "c"]).partition(1, device="cpu")
    assert sample.random_walk(named, "b", 2).walks.tolist() == [["b", "c", None]]


def test_where_walks_restart_or_jump_none_ends():
    graph = gd.from_edges([0, 1], [1, 2], num_vertices=5).partition(1, device="cpu")
    back = sample.random_walk_with_restart(graph, [0, 4], 9, 1e-9).walks
    assert back.tolist() == [[0, 1, 2] * 3 + [0], [4] * 10]
    assert (sample.random_walk_with_jump(graph, [3] * 50, 9, 1e-9).lengths == 9).all()
    assert (sample.random_walk_with_restart(graph, [0, 4], 9, 0.0).lengths == [2, 0]).all()
    assert (sample.random_walk_with_restart(graph, [0, 4], 9, 1.0).walks == [[0], [4]]).all()


def test_walks_of_one_start_stand_together_and_differ():
    graph = made("complete").partition(1, device="cpu")
    many = sample.random_walk(graph, [3, 5], 30, walks_per_start=4).walks
    assert many[:, 0].tolist() == [3] * 4 + [5] * 4
    assert len(np.unique(many, axis=0)) == 8
    np.testing.assert_array_equal(many, sample.random_walk(graph, np.repeat([3, 5], 4), 30).walks)


def test_all_64_bits_of_a_seed_count_and_other_seeds_are_refused():
    graph = made("complete").partition(1, device="cpu")
    seeds = (0, 1, 2**32, 2**63, 2**64 - 1)
    assert len({sample.random_walk(graph, [0], 30, seed=seed).walks.tobytes() for seed in seeds}) == len(seeds)
    for seed in (-1, 2**64):
        with pytest.raises(gd.InputError, match=rf"seed={seed} is not a whole number from 0 to 2\*\*64 - 1"):
            sample.random_walk(graph, [0], 30, seed=seed)


def test_nothing_to_do():
    graph = made("complete").partition(2, device="cpu")
    for placement in ("replicated", "partitioned"):
        for draw in (sample.random_walk, partial(sample.node2vec, q=2)):
            assert draw(graph, [4, 5], 0, placement=placement).verify().walks.tolist() == [[4], [5]]
            assert draw(graph, [], 3, placement=placement).verify().walks.shape == (0, 4)
    empty = gd.from_edges([], [], num_vertices=0).partition(1, device="cpu")
    assert sample.random_walk(empty, [], 2).walks.shape == (0, 3)


def test_node2vec_with_p_and_q_of_one_is_a_first_order_walk():
    graph = made("scale-free").partition(1, device="cpu")
    for bias, method in ((None, "auto"), ("weight", "rejection"), ("weight", "alias")):
        plain = sample.random_walk(graph, starts_of(graph), LENGTH, bias=bias, method=method)
        second = sample.node2vec(graph, starts_of(graph), LENGTH, weighted=bias is not None, method=method)
        np.testing.assert_array_equal(second.walks, plain.walks)


BAD = [
    ({"starts": 99}, VertexNotFound, "start 99 is not in the graph"),
    ({"starts": [0, -1]}, VertexNotFound, "start -1"),
    ({"starts": [0.5]}, InputError, "0.5 is not a whole number"),
    ({"starts": [[0, 1]]}, InputError, r"starts must be one vertex or a list of them.*\(1, 2\)"),
    ({"length": -1}, InputError, "length=-1"),
    ({"length": 2.5}, InputError, "length=2.5 is not a whole number"),
    ({"length": 2**31}, InputError, "length=2147483648"),
    ({"walks_per_start": 0}, InputError, "walks_per_start=0"),
    ({"seed": 1.5}, InputError, "seed=1.5"),
    ({"placement": "nowhere"}, InputError, "placement='nowhere'"),
    ({"method": "guess"}, InputError, "method='guess'"),
    ({"method": "alias"}, InputError, "method='alias'"),
    (
        {"bias": "weight", "method": "reservoir", "placement": "streamed"},
        Unsupported,
        "reads all edges of a vertex at each step",
    ),
    ({"bias": "weight"}, InputError, "no weights"),
    ({"bias": "love"}, InputError, "bias='love'"),
    ({"restart": 1.5}, InputError, "restart=1.5"),
    ({"jump": float("nan")}, InputError, "jump=nan"),
    ({"restart": 0.6, "jump": 0.6}, InputError, "together above 1"),
    ({"client": 3}, InputError, "client=3"),
]
BAD_SECOND = [
    ({"p": 0}, InputError, "p=0"),
    ({"q": -1.0}, InputError, "q=-1.0"),
    ({"q": float("nan")}, InputError, "q=nan"),
    ({"p": "big"}, InputError, "p='big'"),
    ({"p": True}, InputError, "p=True"),
    ({"p": 2.0**21}, InputError, "2\\*\\*20"),
    ({"weighted": 1}, InputError, "weighted=1"),
    ({"weighted": True}, InputError, "no weights"),
    ({"starts": 99}, VertexNotFound, "start 99"),
    ({"length": -1}, InputError, "length=-1"),
    ({"placement": "nowhere"}, InputError, "placement='nowhere'"),
]


@pytest.mark.parametrize(
    ("draw", "wrong", "error", "message"),
    [(sample.random_walk, *bad) for bad in BAD] + [(sample.node2vec, *bad) for bad in BAD_SECOND],
)
def test_bad_input(draw, wrong, error, message):
    graph = gd.from_edges([0, 1], [1, 0], num_vertices=3)
    with pytest.raises(error, match=message):
        draw(graph, **{"starts": 0, "length": 3, **wrong})
    assert graph.built is None
    assert graph.replicas is None


@pytest.mark.parametrize("draw", [partial(sample.random_walk, bias="weight"), sample.node2vec])
def test_weights_that_are_no_biases(draw):
    for weights, message in (
        ([1.0, -2.0], r"weight -2\.0 of the edge from 20 to 10"),
        ([np.inf, 1.0], "weight inf of the edge from 10 to 20"),
    ):
        with pytest.raises(InputError, match=message):
            draw(gd.from_edges([10, 20], [20, 10], weights=weights), 10, 3)


def test_other_bad_input():
    for draw in (sample.random_walk, sample.metropolis_hastings, sample.node2vec):
        with pytest.raises(InputError, match="not a Graph"):
            draw(3, 0, 2)
    with pytest.raises(InputError, match="undirected"):
        sample.metropolis_hastings(gd.from_edges([0], [1]), 0, 2)
    for draw in (sample.random_walk_with_jump, sample.random_walk_with_restart):
        with pytest.raises(InputError, match=r"p=-0\.5"):
            draw(gd.from_edges([0], [1]), 0, 2, -0.5)


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_walks_that_memory_is_too_small_for_are_refused(placement):
    graph = gd.from_edges([0, 1], [1, 0]).partition(2, device="cpu")
    with pytest.raises(OverBudget, match="random walk needs about"):
        sample.random_walk(graph, [0, 1], 2**31 - 100, walks_per_start=10_000, placement=placement)


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_tables_of_biases_are_kept(placement):
    graph = made("scale-free").partition(2, device="cpu")
    walks = [walk(graph, kind, placement=placement) for kind in ("alias", "alias", "node2vec, alias")]
    tables = [found.built.parts[0].tables.get(("edge biases", "weight", "alias")) for found in walks]
    assert tables[0] is tables[1] is tables[2]
    assert walks[1].stats.memory < walks[0].stats.memory


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("kind", ["simple", "alias", "node2vec"])
@pytest.mark.usefixtures("alone")
def test_memory_is_announced(kind, parts, placement):
    graph = made("scale-free").partition(parts, "random", device="cpu")
    starts = np.arange(30_000) % graph.num_vertices
    KINDS[kind](graph, starts[:5], 2, placement=placement)  # what stays is made
    tracemalloc.start()
    try:
        found = KINDS[kind](graph, starts, 40, placement=placement)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * parts * found.stats.memory < peak < 1.1 * parts * found.stats.memory + OTHERS


def planted(walks, /, **columns):
    """The walks with other values."""
    for rank in range(len(walks.parts.summary)):
        kept = walks.parts[rank].columns
        for name, (place, value) in columns.items():
            if len(kept[name]) > (place[0] if isinstance(place, tuple) else place):
                kept[name] = kept[name].copy()
                kept[name][place] = value
    return walks


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
@pytest.mark.parametrize("parts", [1, 3])
def test_planted_errors_are_found(parts, placement):
    n = 12
    ring = gd.from_edges(np.arange(n), (np.arange(n) + 1) % n, np.arange(n), num_vertices=n)
    ring = ring.partition(parts, "random", device="cpu")

    def drawn(draw=sample.random_walk, **options):
        return draw(ring, np.full(9, 2), 4, placement=placement, **options)  # 2 3 4 5 6

    drawn().verify()
    for columns, message in (
        ({"walks": ((0, 2), 7)}, "a walk goes from (3 to 7|7 to 5)"),
        ({"walks": ((1, 0), 1)}, "from 2, does not begin at its start"),
        ({"walks": ((1, 4), n)}, "visits what is no vertex"),
        ({"walks": ((1, 3), -1)}, "visits what is no vertex"),
        ({"lengths": (1, 3)}, "goes on behind its end"),
        ({"lengths": (1, 5)}, "a length that no walk has"),
        ({"lengths": (1, -1)}, "a length that no walk has"),
        ({"lengths": (1, 3), "walks": ((1, 4), -1)}, "a walk ends at 5, which has edges"),
    ):
        with pytest.raises(VerificationError, match=message):
            planted(drawn(), **columns).verify()
        if "goes from" in message:
            with pytest.raises(VerificationError, match=message):
                planted(drawn(sample.node2vec), **columns).verify()
    zero = drawn(bias="weight")  # the edge from 0 has weight 0
    with pytest.raises(VerificationError, match="from 0 to 1"):
        planted(
            sample.random_walk(ring, np.full(9, 11), 4, bias="weight", placement=placement),
            walks=((0, slice(0, 3)), [11, 0, 1]), lengths=(0, 2),
        ).verify()  # fmt: skip
    zero.verify()
    with pytest.raises(VerificationError, match="length that no walk has"):
        planted(drawn(restart=0.5), lengths=(0, 2)).verify()
    with pytest.raises(VerificationError, match=r"from 3 to 7|from 2 to 7|7 to"):
        planted(drawn(restart=0.1, seed=1), walks=((0, 2), 7)).verify()
    drawn(jump=0.5, restart=0.25).verify()


def test_walks_go_to_data_frames_and_dask():
    graph = gd.from_edges([10, 20], [20, 10]).partition(2, device="cpu")
    w = sample.random_walk(graph, [10, 20, 10], 2)
    assert w.to_frame().walks.tolist()[1].tolist() == [20, 10, 20]
    np.testing.assert_array_equal(w.to_dask()["walks"].compute(), w.walks)
    assert "3 instances" in repr(w)
