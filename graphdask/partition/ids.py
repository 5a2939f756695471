"""VertexIds: the caller's vertex ids against graphdask's own 0..n-1, reversibly.

graphdask numbers the vertices in the ascending order of the caller's ids, so that the smallest id stays the smallest.
Ids that are already consecutive need no table, only where they start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.host_memory import reserved
from graphdask.display.phases import in_blocks, phase
from graphdask.errors import InputError, OverBudget, VertexNotFound, shown
from graphdask.partition.given import given_array

COMPILED = 1 << 17
"""Edges from which on compiled kernels are worth the time to load them."""


@dataclass(frozen=True)
class VertexIds:
    """The ids `start, start+1, ..., start+count-1`, or those of a sorted table."""

    count: int
    start: int = 0
    table: np.ndarray | None = None
    """Sorted distinct ids, int64 or strings (object dtype), shape (count,); None for consecutive ids."""

    def __post_init__(self) -> None:
        if self.table is not None:
            self.table.flags.writeable = False

    @property
    def are_numbers(self) -> bool:
        return self.table is None or self.table.dtype.kind in "iu"

    @property
    def is_identity(self) -> bool:
        return self.table is None and self.start == 0

    @property
    def dtype(self) -> np.dtype:
        """That of `values`."""
        return np.dtype(np.int64) if self.table is None else self.table.dtype

    @property
    def values(self) -> np.ndarray:
        """All ids in graphdask's order, shape (count,)."""
        if self.table is not None:
            return self.table
        try:
            return np.arange(self.start, self.start + self.count, dtype=np.int64)
        except (MemoryError, ValueError):
            needed = 8 * self.count / 2**30
            raise OverBudget(
                f"the ids of {self.count:,} vertices need {needed:,.1f} GiB, which there are not"
            ) from None

    @property
    def in_functions(self) -> tuple[np.ndarray | None, int]:
        """What users' functions call vertices: a table of ids and -1, or None and the id of vertex 0.

        Those that are strings or negative are called by their numbers.
        """
        if self.table is None:
            return None, max(self.start, 0)
        if self.are_numbers and self.count and self.table[0] >= 0:
            return self.table.astype(np.int64, copy=False), -1
        return None, 0

    def to_internal(self, ids: Any, what: str = "vertex", copy: bool = True) -> np.ndarray:
        """Number the given ids.

        Parameters
        ----------
        ids : array-like
            The caller's ids, any shape.
        what : str
            How the error names them.
        copy : bool
            False: where the numbers are the ids, that array may be returned.

        Returns
        -------
        numpy.ndarray of int64, the same shape

        Raises
        ------
        VertexNotFound
            Naming the first id that is not a vertex, and which ids are.
        """
        given = given_array(what, ids)
        if self.are_numbers:
            given = self._numbers(given, what, copy)
            if self.table is None:
                numbers = given - self.start if self.start else given
                if numbers.size and numbers.view(np.uint64).max() < self.count:  # below 0 is far above
                    return numbers
                found = (numbers >= 0) & (numbers < self.count)
                return self._checked(numbers, found, given, what)
        assert self.table is not None
        given = self._strings(given, what) if self.table.dtype == object else given
        numbers = np.searchsorted(self.table, given)
        inside = np.minimum(numbers, max(self.count - 1, 0))
        found = (self.table[inside] == given) if self.count else np.zeros(given.shape, bool)
        return self._checked(np.asarray(inside, np.int64), np.asarray(found), given, what)

    def find(self, ids: np.ndarray) -> np.ndarray:
        """Number ids of the kind that these are, int64; -1 for those that are not among them."""
        if self.table is None:
            numbers = ids.astype(np.int64) - self.start
            return np.where((numbers >= 0) & (numbers < self.count), numbers, -1)
        place = np.minimum(np.searchsorted(self.table, ids), self.count - 1)
        return np.where(self.table[place] == ids, place, -1).astype(np.int64)

    @classmethod
    def of_sorted(cls, table: np.ndarray) -> VertexIds:
        """Of distinct ids in ascending order."""
        return _from_sorted(table)

    def _numbers(self, given: np.ndarray, what: str, copy: bool) -> np.ndarray:
        """The given ids as int64; those that no int64 holds are no vertices."""
        for value in given.reshape(-1) if given.dtype.kind not in "iu" else ():
            if not isinstance(value, int | np.integer) or isinstance(value, bool):
                raise InputError(f"{what} {shown(_plain(value))} is not a whole number, but the ids of this graph are")
        if given.dtype.kind in "Ou":
            wide = (given < 0) | (given > np.iinfo(np.int64).max)
            self._checked(given, ~np.asarray(wide, bool), given, what)
        return given.astype(np.int64, copy=copy)

    def _strings(self, given: np.ndarray, what: str) -> np.ndarray:
        """The given ids as objects of str."""
        given = given.astype(object)
        for value in given.reshape(-1):
            if not isinstance(value, str):
                raise InputError(f"{what} {shown(value)} is not a string, but the ids of this graph are")
        return given

    def _checked(self, numbers: np.ndarray, found: np.ndarray, given: np.ndarray, what: str) -> np.ndarray:
        if not found.all():
            missing = given.reshape(-1)[np.flatnonzero(~found.reshape(-1))[0]]
            raise VertexNotFound(f"{what} {_shown(missing)} is not in the graph; {self.describe()}")
        return numbers

    def describe(self) -> str:
        """The ids in words, for messages."""
        if self.count == 0:
            return "it has no vertices"
        if self.table is None:
            return f"its vertices are {self.start} to {self.start + self.count - 1}"
        first, last = _shown(self.table[0]), _shown(self.table[-1])
        return f"it has {self.count} vertices with ids between {first} and {last}"

    def to_caller(self, numbers: np.ndarray) -> np.ndarray:
        """Give back the caller's ids; -1 stays -1 (None among strings)."""
        numbers = np.asarray(numbers)
        if self.is_identity:
            return numbers
        none = numbers < 0
        if self.table is None:
            wide = self.start + self.count > np.iinfo(numbers.dtype).max
            out = numbers.astype(np.int64 if wide else numbers.dtype)
            out += self.start
            out[none] = -1
            return out
        if self.count == 0:
            return np.full(numbers.shape, -1 if self.are_numbers else None, self.table.dtype)
        out = self.table[np.where(none, 0, numbers)]
        out[none] = -1 if self.are_numbers else None
        return out


