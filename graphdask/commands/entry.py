"""An algorithm as the command line offers it, and the commands that `run` and `profile` make of a table of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from graphdask.errors import InputError, VertexNotFound

Option = Callable[[Any], Any]


@dataclass(frozen=True)
class Entry:
    """An algorithm, as the command line offers it."""

    name: str
    help: str
    start: Callable[..., Any]
    """`start(G, exchange=, client=, **its own options)` gives the Result."""
    summary: Callable[[Any], dict[str, Any]]
    """The answer in numbers."""
    words: Callable[[dict[str, Any]], str]
    """The same in a line."""
    options: tuple[Option, ...] = ()
    """Its own, as click's decorators; each is an argument of `start`."""
    names: tuple[str, ...] = ()
    """Of those arguments. One that is called `source` is a vertex id, and part of the answer; `personalization` is
    texts of the form ID[=WEIGHT]."""
    weights: bool = False
    """Whether it uses the weights of the edges; not where its option `weighted` is off."""


@dataclass(frozen=True)
class Chosen:
    """An algorithm with its options."""

    entry: Entry
    own: Mapping[str, Any]

    @property
    def title(self) -> str:
        """`bfs from 7`."""
        return f"{self.entry.name} from {self.own['source']}" if "source" in self.own else self.entry.name

    @property
    def takes_weights(self) -> bool:
        """Whether it uses the weights of the edges."""
        return self.entry.weights and self.own.get("weighted") is not False

    def start(self, G: Any, **where: Any) -> Any:
        """Run it."""
        own = dict(self.own)
        if "source" in own:
            own["source"] = vertex(own["source"], G)
        if "personalization" in own:
            own["personalization"] = weights_of(own["personalization"], G)
        return self.entry.start(G, **own, **where)

    def summary(self, result: Any) -> dict[str, Any]:
        """The answer in numbers."""
        source = {"source": self.own["source"]} if "source" in self.own else {}
        return source | self.entry.summary(result)


def add_commands(group: click.Group, entries: Iterable[Entry], shared: Option, execute: Callable[..., None]) -> None:
    """Add to `group` a command for each algorithm, which calls `execute(chosen, **options that all share)`."""
    for entry in entries:
        group.add_command(_command(entry, shared, execute))


def _command(entry: Entry, shared: Option, execute: Callable[..., None]) -> click.Command:
    def call(**options: Any) -> None:
        own = {name: options.pop(name) for name in entry.names}
        execute(Chosen(entry, own), **options)

    function = shared(call)
    for option in reversed(entry.options):
        function = option(function)
    return click.command(entry.name, help=entry.help)(function)


def vertex(text: str, G: Any, option: str = "source") -> int | str:
    """A vertex id from the command line, as an option gave it: a number where the graph's ids are."""
    if not G.ids.are_numbers:
        return text
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise InputError(f"--{option} {text!r} is not a whole number, but the ids of this graph are")
    if abs(int(text)) >= 2**63:
        raise VertexNotFound(f"{option} {text} is not in the graph; {G.ids.describe()}")
    return int(text)


def weights_of(texts: Iterable[str], G: Any) -> dict[int | str, float] | None:
    """Weights by vertex, from texts `ID` or `ID=WEIGHT`; None where there are no texts."""
    weights: dict[int | str, float] = {}
    for text in texts:
        name, _, given = text.rpartition("=") if "=" in text else (text, "", "1")
        try:
            weight = float(given)
        except ValueError:
            raise InputError(f"--personalize {text!r} ends in {given!r}, which is no number; write ID=WEIGHT") from None
        key = vertex(name, G, "personalize")
        if key in weights:
            raise InputError(f"--personalize names the vertex {name} twice")
        weights[key] = weight
    return weights or None


def public(name: str) -> Callable[..., Any]:
    """A public function, found when it is called."""

    def start(G: Any, **options: Any) -> Any:
        import graphdask

        return getattr(graphdask, name)(G, **options)

    return start
