"""Own: the rows and chunks of a store that are a rank's. Ranges are about alike in bytes, so that all read as much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.stream.format import Section
from graphdask.stream.store import Store


@dataclass(frozen=True)
class Own:
    """Which rows and chunks are a rank's."""

    begin: int
    """Position of its first row."""
    end: int
    chunks: dict[str, range]
    """Those with rows of it, by section."""

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.end - self.begin

    @classmethod
    def whole(cls, store: Store) -> Own:
        """All rows."""
        return cls(0, store.num_vertices, {name: range(len(section)) for name, section in store.sections.items()})


def divided(store: Store, size: int) -> np.ndarray:
    """Positions at which the rows of each rank begin, and those of the last one end; int64, shape (size + 1,)."""
    n, out = store.num_vertices, store.sections["out"]
    starts = np.append(out.table["first"], n)
    read = np.zeros(len(starts))
    for section in store.sections.values():
        sizes = np.array([sum(section.sizes(number)) for number in range(len(section))], np.float64)
        read += np.interp(starts, np.append(section.table["first"], n), np.append(0.0, np.cumsum(sizes)))
    cuts = np.searchsorted(read, read[-1] * np.arange(1, size) / size - 0.5)
    return np.concatenate([[0], starts[cuts], [n]]).astype(np.int64)


def _across(section: Section, begin: int, end: int) -> range:
    """The chunks that have rows in a range."""
    first = section.table["first"]
    if begin == end:
        return range(0)
    return range(int(np.searchsorted(first, begin, side="right")) - 1, int(np.searchsorted(first, end)))


def own_of(store: Store, offsets: np.ndarray, rank: int) -> Own:
    """The rows of a rank."""
    begin, end = int(offsets[rank]), int(offsets[rank + 1])
    return Own(begin, end, {name: _across(section, begin, end) for name, section in store.sections.items()})
