"""The choices of a case: whole numbers below bounds, drawn from a seed or given, and recorded.

A case asks for one choice after the other. The list of them is the case: given again, the same comes of it. The first
thing that there is to choose is the simplest, so that a smaller number, or none, makes a simpler case.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Choices below bounds.

    Parameters
    ----------
    given : sequence of int
        The first choices, each taken modulo its bound.
    rng : Random, optional
        Draws those that follow; without it they are 0.

    Attributes
    ----------
    taken : list of int
        The choices that were made.
    """

    def __init__(self, given: Sequence[int] = (), rng: random.Random | None = None):
        self.given, self.rng = given, rng
        self.taken: list[int] = []

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1."""
        at = len(self.taken)
        drawn = self.rng.randrange(bound) if self.rng and at >= len(self.given) else 0
        value = self.given[at] % bound if at < len(self.given) else drawn
        self.taken.append(value)
        return value

    def among(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.below(len(values))]

    def one_in(self, number: int) -> bool:
        """Return whether something happens that happens once in `number` cases."""
        return self.below(number) == number - 1


def drawing(target: str, seed: int, number: int) -> random.Random:
    """Return what draws the choices of a case: a function of the target, the seed and the number of the case."""
    return random.Random(f"{target}, {seed}, {number}")
