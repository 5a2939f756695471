"""What a step of a spec takes: entries of pools, and their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import Array

Numbers = Callable[[], Array]
"""How many were chosen with each edge before it; asked for by few."""


@dataclass
class Items:
    """Entries of pools whose neighbours are chosen."""

    rows: Array
    """Index dtype: where their edges are."""
    vertices: Array
    previous: Array
    instances: Array
    places: Array
    seeds: Array
    """The first vertex of their instances."""
    near: Array | None = None
    """The rows of `previous`, where they have other numbers."""

    def __getitem__(self, which: Any) -> Items:
        columns = (getattr(self, name) for name in self.__dataclass_fields__)
        return Items(*(None if column is None else column[which] for column in columns))


@dataclass
class Chosen:
    """Edges that a step chooses, in the order of the items."""

    of_items: Array
    edges: Array
    """Their places among all edges here."""
    src: Array
    dst: Array
    instances: Array
    numbers: Numbers
    """Counts, for each, how many were chosen with it before."""
