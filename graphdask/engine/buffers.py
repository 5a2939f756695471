"""Allocation schemes: how much memory a run reserves for its queues before it knows how long they get.

A queue of vertices never holds more than all of them, and often far fewer. *Maximal* reserves memory for all of them
from the start. *Just-enough* reserves memory for an estimate. An upper bound for what a launch may write is known
before the launch, from the edges of the frontier or from a count; if it exceeds the queue, the queue grows first, so
that nothing is lost or done twice. *Fixed* reserves a share of the maximum and stops the run when that may be too
little.

Source: Pan et al., Multi-GPU Graph Analytics, Section VI-B (just-enough memory allocation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.device.counting import count_set
from graphdask.engine.tuning import ENGINE
from graphdask.errors import OverBudget
from graphdask.kernels.common.packs import Pack
from graphdask.partition.part import Csr, Part

ESTIMATE = 32
"""A just-enough queue begins with the largest possible number of entries divided by this."""
SHARE = 0.75
"""Of the maximum that `fixed` takes."""
ROW = 4096
"""Number of edges above which a kernel may defer a row (kernels/common/rows.cuh)."""


@dataclass(frozen=True)
class Allocation:
    """A scheme by which the queues of a run are allocated; `Primitive.memory` is given it."""

    scheme: str = "maximal"
    """`maximal`, `just-enough` or `fixed`."""
    share: float = 1.0
    """Of the maximum, where it is fixed."""

    @classmethod
    def of(cls, setting: str | float) -> Allocation:
        """From the setting `graphdask.allocation`, which has been checked: a name, or the share of a fixed one."""
        if isinstance(setting, str):
            return cls(setting, SHARE if setting == "fixed" else 1.0)
        return cls("fixed", float(setting))

    @property
    def partial(self) -> bool:
        """Whether queues may be shorter than the maximum, so that the entries needed are counted before a launch."""
        return self.scheme != "maximal"

    @property
    def grows(self) -> bool:
        return self.scheme == "just-enough"

    def first(self, most: int, expected: int | None = None) -> int:
        """Return how many entries a queue begins with. `most` is the maximum, `expected` a closer bound if known."""
        if not self.partial:
            return most
        if self.scheme == "fixed":
            return math.ceil(self.share * most)
        return min(most, max(ENGINE.least_queue, most // ESTIMATE) if expected is None else expected)

    def __str__(self) -> str:
        return f"fixed {self.share:g}" if self.scheme == "fixed" else self.scheme


MAXIMAL = Allocation()


@dataclass
class Growth:
    """What the queues of a run have grown."""

    growths: int = 0
    grown: int = 0
    """Bytes that were added."""


class Buffer:
    """An array for as many entries as the next launch may write, allocated and grown as the scheme says.

    `Environment.buffer` makes it. `array` is the memory, of shape (entries,); `most` is the largest number of entries.
    """

    __slots__ = ("_allocation", "_backend", "_budget", "_growth", "_what", "array", "most")

    def __init__(
        self, what: str, most: int, dtype: Any, allocation: Allocation, backend: Backend, growth: Growth,
        budget: float = 1.0, expected: int | None = None,
    ):  # fmt: skip
        self._what, self.most, self._allocation, self._backend = what, most, allocation, backend
        self._growth, self._budget = growth, budget
        first = allocation.first(most, expected)
        if expected is not None and min(expected, most) > first:
            self._refuse(min(expected, most), first)
        self.array: Array = self.empty(first, np.dtype(dtype))

    def __len__(self) -> int:
        return len(self.array)

    def fit(self, needed: int, keep: int = 0) -> Array:
        """Return the array, grown if it has fewer entries than a launch may write.

        Parameters
        ----------
        needed : int
            Entries that the launch may write.
        keep : int
            How many of the first entries are kept; others may be lost.

        Returns
        -------
        array
            Of `needed` entries or more, or of `most`.

        Raises
        ------
        OverBudget
            If it has to grow, and a fixed allocation or the memory does not allow that.
        """
        if needed > len(self.array) < self.most:
            self._grow(min(needed, self.most), keep)
        return self.array

    def _grow(self, needed: int, keep: int) -> None:
        before, dtype = len(self.array), self.array.dtype
        if not self._allocation.grows:
            self._refuse(needed, before)
        size = min(max(needed, before * 3 // 2), self.most)
        free = int(self._backend.free_memory() * self._budget) + (0 if keep else before * dtype.itemsize)
        if size * dtype.itemsize > free:
            raise OverBudget(
                f"{self._what} has to grow from {before:,} to {size:,} entries, {size * dtype.itemsize / 2**30:.3g} "
                f"GiB, and {free / 2**30:.3g} GiB may be used on {self._backend.description}; use more workers, "
                f"ghosts='1-hop', or raise the setting graphdask.memory-fraction"
            )
        kept = self.array[:keep] if keep else None
        self.array = None  # so that its place may serve
        self.array = self.empty(size, dtype)
        if kept is not None:
            self.array[:keep] = kept
        self._growth.growths += 1
        self._growth.grown += (size - before) * dtype.itemsize

    def empty(self, size: int, dtype: np.dtype) -> Array:
        """Return an array of this size; a subclass may say where."""
        return self._backend.xp.empty(size, dtype)

    def _refuse(self, needed: int, have: int) -> None:
        share = math.ceil(1000 * needed / self.most) / 1000
        raise OverBudget(
            f"{self._what} holds {have:,} of {self.most:,} vertices (allocation={self._allocation.share:g}), but may "
            f"need {needed:,}; use allocation={share:g} or more, or allocation='just-enough', which grows when needed"
        )


def most_deferred(*csrs: Csr) -> int:
    """Return an upper bound for the number of rows of some Csr that kernels defer because they have very many edges.

    It is the length of the list that `kernels/common/rows.cuh` calls `hubs`.
    """
    return max((csr.num_edges // ROW for csr in csrs), default=0)


def exchange_bytes(part: Part, row: int, joined: bool = False) -> int:
    """Return the bytes that a rank sends and receives when all ghosts are sent at once, each an id and `row` bytes.

    Parameters
    ----------
    part : Part
    row : int
        Bytes of the values of a vertex.
    joined : bool
        Whether messages from several ranks are concatenated before they are read, as `Inbox.columns` does.
    """
    received = part.num_mirrored * (2 if joined and part.size > 2 else 1)
    return (part.num_slots - part.num_owned + received) * (part.vertex_map.dtype.itemsize + row)


def reachable(part: Part) -> int:
    """Return how many own vertices an edge can reach, or more: in an undirected graph those that have edges."""
    if part.inward is not part.out:
        return part.num_owned
    indptr = part.out.indptr
    return count_set(indptr[1:] > indptr[:-1])


PLAIN = frozenset({type(None), bool, int, float, str})
"""Types of much of what a state has beside arrays."""


class Holdings:
    """What the arrays of a state take, each piece of memory once, without those of the partition and of its tables."""

    def __init__(self, part: Part, backend: Backend):
        self._part, self._kinds = part, (np.ndarray, backend.xp.ndarray)

    def nbytes(self, state: Any) -> int:
        """Bytes of all arrays that are found in a dataclass or a pack, its fields, and their fields and entries."""
        part = self._part
        found = self._memories(state)
        others = self._memories(part.out, part.inward, part.ids, part.ghosts, part.mirrored, part.tables.values)
        return sum([array.nbytes for place, array in found.items() if place not in others])

    def _memories(self, *values: Any) -> dict[int, Array]:
        """Arrays by where they are; while they are kept, no other array is there."""
        left, found, kinds = list(values), dict[int, Array](), self._kinds
        while left:
            value = left.pop()
            kind: Any = type(value)
            if kind in PLAIN:
                continue
            if kind in kinds:
                found.update([_memory(value)])
            elif kind is Buffer:
                left.append(value.array)
            elif isinstance(value, Pack):
                left.extend(value.assigned())
            elif isinstance(value, tuple | list):
                left.extend(value)
            elif isinstance(value, kinds):  # of a subclass
                found.update([_memory(value)])
            else:
                left += [getattr(value, name) for name in _fields(kind)]
        return found


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _memory(array: Array) -> tuple[int, Array]:
    """Where the memory is of which an array may be a view, and the array of all of it."""
    while (base := array.base) is not None and hasattr(base, "base") and hasattr(base, "nbytes"):
        array = base
    return id(array) if isinstance(array, np.ndarray) else array.data.ptr, array
