"""Ghosts and their owners: who holds ghosts of my vertices, and values that ghosts take from their owners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphdask.backend import Array, Backend
from graphdask.build import local_at_owner
from graphdask.comm.protocol import Communicator
from graphdask.part import Part


def mirrors(comm: Communicator, backend: Backend, part: Part) -> list[Array]:
    """Return, for each rank, the own vertices of which it holds ghosts. Every rank of the gang must call it.

    Returns
    -------
    list of arrays
        Slots in ascending order, index dtype: entry i of mirrors[q] is what rank q holds in the i-th of its slots for
        ghosts of this rank. Empty for this rank itself.
    """
    held = part.mirrors is not None
    if comm.size > 1 and not comm.allreduce(np.array([held], np.int64), "min")[0]:
        slots = backend.xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
        wanted = [slots[:0]] * comm.size
        for step in range(1, comm.size):
            ghosts = slots[int(part.slot_bounds[step]) : int(part.slot_bounds[step + 1])]
            wanted[(part.rank + step) % comm.size] = local_at_owner(part, ghosts, step)
        part.mirrors = comm.alltoallv(wanted)
    return part.mirrors or [part.ids[:0]] * comm.size


def fetch_ghosts(comm: Communicator, backend: Backend, part: Part, values: Sequence[Array]) -> list[Array]:
    """Complete arrays over own vertices to arrays over slots, with the ghosts' values from their owners.

    Every rank of the gang must call it, with the same dtypes.

    Parameters
    ----------
    values : sequence of arrays, shape (num_owned,)

    Returns
    -------
    list of arrays, shape (num_slots,)
    """
    asked = mirrors(comm, backend, part)
    complete = []
    for column in values:
        answers = comm.alltoallv([column[ids] for ids in asked])
        ordered = [answers[(part.rank + step) % comm.size] for step in range(1, comm.size)]
        complete.append(backend.xp.concatenate([column, *ordered]))
    return complete
