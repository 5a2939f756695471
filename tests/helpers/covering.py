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
    bits: dict[tuple[int, int, int, int], int] = {}
    held = [
        sum(1 << bits.setdefault((i, c[i], j, c[j]), len(bits)) for i, j in combinations(range(len(values)), 2))
        for c in everything
    ]  # the pairs of each combination as the bits of an integer
    left = (1 << len(bits)) - 1
    chosen = []
    while left:
        best = max(range(len(everything)), key=lambda k: (held[k] & left).bit_count())
        left &= ~held[best]
        chosen.append(tuple(each[k] for each, k in zip(values, everything[best], strict=True)))
    return chosen
