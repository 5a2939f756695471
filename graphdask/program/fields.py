"""What the functions of a program may read, and where kernels find it: see `graphdask.program.program.Program`.

An expression is the same text in Python and in CUDA C++, in terms of the pack `a` (kernels/program/program_pack.py) and
of the slots `u` of the vertex that sends and `v` of the one that receives, and of the place `e` of the edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphdask.kernels.functions.functions_fields import COLUMN
from graphdask.program.translate import Field

OF_VERTICES = {"id": "int", "degree": "int", "in_degree": "int"}
"""Of each vertex, besides its state."""


@dataclass(frozen=True)
class Place:
    """Where a field is found."""

    field: Field
    expression: str
    """In both languages."""
    role: str
    """`source`, `destination`, `vertex`, `weight`, `edge` (a column), `run` or `message`."""
    reads: str = ""
    """The field of the state, which of `OF_VERTICES`, or which column."""


Places = Mapping[str, Place]
"""By the path of attributes that a function reads."""


def of_edge(state: Mapping[str, str], weight: str) -> dict[str, Place]:
    """What `send` reads of an edge."""
    found = {}
    for end, slot in (("source", "u"), ("destination", "v")):
        for name, place in _of_vertex(state, slot, end, f"{end}_"):
            found[f"{end}.{name}"] = place
    found["weight"] = Place(Field("weight", weight), "a.weights[e]", "weight")
    found["superstep"] = Place(Field("superstep", "int"), "a.superstep", "run")
    return found


def of_vertex(state: Mapping[str, str], aggregates: Mapping[str, str]) -> dict[str, Place]:
    """What `apply` reads of a vertex."""
    found = dict(_of_vertex(state, "v", "vertex", ""))
    found["superstep"] = Place(Field("superstep", "int"), "a.superstep", "run")
    found["received"] = Place(Field("received", "int"), "a.received[v]", "message", "received")
    for k, (name, kind) in enumerate(aggregates.items()):
        where = f"a.floats[{k}]" if kind == "float" else f"a.integers[{k}]"
        found[name] = Place(Field(f"aggregate_{name}", kind), where, "run")
    return found


def of_start() -> dict[str, Place]:
    """What a function for the first state reads of a vertex."""
    return dict(_of_vertex({}, "v", "vertex", ""))


def of_column(field: Field) -> Place:
    """Where a column of the graph is found: that of an edge, of its ends, or of a vertex."""
    found = COLUMN.fullmatch(field.name)
    assert found is not None
    role, number, name = found.groups()
    if role == "edge":
        return Place(field, f"a.edge_column{number}[e]", role)
    return Place(field, f"a.vertex_column{number}[{'u' if role == 'source' else 'v'}]", role, f"column {name}")


def of_change(state: Mapping[str, str]) -> tuple[dict[str, Place], dict[str, Place]]:
    """What the function of an aggregate reads of a vertex before and after it changed."""
    old = {name: Place(Field(f"old_{name}", kind), f"old{i}", "vertex") for i, (name, kind) in enumerate(state.items())}
    new = {name: Place(Field(f"new_{name}", kind), f"new{i}", "vertex") for i, (name, kind) in enumerate(state.items())}
    new |= of_start()
    return old, new


def of_message(fields: Mapping[str, str], positions: bool) -> dict[str, Place]:
    """What `apply` reads of a message; `positions` says that its fields have no names."""
    found = {}
    for i, (name, kind) in enumerate(fields.items()):
        path = "" if not name else f"[{i}]" if positions else name
        found[path] = Place(Field(f"message_{i}", kind), f"a.message{i}[v]", "message")
    return found


def _of_vertex(state: Mapping[str, str], slot: str, role: str, prefix: str) -> Iterator[tuple[str, Place]]:
    for i, (name, kind) in enumerate(state.items()):
        yield name, Place(Field(f"{prefix}state_{name}", kind), f"a.state{i}[{slot}]", role, name)
    yield "id", Place(Field(f"{prefix}id", "int"), f"program_name(a.names, a.base, a.ids[{slot}])", role, "id")
    for name in ("degree", "in_degree"):
        array = "out_degree" if name == "degree" else name
        yield name, Place(Field(f"{prefix}{name}", "int"), f"a.{array}[{slot}]", role, name)
