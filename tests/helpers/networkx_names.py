"""Functions of NetworkX by name: those of `networkx`, and those of modules that it does not take names from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of this name."""
    found: Callable[..., Any] = getattr(nx if hasattr(nx, name) else nx.community, name)
    return found
