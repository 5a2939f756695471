"""How many triangles each pair of neighbours is in, counted by a kernel over rows of lower neighbours.

A triangle is found once, at its highest vertex u, for its middle vertex v, as a w that is a lower neighbour of both.
Rows of own vertices are counted where they stand. Rows of ghosts come from their owners in batches, as for `triangles`,
and what their edges are counted goes back to the owners.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.kernels.triangles.support_pack import COUNTS, SupportRows
from graphdask.partition.build import row_of_each
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part
from graphdask.subgraphs.arcs import Arcs

LEAST = 1 << 20
"""Entries that a batch of ghosts' rows may hold in any case."""


def supports(part: Part, env: Environment, arcs: Arcs) -> Array:
    """Triangles of each pair, at the arc from its higher end; int64, 0 at other arcs. Every rank calls it."""
    xp, slots, number = env.xp, part.num_slots, arcs.numbers
    below = xp.zeros(len(arcs.keys) + 1, np.int64)
    xp.cumsum(arcs.lower, out=below[1:])
    rows = Csr(below[arcs.indptr], arcs.slot[arcs.lower])
    wanted = xp.zeros(slots, bool)
    wanted[rows.indices] = True
    _, batches = env.ghost_rows(part, rows, wanted, max(LEAST, rows.num_edges))
    pack = SupportRows(
        source=row_of_each(env.backend, rows, 0), indptr=rows.indptr, indices=rows.indices, number=number,
        support=xp.zeros(rows.num_edges, np.uint32), slots=slots, counters=xp.zeros(len(COUNTS), np.int64),
    )  # fmt: skip
    count = env.kernels("support", index_t=part.vertex_map.dtype).support_count
    pack.ptr = xp.full(slots + 1, rows.num_edges, np.int64)
    pack.ptr[: part.num_owned + 1] = rows.indptr
    pack.others, pack.other_support = rows.indices, pack.support
    count(rows.num_edges, pack)
    found = xp.zeros(len(arcs.keys), np.int64)
    for batch in batches:
        pack.ptr, pack.others = batch.indptr, batch.indices
        pack.other_support = xp.zeros(batch.num_edges, np.uint32)
        count(rows.num_edges, pack)
        some = places_of(xp, pack.other_support)
        ends = number[row_of_each(env.backend, batch, 0)[some]], number[batch.indices[some]]
        places, more = arcs.at_owners(part, env, *ends, pack.other_support[some].astype(np.int64))
        found += sum_at(xp, len(found), places, more)
    found[arcs.lower] += pack.support
    return found
