"""The run of a vertex program repeated from its first states, and its result compared bit by bit, distributed.

A run that pushed its messages is repeated by pulling them, if the partition has the edges for that: each vertex then
goes over its edges and combines the messages of those that are active, by other kernels and another exchange. A run
that pulled is repeated as it was: the order in which floats are added belongs to the answer. So every wrong value of
the result is found, but not what the functions or their translation do wrong twice.

There is no shorter proof that holds for all programs. Where one more superstep from the result changes something, the
result may be right: a vertex may accept a message that it rejected before its state changed. And a result that no
superstep changes may be wrong, as distances that are too small for any edge to improve.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.program.definition import Definition
from graphdask.program.primitive import VertexProgram
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


class _Pulled(Definition):
    """The same functions, whose messages are pulled."""

    pushes = False  # type: ignore[assignment]


class _Again(VertexProgram):
    """The program, once more beside its result."""

    beside = 0
    """Bytes of the result."""

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self.beside + super().memory(part, allocation)


@verifies(VertexProgram)
def verify(context: RankContext, part: Part, primitive: VertexProgram, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    again = repeated(part, primitive)
    again.beside = sum(column.nbytes for column in result.columns.values())
    found = run_primitive(context.comm, part, again, context.environment("selective"))
    return differing(context, part, primitive, result, found)


def differing(
    context: RankContext, part: Part, primitive: VertexProgram, result: RankResult, found: RankResult
) -> Violation | None:
    """Return this rank's first violation: what the same program found otherwise for the vertices `part.ids`."""
    violations = []
    for each in primitive.definition.state:
        wrong = _bits(found.columns[each.name]) != _bits(result.columns[each.name])
        violations.append(first_where(part, wrong, f"vertex {{vertex}} has another {each.name} when it is run again"))
    mine = min((violation for violation in violations if violation is not None), default=None)
    if first_of_all(context, mine):
        return mine
    ordered = result.values.get("ordered") or found.values.get("ordered")
    for name in ("aggregates",) if ordered else ("iterations", "aggregates"):
        said, there = (_braced(one.values[name]) for one in (result, found))
        if said != there:
            return Violation(-1, -1, f"{name}: the result says {said}, and it is {there} when it is run again")
    return None


def repeated(part: Part, primitive: VertexProgram) -> _Again:
    """The program that is to give the same, over a partition."""
    of = primitive.definition
    has_columns = all(kind == "vertices" for kind, _ in of.columns) or not primitive.directed
    if has_columns and of.pushes and (not primitive.directed or of.direction == "in" or part.inward is not None):
        of = _Pulled(**{each.name: getattr(of, each.name) for each in fields(of)})
    return _Again(of, *primitive.arguments[1:])


def _bits(column: Any) -> Any:
    return column.view(np.dtype(f"u{column.dtype.itemsize}"))


def _braced(value: Any) -> str:
    """As text that `str.format` gives back."""
    return repr(value).replace("{", "{{").replace("}", "}}")
