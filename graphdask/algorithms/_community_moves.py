"""Local moving: vertices of a level that go to the community of the largest gain, some of them at a time.

In a round those vertices move whose hash is the round's, so that few neighbours move at once and none swap places for
ever. Gains are computed from exact sums (graphdask.algorithms.communities), each by the same operations of float64 on
every device; of equal gains the smallest label wins. The owner of a label keeps the sum of the degrees of its
community, which ranks read before they choose, and add to after. Nothing depends on how the graph is divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms._community_levels import Level, Links
from graphdask.algorithms.communities import add_up
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.common.tuning import COMMUNITY_CHUNK, COMMUNITY_ROW, COMMUNITY_WARPS
from graphdask.kernels.communities.communities_pack import COUNTS, Moves
from graphdask.partition.ghosts import entries_of
from graphdask.partition.neighbours import places_of

THREADS = 32 * COMMUNITY_WARPS
"""Of a block of a GPU (kernels/communities/communities.cu)."""
AT_ONCE = 1 << 24
"""Places of tables up to which there are enough for all rows of a level at once, so that no round counts its edges."""
DEFERRED = slice(COUNTS.place.deferred, COUNTS.place.tables + 1)
LEAST_GAIN = 2.0**-46
"""Least gain of a move, as a share of the vertex's degree; below it are errors of rounding."""
MASK = (1 << 64) - 1


