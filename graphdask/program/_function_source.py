"""The syntax tree of a function of the caller, and errors that show its file and line.

A function is found in its file by its first line and name; of several on one line, by where the instructions say that
they come from.
"""

from __future__ import annotations

import ast
import dis
import inspect
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from graphdask.errors import FunctionError, shown

ALLOWED = (
    "a function may use its fields, local variables, numbers, numbers of the code around it, + - * / // % **, "
    "comparisons, and, or, not, a if b else c, min, max, abs, int, float, bool, math.sqrt, exp, log, pow, floor, ceil, "
    "isinf, isfinite, isnan and constants of math; if, for over range, while, break, continue, pass and return"
)
Definition = ast.FunctionDef | ast.Lambda

_COUNTS = {0: "no parameters", 1: "one parameter, without a default", 2: "two parameters, without defaults"}

MOST_READ = 256
"""Functions whose text is kept."""


@dataclass(frozen=True)
class Place:
    """One line of a file."""

    path: str
    line: int
    """Counted from 1."""
    source: str

    def error(self, reason: str) -> FunctionError:
        return FunctionError(reason, self.path, self.line, self.source)


@dataclass(frozen=True)
class FunctionSource:
    """A function and its text."""

    function: types.FunctionType
    path: str
    lines: tuple[str, ...]
    """Of the whole file."""
    tree: Definition
    called: str = ""
    """What messages call it; its own name where this is empty."""

    @property
    def name(self) -> str:
        return self.called or self.function.__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        arguments = self.tree.args
        return tuple(argument.arg for argument in arguments.posonlyargs + arguments.args)

    def place(self, node: ast.AST) -> Place:
        line = getattr(node, "lineno", self.function.__code__.co_firstlineno)
        return Place(self.path, line, self.lines[line - 1].strip() if line <= len(self.lines) else "")

    def fail(self, node: ast.AST, reason: str) -> NoReturn:
        raise self.place(node).error(reason)

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Raise for something that the language has and a translated function has not."""
        self.fail(node, f"{what} cannot be translated; {ALLOWED}")


_READ: dict[tuple[str, types.CodeType], tuple[tuple[str, ...], Definition]] = {}
"""The lines of the file, and the tree, of functions that were read: each call of a sampler translates its functions."""


def read(function: Callable[..., Any], head: str = "", count: int = 1) -> FunctionSource:
    """The source of a function written with `def` or `lambda`.

    Parameters
    ----------
    function : function
    head : str
        What messages call it, with parameters that it may have, such as `apply(v, m)`; by default its own name.
    count : int
        The number of its parameters.

    Raises
    ------
    FunctionError
        If it is something else, or its text cannot be found or is no longer what was imported.
    """
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        raise FunctionError(f"{shown(function)} is not a plain Python function: give one written with def or lambda")
    code = function.__code__
    path = code.co_filename
    known = _READ.get((path, code))  # equal codes may stand in different files
    try:
        lines = tuple(inspect.findsource(function)[0])
        if known is not None and known[0] == lines:
            return _checked(FunctionSource(function, path, *known, called=head.partition("(")[0]), head, count)
        module = ast.parse("".join(lines))
    except (OSError, SyntaxError, IndexError) as error:
        raise FunctionError(
            f"the source of {function.__qualname__} cannot be read ({error}): define it in a file or a notebook",
            path,
            code.co_firstlineno,
        ) from None
    tree = _definition(module, function, path, lines)
    source = _checked(FunctionSource(function, path, lines, tree, head.partition("(")[0]), head, count)
    if len(_READ) >= MOST_READ:
        _READ.clear()
    _READ[path, code] = lines, tree
    return source


def _checked(source: FunctionSource, head: str, count: int) -> FunctionSource:
    """The source of a function that has the right number of parameters and returns a value at once."""
    code, tree = source.function.__code__, source.tree
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if code.co_argcount != count or code.co_kwonlyargcount or flags or source.function.__defaults__:
        few = _COUNTS.get(count) or f"{count} parameters, without defaults"
        names = "e" if count == 1 else ", ".join("abcd"[:count])
        example = head if "(" in head else f"{source.name}({names})"
        source.fail(tree, f"{source.name} must have {few}, such as def {example}")
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        source.refuse(tree, "a generator or an async function")
    return source


@cache
def _globals_of(code: types.CodeType) -> tuple[str, ...]:
    return tuple(sorted({each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}))


def outside(function: types.FunctionType) -> tuple[Any, ...] | None:
    """The numbers that a function finds around it; None where there are other things that may change."""
    code, found = function.__code__, []
    try:
        found += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one has no value yet
        return None
    found += [function.__globals__.get(name) for name in _globals_of(code)]
    if any(value is not None and value is not math and type(value) not in (int, float, bool) for value in found):
        return None
    return tuple(map(repr, found))


def _definition(module: ast.Module, function: types.FunctionType, path: str, lines: tuple[str, ...]) -> Definition:
    code = function.__code__
    first = code.co_firstlineno

    def begins(node: Any) -> int:
        return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])

    kinds = (ast.Lambda,) if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    found: list[Any] = [
        node
        for node in ast.walk(module)
        if isinstance(node, kinds) and begins(node) == first and getattr(node, "name", "<lambda>") == code.co_name
    ]
    if len(found) > 1 and kinds[0] is ast.Lambda:
        found = _around(found, code)
    if len(found) > 1 and kinds[0] is ast.Lambda:
        found = _compiled_alike(found, code, path)
    text = lines[first - 1].strip() if first <= len(lines) else ""
    if len(found) > 1:
        raise FunctionError("several functions stand on this line: give each a line of its own", path, first, text)
    if not found or not _is_of(module, found[0], code, path):
        raise FunctionError(f"{path} has changed since {code.co_name} was imported: import it again", path, first, text)
    return found[0]


def _around(found: list[ast.Lambda], code: types.CodeType) -> list[ast.Lambda]:
    """Of several lambdas the innermost ones whose body has all instructions of a code."""
    spots = [(line, column, end, last) for line, end, column, last in code.co_positions() if last]
    around = [
        (body.lineno, body.col_offset, body.end_lineno, body.end_col_offset, node)
        for node in found
        for body in [node.body]
        if all(
            (body.lineno, body.col_offset) <= (line, column) and (end, last) <= (body.end_lineno, body.end_col_offset)
            for line, column, end, last in spots
        )
    ]
    return [
        one[-1]
        for one in around
        if not any(one[:2] <= other[:2] and other[2:4] <= one[2:4] and other is not one for other in around)
    ]


def _compiled_alike(found: list[ast.Lambda], code: types.CodeType, path: str) -> list[ast.Lambda]:
    """Of several lambdas the one that compiles to a code; all of them if none or several do.

    Python 3.12 gives the code of a constant no columns, so that its place does not say which lambda it is.
    """
    alike = []
    for node in found:
        made = compile(ast.Expression(node), path, "eval", dont_inherit=True).co_consts[0]
        if (made.co_code, made.co_consts, made.co_names) == (code.co_code, code.co_consts, code.co_names):
            alike.append(node)
    return alike if len(alike) == 1 else found


def _is_of(module: ast.Module, node: Any, code: types.CodeType, path: str) -> bool:
    """Whether the text of a function still compiles to its code; assertions do not count, which pytest rewrites."""
    if any(isinstance(part, ast.Assert) for part in ast.walk(node)):
        return True
    try:
        codes = [compile(module, path, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):  # a cell of a notebook that awaits
        return True
    for outer in codes:
        codes += [constant for constant in outer.co_consts if isinstance(constant, types.CodeType)]
    return any(_alike(made) == _alike(code) for made in codes)


def _alike(code: types.CodeType) -> tuple[Any, ...]:
    """What two codes of the same function have alike."""
    parameters = code.co_varnames[: code.co_argcount]
    return code.co_name, code.co_firstlineno, code.co_code, code.co_consts, code.co_names, parameters
