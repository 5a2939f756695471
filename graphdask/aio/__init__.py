"""The functions of graphdask as coroutines, for programs with an event loop and asynchronous Dask clients.

`await graphdask.aio.bfs(G, 0)` returns what `graphdask.bfs(G, 0)` returns. The call runs in a thread of its own, so the
event loop goes on. `graphdask.aio.generate`, `io`, `plot`, `sample` and `stream` have the functions of these modules.
Methods of graphs and columns of results may wait for workers too: `await graphdask.aio.call(G.neighbors, 0)`,
`await graphdask.aio.call(getattr, r, "depth")`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
_OWN = ("call",)
_MODULES = ("generate", "io", "plot", "sample", "stream")


async def call(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Call a function or a method that waits in a thread, and return what it returns.

    Parameters
    ----------
    function : callable
    args, kwargs
        Its arguments.

    Returns
    -------
    object
        What the function returns; its exceptions are raised. A call that is cancelled ends in its thread.

    Examples
    --------
    >>> import asyncio
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1], [1, 2])
    >>> asyncio.run(call(G.neighbors, 1)).tolist()
    [2]
    >>> asyncio.run(gd.aio.bfs(G, 0)).depth.tolist()
    [0, 1, 2]
    """
    return await asyncio.to_thread(function, *args, **kwargs)


def _awaitable(function: Any) -> Any:
    """A coroutine function with the name, signature and docstring of a function or class."""

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await call(function, *args, **kwargs)

    made = functools.update_wrapper(awaited, function, ("__module__", "__name__", "__qualname__", "__doc__"), ())
    made.__dict__["__signature__"] = inspect.signature(function)
    return made


class _Awaitables:
    """The functions of a module as coroutines."""

    def __init__(self, module: ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if name.startswith("_") or not callable(value):
            return value
        made = _awaitable(value)
        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return sorted(self._module.__all__)

    def __repr__(self) -> str:
        return f"<functions of {self._module.__name__} as coroutines>"


def __getattr__(name: str) -> Any:
    graphdask = import_module("graphdask")
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(graphdask, name)
    if name in _MODULES:
        made = _Awaitables(value)
    elif callable(value) and not (inspect.isclass(value) and issubclass(value, Exception)):
        made = _awaitable(value)
    else:
        made = value
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    graphdask = import_module("graphdask")
    functions = [name for name in graphdask.__all__ if callable(getattr(graphdask, name))]
    found = [name for name in functions if not inspect.isclass(getattr(graphdask, name))]
    return sorted([*_OWN, *_MODULES, "DynamicGraph", *found])
