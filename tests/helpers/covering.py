"""Few combinations of parameters in which every two values of different parameters meet (pairwise covering).

Greedy, as in Cohen, Dalal, Fredman, Patton, "The AETG System" (IEEE Transactions on Software Engineering 23(7), 1997):
the next combination is one that brings most pairs which have not met.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def pairs(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Combinations of one value of each parameter, each two values of which are together in at least one of them."""
    values = [list(each) for each in parameters]
    everything = list(product(*(range(len(each)) for each in values)))
    places = list(combinations(range(len(values)), 2))
    met: set[tuple[int, int, int, int]] = set()
    chosen = []
    while True:
        brought = [{(i, c[i], j, c[j]) for i, j in places} - met for c in everything]
        best = max(range(len(everything)), key=lambda k: len(brought[k]))
        if not brought[best]:
            return [tuple(each[k] for each, k in zip(values, c, strict=True)) for c in chosen]
        met |= brought[best]
        chosen.append(everything[best])
