"""Questions about vertices and edges that a partition answers where it is, and the arrays that come back.

Each class is a picklable function of a Part: it runs on the rank that owns the vertices and returns NumPy arrays in
vertex numbers. A row stands in the ascending order of its neighbours' numbers, so an edge is found by binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array, Backend, get_backend
from graphdask.device.counting import any_set
from graphdask.partition.build import from_cyclic, to_cyclic_positions
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap

DIRECTIONS = ("out", "in", "both")


def backend_of(part: Part) -> Backend:
    """The backend that holds the arrays of a partition."""
    return get_backend("cuda", part.ids.device.id) if hasattr(part.ids, "get") else get_backend("cpu")


def numbers_at(backend: Backend, part: Part, slots: Array) -> Array:
    """Vertex numbers of an array of slots."""
    return part.vertex_map.to_id(backend, from_cyclic(part, to_cyclic_positions(part, slots)))


def own_places(part: Part, numbers: Sequence[int]) -> np.ndarray:
    """Return the slots of those vertices that this rank owns, ascending, in the index dtype, on the host."""
    map_ = part.vertex_map
    positions = map_.to_position(get_backend("cpu"), np.array(numbers, map_.dtype)).astype(np.int64)
    first, last = int(map_.offsets[part.rank]), int(map_.offsets[part.rank + 1])
    own = positions[(positions >= first) & (positions < last)] - first
    return np.sort(own).astype(map_.dtype)


def rows_of(part: Part, direction: str) -> list[Csr]:
    """The rows of a direction; the in-edges of a directed graph must have been made for "in" and "both"."""
    if direction == "both":
        return part.directions
    csr = part.inward if direction == "in" else part.out
    assert csr is not None
    return [csr]


def run_of(backend: Backend, part: Part, csr: Csr, rows: Array, wanted: Array) -> tuple[Array, Array]:
    """Where the entries of some vertices stand in some rows.

    Parameters
    ----------
    rows, wanted : arrays of one length
        Rows, and the number of a vertex that is searched for in each.

    Returns
    -------
    first, last : arrays of int64
        The entries `first` to `last - 1` of `csr` are edges to the wanted vertex; none if they are equal.
    """
    begin, end = csr.indptr[rows], csr.indptr[rows + 1]
    return _first_from(backend, part, csr, begin, end, wanted), _first_from(backend, part, csr, begin, end, wanted + 1)


def _first_from(backend: Backend, part: Part, csr: Csr, low: Array, high: Array, wanted: Array) -> Array:
    """The first entry from `low` on whose vertex number is at least the wanted one; `high` if there is none."""
    xp = backend.xp
    while any_set(open_ := low < high):
        middle = (low + high) // 2
        at = numbers_at(backend, part, csr.indices[xp.where(open_, middle, 0)])
        below = at < wanted
        low = xp.where(open_ & below, middle + 1, low)
        high = xp.where(open_ & ~below, middle, high)
    return low


@dataclass(frozen=True)
class Neighbours:
    """Picks the distinct neighbours of an own vertex, ascending."""

    place: int
    direction: str

    def __call__(self, part: Part) -> np.ndarray:
        backend = backend_of(part)
        with backend.activate():
            found = []
            for csr in rows_of(part, self.direction):
                begin, end = (int(bound) for bound in backend.to_host(csr.indptr[self.place : self.place + 2]))
                found.append(backend.to_host(numbers_at(backend, part, csr.indices[begin:end])))
        return np.unique(np.concatenate(found))


@dataclass(frozen=True)
class EdgeCounts:
    """Picks for each pair of an own vertex and any vertex how many edges lead from the one to the other, int64."""

    places: np.ndarray
    targets: np.ndarray

    def __call__(self, part: Part) -> np.ndarray:
        backend = backend_of(part)
        with backend.activate():
            first, last = run_of(
                backend, part, part.out, backend.from_host(self.places), backend.from_host(self.targets)
            )
            return backend.to_host(last - first)


@dataclass(frozen=True)
class EdgesBetween:
    """Picks the rows in the caller's input and the weights of the edges from an own vertex to another one.

    Rows are None until they have been found; weights are None where the graph has none.
    """

    place: int
    target: int

    def __call__(self, part: Part) -> tuple[np.ndarray | None, np.ndarray | None]:
        backend = backend_of(part)
        with backend.activate():
            place, target = (backend.from_host(np.array([value], np.int64)) for value in (self.place, self.target))
            first, last = (int(bound[0]) for bound in run_of(backend, part, part.out, place, target))
            columns = (None if each is None else each[first:last] for each in (part.out.rows, part.out.weights))
            rows, weights = (None if each is None else backend.to_host(each).copy() for each in columns)
            return rows, weights


@dataclass(frozen=True)
class Degrees:
    """Picks the degree of each own vertex, int64; without directions, and in "both", a self-loop counts twice."""

    direction: str
    directed: bool

    def __call__(self, part: Part) -> np.ndarray:
        backend = backend_of(part)
        xp = backend.xp
        with backend.activate():
            if backend.name == "cuda":
                return backend.to_host(self._by_kernel(backend, part))
            degree = sum(
                (csr.indptr[1:] - csr.indptr[:-1] for csr in rows_of(part, self.direction)),
                xp.zeros(part.num_owned, np.int64),
            )
            if not self.directed and part.counts["self_loops"]:
                own = xp.arange(part.num_owned)
                first, last = run_of(backend, part, part.out, own, part.ids.astype(np.int64))
                degree = degree + (last - first)
            return backend.to_host(degree)

    def _by_kernel(self, backend: Backend, part: Part) -> Array:
        dtype, number = part.vertex_map.dtype, None
        kernels, degree = backend.kernels("sorted_rows", index_t=dtype), backend.xp.zeros(part.num_owned, np.int64)
        loops = not self.directed and part.counts["self_loops"] > 0
        if loops and (part.size > 1 or type(part.vertex_map) is not VertexMap):
            number = numbers_at(backend, part, backend.xp.arange(part.num_slots, dtype=dtype))
        for csr in rows_of(part, self.direction):
            kernels.sorted_rows_degrees(
                part.num_owned, csr.indptr, csr.indices, number, part.ids if loops else None, degree
            )
        return degree
