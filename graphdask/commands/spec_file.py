"""A sampler of the caller's own from a Python file: a Spec that stands there, or the functions of one.

The file is run as `python FILE` would run it, with its folder first where modules are looked for. What is wrong with
it is said with file, line and what stands there.
"""

from __future__ import annotations

import ast
import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import Number, Numbers, Whole
from graphdask.commands.paths import TEXT
from graphdask.errors import FunctionError, InputError

FUNCTIONS = ("vertex_bias", "edge_bias", "update", "neighbor_size")
"""What a file without a Spec may define: arguments of Spec."""

spec_argument = click.argument("spec", metavar="SPEC", type=TEXT)

spec_options = (
    click.option("--depth", type=Whole(min=0), help="Steps.  [default: one for each of --neighbor-size; the Spec's]"),
    click.option("--neighbor-size", type=Numbers(), metavar="K",
                 help="Edges to choose, in all steps or in each: 10 or 10,5; -1 for all.  [default: 1]"),
    click.option("--frontier-size", type=Whole(min=1), metavar="K",
                 help="Entries of the pool that a step takes.  [default: all]"),
    click.option("--per", type=click.Choice(["vertex", "layer"]),
                 help="Whether edges are for each vertex, or for all of a step together.  [default: vertex]"),
    click.option("--replace/--distinct", default=None,
                 help="Whether an edge may be chosen again in a step.  [default: distinct]"),
    click.option("--neighbors", "direction", type=click.Choice(["out", "in"]),
                 help="Along the edges' direction, or against it.  [default: out]"),
    click.option("--edge-bound", type=Number(), metavar="NUMBER", help="A number that no bias of an edge exceeds."),
    click.option("--select", type=click.Choice(["auto", "inverse", "alias", "rejection", "reservoir", "repeated",
                                                "updated", "bipartite"]),
                 help="How edges are chosen by edge_bias; the law is the same.  [default: auto]"),
    click.option("--revisit/--visit-once", default=None,
                 help="Whether a vertex may come into a pool again.  [default: with update, and in walks]"),
)  # fmt: skip
"""Arguments of Spec."""

SPEC_NAMES = (
    "depth", "neighbor_size", "frontier_size", "per", "replace", "direction", "edge_bound", "select", "revisit",
)  # fmt: skip


def spec_of(where: str, given: Mapping[str, Any]) -> Any:
    """The Spec that `FILE.py:NAME` names; or, of `FILE.py`, that of its functions and of the options.

    Raises
    ------
    InputError
        For a file or a Spec that there is not, and options that do not go together.
    FunctionError
        For what the file raises, or has, that is none; with its line.
    """
    from graphdask.sample.spec import Spec

    head, colon, name = where.rpartition(":")
    path = Path(head if colon and not where.endswith(".py") else where)
    name = name if path != Path(where) else ""
    if path.suffix != ".py":
        raise InputError(f"{where!r} is no sampler: give a Python file, FILE.py, or a Spec of one, FILE.py:NAME")
    found = _run(path)
    options = {option: value for option, value in given.items() if value is not None}
    if name:
        spec = _named(path, name, found)
        for option in options:
            if option != "depth":
                raise InputError(
                    f"--{option.replace('_', '-')} is for the functions of a file; {where} is a whole Spec: change it "
                    f"there, or name the file alone"
                )
        return replace(spec, **options)
    functions = {each: found[each] for each in FUNCTIONS if each in found}
    if not functions:
        raise InputError(
            f"{path} has none of the functions {', '.join(FUNCTIONS)}; it has {_defined(found)}. Define one, or name a "
            f"Spec: {path}:NAME"
        )
    sizes = options.get("neighbor_size")
    if sizes and "neighbor_size" in functions:
        raise FunctionError(
            "neighbor_size is there already, so leave --neighbor-size out", *_place(path, "neighbor_size")
        )
    if sizes and len(sizes) == 1:
        options["neighbor_size"] = sizes[0]
    if "depth" not in options and not (sizes and len(sizes) > 1):
        raise InputError("give --depth, how many steps there are; or --neighbor-size with a number for each: 10,5")
    return Spec(**functions, **options)


def _named(path: Path, name: str, found: Mapping[str, Any]) -> Any:
    from graphdask.sample.spec import Spec

    if name not in found:
        specs = [each for each, value in found.items() if isinstance(value, Spec)]
        there = f"its Specs are {', '.join(specs)}" if specs else f"it has {_defined(found)}"
        raise InputError(f"{path} has no {name!r}; {there}")
    if not isinstance(found[name], Spec):
        kind = type(found[name]).__name__
        raise FunctionError(f"{name} is a {kind}, not a gd.sample.Spec", *_place(path, name))
    return found[name]


def _defined(found: Mapping[str, Any]) -> str:
    names = [name for name in found if not name.startswith("_")]
    return ", ".join(names) if names else "nothing"


def _run(path: Path) -> dict[str, Any]:
    """What a file defines."""
    from graphdask.io._open import existing_file

    text = str(existing_file(path).absolute())
    with _looked_for_in(str(path.absolute().parent)):
        try:
            return runpy.run_path(text, run_name=path.stem)
        except FunctionError:
            raise
        except SyntaxError as error:
            raise FunctionError(
                f"{error.msg} (SyntaxError)", error.filename, error.lineno, (error.text or "").strip()
            ) from None
        except (Exception, SystemExit) as error:
            frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == text]
            line = frames[-1].lineno if frames else None
            reason = f"raises {type(error).__name__}: {error}"
            raise FunctionError(reason, text, line, frames[-1].line if frames else None) from None


@contextmanager
def _looked_for_in(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _place(path: Path, name: str) -> tuple[str, int | None, str | None]:
    """Where a file defines a name at last."""
    text = path.read_bytes()
    lines = [
        node.lineno
        for node in ast.parse(text).body
        if any(
            getattr(each, "name", None) == name
            or (isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store))
            or (isinstance(each, ast.alias) and (each.asname or each.name) == name)
            for each in ([node] if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.walk(node))
        )
    ]
    if not lines:
        return str(path.absolute()), None, None
    return str(path.absolute()), lines[-1], text.decode(errors="replace").splitlines()[lines[-1] - 1]
