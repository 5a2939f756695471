"""Traversal sampling by the methods for it: which kernels draw the neighbours of some vertices of a frontier.

Sources: Pandey et al., c-saw, Section IV-B (repeated and updated sampling, bipartite region search, bitmaps); Vitter,
Random sampling with a reservoir (1985) (Algorithm R); Efraimidis, Spirakis, Weighted random sampling with a reservoir
(2006) (exponential keys).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.part import Csr
from graphdask.sample._fanouts import FEW, METHODS, Fanouts


def rooms_of(sampler: Fanouts[Any], env: Environment, csr: Csr, rows: Array, counts: Array, fanout: int) -> Array:
    """Where what is kept of rows begins while some are drawn: a bit for each edge, 32 in a word, or a word for each
    edge of rows of which many are drawn; empty where nothing is."""
    marked = sampler.marked(fanout)
    if sampler.replace or not (marked or fanout > FEW or sampler.burn):
        return counts[:0]
    degrees = csr.indptr[rows + 1] - csr.indptr[rows]
    degrees *= (counts > (0 if marked else FEW)) & (counts < degrees)
    if marked:
        degrees = (degrees + 31) >> 5
    rooms = env.xp.zeros(len(counts) + 1, np.int64)
    env.xp.cumsum(degrees, out=rooms[1:])
    return rooms


def draw_successively(
    sampler: Any, state: Any, env: Environment, items: list[Array], offsets: Array, rooms: Array, fanout: int,
    seed: np.uint64, out: Any,
) -> None:  # fmt: skip
    """One after the other among what is left, or by a method for that, or with replacement."""
    xp, csr, room = env.xp, state.rows, 0
    if len(rooms):
        rooms = rooms - rooms[0]
        room = int(rooms[-1])
    edges = csr.indptr, sampler.targets(state), offsets, state.sums
    method = METHODS.index(sampler.method)
    if sampler.marked(fanout):
        strided, marks = int(sampler.collisions != "bitmap"), xp.zeros(room, np.int32)
        env.kernels("marked", index_t=items[0].dtype).marked_draw(
            len(items[0]), *items, *edges, method, seed, strided, rooms, marks, *out, per_item=32
        )
        return
    env.kernels("successive", index_t=items[0].dtype).successive_draw(
        len(items[0]), *items, *edges, int(sampler.replace), method, seed, rooms, xp.empty(room, np.int64), *out
    )


def draw_kept(
    sampler: Any, state: Any, env: Environment, items: list[Array], offsets: Array, seed: np.uint64, out: Any
) -> None:
    """In one pass over the rows: by Algorithm R, or the smallest exponential keys."""
    n, indptr, targets = len(items[0]), state.rows.indptr, sampler.targets(state)
    if state.sums is None:
        state.kernels.neighbors_reservoir(n, *items, indptr, targets, offsets, seed, *out, per_item=32)
        return
    xp, (rows, vertices, instances, tags) = env.xp, items
    if state.rates is None:
        state.rates = _rates(xp, indptr, state.sums)
    first, last = (int(bound) for bound in env.backend.to_host(offsets[:: len(offsets) - 1]))
    counts, starts, total = offsets[1:] - offsets[:-1], offsets[:-1] - first, last - first
    keys, places = xp.empty(total, np.float64), xp.empty(total, np.int64)
    state.kernels.neighbors_keys(
        n, rows, vertices, instances, indptr, state.rates, starts, counts, seed, keys, places
    )  # fmt: skip
    of_edges = xp.searchsorted(offsets[1:], xp.arange(first, last), side="right")
    rows = rows[of_edges]
    whole = counts[of_edges] == indptr[rows + 1] - indptr[rows]
    places = indptr[rows] + xp.where(whole, xp.arange(total) - starts[of_edges], places)
    found = vertices[of_edges], places if targets is None else targets[places], tags[of_edges]
    for column, drawn in zip(out, found, strict=True):
        column[first:last] = drawn


def _rates(xp: Any, indptr: Array, sums: Array) -> Array:
    """The bias of each edge, by the sums of rows, none of which has one of 0."""
    rates = sums.astype(np.float64)
    rates[1:] = sums[1:] - sums[:-1]
    begins = indptr[:-1][indptr[:-1] < indptr[1:]]
    rates[begins] = sums[begins]
    return rates
