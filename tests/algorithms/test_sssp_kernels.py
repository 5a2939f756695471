"""Kernels of shortest paths against plain Python on random rows, outputs poisoned first; on a GPU the CUDA twins too.

Queues have no order on a GPU: they are compared as sets.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel_launch import values_of

from graphdask.kernels.common.buckets_pack import COUNTS
from graphdask.kernels.common.packs import Pack
from graphdask.kernels.sssp.sssp_pack import Relaxing
from graphdask.kernels.sssp.sssp_tree_pack import Tree

AT = COUNTS.place
HUB_THREADS = 1 << 14
POISON = -77
OWNED, SLOTS, LIMIT = 70, 110, 12

TYPES = {
    "int32": (np.int32, np.int32, np.int32),
    "int64 in int32": (np.int32, np.int64, np.int32),
    "int64": (np.int64, np.int64, np.int64),
    "float32": (np.int32, np.float32, np.float64),
    "float64": (np.int32, np.float64, np.float64),
}
"""Of ids, weights and distances."""
LABELS = {
    **{name: (*types, types[2]) for name, types in TYPES.items()},
    "int32 and a parent": (np.int32, np.int32, np.int32, np.int64),
    "int64 in int32 and a parent": (np.int64, np.int64, np.int32, np.int64),
}
"""Of labels too."""


class Rows:
    """Random rows and a state in the middle of a search: own vertices and ghosts near, far and not reached."""

    def __init__(self, rng, types, hub=False, unweighted=False):
        self.index, weight, self.kind, self.label = (np.dtype(t) for t in LABELS[types])
        self.with_parents = self.label != self.kind
        degrees = rng.integers(0, 6, OWNED)
        degrees[rng.random(OWNED) < 0.3] = 0
        if hub:
            degrees[rng.integers(OWNED)] = 9001
        self.indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        self.indices = rng.integers(0, SLOTS, self.indptr[-1]).astype(self.index)
        self.each = 0 if unweighted else -1
        choice = [0, 0.25, 1, 3, 8] if weight.kind == "f" else [1, 1, 3, 8] if self.with_parents else [0, 1, 3, 8]
        self.weights = rng.choice(choice, len(self.indices))
        self.weights = np.ones(1, np.int32) if unweighted else self.weights.astype(weight)
        self.none = self.kind.type(np.inf if self.kind.kind == "f" else np.iinfo(self.kind).max)
        self.distance = rng.integers(0, 2 * LIMIT, SLOTS).astype(self.kind)
        self.distance[rng.random(SLOTS) < 0.5] = self.none
        self.ids = rng.permutation(1000)[:OWNED].astype(self.index)
        self.labels = self.labelled(self.distance, rng.integers(0, 1000, SLOTS))

    def labelled(self, distance, ids):
        """What stands for distances, given as Python or NumPy numbers, and vertices before."""
        if not self.with_parents:
            return distance.astype(self.kind)
        most = np.iinfo(np.int64).max
        return np.array([most if d == self.none else int(d) << 32 | int(i) for d, i in zip(distance, ids, strict=True)])

    def distances(self, labels):
        return labels >> 32 if self.with_parents else labels

    def edges(self):
        """(edge, row, slot, weight as a Python number)."""
        for u in range(OWNED):
            for e in range(self.indptr[u], self.indptr[u + 1]):
                yield e, u, int(self.indices[e]), self.weights[e & self.each].item()

    def queue(self, values=(), size=SLOTS):
        out = np.full(size, POISON, self.index)
        out[: len(values)] = values
        return out


class Kernels:
    """Calls kernels of a family with NumPy arrays, which stay on the device between the calls."""

    def __init__(self, backend, family, rows):
        self.backend, self.sent = backend, {}
        types = {"index_t": rows.index, "weight_t": rows.weights.dtype, "dist_t": rows.kind}
        if family == "sssp":
            types |= {"label_t": rows.label, "cooperative": True}
        self.family = backend.kernels(family, **types)

    def __call__(self, name, n, *arguments):
        getattr(self.family, name)(n, *map(self.there, arguments))

    def there(self, array):
        """The copy of an array on the device, made on first use; a pack of such."""
        if isinstance(array, Pack):
            return type(array)(**{name: self.there(value) for name, value in values_of(array).items()})
        if not isinstance(array, np.ndarray):
            return array
        if id(array) not in self.sent:
            self.sent[id(array)] = array, self.backend.from_host(array.copy())
        return self.sent[id(array)][1]

    def fetch(self):
        self.backend.synchronize()
        for mine, theirs in self.sent.values():
            mine[...] = self.backend.to_host(theirs)


def relaxed(rows, near):
    """Labels once nothing near can be relaxed."""
    distance, edges = rows.distance.astype(object), list(rows.edges())
    before = rows.labels & 0xFFFFFFFF if rows.with_parents else np.full(SLOTS, -1)
    acting = set(near.tolist())
    while acting:
        fell = set()
        start = distance.copy()
        for _, u, v, w in edges:
            id = rows.ids[u] if rows.with_parents else -1
            if u in acting and (start[u] + w, id) < (distance[v], before[v]):
                if start[u] + w < distance[v] and v < OWNED and start[u] + w < LIMIT:
                    fell.add(v)
                distance[v], before[v] = start[u] + w, id
        acting = fell
    return rows.labelled(distance, before)


class Search:
    """What `sssp_advance` works on, in the middle of a search: step 4, split 5, superstep 9."""

    def __init__(self, backend, rows, limit, near=(), far=()):
        self.rows, self.call = rows, Kernels(backend, "sssp", rows)
        self.limit, self.stamp = np.full(1, limit, rows.kind), np.full(SLOTS, -1, np.int32)
        self.near, self.far = (rows.queue(near), rows.queue()), (rows.queue(), rows.queue(far))
        self.ghosts, self.hubs = rows.queue(size=SLOTS - OWNED), rows.queue()
        self.counters, self.least = np.zeros(len(COUNTS), np.int64), np.full(3, np.inf)
        self.counters[[AT.near.start + 1, AT.far.start + 2]] = len(near), len(far)
        self.counters[AT.ghosts] = POISON, 0

    def queues(self):
        """Fields of a pack that arrivals and steps have in common."""
        (even_near, odd_near), (even_far, odd_far) = self.near, self.far
        return dict(
            labels=self.rows.labels, stamp=self.stamp, limit=self.limit, owned=OWNED, even_near=even_near,
            odd_near=odd_near, even_far=even_far, odd_far=odd_far, counters=self.counters, least=self.least,
        )  # fmt: skip

    def advance(self, splits, nearest=np.inf, delta=1.0, enough=2**62, most=np.inf):
        rows = self.rows
        self.call(
            "sssp_advance", HUB_THREADS, 4, 5, splits, enough, nearest, delta, most, 9, Relaxing(
                indptr=rows.indptr, indices=rows.indices, weights=rows.weights, each=rows.each, ids=rows.ids,
                **self.queues(), ghost_queue=self.ghosts, hubs=self.hubs,
            ),
        )  # fmt: skip
        self.call.fetch()
        self.split = int(self.counters[AT.split])
        self.reported = sorted(self.ghosts[: self.counters[AT.ghosts.start + 1]].tolist())
        self.waiting = self.far[self.split % 2][: self.counters[AT.far.start + self.split % 3]].tolist()
        assert self.counters[AT.near.start + self.counters[AT.step] % 3] == 0
        assert len(set(self.waiting)) == len(self.waiting)


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("types", LABELS)
@pytest.mark.parametrize("repeat", range(3))
def test_steps_of_relaxation_reach_the_fixed_point(backend, types, rng, repeat, hub):
    rows = Rows(rng, types, hub, unweighted=repeat == 2)
    near, before = np.flatnonzero(rows.distance[:OWNED] < LIMIT), rows.labels.copy()
    expected = relaxed(rows, near)
    search = Search(backend, rows, LIMIT, near, np.flatnonzero((rows.distance >= LIMIT) & (rows.distance != rows.none)))
    search.advance(0)
    np.testing.assert_array_equal(rows.labels, expected)
    ends = rows.distances(expected)
    assert search.reported == [v for v in range(OWNED, SLOTS) if ends[v] < LIMIT and expected[v] < before[v]]
    assert set(search.waiting) >= {v for v in range(SLOTS) if LIMIT <= ends[v] != rows.none}
    fell = [float(ends[v]) for v in range(SLOTS) if ends[v] >= LIMIT and expected[v] < before[v]]
    assert LIMIT <= search.least[2] <= min(fell, default=np.inf)
    assert (search.split, search.limit[0]) == (5, LIMIT)
    assert search.counters[AT.acted] >= len(near)
    assert search.counters[AT.edges] >= (rows.indptr[near + 1] - rows.indptr[near]).sum()


@pytest.mark.parametrize("types", LABELS)
def test_arrivals_lower_and_queue(backend, types, rng):
    rows = Rows(rng, types)
    slots = rng.integers(0, SLOTS, 150).astype(rows.index)
    values = rows.labelled(rng.integers(0, 2 * LIMIT, 150), rng.integers(0, 1000, 150))
    if rows.with_parents:  # of some, the parent alone falls
        some = np.flatnonzero(rows.distance[slots] != rows.none)[:30]
        values[some] = rows.labels[slots[some]] - (rows.labels[slots[some]] & 0xFFFFFFFF) // 2
    expected = rows.labels.copy()
    np.minimum.at(expected, slots, values)
    search = Search(backend, rows, LIMIT, [0, 1, 2])
    search.stamp[[0, 1, 2]] = 4
    near, far, counters = search.near[0], search.far[1], search.counters
    search.call("sssp_arrive", 150, 4, 5, slots, values, SLOTS, Relaxing(**search.queues()))
    search.call.fetch()
    np.testing.assert_array_equal(rows.labels, expected)
    ends = rows.distances(expected)
    fell = ends < rows.distance
    acting = set(np.flatnonzero(fell[:OWNED] & (ends[:OWNED] < LIMIT)).tolist()) | {0, 1, 2}
    assert sorted(near[: counters[AT.near.start + 1]].tolist()) == sorted(acting)
    waiting = far[: counters[AT.far.start + 2]].tolist()
    assert len(set(waiting)) == len(waiting)
    assert set(waiting) >= set(np.flatnonzero((rows.distance == rows.none) & fell & (ends >= LIMIT)).tolist())
    assert (rows.distance[waiting] == rows.none).all()


@pytest.mark.parametrize("types", LABELS)
def test_the_split_moves_a_bucket_on(backend, types, rng):
    rows = Rows(rng, types)
    rows.indptr[:] = 0  # nothing but the split changes anything
    far = rng.permutation(SLOTS)[:80].astype(rows.index)
    search = Search(backend, rows, 5, far=far)
    search.advance(1, 6.0, float(LIMIT))
    d = rows.distance[far]
    bucket = far[(d >= 5) & (d < LIMIT)]
    assert (search.split, search.limit[0]) == (6, LIMIT)
    assert search.counters[AT.acted] == (bucket < OWNED).sum()
    assert search.reported == sorted(bucket[bucket >= OWNED].tolist())
    assert sorted(search.waiting) == sorted(far[d >= LIMIT].tolist())
    assert search.least[0] == d[d >= LIMIT].min()
    assert sorted(np.flatnonzero(search.stamp == 9).tolist()) == sorted(bucket[bucket >= OWNED].tolist())


@pytest.mark.parametrize("delta", [1e-300, 0.5, 3.0, np.inf])
@pytest.mark.parametrize("types", LABELS)
def test_many_buckets_reach_the_fixed_point(backend, types, rng, delta):
    rows = Rows(rng, types)
    rows.indices %= OWNED  # no ghosts
    rows.distance[:] = rows.none
    rows.distance[7] = 0
    rows.labels = rows.labelled(rows.distance, np.zeros(SLOTS))
    matrix = np.full((OWNED, OWNED), np.inf)
    for _, u, v, w in rows.edges():
        matrix[u, v] = min(matrix[u, v], w)
    expected = np.full(OWNED, np.inf)
    expected[7] = 0
    for _ in range(OWNED):
        expected = np.minimum(expected, (expected[:, None] + matrix).min(axis=0))
    search = Search(backend, rows, 0, far=[7])
    search.advance(64, 0.0, delta)
    found = rows.distances(rows.labels[:OWNED]).astype(np.float64)
    np.testing.assert_array_equal(np.where(found == rows.none, np.inf, found), expected)
    assert search.waiting == []


@pytest.mark.parametrize("types", [name for name in LABELS if name not in TYPES])
def test_labels_come_apart(backend, types, rng):
    rows, most = Rows(rng, types), 2**31 - 2
    distance, parent = rng.integers(0, most, (2, SLOTS))
    distance[:4], parent[:4] = [0, most, most, rows.none], [0, most, 0, -1]
    labels = rows.labelled(distance, parent)
    found, before = np.full(SLOTS, POISON, np.int64), rows.queue()
    call = Kernels(backend, "sssp", rows)
    call("sssp_result", SLOTS, labels, found, before)
    call.fetch()
    np.testing.assert_array_equal(found, np.where(distance == rows.none, -1, distance))
    np.testing.assert_array_equal(before, parent)


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("types", TYPES)
def test_parents_levels_and_the_check(backend, types, rng, hub):
    rows = Rows(rng, types, hub)
    rows.distance[rng.random(SLOTS) < 0.5] = 4
    most, d = np.iinfo(rows.index).max, rows.distance
    before = np.where(rng.random(SLOTS) < 0.5, most, rng.integers(0, 1000, SLOTS)).astype(rows.index)
    parent, expected = before.copy(), before.copy()
    claimed = rng.choice(rows.ids, SLOTS).astype(rows.index)
    level, tree, flat, seen = np.zeros(OWNED, np.int64), np.zeros(OWNED, np.int64), [], np.zeros(SLOTS, np.uint8)
    bad = [np.iinfo(np.int64).max]
    for e, u, v, w in rows.edges():
        if d[u] == rows.none:
            continue
        total = d[u].item() + w
        if d[v] == d[u] == total and u != v:
            level[u] += 1
            flat.append((u, v))
            tree[u] += claimed[v] == rows.ids[u]
        elif d[v] == rows.none or (d[v] == total and d[v] != d[u]):
            expected[v] = min(expected[v], rows.ids[u])
        if d[v] > total:
            bad.append(e)
        elif d[v] == total and d[u] < d[v] and claimed[v] == rows.ids[u]:
            seen[v] = 1
    call = Kernels(backend, "sssp_tree", rows)
    ghosts, hubs, counters = rows.queue(size=SLOTS - OWNED), rows.queue(), np.zeros((4, 3), np.int64)
    found_level, found_tree, witnessed = np.zeros(OWNED, np.int64), np.zeros(OWNED, np.int64), np.zeros(SLOTS, np.uint8)
    first_bad, counts = np.array([np.iinfo(np.int64).max]), [row.copy() for row in counters]
    of_rows = dict(
        indptr=rows.indptr, indices=rows.indices, weights=rows.weights, each=rows.each, ids=rows.ids, distance=d,
        owned=OWNED, hubs=hubs,
    )  # fmt: skip
    tags = np.full(SLOTS, POISON % 256, np.uint8) if backend.name == "cuda" else None
    if tags is not None:
        call("sssp_tags", SLOTS, Tree(**of_rows, tags=tags))
    parents = Tree(**of_rows, tags=tags, parent=parent, ghost_queue=ghosts, level=found_level, counters=counts[0])
    check = Tree(
        **of_rows, parent=claimed, witnessed=witnessed, level=found_tree, first_bad=first_bad, counters=counts[1],
        until=np.array([rows.none], d.dtype),
    )  # fmt: skip
    starts = np.concatenate([[0], np.cumsum(level)])
    place, out = starts[:-1].copy(), rows.queue(size=len(flat))
    listed = Tree(**of_rows, parent=claimed, any=1, place=place, out=out, counters=counts[2])
    leveled = np.flatnonzero(level).astype(rows.index)
    for hubs_too in ("", "_hubs"):
        n = HUB_THREADS if hubs_too else OWNED
        call(f"sssp_parents{hubs_too}", n, parents)
        call(f"sssp_check{hubs_too}", n, check)
        call(f"sssp_level{hubs_too}", *((n,) if hubs_too else (len(leveled), leveled)), listed)
    call.fetch()
    if tags is not None:
        assert len({(value, tag) for value, tag in zip(d.tolist(), tags, strict=True)}) == len(set(d.tolist()))
        assert (tags[d == rows.none] == 255).all()
        assert (tags[d != rows.none] < 255).all()
    np.testing.assert_array_equal(parent, expected)
    np.testing.assert_array_equal(found_level, level)
    np.testing.assert_array_equal(found_tree, tree)
    np.testing.assert_array_equal(witnessed, seen)
    assert counts[0][1] == len(rows.indices)
    changed = np.flatnonzero((before == most) & (expected != most))
    assert sorted(ghosts[: counts[0][2]].tolist()) == changed[changed >= OWNED].tolist()
    lost = [e for e, u, v, _ in rows.edges() if d[u] != rows.none and d[v] == rows.none]
    assert first_bad[0] == min(bad + lost)
    np.testing.assert_array_equal(place, starts[1:])
    found = [(u, int(v)) for u in range(OWNED) for v in out[starts[u] : starts[u + 1]]]
    assert sorted(found) == sorted(flat)
