"""Kernels of breadth-first search against plain Python on random rows, with outputs poisoned first.

On the emulator and on a GPU these are the CUDA kernels, else their twins. Queues have no order on a GPU: they are
compared as sets.
"""

from __future__ import annotations

import numpy as np
import pytest
from kernel_launch import POISON, Launch, check_queue, random_rows

from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.kernels.common.levels_pack import COUNTS
from graphdask.kernels.common.tuning import LONG_ROW, LONG_ROW_MARK

OWNED, SLOTS, LEVEL = 70, 110, 3
HUB = pytest.mark.parametrize("hub", [False, True])
REPEAT = pytest.mark.parametrize("repeat", range(3))


NONE = -1
"""The parent of a slot that is not reached."""


def bits(slots, count=SLOTS):
    """A bit for each of the slots in words of 32."""
    words = np.zeros((count + 31) // 32, np.uint32)
    for slot in slots:
        words[slot // 32] |= np.uint32(1 << int(slot) % 32)
    return words


def poisoned(dtype, *lengths):
    return [np.full(length, POISON, dtype) for length in lengths]


def counters_with(**values):
    """The counters of a level."""
    counters = np.zeros(len(COUNTS), np.int64)
    for name, value in values.items():
        counters[getattr(COUNTS.place, name)] = value
    return counters


def check_end(here, next_, frontier):
    """The counters of the frontier are cleared for a later level, and its length is noted."""
    assert not here.any()
    assert COUNTS.of(next_).visited == frontier


def weight_of(indptr, vertices):
    """Edges, and LONG for every row of very many."""
    degrees = np.diff(indptr)[np.asarray(vertices, np.int64)]
    return int(degrees.sum() + LONG_ROW_MARK * (degrees > LONG_ROW).sum())


class World:
    """Random rows, and slots that levels before have reached."""

    def __init__(self, rng, dtype, hub=False):
        self.indptr, self.indices = random_rows(rng, OWNED, SLOTS, dtype, hub)
        self.ids = rng.permutation(1000)[:OWNED].astype(dtype)
        self.depth = rng.choice([-1, -1, -1, 0, LEVEL - 1], SLOTS).astype(dtype)
        self.parent = np.where(self.depth >= 0, rng.integers(0, 1000, SLOTS), NONE).astype(dtype)
        if hub:  # the long row is looked at
            self.depth[np.diff(self.indptr).argmax()] = LEVEL - 1
        self.seen = bits(np.flatnonzero(self.depth >= 0))
        self.frontier = np.flatnonzero(self.depth[:OWNED] == LEVEL - 1).astype(dtype)

    def row(self, u):
        return self.indices[self.indptr[u] : self.indptr[u + 1]]


@HUB
def test_sources_are_reached(backend, dtype, rng, hub):
    world = World(rng, dtype, hub)
    sources = np.unique(np.append(rng.integers(0, OWNED, 9), np.diff(world.indptr).argmax())).astype(dtype)
    depth, parent, (queue,) = np.full(SLOTS, -1, dtype), np.full(SLOTS, NONE, dtype), poisoned(dtype, OWNED)
    queue[: len(sources)] = sources
    seen, here, found = bits([]), counters_with(edges=POISON), counters_with(found=len(sources))
    Launch(backend, "bfs", dtype)(
        len(sources), 0, Search(
            out_indptr=world.indptr, ids=world.ids, depth=depth, parent=parent, seen=seen, own_queue=queue,
            ghost_queue=queue[:0], here=here, next=found,
        ), names=("bfs_settle",),
    )  # fmt: skip
    check_queue(queue, len(sources), sources)
    assert np.flatnonzero(depth != -1).tolist() == sources.tolist()
    assert (depth[sources] == 0).all()
    np.testing.assert_array_equal(parent[sources], world.ids[sources])
    assert (np.delete(parent, sources) == NONE).all()
    np.testing.assert_array_equal(seen, bits(sources))
    assert COUNTS.of(found).weight == weight_of(world.indptr, sources)
    check_end(here, found, 0)


@HUB
@REPEAT
@pytest.mark.parametrize("turn", [0, 1])
def test_a_push_and_what_it_settles(backend, dtype, rng, turn, repeat, hub):
    world = World(rng, dtype, hub)
    depth, parent, seen, frontier = world.depth, world.parent, world.seen, world.frontier
    own, ghosts, hubs = poisoned(dtype, OWNED, SLOTS - OWNED, OWNED)
    waiting = np.flatnonzero((depth == -1) & (rng.random(SLOTS) < 0.2))  # reached over edges of the other direction
    parent[waiting] = rng.integers(0, 1000, len(waiting))
    mine, theirs = waiting[waiting < OWNED], waiting[waiting >= OWNED]
    own[: len(mine)], ghosts[: len(theirs)] = mine, theirs
    here, now = counters_with(found=len(frontier)), counters_with(found=len(mine), ghosts=len(theirs))
    expected, reached = parent.copy(), set(waiting.tolist())
    for u in frontier:
        for v in world.row(u):
            if depth[v] == -1:
                reached.add(int(v))
                expected[v] = world.ids[u] if expected[v] == NONE else min(expected[v], world.ids[u])
    launch = Launch(backend, "bfs", dtype)
    launch(
        len(frontier) + 300, frontier, turn, Search(
            indptr=world.indptr, indices=world.indices, ids=world.ids, seen=seen, parent=parent, owned=OWNED,
            slots=SLOTS, own_queue=own, ghost_queue=ghosts, hubs=hubs, here=here, next=now,
        ), names=("bfs_push", "bfs_push_hubs"),
    )  # fmt: skip
    np.testing.assert_array_equal(parent, expected)
    np.testing.assert_array_equal(seen, bits(np.flatnonzero(depth >= 0)))
    found = [v for v in reached if v < OWNED]
    check_queue(own, COUNTS.of(now).found, found)
    check_queue(ghosts, COUNTS.of(now).ghosts, reached - set(found))
    assert COUNTS.of(now).edges == (world.indptr[frontier + 1] - world.indptr[frontier]).sum()
    expected_depth = depth.copy()
    expected_depth[list(reached)] = LEVEL
    launch(
        100, LEVEL, Search(
            out_indptr=world.indptr, ids=world.ids, depth=depth, parent=parent, seen=seen, own_queue=own,
            ghost_queue=ghosts, here=here, next=now,
        ), names=("bfs_settle",),
    )  # fmt: skip
    np.testing.assert_array_equal(depth, expected_depth)
    np.testing.assert_array_equal(parent, expected)
    np.testing.assert_array_equal(seen, bits(np.flatnonzero(expected_depth >= 0)))
    assert COUNTS.of(now).weight == weight_of(world.indptr, found)
    check_end(here, now, len(frontier))


@REPEAT
def test_arrivals_of_this_level_are_taken_in(backend, dtype, rng, repeat):
    world = World(rng, dtype)
    depth, parent = world.depth, world.parent
    now_reached = (depth == -1) & (rng.random(SLOTS) < 0.2)
    depth[now_reached], parent[now_reached] = LEVEL, rng.integers(0, 1000, now_reached.sum())
    seen = bits(np.flatnonzero(depth >= 0))
    arrived, parents = rng.integers(0, SLOTS, 700).astype(dtype), rng.integers(0, 1000, 700).astype(dtype)
    expected_depth, expected_parent, reached = depth.copy(), parent.copy(), set()
    for v, p in zip(arrived, parents, strict=True):
        if depth[v] in (-1, LEVEL):
            expected_depth[v], expected_parent[v] = (
                LEVEL,
                p if expected_parent[v] == NONE else min(expected_parent[v], p),
            )
        if depth[v] == -1:
            reached.add(int(v))
    (own,), now = poisoned(dtype, OWNED + 3), counters_with(found=3)
    Launch(backend, "bfs", dtype)(
        700, arrived, parents, LEVEL, SLOTS, Search(
            out_indptr=world.indptr, depth=depth, parent=parent, seen=seen, owned=OWNED, own_queue=own, next=now
        ), names=("bfs_visit",),
    )  # fmt: skip
    np.testing.assert_array_equal(depth, expected_depth)
    np.testing.assert_array_equal(parent, expected_parent)
    np.testing.assert_array_equal(seen, bits(np.flatnonzero(expected_depth >= 0)))
    assert (own[:3] == POISON).all()
    found = [v for v in reached if v < OWNED]
    check_queue(own[3:], COUNTS.of(now).found - 3, found)
    assert COUNTS.of(now).weight == weight_of(world.indptr, found)


def test_ghosts_of_which_their_owners_tell_are_settled(backend, dtype, rng):
    world = World(rng, dtype)
    reported = rng.choice(np.arange(OWNED, SLOTS), 20, replace=False).astype(dtype)
    expected = bits([*np.flatnonzero(world.depth >= 0), *reported])
    Launch(backend, "codec", dtype)(20, reported, world.seen, SLOTS, names=("codec_set_bits",))
    np.testing.assert_array_equal(world.seen, expected)


@pytest.mark.parametrize(("first", "universe"), [(70, 40), (64, 46), (95, 1), (78, 32), (65, 31), (77, 33), (96, 14)])
def test_ghosts_in_a_bitmap_are_settled(backend, dtype, rng, first, universe):
    world = World(rng, dtype)
    reported = np.flatnonzero(rng.random(universe) < 0.5)
    if universe == 1:
        reported = np.array([0])
    words = bits(reported, universe)
    if universe % 32:
        words[-1] |= np.uint32(0xFFFFFFFF << universe % 32 & 0xFFFFFFFF)  # these count for nothing
    expected = bits([*np.flatnonzero(world.depth >= 0), *(first + reported)])
    Launch(backend, "codec", dtype)(len(words), words, first, universe, world.seen, names=("codec_or_bits",))
    np.testing.assert_array_equal(world.seen, expected)


@HUB
@REPEAT
@pytest.mark.parametrize(("few", "plain"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_pull_and_what_it_settles(backend, dtype, rng, repeat, hub, few, plain):
    """With the ids of parents, but for a ghost whose id does not follow from its position."""
    vertices, first = 300, 250
    ghosts = np.sort(rng.choice(np.arange(OWNED, vertices), SLOTS - OWNED, replace=False)).astype(dtype)
    world = World(rng, dtype)

    def parent_of(slot):
        cyclic = int(ghosts[slot - OWNED]) if few and slot >= OWNED else int(slot)
        position = (first + cyclic) % vertices
        return position if plain else world.ids[slot] if slot < OWNED else -2 - position

    indptr, depth, parent, seen = world.indptr, world.depth, world.parent, world.seen
    out_indptr = random_rows(rng, OWNED, SLOTS, dtype, hub)[0]
    if hub:  # the only hit stands at the end of a long row, and another long row has none
        degrees = np.diff(indptr)
        degrees[[5, 6]] = 9001
        depth[[5, 6, 7, 8]] = -1, -1, -1, LEVEL - 1
        indptr = world.indptr = np.concatenate([[0], np.cumsum(degrees)])
        world.indices = rng.integers(0, SLOTS, indptr[-1]).astype(dtype)
        world.row(5)[:], world.row(6)[:] = 7, 6
        world.row(5)[-1 - repeat] = 8
        seen = bits(np.flatnonzero(depth >= 0))
    launch, (left, own, remaining, hubs) = Launch(backend, "bfs", dtype), poisoned(dtype, *[OWNED] * 4)
    here, now = counters_with(found=9), counters_with()
    launch(OWNED, Search(seen=seen, indptr=indptr, left=left, next=here), names=("bfs_unvisited",))
    unvisited = [v for v in range(OWNED) if depth[v] == -1 and indptr[v + 1] > indptr[v]]
    check_queue(left, COUNTS.of(here).left, unvisited)
    expected_depth, expected_parent, found, edges = depth.copy(), parent.copy(), [], 0
    for v in unvisited:
        hits = np.flatnonzero(depth[world.row(v)] >= 0)
        edges += hits[0] + 1 if len(hits) else len(world.row(v))
        if len(hits):
            found.append(v)
            expected_depth[v], expected_parent[v] = LEVEL, parent_of(world.row(v)[hits[0]])
    launch(
        OWNED, left, Search(
            indptr=indptr, indices=world.indices, seen=seen, parent=parent, own_queue=own, left=remaining, hubs=hubs,
            here=here, next=now, ids=world.ids, owned=OWNED, slots=SLOTS, ghosts=ghosts if few else ghosts[:0], few=few,
            first=first, vertices=vertices, plain=plain,
        ), names=("bfs_pull", "bfs_pull_hubs"),
    )  # fmt: skip
    np.testing.assert_array_equal(parent, expected_parent)
    check_queue(own, COUNTS.of(now).found, found)
    check_queue(remaining, COUNTS.of(now).left, set(unvisited) - set(found))
    assert COUNTS.of(now).edges == edges
    launch(
        50, LEVEL, Search(
            out_indptr=out_indptr, ids=world.ids, depth=depth, parent=parent, seen=seen, own_queue=own,
            ghost_queue=own[:0], here=here, next=now,
        ), names=("bfs_settle",),
    )  # fmt: skip
    np.testing.assert_array_equal(depth, expected_depth)
    np.testing.assert_array_equal(parent, expected_parent)
    assert COUNTS.of(now).weight == weight_of(out_indptr, found)
    np.testing.assert_array_equal(seen, bits(np.flatnonzero(depth >= 0)))
    check_end(here, now, 9)


@pytest.mark.parametrize("which", ["first", "last", "every", "none"])
def test_a_pull_finds_the_first_hit_wherever_it_stands(backend, dtype, which):
    """In rows of all lengths at which a thread looks at several edges together, or leaves the rest to a warp."""
    lengths = [*range(12), 62, 63, 64, 65, 66, 67, 95, 96, 97, 130]
    rows = [(length, hit) for length in lengths for hit in range(length)] if which != "none" else []
    rows += [(length, length) for length in lengths]  # none
    owned, slots, settled = len(rows), len(rows) + 40, len(rows) + 33
    indptr = np.concatenate([[0], np.cumsum([length for length, _ in rows])]).astype(np.int64)
    indices = np.full(indptr[-1], slots - 1, dtype)
    parent = np.full(slots, NONE, dtype)
    for v, (_, hit) in enumerate(rows):
        row = indices[indptr[v] : indptr[v + 1]]
        of_hits = {"first": slice(hit, hit + 1), "last": slice(hit, None), "every": slice(hit, None, 2)}
        row[of_hits.get(which, [])] = settled
    seen = bits([settled], slots)
    launch, (left, own, remaining, hubs) = Launch(backend, "bfs", dtype), poisoned(dtype, *[owned] * 4)
    here, now = counters_with(), counters_with()
    launch(owned, Search(seen=seen, indptr=indptr, left=left, next=here), names=("bfs_unvisited",))
    check_queue(left, COUNTS.of(here).left, [v for v, (length, _) in enumerate(rows) if length])
    launch(
        owned, left, Search(
            indptr=indptr, indices=indices, seen=seen, parent=parent, own_queue=own, left=remaining, hubs=hubs,
            here=here, next=now, ids=indices[:0], owned=owned, slots=slots, ghosts=indices[:0], few=0, first=0,
            vertices=slots, plain=1,
        ), names=("bfs_pull", "bfs_pull_hubs"),
    )  # fmt: skip
    found = [v for v, (length, hit) in enumerate(rows) if hit < length]
    assert (parent[found] == settled).all()
    assert (np.delete(parent, found) == NONE).all()
    check_queue(own, COUNTS.of(now).found, found)
    assert COUNTS.of(now).edges == sum(min(hit + 1, length) for length, hit in rows)


@pytest.mark.parametrize("owned", [1, 31, 255, 256, 257, 3000, 20_000])
def test_what_is_to_be_pulled_is_listed_once(backend, dtype, rng, owned):
    """Also where a thread looks at several vertices, some of which are there."""
    settled = np.flatnonzero(rng.random(owned) < 0.3)
    degree = rng.integers(0, 3, owned)
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    (left,), now = poisoned(dtype, owned), counters_with()
    search = Search(seen=bits(settled, owned), indptr=indptr, left=left, next=now)
    Launch(backend, "bfs", dtype)(owned, search, names=("bfs_unvisited",))
    wanted = degree > 0
    wanted[settled] = False
    check_queue(left, COUNTS.of(now).left, np.flatnonzero(wanted).tolist())


def levels_of(indptr, indices, ids, source):
    """Frontiers, level by level, and parents by the smallest id; in plain Python."""
    parent, frontiers = {source: ids[source]}, [[source]]
    while frontiers[-1]:
        reached = {}
        for u in frontiers[-1]:
            for v in indices[indptr[u] : indptr[u + 1]].tolist():
                if v not in parent:
                    reached[v] = min(reached.get(v, ids[u]), ids[u])
        parent.update(reached)
        frontiers.append(list(reached))
    return frontiers, parent


EVERYTHING = 1 << 40
BOUNDS = {
    "to the end": (EVERYTHING, EVERYTHING, EVERYTHING),
    "one level": (1, EVERYTHING, EVERYTHING),
    "three levels": (3, EVERYTHING, EVERYTHING),
    "until a level is broad": (EVERYTHING, 60, EVERYTHING),
    "until a pull is due": (EVERYTHING, EVERYTHING, 900),
    "until targets are reached": (EVERYTHING, EVERYTHING, EVERYTHING),
}


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("shape", ["random", "path", "star", "long row", "broad"])
def test_one_launch_goes_through_levels_until_a_bound(backend, dtype, rng, shape, bounds):
    n = 1500 if shape == "broad" else 200
    src, dst = rng.integers(0, n, (2, 3 * n))
    if shape == "path":
        src, dst = np.arange(n - 1), np.arange(1, n)
    elif shape == "star":
        src, dst = np.zeros(n, np.int64), np.arange(n)
    elif shape == "long row":
        src, dst = (
            np.concatenate([src, np.full(LONG_ROW + 5, dst[0])]),
            np.concatenate([dst, rng.integers(0, n, LONG_ROW + 5)]),
        )
    order = np.argsort(src, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))])
    indices, ids = dst[order].astype(dtype), rng.permutation(5000)[:n].astype(dtype)
    source = int(src[0])
    frontiers, tree = levels_of(indptr, indices, ids, source)
    most, bound, unexplored = BOUNDS[bounds]
    targets = [source, *frontiers[-2][-1:], *frontiers[1][:1]] if bounds == "until targets are reached" else []
    done, rest = 0, unexplored
    while True:
        done += 1
        found = frontiers[done]
        weight = weight_of(indptr, found)
        due = weight > n // 18 and 15 * weight > rest
        if not found or done == most or len(found) > bound or weight > bound or due:
            break
        if targets and set(targets) <= set().union(*frontiers[: done + 1]):
            break
        rest -= weight
    depth, parent, seen = np.full(n, -1, dtype), np.full(n, NONE, dtype), bits([source], n)
    depth[source], parent[source] = LEVEL, ids[source]
    here, there = poisoned(dtype, n, n)
    here[0] = source
    before, now = counters_with(found=1, weight=weight_of(indptr, [source])), counters_with()
    arrived = np.zeros(1, np.int64)
    Launch(backend, "bfs", dtype, cooperative=True)(
        600, here, there, LEVEL, most, bound, float(unexplored), Search(
            indptr=indptr, indices=indices, out_indptr=indptr, ids=ids, depth=depth, parent=parent, seen=seen, owned=n,
            slots=n, vertices=n, ghost_queue=np.empty(0, dtype), here=before, next=now, arrived=arrived,
            targets=np.array(targets, dtype), num_targets=len(targets),
        ), names=("bfs_levels",),
    )  # fmt: skip
    expected = np.full(n, -1)
    for level, vertices in enumerate(frontiers[: done + 1]):
        expected[vertices] = LEVEL + level
    np.testing.assert_array_equal(depth, expected)
    np.testing.assert_array_equal(parent, [tree[v] if expected[v] >= 0 else NONE for v in range(n)])
    np.testing.assert_array_equal(seen, bits(np.flatnonzero(expected >= 0), n))
    last = there if done % 2 else here
    assert sorted(last[: len(found)].tolist()) == sorted(found)
    ends = COUNTS.of(now)
    edges = np.diff(indptr)[[v for level in frontiers[:done] for v in level]].sum()
    assert (ends.found, ends.weight, ends.edges, ends.levels) == (len(found), weight, edges, done)
    check_end(before, now, sum(map(len, frontiers[:done])))


def test_no_work_changes_nothing(backend, dtype):
    depth, parent, queue, slots, parents = poisoned(dtype, 4, 4, 4, 4, 4)
    seen, now = np.full(1, 5, np.uint32), counters_with()
    search = Search(
        out_indptr=np.zeros(5, np.int64), depth=depth, parent=parent, seen=seen, owned=4, own_queue=queue, next=now
    )
    Launch(backend, "bfs", dtype)(0, slots, parents, 1, 4, search, names=("bfs_visit",))
    for array in (depth, parent, queue, slots, parents):
        assert (array == POISON).all()
    assert (seen[0], now.any()) == (5, False)
