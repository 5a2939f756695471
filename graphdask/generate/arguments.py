"""Checks that every generator makes of its arguments, each with a message that names the value and what is allowed."""

from __future__ import annotations

import math
from typing import Any

from graphdask.device.backend import Backend
from graphdask.errors import InputError, OverBudget, shown
from graphdask.interface.kinds import whole_or_none


def integer(name: str, value: Any) -> int:
    """Return value as a Python integer; refuse what is none, True and False too."""
    number = whole_or_none(value)
    if number is None:
        raise InputError(f"{name}={shown(value)} is not an integer")
    return number


def probability(name: str, value: Any) -> float:
    """Return a probability, 0 to 1."""
    try:
        number = float(value)
    except Exception:  # whatever an object that a caller gives raises
        raise InputError(f"{name}={shown(value)} is not a number; give a probability from 0 to 1") from None
    if math.isnan(number) or not 0.0 <= number <= 1.0:
        raise InputError(f"{name}={number!r} is not a probability from 0 to 1")
    return number


def flag(name: str, value: Any) -> bool:
    """Return True or False; refuse anything else."""
    if value is not True and value is not False:
        raise InputError(f"{name}={shown(value)} is neither True nor False")
    return value


def share(total: int, rank: Any, size: Any) -> tuple[int, int]:
    """Return first and last + 1 of block `rank` of `size` of the numbers 0 .. total - 1; it may be empty."""
    rank, size = integer("rank", rank), integer("size", size)
    if size < 1 or not 0 <= rank < size:
        raise InputError(f"block rank={shown(rank)} of size={shown(size)} does not exist; blocks are numbered from 0")
    return total * rank // size, total * (rank + 1) // size


def within(name: str, start: Any, stop: Any, total: int) -> tuple[int, int]:
    """Return a range of the numbers 0 .. total - 1."""
    start, stop = integer("start", start), integer("stop", stop)
    if not 0 <= start <= stop <= total:
        raise InputError(f"{name} {start} .. {stop} are not a range within 0 .. {total}")
    return start, stop


def fits_memory(backend: Backend, needed: int, what: str) -> None:
    """Raise OverBudget where `needed` bytes are more than are free; `what` needs them."""
    free = backend.free_memory()
    if needed > free:
        raise OverBudget(
            f"{what} need {needed / 2**30:.3g} GiB, but {free / 2**30:.3g} GiB are free on {backend.description}; "
            f"make at least {-(-needed // max(free, 1)) + 1} smaller blocks"
        )
