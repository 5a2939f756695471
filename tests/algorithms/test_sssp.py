"""Distances and parents are those of Dijkstra, bit for bit, for every number of partitions, ghosts and exchange."""

from __future__ import annotations

import warnings
from itertools import product

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from memory import OTHERS
from reference import lightest, shortest

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.io import read_vertex_values
from graphdask.partition.tuning import PARTITION

PARTS = (1, 2, 3, 4, 7)
GHOSTS = ("all", "1-hop")
EXCHANGES = ("selective", "broadcast")
KINDS = {
    "int32": lambda rng, m: rng.integers(1, 65, m).astype(np.int32),
    "int64": lambda rng, m: rng.integers(0, 3, m),
    "float32": lambda rng, m: rng.random(m, np.float32),
    "float64": lambda rng, m: rng.choice([0.0, 0.1, 0.2, 1e-20, 3.7], m),
    "none": lambda rng, m: None,
    "equal": lambda rng, m: np.full(m, 7, np.int32),
    "nearly equal": lambda rng, m: rng.integers(1, 3, m),
}


def expected_of(n, src, dst, weights, directed, source):
    """What `sssp` promises: distances in its dtype, and parents."""
    length = np.ones(len(src)) if weights is None else weights
    distance, parent = shortest(lightest(n, src, dst, length, directed), source)
    if weights is None or weights.dtype.kind == "i":
        distance = np.where(np.isinf(distance), -1, distance).astype(np.int64)
    return distance, parent


def check(n, src, dst, weights, directed, parts, source, device="cpu", ways=None, deltas=(None,)):
    distance, parent = expected_of(n, src, dst, weights, directed, source)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    for by, ghosts, exchange in ways or product(("random",), GHOSTS, EXCHANGES):
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        for delta in deltas:
            found = gd.sssp(divided, source, delta=delta, exchange=exchange)
            np.testing.assert_array_equal(found.distance, distance, f"{by}, {ghosts}, {exchange}, {delta}")
            np.testing.assert_array_equal(found.parent, parent, f"{by}, {ghosts}, {exchange}, {delta}")
            np.testing.assert_array_equal(found.reached, parent >= 0)
            assert found.distance.dtype == distance.dtype
            assert found.parent.dtype == np.int32
        found.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_are_dijkstras(name, parts, rng):
    n, src, dst, directed = GRAPHS[name]()
    for place, draw in enumerate(KINDS.values()):
        if parts != 3 and (place + PARTS.index(parts) + n) % 2:
            continue
        way = ("range", "random")[place % 2], GHOSTS[place // 2 % 2], EXCHANGES[(place + parts) % 2]
        check(n, src, dst, draw(rng, len(src)), directed, parts, n // 2, ways=[way])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_do_not_depend_on_ghosts_exchange_and_delta(kind, parts, rng):
    n, src, dst, directed = GRAPHS["sparse random, directed"]()
    check(n, src, dst, KINDS[kind](rng, len(src)), directed, parts, 3, deltas=(None, 0.01, 7, np.inf))


@pytest.mark.parametrize("name", ["dense random, directed", "scale-free"])
def test_buckets_that_rounding_makes_empty_come_to_an_end(name, rng):
    n, src, dst, directed = GRAPHS[name]()
    weights = rng.random(len(src))
    check(n, src, dst, weights, directed, 2, 3, ways=[("random", "1-hop", "selective")], deltas=(5e-324, 1e-300))


@pytest.mark.parametrize("by", ["biased-random", "metis", "owners"])
def test_answers_do_not_depend_on_the_partitioner(by, rng):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    owners = rng.integers(0, 3, n) if by == "owners" else by
    for kind in ("int32", "float64"):
        check(n, src, dst, KINDS[kind](rng, len(src)), directed, 3, 17, ways=[(owners, "1-hop", "selective")])


@pytest.mark.slow
@pytest.mark.parametrize("parts", PARTS)
def test_parents_form_a_tree_where_weights_are_zero(parts, rng):
    """Every vertex is at distance 0, or behind one bridge: all that is left is the order within a distance."""
    n, m = 60, 150
    src, dst = rng.integers(0, n, (2, m))
    for directed, share in product((True, False), (0.0, 0.1, 0.5)):
        weights = (rng.random(m) < share).astype(np.int64)
        check(n, src, dst, weights, directed, parts, 7)
        check(n, src, dst, weights * 0.3, directed, parts, 7, ways=[("range", "all", "selective")])


def test_a_weight_that_a_large_distance_swallows_is_like_zero():
    # 1e17 + 1 == 1e17 in float64: the cycle 2 -> 3 -> 4 -> 2 adds nothing
    src, dst, weights = [0, 1, 2, 3, 4], [1, 2, 3, 4, 2], [0.5, 1e17, 1.0, 1.0, 1.0]
    for parts in PARTS:
        check(5, np.array(src), np.array(dst), np.array(weights), True, parts, 0)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_long_path_with_a_bucket_for_each_hop(parts):
    n = 1500
    check(n, np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5), False, parts, 0,
          ways=[("range", "1-hop", "selective")], deltas=(None, 0.5))  # fmt: skip


def test_buckets_of_little_work_grow_wider():
    n = 1500
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5)).partition(2, by="range", device="cpu")
    grown, fixed = gd.sssp(graph, 0), gd.sssp(graph, 0, delta=5)
    assert grown.distance.tolist() == fixed.distance.tolist() == list(range(0, 5 * n, 5))
    assert max(row["superstep"] for row in fixed.stats) > n > 20 * max(row["superstep"] for row in grown.stats)


