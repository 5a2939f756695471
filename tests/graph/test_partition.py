"""Vertex maps: positions and ids are inverse to each other, ranks own contiguous positions, owners are as asked."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError
from graphdask.partition.vertex_map import (
    DealtMap,
    Plan,
    ShuffledMap,
    TableMap,
    VertexMap,
    balanced_offsets,
    even_offsets,
    index_dtype,
    make_vertex_map,
)

CPU = get_backend("cpu")
SIZES = [0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4095, 4097]


def check_bijection(vertex_map, n):
    every = np.arange(n, dtype=vertex_map.dtype)
    positions = vertex_map.to_position(CPU, every)
    np.testing.assert_array_equal(np.sort(positions), every)
    np.testing.assert_array_equal(vertex_map.to_id(CPU, positions), every)
    np.testing.assert_array_equal(vertex_map.to_position(CPU, vertex_map.to_id(CPU, every)), every)
    assert positions.dtype == vertex_map.dtype


@pytest.mark.parametrize("n", SIZES)
def test_every_map_is_a_bijection(n, rng):
    check_bijection(VertexMap(n), n)
    for seed in (0, 1, 2**64 - 1, int(rng.integers(2**63))):
        check_bijection(ShuffledMap(n, seed=seed), n)
    for size in (1, 2, 7):
        check_bijection(DealtMap.of(n, size, seed=n), n)
        check_bijection(TableMap.from_owners(rng.integers(0, size, n), size), n)


def test_random_sizes_are_bijections(rng):
    for n in rng.integers(0, 5000, 40).tolist():
        check_bijection(ShuffledMap(n, seed=int(rng.integers(2**32))), n)


@pytest.mark.parametrize("n", [2**31 - 2, 2**31 - 1, 2**31, 2**40 + 1, 2**62])
def test_a_shuffle_of_very_many_vertices_is_invertible(n, rng):
    vertex_map = ShuffledMap(n, seed=3)
    assert vertex_map.dtype == (np.int32 if n < 2**31 - 1 else np.int64)
    ids = np.concatenate([[0, n - 1], rng.integers(0, n, 1000)]).astype(vertex_map.dtype)
    positions = vertex_map.to_position(CPU, ids)
    assert positions.min() >= 0
    assert positions.max() < n
    np.testing.assert_array_equal(vertex_map.to_id(CPU, positions), ids)


def test_a_shuffle_depends_on_its_seed_and_mixes():
    n = 10_000
    a, b = (ShuffledMap(n, seed=seed).to_position(CPU, np.arange(n, dtype=np.int32)) for seed in (1, 2))
    assert (a == b).sum() < 20
    assert abs(np.corrcoef(np.arange(n), a)[0, 1]) < 0.05
    # neighbours in id are far apart: the mean distance of two uniform positions is n/3
    assert abs(np.abs(np.diff(a.astype(np.int64))).mean() / (n / 3) - 1) < 0.05


@pytest.mark.parametrize("n", [2**31 - 2, 2**31, 2**62])
def test_very_many_vertices_are_dealt(n, rng):
    vertex_map = DealtMap.of(n, 7, seed=2**64 - 1)
    ids = np.concatenate([[0, n - 1], rng.integers(0, n, 1000)]).astype(vertex_map.dtype)
    positions = vertex_map.to_position(CPU, ids)
    assert positions.min() >= 0
    assert positions.max() < n
    np.testing.assert_array_equal(vertex_map.to_id(CPU, positions), ids)


def test_vertices_are_dealt_evenly_at_random_and_in_their_order():
    n, size = 10_003, 4
    dealt = [DealtMap.of(n, size, seed) for seed in (1, 2)]
    hands = [dealt[0].owned_ids(CPU, rank) for rank in range(size)]
    for rank, ids in enumerate(hands):
        assert (np.diff(ids) > 0).all()
        np.testing.assert_array_equal(ids // size, np.arange(len(ids)))  # one of every four
        assert abs((ids[:2500] % size == rank).mean() - 1 / size) < 0.05
    assert sorted(map(len, hands)) == [2500, 2501, 2501, 2501]
    assert [dealt[0].locate(v) for v in range(10_000, n)] == [(0, 2500), (1, 2500), (2, 2500)]
    other = [dealt[1].owned_ids(CPU, rank)[:2500] for rank in range(size)]
    assert abs(np.mean([(a[:2500] == b).mean() for a, b in zip(hands, other, strict=True)]) - 1 / size) < 0.05


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_owners_are_as_given_and_local_numbers_count_up(size, rng):
    n = 23
    owners = rng.integers(0, size, n)
    vertex_map = TableMap.from_owners(owners, size)
    assert vertex_map.size == size
    for vertex in range(n):
        rank, local = vertex_map.locate(vertex)
        assert rank == owners[vertex]
        assert vertex_map.owned_ids(CPU, rank)[local] == vertex
    counts = [len(vertex_map.owned_ids(CPU, rank)) for rank in range(size)]
    assert counts == np.bincount(owners, minlength=size).tolist()


def test_locate_skips_empty_ranks():
    vertex_map = VertexMap(5, np.array([0, 0, 2, 2, 2, 5, 5]))
    assert [vertex_map.locate(v) for v in range(5)] == [(1, 0), (1, 1), (4, 0), (4, 1), (4, 2)]


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100, 2**40])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 200])
def test_even_blocks_differ_by_one_at_most(n, size):
    lengths = np.diff(even_offsets(n, size))
    assert lengths.sum() == n
    assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("size", [1, 2, 3, 7, 200])
@pytest.mark.parametrize("width", [1, 3])
def test_balanced_blocks_are_within_a_bucket_of_their_share(size, width, rng):
    n = 100
    weight = rng.integers(0, 50, -(-n // width)) + width
    offsets = balanced_offsets(weight, width, n, size)
    assert (offsets[0], offsets[-1], len(offsets)) == (0, n, size + 1)
    assert (np.diff(offsets) >= 0).all()
    ends = np.concatenate([[0], np.cumsum(weight)])
    loads = np.diff(ends[-(-offsets // width)])
    assert loads.max() <= weight.sum() / size + weight.max()


def test_index_types_hold_every_number_and_one_more():
    assert index_dtype(0) == index_dtype(2**31 - 2) == np.int32
    assert index_dtype(2**31 - 1) == index_dtype(2**40) == np.int64


def two_cliques():
    indptr, indices = [0], []
    for v in range(20):
        indices += [u for u in range(v // 10 * 10, v // 10 * 10 + 10) if u != v]
        indptr.append(len(indices))
    return np.array(indptr, np.int64), np.array(indices, np.int64)


def owners_of(by, adjacency, n, size, seed=0):
    vertex_map = make_vertex_map(Plan(size, by, seed=seed), n, size, False, adjacency)
    return np.array([vertex_map.locate(v)[0] for v in range(n)])


def test_metis_cuts_no_clique():
    owners = owners_of("metis", two_cliques, 20, 2)
    assert len(set(owners[:10])) == len(set(owners[10:])) == 1
    assert owners[0] != owners[10]


@pytest.mark.parametrize(("n", "size"), [(1, 7), (2, 4), (3, 16), (7, 7), (0, 3)])
def test_metis_is_not_asked_where_there_are_no_more_vertices_than_parts(n, size, capfd):
    pytest.importorskip("pymetis")
    i = np.arange(max(n - 1, 0))
    graph = gd.from_edges(i, i + 1, num_vertices=n, directed=False).partition(size, "metis", device="cpu")
    assert gd.connected_components(graph).verify().num_components == min(n, 1)
    held = np.diff(graph.built.vertex_map.offsets)
    assert (held.max(initial=0), held.sum()) == (min(n, 1), n)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("by", ["metis", "biased-random"])
@pytest.mark.parametrize("size", [2, 3, 7, 50])
def test_partitioners_that_look_at_edges_give_each_vertex_one_owner(by, size):
    owners = owners_of(by, two_cliques, 20, size)
    assert owners.shape == (20,)
    assert owners.max() < size
    if by == "biased-random":
        assert np.bincount(owners).max() <= -(-20 // size)


def test_biased_random_gathers_neighbours():
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(8), 50)
    adjacency = (blocks[:, None] == blocks[None, :]) & (rng.random((400, 400)) < 0.3)
    adjacency |= adjacency.T
    np.fill_diagonal(adjacency, False)
    indptr = np.concatenate([[0], np.cumsum(adjacency.sum(1))])
    src, dst = np.nonzero(adjacency)
    cuts = {}
    for by in ("biased-random", "random"):
        owners = owners_of(by, lambda: (indptr, dst), 400, 4) if by == "biased-random" else rng.integers(0, 4, 400)
        cuts[by] = (owners[src] != owners[dst]).mean()
    assert cuts["biased-random"] < 0.9 * cuts["random"]
    again = owners_of("biased-random", lambda: (indptr, dst), 400, 4)
    assert (again == owners_of("biased-random", lambda: (indptr, dst), 400, 4)).all()
    assert (again != owners_of("biased-random", lambda: (indptr, dst), 400, 4, seed=1)).any()


def test_skewed_graphs_are_shuffled_by_default():
    def kind(skewed, size):
        return type(make_vertex_map(Plan(), 10, size, skewed, two_cliques))

    assert kind(True, 2) is ShuffledMap
    assert kind(False, 2) is kind(True, 1) is VertexMap


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": 0}, "parts=0"),
        ({"parts": -1}, "parts=-1"),
        ({"parts": 2.0}, r"parts=2\.0"),
        ({"parts": True}, "parts=True"),
        ({"parts": "2"}, "parts='2'"),
        ({"parts": 2**17}, "parts=131072 is not a whole number from 1 to 65,536"),
        ({"by": "hash"}, "by='hash' is not one of range, random, biased-random, metis"),
        ({"ghosts": "2-hop"}, "ghosts='2-hop'"),
        ({"device": "tpu"}, "device='tpu'"),
        ({"seed": 0.5}, r"seed=0\.5"),
        ({"by": 5}, r"got shape \(\)"),
        ({"by": [0, 1]}, r"one owner for each of the 3 vertices.*shape \(2,\)"),
        ({"by": [0.0, 1.0, 1.0]}, "dtype float64"),
        ({"by": ["a", "b", "c"]}, "dtype object"),
        ({"by": [[0], [1, 2]]}, "by is no array"),
        ({"by": [0, -1, 1]}, "vertex number 1 the owner -1; owners are 0 to 65535"),
        ({"by": [0, 2, 1], "parts": 2}, "vertex number 1 the owner 2; owners are 0 to 1"),
    ],
)
def test_a_division_that_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        gd.from_edges([0, 1], [1, 2]).partition(**options)


def test_a_division_by_owners_keeps_them():
    owners = np.array([2, 0, 2], np.int8)
    graph = gd.from_edges([0, 1], [1, 2]).partition(by=owners, device="cpu")
    owners[:] = 0
    assert graph.plan.parts == 3
    assert [len(part.ids) for part in graph.persist().built.parts.values] == [1, 0, 2]
    assert gd.from_edges([], [], num_vertices=0).partition(by=[]).plan.parts == 1
    assert gd.from_edges([0], [1]).partition(by=[0, 1], parts=5).plan.parts == 5
