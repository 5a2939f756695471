"""Kernels against plain Python on random rows, with outputs poisoned first; on a GPU the CUDA twins likewise.

Queues have no order on a GPU: they are compared as sets.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_launch import POISON, Launch, check_queue, random_rows

from graphdask.device.backend import get_backend
from graphdask.kernels.components.components_pack import COUNTS, MET, OUTSIDE, Meetings, Outside, Trees
from graphdask.partition.vertex_map import DealtMap


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 16, 17, 255, 257, 4096, 4097, 10_001])
def test_permute_is_the_feistel_network_of_its_source(backend, dtype, size):
    def round_value(value, seed, number):
        x = value ^ (seed + number * 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    def forward(x, half, seed):
        while True:
            left, right = x >> half, x & (1 << half) - 1
            for number in range(4):
                left, right = right, left ^ round_value(right, seed, number) & (1 << half) - 1
            x = left << half | right
            if x < size:
                return x

    half = next(h for h in range(1, 40) if 4**h >= size)
    launch = Launch(backend, "permute", dtype)
    for seed in (0, 12345, 2**64 - 1):
        ids, out, back = np.arange(size, dtype=dtype), np.full(size, POISON, dtype), np.full(size, POISON, dtype)
        launch(size, ids, out, size, half, np.uint64(seed), names=("permute_forward",))
        assert out.tolist() == [forward(x, half, seed) for x in range(size)]
        launch(size, out, back, size, half, np.uint64(seed), names=("permute_backward",))
        np.testing.assert_array_equal(back, ids)


@pytest.mark.parametrize(("size", "ranks"), [(1, 2), (6, 7), (4096, 2), (10_001, 3), (999, 40)])
def test_numbers_are_dealt_by_turns_of_blocks(backend, dtype, size, ranks):
    launch, seed = Launch(backend, "permute", dtype), np.uint64(2**64 - 7)
    ids, out, back = np.arange(size, dtype=dtype), np.full(size, POISON, dtype), np.full(size, POISON, dtype)
    launch(size, ids, out, size, ranks, seed, names=("permute_deal",))
    expected = DealtMap.of(size, ranks, 2**64 - 7)
    np.testing.assert_array_equal(out, expected.to_position(get_backend("cpu"), ids))
    launch(size, out, back, size, ranks, seed, names=("permute_collect",))
    np.testing.assert_array_equal(back, ids)
    owner = np.searchsorted(expected.offsets[1:-1], out, side="right")
    for block in range(size // ranks):
        mine = owner[block * ranks : (block + 1) * ranks]
        assert mine.tolist() == ((np.arange(ranks) + mine[0]) % ranks).tolist()


def trees(slots, pairs):
    """The smallest member of each slot's tree."""
    root = list(range(slots))

    def find(v: int) -> int:
        while root[v] != v:
            v = root[v]
        return v

    for u, v in pairs:
        a, b = sorted((find(u), find(v)))
        root[b] = a
    return np.array([find(v) for v in range(slots)])


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("repeat", range(3))
def test_hook_and_compress_find_the_smallest_of_each_tree(backend, dtype, rng, repeat, hub):
    owned, slots = 300, 420
    indptr, indices = random_rows(rng, owned, slots, dtype, hub)
    if not hub:
        keep = np.repeat(rng.random(owned) < 0.25, np.diff(indptr))
        degrees = np.array([keep[a:b].sum() for a, b in pairwise(indptr)])
        indices, indptr = indices[keep], np.concatenate([[0], np.cumsum(degrees)])
    link, counters = np.arange(slots, dtype=dtype), np.zeros(len(COUNTS), np.int64)
    pack = Trees(
        indptr=indptr, indices=indices, link=link, hubs=np.full(owned, POISON, dtype), counters=counters
    )  # fmt: skip
    launch = Launch(backend, "components", dtype)
    rows = rng.permutation(owned).astype(dtype)
    launch(owned, rows, pack, names=("components_hook", "components_hook_hubs"))
    launch(slots, link, names=("components_compress",))
    root = link
    sources = np.repeat(np.arange(owned), np.diff(indptr))
    expected = trees(slots, zip(sources.tolist(), indices.tolist(), strict=True))
    np.testing.assert_array_equal(root, expected)
    assert COUNTS.of(counters).edges == len(indices)
    ids = rng.permutation(10**6)[:owned].astype(dtype)
    label = np.full(slots, np.iinfo(dtype).max, dtype)
    launch(owned, ids, link, label, names=("components_label",))
    smallest = np.full(slots, np.iinfo(dtype).max, dtype)
    np.minimum.at(smallest, expected[:owned], ids)
    np.testing.assert_array_equal(label, smallest)