def test_buckets_grow_wider_where_more_wait_than_are_worked_on(rng):
    n, lengths = 8000, rng.permutation(7800) + 1
    src, dst = np.indices((200, 200)).reshape(2, -1)
    src, dst = np.concatenate([src, np.zeros(7800, int)]), np.concatenate([dst, np.arange(200, n)])
    graph = gd.from_edges(src, dst, np.concatenate([np.ones(40_000, int), lengths]), num_vertices=n)
    graph = graph.partition(1, device="cpu")
    grown, fixed = gd.sssp(graph, 0), gd.sssp(graph, 0, delta=100)
    assert grown.distance.tolist() == fixed.distance.tolist() == [0, *[1] * 199, *lengths]
    assert len(grown.stats) < len(fixed.stats)


def test_answers_agree_with_networkx(rng):
    g = nx.gnm_random_graph(150, 500, seed=int(rng.integers(2**31)), directed=True)
    for _, _, data in g.edges(data=True):
        data["cost"] = int(rng.integers(0, 9))
    reached = nx.single_source_dijkstra_path_length(g, 5, weight="cost")
    found = gd.sssp(gd.from_networkx(g, weight="cost").partition(3, device="cpu"), 5)
    assert found.distance.tolist() == [reached.get(v, -1) for v in range(150)]


def test_without_weights_distances_are_depths():
    graph = gd.generate.preferential_attachment(3000, degree=3, seed=7).partition(3, device="cpu")
    found, search = gd.sssp(graph, 2999).verify(), gd.bfs(graph, 2999)
    np.testing.assert_array_equal(found.distance, search.depth)
    np.testing.assert_array_equal(found.parent, search.parent)


@pytest.mark.parametrize("weight", [1, 7])
def test_parents_take_no_second_look_at_the_edges(weight):
    n = 100
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, weight)).partition(1, device="cpu")
    found = gd.sssp(graph, 0, delta=weight)
    assert sum(row["edges"] for row in found.stats) == n - 1
    np.testing.assert_array_equal(found.parent, np.maximum(np.arange(n) - 1, 0))


@pytest.mark.parametrize(("parts", "device"), [(1, "cpu"), (3, "cpu"), (1, "cuda"), (2, "cuda")])
@pytest.mark.parametrize(("far", "greatest"), [(False, 1 << 29), (False, (1 << 30) - 1), (True, 1 << 29)])
def test_distances_are_short_until_they_are_not(far, greatest, parts, device, monkeypatch, watched, rng):
    if device == "cuda":
        stand_in(monkeypatch, emulated())
    n = 30
    src, dst = rng.integers(0, n, (2, 200))
    src[3 : n + 2], dst[3 : n + 2] = np.arange(n - 1), np.arange(1, n)
    weights = rng.integers(1, 1000, 200)
    weights[:3] = greatest
    if far:  # a path of 5 long edges, with something beyond
        src, dst = np.concatenate([src, [0, n, n + 1, n + 2, n + 3, n + 4]]), np.concatenate([dst, n + np.arange(6)])
        weights = np.concatenate([weights, np.full(5, greatest), [3]])
    made = watched(gd.algorithms.sssp.ShortestPaths, "__init__", lambda primitive, *given, **named: given)
    for delta in (None, 1e12):
        made.clear()
        check(n + 6, src, dst, weights, False, parts, 0, device, [("random", "1-hop", "selective")], (delta,))
        assert made[0][3] == np.int32
        again = {each[3] for each in made[1:]}
        if far or greatest <= 1 << 29:  # else what is first met by a longer path may look as if it lay beyond
            assert again == ({np.dtype(np.int64)} if far else set())


def test_distances_around_2_to_31_and_2_to_63():
    step = 2**31 - 2
    for parts, weights in product((1, 3), ([1, step, 1], [step, 0, 0], [2**62, 2**62 - 2, 0], [2**31, 2**40, 1])):
        graph = gd.from_edges([0, 1, 2], [1, 2, 3], weights, num_vertices=5).partition(parts, device="cpu")
        assert gd.sssp(graph, 0).verify().distance.tolist() == [0, *np.cumsum(weights).tolist(), -1]


