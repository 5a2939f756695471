"""The own neighbours of each ghost, made once and kept with the partition.

A rank stores the rows of its own vertices. With these rows it goes the other way: from a ghost whose value has changed
to the own vertices that have it for a neighbour, so that the owner sends the value once and not along each edge.
"""

from __future__ import annotations

import numpy as np

from graphdask.engine.advance import advance
from graphdask.engine.buffers import most_deferred
from graphdask.engine.loop import Environment
from graphdask.kernels.core_number.ghost_rows_pack import COUNTS, GhostRows
from graphdask.partition.part import Csr, Part

NAME = "own neighbours of ghosts"


def memory(part: Part) -> int:
    """Bytes of the rows at most, with what making them takes."""
    item = part.vertex_map.dtype.itemsize
    ghosts = part.num_slots - part.num_owned
    return (16 * (ghosts + 1) + (part.out.num_edges + most_deferred(part.out)) * item) if ghosts else 8


def ghost_rows(part: Part, env: Environment) -> Csr:
    """Return a row for each ghost: its own neighbours over out-edges, each once, in any order."""
    xp, ghosts = env.xp, part.num_slots - part.num_owned
    if not ghosts:
        return Csr(xp.zeros(1, np.int64), part.ids[:0])
    held: tuple[Csr, Csr] | None = part.tables.get(NAME)
    if held is not None and held[0] is part.out:
        return held[1]
    kernels, ends = env.kernels("ghost_rows", index_t=part.vertex_map.dtype), xp.zeros(ghosts, np.int64)
    pack = GhostRows(
        owned=part.num_owned, ends=ends, hubs=xp.empty(most_deferred(part.out), part.vertex_map.dtype),
        counters=xp.zeros(len(COUNTS), np.int64),
    )  # fmt: skip
    advance(kernels.ghost_rows_count, kernels.ghost_rows_count_hubs, part.out, part.num_owned, pack)
    indptr = xp.zeros(ghosts + 1, np.int64)
    xp.cumsum(ends, out=indptr[1:])
    ends[:] = indptr[:-1]
    pack.rows = xp.empty(int(indptr[-1]), part.vertex_map.dtype)
    advance(kernels.ghost_rows_fill, kernels.ghost_rows_fill_hubs, part.out, part.num_owned, pack)
    made = Csr(indptr, pack.rows)
    part.tables.keep(NAME, (part.out, made), made.nbytes)
    return made
