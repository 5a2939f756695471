"""The definition of a function in CUDA C++ that a user wrote, held against the one that is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from graphdask.errors import FunctionError, shown
from graphdask.program._kinds import IDENTIFIER


def takes_failure(source: Any, name: Any, returned: str, parameters: Sequence[tuple[str, str]]) -> bool:
    """Check a source, and return whether its function has the parameter `int *failure` at the end.

    Parameters
    ----------
    source : str
    name : str
        Of the function.
    returned : str
        The type in CUDA C++ that it returns.
    parameters : sequence of (str, str)
        Type and name of each parameter before `failure`.

    Raises
    ------
    FunctionError
        If the source has no such function.
    """
    for argument, text in (("source", source), ("name", name)):
        if not isinstance(text, str):
            raise FunctionError(f"{argument}={shown(text)} is not text")
    if not IDENTIFIER.fullmatch(name):
        raise FunctionError(f"name={shown(name)} is not a name of a function in CUDA C++")
    if re.search(r"^\s*#\s*include", source, re.MULTILINE):
        raise FunctionError(f"the source of {name} has an #include, which cannot stand in a namespace: leave it out")
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    found = re.findall(rf"__device__\s([^;{{}}()]*?)\b{name}\s*\(([^)]*)\)\s*\{{", bare)
    wanted = ", ".join(f"{kind} {parameter}".replace("* ", " *") for kind, parameter in parameters)
    shape = f"__device__ {returned} {name}({wanted})"
    if len(found) != 1:
        raise FunctionError(f"the source has {len(found)} definitions of {name}, and needs one: {shape}")
    returns = _type(re.sub(r"\b(static|inline|constexpr|__forceinline__|__noinline__)\b", " ", found[0][0]))
    given = [_type(re.sub(r"\w+\s*$", "", part)) for part in found[0][1].split(",") if part.strip()]
    failure = bool(given) and given[-1] == "int*"
    if returns != returned or given[: len(given) - failure] != [kind for kind, _ in parameters]:
        raise FunctionError(
            f"{name} is {returns} ({', '.join(given)}) and must be {shape}, with int *failure at the end if wanted"
        )
    return failure


def _type(text: str) -> str:
    words = text.replace("*", " * ").split()
    return " ".join(word for word in words if word != "const").replace(" *", "*")
