"""Texts of functions: most are in the language that graphdask translates, some are Python that it must refuse."""

from __future__ import annotations

import hashlib
import linecache
import math
from collections.abc import Callable
from typing import Any

from graphdask.selftest.choices import Choices

FIELDS = {"weight": "float", "src": "int", "degree": "int", "time": "float", "is_neighbor": "bool"}
MOST_KEPT = 2000
"""Texts."""
LEAVES = {
    "int": ("0", "1", "3", "-2", "7", "e.src", "e.degree", "x", "2**40", "9223372036854775807"),
    "float": ("0.5", "1.0", "-1.25", "e.weight", "e.time", "y", "1e308", "math.pi", "math.inf"),
    "bool": ("True", "False", "e.is_neighbor"),
}
OPERATORS = ("+", "-", "*", "//", "%", "/", "**")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
ANY = ("int", "float", "bool")
REFUSED = (
    "'text'", "e", "e.nothing", "[e.src]", "(1, 2)", "{1: 2}", "lambda: 1", "e.src if e.src", "x := 3", "e.src[0]",
    "len(x)", "print(1)", "math.sin(1.0)", "abs()", "max(1)", "min(*[1, 2])", "unknown", "f'{x}'", "1j", "None", "x.y",
    "e.weight.real", "not", "~x", "x << 2", "x @ y", "[i for i in range(3)]", "sum([1])", "round(y)", "10**400",
    "1e999", "b'a'", "yield", "await x", "x is y", "x in (1, 2)", "int('3')", "float(x, y)", "__import__('os')",
    "math.sqrt", "range(3)", "e.__class__", "x if y else", "((((((x))))))", "1 if True else 'a'",
)  # fmt: skip
STATEMENTS = (
    "pass", "global x", "import os", "del x", "x: int", "x: int = 3", "raise ValueError", "assert x", "break",
    "continue", "try:\n        x = 1\n    finally:\n        x = 2", "with x:\n        pass", "def g():\n        pass",
    "x, y = 1, 2.0", "x = y = 3", "e.src = 3", "x[0] = 1", "return", "nonlocal x", "'text'", "z", "z = 3", "x += 1.5",
    "y //= 0", "for i in [1, 2]:\n        x = i", "for i in range(0, 5, x):\n        x += i", "e = 3",
    "while x < 3:\n        x += 1", "while True:\n        x += 1", "for e in range(2):\n        y = e", "lambda: 0",
    "class A:\n        pass", "match x:\n        case 1:\n            pass", "for i, j in range(2):\n        pass",
)  # fmt: skip


def expression(choices: Choices, depth: int, kind: str) -> str:
    """An expression of a kind, int, float or bool."""
    if depth == 0 or choices.one_in(4):
        return choices.among(LEAVES[kind])

    def part(*kinds: str) -> str:
        return expression(choices, depth - 1, choices.among(kinds))

    forms: dict[str, tuple[Callable[[], str], ...]] = {
        "int": (
            lambda: f"({part('int')} {choices.among(OPERATORS[:5])} {part('int', 'bool')})",
            lambda: f"-{part('int')}",
            lambda: f"abs({part('int')})",
            lambda: f"({part('int')} if {part(*ANY)} else {part('int')})",
            lambda: f"{choices.among(('min', 'max'))}({part('int')}, {part('int')})",
            lambda: f"({part('int')} {choices.among(('and', 'or'))} {part('int')})",
            lambda: f"int({part('bool', 'int', 'float')})",
            lambda: f"{choices.among(('math.floor', 'math.ceil'))}({part('float')})",
            lambda: f"({part('int')} ** {choices.among(('2', '3', '0'))})",
        ),
        "float": (
            lambda: f"({part('float')} {choices.among(OPERATORS[:6])} {part(*ANY)})",
            lambda: f"({part('int')} / {part('int', 'bool')})",
            lambda: f"math.sqrt({part('float')})",
            lambda: f"({part('float')} if {part(*ANY)} else {part(*ANY)})",
            lambda: f"{choices.among(('min', 'max'))}({part('float')}, {part('int', 'float')})",
            lambda: f"({part('float')} {choices.among(('and', 'or'))} {part(*ANY)})",
            lambda: f"float({part(*ANY)})",
        ),
        "bool": (
            lambda: f"({part(*ANY)} {choices.among(COMPARISONS)} {part(*ANY)})",
            lambda: f"({part('int', 'float')} < {part('int', 'float')} <= {part('int', 'float')})",
            lambda: f"(not {part(*ANY)})",
            lambda: f"({part('bool')} {choices.among(('and', 'or'))} {part('bool')})",
            lambda: f"bool({part(*ANY)})",
        ),
    }
    return choices.among(forms[kind])()


def text_of(choices: Choices, result: str, odd: bool) -> str:
    """The text of a function `f`.

    Parameters
    ----------
    choices : Choices
    result : {"int", "float", "bool"}
        What it returns.
    odd : bool
        Whether something stands in it that is not in the language, or not where it may be.
    """
    lines = ["def f(e):", "    x = 1", "    y = 0.75"]
    for _ in range(choices.below(4)):
        lines += _statement(choices)
    lines.append(f"    return {expression(choices, choices.below(5), result)}")
    if odd:
        if choices.one_in(2):
            lines.insert(1 + choices.below(len(lines)), f"    {choices.among(STATEMENTS)}")
        else:
            at = 1 + choices.below(len(lines) - 1)
            head, equals, _ = lines[at].rpartition(" = ")
            value = choices.among(REFUSED)
            lines[at] = f"{head} = {value}" if equals else f"    return {value}"
    return "\n".join(lines) + "\n"


def _statement(choices: Choices) -> list[str]:
    def some(kind: str) -> str:
        return expression(choices, 1 + choices.below(2), kind)

    return choices.among(
        (
            lambda: [f"    x = {some('int')}"],
            lambda: [f"    y = {some('float')}"],
            lambda: [
                f"    if {some('bool')}:",
                f"        x = {some('int')}",
                "    else:",
                f"        y = {some('float')}",
            ],
            lambda: [f"    for i in range({some('int')} % 5):", f"        y = {some('float')} + i"],
            lambda: [f"    x {choices.among(OPERATORS[:5])}= {some('int')}"],
            lambda: [f"    if {some('bool')}:", f"        return {some('bool')}"],
        )
    )()


def function_of(text: str, name: str = "f") -> Any:
    """The function of a text, which is found as if it stood in a file; None where it is no Python."""
    path = f"<fuzzed function {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    if len(linecache.cache) > MOST_KEPT:
        linecache.clearcache()
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    around: dict[str, Any] = {"math": math, "__name__": "__fuzzed__"}
    exec(code, around)
    return around.get(name)
