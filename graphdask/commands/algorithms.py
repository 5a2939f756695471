"""The commands that `run` and `profile` have: of the registered algorithms, with options made of their signatures, and
of programs in files of the caller's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import click

from graphdask.commands import program_file
from graphdask.commands.ids import vertex, weights_of
from graphdask.commands.labels import labels_of, labels_option
from graphdask.commands.options import allocation_option, checkpoint_options
from graphdask.interface.registry import SIGNATURE, Algorithm, Option, algorithm_named, declared, with_command

KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool}
"""Of parameters, by their annotations; others take text."""

source_option = click.option(
    "--source", required=True, multiple=True, metavar="ID", help="Vertex to start from, by the file; may be repeated."
)


@dataclass(frozen=True)
class Chosen:
    """An algorithm with its options."""

    algorithm: Algorithm
    own: Mapping[str, Any]

    @property
    def title(self) -> str:
        """`bfs from 7`."""
        command = self.algorithm.command
        return f"{command} from {', '.join(self.own['source'])}" if "source" in self.own else command

    @property
    def takes_weights(self) -> bool:
        """Whether it uses the weights of the edges."""
        return self.algorithm.weights and self.own.get("weighted") is not False

    def start(self, G: Any, **where: Any) -> Any:
        """Run it."""
        import graphdask

        own = dict(self.own)
        if "source" in own:
            given = [vertex(each, G) for each in own["source"]]
            own["source"] = given[0] if len(given) == 1 else given
        if "active" in own:
            own["active"] = [vertex(each, G, "active") for each in own["active"]] or None
        if "init" in own:
            own["init"] = own["init"].of_graph(G)
        if "targets" in own:
            own["targets"] = [vertex(each, G, "targets") for each in own["targets"]] or None
        if "labels" in own:
            own["labels"] = labels_of(own["labels"], G)
        if "personalization" in own:
            own["personalization"] = weights_of(own["personalization"], G)
        call, start = getattr(graphdask, self.algorithm.name), self.algorithm.start
        return call(G, **own, **where) if start is None else start(call, G, **own, **where)

    def summary(self, result: Any) -> dict[str, Any]:
        """The answer in numbers."""
        given = self.own.get("source", ())
        source = {"source": given[0] if len(given) == 1 else list(given)} if given else {}
        return source | self.algorithm.summary(result)


class Algorithms(click.Group):
    """A group with a command for each registered algorithm, which calls `execute(Chosen(...), **shared options)`.

    A command is made, and its algorithm imported, when it is first asked for. `FILE.py:NAME` is a command too, which
    runs the program of that file.
    """

    execute: Callable[..., None]
    shared: Callable[[Any], Any]
    """The options that all commands of the group have, as a decorator."""

    @property
    def commands(self) -> MutableMapping[str, click.Command]:  # type: ignore[override]
        """The commands by name."""
        return {each.command: self._command(each.name) for each in declared().values()}

    @commands.setter
    def commands(self, given: MutableMapping[str, click.Command]) -> None:
        self._made = dict(given)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(each.command for each in declared().values())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if program_file.is_named(name):
            return self._made_of(name, program_file.HELP, program_file.OPTIONS, None)
        found = with_command(name)
        return None if found is None else self._command(found.name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted((each.command, each.help) for each in declared().values()))

    def _command(self, function: str) -> click.Command:
        algorithm = algorithm_named(function)
        assert algorithm is not None
        if algorithm.command not in self._made:
            self._made[algorithm.command] = self._new(algorithm)
        return self._made[algorithm.command]

    def _new(self, algorithm: Algorithm) -> click.Command:
        return self._made_of(algorithm.command, algorithm.help, options_of(algorithm), algorithm)

    def _made_of(
        self, name: str, help: str, options: dict[str, Callable[[Any], Any]], algorithm: Algorithm | None
    ) -> click.Command:
        """A command with these options of its own; without an algorithm, the file of `name` is loaded when called."""
        execute = self.execute

        def call(**given: Any) -> None:
            own = {each: given.pop(each) for each in options}
            chosen = (algorithm, own) if algorithm is not None else program_file.loaded(name, own)
            execute(Chosen(*chosen), **given)

        function = self.shared(call)
        for option in reversed(options.values()):
            function = option(function)
        made = click.command(name, help=help, short_help=help)(function)
        made.params += [each for each in self.params if each.name == "debug"]
        return made


def options_of(algorithm: Algorithm) -> dict[str, Callable[[Any], Any]]:
    """The options of an algorithm by the names of its parameters, as click's decorators."""
    parameters = inspect.signature(algorithm.function).parameters
    needed = {"source": source_option, "labels": labels_option}
    found = {name: option for name, option in needed.items() if name in parameters}
    found |= {name: _option(name, option, parameters.get(name)) for name, option in algorithm.options.items()}
    shared = {"allocation": allocation_option, **checkpoint_options}
    return found | {name: option for name, option in shared.items() if name in parameters}


def _option(name: str, option: Option, parameter: inspect.Parameter | None) -> Callable[[Any], Any]:
    """The option of a parameter; None for an option that is none, of which `Option` says all."""
    annotation = "" if parameter is None else str(parameter.annotation)
    kind: Any = option.kind or KINDS.get(annotation.removesuffix(" | None"), str)
    default = option.default
    if default is SIGNATURE:
        default = None if parameter is None else parameter.default
    on, _, off = (option.spelling or name).replace("_", "-").partition("/")
    spelling = f"--{on}/--{off}" if off else f"--{on}"
    if kind is bool:
        return click.option(spelling, name, is_flag=True, default=default, help=option.help)
    if option.choices:
        kind = click.Choice(option.choices)
    elif option.least is not None:
        kind = click.IntRange(option.least)
    if option.multiple:
        return click.option(spelling, name, multiple=True, metavar=option.metavar, help=option.help)
    return click.option(
        spelling, name, type=kind, default=default, show_default=default is not None, metavar=option.metavar,
        help=option.help,
    )  # fmt: skip
