"""Which worker owns which vertex.

Vertices have ids 0..n-1. A VertexMap gives each a *position* 0..n-1 such that rank r owns the contiguous positions
[offsets[r], offsets[r+1]); its local number there is position - offsets[r]. So an owner is found by a search in
`size + 1` offsets, and a partitioner only has to say in which order the vertices stand.

    range          position = id
    random         position = a keyed permutation of the id, computed, not stored
    biased-random  a table: each vertex drawn to the partition where its neighbours are (Pan et al., Multi-GPU Graph
                   Analytics, Section V-C, after Gunrock)
    metis          a table from METIS (package pymetis), the least edges cut
    the caller's   a table from an array of owners

Graphs that change are dealt instead of shuffled (DealtMap), so that those vertices that come later come last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError, MissingDependency, shown
from graphdask.interface.kinds import checked_seed, whole
from graphdask.partition.given import given_array
from graphdask.partition.tuning import PARTITION

METHODS = ("range", "random", "biased-random", "metis")
GHOSTS = ("all", "1-hop")
MOST_PARTS = 1 << 16
"""Owners travel as 16-bit numbers."""


@dataclass(frozen=True)
class Plan:
    """How a graph is to be partitioned. `None` leaves the choice to graphdask."""

    parts: int | None = None
    """Number of partitions."""
    by: str | np.ndarray | None = None
    """A name of `METHODS`, or an int array: the owner of each vertex."""
    ghosts: str | None = None
    """`all` (a slot for every vertex on every rank) or `1-hop` (slots for the neighbours only)."""
    device: str = "auto"
    """`auto`, `cpu` or `cuda`."""
    seed: int = 0
    """Of the random partitioners; no answer depends on it."""
    id_width: int | None = None
    """Bits of a vertex id in the partitions: 32, 64, or None for the fewest that do."""

    def __post_init__(self) -> None:
        if self.parts is not None:
            whole("parts", self.parts, 1, MOST_PARTS)
        checked_seed(self.seed)
        if isinstance(self.by, str) and self.by not in METHODS:
            raise InputError(f"by={shown(self.by)} is not one of {', '.join(METHODS)}, nor an array of owners")
        if self.ghosts is not None and self.ghosts not in GHOSTS:
            raise InputError(f"ghosts={self.ghosts!r} is not one of {', '.join(GHOSTS)}")
        if self.device not in ("auto", "cpu", "cuda"):
            raise InputError(f"device={self.device!r} is not one of auto, cpu, cuda")
        if self.id_width not in (None, 32, 64):
            raise InputError(f"id_width={shown(self.id_width)} is neither 32 nor 64")


def index_dtype(num_vertices: int) -> np.dtype:
    """int32 while every vertex number, and one more, fits; else int64."""
    return np.dtype(np.int32 if num_vertices < PARTITION.narrow_ids else np.int64)


@dataclass(frozen=True)
class VertexMap:
    """Positions in the order of the ids (partitioner `range`). `offsets` is int64 of shape (size + 1,)."""

    num_vertices: int
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    wide: bool = False
    """Whether ids take 64 bits although 32 would do."""

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.int64) if self.wide else index_dtype(self.num_vertices)

    def with_offsets(self, offsets: np.ndarray) -> VertexMap:
        return replace(self, offsets=np.asarray(offsets, np.int64))

    def to_position(self, backend: Backend, ids: Array) -> Array:
        """Positions of an array of ids."""
        return ids

    def lookup(self, backend: Backend, uses: int) -> Callable[[Array], Array]:
        """`to_position` for arrays of about so many ids together."""
        return partial(self.to_position, backend)

    def to_id(self, backend: Backend, positions: Array) -> Array:
        """Ids at an array of positions."""
        return positions

    def owned_ids(self, backend: Backend, rank: int) -> Array:
        """Ids of the vertices of `rank`, in local order."""
        first, last = int(self.offsets[rank]), int(self.offsets[rank + 1])
        if backend.name == "cpu":
            return self.to_id(backend, np.arange(first, last, dtype=self.dtype))
        positions = backend.xp.empty(last - first, self.dtype)
        backend.kernels("sorted_rows", index_t=self.dtype).sorted_rows_numbers(last - first, first, positions)
        return self.to_id(backend, positions)

    def locate(self, id_: int) -> tuple[int, int]:
        """Owner and local number of one vertex."""
        from graphdask.device.backend import get_backend

        cpu = get_backend("cpu")
        position = int(self.to_position(cpu, np.array([id_], self.dtype))[0])
        rank = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return rank, position - int(self.offsets[rank])


@dataclass(frozen=True)
class ShuffledMap(VertexMap):
    """Positions by a keyed permutation (partitioner `random`)."""

    seed: int = 0

    def _apply(self, kernel: str, backend: Backend, values: Array) -> Array:
        if self._table_pays(backend, len(values)):
            return self._table(kernel, backend)[values]
        half = max(1, (max(self.num_vertices - 1, 1).bit_length() + 1) // 2)
        out = backend.xp.empty(len(values), self.dtype)
        kernels = backend.kernels("permute", index_t=self.dtype)
        values = values.astype(self.dtype, copy=False)
        getattr(kernels, kernel)(len(values), values, out, self.num_vertices, half, np.uint64(self.seed))
        return out

    def _table_pays(self, backend: Backend, uses: int) -> bool:
        """Whether to look numbers up in a table is faster than the rounds for each."""
        return backend.name == "cpu" and uses > PARTITION.table_uses * self.num_vertices

    def _table(self, kernel: str, backend: Backend) -> Array:
        return self._apply(kernel, backend, np.arange(self.num_vertices, dtype=self.dtype))

    def to_position(self, backend: Backend, ids: Array) -> Array:
        return self._apply("permute_forward", backend, ids)

    def lookup(self, backend: Backend, uses: int) -> Callable[[Array], Array]:
        if self._table_pays(backend, uses):
            return self._table("permute_forward", backend).__getitem__
        return super().lookup(backend, uses)

    def to_id(self, backend: Backend, positions: Array) -> Array:
        return self._apply("permute_backward", backend, positions)


@dataclass(frozen=True)
class DealtMap(VertexMap):
    """Positions by dealing: of `size` ids in a row each rank gets one, at random which, and it has them in their order.

    So a rank has about as many of any range of ids as each other one, and those below a bound stand before the others.
    """

    seed: int = 0

    @classmethod
    def of(cls, num_vertices: int, size: int, seed: int = 0) -> DealtMap:
        rank = np.arange(size + 1, dtype=np.int64)
        return cls(num_vertices, rank * (num_vertices // size) + np.minimum(rank, num_vertices % size), seed=seed)

    def _apply(self, kernel: str, backend: Backend, values: Array) -> Array:
        out = backend.xp.empty(len(values), self.dtype)
        kernels = backend.kernels("permute", index_t=self.dtype)
        values = values.astype(self.dtype, copy=False)
        seed = np.uint64(self.seed)
        getattr(kernels, kernel)(len(values), values, out, self.num_vertices, self.size, seed)
        return out

    def to_position(self, backend: Backend, ids: Array) -> Array:
        return self._apply("permute_deal", backend, ids)

    def to_id(self, backend: Backend, positions: Array) -> Array:
        return self._apply("permute_collect", backend, positions)


@dataclass(frozen=True)
class TableMap(VertexMap):
    """Positions from a table (partitioners `biased-random`, `metis`, the caller's)."""

    position_of: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    id_at: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))

    def to_position(self, backend: Backend, ids: Array) -> Array:
        return backend.from_host(self.position_of)[ids].astype(self.dtype, copy=False)

    def to_id(self, backend: Backend, positions: Array) -> Array:
        return backend.from_host(self.id_at)[positions].astype(self.dtype, copy=False)

    @classmethod
    def from_owners(cls, owners: np.ndarray, size: int) -> TableMap:
        """From the owner of each vertex, an int array of shape (n,) with values in [0, size)."""
        n, dtype = len(owners), index_dtype(len(owners))
        id_at = np.argsort(owners, kind="stable").astype(dtype)
        position_of = np.empty(n, dtype)
        position_of[id_at] = np.arange(n, dtype=dtype)
        offsets = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=size)))).astype(np.int64)
        return cls(n, offsets, position_of=position_of, id_at=id_at)


