"""DaskValues: a result or samples whose values are on workers, among Dask's collections.

Each rank's values are a task beside them. `dask.compute` gives the same result with its columns on the host, and a
function under `dask.delayed` gets that; `dask.persist` gives the result itself, because its values are on the workers
already. A result whose values are in this process is no collection, and passes through Dask as it is.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphdask.device.residency import fetched
from graphdask.engine.loop import RankResult
from graphdask.errors import InputError, Unsupported
from graphdask.graph.collection import Carried, DaskCollection


class DaskValues(DaskCollection):
    """The methods by which Dask knows a collection, and by which values travel."""

    graph: Any
    parts: Any
    _called = "r"
    """What the documentation calls one."""
    _lazy: list[Any] | None = None
    """Dask's delayed objects of the ranks' values, once Dask asks for them."""

    def _restored(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """A function of the ranks' values and of a graph that makes the same object, and its further arguments."""
        raise NotImplementedError

    def __dask_graph__(self) -> dict[Any, Any] | None:
        """The tasks that give the values of each rank; None if the values are in this process."""
        if not on_workers(self):
            return None
        if _in_event_loop() and not getattr(self.parts.gang.client, "_asynchronous", False):  # while Dask publishes it
            raise Unsupported(_stay(self))
        from dask.utils import ensure_dict

        graphs = [ensure_dict(piece.__dask_graph__()) for piece in self._pieces()]
        return {key: task for graph in graphs for key, task in graph.items()}

    def __dask_keys__(self) -> list[str]:
        return [piece.key for piece in self._pieces()]

    def _pieces(self) -> list[Any]:
        if self._lazy is None:
            self._lazy = self.parts.delayed(Whole())
        return self._lazy

    def __dask_tokenize__(self) -> tuple[str, str]:
        """A name for each result; without it, Dask would hash all values."""
        if on_workers(self) and _in_event_loop():  # while Dask scatters it
            raise Unsupported(_stay(self))
        return type(self).__name__, self.__dict__.setdefault("_token", uuid.uuid4().hex)

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _computed, (Carried(self.graph), *self._restored())

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _persisted, (self,)

    def __reduce__(self) -> Any:
        """A result travels with its values, by way of this process; `verify` is for where it was made.

        Raises
        ------
        InputError
            Where values are on workers and nothing can wait for them: in an event loop, and while a client sends a
            task, because it holds a lock that its loop needs. Dask hides an Unsupported of what it pickles.
        """
        if on_workers(self) and (_in_event_loop() or _while_sending(self.parts.gang)):
            raise InputError(_stay(self))
        made, rest = self._restored()
        return made, (self.parts.fetch(Whole()), self.graph, *rest)


class Whole:
    """Picks all of a rank's result, its columns as NumPy arrays."""

    def __call__(self, value: RankResult) -> RankResult:
        return replace(value, columns={name: fetched(column) for name, column in value.columns.items()})


def on_workers(made: Any) -> bool:
    """Whether the values of a result or of samples are on the workers of a cluster."""
    return hasattr(made.parts, "gang")


def _stay(made: Any) -> str:
    name = made._called
    return (
        f"the values of {made!r} stay with the workers, and Dask cannot wait for them here; to hand them to tasks or "
        f"publish them, take {name}.to_dask_dataframe().persist(), dask.delayed(function)({name}) or "
        f"dask.compute({name}), or write them with {name}.to_parquet(path)"
    )


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _while_sending(gang: Any) -> bool:
    """Whether this thread is in a client's function that sends tasks."""
    owned = getattr(getattr(gang.client, "_refcount_lock", None), "_is_owned", None)
    return owned is not None and bool(owned())


def _computed(values: Sequence[Any], carried: Any, made: Callable[..., Any], rest: tuple[Any, ...]) -> Any:
    return made(list(values), carried.graph, *rest)


def _persisted(_: Mapping[Any, Any], values: Any, rename: Mapping[str, str] | None = None) -> Any:
    if rename is not None:
        raise Unsupported(f"dask.graph_manipulation cannot order the values of {values!r}; use to_dask_dataframe()")
    return values
