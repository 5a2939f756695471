"""Where walks start, said in as little as it takes: what a client sends to workers takes longer than their walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Starts:
    """Vertex numbers of a sequence, each as many times in a row as walks start there.

    A slice is of the same kind and holds no more of the sequence than it needs; `astype` makes it an array.
    """

    of: np.ndarray | range
    each: int
    first: int
    """Of the sequence with each vertex so many times, the first that counts."""
    count: int
    """And how many do."""

    @classmethod
    def every(cls, of: np.ndarray | range, each: int) -> Starts:
        """All of a sequence."""
        return cls(of, each, 0, len(of) * each)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, which: slice) -> Starts:
        begin, end, _ = which.indices(self.count)
        begin, count = self.first + begin, max(end - begin, 0)
        low = begin // self.each
        return Starts(self.of[low : -(-(begin + count) // self.each)], self.each, begin - low * self.each, count)

    def astype(self, dtype: Any) -> np.ndarray:
        """The vertex numbers; shape (count,)."""
        if isinstance(self.of, range):
            of = np.arange(self.of.start, self.of.stop, self.of.step, dtype=dtype)
        else:
            of = self.of.astype(dtype)
        if self.each > 1 and len(of) * self.each > 2 * self.count:  # a few of very many
            return of[(np.arange(self.count) + self.first) // self.each]
        repeated = of if self.each == 1 else np.repeat(of, self.each)
        return repeated[self.first : self.first + self.count]
