"""A sampler of the caller's own from a Python file: a Spec that stands there, or the functions of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from graphdask.commands import python_file
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

    path, name = python_file.split(where)
    if path.suffix != ".py":
        raise InputError(f"{where!r} is no sampler: give a Python file, FILE.py, or a Spec of one, FILE.py:NAME")
    options = {option: value for option, value in given.items() if value is not None}
    if name:
        spec = python_file.named(path, name, Spec, "gd.sample.Spec")
        for option in options:
            if option != "depth":
                raise InputError(
                    f"--{option.replace('_', '-')} is for the functions of a file; {where} is a whole Spec: change it "
                    f"there, or name the file alone"
                )
        return replace(spec, **options)
    found = python_file.defined(path)
    functions = {each: found[each] for each in FUNCTIONS if each in found}
    if not functions:
        raise InputError(
            f"{path} has none of the functions {', '.join(FUNCTIONS)}; it has {python_file.in_words(found)}. Define "
            f"one, or name a Spec: {path}:NAME"
        )
    sizes = options.get("neighbor_size")
    if sizes and "neighbor_size" in functions:
        raise FunctionError(
            "neighbor_size is there already, so leave --neighbor-size out", *python_file.place(path, "neighbor_size")
        )
    if sizes and len(sizes) == 1:
        options["neighbor_size"] = sizes[0]
    if "depth" not in options and not (sizes and len(sizes) > 1):
        raise InputError("give --depth, how many steps there are; or --neighbor-size with a number for each: 10,5")
    return Spec(**functions, **options)
