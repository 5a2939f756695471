"""What kinds of values options take, and the one check of each kind.

`Options` checks the arguments of a call against the annotations of the function: `int` takes whole numbers of 64 bits,
`float` numbers that are not NaN, `bool` True and False, `str` text, `os.PathLike[str]` paths. A value of NumPy becomes
the same value of Python. Other annotations are left to the function. Each check names the option, the value and what
the option takes.
"""

from __future__ import annotations

import inspect
import numbers
import operator
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Annotated, Any, TypeVar

from graphdask.errors import InputError, shown

T = TypeVar("T")
Own = Annotated[T, "checked by the function itself"]
"""The annotation of an option whose own check takes values of all kinds and says more: `Own[str | None]`."""
LONGEST = 4096
"""Characters of a text: those of a path."""
QUOTES = "\"'"
MOST = 2**62 - 1
"""The largest whole number that an argument may be if nothing else bounds it; sums of two have 64 bits."""

MISSING: Any = object()
"""What a kind makes of a value that is none of it."""


def _whole(value: Any) -> Any:
    if isinstance(value, bool):
        return MISSING
    try:
        return operator.index(value)
    except Exception:  # whatever an object that a caller gives raises
        return MISSING


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return MISSING
    try:
        return value if type(value) in (int, float) else float(value)
    except Exception:  # whatever an object that a caller gives raises; a NumPy duration, a kind of its integers
        return MISSING


def _flag(value: Any) -> Any:
    if value is True or value is False:
        return value
    numpy = sys.modules.get("numpy")  # a value of NumPy is there only with it
    return bool(value) if numpy is not None and isinstance(value, numpy.bool_) else MISSING


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, str) else MISSING


def _path(value: Any) -> Any:
    return value if is_path(value) else MISSING


def _client(value: Any) -> Any:
    distributed = sys.modules.get("distributed")  # a client is there only with it
    return value if distributed is not None and isinstance(value, distributed.Client) else MISSING


def _none(value: Any) -> Any:
    return None if value is None else MISSING


KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "bool": (_flag, "True or False"),
    "int": (_whole, "a whole number"),
    "float": (_number, "a number"),
    "str": (_text, "text"),
    "os.PathLike[str]": (_path, "a path"),
    "Path": (_path, "a path"),
    "client": (_client, "a distributed.Client"),
    "None": (_none, "None"),
}
"""By annotation: what makes a value of that kind, and its name."""
SIZE = ("int", "str"), 'a number of bytes, such as 268435456 or "256MiB"'
TAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "seed": (("int",), "a whole number from 0 to 2**64 - 1"),
    "ids": (("str",), "one of int, str"),
    "format": (("str",), "the name of a format, which graphdask.io.FORMATS lists,"),
    "comment": (("str",), "text of characters that start a comment"),
    "delimiter": (("str",), "a character or the word whitespace"),
    **dict.fromkeys(("chunk", "device_memory", "host_memory", "max_bytes", "memory"), SIZE),
}
"""What parameters take that have one meaning everywhere, by their names, and the kinds of which this is said."""
BY_NAME = {"client": ("client", "None")}
"""Kinds of parameters that have the same meaning everywhere, and an annotation that does not say it."""


def is_path(value: Any) -> bool:
    """Whether a value is a path whose name is text."""
    if isinstance(value, str):
        return True
    try:
        return isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)
    except Exception:  # whatever an object that a caller gives raises
        return False


