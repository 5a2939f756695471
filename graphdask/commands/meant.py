"""What was meant by a command or an option that there is not, as the command line's errors say it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from graphdask.interface.registry import declared
from graphdask.interface.suggest import meant, meant_argument, meant_function

COMMANDS = {
    "generate.erdos_renyi": "er",
    "generate.preferential_attachment": "pa",
    "generate.rmat": "rmat",
    "sample.metropolis_hastings": "metropolis-hastings",
    "sample.neighbors": "neighbors",
    "sample.node2vec": "node2vec",
    "sample.personalized_pagerank": "pagerank",
    "sample.random_edges": "edges",
    "sample.random_nodes": "nodes",
    "sample.random_walk": "walk",
}
"""How the command line calls functions; `commands` has the algorithms too."""

GROUPS = ("run", "sample", "generate")
"""Commands whose own commands may be given without them."""


def commands() -> dict[str, str]:
    """How the command line calls functions."""
    return {each.name: each.command for each in declared().values()} | COMMANDS


def suggestion(error: click.UsageError) -> str | None:
    """What a usage error says, with what was meant, where it is of a name that there is not."""
    ctx = error.ctx
    if ctx is None:
        return None
    if isinstance(error, click.NoSuchOption):
        return _ended(f"No such option {error.option_name!r}", _option(error.option_name, ctx.command.get_params(ctx)))
    unknown = re.match(r"No such command '(.*?)'", error.message)
    if unknown is None or not isinstance(ctx.command, click.Group):
        return None
    return _ended(f"No such command {unknown[1]!r}", _command(unknown[1], ctx))


def _ended(text: str, found: str | None) -> str:
    return text if found is None else f"{text}; did you mean {found}?"


def _option(given: str, parameters: Iterable[click.Parameter]) -> str | None:
    """The option that is meant, as it is written."""
    options = {
        text.lstrip("-").replace("-", "_"): text
        for parameter in parameters
        if isinstance(parameter, click.Option)
        for text in (*parameter.opts, *parameter.secondary_opts)
    }
    found = meant_argument(given.lstrip("-").replace("-", "_"), options)
    return None if found is None else options[found]


def _command(given: str, ctx: click.Context) -> str | None:
    """The command that is meant, as it is typed; where it is one of another group, with that."""
    root = ctx.find_root()
    groups = [(ctx.command, ctx.command_path)]
    if ctx is root:
        for name in GROUPS:
            command = root.command.get_command(root, name) if isinstance(root.command, click.Group) else None
            groups.append((command, f"{ctx.command_path} {name}"))  # type: ignore[arg-type]
    name = given.lower().replace("-", "_")
    function = meant_function(name)
    there = [(path, group.list_commands(ctx)) for group, path in groups if isinstance(group, click.Group)]
    for path, names in there:
        for each in (name.replace("_", "-"), commands().get(function, function), *_called(name)):
            if each in names:
                return f"{path} {each}"
    for path, names in there:
        near = {each.replace("-", "_"): each for each in names} | {
            inner.rpartition(".")[2]: each for inner, each in commands().items() if each in names
        }
        found = meant(name, near, 0.65 if path == ctx.command_path else 0.8)
        if found is not None:
            return f"{path} {near[found]}"
    return None


def _called(name: str) -> list[str]:
    """How the command line calls a function of this name, in whichever module it is."""
    return [command for function, command in commands().items() if function.rpartition(".")[2] == name]
