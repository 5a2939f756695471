"""Check of generated R-MAT graphs: recomputing any edge gives the stored one, in linear time and bounded memory.

The edges are followed from the definition in array code, which shares the table of paths with the kernels and nothing
else.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import VerificationError
from graphdask.generate import arguments
from graphdask.generate.rmat import RMat
from graphdask.verify.draws import hashed, keys
from graphdask.verify.tuning import VERIFY


def recompute(backend: Backend, source: RMat, numbers: Array) -> tuple[Array, Array]:
    """Return src and dst of the edges of the given numbers (uint64), self-loops too, as uint64.

    Hash h of edge i is two draws of 32 bits, the high one first. Its low 2 * levels bits are a cell of the table, whose
    own path is taken if the other bits are below the cell's threshold. The ids are the last `scale` bits of all paths.
    """
    xp, levels = backend.xp, np.uint64(source.levels)
    table = backend.from_host(source.table.astype(np.uint64))
    cells = np.uint64(4**source.levels - 1)
    src = xp.zeros(len(numbers), np.uint64)
    dst = xp.zeros(len(numbers), np.uint64)
    for number in range(source.hashes):
        pair = hashed(keys(source.seed, 64 + number), numbers)
        for draw in (pair >> np.uint64(32), pair & np.uint64(0xFFFFFFFF)):
            cell = draw & cells
            entry = table[cell.astype(np.int64)]
            own = draw >> np.uint64(2) * levels < entry >> np.uint64(2) * levels
            path = xp.where(own, cell, entry & cells)
            src = src << levels | path >> levels
            dst = dst << levels | path & np.uint64(2**source.levels - 1)
    last = np.uint64(source.num_vertices - 1)
    return _permuted(source, src & last), _permuted(source, dst & last)


def _permuted(source: RMat, ids: Array) -> Array:
    last, half = np.uint64(source.num_vertices - 1), np.uint64((source.scale + 1) // 2)
    for number in range(source.rounds):
        factor, offset = keys(source.seed, 72 + number)
        ids = ids * np.uint64(factor | 1) + np.uint64(offset) & last
        ids = ids ^ ids >> half
    return ids


def check(backend: Backend, source: RMat, start: int, stop: int, src: Array, dst: Array) -> None:
    """Raise VerificationError unless `src` and `dst` hold edges number start .. stop-1 of `source`.

    Parameters
    ----------
    backend : Backend
        Where the arrays lie and the edges are recomputed.
    source : RMat
        The graph.
    start, stop : int
        As in `graphdask.generate.rmat.edges`.
    src, dst : arrays
        In the order in which `edges` makes them, without the self-loops that the graph drops.

    Raises
    ------
    VerificationError
        Naming the first edge that differs.
    InputError
        For a range that is not within the graph.
    """
    start, stop = arguments.within("edges", start, stop, source.num_edges)
    place = 0
    with backend.activate():
        for first in range(start, stop, VERIFY.numbered_edges):
            numbers = backend.xp.arange(first, min(first + VERIFY.numbered_edges, stop), dtype=np.uint64)
            right = recompute(backend, source, numbers)
            if source.drops_self_loops:
                proper = right[0] != right[1]
                numbers, right = numbers[proper], (right[0][proper], right[1][proper])
            stored = src[place : place + len(numbers)], dst[place : place + len(numbers)]
            place += len(numbers)
            if len(stored[0]) < len(numbers) or len(stored[1]) < len(numbers):
                break
            differs = (stored[0].astype(np.uint64) != right[0]) | (stored[1].astype(np.uint64) != right[1])
            places = backend.xp.flatnonzero(differs)
            if len(places):
                at = int(places[0])
                has, should = (tuple(int(column[at]) for column in pair) for pair in (stored, right))
                raise VerificationError(f"edge {int(numbers[at])}: stored {has}, but seed {source.seed} gives {should}")
    if not len(src) == len(dst) == place:
        raise VerificationError(
            f"edges {start} .. {stop} are {'at least ' * (place > len(src))}{place}, but {len(src)} are stored"
        )
