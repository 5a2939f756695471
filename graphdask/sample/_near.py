"""Rows of predecessors, the vertices from which others were reached, fetched from their owners over partitions.

Whether an edge leads to a neighbour of the predecessor is decided on the rank of the edge; the predecessor's row may be
on another rank. Each rank requests the rows of those vertices from their owners, each row once in a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.part import Csr, Part
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.remote_lookup import RemoteLookup, ragged

OF_NEAR = 8
"""Times a vertex number, of an edge of such a row that is sent: its place, and it as it is read, sent and received."""


@dataclass
class NearRows:
    """Rows of some vertices, which hold vertices in ascending order."""

    indptr: Array
    indices: Array
    of: Array
    """The row of each vertex that was asked for; -1 for none."""


def asks_near(functions: Mapping[str, Any]) -> bool:
    """Whether one of the caller's functions asks for them."""
    return any("destination_near_previous" in function.fields for function in functions.values())


def near_rows(part: Part, env: Environment, rows: Csr, ids: Array, vertices: Array, what: str) -> NearRows:
    """Rows of vertices, given by their ids, which may be anybody's; all ranks call it.

    Parameters
    ----------
    rows : Csr
        Of own vertices.
    ids : Array
        Of slots.
    vertices : Array
        -1 for none.
    what : str
        Who asks, for messages.

    Raises
    ------
    OverBudget
        If there is no memory for them.
    """
    xp, dtype = env.xp, vertices.dtype
    wanted = xp.unique(vertices[vertices >= 0])
    lookup = RemoteLookup(part, env, wanted)
    begins, ends = rows.indptr[lookup.rows], xp.zeros(len(lookup.rows) + 1, np.int64)
    xp.cumsum(rows.indptr[lookup.rows + dtype.type(1)] - begins, out=ends[1:])
    refuse_beyond_memory(env, what, "rows of vertices before", int(ends[-1]), OF_NEAR * dtype.itemsize)
    slots = rows.indices[ragged(env, begins, ends)]
    indices, indptr = lookup.answer_each(ids[slots] if len(ids) else slots, ends)
    found = xp.searchsorted(wanted, vertices).astype(dtype)
    found[vertices < 0] = -1
    return NearRows(indptr, indices, found)
