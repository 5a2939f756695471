"""Ends, labels and times of the links of several batches, which are put together at once.

All batches of a run but its last have the same number of links, so what they hold stands in arrays with a row for each
batch; a shorter last batch is a block of its own. Within a batch the ends stand side by side: of pairs the sources of
links, the sources of negatives, the destinations of links and those of negatives; of triplets the sources, the
destinations and the negatives number by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Blocks:
    """The links of a run, in batches."""

    size: int
    """Links of a batch."""
    links: int
    """Links of all batches; the last batch has what is left."""
    extra: Callable[[int], int]
    """Says how many negatives belong to a number of links of one batch."""

    @property
    def bounds(self) -> np.ndarray:
        """int64, shape (batches + 1,): where the links of each batch begin."""
        return np.minimum(np.arange(-(-self.links // self.size) + 1) * self.size, self.links)

    def _shapes(self) -> Iterator[tuple[slice, tuple[int, int]]]:
        """Links of batches of the same size, with the number of these and the size."""
        whole, rest = divmod(self.links, self.size)
        if whole:
            yield slice(0, whole * self.size), (whole, self.size)
        if rest:
            yield slice(whole * self.size, self.links), (1, rest)

    def _joined(self, parts: list[np.ndarray]) -> np.ndarray:
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def ends(
        self, src: np.ndarray, dst: np.ndarray, negative: tuple[np.ndarray, np.ndarray] | None, triplets: bool
    ) -> np.ndarray:
        """Return the ends of all batches, one batch after the other.

        Parameters
        ----------
        src, dst : int64 array of shape (links,)
        negative : pair of int64 arrays of shape (links, negatives of a link), optional
        triplets : bool
            Whether the sources of negatives are left out.
        """
        parts = []
        for at, shape in self._shapes():
            sides = [src[at].reshape(shape), dst[at].reshape(shape)]
            if negative is not None:
                count = self.extra(shape[1])
                drawn = [  # number by number
                    side[at].reshape(*shape, -1).swapaxes(1, 2).reshape(shape[0], -1)[:, :count] for side in negative
                ]
                sides = [*sides, drawn[1]] if triplets else [sides[0], drawn[0], sides[1], drawn[1]]
            parts.append(np.concatenate(sides, axis=1).reshape(-1))
        return self._joined(parts)

    def labels(self, given: np.ndarray) -> np.ndarray:
        """Labels of links and negatives, from those of the links, shape (links, ...); those of negatives are 0."""
        parts = []
        for at, (batches, size) in self._shapes():
            of_links = given[at].reshape(batches, size, *given.shape[1:])
            none = np.zeros((batches, self.extra(size), *given.shape[1:]), given.dtype)
            parts.append(np.concatenate([of_links, none], axis=1).reshape(-1, *given.shape[1:]))
        return self._joined(parts)

    def repeated(self, given: np.ndarray, times: int, width: Callable[[int], int]) -> np.ndarray:
        """What links have, shape (links,), for what belongs to them.

        In a batch `width(links)` elements belong to its links in their order, again and again; `times` such sequences
        stand one after the other.
        """
        parts = []
        for at, shape in self._shapes():
            within = np.tile(np.arange(width(shape[1])) % shape[1], times)
            parts.append(given[at].reshape(shape)[:, within].reshape(-1))
        return self._joined(parts)

    def offsets(self, width: Callable[[int], int]) -> np.ndarray:
        """int64, shape (batches + 1,): where each batch begins in what has `width(links)` elements of each."""
        counts = [np.full(batches, width(size)) for _, (batches, size) in self._shapes()]
        return np.concatenate(([0], np.cumsum(np.concatenate(counts)))).astype(np.int64)


def distinct(values: np.ndarray, offsets: np.ndarray, below: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct values of each batch, as `numpy.unique` of each would.

    Parameters
    ----------
    values : int64 array
        From 0 to `below` - 1.
    offsets : int64 array of shape (batches + 1,)
        Where each batch begins. All but the last have the same number of values, above 0.

    Returns
    -------
    found : int64 array
        Of each batch, ascending.
    begins : int64 array of shape (batches + 1,)
        Where those of each batch begin.
    numbers : int64 array, shaped as values
        The number of each value among those of its batch.
    """
    last = int(offsets[-2])
    rows = [values[:last].reshape(len(offsets) - 2, -1)] if last else []
    each = [_distinct_of_rows(block, below) for block in (*rows, values[last:].reshape(1, -1))]
    found, counts, numbers = (np.concatenate(parts) for parts in zip(*each, strict=True))
    return found, np.concatenate(([0], np.cumsum(counts))), numbers


def _distinct_of_rows(values: np.ndarray, below: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct values of all rows, how many each row has, and the number of each value in its row.

    Value and place of an element are the bits of one key where these are few enough, because keys are sorted several
    times faster than places by values.
    """
    count, width = values.shape
    of_place = max(width - 1, 0).bit_length()
    if max(below - 1, 0).bit_length() + of_place <= 63:
        keys = values << of_place
        keys |= np.arange(width)
        keys.sort(axis=1)
        place = keys & ((1 << of_place) - 1)
        keys >>= of_place
    else:
        place = np.argsort(values, axis=1, kind="stable")
        keys = np.take_along_axis(values, place, axis=1)
    first = np.ones(values.shape, bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=first[:, 1:])
    place += np.arange(0, count * width, width)[:, None]
    numbers = np.empty(count * width, np.int64)
    ranks = np.cumsum(first, axis=1)
    numbers[place.reshape(-1)] = (ranks - 1).reshape(-1)
    return keys[first], ranks[:, -1], numbers