@pytest.mark.parametrize("weights", [[2**62, 2**62, 1], [2**62, 2**62 - 1, 1], [1e308, 1e308, 1.0]])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_distance_too_large_for_its_dtype_is_refused(parts, weights):
    for directed in (True, False):
        graph = gd.from_edges(["a", "b", "c"], ["b", "c", "d"], weights, directed=directed)
        with pytest.raises(gd.InputError, match=r"the distance of vertex c is too large for (int64|float64)"):
            gd.sssp(graph.partition(parts, device="cpu"), "a")
    # a shorter way round is found, and the sum that is too large does no harm
    graph = gd.from_edges([0, 1, 2, 0], [1, 2, 3, 2], [*weights, 5], directed=True).partition(parts, device="cpu")
    assert gd.sssp(graph, 0).verify().distance.tolist() == [0, weights[0], 5, 6]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -3, 2, -4], "the weight -3 of the edge from b to c is negative"),
        ([1.0, np.inf, 2.0, -0.5], "the weight inf of the edge from b to c is infinite; leave the edge out"),
        ([1.0, 1.0, -np.inf, 1.0], "the weight -inf of the edge from c to d is negative"),
    ],
)
def test_weights_that_make_no_length_are_named(parts, weights, message):
    graph = gd.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "a"], weights).partition(parts, device="cpu")
    for built in (False, True):
        with pytest.raises(gd.InputError, match=message):
            gd.sssp(graph, "a")
        assert (graph.built is not None) == built
        graph.persist()


def test_nan_is_refused_when_the_graph_is_made():
    with pytest.raises(gd.InputError, match=r"weights\[1\] is NaN"):
        gd.from_edges([0, 1], [1, 2], [1.0, np.nan])


def test_a_negative_zero_is_zero():
    found = gd.sssp(gd.from_edges([0, 1], [1, 2], [-0.0, 2.0]).partition(device="cpu"), 0).verify()
    assert str(found.distance.tolist()) == "[0.0, 0.0, 2.0]"


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        *((wrong, "is not a number above 0") for wrong in (0, -1, -0.5)),
        *((wrong, "is not a number or None") for wrong in ("auto", True, [1])),
        (np.nan, "is not a number$"),
    ],
)
def test_a_delta_that_is_no_width_is_refused_before_any_work(delta, said):
    graph = gd.from_edges([0], [1], [1])
    with pytest.raises(gd.InputError, match=f"delta=.* {said}"):
        gd.sssp(graph, 0, delta=delta)
    assert graph.built is None


def test_a_source_that_is_none_is_named():
    graph = gd.from_edges([0], [1], [1])
    with pytest.raises(gd.VertexNotFound, match="source 2 is not in the graph"):
        gd.sssp(graph, 2)
    with pytest.raises(gd.InputError, match="neither a vertex nor a list of them"):
        gd.sssp(graph, [[0], [1]])
    with pytest.raises(gd.VertexNotFound, match="it has no vertices"):
        gd.sssp(gd.from_edges([], [], num_vertices=0), 0)
    assert graph.built is None


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 4])
def test_64_bit_vertex_numbers_give_the_same(parts, tuned, rng):
    tuned(PARTITION, narrow_ids=0)
    n, src, dst, directed = GRAPHS["dense random, undirected"]()
    for weights in (rng.integers(0, 9, len(src)), rng.random(len(src)).astype(np.float32)):
        distance, parent = expected_of(n, src, dst, weights, directed, 0)
        for exchange in EXCHANGES:
            graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed).partition(parts, device="cpu")
            found = gd.sssp(graph, 0, exchange=exchange).verify()
            np.testing.assert_array_equal(found.distance, distance)
            np.testing.assert_array_equal(found.parent, parent)


@pytest.mark.usefixtures("alone")
def test_the_announced_memory_is_what_the_run_takes(rng):
    import tracemalloc

    src, dst = rng.integers(0, 60_000, (2, 90_000))
    source = int(np.argmax(np.bincount(src)))
    for weights in (rng.integers(1, 9, 90_000), rng.random(90_000), np.zeros(90_000, np.int32)):
        graph = gd.from_edges(src, dst, weights, num_vertices=60_000).partition(1, device="cpu").persist()
        gd.sssp(graph, source)
        tracemalloc.start()
        memory = gd.sssp(graph, source).stats.memory
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0.6 * memory < peak < 1.1 * memory + OTHERS


def bremen(path):
    """Sources, destinations and lengths as NumPy reads the file, by its ids."""
    src, dst, length = np.loadtxt(path, usecols=(1, 2, 3), dtype=np.int64, unpack=True)
    return src, dst, length


