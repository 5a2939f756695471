"""Kinds of arguments of a gang's program: the same for all ranks, one for each rank, or kept from an earlier run."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from graphdask.errors import GraphdaskError
from graphdask.kernels.common.compiling import NOTHING, Compiled, in_parallel


@dataclass(frozen=True)
class PerRank:
    """One value for each rank, made by the caller."""

    values: Any
    """A sequence, or on a worker a dictionary, by rank."""
    compiled: Compiled = NOTHING
    """What was compiled to make them."""

    def __getitem__(self, rank: int) -> Any:
        return self.values[rank]


@dataclass(frozen=True)
class Failed:
    """What a worker hands back instead of values; not raised there, so that no worker prints a traceback of it."""

    error: BaseException

    @classmethod
    def of(cls, error: BaseException) -> Failed:
        """Make an error fit to travel; one that nobody foresaw takes the text of its traceback along."""
        if isinstance(error, GraphdaskError):
            error.__cause__ = error.__context__ = None
        elif not isinstance(error, Exception):  # SystemExit and the like would end the caller
            error = GraphdaskError(f"a worker was interrupted by {type(error).__name__}: {error}")
        else:
            error.add_note("On the worker:\n" + "".join(traceback.format_exception(error)))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever its own methods raise
            notes = getattr(error, "__notes__", [])
            error = GraphdaskError(f"{type(error).__name__}: {error}")
            for note in notes:
                error.add_note(note)
        return cls(error)


class Summaries(dict[int, Any]):
    """Summaries of the values of a worker's ranks, by rank."""

    compiled = NOTHING
    """What it compiled to make the values."""

    @classmethod
    def of(cls, values: PerRank, select: Callable[[Any], Any]) -> Summaries:
        """Return what `select` picks from each value."""
        made = cls((rank, select(value)) for rank, value in values.values.items())
        made.compiled = values.compiled
        return made


def compiled_by(found: Iterable[dict[int, Any]]) -> Compiled:
    """What workers compiled at the same time, by their `Summaries`."""
    return in_parallel((part.compiled for part in found if isinstance(part, Summaries)), shared=False)


def of_rank(argument: Any, rank: int) -> Any:
    """Return the value of an argument that is passed to `rank`."""
    return argument[rank] if hasattr(argument, "fetch") or isinstance(argument, PerRank) else argument


def travelling_bytes(value: Any) -> int:
    """Bytes that a value takes when it is sent; 0 where only Dask can pickle it."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    except Exception:  # whatever an object that cannot be pickled raises
        return 0
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)
