"""Values of a user's function: texts in two languages with their type.

Integers have 64 bits, floats are doubles. `bool < int < float`: a narrower type becomes a wider one where both meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH = {"bool": 0, "int": 1, "float": 2}
C_TYPE = {"bool": "bool", "int": "long long", "float": "double"}


@dataclass(frozen=True)
class Value:
    """An expression in both languages."""

    type: str
    python: str
    cuda: str
    constant: bool | int | float | None = None
    simple: bool = False
    """Whether it may be written twice: a name or a number."""
    numbers: frozenset[float] | None = None
    """The numbers that it can be, where these are known without its fields."""


def numbers_of(value: Value) -> frozenset[float] | None:
    """The numbers that a value can be; None where they are not known."""
    return value.numbers if value.constant is None else frozenset((float(value.constant),))


def either(one: frozenset[float] | None, other: frozenset[float] | None) -> frozenset[float] | None:
    return None if one is None or other is None else one | other


def wider(*kinds: str) -> str:
    return max(kinds, key=WIDTH.__getitem__)


def local(name: str) -> str:
    """The name of a local variable in both languages."""
    return "v_" + name.encode("ascii", "backslashreplace").decode().replace("\\", "_")


def number(value: bool | int | float) -> Value:
    """A number as both languages write it.

    An integer is no literal to Numba, which would compile what it is handed to once for every number.
    """
    if isinstance(value, bool):
        return Value("bool", str(value), str(value).lower(), value, True)
    if isinstance(value, int):
        cuda = f"{value}LL" if value > -(1 << 63) else "GD_SMALLEST_INTEGER"
        return Value("int", f"np.int64({value})", f"({cuda})", value, True)
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return Value("float", f"({sign}1e999)", f"({sign}gd_infinity())", value, True)
    return Value("float", f"({value!r})", f"({value.hex()})", value, True)


def converted(value: Value, kind: str) -> Value:
    """A value in a wider type."""
    if value.type == kind:
        return value
    if value.constant is not None:
        return number({"int": int, "float": float}[kind](value.constant))
    python = value.python if value.type == "int" else f"int({value.python})"  # Numba has no float(bool)
    python = f"float({python})" if kind == "float" else python
    return Value(kind, python, f"({C_TYPE[kind]})({value.cuda})", simple=value.simple)


def truth_of(value: Value) -> Value:
    """Whether a value counts as true."""
    if value.type == "bool":
        return value
    zero = "0" if value.type == "int" else "0.0"
    return Value("bool", f"({value.python} != {zero})", f"({value.cuda} != {zero})")


def negated(true: Value) -> Value:
    """Whether what is true or false is not."""
    return Value("bool", f"(not {true.python})", f"(!{true.cuda})")
