"""What is known of the instances of a spec between its steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.sample._expand import Expander
from graphdask.sample._items import Items
from graphdask.sample.traversal import Edges, Frontier


@dataclass
class State:
    expander: Expander
    kernels: Any
    """Of the family neighbors."""
    pool: Frontier
    previous: Array
    """The vertex from which each of the pool was reached; -1 for seeds."""
    seeds: Frontier
    """The pool at first."""
    instances: Array
    """int64: those at home here, and the one after them."""
    first: int
    """The first of them."""
    entered: list[Frontier] = field(default_factory=list)
    """What ever came into pools, where vertices are not revisited."""
    visited: Array | None = None
    """int64, shape (instances + 1,): where that of each instance begins, all of it together."""
    hops: list[Edges] = field(default_factory=list)
    taken: Array | None = None
    """Entries of all pools that this step takes, in their order; None for all."""

    def bounds_of_items(self, env: Environment, items: Items) -> Array:
        """Where what is taken of each pool begins."""
        if self.taken is None:
            return self.pool.bounds
        return env.xp.searchsorted(items.instances, self.instances, side="left")