def is_narrow_range(low: int, high: int, edges: int) -> bool:
    """Whether a table of all ids from `low` to `high` is little beside so many edges."""
    return high - low + 1 <= 8 * edges + 1024


def is_whole(value: Any) -> bool:
    """Whether an argument is a whole number; NumPy's durations are a kind of its integers, and are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's own, as the caller most likely wrote it."""
    return value.item() if isinstance(value, np.generic) else value


def _shown(value: Any) -> str:
    return shown(int(value)) if isinstance(value, np.integer | int) else shown(str(value))


def number_vertices(
    src: np.ndarray,
    dst: np.ndarray,
    vertices: np.ndarray | None,
    num_vertices: int | None,
    own: bool = False,
) -> tuple[VertexIds, np.ndarray, np.ndarray]:
    """Find the vertices of an edge list and number them.

    The vertices are 0..num_vertices-1 where that is given, else `vertices` where the data declare them, else exactly
    the ids that edges name. With `own`, the numbers may take the memory of the ids.

    Returns
    -------
    ids : VertexIds
    src, dst : numpy.ndarray of int64 or int32, shape (m,)
        The edges in graphdask's numbers.
    """
    check_same_kind(src, dst)
    numbers = src.dtype.kind in "iu"
    own = own and src.flags.writeable and dst.flags.writeable
    if num_vertices is not None:
        if not numbers:
            raise InputError("num_vertices= is for ids that are whole numbers; these are strings")
        ids = VertexIds(checked_count(num_vertices))
        return ids, *_numbered(ids, src, dst, own)
    if vertices is not None:
        ids = _from_sorted(np.unique(vertices) if vertices.dtype.kind in "iu" else _unique_strings(vertices))
        return ids, *_numbered(ids, src, dst, own)
    if not numbers:
        src, dst = src.astype(object), dst.astype(object)
        names = sorted({*src, *dst})
        number = {name: k for k, name in enumerate(names)}
        table = np.empty(len(names), object)
        table[:] = names
        src, dst = (np.fromiter(map(number.__getitem__, ends), np.int64, len(ends)) for ends in (src, dst))
        return VertexIds(len(table), 0, table), src, dst
    if not len(src):
        return VertexIds(0), src.astype(np.int64), dst.astype(np.int64)
    src, dst = (ends if ends.dtype in (np.int32, np.int64) else ends.astype(np.int64) for ends in (src, dst))
    low = int(min(src.min(), dst.min()))
    high = int(max(src.max(), dst.max()))
    if is_narrow_range(low, high, len(src)):
        return _number_range(src, dst, low, high - low + 1, own)
    if len(src) >= COMPILED and 2 * len(src) < 2**31:
        from graphdask.partition.sparse_ids import number_sparse

        table, src, dst = number_sparse(src, dst)
        return VertexIds(len(table), 0, table), src, dst
    table, inverse = np.unique(np.concatenate([src, dst]).astype(np.int64), return_inverse=True)
    return VertexIds(len(table), 0, table), inverse[: len(src)], inverse[len(src) :]


