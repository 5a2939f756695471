"""Kernels over a chunk on a device and their twins leave the same behind; outputs are poisoned first."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_launch import POISON, ordered_sum, random_rows, values_of

from graphdask.device.backend import get_backend
from graphdask.kernels.common.packs import Pack
from graphdask.kernels.common.queues_pack import QueueEntries
from graphdask.kernels.stream import layered_kept as kept
from graphdask.kernels.stream import layered_sums as sums
from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.kernels.stream.layered_hooks_pack import COUNTS as HOOKS
from graphdask.kernels.stream.layered_hooks_pack import TreesThere
from graphdask.kernels.stream.layered_kept_pack import KeptSums
from graphdask.kernels.stream.layered_paths_pack import ChunkLabels, TightEdges
from graphdask.kernels.stream.layered_search_pack import COUNTS as SEARCH
from graphdask.kernels.stream.layered_search_pack import SearchThere
from graphdask.kernels.stream.layered_sums_pack import COUNTS as SUMS
from graphdask.kernels.stream.layered_sums_pack import ChunkSums

FIRST, ROWS, COUNT = 40, 300, 400
"""The chunk has rows 40 to 339 of 400 positions."""
NONE = np.iinfo(np.int64).max


@pytest.fixture
def both(backend):
    """Call kernels of a backend and the twins; the arrays as each leaves them."""

    def call(family, calls, cooperative=False, **types):
        left = []
        for device in (backend, get_backend("cpu")):
            kernels = device.kernels(family, cooperative=cooperative, **types)
            sent: dict[int, tuple] = {}
            for name, n, *arguments in calls:
                getattr(kernels, name)(n, *(there(device, argument, sent) for argument in arguments))
            device.synchronize()
            left.append({key: device.to_host(array) for key, (array, _) in sent.items()})
        return lambda array: (left[0][id(array)], left[1][id(array)])

    return call


def there(device, argument, sent):
    """An array, or those of a pack, on a device; each once."""
    if isinstance(argument, Pack):
        fields = values_of(argument).items()
        return type(argument)(**{name: there(device, value, sent) for name, value in fields})
    if not isinstance(argument, np.ndarray):
        return argument
    return sent.setdefault(id(argument), (device.from_host(argument.copy()), argument))[0]


def rows(rng, hub=True):
    indptr, targets = random_rows(rng, ROWS, COUNT, np.int32, hub)
    return indptr, targets, rng.permutation(COUNT)[:ROWS].astype(np.int32)


def scratch():
    return np.full(ROWS, POISON, np.int32), np.full(ROWS, POISON, np.int32), np.zeros(len(COUNTS), np.int64)


def same(pair):
    np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize(("dtype", "packed"), [(np.int64, None), (np.int64, 1), (np.float64, None)])
def test_labels_fall_until_no_row_of_the_chunk_is_active(both, rng, dtype, packed):

    indptr, targets, ids = rows(rng)
    weight = np.int32 if dtype == np.int64 else np.float32
    weights = rng.integers(1, 9, len(targets)).astype(weight)
    labels = np.full(COUNT, NONE if dtype == np.int64 else np.inf, dtype)
    active = np.zeros(COUNT, np.uint8)
    for start in range(FIRST, FIRST + 40):
        labels[start], active[start] = (5 << 32 | 7) if packed else 5, 1
    queue, hubs, counters = scratch()
    for begin, end in ((0, COUNT), (FIRST, FIRST + ROWS)):
        pack = ChunkLabels(
            first=FIRST, indptr=indptr, ids=ids, targets=targets, weights=weights, each=-1, begin=begin, end=end,
            packed=packed, active=active, labels=labels, queue=queue, hubs=hubs, counters=counters,
        )  # fmt: skip
        left = both(
            "layered_paths",
            [("layered_relax_chunk", ROWS, pack)],
            True,
            index_t=np.int32,
            weight_t=weight,
            dist_t=dtype,
        )
        same(left(labels))
        same(left(active))
        assert not left(active)[0][FIRST : FIRST + ROWS].any()
        assert left(active)[0].any()


class InPlace:
    """Three chunks of a graph, the last not in memory at first; with rows of more edges than a block takes."""

    def __init__(self, rng, ids):
        src, dst = rng.integers(0, COUNT - 9, 900), rng.integers(0, COUNT - 9, 900)
        src = np.concatenate([src, np.full(9000, 7), [COUNT - 1]])
        dst = np.concatenate([dst, np.arange(9000) % 300, [COUNT - 2]])
        self.src, self.dst = np.concatenate([src, dst]), np.concatenate([dst, src])
        self.targets = self.dst[np.lexsort((ids[self.dst], self.src))].astype(np.int32)
        self.degrees, self.firsts = np.bincount(self.src, minlength=COUNT), np.array([0, 100, 260])
        before = np.append(0, np.cumsum(self.degrees))
        self.parts = np.split(self.targets, before[self.firsts[1:]])
        before += 2**32 - 500  # which wraps around
        self.ends, self.begins = before.astype(np.uint32), before[self.firsts]

    def launches(self, device):
        """What kernels are given, without the last chunk and with it."""
        self.kept = [
            device.from_host(np.append(part, np.full(-len(part) % 4, POISON, np.int32))) for part in self.parts
        ]
        bases = [part.ctypes.data if isinstance(part, np.ndarray) else device.address(part) for part in self.kept]
        firsts, begins, ends = map(device.from_host, (self.firsts, self.begins, self.ends))
        for there in (np.array([*bases[:2], 0], np.uint64), np.array(bases, np.uint64)):
            yield {"chunks": 3, "firsts": firsts, "begins": begins, "bases": device.from_host(there), "ends": ends}


@pytest.mark.parametrize(
    ("pulls", "capacity", "numbered"), [(0, 4000, True), (0, 1, False), (1, 4000, True), (1, 1, False)]
)
def test_a_search_reads_rows_where_they_are(backend, rng, pulls, capacity, numbered):
    ids = rng.permutation(COUNT).astype(np.int32) if numbered else np.arange(COUNT, dtype=np.int32)
    rows, source, left = InPlace(rng, ids), 20, []
    for device in (backend, get_backend("cpu")):
        labels, queues = np.full(COUNT, NONE), np.full(2 * capacity, POISON, np.int32)
        labels[source], queues[0] = ids[source], source
        at, words = SEARCH.place, np.zeros(len(SEARCH), np.int64)
        words[at.listed], words[at.found.start], words[at.left] = 1, 1, len(rows.targets)
        words[at.edges.start] = rows.degrees[source]
        labels_, queues_, asked = map(device.from_host, (labels, queues, np.zeros(3, np.uint64)))
        ids_, hubs = device.from_host(ids) if numbered else None, device.from_host(np.full(9, POISON, np.int32))
        kernel = device.kernels("layered_search", cooperative=True, index_t=np.int32).layered_search
        for missing, given in zip((True, False), rows.launches(device), strict=True):
            words[at.arrived], words[at.hubs], words[at.missing] = 0, 0, 0
            pack = SearchThere(
                ids=ids_, pulls=pulls, labels=labels_, queues=queues_, capacity=capacity, hubs=hubs, asked=asked,
                counters=device.from_host(words), **given,
            )  # fmt: skip
            kernel(COUNT, pack)
            device.synchronize()
            words = device.to_host(pack.counters)
            assert words[at.missing].any() == missing
        left.append((device.to_host(labels_), device.to_host(asked), words[at.depth]))
    for mine, twin in zip(*left, strict=True):
        np.testing.assert_array_equal(mine, twin)
    labels, far, depth = left[0][0], np.full(COUNT, -1), 0
    far[source] = 0
    while (far == depth).any():
        after = rows.dst[far[rows.src] == depth]
        far[after[far[after] < 0]], depth = depth + 1, depth + 1
    np.testing.assert_array_equal(np.where(labels == NONE, -1, labels >> 32), far)
    for v in np.flatnonzero(far > 0):
        nearer = rows.src[(rows.dst == v) & (far[rows.src] == far[v] - 1)]
        assert labels[v] & 0xFFFFFFFF == ids[nearer].min()


@pytest.mark.parametrize("giant", [-1, 7])
def test_trees_are_joined_over_rows_where_they_are(backend, rng, giant):
    rows, left = InPlace(rng, np.arange(COUNT)), []
    for device in (backend, get_backend("cpu")):
        kernels, missing = device.kernels("layered_hooks", index_t=np.int32), []
        link, asked = device.from_host(np.arange(COUNT, dtype=np.int32)), device.from_host(np.zeros(3, np.uint64))
        for kernel in ("layered_hook_first", "layered_hook_rest"):
            n = COUNT if kernel == "layered_hook_first" else 32 * COUNT
            for given in rows.launches(device):
                counters = device.from_host(np.zeros(len(HOOKS), np.int64))
                pack = TreesThere(link=link, giant=giant, asked=asked, counters=counters, **given)
                getattr(kernels, kernel)(n, pack)
                device.synchronize()
                missing.append(bool(device.to_host(counters)[HOOKS.place.missing]))
        assert [missing[0], missing[1], missing[2] or giant >= 0, missing[3]] == [True, False, True, False]
        found = device.to_host(link)
        while (found[found] != found).any():
            found = found[found]
        left.append((found, device.to_host(asked)))
    for mine, twin in zip(*left, strict=True):
        np.testing.assert_array_equal(mine, twin)
    label = np.arange(COUNT)
    while (label[rows.src] != label[rows.dst]).any():
        np.minimum.at(label, rows.dst, label[rows.src])
    np.testing.assert_array_equal(left[0][0], label)


@pytest.mark.parametrize(("dtype", "packed"), [(np.int64, None), (np.int64, 1), (np.float64, None)])
def test_the_lowest_of_what_others_have_seen_is_taken(both, rng, dtype, packed):
    labels, values = (rng.integers(0, 9, size).astype(dtype) for size in (COUNT, 3 * COUNT))
    if packed:
        labels, values = (array << 32 | rng.integers(0, 99, len(array)) for array in (labels, values))
    positions, active = rng.integers(0, COUNT, len(values)).astype(np.int32), np.zeros(COUNT, np.uint8)
    call = ("layered_take", len(values), positions, values, ChunkLabels(packed=packed, active=active, labels=labels))
    left = both("layered_paths", [call], index_t=np.int32, weight_t=np.int32 if dtype == np.int64 else np.float32,
                dist_t=dtype)  # fmt: skip
    lowest = labels.copy()
    np.minimum.at(lowest, positions, values)
    np.testing.assert_array_equal(left(labels)[0], lowest)
    same(left(labels))
    same(left(active))
    fell = lowest >> 32 < labels >> 32 if packed else lowest < labels
    np.testing.assert_array_equal(left(active)[0] > 0, fell)


def test_parents_are_offered_over_tight_edges(both, rng):
    indptr, targets, ids = rows(rng)
    weights = rng.integers(0, 3, len(targets)).astype(np.int32)
    distance = rng.integers(0, 6, COUNT).astype(np.int64)
    distance[rng.random(COUNT) < 0.2] = NONE
    parent, flat = np.full(COUNT, 2**31 - 1, np.int32), np.zeros(COUNT, np.uint8)
    hops, active = rng.integers(-1, 3, COUNT).astype(np.int32), np.zeros(COUNT, np.uint8)
    hops[distance == NONE] = -1
    _, hubs, counters = scratch()
    pack = TightEdges(
        first=FIRST, indptr=indptr, ids=ids, targets=targets, weights=weights, each=-1, distance=distance,
        parent=parent, flat=flat, hops=hops, hop=1, active=active, hubs=hubs, counters=counters,
    )  # fmt: skip
    types = {"index_t": np.int32, "weight_t": np.int32, "dist_t": np.int64}
    left = both("layered_paths", [("layered_offer", ROWS, pack), ("layered_offer_hubs", ROWS, pack)], **types)
    same(left(parent))
    same(left(flat))
    reached = np.diff(indptr)[distance[FIRST : FIRST + ROWS] != NONE].sum()
    here, twin = (array[COUNTS.place.looked] for array in left(counters))
    assert twin == reached
    assert here in (reached, len(targets))  # a GPU tests the edges of all rows
    left = both("layered_paths", [("layered_further", ROWS, pack), ("layered_further_hubs", ROWS, pack)], **types)
    for array in (hops, parent, active):
        same(left(array))


def test_labels_come_apart_by_vertex_number(both, rng):
    labels, ids = rng.integers(0, 9, COUNT) << 32 | rng.integers(0, COUNT, COUNT), rng.permutation(COUNT)
    labels[5] = NONE
    depth, wide, parent = np.full(COUNT, POISON, np.int32), np.full(COUNT, POISON), np.full(COUNT, POISON, np.int32)
    for numbers, out in ((ids.astype(np.int32), (depth, None)), (None, (None, wide))):
        left = both("layered_paths", [("layered_unpack", COUNT, labels, numbers, *out, parent)], index_t=np.int32,
                    weight_t=np.int32, dist_t=np.int64)  # fmt: skip
        same(left(parent))
        same(left(depth if numbers is not None else wide))


@pytest.mark.parametrize(("first", "rows"), [(0, 400), (0, 60), (40, 300), (200, 90), (399, 1), (10, 0)])
def test_positions_become_slots(both, rng, first, rows):
    targets = rng.integers(0, COUNT, 3000).astype(np.int32)
    left = both("layered_trees", [("layered_slots", len(targets), targets, first, rows)], index_t=np.int32)
    same(left(targets))
    order = np.arange(COUNT)
    moved, place = min(first, rows), max(first, rows)
    order[:moved], order[place : place + moved] = np.arange(place, place + moved), np.arange(moved)
    order[first : first + rows] = np.arange(rows)
    np.testing.assert_array_equal(left(targets)[0], order[targets])
    left = both("layered_trees", [("layered_cyclic", len(targets), targets, first, COUNT)], index_t=np.int32)
    same(left(targets))
    np.testing.assert_array_equal(left(targets)[0], (targets - first) % COUNT)


@pytest.mark.parametrize("differ", [0, 1])
def test_walkers_are_put_down_where_they_wait(both, rng, differ):
    n, width, budget, parts = 700, 9, 3, 5
    queue, made = rng.permutation(n)[:500].astype(np.int64), rng.integers(0, budget + 1, 500).astype(np.int32)
    path, target = rng.integers(0, COUNT, (2, 500 * budget)).astype(np.int32)
    path, target = path.reshape(500, budget), np.where(rng.random(500) < 0.3, -1, target[:500]).astype(np.int32)
    table, cuts = rng.permutation(COUNT).astype(np.int32), np.array([0, 1, 150, 220, 399])
    walks, lengths = np.full((n, width), -1, np.int32), rng.integers(0, width - budget, n).astype(np.int32)
    at, places, tally = np.full(n, POISON, np.int32), np.full(n, POISON, np.int32), np.zeros(parts + 2, np.int64)
    before = lengths[queue].copy()
    pack = QueueEntries(
        queue=queue, path=path, budget=budget, made=made, target=target, table=table, differ=differ, cuts=cuts,
        parts=parts, walks=walks, width=width, lengths=lengths, at=at, places=places, tally=tally,
    )  # fmt: skip
    left = both("queues", [("queues_leave", len(queue), pack)])
    for array in (walks, lengths, at, places, tally):
        same(left(array))
    position = np.where(differ, table[target], target)
    expected = np.where(target < 0, parts, np.searchsorted(cuts, position, side="right") - 1)
    np.testing.assert_array_equal(left(places)[0][queue], expected)
    np.testing.assert_array_equal(left(at)[0][queue], np.where(target < 0, POISON, position))
    np.testing.assert_array_equal(left(tally)[0], [*np.bincount(expected, minlength=parts + 1), made.sum()])
    np.testing.assert_array_equal(left(lengths)[0][queue], before + made)
    for walker, begin, count, steps in zip(queue, before, made, path, strict=True):
        np.testing.assert_array_equal(left(walks)[0][walker, begin + 1 : begin + 1 + count], steps[:count])


@pytest.mark.parametrize("giant", [-1, 77])
def test_trees_are_joined_and_what_is_outside_is_flagged(both, rng, giant):
    indptr, targets, _ = rows(rng, hub=giant < 0)
    link = np.arange(COUNT, dtype=np.int32)
    link[60:90] = 60
    if giant >= 0:
        sources = FIRST + np.repeat(np.arange(ROWS), np.diff(indptr))
        targets[:] = np.where(sources < 60, targets % 60, np.where(sources < 90, targets, 90 + targets % 310))
    queue, hubs, counters = scratch()
    firsts, flags, roots = np.array([0, 40, 100, 340]), np.zeros(4, np.uint64), np.full(COUNT, POISON, np.int32)
    positions = np.arange(COUNT, dtype=np.int32)
    pack = ChunkRows(first=FIRST, indptr=indptr, targets=targets, hubs=hubs, counters=counters)
    calls = [("layered_join", ROWS, link, giant, queue, pack),
             ("layered_roots", COUNT, positions, link, roots),
             ("layered_outside_of", COUNT, 0, link, 77, firsts, 4, flags)]  # fmt: skip
    left = both("layered_trees", calls, True, index_t=np.int32)
    same(left(roots))
    same(left(flags))
    assert giant < 0 or (left(counters)[0][:2] == left(counters)[1][:2]).all()


def test_marks_flag_their_chunks_and_edges_to_oneself_are_found(both, rng):
    marks = np.zeros(COUNT, np.uint8)
    marks[[39, 40, 399]] = 1
    firsts, flags = np.array([0, 40, 100, 340]), np.zeros(4, np.uint64)
    words = marks.view(np.uint64)
    left = both("layered_trees", [("layered_active", len(words), words, firsts, 4, flags)], index_t=np.int32)
    assert left(flags)[0].tolist() == left(flags)[1].tolist() == [1, 1, 0, 1]
    indptr, targets, _ = rows(rng)
    loop, (_, hubs, counters) = np.zeros(COUNT, np.uint8), scratch()
    pack = ChunkRows(first=FIRST, indptr=indptr, targets=targets, hubs=hubs, counters=counters)
    calls = [(name, ROWS, loop, pack) for name in ("layered_own", "layered_own_hubs")]
    left = both("layered_trees", calls, index_t=np.int32)
    same(left(loop))
    sources = FIRST + np.repeat(np.arange(ROWS), np.diff(indptr))
    np.testing.assert_array_equal(np.flatnonzero(left(loop)[0]), np.unique(sources[targets == sources]))


@pytest.mark.parametrize(("real", "weight"), [(np.float64, None), (np.float64, np.int64), (np.float32, np.float64)])
def test_rows_are_summed_in_the_order_of_pagerank(both, rng, real, weight):
    few = [0, 1, 8, 9, 64, 65, 255, 256, 257, 512, 513, 2049, 5000, 3, 70_000, 7]
    degrees = np.concatenate([few, rng.integers(0, 12, 600), few[::-1]]).astype(np.uint32)
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    targets, x = rng.integers(0, COUNT, indptr[-1]).astype(np.int32), rng.random(COUNT).astype(real)
    weights = None if weight is None else (rng.random(len(targets)) * 9).astype(weight)
    n, longer, low, high = len(degrees), len(targets) // sums.LONG, 5, len(degrees) - 7
    counters, cleared = np.zeros(len(SUMS), np.int64), np.full(len(SUMS), 9)
    some, every = np.full(high - low, np.nan), np.full(n, np.nan)
    given = {
        "rows": n, "degrees": degrees, "targets": targets, "weights": weights, "weighted": int(weight is not None),
        "x": x, "items": np.full(n, POISON), "goes": np.full(n, POISON, np.int32), "parts": np.full(2 * longer, POISON),
        "partial": np.full(2 * longer, np.nan), "longer": np.full(longer, POISON, np.int32),
        "places": np.full(longer, POISON, np.int32), "totals": np.full(600, POISON),
    }  # fmt: skip
    first = ChunkSums(low=low, high=high, sums=some, counters=counters, cleared=cleared, **given)
    second = ChunkSums(low=0, high=n, sums=every, counters=cleared, cleared=counters, **given)
    calls = [("layered_sum", n, first), ("layered_sum", 8 * n, second)]
    left = both("layered_sums", calls, True, index_t=np.int32, real_t=real, weight_t=weight or np.float32)
    values = x[targets].astype(np.float64)
    if weight is not None:
        values = weights.astype(real).astype(np.float64) * values
    expected = np.array([ordered_sum(values[a:b]) for a, b in pairwise(indptr)])
    for device in (0, 1):
        np.testing.assert_array_equal(left(every)[device], expected)
        np.testing.assert_array_equal(left(some)[device], expected[low:high])
    assert not left(counters)[0].any()


def test_a_chunk_of_no_edges_and_one_row_that_is_all(both, rng):
    kinds = {"items": np.int64, "goes": np.int32, "parts": np.int64, "partial": np.float64, "longer": np.int32,
             "places": np.int32, "totals": np.int64}  # fmt: skip
    capacity = {name: np.full(2000, kind(POISON)) for name, kind in kinds.items()}
    targets, x = rng.integers(0, COUNT, 70_000).astype(np.int32), rng.random(COUNT)
    for degrees in (np.zeros(3, np.uint32), np.array([0, 70_000, 0], np.uint32)):
        counters, cleared, found = *np.zeros((2, len(SUMS)), np.int64), np.full(3, np.nan)
        pack = ChunkSums(
            rows=3, low=0, high=3, degrees=degrees, targets=targets, weighted=0, x=x, sums=found, counters=counters,
            cleared=cleared, **capacity,
        )  # fmt: skip
        left = both(
            "layered_sums",
            [("layered_sum", 9000, pack)],
            True,
            index_t=np.int32,
            real_t=np.float64,
            weight_t=np.float32,
        )
        expected = [0.0, ordered_sum(x[targets]) if degrees.any() else 0.0, 0.0]
        np.testing.assert_array_equal(left(found)[0], expected)
        np.testing.assert_array_equal(left(found)[1], expected)


@pytest.mark.parametrize(("real", "weight"), [(np.float64, None), (np.float64, np.int64), (np.float32, np.float64)])
def test_rows_of_several_chunks_are_summed_by_one_launch(both, rng, real, weight):
    few = [0, 1, 8, 9, 64, 65, 255, 256, 257, 512, 513, 2049, 5000, 3, 70_000, 7]
    of_chunks = [np.concatenate([few, rng.integers(0, 12, 600), few[::-1]]), np.zeros(3), rng.integers(50, 300, 256),
                 np.full(257, 1), rng.integers(0, 80, 300), np.array([513])]  # fmt: skip
    x, own = rng.random(COUNT).astype(real), [(5, 600), (0, 3), (0, 256), (250, 257), (0, 0), (0, 1)]
    table, words, weights, expected, tiles = [], [np.zeros(2, np.uint32)], [np.zeros(1)], [], 0
    for degrees, (low, high) in zip(of_chunks, own, strict=True):
        degrees = degrees.astype(np.uint32)
        indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        targets, here = rng.integers(0, COUNT, indptr[-1]).astype(np.int32), sum(map(len, words))
        heavy = (rng.random(len(targets)) * 9).astype(weight or np.float32)
        values = x[targets].astype(np.float64)
        if weight is not None:
            values = heavy.astype(real).astype(np.float64) * values
        table.append((here, here + len(degrees), sum(map(len, weights)), len(degrees), low, high, len(expected), tiles))
        expected += [ordered_sum(values[a:b]) for a, b in list(pairwise(indptr))[low:high]]
        words += [degrees, targets.view(np.uint32)]
        weights.append(heavy)
        tiles += -(-len(degrees) // kept.TILE)
    table, memory = np.array(table).T.copy(), np.concatenate(words)
    edges, found = np.full(tiles, POISON), np.full(len(expected), np.nan)
    left = both("layered_kept", [("kept_tiles", 32 * tiles, tiles, table, len(own), memory, edges)], True,
                index_t=np.int32, real_t=real, weight_t=weight or np.float32)  # fmt: skip
    same(left(edges))
    upto, longer = np.cumsum(left(edges)[0]), int(left(edges)[0].sum()) // sums.LONG
    counters, cleared, again = np.zeros(len(SUMS), np.int64), np.full(len(SUMS), 9), np.full(len(expected), np.nan)
    given = {
        "tiles": tiles, "table": table, "chunks": len(own), "upto": upto, "words": memory,
        "weights": np.concatenate(weights).astype(weight or np.float32), "weighted": int(weight is not None), "x": x,
        "items": np.full(2 * longer + 1, POISON), "partial": np.full(2 * longer + 1, np.nan),
        "goes": np.full(longer, POISON), "places": np.full(longer, POISON, np.int32),
        "parts": np.full(longer, POISON, np.int32),
    }  # fmt: skip
    calls = [("kept_sum", 256, KeptSums(sums=found, counters=counters, cleared=cleared, **given)),
             ("kept_sum", 9000, KeptSums(sums=again, counters=cleared, cleared=counters, **given))]  # fmt: skip
    left = both("layered_kept", calls, True, index_t=np.int32, real_t=real, weight_t=weight or np.float32)
    for device in (0, 1):
        np.testing.assert_array_equal(left(found)[device], expected)
        np.testing.assert_array_equal(left(again)[device], expected)
    assert not left(counters)[0].any()
