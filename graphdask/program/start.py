"""The states with which a run begins: those of an earlier result, and over them those that the caller gives.

States are kept by the name of the field: vertex numbers, or None for all vertices, and values as kernels hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, VertexNotFound, shown
from graphdask.partition.ids import VertexIds
from graphdask.program.definition import Definition
from graphdask.program.result import ProgramResult

States = dict[str, tuple[np.ndarray | None, np.ndarray]]


def states_of(ids: VertexIds, definition: Definition, start: Any) -> States:
    """The states of an earlier result at the vertices of a graph with these ids, which may have more vertices.

    Raises
    ------
    InputError
        If the result is of another kind, has other fields, or called vertices otherwise in functions that read ids.
    VertexNotFound
        For a vertex of the result that the graph has not.
    """
    if not isinstance(start, ProgramResult):
        raise InputError(f"start={shown(start)} is not the result of a gd.run")
    _check_fields(definition, start.primitive.definition)
    numbers = _numbers(ids, start.graph.ids)
    if definition.wants("id") and not np.array_equal(_names(start.graph.ids), _names(ids)[numbers]):
        raise InputError(
            "start= is of a graph whose functions call vertices by other numbers, because ids are strings or negative "
            "and new vertices stand before known ones; run from the beginning, or let functions not read id"
        )
    everywhere = len(numbers) == ids.count
    found: States = {}
    for field in definition.state:
        values = getattr(start, field.name).astype(field.stored, copy=False)
        found[field.name] = (None if everywhere else numbers), values
    return found


def over(base: States, given: States) -> States:
    """The states of `given`, and those of `base` for all other vertices."""
    found = dict(base)
    for name, (numbers, values) in given.items():
        if name not in base or numbers is None:
            found[name] = numbers, values
            continue
        known, before = base[name]
        if known is None:
            before = before.copy()
            before[numbers] = values
            found[name] = None, before
        else:
            rest = ~np.isin(known, numbers)
            found[name] = np.concatenate([known[rest], numbers]), np.concatenate([before[rest], values])
    return found


def _check_fields(definition: Definition, earlier: Definition) -> None:
    now, before = ({each.name: each.dtype for each in one.state} for one in (definition, earlier))
    for name, dtype in now.items():
        if name not in before:
            raise InputError(f"start= has no field {name}; its fields are {_listed(before)}")
        if before[name] != dtype:
            raise InputError(f"start= has the field {name} as {before[name]}, and the program has it as {dtype}")
    more = [name for name in before if name not in now]
    if more:
        raise InputError(f"start= has the field {more[0]} too, and the program has only {_listed(now)}")


def _listed(fields: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({dtype})" for name, dtype in fields.items())


def _numbers(ids: VertexIds, earlier: VertexIds) -> np.ndarray:
    """The present numbers of all vertices of an earlier graph, ascending."""
    names = earlier.values
    if len(names) and ids.count and ids.are_numbers == earlier.are_numbers:
        numbers = ids.find(names)
    else:
        numbers = np.full(len(names), -1, np.int64)
    if len(numbers) and numbers.min() < 0:
        name = names[np.flatnonzero(numbers < 0)[0]]
        first = shown(int(name) if earlier.are_numbers else name)
        raise VertexNotFound(f"start= has the vertex {first}, which is not in the graph; {ids.describe()}")
    return numbers


def _names(ids: VertexIds) -> np.ndarray:
    """What functions call vertices, in the order of their numbers."""
    table, base = ids.in_functions
    return np.arange(base, base + ids.count, dtype=np.int64) if table is None else table
