"""Pairs of vertices that share a neighbour, counted source by source, so that few pairs are held at a time.

A source u and each of its neighbours w give the paths u, w, v to the vertices v in whose neighbourhoods w is. Rows of
such v come from the owners of w, about BATCH paths at a time, in the order of the sources. Paths with the same ends are
counted; a source whose paths are all there is done, and the counts of the last one wait for the next batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.partition.neighbours import firsts
from graphdask.partition.part import Part
from graphdask.sample._remote_lookup import RemoteLookup, ragged
from graphdask.similarity._sets import BATCH, Sets
from graphdask.subgraphs._rows import places_in
from graphdask.subgraphs.selected import set_keys


@dataclass
class Counted:
    """Pairs of sources and other vertices, with what they share."""

    keys: Array
    """int64, ascending: own vertex times vertices plus the number of the other."""
    common: Array
    """int64: shared neighbours that are none of the two."""
    both: Array
    """int64: all shared neighbours."""

    def at(self, places: Array | slice) -> Counted:
        """Some of the pairs."""
        return Counted(self.keys[places], self.common[places], self.both[places])


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
    onward: bool

    @classmethod
    def of(cls, part: Part, env: Environment, sets: Sets, sources: Array | None, onward: bool) -> TwoHops:
        """Return the paths from sources, ascending own vertices; None: from all. Every rank calls it."""
        (sizes,) = env.fetch_ghosts(part, [sets.back.sizes])
        rows = sets.out.of_each(env)
        if sources is None:
            arcs = env.xp.arange(len(rows))
        else:
            begins, bounds = sets.out.places(env.xp, sources)
            arcs = ragged(env, begins, bounds)
            rows = rows[arcs]
        return cls(part, env, sets, arcs, rows, sizes[sets.out.slots[arcs]], onward)

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

    def counted(self) -> Iterator[tuple[Counted, bool]]:
        """Pairs of which all paths are counted, a batch after the other, and whether there are more batches; these are
        as many on every rank."""
        xp, env = self.env.xp, self.env
        ends = xp.cumsum(self.paths)
        total = int(ends[-1]) if len(ends) else 0
        cuts = env.backend.to_host(xp.searchsorted(ends, xp.arange(0, total, BATCH))).tolist()
        batches = -env.least(-max(len(cuts), 1))
        bounds = [*(cuts or [0]), *[len(ends)] * (batches + 1 - max(len(cuts), 1))]
        none = self.arcs[:0]
        waiting = Counted(none, none, none)
        for number, (first, last) in enumerate(pairwise(bounds), start=1):
            found = _together(xp, waiting, self._pairs(slice(first, last)))
            done = len(found.keys)
            if last < len(ends):
                begin = self.rows[last : last + 1].astype(np.int64) * max(self.part.num_vertices, 1)
                done = int(xp.searchsorted(found.keys, begin)[0])
            yield found.at(slice(0, done)), number < batches
            waiting = found.at(slice(done, None))

    def _pairs(self, some: slice) -> Counted:
        """The ends of the paths along some edges."""
        xp, env, part = self.env.xp, self.env, self.part
        middle = self.sets.out.ends[self.arcs[some]]
        wanted, of_each = xp.unique(middle, return_inverse=True)
        entries, bounds = self.sets.back.sent(env, RemoteLookup(part, env, wanted))
        lengths = self.paths[some]
        at = ragged(env, bounds[:-1][of_each], xp.concatenate([bounds[:1], xp.cumsum(lengths)]))
        row, last = xp.repeat(self.rows[some], lengths), entries[at]
        source = part.ids[row]
        kept = last > source if self.onward else last != source
        by = xp.repeat(middle, lengths)[kept]
        row, last, source = row[kept], last[kept], source[kept]
        keys = set_keys(part, row.astype(np.int64), last)
        improper = keys[(by == source) | (by == last)]
        keys.sort()
        first = firsts(xp, keys)
        begins = xp.flatnonzero(first) if len(keys) else self.arcs[:0]
        keys, both = keys[begins], _lengths(begins, len(first))
        less, counts = xp.unique(improper, return_counts=True)
        common = both.copy()
        common[places_in(xp, keys, less)[0]] -= counts
        return Counted(keys, common, both)


def _lengths(begins: Array, end: int) -> Array:
    """How long runs are that begin there, the last one up to `end`; int64."""
    lengths = begins.copy()
    lengths[:-1] = begins[1:] - begins[:-1]
    lengths[-1:] = end - begins[-1:]
    return lengths


def _together(xp: Any, first: Counted, second: Counted) -> Counted:
    """The pairs of both, each once, with the sums of what they share."""
    if not len(first.keys):
        return second
    keys = xp.concatenate([first.keys, second.keys])
    distinct, place = xp.unique(keys, return_inverse=True)
    sums = [
        sum_at(xp, len(distinct), place, xp.concatenate([getattr(each, name) for each in (first, second)]))
        for name in ("common", "both")
    ]
    return Counted(distinct, *sums)
