"""Fields of a user's function: what the attributes and items of its parameters stand for.

A path is how a field is written after the parameter: `source.distance` for `e.source.distance`, `[0]` for `m[0]`, and
the empty text where the parameter itself is a number. A path that ends in `*` stands for every other name at its place:
columns of a graph that is not known yet, or that does not have them.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphdask.program._function_source import FunctionSource


@dataclass(frozen=True)
class Field:
    """What a path of attributes stands for."""

    name: str
    """An identifier, unique in the function, whose argument is `f_NAME`."""
    type: str
    """`int`, `float` or `bool`."""
    refused: str = ""
    """Why a function may not read it; empty where it may."""

    def called(self, name: str) -> Field:
        """The field of a name, of one whose path ends in `*`."""
        return replace(self, name=f"{self.name}_{name}")


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
        self.wild = {text[:-1]: field for text, field in self.known.items() if text.endswith(".*")}
        """What stands for all other names, by the text before them."""
        self.known = {text: field for text, field in self.known.items() if not text.endswith(".*")}
        self.met: dict[str, Field] = {}
        """The fields that were found so, by their texts."""
        self.aliases: dict[str, list[str]] = {}
        """What local names stand for that were assigned a parameter, or a record of it such as `e.source`."""

    def find(self, node: ast.expr) -> Field | None:
        """Return the field that an expression reads; None if it does not begin with a parameter.

        Raises
        ------
        FunctionError
            If the parameter has no such field, or it may not be read.
        """
        texts = self._texts(node)
        if not texts:
            return None
        text = texts[-1]
        if text in self.known:
            return self._allowed(node, self.known[text])
        within = next((known for known in self.known if known.startswith((f"{text}.", f"{text}["))), None)
        if within is not None:
            self.source.fail(node, f"{text} is used as a value: read one of its fields, such as {within}")
        wild = self.wild.get(text[: -len(node.attr)]) if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and wild is not None and not wild.refused:
            return self.met.setdefault(text, wild.called(node.attr))
        number = None if wild else next((owner for owner in texts if owner in self.known), None)
        if number is not None and number == texts[0]:
            self.source.fail(node, f"{number} is a number and has no field {text}: write {number} alone")
        if number is not None:
            self.source.refuse(node, f"the attribute {node.attr}" if isinstance(node, ast.Attribute) else "indexing")
        near = self._near(text)
        hint = f", did you mean {near}?" if near else "."
        fields = ", ".join(known for known, field in self.known.items() if not field.refused) or "none"
        more = f". {wild.refused}" if wild is not None else ""
        self.source.fail(node, f"there is no field {text}{hint} Fields: {fields}{more}")

    def record(self, node: ast.expr) -> list[str] | None:
        """Return the texts of a parameter, or of what has fields such as `e.source`; None for all else."""
        texts = self._texts(node)
        if not texts or texts[-1] in self.known:
            return None
        return texts if any(known.startswith((f"{texts[-1]}.", f"{texts[-1]}[")) for known in self.known) else None

    def _allowed(self, node: ast.expr, field: Field) -> Field:
        if field.refused:
            self.source.fail(node, f"{ast.unparse(node)}: {field.refused}")
        return field

    def _texts(self, node: ast.expr) -> list[str]:
        """`["e", "e.source", "e.source.distance"]` for the last of these; empty if no parameter begins it."""
        if isinstance(node, ast.Name):
            return [node.id] if node.id in self.source.parameters else self.aliases.get(node.id, [])
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
        for known, field in self.known.items():
            if field.refused or text.startswith(f"{known}."):
                continue
            if "[" not in known and known.rpartition(".")[0] == owner:
                beside[known.rpartition(".")[2]] = known
            elif known.partition(".")[0] == parameter:
                paths[known.partition(".")[2]] = known
        elsewhere = next((other for other in paths if other.rpartition(".")[2] == name), path)
        for near, among, alike in ((name, beside, 0.4), (elsewhere, paths, 0.5)):
            found = difflib.get_close_matches(near, among, 1, alike)
            if found:
                return among[found[0]]
        return None


def _joined(owner: str, path: str) -> str:
    """How a path is written after its parameter."""
    return f"{owner}.{path}" if path and not path.startswith("[") else f"{owner}{path}"
