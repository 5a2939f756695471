"""`FILE.py:NAME` in place of an algorithm: the gd.Program of this name in a Python file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click

from graphdask.commands import python_file
from graphdask.commands.first_states import FirstStates
from graphdask.commands.options import Whole, checkpoint_options
from graphdask.display import terminal
from graphdask.errors import InputError
from graphdask.interface.registry import Algorithm

HELP = """Run a program of your own: a gd.Program that stands in a Python file.

The columns of the answer are the fields of its state.
"""

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "active": click.option("--active", multiple=True, metavar="ID", help="Vertex that sends in the first superstep, by "
                           "the file; may be repeated.  [default: all]"),
    "init": click.option("--init", multiple=True, metavar="FIELD:ID=VALUE", help="First state of a vertex, such as "
                         "distance:0=0.0; or a file of vertices and fields, as --output writes it; may be repeated.  "
                         "[default: the program's]"),
    "max_supersteps": click.option("--max-supersteps", type=Whole(min=0), help="End after so many supersteps.  "
                                   "[default: the program's]"),
    **checkpoint_options,
}  # fmt: skip
"""Arguments of `gd.run` by their names."""


def is_named(where: str) -> bool:
    """Whether a text names a Python file, and perhaps something in it."""
    return python_file.split(where)[0].suffix == ".py"


def loaded(where: str, own: Mapping[str, Any]) -> tuple[Algorithm, dict[str, Any]]:
    """The program as an algorithm, and its arguments.

    Raises
    ------
    InputError
        For a file or a Program that there is not, and first states that the program has not.
    FunctionError
        For what the file raises, or has, that is no Program; with its line.
    """
    from graphdask.program.definition import Definition
    from graphdask.program.program import Program
    from graphdask.program.result import ProgramResult
    from graphdask.program.run import run

    path, name = python_file.split(where)
    if not name:
        known = python_file.instances_in_words(python_file.defined(path), Program)
        raise InputError(f"{path}: {known}; name a Program, {path}:NAME")
    program: Program = python_file.named(path, name, Program, "gd.Program")
    if program.until is not None:
        program = replace(program, until=python_file.ByValue(program.until, path.absolute().parent))
    algorithm = Algorithm(
        run, ProgramResult, f"{path.name}:{name}", HELP, summary=_summary, words=_in_words,
        weights=Definition.of(program, "float").reads_weights, start=partial(_start, program),
    )  # fmt: skip
    return algorithm, {**own, "init": FirstStates.of(own["init"], program)}


def _start(program: Any, run: Any, G: Any, **arguments: Any) -> Any:
    """Call `gd.run` with a program."""
    return run(G, program, **arguments)


def _summary(result: Any) -> dict[str, Any]:
    """Supersteps, aggregates, and of each field the least and the greatest value, or how many are true."""
    state: dict[str, Any] = {}
    for name in result.columns:
        values = getattr(result, name)
        if values.dtype.kind == "b":
            state[name] = {"true": values.sum()}
        elif len(values):
            state[name] = {"least": values.min(), "greatest": values.max()}
    return {"supersteps": result.iterations, "aggregates": result.aggregates, "state": state}


def _in_words(found: Mapping[str, Any]) -> str:
    words = [terminal.count(found["supersteps"], "superstep")]
    for name, facts in found["state"].items():
        one = "least" not in facts
        words.append(f"{name} {facts['true']:,} true" if one else f"{name} {facts['least']:,.6g} to "
                     f"{facts['greatest']:,.6g}")  # fmt: skip
    words += [f"{name} {value:,.6g}" for name, value in found["aggregates"].items()]
    return "; ".join(words)