def even_offsets(num_vertices: int, size: int) -> np.ndarray:
    """Boundaries of `size` blocks whose lengths differ by at most one."""
    return (np.arange(size + 1, dtype=object) * num_vertices // size).astype(np.int64)


def balanced_offsets(weight_of_bucket: np.ndarray, bucket_width: int, num_vertices: int, size: int) -> np.ndarray:
    """Boundaries of `size` contiguous blocks of about equal weight.

    `weight_of_bucket[b]` is the weight (edges, and one for each vertex) of the positions
    [b*bucket_width, (b+1)*bucket_width).
    """
    total = np.cumsum(weight_of_bucket, dtype=np.float64)
    wanted = total[-1] * np.arange(1, size) / size if len(total) else np.zeros(size - 1)
    cuts = np.searchsorted(total, wanted, side="left") + 1 if len(total) else np.zeros(size - 1)
    inner = np.minimum(np.asarray(cuts, np.int64) * bucket_width, num_vertices)
    return np.concatenate(([0], inner, [num_vertices])).astype(np.int64)


def make_vertex_map(
    plan: Plan, num_vertices: int, size: int, skewed: bool, adjacency: Callable[[], tuple[np.ndarray, np.ndarray]]
) -> VertexMap:
    """Return the VertexMap of a plan. It has no offsets if the build finds them (range, random).

    Parameters
    ----------
    skewed : bool
        Whether a few vertices hold many of the edges; decides if the plan leaves the choice open.
    adjacency : callable
        Returns (indptr, indices) of the symmetric graph on this host, for the partitioners that use edges.
    """
    return of_width(plan, _divided(plan, num_vertices, size, skewed, adjacency))


def of_width(plan: Plan, vertex_map: VertexMap) -> VertexMap:
    """The same with ids as wide as the plan has them; InputError where that is too narrow."""
    n = vertex_map.num_vertices
    if plan.id_width == 32 and index_dtype(n) != np.int32:
        raise InputError(f"id_width=32 is too narrow for {n:,} vertices; leave it out, or take 64")
    return replace(vertex_map, wide=plan.id_width == 64)


def _divided(
    plan: Plan, num_vertices: int, size: int, skewed: bool, adjacency: Callable[[], tuple[np.ndarray, np.ndarray]]
) -> VertexMap:
    by = plan.by
    if by is None:
        by = "random" if skewed and size > 1 else "range"
    if isinstance(by, str):
        if by == "range":
            return VertexMap(num_vertices)
        if by == "random":
            return ShuffledMap(num_vertices, seed=plan.seed)
        if size == 1 or num_vertices == 0:
            return VertexMap(num_vertices, even_offsets(num_vertices, size))
        owners = _metis(*adjacency(), size) if by == "metis" else _biased_random(*adjacency(), size, plan.seed)
        return TableMap.from_owners(owners, size)
    return TableMap.from_owners(checked_owners(by, num_vertices, size), size)


def checked_owners(by: Any, num_vertices: int, size: int | None) -> np.ndarray:
    """Check the owner of each vertex and copy them; int64, shape (num_vertices,)."""
    owners = given_array("by", by)
    if owners.size == 0:
        owners = owners.astype(np.int64)
    if owners.shape != (num_vertices,) or owners.dtype.kind not in "iu":
        raise InputError(
            f"by= wants one owner for each of the {num_vertices} vertices, an int array; "
            f"got shape {owners.shape}, dtype {owners.dtype}"
        )
    wrong = np.flatnonzero((owners < 0) | (owners >= (MOST_PARTS if size is None else size)))
    if len(wrong):
        last = f"0 to {MOST_PARTS - 1}" if size is None else f"0 to {size - 1}"
        raise InputError(f"by= gives vertex number {wrong[0]} the owner {owners[wrong[0]]}; owners are {last}")
    return owners.astype(np.int64)


def _metis(indptr: np.ndarray, indices: np.ndarray, size: int) -> np.ndarray:
    try:
        import pymetis
    except ImportError as error:
        raise MissingDependency('by="metis" needs pymetis: pip install "graphdask[metis]"') from error
    n = len(indptr) - 1
    if n <= size:  # nothing is to be cut, and METIS would print that it cannot
        return np.arange(n)
    _, owners = pymetis.part_graph(size, _metis_graph(pymetis, indptr, indices))
    return np.asarray(owners, np.int64)


def _metis_graph(pymetis: Any, indptr: np.ndarray, indices: np.ndarray) -> Any:
    if hasattr(pymetis, "CSRAdjacency"):
        return pymetis.CSRAdjacency(indptr, indices)
    return [indices[first:last] for first, last in pairwise(indptr)]


def _biased_random(indptr: np.ndarray, indices: np.ndarray, size: int, seed: int) -> np.ndarray:
    from graphdask.kernels.partition.biased_random import biased_random_owners

    n = len(indptr) - 1
    owners = np.full(n, -1, np.int64)
    capacity = -(-n // size)
    biased_random_owners(n, indptr, indices, owners, size, capacity, np.uint64(seed))
    return owners