def whole(name: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """Return a whole number of a range as a Python integer."""
    number = _whole(value)
    if number is MISSING or not least <= number <= most:
        if most != MOST:
            among = f"from {least} to {most:,}"
        else:
            among = f"of {least} or more" if number is MISSING or number < least else f"from {least} to 2**62 - 1"
        raise InputError(f"{name}={shown(value)} is not a whole number {among}")
    return number


def checked_seed(value: Any) -> int:
    """Return a seed: a whole number of 64 bits without a sign."""
    number = _whole(value)
    if number is MISSING or not 0 <= number < 1 << 64:
        raise InputError(
            f"seed={shown(value if number is MISSING else number)} is not a whole number from 0 to 2**64 - 1"
        )
    return number


def whole_or_none(value: Any) -> int | None:
    """A value as a Python integer; None where it is no whole number."""
    found = _whole(value)
    return None if found is MISSING else found


def number(name: str, value: Any, least: float, most: float, *, above: bool = False, below: bool = False) -> float:
    """Return a number of a range; `above` and `below` leave its ends out."""
    found = _number(value)
    try:
        found = found if found is MISSING else float(found)
    except OverflowError:
        found = MISSING
    if found is MISSING or not least <= found <= most or (above and found == least) or (below and found == most):
        ends = f"{'above' if above else 'from'} {least:g} {'and below' if below else 'to'} {most:g}"
        raise InputError(f"{name}={shown(value)} is not a number {ends}")
    return found


def flag(name: str, value: Any) -> bool:
    """Return True or False; refuse anything else."""
    found = _flag(value)
    if found is MISSING:
        raise InputError(f"{name}={shown(value)} is neither True nor False")
    return found


def choice(name: str, value: Any, among: Iterable[Any]) -> Any:
    """Return one of some words or, where they are among them, None, True and False."""
    among = tuple(among)
    if not any(value is known or (isinstance(value, str) and value == known) for known in among):
        raise InputError(f"{name}={shown(value)} is not one of {', '.join(map(str, among))}")
    return value


class Options:
    """The checks of a function's arguments, made from its annotations on the first call."""

    def __init__(self, function: Any, doc: str | None):
        self.function, self.doc = function, doc or ""

    @cached_property
    def named(self) -> dict[str, tuple[str, ...]]:
        """Kinds of each parameter that has any; all of its annotation are known."""
        found = {}
        for name, annotation in self.function.__annotations__.items():
            kinds = tuple(each.strip() for each in annotation.split("|")) if isinstance(annotation, str) else ()
            kinds = BY_NAME.get(name, kinds)
            if kinds and all(each in KINDS for each in kinds) and name != "return":
                found[name] = kinds
        return found

    @cached_property
    def placed(self) -> tuple[str | None, ...]:
        """Names of the parameters by position, None for what is not checked."""
        takes = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(each.name if each.name in self.named else None for each in parameters if each.kind in takes)

    def checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Check what is given by position, and what is given by name in place."""
        named = self.named
        for name in kwargs:
            if name in named:
                kwargs[name] = self.one(name, kwargs[name])
        if any(self.placed[: len(args)]):
            placed = self.placed + (None,) * (len(args) - len(self.placed))
            args = tuple(
                value if name is None else self.one(name, value)
                for name, value in zip(placed[: len(args)], args, strict=True)
            )
        return args

    def one(self, name: str, value: Any) -> Any:
        """The value of one argument, or InputError."""
        for kind in self.named[name]:
            found = KINDS[kind][0](value)
            if found is not MISSING:
                break
        else:
            raise InputError(f"{name}={shown(value)} is {self.no_such(name)}")
        if isinstance(found, float) and found != found:
            raise InputError(f"{name}={shown(value)} is not a number")
        if isinstance(found, str) and len(found) > LONGEST:
            raise InputError(f"{name}={shown(value)} has {len(found):,} characters; {LONGEST:,} are the most")
        far = isinstance(found, int) and not -(2**63) <= found < 2**64
        if far and name != "seed":  # seeds have ranges of their own
            raise InputError(f"{name}={shown(value)} does not fit 64 bits")
        return found

    def no_such(self, name: str) -> str:
        """What a value of no kind of a parameter is: not one of the choices of the docstring, or of the docstring that
        it refers to; or not of the kinds."""
        kinds = self.named[name]
        choices = self._choices(name)
        if choices:
            number = " nor a number" if re.search(rf"^ *{name} : {{[^}}]+}} or float", self.doc, re.MULTILINE) else ""
            return f"not one of {', '.join(choices)}" + number
        if name in TAKES and kinds[0] in TAKES[name][0]:
            return f"not {TAKES[name][1]}" + " or None" * ("None" in kinds)
        named = [each for kind in kinds for each in KINDS[kind][1].split(" or ")]
        if "a path" in named and "text" in named:
            named.remove("text")
        *others, last = dict.fromkeys(named)
        if others[:1] == ["True"] and last in ("False", "None"):
            return f"neither {', '.join(others)} nor {last}"
        return f"not {', '.join(others)} or {last}" if others else f"not {last}"

    def _choices(self, name: str, depth: int = 2) -> list[str]:
        """The values that the docstring lists, itself or where it says `As in` another function; empty if none."""
        of_all = re.search(rf"^ *(?:\w+, )*{name}(?:, \w+)*(?: : (.*))?\n(.*)$", self.doc, re.MULTILINE)
        if of_all is None:
            return []
        listed = re.match(r"{([^}]+)}(?! or (?!float))", of_all[1] or "")
        if listed is not None:
            return [each.strip().strip(QUOTES) for each in listed[1].split(",")]
        other = re.search(r"\b[Aa]s (?:in|for|those of) `(?:\w+\.)*(\w+)`", of_all[2])
        if other is None or not depth or (of_all[1] or "optional") != "optional":
            return []
        function = self.function.__globals__.get(other[1])
        owner, _, _ = self.function.__qualname__.rpartition(".")
        if owner:
            function = getattr(self.function.__globals__.get(owner), other[1], function)
        if function is None:
            module = sys.modules[self.function.__globals__["__name__"].rpartition(".")[0]]
            function = getattr(module, other[1], None)
        if not inspect.isfunction(function):
            return []
        function = inspect.unwrap(function)
        return Options(function, function.__doc__)._choices(name, depth - 1)