@pytest.mark.parametrize("few", [0, 1, 2, 50])
def test_sampling_hooks_the_first_neighbours_and_pairs_are_hooked(backend, dtype, rng, few):
    owned, slots = 300, 420
    indptr, indices = random_rows(rng, owned, slots, dtype)
    link, launch = np.arange(slots, dtype=dtype), Launch(backend, "components", dtype)
    launch(owned, indptr, indices, link, few, names=("components_sample",))
    launch(slots, link, names=("components_compress",))
    pairs = [(u, int(v)) for u in range(owned) for v in indices[indptr[u] : indptr[u + 1]][:few]]
    np.testing.assert_array_equal(link, trees(slots, pairs))
    a, b = (rng.integers(0, slots, 60).astype(dtype) for _ in range(2))
    launch(60, a, b, link, names=("components_pairs",))
    launch(slots, link, names=("components_compress",))
    np.testing.assert_array_equal(link, trees(slots, pairs + list(zip(a.tolist(), b.tolist(), strict=True))))


@pytest.mark.parametrize("repeat", range(3))
def test_a_witness_is_an_edge_to_a_ghost_with_the_wanted_label(backend, dtype, rng, repeat):
    owned, bounds = 60, np.array([0, 60, 80, 80, 110])
    indptr, indices = random_rows(rng, owned, 110, dtype)
    root = 3
    link = np.where(rng.random(110) < 0.2, root, np.arange(110)).astype(dtype)
    reported = rng.integers(0, 12, 110 - owned).astype(dtype)
    wanted, found = np.array([5, 5, 7, 9 if repeat else -1], dtype), np.zeros(4, np.int32)
    rows = rng.permutation(owned)[:50].astype(dtype)
    expected = np.zeros(4, np.int32)
    for v in rows[link[rows] == root]:
        for ghost in indices[indptr[v] : indptr[v + 1]]:
            step = int(np.searchsorted(bounds, ghost, side="right")) - 1
            if step and reported[ghost - owned] == wanted[step]:
                expected[step] = 1
    Launch(backend, "components", dtype)(
        len(rows),
        rows,
        indptr,
        indices,
        link,
        root,
        owned,
        reported,
        bounds,
        wanted,
        found,
        names=("components_witness",),
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [1, 255, 256, 257, 5000])
def test_rows_outside_a_tree_are_queued(backend, dtype, rng, rows):
    link = rng.choice([4, 4, 4, 7, 9], rows).astype(dtype)
    out, inward = (rng.choice([0, 0, 2], rows) for _ in range(2))
    queue, counters = np.full(rows, POISON, dtype), np.zeros(len(OUTSIDE), np.int64)
    indptr, other_indptr = (np.concatenate([[0], np.cumsum(degree)]) for degree in (out, inward))
    pack = Outside(link=link, root=4, indptr=indptr, other_indptr=other_indptr, rows=queue, counters=counters)
    Launch(backend, "components", dtype)(rows, pack, names=("components_outside",))
    check_queue(queue, OUTSIDE.of(counters).rows, np.flatnonzero((link != 4) & (out + inward > 0)).tolist())


