"""The kernels of a family on a CPU: the twins, called as those of a GPU are, with what only a launch has ignored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from graphdask.errors import KernelError
from graphdask.kernels.functions.inserted import Inserted, python_module


def _nothing_deferred(*args: Any, **options: Any) -> None:
    """The kernel `*_hubs` on a CPU: the kernel before it defers no row of many edges, so nothing is left."""


class CpuKernels:
    """Kernels as attributes."""

    def __init__(self, family: str, functions: Inserted = None, types: Mapping[str, Any] | None = None):
        self._family = family
        self._module = python_module(family, functions, types)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        base = name.removesuffix("_hubs")
        if base != name and hasattr(self._module, base) and not hasattr(self._module, name):
            setattr(self, name, _nothing_deferred)
            return _nothing_deferred
        function = getattr(self._module, name)
        fields = getattr(function, "fields", None)
        values = None if fields is None else _values_of(fields)

        def call(*args: Any, per_item: int = 1, threads: int = 0, per_processor: int = 0, shared: int = 0) -> Any:
            try:
                return function(*args) if values is None else function(*args[:-1], *values(args[-1]))
            except (ValueError, IndexError, ZeroDivisionError) as error:
                raise KernelError(f"kernel {self._family}.{name} failed: {error}") from error

        setattr(self, name, call)
        return call


def _values_of(fields: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that takes these fields of a pack."""
    return attrgetter(*fields) if len(fields) > 1 else lambda pack: tuple(getattr(pack, name) for name in fields)
