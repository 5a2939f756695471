"""Partitions: together they hold exactly the graph's edges, in rows, and every slot is the vertex that it says."""

from __future__ import annotations

import tracemalloc

import dask
import numpy as np
import pytest
import scipy.sparse as sp
from emulated import emulated, stand_in
from graphs import GRAPHS
from reference import adjacency

import graphdask as gd
from graphdask.comm.threads import run_threads
from graphdask.device.backend import CpuBackend, get_backend
from graphdask.partition import build as build_module
from graphdask.partition.build import BuildPlan, add_inward, build_part, row_of_each
from graphdask.partition.part import Csr
from graphdask.partition.sources import ArraySource
from graphdask.partition.tuning import PARTITION
from graphdask.partition.vertex_map import VertexMap

CPU = get_backend("cpu")
PARTITIONERS = ("range", "random", "biased-random", "metis", "owners")


def build(n, src, dst, directed, parts, by="range", ghosts="all", weights=None, **options):
    if isinstance(by, str) and by == "owners":
        by = np.random.default_rng(n).integers(0, parts, n)
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed, **options)
    graph = graph.partition(parts, by=by, ghosts=ghosts, device="cpu").persist()
    return graph, graph.built.parts.values


def with_inward(parts):
    return run_threads(len(parts), lambda comm, rank: add_inward(comm, CPU, parts[rank]))


def ids_of_slots(part):
    """Ids by the definition in Part, from `ghosts` and the offsets alone."""
    n, first = part.num_vertices, part.first_position
    owned = np.arange(part.num_owned)
    cyclic = np.arange(n) if part.ghosts is None else np.concatenate([owned, part.ghosts])
    return part.vertex_map.to_id(CPU, ((cyclic + first) % max(n, 1)).astype(part.vertex_map.dtype))


def matrix_of(parts, which, weighted=False):
    """The union of all rows, by ids; entries are counts, or sums of weights."""
    n, rows, columns, values = parts[0].num_vertices, [], [], []
    for part in parts:
        csr = getattr(part, which)
        rows.append(np.repeat(part.ids, np.diff(csr.indptr)))
        columns.append(ids_of_slots(part)[csr.indices])
        values.append(csr.weights if weighted else np.ones(csr.num_edges, np.int64))
    ends = np.concatenate(rows), np.concatenate(columns)
    return sp.coo_array((np.concatenate(values), ends), shape=(n, n)).tocsr()


def assert_consistent(parts):
    n, size = parts[0].num_vertices, len(parts)
    offsets = parts[0].vertex_map.offsets
    np.testing.assert_array_equal(np.sort(np.concatenate([part.ids for part in parts])), np.arange(n))
    for part in parts:
        slots = ids_of_slots(part)
        assert len(slots) == part.num_slots
        np.testing.assert_array_equal(slots[: part.num_owned], part.ids)
        positions = part.vertex_map.to_position(CPU, slots.astype(part.vertex_map.dtype))
        for step in range(size):
            inside = positions[part.slot_bounds[step] : part.slot_bounds[step + 1]]
            owner = (part.rank + step) % size
            assert ((inside >= offsets[owner]) & (inside < offsets[owner + 1])).all()
        for csr in {id(c): c for c in (part.out, part.inward) if c is not None}.values():
            assert (csr.indptr[0], csr.indptr[-1], csr.num_rows) == (0, csr.num_edges, part.num_owned)
            assert csr.indices.dtype == part.vertex_map.dtype
            for v in range(csr.num_rows):
                row = slots[csr.indices[csr.indptr[v] : csr.indptr[v + 1]]]
                assert (np.diff(row) >= 0).all()
        if part.ghosts is not None:
            named = np.concatenate([c.indices for c in (part.out, part.inward) if c is not None])
            np.testing.assert_array_equal(
                np.arange(part.num_owned, part.num_slots), np.unique(named[named >= part.num_owned])
            )


def assert_same(found, expected):
    assert (abs(found - expected) > 1e-12).nnz == 0
    assert found.nnz == expected.nnz


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("name", GRAPHS)
def test_partitions_hold_the_graph(name, parts):
    n, src, dst, directed = GRAPHS[name]()
    expected = adjacency(n, src, dst, directed)
    for by, ghosts in zip(("range", "random"), ("all", "1-hop")[:: 1 if parts in (1, 7) else -1], strict=True):
        graph, built = build(n, src, dst, directed, parts, by, ghosts)
        assert_consistent(built)
        assert_same(matrix_of(built, "out"), expected)
        assert graph.num_edges == graph.built.num_edges == len(src)
        both = with_inward(built)
        assert_consistent(both)
        assert_same(matrix_of(both, "out"), expected)
        assert_same(matrix_of(both, "inward"), expected.T.tocsr())
        assert all((part.inward is part.out) == (not directed) for part in both)
        assert all(part.inward is None for part in built) == directed


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize("by", PARTITIONERS)
def test_every_partitioner_divides_the_same_graph(by, parts, ghosts, rng):
    n, m = 120, 400
    src, dst, weights = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m)
    _, built = build(n, src, dst, True, parts, by, ghosts, weights)
    assert_consistent(built)
    expected = sp.coo_array((weights, (src, dst)), shape=(n, n)).tocsr()
    assert_same(matrix_of(built, "out", weighted=True), expected)
    assert_same(matrix_of(with_inward(built), "inward", weighted=True), expected.T.tocsr())


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("by", PARTITIONERS)
@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_more_partitions_than_vertices(n, by, ghosts):
    src = np.arange(max(n - 1, 0))
    _, built = build(n, src, src + 1, False, 9, by, ghosts)
    assert len(built) == 9
    assert_consistent(built)
    assert_same(matrix_of(built, "out"), adjacency(n, src, src + 1, False))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("parts", [1, 3])
