"""Numba's options of what it compiles are compared by what was set.

For every call that Numba types it compares the options in use with those of what it has compiled. On its own it reads
each of some thirty options of both for that, and orders their names for a hash that has nothing but the names in it:
a twentieth of the time in which a kernel is compiled. The answers here are the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.core.targetconfig import TargetConfig

_compared = TargetConfig.__eq__


@cache
def _hash_of(kind: type) -> int:
    return hash(tuple(sorted(kind.options)))  # type: ignore[attr-defined]  # by a metaclass


def _hash(options: Any) -> int:
    return _hash_of(type(options))


def _equal(one: Any, other: Any) -> Any:
    if one is other:
        return True
    if type(one) is not type(other):
        return _compared(one, other)
    given, others = one._values, other._values
    return given == others or all(getattr(one, name) == getattr(other, name) for name in given.keys() | others.keys())


def compare_what_was_set() -> None:
    """From now on Numba compares options so."""
    TargetConfig.__eq__, TargetConfig.__hash__ = _equal, _hash
