"""Making a list of choices that fails small: shorter, then with smaller numbers.

Source: MacIver and Donaldson, Test-case reduction via test-case generation (ECOOP 2020): what is made smaller is the
choices that a case is made of, not the case itself, so every case that is tried is one that can be drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

Fails = Callable[[list[int]], list[int] | None]
"""The choices that a case took if it fails as the first one did, else None."""


Simpler = Callable[[list[int]], Iterator[list[int]]]
"""The choices to try in place of some, the most simple ones first."""


def smallest(
    choices: list[int], fails: Fails, seconds: float, tries: int = 1_000_000, simpler: Simpler | None = None
) -> list[int]:
    """Return choices that still fail, of which nothing more can be left out or made smaller within the time.

    Parameters
    ----------
    choices : list of int
        Choices that fail.
    fails : function
        Tries a list.
    seconds, tries : float, int
        After which the smallest list so far is returned.
    simpler : function, optional
        Which lists are tried; by default shorter ones, and those with a smaller number.
    """
    end = time.monotonic() + seconds
    improved = True
    while improved:
        improved = False
        for candidate in (simpler or _candidates)(choices):
            if time.monotonic() > end or tries <= 0:
                return choices
            tries -= 1
            taken = fails(candidate)
            if taken is not None and _order(taken) < _order(choices):
                choices, improved = taken, True
                break
    return choices


def _order(choices: list[int]) -> tuple[int, list[int]]:
    return len(choices), choices


def _candidates(choices: list[int]) -> Iterator[list[int]]:
    """Lists that are shorter, or have a smaller number at a place."""
    length = len(choices)
    width = length
    while width:
        for begin in range(0, length, width):
            yield choices[:begin] + choices[begin + width :]
        width //= 2
    for at, value in enumerate(choices):
        for smaller in dict.fromkeys((0, value // 2, value - 1)):
            if 0 <= smaller < value:
                yield [*choices[:at], smaller, *choices[at + 1 :]]
    for at, value in enumerate(choices):  # a number that says how many follow
        for gone in range(at + 1, length if value else 0):
            yield [*choices[:at], value - 1, *choices[at + 1 : gone], *choices[gone + 1 :]]