def test_weights_stay_with_their_edges(parts, dtype, rng):
    n, m = 40, 300
    src, dst, weights = rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(1, 1000, m).astype(dtype)
    _, built = build(n, src, dst, False, parts, "random", "1-hop", weights)
    assert all(part.out.weights.dtype == dtype for part in built)
    other = src != dst
    ends = np.concatenate([src, dst[other]]), np.concatenate([dst, src[other]])
    expected = sp.coo_array((np.concatenate([weights, weights[other]]), ends), shape=(n, n)).tocsr()
    assert_same(matrix_of(built, "out", weighted=True), expected)


def rows_by_id(parts):
    """Of each vertex, its (neighbour, weight) in the order of its row."""
    rows = {}
    for part in parts:
        ids = ids_of_slots(part)
        for v in range(part.num_owned):
            span = slice(part.out.indptr[v], part.out.indptr[v + 1])
            rows[int(part.ids[v])] = list(
                zip(ids[part.out.indices[span]].tolist(), part.out.weights[span].tolist(), strict=True)
            )
    return rows


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("wide", [False, True], ids=["32-bit", "64-bit"])
def test_rows_are_the_same_for_every_number_of_partitions(directed, wide, rng, tuned):
    if wide:
        tuned(PARTITION, narrow_ids=0)
    src, dst, weights = rng.integers(0, 9, 200), rng.integers(0, 9, 200), rng.integers(0, 99, 200)
    _, whole = build(9, src, dst, directed, 1, "random", weights=weights)
    for parts in (2, 3, 7):
        assert rows_by_id(build(9, src, dst, directed, parts, "random", weights=weights)[1]) == rows_by_id(whole)
    expected = {v: [] for v in range(9)}
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        expected[u].append((v, w))
        if not directed and u != v:
            expected[v].append((u, w))
    assert {v: sorted(row) for v, row in rows_by_id(whole).items()} == {v: sorted(row) for v, row in expected.items()}


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_merging_on_the_workers_leaves_the_lightest(parts, directed, weighted, rng):
    n, m = 15, 400
    src, dst, weights = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m)
    lightest: dict[tuple[int, int], float] = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        for pair in {(u, v), (u, v) if directed else (v, u)}:
            lightest[pair] = min(w, lightest.get(pair, np.inf))
    source = ArraySource(n, src, dst, weights if weighted else None)
    graph = gd.Graph(source, gd.from_edges([], [], num_vertices=n).ids, directed, merge=True)
    graph = graph.partition(parts, by="random", device="cpu")
    assert repr(graph).startswith("<Graph: 15 vertices, merged on the workers edges")
    pairs = {pair if directed else tuple(sorted(pair)) for pair in lightest}
    assert graph.num_edges == len(pairs)
    assert graph.report["parallel_edges_merged"] == m - len(pairs)
    built = graph.built.parts.values
    found = matrix_of(built, "out", weighted=weighted).tocoo()
    values = {(int(u), int(v)): w for u, v, w in zip(found.row, found.col, found.data.tolist(), strict=True)}
    assert values == (lightest if weighted else dict.fromkeys(lightest, 1))


def test_ranges_are_balanced_by_edges():
    # the second half of the vertices holds all edges
    rng = np.random.default_rng(0)
    _, built = build(4000, rng.integers(2000, 4000, 40_000), rng.integers(2000, 4000, 40_000), True, 4)
    arcs = [part.out.num_edges for part in built]
    assert max(arcs) < 1.2 * 10_000
    assert sum(len(part.ids) for part in built) == 4000


