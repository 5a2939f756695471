"""The edges of a result that has a value for each: their ends, their rows, and where their two directions are stored.

An undirected edge is stored at both of its ends, and each stored edge has a value of its own. The owner of the smaller
id adds the two. Where the value of the other direction comes from does not depend on the values, so it is found once,
by sorting rows, and kept with the partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import all_set
from graphdask.engine.loop import Environment
from graphdask.partition.build import row_of_each, tally
from graphdask.partition.neighbours import firsts, places_of
from graphdask.partition.part import Csr, Part

MAKING = 72
"""Bytes for each stored edge while the columns that are kept are made, and a result of them."""
COPYING = 64
"""Bytes for each stored edge while a result is made of what is kept."""
ENDS = "ends of edges"
"""Among the tables of a partition."""
PARALLEL = "parallel edges"
"""Among the tables of a partition, with whether edges must be as long to count as parallel."""


@dataclass
class EdgeEnds:
    """Both ends of the stored edges of a partition, as ids, and which of these edges have a place in the result."""

    source: Array
    destination: Array
    kept: Array
    """bool: all of a directed graph; of an undirected one those that lead to a larger id, or to the vertex itself."""

    @classmethod
    def of(cls, part: Part, env: Environment) -> EdgeEnds:
        """Every rank calls it."""
        (ids,) = env.fetch_ghosts(part, [part.ids])
        source, destination = ids[row_of_each(env.backend, part.out, 0)], ids[part.out.indices]
        kept = source <= destination if part.inward is part.out else source == source
        return cls(source, destination, kept)


@dataclass(frozen=True)
class EdgeColumns:
    """The edges of the result."""

    source: Array
    destination: Array
    made_of: tuple[Any, Any]
    """Indices and rows of the stored edges; where others have taken their place, this is of no use."""
    pairs: Pairs | None
    """Of an undirected graph; in a directed one every stored edge is an edge of the result."""

    @property
    def nbytes(self) -> int:
        return self.source.nbytes + self.destination.nbytes + (0 if self.pairs is None else self.pairs.nbytes)

    @staticmethod
    def memory(part: Part) -> int:
        """Bytes while a result is made, for values of all stored edges besides these."""
        return (COPYING if ENDS in part.tables else MAKING) * part.out.num_edges

    @classmethod
    def of(cls, part: Part, env: Environment) -> EdgeColumns:
        """Those that the partition keeps, or else new ones. Every rank calls it."""
        made_of = part.out.indices, part.out.rows
        kept: EdgeColumns | None = part.tables.get(ENDS)
        there = kept is not None and all(a is b for a, b in zip(kept.made_of, made_of, strict=True))
        if env.least(int(there)):
            assert kept is not None
            return kept
        ends = EdgeEnds.of(part, env)
        if part.inward is part.out:
            pairs = Pairs.of(part, env, ends)
            columns = cls(ends.source[ends.kept], ends.destination[ends.kept], made_of, pairs)
        else:
            columns = cls(ends.source, ends.destination, made_of, None)
        part.tables.keep(ENDS, columns, columns.nbytes)
        return columns

    def result(self, part: Part, env: Environment, over: Array, by_weight: bool, scale: float) -> dict[str, Array]:
        """Columns of the result, of values of the stored edges. Every rank calls it."""
        rows = part.out.rows
        assert rows is not None
        over = divided(part, over, by_weight, env)
        if self.pairs is None:
            row, score = rows.copy(), over * scale
        else:
            row, score = rows[self.pairs.places], self.pairs.add(env, over, scale)
        return {"source": self.source.copy(), "destination": self.destination.copy(), "row": row, "score": score}


@dataclass(frozen=True)
class Pairs:
    """The two directions of each undirected edge that has a place in the result of this rank."""

    places: Array
    """Where the direction is stored that leads to the larger id, or the self-loop."""
    mirrors: Array
    """Where the value of the other direction is, among all that came; -1 for self-loops."""
    sent: list[Array] | None
    """For each rank, where the directions are stored that lead to smaller ids of that rank; None if there is one rank,
    where the values of all stored edges are what came."""

    @property
    def nbytes(self) -> int:
        return self.places.nbytes + self.mirrors.nbytes + sum(each.nbytes for each in self.sent or ())

    @classmethod
    def of(cls, part: Part, env: Environment, ends: EdgeEnds) -> Pairs:
        """Pair the directions by the rows of edges, which both have. Every rank calls it."""
        xp, csr = env.xp, part.out
        assert csr.rows is not None
        back, sent = places_of(xp, ~ends.kept), None
        if part.size > 1:
            sent = _by_owner(part, env, back)
            came = cls._exchanged(env, csr.rows, sent)
        else:
            came = csr.rows[back]
        most = max(csr.num_edges, len(came))
        dtype = np.dtype(np.int32 if most <= np.iinfo(np.int32).max else np.int64)
        forth = places_of(xp, ends.source < ends.destination)
        other = xp.full(csr.num_edges, -1, dtype)
        order = xp.argsort(came)
        other[forth[xp.argsort(csr.rows[forth])]] = (order if sent else back[order]).astype(dtype)
        places = places_of(xp, ends.kept).astype(dtype)
        return cls(places, other[places], None if sent is None else [each.astype(dtype) for each in sent])

    @staticmethod
    def _exchanged(env: Environment, values: Array, sent: list[Array]) -> Array:
        return env.xp.concatenate(env.alltoall([values[each] for each in sent]))

    def add(self, env: Environment, over: Array, scale: float) -> Array:
        """The values of both directions, times `scale`, added up. Every rank calls it."""
        came = over if self.sent is None else self._exchanged(env, over, self.sent)
        score = env.xp.empty(len(self.places))
        env.kernels("edge_pairs", index_t=self.places.dtype).edge_pairs_add(
            len(score), self.places, self.mirrors, over, came, scale, score
        )
        return score


def _by_owner(part: Part, env: Environment, places: Array) -> list[Array]:
    """The places of stored edges by the rank that owns the vertex to which they lead."""
    bounds = env.backend.from_host(part.slot_bounds[1:-1].astype(part.vertex_map.dtype))
    turn = env.xp.searchsorted(bounds, part.out.indices[places], side="right").astype(np.uint16)
    return [places[places_of(env.xp, turn == (q - part.rank) % part.size)] for q in range(part.size)]


def like_before(csr: Csr, source: Array, by_weight: bool, env: Environment) -> Array:
    """Return a mask of the stored edges that are parallel to the preceding edge, and as long."""
    first = firsts(env.xp, source) | firsts(env.xp, csr.indices)
    if by_weight:
        assert csr.weights is not None
        first |= firsts(env.xp, csr.weights)
    return ~first


def divided(part: Part, over: Array, by_weight: bool, env: Environment) -> Array:
    """Values of which the first of parallel edges has that of all, shared equally by those that are as short."""
    csr, name = part.out, (PARALLEL, by_weight)
    made_of, first = part.tables.get(name) or (None, None)
    if made_of is not csr.indices:
        found = ~like_before(csr, row_of_each(env.backend, csr, 0), by_weight, env)
        first = None if all_set(found) else found
        part.tables.keep(name, (csr.indices, first), 0 if first is None else first.nbytes)
    if first is None:
        return over
    group = env.xp.cumsum(first) - 1
    return (over[first] / tally(env.backend, group, int(group[-1]) + 1))[group]