@pytest.mark.parametrize("repeat", range(3))
def test_ghosts_show_which_labels_meet(backend, dtype, rng, repeat):
    owned, slots, bounds = 60, 160, np.array([0, 60, 80, 80, 160])
    link = np.where(rng.random(slots) < 0.7, rng.integers(0, owned, slots), np.arange(slots)).astype(dtype)
    label = rng.integers(0, 4, slots).astype(dtype)
    reported, giants = rng.integers(0, 4, slots - owned).astype(dtype), np.array([2, 1, -1, repeat % 4], dtype)
    pairs, joined = [], np.zeros(4, np.int32)
    for ghost in range(owned, slots):
        if link[ghost] != ghost:
            step, pair = (1 if ghost < 80 else 3), (int(label[link[ghost]]), int(reported[ghost - owned]))
            if pair[0] == pair[1]:
                continue
            if pair == (2, giants[step]):
                joined[step] = 1
            else:
                pairs.append(pair)
    here, there = np.full(slots - owned, POISON, dtype), np.full(slots - owned, POISON, dtype)
    found, counters = np.zeros(4, np.int32), np.zeros(len(MET), np.int64)
    pack = Meetings(
        owned=owned, link=link, label=label, reported=reported, bounds=bounds, giants=giants, found=found, here=here,
        there=there, counters=counters,
    )  # fmt: skip
    Launch(backend, "components", dtype)(slots - owned, pack, names=("components_meet",))
    np.testing.assert_array_equal(found, joined)
    count = MET.of(counters).pairs
    assert sorted(zip(here[:count].tolist(), there[:count].tolist(), strict=True)) == sorted(pairs)
    assert (here[count:] == POISON).all()


def test_roots_take_new_names(backend, dtype):
    link, label = np.array([0, 1, 0, 3, 4], dtype), np.array([30, 5, 30, 20, 40], dtype)
    names, place = np.array([5, 20, 30], dtype), np.array([0, 0, 2], dtype)
    Launch(backend, "components", dtype)(5, link, label, names, place, 3, names=("components_rename",))
    assert label.tolist() == [30, 5, 30, 5, 40]


