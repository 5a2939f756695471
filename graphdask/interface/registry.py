"""The registry of algorithms: a public function of `graphdask.algorithms` is declared once, where it is defined.

The decorator `algorithm` enters a function, and returns it as it is. What follows from the declaration:

- `gd.NAME`, and its place in `gd.__all__`,
- `graphdask run COMMAND` and `graphdask profile COMMAND`, with an option for each parameter that has an `Option`,
- the name that an error suggests for a name of another package,
- the tests that all algorithms have in common (tests/algorithms/test_common.py).

An algorithm is entered in no list. `declared` finds the declarations in the texts of the modules, `algorithms` imports
all of these modules, and `algorithm_named` only the one that defines the function. Another distribution names its
functions as entry points of the group `graphdask.algorithms`, by the name of the function. They are imported when a
name is asked for that is none of graphdask's, or all names are.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from graphdask.errors import GraphdaskWarning, InputError

F = TypeVar("F", bound=Callable[..., Any])

SIGNATURE: Any = object()
"""The default of an option is that of the parameter."""


@dataclass(frozen=True)
class Option:
    """A parameter of an algorithm as an option of the command line.

    Its kind is that of the annotation, and its default that of the signature, unless they are given here.
    """

    help: str
    kind: type | None = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    """The smallest whole number that it takes."""
    metavar: str | None = None
    default: Any = SIGNATURE
    spelling: str | None = None
    """As `--spelling`, where that is not the name of the parameter; `on/off` for a flag with two names."""
    multiple: bool = False


@dataclass(frozen=True)
class Algorithm:
    """A public function, and what is known of it beside its signature and docstring."""

    function: Callable[..., Any]
    result: type
    """The Result that it returns."""
    command: str
    """Its name on the command line."""
    help: str
    """A line for the command line."""
    summary: Callable[[Any], dict[str, Any]]
    """The answer in a few numbers, of a Result."""
    words: Callable[[dict[str, Any]], str]
    """These numbers in a line."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """By the name of the parameter; `source` and `allocation` have the options of all algorithms."""
    also: str = ""
    """What other packages call it: names with spaces between them."""
    undirected: bool = False
    """Whether it is defined on undirected graphs only."""
    weights: bool = False
    """Whether it uses the weights of the edges; not where its option `weighted` is off."""
    start: Callable[..., Any] | None = None
    """What the command line calls with the function and its arguments, if an option is no parameter of the function."""
    example: Callable[[Any], dict[str, Any]] = lambda G: {}
    """Arguments with which the common tests call it on a graph, besides the graph; `{}` by default."""

    tolerance: float = 0.0
    """Relative difference between the answers of a CPU and a GPU; 0: none, bit for bit."""

    @property
    def name(self) -> str:
        """The name of the function in `gd`."""
        return self.function.__name__

    @property
    def columns(self) -> tuple[str, ...]:
        """The value arrays of the result."""
        return self.result.columns  # type: ignore[attr-defined, no-any-return]

    def takes(self, parameter: str) -> bool:
        """Whether the function has a parameter of this name."""
        return parameter in inspect.signature(self.function).parameters


ALGORITHMS: dict[str, Algorithm] = {}
"""By the name of the function: those of the modules that are imported so far. `algorithms` has all."""


def algorithm(command: str, result: type, help: str, **facts: Any) -> Callable[[F], F]:
    """Enter the decorated function; `facts` are the other fields of Algorithm.

    Raises
    ------
    InputError
        If the function is of another distribution, and its name or its command is taken.
    """

    def enter(function: F) -> F:
        if not (function.__module__ or "").startswith("graphdask."):
            _check_free(function, command)
        ALGORITHMS[function.__name__] = Algorithm(function, result, command, help, **facts)
        return function

    return enter


@dataclass(frozen=True)
class Declared:
    """What the text of a declaration says, whose command, result and help come first and are literals."""

    command: str
    help: str
    name: str
    """Of the function."""
    module: str = ""


DECLARATION = re.compile(r'^@algorithm\(\s*"(.+?)", \w+,\s+"(.+?)",.*?^def (\w+)\(', re.MULTILINE | re.DOTALL)
GROUP = "graphdask.algorithms"
"""Entry points of other distributions' functions."""


def declared() -> dict[str, Declared]:
    """Return what is declared, by the names of the functions, sorted; no module of graphdask is imported."""
    for name in others():
        _enter_if_sound(name)
    return dict(sorted(_declared_here().items()))


def _declared_here() -> dict[str, Declared]:
    """What the texts of graphdask's algorithms declare, and the modules that are imported so far."""
    found = {each.name: Declared(each.command, each.help, each.name) for each in ALGORITHMS.values()}
    return found | _own()


@cache
def _own() -> dict[str, Declared]:
    """What the texts of graphdask's algorithms declare, which are read once."""
    return {
        name: Declared(command, help, name, f"graphdask.algorithms.{path.stem}")
        for path in _folder().glob("*.py")
        for command, help, name in DECLARATION.findall(path.read_text(encoding="utf-8"))
    }


def algorithms() -> dict[str, Algorithm]:
    """Return all algorithms by the names of their functions, sorted."""
    for each in declared().values():
        if each.name not in ALGORITHMS:
            import_module(each.module)
    return dict(sorted(ALGORITHMS.items()))


def algorithm_named(name: str) -> Algorithm | None:
    """Return the algorithm whose function has this name, or None.

    Raises
    ------
    InputError
        If another distribution has the function, and it cannot be used.
    """
    if name not in ALGORITHMS:
        if known := _own().get(name):
            import_module(known.module)
        elif name in others():
            _enter(name)
    return ALGORITHMS.get(name)


def with_command(command: str) -> Declared | None:
    """Return what is declared with this command, or None; other distributions are searched last."""
    for found in (_declared_here, declared):
        for each in found().values():
            if each.command == command:
                return each
    return None


@cache
def others() -> dict[str, Any]:
    """The entry points of other distributions, by the names of their functions."""
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=GROUP)}


def _enter(name: str) -> None:
    """Import the function of another distribution, which enters it; or say why it cannot be used."""
    entry = others()[name]
    try:
        function = entry.load()
    except Exception as error:  # whatever the module of somebody else raises
        raise InputError(f"{_said(entry)} cannot be used: {type(error).__name__}: {error}") from error
    found = ALGORITHMS.get(name)
    if found is None or found.function is not function:
        raise InputError(f"{_said(entry)} cannot be used: no @algorithm(...) stands above a function {name} there")


def _check_free(function: Any, command: str) -> None:
    """Refuse the function of another distribution whose name or command is taken."""
    name, place = function.__name__, f"{function.__module__}.{function.__name__}"
    for each in _declared_here().values():
        if each.name == name and (each.module or ALGORITHMS[name].function.__module__ != function.__module__):
            raise InputError(f"{place}: graphdask has an algorithm {name} already; give the function another name")
        if each.name != name and each.command == command:
            raise InputError(f"{place}: {command!r} is the command of {each.name}; give the function another one")


def _said(entry: Any) -> str:
    """An entry point, in an error."""
    distribution = f" of the distribution {entry.dist.name}" if entry.dist else ""
    return f"the algorithm {entry.name} = {entry.value!r}{distribution}"


@cache
def _enter_if_sound(name: str) -> None:
    """Enter the function of another distribution, or warn, once, that it is left out."""
    try:
        _enter(name)
    except InputError as error:
        warnings.warn(str(error), GraphdaskWarning, stacklevel=2)


def _folder() -> Path:
    """The package of algorithms, beside this one."""
    return Path(__file__).parent.parent / "algorithms"
