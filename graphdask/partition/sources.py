"""Edge sources: the lineage of a graph. Each yields, for any number of workers, pieces whose union is the edges.

A piece is small to send and pure: called twice it gives the same edges, so a lost partition can be made again.
Edges are in graphdask's vertex numbers; an undirected edge stands once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graphdask.device.arrays import brought, module_of, on_gpu, on_host
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.device.host_memory import reserved
from graphdask.partition.ids import COMPILED
from graphdask.partition.vertex_map import index_dtype

Edges = tuple[Array, Array, Array | None]
"""Sources, destinations (index dtype of the graph) and weights or None; shape (m,), on a backend."""


class Piece(Protocol):
    """The share of one rank."""

    def edges(self, backend: Backend) -> Edges:
        """Make the edges on the given backend."""


class EdgeSource(Protocol):
    """Where a graph's edges come from."""

    num_vertices: int
    weight_dtype: np.dtype | None
    drops_self_loops: bool
    """Whether pieces leave out self-loops that `num_edges` counts."""

    @property
    def skewed(self) -> bool:
        """Whether a few vertices hold many of the edges."""

    @property
    def num_edges(self) -> int:
        """Of all pieces together; with `drops_self_loops`, before they are dropped."""

    def piece(self, rank: int, size: int) -> Piece:
        """Return the share of `rank` of `size`."""


@dataclass(frozen=True)
class ArrayPiece:
    """A slice of the caller's arrays, where these are; one that is sent arrives on the host."""

    src: Array
    dst: Array
    weights: Array | None

    def edges(self, backend: Backend) -> Edges:
        weights = None if self.weights is None else brought(backend, self.weights)
        return brought(backend, self.src), brought(backend, self.dst), weights

    def __reduce__(self) -> Any:
        columns = (None if each is None else on_host(each) for each in (self.src, self.dst, self.weights))
        return ArrayPiece, tuple(columns)


