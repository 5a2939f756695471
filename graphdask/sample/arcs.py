"""Edges beside their rows: what kernels of walks read where the row of each edge that a walk takes is asked for.

Where an edge leads and its row in what the caller gave stand together, so that a step reads no more places in memory
than it does without rows. Kernels write a row for each step, -1 where a step goes along no edge.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.partition.part import Csr, Part

STEP = 8
"""Bytes of the row of a step."""


def arcs_of(part: Part, xp: Any, csr: Csr, *name: Hashable) -> Array:
    """Entries of `indices` and rows, shape (edges, 2), int32 where both are, else int64; the partition keeps them.

    `name` says which of the partition's edges those of `csr` are; without it, they are all out-edges.
    """
    key = ("edges and rows", *name)
    made: Array | None = part.tables.get(key)
    if made is None:
        assert csr.rows is not None
        made = xp.empty((csr.num_edges, 2), _dtype(csr))
        made[:, 0], made[:, 1] = csr.indices, csr.rows
        part.tables.keep(key, made, made.nbytes)
    return made


def _dtype(csr: Csr) -> np.dtype:
    rows = csr.indices.dtype if csr.rows is None else csr.rows.dtype
    return np.dtype(np.int32 if max(csr.indices.itemsize, rows.itemsize) == 4 else np.int64)


def arcs_memory(part: Part, *name: Hashable) -> int:
    """Bytes of out-edges beside their rows that are still to be taken."""
    return 0 if ("edges and rows", *name) in part.tables else 2 * _dtype(part.out).itemsize * part.out.num_edges


def arc_types(arcs: Array | None) -> dict[str, Any]:
    """What kernels of walks are compiled for beside the dtypes that they have in any case."""
    return {} if arcs is None else {"arc_t": arcs.dtype}
