"""What is known of the instances of a spec between its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.sample._expand import Expander
from graphdask.sample._items import Items
from graphdask.sample.traversal import Edges, Frontier


@dataclass
class SpecState:
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


def count_of(env: Environment, pool: Frontier) -> Array:
    """Places of a pool's entries, int64."""
    return env.xp.arange(len(pool.vertices), dtype=np.int64)


def woven(
    env: Environment, columns: Mapping[str, Array], each: int, dtype: Any, numbered: bool
) -> dict[str, Array]:  # fmt: skip
    """Records, `each` in turn, of columns NAME0, NAME1, ...; where rows of edges are asked for, with a column for them
    that says nothing."""
    count = len(columns["number0"])
    made = {}
    for name, kind in (("number", np.int64), ("vertex", dtype), ("other", dtype)):
        made[name] = env.xp.empty(each * count, kind)
        for k in range(each):
            made[name][k::each] = columns[f"{name}{k}"]
    if numbered:
        made["edge"] = env.xp.zeros(each * count, np.int64)
    return made
