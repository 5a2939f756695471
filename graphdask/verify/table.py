"""Which verifier proves the result of which primitive or sampler; a subclass without an entry has that of its base.

A verifier is a module of this package whose function stands under `@verifies(...)`. A primitive without one proves its
result by its own method `verify`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from graphdask import verify
from graphdask.errors import Unsupported

V = TypeVar("V", bound=Callable[..., Any])

VERIFIERS: dict[type, Callable[..., Any]] = {}
"""Every rank calls `verify(context, part, primitive, result)`, which returns its first Violation, or None. Those of the
modules that are imported so far; `verifier_of` imports all."""


def verifies(kind: type) -> Callable[[V], V]:
    """Enter the decorated function as the verifier of a primitive or sampler."""

    def enter(function: V) -> V:
        VERIFIERS[kind] = function
        return function

    return enter


@cache
def _import_all() -> None:
    for each in pkgutil.iter_modules(verify.__path__):
        import_module(f"{verify.__name__}.{each.name}")


def verifier_of(primitive: Any) -> Callable[..., Any]:
    """Return the verifier of a primitive or a sampler, called as `verify(context, part, primitive, result)`."""
    _import_all()
    for kind in type(primitive).__mro__:
        if kind in VERIFIERS:
            return VERIFIERS[kind]
    if not hasattr(primitive, "verify"):
        raise Unsupported(
            f"{primitive.name} has no verifier; give {type(primitive).__name__} a method verify(context, part, result)"
        )
    return lambda context, part, primitive, result: primitive.verify(context, part, result)
