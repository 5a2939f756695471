"""Scale-free graphs by preferential attachment: the copy model by hashing (cuPPA-Hash), no communication.
 The model. Vertices 0 .. degree-1 are a clique: vertex i < degree has the edges (i, 0) ... (i, i-1). Every
later vertex v has `degree` edges (v, F_0(v)) ... (v, F_{degree-1}(v)). For each, a vertex u is drawn
uniformly from 0 .. v-1. If u is of the clique, or with probability p (a direct edge), F_l(v) = u. Otherwise
(a copy edge) F_l(v) = F_k(u), where k is drawn uniformly from 0 .. degree-1. At p = 1/2 this is preferential
attachment to the degree, with a tail exponent that tends to 3. There are no self-loops, and the graph is
connected.
 All draws for an edge are digits of a hash of (seed, v, l), so F_k(u) is recomputed wherever it is needed,
and any split of the vertices into blocks, on any device, gives the same edges. F_l(v) depends on (seed, v, l)
alone, not on the other edges of v, so edges may be parallel. What is done about those is done to the output:
    keep     F as it is.
    merge    Of the edges of v with the same target the first stays. (Edges of different vertices are never
             parallel: of the two ends of an edge, it belongs to the later one.)
    redraw   The same edges as with merge, and for every one that it drops one to a target drawn by the same
             law until it is none of v's yet: every vertex after the clique has exactly `degree` neighbours
             among the earlier ones. kernels/generate/parallel_edges.py says what happens where no draw succeeds.
 p counts in steps of 2^-32, or of 2^-63 where that is coarser than 2^-16 of p or 1 - p. Draws of u deviate from
uniform by less than v / 2^64 relative; k and the coin are independent of u and each other to within degree / 2^32,
and for v >= 2^31 or degree > 256 to within degree / 2^64.
 Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of
massive scale-free networks", Data Science and Engineering 4 (2019), Section 2.4 (the model) and Section 4
(Algorithm 2). The hash differs: the paper's CRC64 is linear, which makes the coin a function of the index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError
from graphdask.generate import arguments
from graphdask.interface.kinds import Own, checked_seed, choice
from graphdask.interface.suggest import public
from graphdask.partition.vertex_map import index_dtype

MULTI_EDGES = ("keep", "merge", "redraw")

_PIECE = 1 << 16
"""Fewest edges that are made at a time where pieces bound the memory; at most a 64th of all of them otherwise."""


def num_edges(n: int, degree: int) -> int:
    """Number of edges, parallel ones counted: degree (degree - 1) / 2 + (n - degree) degree."""
    return first_edge(n, degree)


def first_edge(vertex: int, degree: int) -> int:
    """Number of edges of the vertices before `vertex`: where its edges begin in the order of the vertices."""
    if vertex <= degree:
        return vertex * (vertex - 1) // 2
    return degree * (degree - 1) // 2 + (vertex - degree) * degree


def coin_threshold(p: float) -> int:
    """Return p as an integer: of the 2^63 values of the coin, how many mean a direct edge."""
    return int(math.ldexp(p, 63))


def targets(
    backend: Backend,
    n: int,
    degree: int,
    p: float,
    seed: int,
    start: int,
    stop: int,
    dtype: Any = None,
    multi_edges: str = "keep",
) -> Array:
    """Return the targets of vertices start .. stop-1.

    Parameters
    ----------
    backend : Backend
        Where they are made.
    n, degree, p, seed, multi_edges
        The graph, see `PreferentialAttachment`.
    start, stop : int
        The vertices, 0 <= start <= stop <= n.
    dtype : int32 or int64, optional
        Of the ids; by default int32 while they fit.

    Returns
    -------
    array of shape ((stop - start) * degree,)
        Entry (v - start) * degree + l is the target of edge l of vertex v; -1 where there is no such edge: for
        l >= v with a vertex v of the clique, and for the edges that `merge` drops.

    Raises
    ------
    InputError
        For arguments outside their range.
    OverBudget
        If the array does not fit the free memory.
    """
    graph = PreferentialAttachment(n, degree, p, seed, multi_edges)
    start, stop = arguments.within("vertices", start, stop, graph.n)
    dtype = _checked_dtype(dtype, graph.n)
    count = (stop - start) * graph.degree
    arguments.fits_memory(backend, count * dtype.itemsize, f"the edges of vertices {start} .. {stop}")
    with backend.activate():
        out = backend.xp.empty(count, dtype)
        clique = np.arange(start, min(stop, graph.degree), dtype=dtype)
        slots = np.arange(graph.degree if len(clique) else 0, dtype=dtype)
        held = np.where(slots < clique[:, None], slots, dtype.type(-1)).ravel()
        out[: len(held)] = backend.from_host(held)
        _copy_model(backend, graph, max(start, graph.degree), stop, out[len(held) :])
    return out


def edges(
    backend: Backend,
    n: int,
    degree: int,
    p: float,
    seed: int,
    start: int,
    stop: int,
    multi_edges: str = "keep",
) -> tuple[Array, Array]:
    """Return the edges (src, dst) of vertices start .. stop-1, in the order of src.

    Parameters and errors are those of `targets`. Beside the result, memory is used for a few pieces of a 64th of it.

    Returns
    -------
    src, dst : arrays of shape (first_edge(stop, degree) - first_edge(start, degree),), or shorter for `merge`
        Of the graph's index dtype (`graphdask.partition.vertex_map.index_dtype`); dst < src.
    """
    graph = PreferentialAttachment(n, degree, p, seed, multi_edges)
    start, stop = arguments.within("vertices", start, stop, graph.n)
    dtype = index_dtype(graph.n)
    after = min(max(start, graph.degree), stop)
    slots = first_edge(stop, graph.degree) - first_edge(start, graph.degree)
    arguments.fits_memory(backend, 2 * slots * dtype.itemsize, f"the edges of vertices {start} .. {stop}")
    with backend.activate():
        xp = backend.xp
        count = graph.count(backend, start, stop)
        src, dst = xp.empty(count, dtype), xp.empty(count, dtype)
        clique = np.arange(start, min(stop, graph.degree), dtype=dtype)
        head = int(clique.sum(dtype=np.int64))
        begins = np.cumsum(clique, dtype=np.int64) - clique
        src[:head] = backend.from_host(np.repeat(clique, clique))
        dst[:head] = backend.from_host((np.arange(head) - np.repeat(begins, clique)).astype(dtype))
        if graph.multi_edges != "merge":
            for low, high in _pieces(graph, after, stop):
                vertices = xp.arange(low, high, dtype=dtype)
                share = slice(head + (low - after) * graph.degree, head + (high - after) * graph.degree)
                src[share].reshape(high - low, graph.degree)[:] = vertices[:, None]
            _copy_model(backend, graph, after, stop, dst[head:])
            return src, dst
        for low, raw in _raw_pieces(backend, graph, after, stop):
            slot = xp.flatnonzero(raw >= 0)
            dst[head : head + len(slot)] = raw[slot]
            slot //= graph.degree
            slot += low
            src[head : head + len(slot)] = slot
            head += len(slot)
    return src, dst


@public
@dataclass(frozen=True)
class PreferentialAttachment:
    """A preferential attachment graph as a source of edges: small, immutable, and the same in every process.

    Raises
    ------
    InputError
        For a value outside its range.
    """

    n: int
    """Number of vertices, at least degree + 1; n * degree below 2^63."""
    degree: int = 4
    """Edges of every vertex after the clique, at least 1."""
    p: float = 0.5
    """Probability of a direct edge, 0 <= p <= 1."""
    seed: int = 0
    """0 <= seed < 2^64; nearby seeds give unrelated graphs."""
    multi_edges: Own[str] = "keep"
    """`keep`, `merge` or `redraw`: what becomes of parallel edges."""

    def __post_init__(self) -> None:
        for name in ("n", "degree"):
            object.__setattr__(self, name, arguments.integer(name, getattr(self, name)))
        object.__setattr__(self, "p", arguments.probability("p", self.p))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if not 1 <= self.degree < 1 << 31:
            raise InputError(f"degree={self.degree} must be at least 1 and below 2^31")
        if self.n < self.degree + 1:
            raise InputError(f"n={self.n} vertices are too few: degree={self.degree} needs at least {self.degree + 1}")
        if self.n * self.degree >= 1 << 63:
            raise InputError(f"n * degree = {self.n} * {self.degree} must be below 2^63")
        choice("multi_edges", self.multi_edges, MULTI_EDGES)

    @property
    def num_vertices(self) -> int:
        return self.n

    @property
    def num_edges(self) -> int:
        """Edges of all blocks together, before `merge` drops any; `count` gives those that it leaves."""
        return num_edges(self.n, self.degree)

    def count(self, backend: Backend, start: int = 0, stop: int | None = None) -> int:
        """Return the number of edges of vertices start .. stop-1 (default: of all).

        With `merge` they are made for it, a piece at a time, and dropped.
        """
        start, stop = arguments.within("vertices", start, self.n if stop is None else stop, self.n)
        slots = first_edge(stop, self.degree) - first_edge(start, self.degree)
        if self.multi_edges != "merge":
            return slots
        with backend.activate():
            after = min(max(start, self.degree), stop)
            return slots - sum(int((raw < 0).sum()) for _, raw in _raw_pieces(backend, self, after, stop))

    @property
    def dtype(self) -> np.dtype:
        """Of the ids."""
        return index_dtype(self.n)

    def vertices(self, rank: int, size: int) -> tuple[int, int]:
        """Return the vertex range of block `rank` of `size`, balanced by edges; it may be empty."""
        arguments.share(self.num_edges, rank, size)
        return self._cut(rank, size), self._cut(rank + 1, size)

    def _cut(self, rank: int, size: int) -> int:
        """First vertex whose edges begin at or after rank / size of all edges."""
        if rank in (0, size):
            return 0 if rank == 0 else self.n
        edge = self.num_edges * rank // size
        clique = first_edge(self.degree, self.degree)
        if edge > clique:
            return self.degree - (clique - edge) // self.degree
        root = math.isqrt(2 * edge)
        return next(v for v in range(root, root + 3) if first_edge(v, self.degree) >= edge)

    def block_edges(self, rank: int, size: int) -> int | None:
        """Number of edges of block `rank` of `size`; None where parallel ones are dropped."""
        if self.multi_edges == "merge":
            return None
        start, stop = self.vertices(rank, size)
        return first_edge(stop, self.degree) - first_edge(start, self.degree)

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, Array]:
        """Return the edges (src, dst) of block `rank` of `size`; the union of the blocks is the graph."""
        start, stop = self.vertices(rank, size)
        return edges(backend, self.n, self.degree, self.p, self.seed, start, stop, self.multi_edges)


def _pieces(graph: PreferentialAttachment, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Cut vertices start .. stop-1, none of the clique, into ranges of a 64th, or of _PIECE edges."""
    step = max(-(-(stop - start) // 64), _PIECE // graph.degree, 1)
    for low in range(start, stop, step):
        yield low, min(low + step, stop)


def _raw_pieces(backend: Backend, graph: PreferentialAttachment, start: int, stop: int) -> Iterator[tuple[int, Array]]:
    """Make the targets of vertices start .. stop-1, none of the clique, in pieces, each with its first vertex.

    One buffer serves them all.
    """
    buffer = None
    for low, high in _pieces(graph, start, stop):
        if buffer is None:
            buffer = backend.xp.empty((high - low) * graph.degree, graph.dtype)
        raw = buffer[: (high - low) * graph.degree]
        _copy_model(backend, graph, low, high, raw)
        yield low, raw


def _copy_model(backend: Backend, graph: PreferentialAttachment, start: int, stop: int, out: Array) -> None:
    """Write the targets of vertices start .. stop-1, none of the clique, into `out`; -1 where `merge` drops one."""
    if stop <= start:
        return
    threshold, seed = np.uint64(coin_threshold(graph.p)), np.uint64(graph.seed)
    degree, vertices = graph.degree, stop - start
    kernels = backend.kernels("preferential_attachment", index_t=out.dtype)
    kernels.pa_targets(vertices * degree, start * degree, degree, threshold, seed, out)
    if graph.multi_edges == "keep" or degree == 1:
        return
    kernels = backend.kernels("parallel_edges", index_t=out.dtype)
    kernels.pa_repeats(vertices, degree, out)
    if graph.multi_edges == "redraw":
        kernels.pa_redraw(vertices, start, degree, threshold, seed, out)


def _checked_dtype(dtype: Any, n: int) -> np.dtype:
    chosen = index_dtype(n) if dtype is None else np.dtype(dtype)
    if chosen not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise InputError(f"dtype={chosen} is not int32 or int64")
    if chosen == np.int32 and index_dtype(n) != np.int32:
        raise InputError(f"the ids of n={n} vertices do not fit int32; use int64")
    return chosen
