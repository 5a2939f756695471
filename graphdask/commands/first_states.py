"""First states of a program on the command line: `--init FIELD:ID=VALUE`, and files of vertices and fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.commands.columns import WRITERS, read_columns
from graphdask.commands.ids import vertex
from graphdask.errors import InputError

TRUTHS = {"true": True, "false": False, "1": True, "0": False}


@dataclass
class FirstStates:
    """What `--init` gave, checked as far as it can be without the graph."""

    points: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Values by field and by the text of the id."""
    files: list[Path] = field(default_factory=list)
    """Read when the kind of the graph's ids is known."""
    fields: tuple[str, ...] = ()
    """Of the state."""

    @classmethod
    def of(cls, texts: Iterable[str], program: Any) -> FirstStates:
        """From the texts; raises InputError for those that the program cannot have."""
        from graphdask.program.definition import state_of

        kinds = {each.name: each.kind for each in state_of(program.state)}
        found = cls(fields=tuple(kinds))
        for text in texts:
            if Path(text).suffix.lower() in WRITERS:
                from graphdask.io.opening import existing_file

                found.files.append(existing_file(text))
                continue
            name, colon, rest = text.partition(":")
            key, equals, value = rest.rpartition("=")
            if not colon or not equals:
                endings = ", ".join(WRITERS)
                raise InputError(f"--init {text!r} is neither FIELD:ID=VALUE nor the name of a file ({endings})")
            if name not in kinds:
                fields = ", ".join(kinds)
                raise InputError(f"--init {text!r}: there is no field {name!r} of the state; fields: {fields}")
            values = found.points.setdefault(name, {})
            if key in values:
                raise InputError(f"--init gives {name} of the vertex {key} twice")
            values[key] = _value(text, value, kinds[name])
        return found

    def of_graph(self, G: Any) -> dict[str, Any] | None:
        """As `gd.run` takes them; None for none."""
        found: dict[str, Any] = {}
        for path in self.files:
            columns = read_columns(path, names=not G.ids.are_numbers)
            ids = columns.pop("vertex")
            named = {name: values for name, values in columns.items() if name in self.fields}
            if not named:
                has, fields = ", ".join(columns) or "none", ", ".join(self.fields)
                raise InputError(f"--init {path}: no column ({has}) is a field of the state; fields: {fields}")
            numbers = G.ids.to_internal(ids, f"--init {path}: vertex")
            if len(np.unique(numbers)) != len(numbers):
                raise InputError(f"--init {path} names a vertex twice")
            for name, values in named.items():
                if name in found:
                    raise InputError(f"--init gives {name} by two files")
                if len(numbers) == G.num_vertices:
                    found[name] = np.empty(len(values), values.dtype)
                    found[name][numbers] = values
                else:
                    found[name] = dict(zip(ids.tolist(), values.tolist(), strict=True))
        for name, given in self.points.items():
            points = {vertex(key, G, "init"): value for key, value in given.items()}
            if len(points) < len(given):
                raise InputError(f"--init gives {name} of a vertex twice")
            known = found.get(name, {})
            if not isinstance(known, dict):
                known = dict(zip(G.vertex_ids.tolist(), known.tolist(), strict=True))
            found[name] = known | points
        return found or None


def _value(text: str, value: str, kind: str) -> Any:
    if kind == "bool":
        if value.lower() not in TRUTHS:
            raise InputError(f"--init {text!r} ends in {value!r}; write true or false")
        return TRUTHS[value.lower()]
    try:
        return int(value) if kind == "int" else float(value)
    except ValueError:
        what = "whole number" if kind == "int" else "number"
        raise InputError(f"--init {text!r} ends in {value!r}, which is no {what}; write FIELD:ID=VALUE") from None
