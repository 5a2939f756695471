"""Fields of a user's function: what the attributes and items of its parameters stand for.

A path is how a field is written after the parameter: `source.distance` for `e.source.distance`, `[0]` for `m[0]`, and
the empty text where the parameter itself is a number.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphdask.program._function_source import FunctionSource


@dataclass(frozen=True)
class Field:
    """What a path of attributes stands for."""

    name: str
    """An identifier, unique in the function, whose argument is `f_NAME`."""
    type: str
    """`int`, `float` or `bool`."""


class Fields:
    """The fields of one function, found by how it writes them.

    Parameters
    ----------
    source : FunctionSource
    parameters : sequence of mapping of str to Field
        For each parameter of the function, its fields by their paths.
    """

    def __init__(self, source: FunctionSource, parameters: Sequence[Mapping[str, Field]]):
        self.source = source
        self.known = {
            _joined(parameter, path): field
            for parameter, paths in zip(source.parameters, parameters, strict=True)
            for path, field in paths.items()
        }
        """The fields by their texts, such as `e.source.distance`."""

    def find(self, node: ast.expr) -> Field | None:
        """Return the field that an expression reads; None if it does not begin with a parameter.

        Raises
        ------
        FunctionError
            If the parameter has no such field.
        """
        texts = self._texts(node)
        if not texts:
            return None
        text = texts[-1]
        if text in self.known:
            return self.known[text]
        within = next((known for known in self.known if known.startswith((f"{text}.", f"{text}["))), None)
        if within is not None:
            self.source.fail(node, f"{text} is used as a value: read one of its fields, such as {within}")
        number = next((owner for owner in texts if owner in self.known), None)
        if number == texts[0]:
            self.source.fail(node, f"{number} is a number and has no field {text}: write {number} alone")
        if number is not None:
            self.source.refuse(node, f"the attribute {node.attr}" if isinstance(node, ast.Attribute) else "indexing")
        near = self._near(text)
        hint = f", did you mean {near}?" if near else "."
        self.source.fail(node, f"there is no field {text}{hint} Fields: {', '.join(self.known) or 'none'}")

    def _texts(self, node: ast.expr) -> list[str]:
        """`["e", "e.source", "e.source.distance"]` for the last of these; empty if no parameter begins it."""
        if isinstance(node, ast.Name):
            return [node.id] if node.id in self.source.parameters else []
        if isinstance(node, ast.Attribute):
            owners, path = self._texts(node.value), node.attr
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            owners, path = self._texts(node.value), f"[{node.slice.value}]"
        else:
            return []
        return [*owners, _joined(owners[-1], path)] if owners else []

    def _near(self, text: str) -> str | None:
        """The field that was meant, most likely: one beside it with a similar name, or another with a similar path."""
        parameter, _, path = text.partition(".")
        owner, _, name = text.rpartition(".")
        beside, paths = {}, {}
        for known in self.known:
            if "[" not in known and known.rpartition(".")[0] == owner:
                beside[known.rpartition(".")[2]] = known
            elif known.partition(".")[0] == parameter:
                paths[known.partition(".")[2]] = known
        for near, among, alike in ((name, beside, 0.4), (path, paths, 0.5)):
            found = difflib.get_close_matches(near, among, 1, alike)
            if found:
                return among[found[0]]
        return None


def _joined(owner: str, path: str) -> str:
    """How a path is written after its parameter."""
    return f"{owner}.{path}" if path and not path.startswith("[") else f"{owner}{path}"