class ArraySource:
    """The caller's arrays, kept on this host or a GPU of this process and sent in slices."""

    def __init__(
        self,
        num_vertices: int,
        src: Array,
        dst: Array,
        weights: Array | None,
        skewed: bool | None = None,
        kept: np.ndarray | None = None,
        rows_given: int | None = None,
    ):
        dtype = index_dtype(num_vertices)
        self.num_vertices, self.num_edges = num_vertices, len(src)
        self.src, self.dst = (module_of(ends).ascontiguousarray(ends, dtype) for ends in (src, dst))
        if weights is not None and on_gpu(self.src):
            weights = brought(get_backend("cuda", self.src.device.id), weights)
        self.weights = weights
        self.kept = kept
        """bool, packed to bits: of each edge that the caller gave, whether it is there; None where all are."""
        self.rows_given = self.num_edges if rows_given is None else rows_given
        """How many edges the caller gave, those that are left out among them."""
        self.drops_self_loops = False
        self.weight_dtype = None if weights is None else weights.dtype
        self.known_skewed = skewed
        """None until somebody asks whether it is `skewed`."""

    @property
    def skewed(self) -> bool:
        """Whether a few vertices hold many of the edges; found on first use."""
        if self.known_skewed is None:
            self.known_skewed = _is_skewed(self.src, self.dst, self.num_vertices)
        return self.known_skewed

    def __getstate__(self) -> dict[str, Any]:
        """One that is sent arrives on the host."""
        columns = ("src", "dst", "weights")
        return {name: on_host(value) if name in columns else value for name, value in self.__dict__.items()}

    def piece(self, rank: int, size: int) -> ArrayPiece:
        share = slice(self.num_edges * rank // size, self.num_edges * (rank + 1) // size)
        return ArrayPiece(self.src[share], self.dst[share], None if self.weights is None else self.weights[share])

    @property
    def rows(self) -> np.ndarray | None:
        """int64: which of the caller's edges each one is; None where all are there, one after the other."""
        return None if self.kept is None else np.flatnonzero(np.unpackbits(self.kept))


def _is_skewed(src: Array, dst: Array, num_vertices: int) -> bool:
    """Whether the largest degree is more than 16 times the mean: hubs, which contiguous ranges would pile up."""
    if not len(src):
        return False
    xp = module_of(src)
    if num_vertices > 8 * len(src):  # mostly isolated vertices; counting each would take more than the edges do
        degree = xp.unique(xp.concatenate([src, dst]), return_counts=True)[1]
    elif on_gpu(src):
        degree = xp.zeros(num_vertices, np.int64)
        kernels = get_backend("cuda", src.device.id).kernels("tally", index_t=src.dtype)
        for ends in (src, dst):
            kernels.tally_count(len(ends), ends, degree)
    elif len(src) >= COMPILED and len(src) < 2**30:
        degree = reserved(num_vertices, np.int32)
        get_backend("cpu").kernels("numbering").numbering_degrees(len(src), src, dst, degree)
    else:
        degree = np.bincount(src, minlength=num_vertices)
        degree += np.bincount(dst, minlength=num_vertices)
    return bool(int(degree.max()) > 16 * max(2 * len(src) / num_vertices, 1.0))


@dataclass(frozen=True)
class PairWeights:
    """Whole weights as a function of the seed and the two ends of an edge, in whichever order.

    So parallel edges have the same weight, and a weight needs no memory before its edge is made.
    """

    most: int
    """Weights are 1 to this, uniform but for 2**-32."""
    seed: int
    dtype: str = "int32"
    """The same numbers may be wanted as floats."""

    def of(self, backend: Backend, src: Array, dst: Array) -> Array:
        """Return the weights of edges, shape (m,)."""
        xp = backend.xp
        weights = xp.empty(len(src), self.dtype)
        for first in range(0, len(src), 1 << 24):  # the steps between take eight bytes an edge
            part = slice(first, first + (1 << 24))
            low, high = xp.minimum(src[part], dst[part]), xp.maximum(src[part], dst[part])
            drawn = mixed(low.astype(np.uint64) * _GOLDEN + np.uint64(self.seed))
            drawn = mixed(drawn + high.astype(np.uint64) * _GOLDEN) >> np.uint64(32)
            weights[part] = (drawn * np.uint64(self.most) >> np.uint64(32)).astype(np.int32) + np.int32(1)
        return weights


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(x: Array) -> Array:
    """The finalizer of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True)
class GeneratedPiece:
    generator: Any
    rank: int
    size: int
    weights: PairWeights | None = None

    def edges(self, backend: Backend) -> Edges:
        src, dst = self.generator.block(backend, self.rank, self.size)
        return src, dst, None if self.weights is None else self.weights.of(backend, src, dst)


class GeneratedSource:
    """A generator: an object with `num_vertices`, `num_edges` and `block(backend, rank, size) -> (src, dst)`.

    `num_edges` is exact, but for a generator that drops parallel edges the number before that.
    One whose blocks leave self-loops out says so in `drops_self_loops`.
    """

    def __init__(self, generator: Any, skewed: bool, weights: PairWeights | None = None):
        self.generator, self.skewed, self.weights = generator, skewed, weights
        self.drops_self_loops: bool = getattr(generator, "drops_self_loops", False)
        self.weight_dtype: np.dtype | None = None if weights is None else np.dtype(weights.dtype)
        self.cumulative: bool = getattr(generator, "cumulative", False)
        """Whether a block takes the work of all blocks before it, so that it is not to be cut into small ones."""
        self.num_vertices, self.num_edges = generator.num_vertices, generator.num_edges

    def piece(self, rank: int, size: int) -> GeneratedPiece:
        return GeneratedPiece(self.generator, rank, size, self.weights)

    def block_edges(self, rank: int, size: int) -> int | None:
        """Length of a block, where the generator knows it before it makes the block."""
        known = getattr(self.generator, "block_edges", None)
        return None if known is None else known(rank, size)


@dataclass(frozen=True)
class ChunkPiece:
    chunks: Sequence[Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]]
    dtype: np.dtype
    weight_dtype: np.dtype | None

    def edges(self, backend: Backend) -> Edges:
        return self.edges_and_lengths(backend)[0]

    def edges_and_lengths(self, backend: Backend) -> tuple[Edges, list[int]]:
        """The edges, and how many each chunk has."""
        made = [chunk() for chunk in self.chunks]

        def joined(column: int, dtype: Any) -> Array:
            parts = [np.asarray(part[column], dtype) for part in made]
            return backend.from_host(np.concatenate(parts) if parts else np.zeros(0, dtype))

        weights = None if self.weight_dtype is None else joined(2, self.weight_dtype)
        return (joined(0, self.dtype), joined(1, self.dtype), weights), [len(part[0]) for part in made]


class ChunkSource:
    """Many picklable callables, each giving some edges: file ranges, partitions of a Dask collection."""

    def __init__(
        self, num_vertices: int, num_edges: int, chunks: Sequence[Callable[[], Any]], weight_dtype: Any, skewed: bool
    ):
        self.num_vertices, self.num_edges, self.chunks = num_vertices, num_edges, list(chunks)
        self.weight_dtype = None if weight_dtype is None else np.dtype(weight_dtype)
        self.skewed, self.drops_self_loops = skewed, False

    def piece(self, rank: int, size: int) -> ChunkPiece:
        return ChunkPiece(self.chunks[rank::size], index_dtype(self.num_vertices), self.weight_dtype)
