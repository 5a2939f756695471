"""Values of columns of edges and vertices on the ranks: brought when functions name a column, and then kept.

A column of edges has a row for each edge that the caller gave. Each rank gets an equal share of these rows, asks the
others for those of its own edges, and keeps the values in the order of its edges (`Csr.columns`). A column of vertices
goes to every rank whole, which keeps what it needs in the order of its slots, or of the numbers of all vertices
(`Part.columns`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graphdask.comm.protocol import Communicator
from graphdask.device.backend import Array, Backend
from graphdask.errors import OverBudget
from graphdask.partition.edge_rows import NumberedPiece, RowsPlan, add_edge_rows
from graphdask.partition.part import Csr, Part
from graphdask.partition.queries import numbers_at


@dataclass(frozen=True)
class ColumnAt:
    """A column that functions read, and what its values stand beside."""

    place: str
    """out, in: edges, in the order of the out-edges or in-edges; slots, ids: vertices, in the order of a partition's
    slots, or of their numbers."""
    name: str

    @property
    def of_edges(self) -> bool:
        """Whether it is a column of edges."""
        return self.place in ("out", "in")


@dataclass(frozen=True)
class GivenColumn:
    """What a rank gets of a column."""

    at: ColumnAt
    values: np.ndarray
    """Of edges its share of the rows, of vertices all, in the order of their numbers."""
    count: int
    """How many rows there are."""


@dataclass(frozen=True)
class RowsAsked:
    """How a rank finds the rows of its edges, where it does not know them yet."""

    piece: NumberedPiece
    plan: RowsPlan


def share_of(values: np.ndarray, rank: int, size: int) -> np.ndarray:
    """Return the rows of a column that a rank gets."""
    bounds = _bounds(len(values), size)
    return values[bounds[rank] : bounds[rank + 1]]


def add_columns(
    comm: Communicator, backend: Backend, part: Part, columns: Sequence[GivenColumn],
    rows: Mapping[str, RowsAsked], memory_share: float = 1.0,
) -> Part:  # fmt: skip
    """Return the partition with more columns. Every rank calls it.

    Parameters
    ----------
    rows : mapping of str to RowsAsked
        For "out" and "in", where the rows of these edges are not there.

    Raises
    ------
    OverBudget
        If the memory does not suffice.
    """
    _check_memory(backend, part, columns, memory_share)
    undirected = part.inward is part.out
    for place in ("out", "in"):
        of_place = [column for column in columns if column.at.place == place]
        if not of_place:
            continue
        known = part
        if place in rows:
            known = add_edge_rows(comm, backend, part, rows[place].piece, rows[place].plan, memory_share)
        numbers = _rows_at(known, place).rows
        csr = _rows_at(part, place)
        assert numbers is not None
        more = {column.at.name: _fetched(comm, backend, numbers, column) for column in of_place}
        csr = replace(csr, columns={**csr.columns, **more})
        if undirected:
            part = replace(part, out=csr, inward=csr)
        else:
            part = replace(part, out=csr) if place == "out" else replace(part, inward=csr)
    found = {}
    for column in columns:
        if not column.at.of_edges:
            values = backend.from_host(_writable(column.values))
            if column.at.place == "slots":
                slots = backend.xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
                values = values[numbers_at(backend, part, slots)]
            found[column.at] = values
    part = replace(part, columns={**part.columns, **found})
    backend.synchronize()
    return part


def _rows_at(part: Part, place: str) -> Csr:
    csr = part.out if place == "out" else part.inward
    assert csr is not None
    return csr


def _writable(values: np.ndarray) -> np.ndarray:
    """The same values in memory that is not read-only, which Numba takes for another type."""
    return values if values.flags.writeable else values.copy()


def _bounds(count: int, size: int) -> np.ndarray:
    """Where the share of each rank begins."""
    return np.array([count * rank // size for rank in range(size + 1)], np.int64)


def _fetched(comm: Communicator, backend: Backend, rows: Array, column: GivenColumn) -> Array:
    """The values of some rows of a column, from the ranks that have them."""
    xp, values = backend.xp, backend.from_host(np.ascontiguousarray(column.values))
    if comm.size == 1:
        return values[rows]
    bounds = _bounds(column.count, comm.size)
    owner = xp.searchsorted(backend.from_host(bounds[1:-1].astype(rows.dtype)), rows, side="right").astype(np.uint16)
    order = xp.argsort(owner, kind="stable")
    cuts = np.zeros(comm.size + 1, np.int64)
    if len(owner):  # CuPy's bincount refuses an empty array
        np.cumsum(backend.to_host(xp.bincount(owner, minlength=comm.size)), out=cuts[1:])
    asked = rows[order]
    wanted = comm.alltoallv([asked[cuts[q] : cuts[q + 1]] for q in range(comm.size)])
    first = rows.dtype.type(bounds[comm.rank])
    answers = comm.alltoallv([values[each - first] for each in wanted])
    found = xp.empty(len(rows), values.dtype)
    found[order] = xp.concatenate(answers)
    return found


def _check_memory(backend: Backend, part: Part, columns: Sequence[GivenColumn], memory_share: float) -> None:
    def bytes_of(column: GivenColumn) -> int:
        rows = part.num_slots if not column.at.of_edges else _rows_at(part, column.at.place).num_edges
        return column.values.nbytes + 2 * column.values.itemsize * rows + (20 * rows if column.at.of_edges else 0)

    needed = max(map(bytes_of, columns), default=0) + sum(
        column.values.itemsize * (part.num_slots if not column.at.of_edges else part.out.num_edges)
        for column in columns
    )
    free = int(backend.free_memory() * memory_share)
    if needed > free:
        names = ", ".join(sorted({column.at.name for column in columns}))
        raise OverBudget(
            f"the columns that functions read ({names}) need about {needed / 2**30:.3g} GiB on rank {part.rank} "
            f"({backend.description}), which may use {free / 2**30:.3g} GiB; use more workers, or raise the setting "
            f"graphdask.memory-fraction"
        )
