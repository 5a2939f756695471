"""Sums over the rows of a partition, x[j] or weight * x[j] over the edges of each, with rows of all lengths kept busy.

The rows of few edges are found by the kernel itself; those of more stand in lists, made once. The order of additions in
a row depends on nothing but the row (kernels/pagerank.py), so a sum has the same bits on every device and for every
division of the graph.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank (2024): separate kernels
for low and high in-degree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import HUB_THREADS, Environment
from graphdask.errors import InputError
from graphdask.part import Csr, Part

FEW, IN_GROUP, IN_WARP = 8, 256, 4096
"""Most edges of a row that a thread, eight threads and a warp take; GD_FEW, GD_CHUNK, GD_IN_WARP in the kernels."""


def padded(count: int) -> int:
    """The next multiple of a warp."""
    return -(-count // 32) * 32


@dataclass
class Rows:
    """The rows of a Csr, ready to be summed."""

    kernels: Any
    csr: Csr
    indices: Array
    """Into x."""
    weights: Array
    """float32 where that holds every weight exactly, or where x is float32; empty where there are none."""
    groups: Array
    """Rows of 9 to 256 edges, then -1 up to a multiple of 4."""
    warps: Array
    """Rows of 257 to 4096 edges."""
    many: Array
    """Rows of more."""
    first_chunk: Array
    """int64, shape (len(many) + 1,): the chunks of 256 edges before each of them."""
    partial: Array
    """float64: the sum of each such chunk."""

    @classmethod
    def of(cls, env: Environment, csr: Csr, weighted: bool, real: Any, place: Array | None = None) -> Rows:
        """Lay out a Csr; with `place`, x stands in another order than slots, and the indices are copied."""
        xp, dtype = env.xp, csr.indices.dtype
        weights = _narrowed(env, csr.weights, real) if weighted else xp.zeros(0, np.float32)
        kernels = env.kernels("pagerank", index_t=dtype, real_t=np.dtype(real), weight_t=weights.dtype)
        indices = csr.indices
        if place is not None:
            indices = xp.empty_like(csr.indices)
            kernels.pagerank_relabel(len(indices), csr.indices, place, indices)
        degree = csr.indptr[1:] - csr.indptr[:-1]
        groups = xp.flatnonzero((degree > FEW) & (degree <= IN_GROUP)).astype(dtype)
        rest = xp.full(-len(groups) % 4, -1, dtype)
        many = xp.flatnonzero(degree > IN_WARP).astype(dtype)
        first_chunk = xp.zeros(len(many) + 1, np.int64)
        if len(many):
            xp.cumsum((degree[many] + (IN_GROUP - 1)) // IN_GROUP, out=first_chunk[1:])
        return cls(
            kernels,
            csr,
            indices,
            weights,
            xp.concatenate([groups, rest]),
            xp.flatnonzero((degree > IN_GROUP) & (degree <= IN_WARP)).astype(dtype),
            many,
            first_chunk,
            xp.empty(int(first_chunk[-1]), np.float64),
        )

    def sum(self, x: Array, sums: Array) -> None:
        """Write to `sums`, float64 of shape (rows,), what each row gathers from `x`."""
        kernels, indptr, many = self.kernels, self.csr.indptr, self.many
        shared = (indptr, self.indices, self.weights, int(len(self.weights) > 0), x)
        kernels.pagerank_sum(self.csr.num_rows, *shared, sums)
        kernels.pagerank_sum_groups(8 * len(self.groups), self.groups, *shared, sums)
        kernels.pagerank_sum_warps(32 * len(self.warps), self.warps, *shared, sums)
        chunks = padded(8 * len(self.partial))
        kernels.pagerank_sum_chunks(chunks, many, len(many), self.first_chunk, *shared, self.partial)
        kernels.pagerank_sum_partials(32 * len(many), many, self.first_chunk, self.partial, sums)


def _narrowed(env: Environment, weights: Array | None, real: Any) -> Array:
    """The weights as floats of half the bytes where nothing is lost, or as narrow as x is."""
    assert weights is not None
    with np.errstate(over="ignore", under="ignore"):  # what does not fit is seen in the next line
        narrow = weights.astype(np.float32)
    if real == np.float32 or bool((narrow == weights).all()):
        return narrow
    return weights.astype(np.float64)


def refuse_weights(part: Part, env: Environment, algorithm: str) -> None:
    """Raise InputError where a weight is negative, infinite or NaN."""
    weights = part.out.weights
    if weights is None or not len(weights):
        return
    for edge in (int(weights.argmin()), int(weights.argmax())):
        value = float(weights[edge])
        if not 0 <= value < math.inf:
            row = int(env.xp.searchsorted(part.out.indptr, env.xp.asarray([edge]), side="right")[0]) - 1
            raise InputError(
                f"an edge out of vertex number {int(part.ids[row])} (of vertex_ids) has the weight {value:g}; "
                f"{algorithm} takes weights of 0 or more that are finite; weighted=False leaves them aside"
            )


def without_loop(part: Part, env: Environment) -> Array:
    """1 for each own vertex that has no self-loop, uint8."""
    xp, csr = env.xp, part.out
    loop = xp.zeros(part.num_owned, np.uint8)
    if part.counts.get("self_loops", 1):
        kernels = env.kernels("pagerank", index_t=csr.indices.dtype, real_t=np.float64, weight_t=np.float32)
        hubs, counters = xp.empty(part.num_owned, part.vertex_map.dtype), xp.zeros(2, np.int64)
        kernels.pagerank_loops(part.num_owned, csr.indptr, csr.indices, loop, hubs, counters)
        kernels.pagerank_loops_hubs(HUB_THREADS, csr.indptr, csr.indices, loop, hubs, counters)
    return 1 - loop