def mixed(x: int) -> int:
    """The finalizer of kernels/common/hash.py."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def round_of_each(numbers: Array, key: int, rounds: int) -> Array:
    """A round, 0 to `rounds` - 1, for each number, by its hash with a key; as kernels/communities/communities.py."""
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(mixed(key & MASK))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (((x ^ (x >> np.uint64(31))) >> np.uint64(32)) * np.uint64(rounds)) >> np.uint64(32)


def _table_sizes(lengths: Array) -> int:
    """Places of the tables of those of these rows that have several chunks."""
    lengths = lengths[lengths > COMMUNITY_CHUNK]
    return 2 * (int(lengths.sum()) + 2 * len(lengths))


@dataclass
class Mover:
    """Moves of a level's own vertices, with the lists and tables that kernels need."""

    env: Environment
    level: Level
    resolution: float
    pack: Moves
    kernels: Any
    tables: int
    """Places of the tables of all rows of several chunks."""

    @classmethod
    def of(cls, env: Environment, level: Level, resolution: float) -> Mover:
        """Make it for a level."""
        xp, csr, owned = env.xp, level.csr, len(level.numbers)
        wide, slots = np.int64, owned + level.links.cuts[-1]
        on_gpu = env.backend.name != "cpu"
        long = csr.indptr[1:] - csr.indptr[:-1] if owned else level.numbers
        long = long[long > COMMUNITY_ROW] if on_gpu else long[:0]
        chunks = int(((long + (COMMUNITY_CHUNK - 1)) // COMMUNITY_CHUNK).sum()) if len(long) else 0
        tables = _table_sizes(long) if chunks > len(long) else 0
        lists = {name: xp.empty(len(long), wide) for name in ("long_rows", "start", "first_chunk", "met_count")}
        pack = Moves(
            indptr=csr.indptr, indices=csr.indices, weights=level.weights, degree=level.degree, refining=0,
            here=xp.empty(owned), best=xp.empty(owned), choice=xp.empty(owned, wide),
            bits=xp.empty(owned if on_gpu else 0, np.uint64), chunks=xp.empty(chunks, wide),
            changed=xp.zeros(slots, np.uint8), row_of=level.rows, active=xp.zeros(owned, np.uint8),
            counters=xp.zeros(len(COUNTS), wide), keys=level.numbers[:0], total=level.numbers[:0],
            met=level.numbers[:0], **lists,
        )  # fmt: skip
        return cls(env, level, resolution, pack, env.kernels("communities", index_t=csr.indices.dtype), tables)

    def round(self, rows: Array, label: Array, sums: Array, refined: tuple[Array, Array] | None = None) -> None:
        """Move own vertices to the neighbouring community, or the empty one of their own number, of the largest gain.

        Every rank calls it. `changed` of the pack is set to 1 for those that move.

        Parameters
        ----------
        rows : array of int64
            The own vertices that may move.
        label : array of int64
            Communities over slots; changed for own vertices.
        sums : array of int64
            Over own vertices: the sum of degrees of the community of that number; changed.
        refined : two arrays over slots, optional
            Communities, outside of which no neighbour counts, and the vertices that may move, uint8, which do not
            count either. If given, a gain of 0 is enough for a move to a neighbour's community.
        """
        env, level, pack, xp = self.env, self.level, self.pack, self.env.xp
        outer, leaving = refined or (label, pack.changed)
        pack.assign(rows=rows, refining=int(refined is not None), outer=outer, leaving=leaving)
        if env.size == 1:
            pack.assign(label=label, own=level.numbers, sums=sums, change=sums)
            self._choose_and_move(level.size)
            return
        labels, pack.label, pack.own = self._known(rows, label)
        links = Links.of(env, level.bounds, labels)
        pack.assign(sums=links.read(sums), change=xp.zeros(len(labels), np.int64))
        self._choose_and_move(len(labels))
        links.add(pack.change, sums)
        label[rows] = labels[pack.label[rows]]

    def _rounds(self, key: int, rounds: int, active: Array) -> Iterator[Array]:
        """The own vertices of each round in which vertices of any rank are active. Every rank calls it."""
        env, numbers, n = self.env, self.level.numbers, len(self.level.numbers)
        if env.backend.name == "cpu":
            places = np.flatnonzero(active)
            turn = round_of_each(numbers[places], key, rounds).astype(np.uint8)
            places = places[np.argsort(turn, kind="stable")]
            own = np.bincount(turn, minlength=rounds).tolist()
        else:
            turn, found = env.xp.empty(n, np.uint8), env.xp.zeros(rounds, np.uint64)
            by_key = np.uint64(mixed(key & MASK)), rounds, active.view(np.uint8), numbers
            self.kernels.communities_turns(n, *by_key, turn, found)
            places = env.xp.argsort(turn, kind="stable")  # behind those of the rounds stand those that are not active
            own = env.backend.to_host(found).tolist()
        end = 0
        for count, of_all in zip(own, add_up(env, own), strict=True):
            begin, end = end, end + count
            if of_all:
                yield places[begin:end]

    def sweep(self, label: Array, sums: Array, active: Array, key: int, rounds: int) -> None:
        """Do a round for each value of a hash with a key, of the active own vertices. Every rank calls it."""
        for rows in self._rounds(key, rounds, active):
            self.round(rows, label, sums)
            self._follow(label)

    def groups(self, outer: Array, key: int, rounds: int) -> Array:
        """Connected groups within communities over slots, as the number of a vertex for each own vertex.

        In a round those join a group that are still on their own, but none that joins another one in this round. Every
        rank calls it.
        """
        env, level, xp, owned = self.env, self.level, self.env.xp, len(self.level.numbers)
        label, sums = level.over_slots(level.numbers), level.degree.copy()
        size = xp.ones(owned, np.int64)
        for rows in self._rounds(key, rounds, xp.ones(owned, bool)):
            rows = rows[(label[rows] == level.numbers[rows]) & (size[rows] == 1)]
            leaving = xp.zeros(owned, np.uint8)
            leaving[rows] = 1
            self.round(rows, label, sums, (outer, level.over_slots(leaving)))
            self._follow(label)
            size = level.sums_of(env, label[:owned], xp.ones(owned, np.int64))
        self.forget()
        return label[:owned]

    def _follow(self, label: Array) -> None:
        """Let the labels of other ranks' vertices be those that their owners have."""
        owned = len(self.level.numbers)
        if self.env.size > 1:
            label[owned:] = self.level.links.read(label[:owned])

    def _known(self, rows: Array, label: Array) -> tuple[Array, Array, Array]:
        """The communities that these rows can go to, ascending; labels and own numbers as places among these."""
        xp, level = self.env.xp, self.level
        there = xp.zeros(len(label), bool)
        there[level.csr.indices[entries_of(self.env.backend, level.csr, rows)]] = True
        there[rows] = True
        slots = places_of(xp, there)
        known, place = xp.unique(xp.concatenate([label[slots], level.numbers[rows]]), return_inverse=True)
        labels, own = xp.zeros(len(label), np.int64), xp.zeros(len(level.numbers), np.int64)
        labels[slots], own[rows] = place[: len(slots)], place[len(slots) :]
        return known, labels, own

    def _choose_and_move(self, communities: int) -> None:
        pack, count = self.pack, len(self.pack.rows)
        scale = self.resolution / self.level.total
        if not count:
            return
        self._make_tables(communities)
        kernels = self.kernels
        kernels.communities_choose(32 * count, scale, pack, threads=THREADS)
        if len(pack.chunks):
            for stage in range(3 if self.tables else 1):
                kernels.communities_choose_hubs(THREADS * len(pack.chunks), scale, stage, pack, threads=THREADS)
            pack.counters[DEFERRED] = 0
        kernels.communities_move(count, LEAST_GAIN * max(1.0, self.resolution), pack)

    def _make_tables(self, communities: int) -> None:
        """Have places for what the present rows meet, all free."""
        xp, pack, csr = self.env.xp, self.pack, self.level.csr
        if self.env.backend.name == "cpu":
            if len(pack.total) < communities:
                pack.assign(total=xp.full(communities, -1, np.int64), keys=xp.empty(communities, np.int64))
        elif self.tables:
            tables = self.tables
            if tables > AT_ONCE:
                tables = _table_sizes(csr.indptr[1:][pack.rows] - csr.indptr[:-1][pack.rows])
            if len(pack.keys) < tables:
                self.free_tables()
                pack.assign(total=xp.zeros(tables, np.int64), keys=xp.full(tables, -1, np.int64))
                pack.met = xp.empty(tables // 2, np.int64)

    def free_tables(self) -> None:
        """Let the memory of the tables go, which are made again when they are needed."""
        none = self.level.numbers[:0]
        self.pack.assign(total=none, keys=none, met=none)

    def forget(self) -> None:
        """Let no vertex count as moved."""
        self.pack.counters.fill(0)
        self.pack.changed.fill(0)

    def settle(self, label: Array) -> tuple[int, Array, int]:
        """The weights of own edges within communities, the own vertices whose neighbours have moved since it was
        called last, and how many own ones have. Every rank calls it."""
        xp, level, pack, owned = self.env.xp, self.level, self.pack, len(self.level.numbers)
        pack.changed[owned:] = level.links.read(pack.changed[:owned])
        pack.label, pack.active = label, xp.zeros(owned, np.uint8)
        self.kernels.communities_settle(level.csr.num_edges, pack)
        counts = pack.read_counters(self.env.backend)
        self.forget()
        return counts.inside, pack.active.view(bool), counts.moved
