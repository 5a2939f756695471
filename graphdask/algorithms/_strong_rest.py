"""The last step of strong components: few vertices are left, and every rank takes them all in with their edges.

Each rank finds the components of the same small graph in linear time on its host (Tarjan, Depth-first search and linear
graph algorithms, 1972), and keeps the labels of its own vertices.
"""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array, get_backend
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part


def components_among(part: Part, rows: Array, ids: Array, env: Environment) -> Array:
    """Labels of the strong components among the vertices that all ranks name. Every rank calls it, from `result`.

    Parameters
    ----------
    rows : array, shape (k,)
        Own vertices of this rank, index dtype.
    ids : array, shape (num_slots,)

    Returns
    -------
    array, shape (k,)
        For each of the rows the smallest id of its component.
    """
    xp, out, host = env.xp, part.out, env.backend.to_host
    degrees = out.indptr[rows + 1] - out.indptr[rows]
    begins = xp.cumsum(degrees) - degrees
    heads = xp.empty(int(degrees.sum()), ids.dtype)
    env.kernels("strong", index_t=ids.dtype).strong_heads(
        len(rows), rows, begins, out.indptr, out.indices, ids, heads, per_item=32
    )
    mine = host(ids[rows])
    names, degrees, heads = (host(env.gather(column)) for column in (ids[rows], degrees, heads))
    order = np.argsort(names).astype(np.int32)
    known = names[order]
    place = np.minimum(np.searchsorted(known, heads), len(known) - 1)
    indices = np.where(known[place] == heads, order[place], np.int32(-1))  # an edge that leaves them is none
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    label = np.empty_like(names)
    get_backend("cpu").kernels("strong").strong_components(len(names), indptr, indices, names, label)
    return env.backend.from_host(label[order[np.searchsorted(known, mine)]])
