"""Columns of results: picked where they were computed, and assembled on the host or on a device, in the caller's order.

A rank has its values in its local order of vertices. Joined by rank they are in the order of positions, which is that
of the vertices where these are divided by ranges, so that nothing is reordered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.arrays import brought, on_gpu
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.device.residency import fetched
from graphdask.engine.loop import RankResult
from graphdask.errors import GraphdaskError, InputError, Unsupported, shown
from graphdask.partition.ids import VertexIds
from graphdask.partition.vertex_map import VertexMap

DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class PickColumn:
    """Picks a column of a rank's result, as a NumPy array."""

    name: str

    def __call__(self, value: RankResult) -> np.ndarray:
        return fetched(value.columns[self.name])


@dataclass(frozen=True)
class PickColumns:
    """Picks columns of a rank's result, as NumPy arrays."""

    names: tuple[str, ...]

    def __call__(self, value: RankResult) -> dict[str, np.ndarray]:
        return {name: fetched(value.columns[name]) for name in self.names}


@dataclass(frozen=True)
class PickThere:
    """Picks a column as it is, where a rank's result is in this process."""

    name: str

    def __call__(self, value: RankResult) -> Array:
        return value.columns[self.name]


@dataclass(frozen=True)
class CallerColumn:
    """Picks a column and translates vertex numbers to the caller's ids."""

    name: str
    ids: Any

    def __call__(self, value: RankResult) -> np.ndarray:
        values = PickColumn(self.name)(value)
        return values if self.ids is None else self.ids.to_caller(values)


@dataclass(frozen=True)
class Glance:
    """Says of columns of a rank's result how long they are, the least and the largest value, and some of the values."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    """Of the values that are wanted, among the rank's own."""

    def __call__(self, value: RankResult) -> dict[str, tuple[int, Any, Any, list[Any]]]:
        found = {}
        for name in self.names:
            column = fetched(value.columns[name])
            plain = column.dtype.kind in "biuf" and column.size > 0
            least, most = (column.min().item(), column.max().item()) if plain else (None, None)
            some = [column[place].tolist() if place < len(column) else None for place in self.places]
            found[name] = len(column), least, most, some
        return found


def order_of(vertex_map: VertexMap) -> Callable[[Backend, slice], Array] | None:
    """Numbers of the vertices at some positions, on a backend; None where they are the positions."""
    if type(vertex_map) is VertexMap:
        return None

    def numbers(backend: Backend, some: slice) -> Array:
        return vertex_map.to_id(backend, backend.xp.arange(some.start, some.stop, dtype=vertex_map.dtype))

    return numbers


def joined(pieces: Sequence[np.ndarray], vertex_map: VertexMap) -> np.ndarray:
    """Values of the ranks in the order of the vertices, read-only; those of one rank are not copied."""
    order = order_of(vertex_map)
    if order is None:
        values = pieces[0].view() if len(pieces) == 1 else np.concatenate(pieces) if pieces else np.zeros(0, np.int32)
    else:
        values = _placed(get_backend("cpu"), pieces, vertex_map.num_vertices, order)
    values.flags.writeable = False
    return values


def column_of(made: Any, name: Any, device: Any, vertex_map: VertexMap | None, as_computed: bool = True) -> Array:
    """Return a column of a result or of samples, by the caller's ids, on a device.

    Parameters
    ----------
    made : Result or Samples
    name : str
    device : {"cpu", "cuda"} or None
        None: where the values were computed, if that was in this process.
    vertex_map : VertexMap or None
        None where the values of the ranks stand one after the other.
    as_computed : bool
        False: another order is made of them on the host.

    Raises
    ------
    InputError, Unsupported
        As `Result.column`.
    """
    ids = name in made.vertex_valued
    _check(made, name, device, ids)
    if device == "cpu" or (device is None and not as_computed):
        return made._column(name)
    if as_computed:
        there = isinstance(getattr(made.parts, "values", None), list)
        pieces = made.parts.fetch(PickThere(name) if there else PickColumn(name))
    else:
        pieces = [made._internal(name)]
    if device is None and not on_gpu(pieces[0]):
        return made._column(name)
    values = _assembled(pieces, None if vertex_map is None else order_of(vertex_map))
    return _named(made.graph.ids, values) if ids else values


def _assembled(pieces: Sequence[Array], order: Callable[[Backend, slice], Array] | None) -> Array:
    """The values of all ranks on the GPU of the first one, or if none has one on the first GPU."""
    backend = get_backend("cuda", pieces[0].device.id if on_gpu(pieces[0]) else 0)
    with backend.activate():
        if len(pieces) == 1 and order is None:
            return brought(backend, pieces[0])
        made = _placed(backend, pieces, sum(map(len, pieces)), order)
        backend.synchronize()
        return made


def _placed(
    backend: Backend, pieces: Sequence[Array], count: int, order: Callable[[Backend, slice], Array] | None
) -> Array:
    """The values of all ranks in one array, each at the place of its vertex."""
    dtype = np.result_type(*(piece.dtype for piece in pieces)) if pieces else np.dtype(np.int32)
    tail = pieces[0].shape[1:] if pieces else ()
    made, first = backend.xp.empty((count, *tail), dtype), 0
    for piece in pieces:
        some = slice(first, first + len(piece))
        if len(piece):
            made[some if order is None else order(backend, some)] = brought(backend, piece)
        first = some.stop
    return made


def _named(ids: VertexIds, numbers: Array) -> Array:
    """The caller's ids of an array of numbers on a GPU; -1 stays -1."""
    if ids.is_identity:
        return numbers
    backend = get_backend("cuda", numbers.device.id)
    with backend.activate():
        xp = backend.xp
        none = numbers < 0
        if ids.table is not None:
            found = backend.from_host(ids.table)[xp.where(none, 0, numbers)] if ids.count else numbers.astype(np.int64)
        else:
            found = numbers.astype(np.int64) + ids.start
        found[none] = -1
        return found


def _check(made: Any, name: Any, device: Any, vertex_valued: bool) -> None:
    """Refuse a name that is no column's, and a device that is not there or cannot hold the values."""
    if name not in made.columns:
        raise InputError(f"there is no column {shown(name)}; columns: {', '.join(made.columns)}")
    if device is not None and device not in DEVICES:
        raise InputError(f"device={shown(device)} is neither None nor one of {', '.join(DEVICES)}")
    if device != "cuda":
        return
    try:
        get_backend("cuda")
    except GraphdaskError as error:
        raise Unsupported(
            f'column({name!r}, device="cuda") needs CuPy and a GPU in this process, and there is none; take '
            'device="cpu", or call it where a GPU is ("graphdask doctor" says what is missing)'
        ) from error
    if vertex_valued and not made.graph.ids.are_numbers:
        raise Unsupported(f'the values of {name} are names, which no GPU holds as an array; take device="cpu"')
