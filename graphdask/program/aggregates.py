"""Aggregates of a program: exact sums in words that ranks add up, and their values (kernels/program/exact.py)."""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import FunctionError
from graphdask.kernels.program.program_pack import BINS
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.program.definition import Definition

SMALLEST_EXPONENT = 1074
"""Word 0 of an exact sum counts multiples of 2 to the power of minus this."""


class Known:
    """What `until` reads after a superstep: the aggregates, `active` and `superstep`."""

    def __init__(self, aggregates: Mapping[str, Any], active: int, superstep: int):
        self.__dict__.update(aggregates, active=active, superstep=superstep)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        caller = sys._getframe(1)
        path, line = caller.f_code.co_filename, caller.f_lineno
        reason = f"until: there is no aggregate {name}; there are {', '.join(vars(self))}"
        raise FunctionError(reason, path, line, linecache.getline(path, line).strip() or None)

    def __repr__(self) -> str:
        return f"a with {', '.join(f'{name}={value!r}' for name, value in vars(self).items())}"


def clear_sums(definition: Definition, sums: Any) -> None:
    """Make the words of this rank those of no vertices."""
    if definition.aggregates:
        sums[:] = 0
    for k, each in enumerate(definition.aggregates):
        if each.combine in ("min", "max"):
            sums[k * BINS] = np.iinfo(np.int64).max


def words_of(combine: str) -> int:
    """How many words of an aggregate ranks exchange."""
    return BINS if combine == "sum" else 2 if combine in ("any", "count") else 1


def _value(combine: str, kind: str, words: np.ndarray) -> Any:
    """The value of an aggregate from the words of all ranks, int64 of shape (ranks, words)."""
    if combine in ("any", "count"):
        count = sum((rank[1] << 32) + rank[0] for rank in words.tolist())
        return count > 0 if combine == "any" else count
    if combine == "sum":
        there = np.flatnonzero(words.any(axis=0)).tolist()  # few: those of the exponents that the numbers have
        total = {i: sum(words[:, i].tolist()) for i in there}
        exact = sum(word << (32 * i) for i, word in total.items() if i < BINS - 2)
        if kind == "int":
            return exact
        above, below = total.get(BINS - 2, 0), total.get(BINS - 1, 0)
        if above or below:
            return math.nan if above and below else math.inf if above else -math.inf
        try:
            return exact / (1 << SMALLEST_EXPONENT)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf
    least = min((rank[0] for rank in words.tolist()), default=np.iinfo(np.int64).max)
    key = int(least) if combine == "min" else ~int(least)
    if kind == "int":
        return key
    bits = np.int64(key if key >= 0 else key ^ 0x7FFFFFFFFFFFFFFF)
    value = float(bits.view(np.float64))
    return (math.inf if combine == "min" else -math.inf) if math.isnan(value) else value


def votes_of(definition: Definition, sums: np.ndarray) -> list[float]:
    """The words of this rank for the other ones: of each aggregate the upper 32 bits of all, then the lower ones."""
    votes: list[float] = []
    for k, each in enumerate(definition.aggregates):
        words = sums[k * BINS :][: words_of(each.combine)]
        votes += (words >> 32).astype(float).tolist() + (words & 0xFFFFFFFF).astype(float).tolist()
    return votes


def summed_up(definition: Definition, votes: np.ndarray) -> dict[str, Any]:
    """The values of all aggregates from what each rank voted, shape (ranks, words); without ranks, those at first."""
    values, at = {}, 0
    for each in definition.aggregates:
        count = words_of(each.combine)
        high, low = (votes[:, at + i * count : at + (i + 1) * count].astype(np.int64) for i in (0, 1))
        at += 2 * count
        words = (high << 32) + low
        values[each.name] = _value(each.combine, each.kind, words)
    return values


def write_values(definition: Definition, pack: Pack, values: Mapping[str, Any], xp: Any = None) -> None:
    """Put the values where functions read them: into new arrays of `xp`, if that is given."""
    if not definition.aggregates:
        return
    if xp is not None:
        pack.integers = xp.zeros(len(definition.aggregates), np.int64)
        pack.floats = pack.integers.view(np.float64)
    for k, each in enumerate(definition.aggregates):
        array, value = pack.floats if each.kind == "float" else pack.integers, values[each.name]
        if each.kind != "float" and not -(1 << 63) <= value < 1 << 63:
            raise each.function.code.refused(f"adds up to {value}, which does not fit 64 bits")
        array[k] = value
