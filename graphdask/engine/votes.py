"""Votes: numbers by name that all ranks exchange in a superstep, and how those of all ranks become one."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


class Votes:
    """The numbers that each rank votes, in their order.

    Parameters
    ----------
    name : str
        Of the type of what `of` returns.
    **ways : callable
        By the name of each number `sum`, `min` or `max`, which makes one of those of all ranks.

    Examples
    --------
    >>> votes = Votes("Votes", found=sum, nearest=min)
    >>> len(votes), votes.of(np.array([[3, 7.5], [4, 2.5]]))
    (2, Votes(found=7.0, nearest=2.5))
    """

    def __init__(self, name: str, **ways: Callable[[Iterable[float]], float]):
        self._ways = tuple(ways.values())
        self._type: Any = namedtuple(name, ways)  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._ways)

    def of(self, votes: np.ndarray) -> Any:
        """Return the numbers by name, from the votes of all ranks: their first columns are these.

        Parameters
        ----------
        votes : numpy.ndarray
            float64, shape (ranks, len(self)), or with more columns behind them; `Inbox.votes`.
        """
        columns = zip(*votes.tolist(), strict=True)
        return self._type._make([way(column) for way, column in zip(self._ways, columns, strict=False)])
