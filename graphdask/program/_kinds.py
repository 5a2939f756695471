"""Types and names of fields and results, as callers give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphdask.errors import InputError, shown

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KINDS: dict[Any, str] = {"int": "int", "float": "float", "bool": "bool", int: "int", float: "float", bool: "bool"}


def kind_of(name: str, given: Any, argument: str = "") -> str:
    """Return `int`, `float` or `bool` for a type that a caller gives.

    Raises
    ------
    InputError
        If it is another type, with the name of what has it, and the argument that it stands in.
    """
    where = f"{argument}: " if argument else ""
    if not isinstance(given, str | type) or given not in _KINDS:
        raise InputError(f"{where}the type of {shown(name)} is {shown(given)}, not one of int, float, bool")
    return _KINDS[given]


def kinds_of(argument: str, given: Any) -> dict[str, str]:
    """Return the types of names that a caller gives.

    Raises
    ------
    InputError
        If the argument is no mapping, or has a name that is no identifier or a type that is another.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{argument}={shown(given)} is not a mapping of names to types")
    for name in given:
        if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
            raise InputError(f"{argument}: {shown(name)} is not a name")
    return {name: kind_of(name, kind, argument) for name, kind in given.items()}
