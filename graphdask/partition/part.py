"""Csr and Part: what a worker holds of a graph. WeightFacts: what all ranks know of its weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.partition.vertex_map import VertexMap


@dataclass
class Csr:
    """Compressed sparse rows: the neighbours of row v are `indices[indptr[v]:indptr[v+1]]`.

    They stand in ascending order of their ids, however the graph is divided; parallel edges by weight.
    """

    indptr: Array
    """int64, shape (rows + 1,)."""
    indices: Array
    """Slots of the neighbours, int32 or int64, shape (edges,)."""
    weights: Array | None = None
    """float64, float32, int64 or int32, shape (edges,), or None."""
    rows: Array | None = None
    """int32 or int64, shape (edges,): which row of what the caller gave each edge is; None until it is asked for."""
    columns: dict[str, Array] = field(default_factory=dict)
    """The columns of the edges that functions have read, shape (edges,), by name."""

    @property
    def num_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        return len(self.indices)

    @property
    def nbytes(self) -> int:
        columns = self.weights, self.rows, *self.columns.values()
        more = (column.nbytes for column in columns if column is not None)
        return self.indptr.nbytes + self.indices.nbytes + sum(more)

    def only(self, xp: Any, kept: Array) -> Csr:
        """The same rows with some of the edges: those where `kept`, bool of shape (edges,), is true."""
        before = xp.zeros(len(kept) + 1, np.int64)
        xp.cumsum(kept, out=before[1:])
        return Csr(before[self.indptr], self.indices[kept], None if self.weights is None else self.weights[kept])


@dataclass(frozen=True)
class WeightFacts:
    """What algorithms must know of all weights before they start."""

    least: float
    """The smallest, an int where weights are integers; 0 without edges."""
    greatest: float
    total: float
    """Their sum, as floats add up; for estimates."""
    count: int
    unfit: tuple[int, int, float] | None = None
    """Of the edges of a negative or infinite weight the first, by its vertex numbers; and its weight."""

    @classmethod
    def of(cls, xp: Any, src: Array, dst: Array, weights: Array) -> WeightFacts:
        """The facts of some edges, given in vertex numbers."""
        if not len(weights):
            return cls(0, 0, 0.0, 0)
        least, greatest, unfit = weights.min().item(), weights.max().item(), None
        if least < 0 or greatest == np.inf:
            (places,) = xp.nonzero((weights < 0) | (weights == np.inf))
            u, v = src[places], dst[places]
            u, v, places = (array[u == u.min()] for array in (u, v, places))
            place = places[v.argmin()]
            unfit = src[place].item(), dst[place].item(), weights[place].item()
        with np.errstate(over="ignore", invalid="ignore"):
            if xp is np:
                total = float(weights.sum(dtype=np.float64))
            else:  # of one type CuPy has a sum at hand; for another one it compiles two kernels
                blocks = range(0, len(weights), 1 << 24)
                total = sum(float(weights[k : k + (1 << 24)].astype(np.float64, copy=False).sum()) for k in blocks)
        return cls(least, greatest, total, len(weights), unfit)

    @classmethod
    def joined(cls, facts: Iterable[WeightFacts]) -> WeightFacts:
        """Of all edges, from those of disjoint groups of them."""
        filled = [fact for fact in facts if fact.count]
        if not filled:
            return cls(0, 0, 0.0, 0)
        return cls(
            min(fact.least for fact in filled),
            max(fact.greatest for fact in filled),
            sum(fact.total for fact in filled),
            sum(fact.count for fact in filled),
            min((fact.unfit for fact in filled if fact.unfit), default=None),
        )


class Tables:
    """What was made of a partition for a call and is kept for the next ones, until its memory is needed.

    Several ranks may share a partition, as threads of one process. A copy of a partition begins without tables.
    """

    complete = False
    """Whether there are all that there will be."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, int]] = {}
        """By name, with its bytes; the one that was used longest ago is the first."""
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Tables, ()

    def __contains__(self, name: Any) -> bool:
        return name in self._made

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(nbytes for _, nbytes in self._made.values())

    @property
    def values(self) -> list[Any]:
        """All tables."""
        with self._lock:
            return [made for made, _ in self._made.values()]

    def get(self, name: Any) -> Any:
        """The table of this name, which now is the last one used; None where there is none."""
        with self._lock:
            if name not in self._made:
                return None
            self._made[name] = self._made.pop(name)
            return self._made[name][0]

    def keep(self, name: Any, made: Any, nbytes: int) -> Any:
        """Keep a table; returns it."""
        with self._lock:
            self._made[name] = made, nbytes
        return made

    def forget(self) -> bool:
        """Drop the table that was used longest ago; return False if there is none."""
        with self._lock:
            if not self._made:
                return False
            del self._made[next(iter(self._made))]
            return True


