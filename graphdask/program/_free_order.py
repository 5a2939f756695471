"""Programs whose answer does not depend on the order in which vertices send: the most promising may then go first.

A field keeps the least (or greatest) of all messages, and nothing else changes. The message along an edge grows with
that field of the vertex that sends, and is never better than it. So a run ends with the one fixed point that the first
states lead to, whichever vertices send first: an operator that is monotone on a lattice has it (Tarski). If the best
states are sent first, fewer vertices send states that become better later.

Source: Dong, Gu, Sun, Zhang: Efficient stepping algorithms and implementations for parallel shortest paths, SPAA 2021,
Section 3.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphdask.program._function_source import FunctionSource, outside, read
from graphdask.program._kept_field import calls, returned

ENDS = "source", "destination"
PLAIN = ast.Constant | ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp
"""Expressions that compute with nothing but their parts."""
MOST = 1 << 62
"""Integers beyond might not fit 64 bits when an edge is added, which is a failure that depends on the order."""


@dataclass(frozen=True)
class FreeOrder:
    """What a message adds to the field of the vertex that sends: `slope` times the weight of the edge, and `offset`."""

    slope: float = 0.0
    offset: float = 0.0
    alike: bool = False
    """Whether messages are the field itself, as labels are."""

    @property
    def reads_weights(self) -> bool:
        """Whether messages add weights, of which none may be negative."""
        return self.slope > 0

    def holds(self, weights: tuple[float, float], first: Any, vertices: int) -> bool:
        """Whether no message can be better than the state that is sent, nor too large for an integer.

        Parameters
        ----------
        weights : tuple of float
            The least and the greatest weight.
        first : array or None
            The first states of integers, which 64 bits must hold after a path over all vertices.
        vertices : int
        """
        if not self.slope:
            return True
        least, most = weights
        if not (least >= 0 and most >= least):
            return False
        if first is None:
            return True
        far = max((abs(int(each)) for each in (first.min(), first.max())), default=0) if len(first) else 0
        return self.slope * most + self.offset < math.inf and far + vertices * (self.slope * most + self.offset) < MOST


@dataclass(frozen=True)
class _Reading:
    """A `send` that is inspected."""

    source: FunctionSource
    field: str
    numbers: Mapping[str, float]
    """Around the function."""
    least: bool
    """Whether the field keeps the least message."""

    @property
    def edge(self) -> str:
        return self.source.parameters[0]

    def message(self, value: ast.expr) -> FreeOrder | None:
        """What a message adds to the field, or None if it is something else."""
        if self._is_field(value):
            return FreeOrder(alike=True)
        if isinstance(value, ast.IfExp) and _is_nothing(value.orelse) and self._is_free(value.test):
            return self.message(value.body)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add if self.least else ast.Sub):
            for state, added in ((value.left, value.right), (value.right, value.left))[: 2 if self.least else 1]:
                inner = self.message(state)
                more = None if inner is None else self._linear(added)
                if inner is not None and more is not None and min(more) >= 0:
                    return FreeOrder(inner.slope + more[0], inner.offset + more[1])
        if calls(value, "max" if self.least else "min"):
            assert isinstance(value, ast.Call)
            bound = [each for each in value.args if not self._is_free(each)]
            found = self.message(bound[0]) if len(bound) == 1 and len(value.args) == 2 else None
            return None if found is None else replace(found, alike=False)
        return None

    def _is_field(self, value: ast.expr) -> bool:
        """Whether it is e.source.FIELD."""
        return (
            isinstance(value, ast.Attribute)
            and value.attr == self.field
            and isinstance(value.value, ast.Attribute)
            and value.value.attr == "source"
            and _is_name(value.value.value, self.edge)
        )

    def _is_free(self, value: ast.expr) -> bool:
        """Whether it is made of numbers and of fields of the edge and its ends, without the field that is kept."""
        if isinstance(value, ast.Attribute):
            of = value.value
            if isinstance(of, ast.Attribute) and of.attr in ENDS:
                return value.attr != self.field and _is_name(of.value, self.edge)
            return value.attr not in (*ENDS, self.field) and _is_name(of, self.edge)
        if isinstance(value, ast.Name):
            return value.id in self.numbers
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and not value.keywords and all(map(self._is_free, value.args))
        parts = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
        return isinstance(value, PLAIN) and all(map(self._is_free, parts))

    def _linear(self, value: ast.expr) -> tuple[float, float] | None:
        """What multiplies the weight of the edge in it, and what is added; None if it is something else."""
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            return 0.0, float(value.value)
        if isinstance(value, ast.Name) and value.id in self.numbers:
            return 0.0, float(self.numbers[value.id])
        if isinstance(value, ast.Attribute) and value.attr == "weight" and _is_name(value.value, self.edge):
            return 1.0, 0.0
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Mult):
            left, right = self._linear(value.left), self._linear(value.right)
            if left is None or right is None:
                return None
            if isinstance(value.op, ast.Add):
                return left[0] + right[0], left[1] + right[1]
            if left[0] and right[0]:
                return None
            return left[0] * right[1] + right[0] * left[1], left[1] * right[1]
        return None


def free_order(send: Any, field: str, combine: str) -> FreeOrder | None:
    """What messages of a program add to the field that keeps the least (or greatest) of them; None if `send` cannot be
    seen to give messages that grow with it and are never better.

    It is seen of expressions such as `e.source.x`, `e.source.x + 2 * e.weight` for `min`, with `-` for `max`, and
    `max(e.source.x, ...)` for `min`, `min(e.source.x, ...)` for `max`; each also as `... if test else None` with a test
    that does not read the field. Where all edges add the same, the order in which vertices are reached is the best one
    already.
    """
    if not callable(send):
        return None
    source = read(send, "send(e)", 1)
    value = returned(source.tree)
    if value is None or outside(source.function) is None:
        return None
    found = _Reading(source, field, _numbers(source), combine == "min").message(value)
    return None if found is None or (found.offset and not found.slope) else found


def extent_of(weights: Any) -> tuple[float, float]:
    """The least and the greatest of the weights of a partition, as floats; NaN if one is."""
    return (float(weights.min()), float(weights.max())) if len(weights) else (0.0, 0.0)


def _numbers(source: FunctionSource) -> dict[str, float]:
    """The numbers around a function, by their names."""
    function = source.function
    cells = {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }
    names = {each.id for each in ast.walk(source.tree) if isinstance(each, ast.Name)} - set(source.parameters)
    found: dict[str, Any] = {name: cells.get(name, function.__globals__.get(name)) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_name(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name
