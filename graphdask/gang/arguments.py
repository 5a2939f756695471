"""How arguments of a gang's program are told apart: the same for all ranks, one for each, or kept from a run before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PerRank:
    """One value for each rank, made by the caller."""

    values: Any
    """A sequence, or on a worker a dictionary, by rank."""

    def __getitem__(self, rank: int) -> Any:
        return self.values[rank]


@dataclass(frozen=True)
class Failed:
    """What a worker hands back instead of values; not raised there, so that no worker prints a traceback of it."""

    error: BaseException


def of_rank(argument: Any, rank: int) -> Any:
    """What `rank` is given for an argument."""
    return argument[rank] if hasattr(argument, "fetch") or isinstance(argument, PerRank) else argument