@pytest.mark.parametrize("parts", PARTS)
def test_a_road_network_is_dijkstras(shared_data, parts):
    path = shared_data / "road" / "bremen_dist.gr"
    src, dst, length = bremen(path)
    graph = gd.read_graph(path)
    ids = np.unique([src, dst])
    np.testing.assert_array_equal(graph.vertex_ids, ids)
    distance, parent = expected_of(len(ids), np.searchsorted(ids, src), np.searchsorted(ids, dst), length, True, 100)
    divided = graph.partition(parts, ghosts=GHOSTS[parts % 2], device="cpu")
    found = gd.sssp(divided, ids[100], exchange=EXCHANGES[parts % 2]).verify()
    np.testing.assert_array_equal(found.distance, distance)
    np.testing.assert_array_equal(found.parent, np.where(parent < 0, -1, ids[parent]))


LDBC = {
    "example/example-directed": (True, 1, "example/example-directed-SSSP"),
    "example/example-undirected": (False, 2, "example/example-undirected-SSSP"),
    "sssp/dir-input": (True, 1, "sssp/dir-output"),
    "sssp/undir-input": (False, 1, "sssp/undir-output"),
}


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", LDBC)
def test_answers_are_those_of_ldbc(shared_data, name, parts, device):
    folder = shared_data / "ldbc-graphalytics"
    directed, source, answer = LDBC[name]
    ids, distance = read_vertex_values(folder / answer)
    graph = gd.read_graph(folder / name, format="ldbc", directed=directed, weights=True)
    for ghosts, exchange in product(GHOSTS, EXCHANGES):
        found = gd.sssp(graph.partition(parts, ghosts=ghosts, device=device), source, exchange=exchange).verify()
        np.testing.assert_array_equal(graph.vertex_ids, np.sort(ids))
        np.testing.assert_allclose(found.distance, distance[np.argsort(ids)], rtol=1e-4)  # LDBC's own tolerance


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_on_a_gpu_are_dijkstras(kind, parts, rng):
    for name in GRAPHS:
        n, src, dst, directed = GRAPHS[name]()
        check(n, src, dst, KINDS[kind](rng, len(src)), directed, parts, n // 2, device="cuda",
              ways=[("random", GHOSTS[parts % 2], EXCHANGES[parts // 2 % 2])], deltas=(None, 7))  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_hubs_on_a_gpu_are_dijkstras(kind, parts, rng):
    n, m = 60_000, 300_000
    src = np.concatenate([np.zeros(n - 1, np.int64), rng.integers(0, n, m), np.full(9000, 5)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, n, m), rng.integers(0, n, 9000)])
    for directed in (True, False):
        check(n, src, dst, KINDS[kind](rng, len(src)), directed, parts, 17, device="cuda",
              ways=[("random", "1-hop", "selective")])  # fmt: skip


def test_a_graph_without_weights_gives_a_warning_and_hops():
    src, dst = [0, 1, 2, 0], [1, 2, 3, 3]
    graph = gd.from_edges(src, dst, num_vertices=5)
    with pytest.warns(gd.GraphdaskWarning, match="sssp counts every edge as 1, because the graph has no weights"):
        found = gd.sssp(graph, 0)
    hops = nx.single_source_shortest_path_length(nx.DiGraph(zip(src, dst, strict=True)), 0)
    assert found.distance.tolist() == [hops.get(vertex, -1) for vertex in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gd.sssp(gd.from_edges(src, dst, [1, 1, 1, 1], num_vertices=5), 0)


@pytest.mark.parametrize("kind", ["random", "ties", "zeros", "absorbed", "overflowing"])
@pytest.mark.parametrize("directed", [True, False])
def test_parents_found_while_edges_are_relaxed_are_those_found_afterwards(kind, directed, rng):
    """A CPU with the whole graph finds those of float distances as it goes on; several ranks afterwards."""
    for n, m in ((1, 0), (9, 30), (40, 300), (200, 500)):
        src, dst = rng.integers(0, n, (2, m))
        weights = {
            "random": rng.random(m, np.float32), "ties": rng.integers(1, 4, m).astype(np.float32),
            "zeros": rng.integers(0, 3, m).astype(np.float64), "absorbed": rng.choice([1e-20, 1.0], m),
            "overflowing": np.full(m, 1e300),
        }[kind]  # fmt: skip
        G = gd.from_edges(src, dst, weights, directed=directed, vertices=np.arange(n))
        one, other = gd.sssp(G.partition(1), 0).verify(), gd.sssp(G.partition(3), 0)
        assert one.distance.tobytes() == other.distance.tobytes()
        assert one.parent.tolist() == other.parent.tolist()
        distance, parent = expected_of(n, src, dst, weights, directed, 0)
        assert one.distance.tolist() == distance.tolist()
        if kind not in ("zeros", "absorbed"):
            assert one.parent.tolist() == parent.tolist()
