"""Names of types of vertices and of edges, and what says that a vertex is called by its number.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for types of edges in three
parts and the names of reversed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, VertexNotFound, shown
from graphdask.partition.ids import VertexIds

EdgeType = tuple[str, str, str]
"""Type of the sources, name, type of the destinations."""
REVERSE = "rev_"
"""What the name of a type of reversed edges begins with, as PyTorch Geometric names them."""


@dataclass(frozen=True)
class VertexNumbers(VertexIds):
    """The vertices of a TypedGraph by their numbers; an error says how ids become numbers."""

    types: tuple[str, ...] = ()
    """Of the vertices."""

    def to_internal(self, ids: Any, what: str = "vertex", copy: bool = True) -> np.ndarray:
        try:
            return super().to_internal(ids, what, copy)
        except InputError as error:
            kind = VertexNotFound if isinstance(error, VertexNotFound) else InputError
            raise kind(
                f"{error}; a graph with types numbers its vertices, and G.number(type, ids) gives the numbers of ids "
                f"of a type: {', '.join(self.types)}"
            ) from None


def checked_vertex_type(G: Any, name: Any, where: str = "") -> str:
    """Return the name, or raise InputError if no vertices have this type; `where` is before the reason."""
    if not isinstance(name, str) or name not in G.vertex_ids_by_type:
        there = ", ".join(G.vertex_types)
        raise InputError(f"{where}{shown(name)} is no type of vertices of this graph; there are {there}")
    return name


def listed(kinds: Sequence[EdgeType]) -> str:
    """Types of edges for a message."""
    return ", ".join(map(str, kinds))


def found_type(kinds: Sequence[EdgeType], name: Any, where: str = "") -> EdgeType:
    """Return the type of edges that a name or the three parts of a type name; `where` is before the reason.

    Raises
    ------
    InputError
        If there is none, or several have the name.
    """
    parts = tuple(name) if isinstance(name, tuple | list) else (name,)
    if not all(isinstance(part, str) for part in parts):
        raise InputError(f"{where}{shown(name)} is no type of edges; it is a name, or three")
    if parts in kinds:
        return parts  # type: ignore[return-value]
    found = [kind for kind in kinds if kind[1:2] == parts]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{where}{shown(name)} names {len(found)} types of edges: {listed(found)}; give one of these")
    raise InputError(f"{where}{shown(name)} is no type of edges of this graph; there are {listed(kinds)}")


def turned_types(kinds: Iterable[EdgeType]) -> dict[EdgeType, EdgeType]:
    """The type of the reversed edges of each type.

    Raises
    ------
    InputError
        If those of two types would be one.
    """
    made: dict[EdgeType, EdgeType] = {}
    for source, name, end in kinds:
        plain = name.removeprefix(REVERSE)
        turned = end, plain if plain and plain != name else REVERSE + name, source
        for other, known in made.items():
            if known == turned:
                raise InputError(f"the reversed edges of {other} and {source, name, end} would both be {turned}")
        made[source, name, end] = turned
    return made