def checked_count(num_vertices: Any) -> int:
    """Check a number of vertices."""
    if not is_whole(num_vertices) or num_vertices < 0:
        raise InputError(f"num_vertices={shown(num_vertices)} must be a whole number, 0 or more")
    if num_vertices > 2**63 - 1:
        raise InputError(f"num_vertices={shown(num_vertices)} is above 2**63 - 1, the most that vertex ids allow")
    return int(num_vertices)


def _numbered(ids: VertexIds, src: np.ndarray, dst: np.ndarray, own: bool) -> tuple[np.ndarray, np.ndarray]:
    """Number edges by ids that are known, in their own memory where they are int32 and `own`."""
    if own and ids.table is None and src.dtype == dst.dtype == np.int32 and len(src):
        low, high = min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max()))
        if ids.start <= low and high < ids.start + ids.count:
            for ends in (src, dst):
                ends -= np.int32(ids.start)
            return src, dst
    return ids.to_internal(src, "edge source"), ids.to_internal(dst, "edge destination")


def _number_range(
    src: np.ndarray, dst: np.ndarray, low: int, span: int, own: bool
) -> tuple[VertexIds, np.ndarray, np.ndarray]:
    """Number ids of a range that a table can have, `low` to `low + span - 1`; some of them may be missing."""
    narrow = span < 2**31 - 1
    present = reserved(span, np.uint8)
    compiled = len(src) >= COMPILED and narrow
    if compiled:
        from graphdask.device.backend import get_backend

        kernels = get_backend("cpu").kernels("numbering")
        with phase("ids") as report:
            for number, ends in enumerate((src, dst)):
                for some in in_blocks(report, len(ends), 0.25 * number, 0.25 * (number + 1)):
                    kernels.numbering_mark(len(ends[some]), ends[some], low, present)
    else:
        for ends in (src, dst):
            present[ends - low if low else ends] = 1
    if present.all():
        ids = VertexIds(span, low)
        if not low:
            keep = own or narrow  # what is not int32 already is copied as that later
            return ids, src if keep else src.copy(), dst if keep else dst.copy()
        number_of: Any = None
    else:
        number_of = np.cumsum(present, dtype=np.int32 if narrow else np.int64)
        number_of -= 1
        ids = VertexIds(int(number_of[-1]) + 1, 0, np.flatnonzero(present).astype(np.int64) + low)
    numbers: list[np.ndarray] = []
    for ends in (src, dst):
        if not narrow:
            numbers.append(ends - low if number_of is None else number_of[ends - low])
            continue
        out = ends if own and ends.itemsize == 4 else reserved(len(ends), np.int32)
        if number_of is None:
            np.subtract(ends, low, out=out, casting="same_kind")
        elif compiled:
            with phase("ids") as report:
                for some in in_blocks(report, len(ends), 0.5 + 0.25 * len(numbers), 0.75 + 0.25 * len(numbers)):
                    kernels.numbering_replace(len(ends[some]), ends[some], low, number_of, out[some])
        else:
            out[:] = number_of[ends - low if low else ends]
        numbers.append(out)
    return ids, numbers[0], numbers[1]


def check_same_kind(src: np.ndarray, dst: np.ndarray, one: str = "edge sources", other: str = "destinations") -> None:
    """Raise InputError where some ids are numbers and others strings; by default those of an edge's ends."""
    if len(src) and len(dst) and (src.dtype.kind in "iu") != (dst.dtype.kind in "iu"):
        raise InputError(
            f"{one} such as {_shown(src[0])} and {other} such as {_shown(dst[0])} are not of one kind; "
            f"ids are all whole numbers, or all strings"
        )


def _unique_strings(values: np.ndarray) -> np.ndarray:
    return np.unique(values.astype(object))


def _from_sorted(table: np.ndarray) -> VertexIds:
    if len(table) and table.dtype.kind in "iu" and int(table[-1]) - int(table[0]) + 1 == len(table):
        return VertexIds(len(table), int(table[0]))
    return VertexIds(len(table), 0, None if not len(table) else table)