@dataclass
class Part:
    """One rank's partition.

    A vertex that the rank knows has a *slot*: its own vertices come first, slots 0 to num_owned-1 in local order,
    then the ghosts. With ghosts="all" every vertex has a slot, and slot = (position - first own position) mod n. With
    ghosts="1-hop" the ghost slots stand in the same cyclic order but only for neighbours; `ghosts` lists them.
    """

    rank: int
    size: int
    vertex_map: VertexMap
    out: Csr
    """Out-edges of the own vertices."""
    inward: Csr | None
    """In-edges of the own vertices; the same object as `out` where the graph is undirected; None until needed."""
    ghosts: Array | None
    """1-hop: the cyclic position of each ghost, ascending, index dtype; None with ghosts="all"."""
    ids: Array
    """Ids of the own vertices, index dtype, shape (num_owned,)."""
    slot_bounds: np.ndarray
    """int64 on the host, shape (size + 1,): slots [slot_bounds[k], slot_bounds[k+1]) are of rank
    (self.rank + k) % size."""
    mirrors: list[Array] | None = None
    """For each rank, the own vertices of which it holds ghosts; None until needed, see `partition.ghosts.mirrors`."""
    mirrored: Array | None = None
    """The mirrors one after the other, from the next rank's on around, of which `mirrors` are views."""
    counts: dict[str, int] = field(default_factory=dict)
    """What the build found on this rank: edges `made` from its piece, `arcs` (stored edges) and `self_loops`."""
    weights: WeightFacts | None = None
    """Of the piece of the edges that this rank read; None where there are no weights."""
    columns: dict[Any, Array] = field(default_factory=dict)
    """The columns of vertices that functions have read, by graphdask.partition.column_values.ColumnAt."""
    tables: Tables = field(default_factory=Tables, repr=False)
    """What runs have made of edges and biases; ranks agree whether they have one where that matters."""

    @property
    def num_vertices(self) -> int:
        return self.vertex_map.num_vertices

    @property
    def num_owned(self) -> int:
        return int(self.slot_bounds[1])

    @property
    def num_slots(self) -> int:
        return int(self.slot_bounds[-1])

    @property
    def num_mirrored(self) -> int:
        """Own vertices of which other ranks have ghosts, once for each rank; until that is known, as many as ghosts."""
        return self.num_slots - self.num_owned if self.mirrored is None else len(self.mirrored)

    @property
    def first_position(self) -> int:
        return int(self.vertex_map.offsets[self.rank])

    @property
    def directions(self) -> list[Csr]:
        """Out-edges, and in-edges where they are others; these must have been made."""
        assert self.inward is not None
        return [self.out] if self.inward is self.out else [self.out, self.inward]

    @property
    def nbytes(self) -> int:
        total = self.out.nbytes + self.ids.nbytes + (0 if self.ghosts is None else self.ghosts.nbytes)
        if self.inward is not None and self.inward is not self.out:
            total += self.inward.nbytes
        return total + sum(column.nbytes for column in self.columns.values())
