"""Pairs of vertices that share a neighbour, listed source by source, so that few pairs are held at a time.

A source u and each of its neighbours w give the paths u, w, v to the vertices v in whose neighbourhoods w is. Sources
are taken in batches of about as many paths (`SIMILARITY.paths`, on a GPU a multiple). Rows of such v come from the
owners of w; a kernel counts the paths of a source by v, scores the pairs, and lists those that are wanted
(kernels/similarity/two_hops.py). A source of more paths is taken piece by piece, and its paths are counted in an array
by vertex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import Environment
from graphdask.kernels.similarity.two_hops_pack import COUNTS, SMALL, TwoHopRows
from graphdask.partition.neighbours import firsts, places_of
from graphdask.partition.part import Part
from graphdask.sample.remote_lookup import RemoteLookup, ragged
from graphdask.similarity.listed import Listed
from graphdask.similarity.measures import MEASURES, score, taken, top
from graphdask.similarity.sets import Sent, Sets
from graphdask.similarity.tuning import SIMILARITY

Least = tuple[float, int, int]
"""A score and the two vertices of a pair."""


@dataclass
class TwoHops:
    """The paths of two hops from sources. `onward` leaves those that lead to vertices of larger numbers."""

    part: Part
    env: Environment
    sets: Sets
    arcs: Array
    """Places of the edges from the sources, in the order of the sources."""
    rows: Array
    """Own vertices they are of."""
    paths: Array
    """int64: how many paths go on along each."""
    looped: Array
    """uint8, by slot: whether a vertex is its own neighbour."""
    onward: bool
    batch: int
    """Paths of a batch."""
    least: Least | None = None
    """Pairs that are worse than this one are not listed."""
    _amounts: list[Array] = field(default_factory=list)

    @classmethod
    def of(cls, part: Part, env: Environment, sets: Sets, sources: Array | None, onward: bool) -> TwoHops:
        """Return the paths from sources, ascending own vertices; None: from all. Every rank calls it."""
        rows = sets.out.of_each(env)
        looped = env.xp.zeros(part.num_owned, np.uint8)
        looped[rows[sets.out.ends == part.ids[rows]]] = 1
        sizes, looped = env.fetch_ghosts(part, [sets.back.sizes, looped])
        if sources is None:
            arcs = env.xp.arange(len(rows))
        else:
            begins, bounds = sets.out.places(env.xp, sources)
            arcs = ragged(env, begins, bounds)
            rows = rows[arcs]
        batch = cls.batch_on(part, env, sets.out.values is not None)
        return cls(part, env, sets, arcs, rows, sizes[sets.out.slots[arcs]], looped, onward, batch)

    @classmethod
    def batch_on(cls, part: Part, env: Environment, weighted: bool) -> int:
        """How many paths a batch has: a multiple of `SIMILARITY.paths` that fits half of the memory, or one of them.

        A block of a GPU takes a source, so a batch needs thousands of sources; a CPU takes one after the other.
        """
        times = SIMILARITY.gpu_times if env.backend.name == "cuda" else 1
        free = int(env.backend.free_memory() * env.memory_share)
        while times > 1 and 2 * cls.memory(part, weighted, times * SIMILARITY.paths) > free:
            times //= 2
        return times * SIMILARITY.paths

    @staticmethod
    def memory(part: Part, weighted: bool, batch: int) -> int:
        """Bytes at most, with those of a batch, of its pairs, and of what is kept by vertex."""
        width, arcs, n = part.vertex_map.dtype.itemsize, part.out.num_edges, part.num_vertices
        most = min(2 * batch, arcs**2)
        pairs = min(most + n, n * part.num_owned)
        by_path = 3 * width + 4 * (2 * width) + (24 + 4 * 16 if weighted else 0)  # rows that came, and hash tables
        of_arcs = 20 * arcs + min(arcs, most) * (2 * width + 58)
        by_vertex = 3 * width + 33 + (16 if weighted else 0)
        return of_arcs + n * by_vertex + most * by_path + pairs * 2 * Listed.row_bytes(part.vertex_map.dtype)

    def fewest(self) -> int:
        """A lower bound for the number of pairs of all ranks: of each source, the most paths by way of one neighbour
        lead to as many vertices, the two themselves apart. Every rank calls it."""
        xp, comm = self.env.xp, self.env.comm
        assert comm is not None
        most = xp.zeros(self.part.num_owned, np.uint64)
        others = xp.where(self.sets.out.ends[self.arcs] == self.part.ids[self.rows], 0, xp.maximum(self.paths - 2, 0))
        xp.maximum.at(most, self.rows, others.astype(np.uint64))
        mine = int(most.sum()) if len(most) else 0
        total = int(comm.allreduce(np.array([mine], np.int64), "sum")[0])
        return total // 2 if self.onward else total

    def listing(self, measure: str, listed: Listed, keep: int = 0) -> Iterator[tuple[int, bool]]:
        """List pairs that share a neighbour besides themselves, a batch after the other, in the order of sources but
        for those of very many paths, which are the last. Every rank takes all batches.

        Parameters
        ----------
        measure : str
        listed : Listed
            Where rows are added.
        keep : int
            List so many of each source, the best ones, in any order; 0: all, in ascending order.

        Yields
        ------
        paths : int
            How many paths this rank has followed at most.
        more : bool
            Whether there are more batches; these are as many on every rank.
        """
        env, xp, pack = self.env, self.env.xp, self._pack(measure, keep)
        batches, pieces = self._divided(keep)
        number, last = -env.least(-len(batches)), -env.least(-len(pieces))
        none = (self.arcs[:0], self.arcs[:0], 0, 0)
        listed.reserve(min(sum(batch[2] for batch in batches), 2 * self.batch))
        for k in range(number):
            begins, ends, most, paths = batches[k] if k < len(batches) else none
            bounds = xp.zeros(len(begins) + 1, np.int64)
            xp.cumsum(ends - begins, out=bounds[1:])
            self._follow(pack, ragged(env, begins, bounds))
            pack.assign(begin=bounds, source=self.part.ids[self.rows[begins]])
            self._list(pack, listed, most)
            yield paths, k + 1 < number + last
        for k in range(last):
            first, end, paths, whole = pieces[k] if k < len(pieces) else (0, 0, 0, False)
            self._follow(pack, slice(first, end))
            if first < end:
                self._add(pack, measure, first, end, whole, listed, keep)
            yield paths, k + 1 < last

    def _divided(self, keep: int) -> tuple[list[tuple[Array, Array, int, int]], list[tuple[int, int, int, bool]]]:
        """Batches of whole sources, by where the edges of each begin and end, with how many pairs and paths they have
        at most; and pieces of other sources, each from an edge to another, with its paths, and whether it is the last
        piece of its source."""
        xp, env, n = self.env.xp, self.env, self.part.num_vertices
        begins = places_of(xp, firsts(xp, self.rows))
        if not len(begins):
            return [], []
        ends = xp.concatenate([begins[1:], xp.full(1, len(self.rows), np.int64)])
        before = xp.zeros(len(self.rows) + 1, np.int64)
        xp.cumsum(self.paths, out=before[1:])
        paths = before[ends] - before[begins]
        most = xp.minimum(paths, n - 1 - self.part.ids[self.rows[begins]] if self.onward else n)
        if keep:
            most = xp.minimum(most, keep)
        small = paths <= SIMILARITY.paths
        batches = []
        if any_set(small):
            sums = [xp.cumsum(each[small]) for each in (paths, most)]
            total = int(sums[0][-1])
            cuts = env.backend.to_host(xp.searchsorted(sums[0], xp.arange(0, total, self.batch))).tolist()
            some = [begins[small], ends[small]]
            for first, last in pairwise([*cuts, len(some[0])]):
                if first < last:
                    ways, pairs = (int(each[last - 1]) - (int(each[first - 1]) if first else 0) for each in sums)
                    batches.append((some[0][first:last], some[1][first:last], pairs, ways))
        pieces = []
        large = [env.backend.to_host(each[~small]).tolist() for each in (begins, ends)]
        for begin, end in zip(*large, strict=True):
            inside = before[begin + 1 : end + 1] - before[begin]
            wanted = xp.arange(self.batch, int(inside[-1]), self.batch)
            cuts = sorted({begin, *(env.backend.to_host(xp.searchsorted(inside, wanted)) + begin + 1).tolist(), end})
            for first, last in pairwise(cuts):
                pieces.append((first, last, int(before[last] - before[first]), last == end))
        return batches, pieces

    def _pack(self, measure: str, keep: int) -> TwoHopRows:
        """What the kernels need of all batches."""
        xp, n, dtype, backend = self.env.xp, self.part.num_vertices, self.part.vertex_map.dtype, self.env.backend
        wide = dtype.itemsize > 4 or n >= 1 << 30
        self._count_dtype = np.dtype(np.uint64 if wide else np.uint32)
        pack = TwoHopRows(
            size=self.amounts(), onward=int(self.onward), measure=MEASURES.index(measure), keep=keep,
            counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        if backend.name == "cpu":
            pack.assign(
                count=xp.zeros(n, self._count_dtype), touched=xp.empty(n + 1, dtype),
                ranked=xp.empty(n if keep else 0), bits=xp.zeros((n >> 6) + 1, np.uint64),
                summary=xp.zeros((n >> 12) + 1, np.uint64),
            )  # fmt: skip
            if self.weighted:
                pack.assign(sums=xp.zeros(n, np.int64), own=xp.zeros(n, np.int64))
        return pack

    @property
    def weighted(self) -> bool:
        """Whether neighbours have values."""
        return self.sets.out.values is not None

    def amounts(self) -> Array:
        """What the scores of all vertices are divided by, by number. Every rank calls it."""
        if not self._amounts:
            part, env = self.part, self.env
            table = env.xp.empty(part.num_vertices, np.int64)
            table[env.gather(part.ids)] = env.gather(self.sets.amounts)
            self._amounts.append(table)
        return self._amounts[0]

    def _follow(self, pack: TwoHopRows, some: Array | slice) -> None:
        """Let a pack have the paths along some of the edges from sources. Every rank calls it."""
        xp, env, part, out = self.env.xp, self.env, self.part, self.sets.out
        places = self.arcs[some]
        slots, middle = out.slots[places], out.ends[places]
        if part.size == 1:
            back, at = self.sets.back, slots
            came = Sent(back.ends, back.indptr, back.values)
        else:
            wanted, at = xp.unique(middle, return_inverse=True)
            came = self.sets.back.sent(env, RemoteLookup(part, env, wanted))
        pack.assign(
            middle=middle, looped=self.looped[slots], first=came.indptr[:-1][at], last=came.indptr[1:][at],
            entries=came.entries, values=came.values, value=None if out.values is None else out.values[places],
        )  # fmt: skip

    def _kernels(self) -> Any:
        values = self.sets.out.values
        types = {"count_t": self._count_dtype, "worth_t": np.dtype(np.int64) if values is None else values.dtype}
        return self.env.kernels("two_hops", index_t=self.part.vertex_map.dtype, **types)

    def _list(self, pack: TwoHopRows, listed: Listed, most: int) -> None:
        """List the pairs of a batch."""
        xp, backend, before = self.env.xp, self.env.backend, listed.used
        if not len(pack.source):
            return
        listed.reserve(most)
        if backend.name != "cpu":
            self._make_tables(pack)
        score, first, second = self.least or (-1.0, 0, 0)
        pack.assign(
            **{f"out_{name}": values for name, values in listed.memory.items()},
            least=score, least_first=first, least_second=second,
        )  # fmt: skip
        pack.set_counters(pairs=before)
        self._kernels().two_hops_list(len(pack.source), pack, per_item=256)
        listed.used = pack.read_counters(backend).pairs
        if backend.name != "cpu":
            rows = listed.since(before)
            keys = rows["first"].astype(np.int64) * self.part.num_vertices + rows["second"]
            order = xp.argsort(keys)
            for values in rows.values():
                values[...] = values[order]

    def _make_tables(self, pack: TwoHopRows) -> None:
        """Hash tables for the sources of a batch on a GPU, at most half full."""
        xp = self.env.xp
        before = xp.zeros(len(pack.first) + 1, np.int64)
        xp.cumsum(pack.last - pack.first, out=before[1:])
        most = xp.minimum(before[pack.begin[1:]] - before[pack.begin[:-1]], self.part.num_vertices)
        slots = xp.exp2(xp.ceil(xp.log2(2.0 * most))).astype(np.int64)
        begins = xp.zeros(len(slots) + 1, np.int64)
        xp.cumsum(slots if self.weighted else xp.where(slots > SMALL, slots, 0), out=begins[1:])
        pack.begins, total = begins, int(begins[-1])
        if pack.table is None or len(pack.table) < total:
            pack.release("table", "tallies", "table_sums", "table_own")
            dtype = self.part.vertex_map.dtype
            pack.assign(table=xp.full(total, -1, dtype), tallies=xp.zeros(total, self._count_dtype))
            if self.weighted:
                pack.assign(table_sums=xp.zeros(total, np.int64), table_own=xp.zeros(total, np.int64))

    def _add(
        self, pack: TwoHopRows, measure: str, first: int, end: int, whole: bool, listed: Listed, keep: int
    ) -> None:
        """Count the paths of a piece of a source, and list its pairs once it is whole."""
        xp, part = self.env.xp, self.part
        if pack.count is None:
            pack.count = xp.zeros(part.num_vertices, self._count_dtype)
            if self.weighted:
                pack.assign(sums=xp.zeros(part.num_vertices, np.int64), own=xp.zeros(part.num_vertices, np.int64))
        row = self.rows[first : first + 1]
        source = int(part.ids[row][0])
        self._kernels().two_hops_add(end - first, source, pack, per_item=256)
        if not whole:
            return
        second = places_of(xp, pack.count)
        tally = pack.count[second]
        pack.count[second] = 0
        total = (tally >> 2).astype(np.int64)
        common = amount = total - (tally & 3).astype(np.int64)
        if self.weighted:
            total = pack.sums[second]
            amount = total - pack.own[second]
            pack.sums[second] = pack.own[second] = 0
        proper = (common > 0) & (second != source)
        second, common, amount, total = second[proper], common[proper], amount[proper], total[proper]
        scores = score(xp, measure, amount, total, self.sets.amounts[row], self.amounts()[second])
        columns = {"first": xp.full(len(second), source, part.vertex_map.dtype), "second": second}
        columns |= {"score": scores, "common": common}
        if self.least is not None:
            columns = taken(columns, scores >= self.least[0])
        listed.append(top(xp, columns, keep) if keep else columns)