@pytest.mark.parametrize("entries", [0, 1, 40, 3000])
def test_rows_are_filled_and_sorted(dtype, rng, entries):
    num_rows = 30
    rows, columns = rng.integers(0, num_rows, entries).astype(dtype), rng.integers(0, 1000, entries).astype(dtype)
    rows[: entries // 3] = 11  # a row that is long enough for another way of sorting
    indptr, out = np.zeros(num_rows + 1, np.int64), np.full(entries, POISON, dtype)
    kernels = get_backend("cpu").kernels("rows")
    kernels.rows_count(entries, rows, indptr)
    np.testing.assert_array_equal(indptr[1:], np.bincount(rows, minlength=num_rows))
    kernels.rows_fill(entries, rows, columns, None, indptr, out, None)
    kernels.rows_sort(num_rows, indptr, out)
    order = np.lexsort((columns, rows))
    np.testing.assert_array_equal(out, columns[order])
    np.testing.assert_array_equal(np.diff(indptr), np.bincount(rows, minlength=num_rows))
    ids = rng.permutation(1000)[:num_rows].astype(dtype)
    assert kernels.rows_loops(num_rows, indptr, out, ids) == (ids[np.sort(rows)] == out).sum()


@pytest.mark.parametrize("weight", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize(("entries", "few"), [(0, 5), (1, 5), (40, 5), (3000, 5), (3000, 1000), (20_000, 3)])
def test_rows_with_weights_are_sorted_as_they_come(dtype, rng, entries, few, weight):
    num_rows = 30
    rows, columns = rng.integers(0, num_rows, entries).astype(dtype), rng.integers(0, few, entries).astype(dtype)
    rows[: entries // 3] = 11  # runs of a few, which are merged
    weights = rng.integers(-3, 4, entries).astype(weight)
    weights[rng.random(entries) < 0.2] *= -1  # -0.0 is equal to 0.0, and other bits
    indptr, out, out_weights = np.zeros(num_rows + 1, np.int64), np.full(entries, POISON, dtype), np.empty_like(weights)
    kernels = get_backend("cpu").kernels("rows")
    kernels.rows_count(entries, rows, indptr)
    longest = indptr.max()
    kernels.rows_fill(entries, rows, columns, weights, indptr, out, out_weights)
    spare = np.full(longest, POISON, dtype), np.empty(longest, weight)
    kernels.rows_sort_weighted(num_rows, indptr, out, out_weights, *spare)
    order = np.lexsort((weights, columns, rows))
    np.testing.assert_array_equal(out, columns[order])
    assert out_weights.tobytes() == weights[order].tobytes()
    kept = kernels.rows_merge(num_rows, indptr, out, out_weights)
    pairs, first = np.unique(np.stack([rows, columns])[:, order], axis=1, return_index=True)
    assert kept == len(first)
    np.testing.assert_array_equal(out[:kept], pairs[1])
    assert out_weights[:kept].tobytes() == weights[order][first].tobytes()
    np.testing.assert_array_equal(np.diff(indptr), np.bincount(pairs[0], minlength=num_rows))


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("wrong", [None, 0.0, 0.5, 1.0])
def test_check_of_labels(backend, dtype, rng, wrong, hub):
    indptr, indices = random_rows(rng, 80, 100, dtype, hub)
    label = np.full(100, 6, dtype)
    expected = np.iinfo(np.int64).max
    if wrong is not None:
        edge = int(wrong * (len(indices) - 1))
        label[indices[edge]] = 5
        rows = np.repeat(np.arange(80), np.diff(indptr))
        bad = np.flatnonzero(label[rows] != label[indices])
        expected = bad[0] if len(bad) else expected
    first_bad = np.array([np.iinfo(np.int64).max])
    pack = Trees(
        indptr=indptr, indices=indices, hubs=np.full(80, POISON, dtype), counters=np.zeros(len(COUNTS), np.int64)
    )  # fmt: skip
    Launch(backend, "components", dtype)(
        80, label, first_bad, pack, names=("components_check", "components_check_hubs")
    )  # fmt: skip
    assert first_bad[0] == expected


def test_no_work_changes_nothing(backend, dtype):
    link = backend.from_host(np.full(4, POISON, dtype))
    backend.kernels("components", index_t=dtype).components_compress(0, link)
    backend.synchronize()
    assert (backend.to_host(link) == POISON).all()


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_numbers_are_tallied_on_top_of_what_was_counted(backend, dtype, count, rng):
    numbers, counts = rng.integers(0, 37, count).astype(dtype), np.arange(40)
    Launch(backend, "tally", dtype)(count, numbers, counts, names=("tally_count",))
    np.testing.assert_array_equal(counts, np.arange(40) + np.bincount(numbers, minlength=40))


@pytest.mark.parametrize("count", [0, 1, 5000])
def test_edges_that_are_no_self_loops_are_listed(backend, dtype, count, rng):
    src, dst = rng.integers(0, 9, (2, count)).astype(dtype)
    others, found = np.full(count, POISON), np.zeros(1, np.uint64)
    Launch(backend, "sorted_rows", dtype)(count, src, dst, others, found, names=("sorted_rows_others",))
    assert sorted(others[: int(found[0])].tolist()) == [i for i in range(count) if src[i] != dst[i]]


@pytest.mark.parametrize(("count", "rounds"), [(0, 8), (1, 8), (5000, 8), (5000, 200)])
def test_active_vertices_have_rounds_by_the_hash_of_their_numbers(backend, count, rounds, rng):
    numbers, active = rng.permutation(2**40 + np.arange(count)), (rng.random(count) < 0.4).astype(np.uint8)
    turn, counts, key = (
        np.full(count, 255, np.uint8),
        np.ones(rounds, np.uint64),
        int(rng.integers(0, 2**64, dtype=np.uint64)),
    )
    given = np.uint64(key), rounds, active, numbers, turn, counts
    Launch(backend, "communities", np.int32)(count, *given, names=("communities_turns",))
    low = (1 << 64) - 1
    for place, number in enumerate(numbers.tolist()):
        x = (number * 0x9E3779B97F4A7C15 + key) & low
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & low
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & low
        assert turn[place] == (((x ^ x >> 31) >> 32) * rounds >> 32 if active[place] else rounds)
    assert counts.tolist() == [1 + (turn == k).sum() for k in range(rounds)]


@pytest.mark.parametrize("count", [0, 1, 3000])
def test_numbers_ascend_from_the_first_one(backend, dtype, count):
    numbers = np.full(count + 1, POISON, dtype)
    Launch(backend, "sorted_rows", dtype)(count, 70, numbers, names=("sorted_rows_numbers",))
    assert numbers.tolist() == [*range(70, 70 + count), POISON]


@pytest.mark.parametrize("rows", [1, 2, 900])
def test_sources_are_the_rows_of_the_edges(backend, dtype, rows, rng):
    lengths = rng.integers(0, 12, rows) * (rng.random(rows) < 0.7)
    lengths[rows // 2] = 5000
    indptr, sources = np.concatenate([[0], np.cumsum(lengths)]), np.full(lengths.sum() + 1, POISON, dtype)
    Launch(backend, "sorted_rows", dtype)(lengths.sum(), rows, 30, indptr, sources, names=("sorted_rows_sources",))
    assert sources.tolist() == [30 + row for row, length in enumerate(lengths) for _ in range(length)] + [POISON]


@pytest.mark.parametrize("named", [False, True])
def test_degrees_count_self_loops_twice_where_vertices_are_given(backend, dtype, named, rng):
    vertices, slots = 50, 70
    number = rng.permutation(slots) if named else np.arange(slots)
    rows = [sorted(rng.integers(0, slots, 5 * (u % 7)).tolist() + [u] * (u % 3), key=lambda v: number[v])
            for u in range(vertices)]  # fmt: skip
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices, ids = np.array([v for row in rows for v in row], dtype), number[:vertices].astype(dtype)
    launch, of_slots = Launch(backend, "sorted_rows", dtype), number.astype(dtype) if named else None
    for loops in (False, True):
        degrees = np.full(vertices, 100)
        given = indptr, indices, of_slots, ids if loops else None, degrees
        launch(vertices, *given, names=("sorted_rows_degrees",))
        assert degrees.tolist() == [100 + len(row) + loops * row.count(u) for u, row in enumerate(rows)]


@pytest.mark.parametrize("count", [0, 1, 3000])
def test_rows_lie_between_sorted_keys(backend, count, rng):
    vertices = 61
    ids, launch = rng.permutation(vertices).astype(np.int32), Launch(backend, "sorted_rows", np.int32)
    rows, columns = rng.integers(0, vertices - 1, (2, count)).astype(np.int32)
    keys, indptr, loops = np.full(count, POISON), np.full(vertices + 1, POISON), np.ones(1, np.uint64)
    launch(count, None, rows, columns, keys, names=("sorted_rows_keys",))
    assert keys.tolist() == [int(row) * 2**32 + int(column) for row, column in zip(rows, columns, strict=True)]
    some, of_some = rng.permutation(count)[: count // 2], np.full(count, POISON)
    launch(count // 2, some, rows, columns, of_some, names=("sorted_rows_keys",))
    assert of_some.tolist() == [*keys[some].tolist(), *[POISON] * (count - count // 2)]
    keys.sort()
    launch(vertices + 1, keys, count, ids, indptr, loops, names=("sorted_rows_begins",))
    np.testing.assert_array_equal(np.diff(indptr), np.bincount(rows, minlength=vertices))
    assert (indptr[0], int(loops[0])) == (0, 1 + sum(ids[rows] == columns))
    out = np.full(count, POISON, np.int32)
    launch(count, keys, out, names=("sorted_rows_columns",))
    np.testing.assert_array_equal(np.sort(out), np.sort(columns))
