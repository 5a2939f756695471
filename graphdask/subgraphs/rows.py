"""Edges of some of the own vertices, a block of rows at a time, and places in sorted keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.part import Csr
from graphdask.partition.tuning import PARTITION
from graphdask.sample.remote_lookup import ragged


def row_blocks(env: Environment, csr: Csr, rows: Array) -> Iterator[tuple[Array, Array]]:
    """The edges of the given rows in turn, as int64 arrays: the place of the row among those given, and of the edge.

    A block has about `PARTITION.block_edges` edges, more only by a row. A row may be given several times.
    """
    xp = env.xp
    lengths = csr.indptr[1:][rows] - csr.indptr[:-1][rows]
    ends = xp.cumsum(lengths)
    total = int(ends[-1]) if len(rows) else 0
    cuts = env.backend.to_host(xp.searchsorted(ends - lengths, xp.arange(0, total, PARTITION.block_edges))).tolist()
    for first, last in pairwise([*cuts, len(rows)]):
        if first == last:
            continue
        some = lengths[first:last]
        bounds = xp.concatenate([xp.zeros(1, some.dtype), xp.cumsum(some)])
        places = ragged(env, csr.indptr[:-1][rows[first:last]], bounds)
        yield xp.repeat(xp.arange(first, last), some), places


def places_in(xp: Any, keys: Array, wanted: Array) -> tuple[Array, Array]:
    """Where each wanted key stands among sorted keys, and whether it is there; the place of others means nothing."""
    if not len(keys):
        return xp.zeros(len(wanted), "int64"), xp.zeros(len(wanted), bool)
    places = xp.minimum(xp.searchsorted(keys, wanted), len(keys) - 1)
    return places, keys[places] == wanted
