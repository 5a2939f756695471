"""The last step of core numbers where bounds fall one after the other, as along a path with vertices on many ranks.

Every rank gathers the whole graph, if it is small, and peels it by itself on its host, in linear time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphdask.algorithms.tuning import CORES
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part

BYTES = 40
"""On the host for each stored edge and vertex: what is gathered, and once more in the order of ids."""

Peel = Callable[[np.ndarray, np.ndarray, Backend], tuple[np.ndarray, np.ndarray]]
"""Peels the whole graph of rows and neighbours; returns core numbers, and the order in which vertices were removed."""


def memory(part: Part) -> int:
    """Return the bytes that gathering takes, if this graph may be gathered."""
    stored = part.out.num_edges * part.size
    return BYTES * (stored + part.num_vertices) if part.size > 1 and stored <= CORES.gathered else 0


def cores_of_all(part: Part, env: Environment, peel: Peel) -> tuple[Array, Array]:
    """Return core numbers and order of the own vertices. Every rank calls it, from `result`."""
    owned, out, host = part.num_owned, part.out, env.backend.to_host
    (ids,) = env.fetch_ghosts(part, [part.ids])
    mine, heads = ids[:owned], ids[out.indices]
    names, degrees, heads = (host(env.gather(values)) for values in (mine, out.indptr[1:] - out.indptr[:-1], heads))
    by_id = np.argsort(names)
    begins = (np.cumsum(degrees) - degrees)[by_id]
    degrees = degrees[by_id]
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], degrees)
    core, order = peel(indptr, heads[places], get_backend("cpu"))
    at = host(mine).astype(np.int64)
    return env.backend.from_host(core[at]), env.backend.from_host(order[at])
