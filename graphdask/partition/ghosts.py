"""Ghosts and their owners: who holds ghosts of my vertices, and the values and rows that ghosts take from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.backend import Array, Backend
from graphdask.partition.build import from_cyclic, local_at_owner, row_of_each, to_cyclic, to_cyclic_positions
from graphdask.partition.part import Csr, Part


def mirrors(comm: Communicator, backend: Backend, part: Part) -> list[Array]:
    """Return, for each rank, the own vertices of which it holds ghosts. Every rank of the gang must call it.

    Returns
    -------
    list of arrays
        Slots in ascending order, index dtype: entry i of mirrors[q] is what rank q holds in the i-th of its slots for
        ghosts of this rank. Empty for this rank itself.
    """
    mine = np.array([part.mirrors is not None], np.int64)
    if comm.size > 1 and not comm.allreduce(mine, "min")[0]:
        make_mirrors(comm, backend, part)
    return part.mirrors or [part.ids[:0]] * comm.size


def make_mirrors(comm: Communicator, backend: Backend, part: Part) -> None:
    """Compute the mirrors of a partition. Every rank of the gang must call it."""
    slots = backend.xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
    wanted = [slots[:0]] * comm.size
    for step in range(1, comm.size):
        ghosts = slots[int(part.slot_bounds[step]) : int(part.slot_bounds[step + 1])]
        wanted[(part.rank + step) % comm.size] = local_at_owner(part, ghosts, step)
    received = comm.alltoallv(wanted)
    order = [(part.rank + step) % comm.size for step in range(1, comm.size)]
    part.mirrored = backend.xp.concatenate([received[peer] for peer in order])
    ends = np.cumsum([len(received[peer]) for peer in order]).tolist()
    part.mirrors = [slots[:0]] * comm.size
    for peer, begin, end in zip(order, [0, *ends], ends, strict=False):
        part.mirrors[peer] = part.mirrored[begin:end]


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
    if comm.size == 1:
        return [column.copy() for column in values]
    asked = mirrors(comm, backend, part)
    complete = []
    for column in values:
        answers = comm.alltoallv([column[ids] for ids in asked])
        ordered = [answers[(part.rank + step) % comm.size] for step in range(1, comm.size)]
        complete.append(backend.xp.concatenate([column, *ordered]))
    return complete


def ghost_rows(
    comm: Communicator, backend: Backend, part: Part, rows: Csr, wanted: Array, entries: int
) -> tuple[int, Iterator[Csr]]:
    """Rows of ghosts from their owners, in batches that bound the memory of who asks and of who answers.

    Every rank of the gang must call it, and must take as many batches as there are.

    Parameters
    ----------
    rows : Csr, num_owned rows
        What owners have to give, in slots of theirs; with weights on all ranks or on none.
    wanted : array of bool, shape (num_slots,)
        Whose rows this rank asks for; own vertices do not matter.
    entries : int
        A batch holds about as many entries, more only by a row for each other rank.

    Returns
    -------
    int
        Number of batches, the same on all ranks.
    iterator of Csr
        Each with a row for every slot, empty but for the ghosts of the batch, in slots of this rank. Vertices that have
        no slot here are left out. Entries of a row stand in no order.
    """
    xp = backend.xp
    (length,) = fetch_ghosts(comm, backend, part, [rows.indptr[1:] - rows.indptr[:-1]])
    length *= wanted
    share = max(1, entries // max(1, comm.size - 1))
    batches: list[list[Array]] = []
    for step in range(1, comm.size):
        first, last = (int(bound) for bound in part.slot_bounds[step : step + 2])
        slots = part.ids[:0]
        if first < last:
            slots = (xp.flatnonzero(length[first:last]) + first).astype(slots.dtype)
        if not len(slots):
            batches.append([])
            continue
        ends = xp.cumsum(length[slots])
        begins = xp.arange(0, int(ends[-1]), share)
        cuts = [*backend.to_host(xp.searchsorted(ends - length[slots], begins)).tolist(), len(slots)]
        batches.append([slots[a:b] for a, b in pairwise(cuts)])
    most = max(map(len, batches), default=0)
    number = int(comm.allreduce(np.array([most], np.int64), "max")[0])
    return number, _answers(comm, backend, part, rows, length, batches, number)


def _answers(
    comm: Communicator, backend: Backend, part: Part, rows: Csr, length: Array, batches: list[list[Array]], number: int
) -> Iterator[Csr]:
    xp, size = backend.xp, comm.size
    none = part.ids[:0]
    order = [(part.rank + step) % size for step in range(1, size)]
    for k in range(number):
        asks = [batch[k] if k < len(batch) else none for batch in batches]
        sends = [none] * size
        for step, peer in enumerate(order, start=1):
            sends[peer] = local_at_owner(part, asks[step - 1], step)
        given = [entries_of(backend, rows, asked) for asked in comm.alltoallv(sends)]
        slots = [rows.indices[places] for places in given]
        received = comm.alltoallv([from_cyclic(part, to_cyclic_positions(part, each)) for each in slots])
        indices, known = known_slots(backend, part, xp.concatenate([received[peer] for peer in order]))
        del slots, received
        weights = None
        if rows.weights is not None:
            received = comm.alltoallv([rows.weights[places] for places in given])
            weights = xp.concatenate([received[peer] for peer in order])
        indptr = xp.zeros(part.num_slots + 1, np.int64)
        asked_for = xp.concatenate(asks)
        indptr[asked_for + 1] = length[asked_for]
        indptr = xp.cumsum(indptr)
        if part.ghosts is not None and len(indices):
            kept = xp.zeros(len(indices) + 1, np.int64)
            xp.cumsum(known.astype(np.int64), out=kept[1:])
            indptr, indices = kept[indptr], indices[known]
            weights = None if weights is None else weights[known]
        yield Csr(indptr, indices, weights)


def entries_of(backend: Backend, rows: Csr, asked: Array) -> Array:
    """Places of the entries of the given rows, one row after the other; int64."""
    return entries_and_turns(backend, rows, asked)[0]


def entries_and_turns(backend: Backend, rows: Csr, asked: Array) -> tuple[Array, Array]:
    """Places of the entries of the given rows, int64, and for each entry, which of the given rows it is of."""
    xp = backend.xp
    begins = rows.indptr[asked]
    indptr = xp.zeros(len(asked) + 1, np.int64)
    if not len(asked):
        return indptr[:0], rows.indices[:0]
    xp.cumsum(rows.indptr[asked + 1] - begins, out=indptr[1:])
    total = int(indptr[-1])
    turn = row_of_each(backend, Csr(indptr, xp.empty(total, rows.indices.dtype)), 0)
    return (begins - indptr[:-1])[turn] + xp.arange(total), turn


def known_slots(backend: Backend, part: Part, positions: Array) -> tuple[Array, Array]:
    """Slots of an array of positions, and which of them have one here; the slots of others mean nothing."""
    xp, dtype = backend.xp, part.vertex_map.dtype
    cyclic = to_cyclic(part, positions)
    if part.ghosts is None or not len(cyclic):
        return cyclic, xp.ones(len(cyclic), bool)
    owned = cyclic < part.num_owned
    if not len(part.ghosts):
        return cyclic, owned
    place = xp.minimum(xp.searchsorted(part.ghosts, cyclic), len(part.ghosts) - 1).astype(dtype)
    known = owned | (part.ghosts[place] == cyclic)
    return xp.where(owned, cyclic, place + dtype.type(part.num_owned)), known