@pytest.mark.parametrize("directed", [False, True])
def test_sparse_and_dense_partitions_find_their_ghosts_alike(directed, rng, tuned):
    """By sorting and searching, or in tables of all vertices where these are few beside the edges."""
    src, dst = rng.integers(0, 300, (2, 2_000))
    found = []
    for tables in False, True:
        tuned(PARTITION, table_vertices=1000 if tables else 0, table_uses=1.0 if tables else float("inf"))
        _, parts = build(300, src, dst, directed, 3, by="random", ghosts="1-hop")
        found.append(with_inward(parts))
    for sparse, dense in zip(*found, strict=True):
        np.testing.assert_array_equal(dense.ghosts, sparse.ghosts)
        np.testing.assert_array_equal(dense.slot_bounds, sparse.slot_bounds)
        for which in "out", "inward":
            one, other = getattr(dense, which), getattr(sparse, which)
            assert one.indices.dtype == other.indices.dtype
            np.testing.assert_array_equal(one.indptr, other.indptr)
            np.testing.assert_array_equal(one.indices, other.indices)


def test_a_built_graph_is_kept_until_it_is_divided_anew():
    graph = gd.from_edges([0, 1, 2], [1, 2, 0]).partition(2, device="cpu")
    assert graph.persist() is graph
    first = graph.built
    gd.bfs(graph, 0)
    assert graph.built is first
    gd.connected_components(graph)
    assert graph.built.inward
    assert graph.built.gang is first.gang
    again = graph.partition(3, device="cpu")
    assert again.built is None
    assert len(again.persist().built.parts.values) == 3
    assert graph.built.gang is first.gang


def test_a_build_beyond_the_budget_is_refused_before_it_starts():
    graph = gd.from_edges(np.arange(1000), np.arange(1000) + 1).partition(3, device="cpu")
    with (
        dask.config.set({"graphdask.memory-fraction": 1e-9}),
        pytest.raises(gd.OverBudget, match=r"the partitions need about .* on each of 3 ranks .*memory-fraction"),
    ):
        graph.persist()
    assert graph.built is None
    assert gd.bfs(graph, 0).depth.max() == 1000


@pytest.mark.parametrize("id_width", [32, 64])
@pytest.mark.parametrize("parts", [1, 2, 4, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_build_takes_no_more_than_it_announces(weighted, parts, id_width, rng, alone, watched):
    n, m = 50_000, 200_000
    src, dst, weights = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m) if weighted else None
    announced = watched(build_module, "memory", answer=lambda found: found)

    def built():
        graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=False)
        graph = graph.partition(parts, by="random", ghosts="1-hop", device="cpu", id_width=id_width)
        announced.clear()
        tracemalloc.start()
        graph.persist()
        return tracemalloc.get_traced_memory()[1]

    try:
        built()  # what is compiled stays
        tracemalloc.stop()
        assert built() <= sum(announced)
    finally:
        tracemalloc.stop()
    assert len(announced) == parts


class _StrictArrays:
    """NumPy, but refusing what CuPy refuses: to count nothing, and to add at signed 64-bit integers."""

    class add:
        @staticmethod
        def at(array, places, value):
            assert array.dtype != np.int64, "scatter_add of int64"
            np.add.at(array, places, value)

    def __getattr__(self, name):
        return getattr(np, name)

    def bincount(self, numbers, weights=None, minlength=0):
        assert len(numbers), "bincount of an empty array"
        return np.bincount(numbers, weights, minlength)


class _StrictBackend(CpuBackend):
    xp = _StrictArrays()


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_a_rank_without_edges_counts_nothing(ghosts):
    source = ArraySource(6, np.array([0, 0]), np.array([1, 5]), None)
    plan = BuildPlan(VertexMap(6), directed=True, ghosts=ghosts, merge=False, num_edges=2, weighted=False)

    def program(comm, rank):
        backend = _StrictBackend()
        return add_inward(comm, backend, build_part(comm, backend, source.piece(rank, 4), plan))

    built = run_threads(4, program)
    assert_same(matrix_of(built, "inward"), adjacency(6, source.src, source.dst, True).T.tocsr())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_rows_of_edges_on_a_device_do_not_depend_on_the_width_of_ids(dtype):
    class Device(_StrictBackend):
        name = "cuda"

    csr = Csr(np.array([0, 0, 2, 2, 5, 5]), np.array([7, 8, 7, 8, 9], dtype))
    rows = row_of_each(Device(), csr, 20)
    assert rows.dtype == dtype
    assert rows.tolist() == [21, 21, 23, 23, 23]


@pytest.mark.parametrize("kept", ["all", "first"])
def test_zeros_of_either_sign_stay_in_the_order_given_on_a_device_too(kept, monkeypatch):
    """They are equal weights: only their order says which edge has which, and parallel edges are stored twice."""
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 9, (2, 6_000))  # with self-loops, which are stored once
    weights = rng.choice([-0.0, 0.0, 1.0], len(src))
    graph = gd.from_edges(src, dst, weights, directed=False, multi_edges="keep" if kept == "all" else "merge")
    (host,) = graph.partition(1, device="cpu").persist().built.parts.values
    stand_in(monkeypatch, emulated())
    (device,) = graph.partition(1, device="cuda", id_width=32).persist().built.parts.values
    assert device.out.weights.get().tobytes() == host.out.weights.tobytes()
