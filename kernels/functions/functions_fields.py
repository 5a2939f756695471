"""The parameters and fields that kernels/functions*.{cu,py} pass to each function that a caller writes.

A field is an expression in the parameters and in a pack `a`, the same text in Python and in CUDA C++. So a function
computes only the fields that it reads. A column of the graph is a field too, `OF_COLUMN_NAME`: the edge's, or that of
its source, of its destination or of a vertex. OF is one of the roles in `columns` of a hook, and COLUMN the number of
the array in the pack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

COLUMNS = 4
"""Columns of edges, and of vertices, that the functions of a sampler or a program read at most."""
COLUMN = re.compile(r"(edge|source|destination|vertex)_column(\d*)_(\w+)")
"""The name of a field of a column: whose it is, the number of the array, and the name of the column."""
ROLES = ("edge", "destination")
"""Whose columns differ between the edges of a vertex."""


@dataclass(frozen=True)
class Hook:
    """A place in a family of kernels where a function of the caller is called."""

    parameters: Mapping[str, str]
    """Names and types in CUDA C++ of what the kernel hands over before its pack."""
    pack: str
    """The fields of that which it hands over are those of this pack (functions_pack.py)."""
    fields: Mapping[str, tuple[str, str]]
    """Of each field the type, `int`, `float` or `bool`, and what it is."""
    failure: str = "failure"
    """Where a failure is stored: the last parameter, or a field of the pack."""
    assumed: str = ""
    """A field that takes a search. Walks call HOOK_if too, which receives its value; ASKS_NEAR, in CUDA C++
    GD_ASKS_NEAR, says whether the function asks for it."""
    searched: str = ""
    """The parameter that only this field needs, which HOOK_if is not given."""

    @property
    def columns(self) -> dict[str, str]:
        """Whose columns the function reads, by how that is written after its parameter."""
        return {"": "edge", "source": "source", "destination": "destination"} if self.is_of_edges else {"": "vertex"}

    @property
    def is_of_edges(self) -> bool:
        """Whether the function is given an edge."""
        return "edge" in self.parameters

    def expression(self, field: str) -> str:
        """The expression of a field."""
        found = COLUMN.fullmatch(field)
        if field in self.fields or found is None:
            return self.fields[field][1]
        role, number, _ = found.groups()
        return f"a.edge_column{number}[edge]" if role == "edge" else f"a.vertex_column{number}[{role}]"

    @property
    def parameters_if(self) -> dict[str, str]:
        """Of HOOK_if."""
        rest = {name: kind for name, kind in self.parameters.items() if name not in (self.searched, "failure")}
        return {**rest, "assumed": "bool", "failure": self.parameters["failure"]}

    @property
    def types(self) -> dict[str, str]:
        """The type of each field."""
        return {name: kind for name, (kind, _) in self.fields.items()}


_I64 = "long long"
_VERTEX = {"vertex": _I64, "degree": _I64, "depth": _I64, "instance": _I64, "place": _I64}
_OF_VERTEX = {
    "id": ("int", "caller_id(a.names, a.base, vertex)"),
    "degree": ("int", "degree"),
    "depth": ("int", "depth"),
    "instance": ("int", "instance"),
    "place": ("int", "place"),
}
_EDGE = {
    "edge": _I64,
    "row": _I64,
    "slot": _I64,
    "source": _I64,
    "destination": _I64,
    "previous": _I64,
    "near": _I64,
    "depth": _I64,
    "instance": _I64,
    "seed": _I64,
}
_OF_EDGE = {
    "source": ("int", "caller_id(a.names, a.base, source)"),
    "destination": ("int", "caller_id(a.names, a.base, destination)"),
    "weight": ("float", "a.weights[edge]"),
    "source_degree": ("int", "row_length(a.indptr, row)"),
    "destination_degree": ("int", "length_of(a.indptr, a.degrees, a.mapped, slot)"),
    "previous": ("int", "caller_id(a.names, a.base, previous)"),
    "destination_is_previous": ("bool", "destination == previous"),
    "destination_near_previous": ("bool", "has_edge(a.near_indptr, a.near_indices, near, destination)"),
    "depth": ("int", "depth"),
    "instance": ("int", "instance"),
    "seed": ("int", "caller_id(a.names, a.base, seed)"),
}
OF_EDGE = frozenset(
    {"destination", "weight", "destination_degree", "destination_is_previous", "destination_near_previous"}
)
"""Fields that differ between the edges of a vertex; a function that reads none of them is constant over them."""
TRACED = frozenset({"previous", "destination_is_previous", "destination_near_previous"})
"""Fields that depend on the vertex from which that of an edge was reached."""
OF_WALK = frozenset(
    {"previous", "destination_is_previous", "destination_near_previous", "depth", "instance", "seed", "random"}
)
"""Fields that differ between visits of an edge; a function that reads none of them returns the same at each visit."""
_DRAWN = {"random": ("float", "random")}

_FAILURE = {"failure": "int *"}

HOOKS: dict[str, Hook] = {
    "vertex_bias": Hook({**_VERTEX, **_FAILURE}, "Names", _OF_VERTEX),
    "neighbor_size": Hook({**_VERTEX, "random": "double", **_FAILURE}, "Names", {**_OF_VERTEX, **_DRAWN}),
    "edge_bias": Hook(
        {**_EDGE, **_FAILURE}, "FunctionGraph", _OF_EDGE, assumed="destination_near_previous", searched="near"
    ),
    "update": Hook(
        {**_EDGE, "random": "double"}, "FunctionGraph", {**_OF_EDGE, **_DRAWN}, failure="a.failure_of_update"
    ),
}
"""`weight` is an `int` where the weights of the graph are."""


def differs_between_edges(fields: Set[str]) -> bool:
    """Whether one of the fields differs between the edges of a vertex."""
    found = (COLUMN.fullmatch(field) for field in fields - OF_EDGE)
    return bool(fields & OF_EDGE) or any(each is not None and each[1] in ROLES for each in found)
