"""Families of kernels with functions of the caller in them.

Families FAMILY and FAMILY_... that call such functions have defaults for them in FAMILY_default.{cuh,py}, and
FAMILY_fields.py says what they hand over and which fields that makes. The caller's functions go before the `#include`
of the defaults, and after their import in Python, whose names they take. A function is what
`graphdask.program.translate` makes. Instead of functions, all that takes the place of the defaults may be given as
`Written`.
"""

from __future__ import annotations

import hashlib
import importlib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

from graphdask.kernels import module_name, module_of, text_of
from graphdask.kernels.functions.functions_fields import Hook

_MAKING = Lock()
"""Ranks that are threads of one process ask for the same module at the same time."""
_MADE: dict[Any, types.ModuleType] = {}
_MARK = "# The functions of the caller stand here.\n"
_C_TYPES = {"int": "long long", "float": "double", "bool": "bool"}
_CASTS = {"int": "np.int64", "float": "np.float64", "bool": "bool"}


@dataclass(frozen=True)
class Written:
    """What takes the place of the defaults of a family, in both languages."""

    python: str
    cuda: str

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.python}\0{self.cuda}".encode()).hexdigest()


Inserted = Mapping[str, Any] | Written | None


def digests(functions: Inserted) -> tuple[tuple[str, str], ...]:
    """Return the names and digests of the functions, which identify a family compiled with them."""
    if isinstance(functions, Written):
        return (("", functions.digest),)
    return tuple(sorted((name, function.digest) for name, function in (functions or {}).items()))


def _first(family: str) -> str:
    """The family whose defaults and fields it has."""
    return family.partition("_")[0]


def _hooks(family: str) -> Mapping[str, Hook]:
    return importlib.import_module(module_name(f"{_first(family)}_fields")).HOOKS


def cuda_text(family: str, text: str, functions: Inserted) -> str:
    """The text of a family with functions in it."""
    if not functions:
        return text
    mark = f'#include "{_first(family)}/{_first(family)}_default.cuh"'
    assert text.count(mark) == 1
    if isinstance(functions, Written):
        return text.replace(mark, functions.cuda)
    hooks = _hooks(family)
    made = []
    for name, function in sorted(functions.items()):
        made += [f"#define GD_HAS_{name}", function.cuda(f"{name}_of_caller")]
        if hooks[name].assumed:
            made.append(f"#define GD_ASKS_NEAR {int(hooks[name].assumed in function.fields)}")
        for called, parameters, arguments in _calls(name, hooks[name], function, ""):
            typed = ", ".join(f"{kind} {parameter}" for parameter, kind in parameters.items())
            made += [
                f"template <class Given> __device__ __forceinline__ {_C_TYPES[function.result]} {called}({typed}, "
                "const Given &a) {",
                f"    return {name}_of_caller({arguments});",
                "}",
            ]
    return text.replace(mark, "\n".join([*made, mark]))


def _calls(name: str, hook: Hook, function: Any, casts: str) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """The functions of a hook that kernels call, with their parameters, and with what they hand to the caller's."""
    yield name, hook.parameters, _arguments(hook, function, casts)
    if hook.assumed:
        yield f"{name}_if", hook.parameters_if, _arguments(hook, function, casts, hook.assumed)


def _arguments(hook: Hook, function: Any, casts: str, assumed: str = "") -> str:
    texts = [
        (kind, "assumed" if field == assumed else hook.expression(field))
        for field, kind in zip(function.fields, function.types, strict=True)
    ]
    return ", ".join([*(f"{_CASTS[kind]}({text})" if casts else text for kind, text in texts), hook.failure])


def python_text(family: str, functions: Mapping[str, Any] | Written, numbers: Mapping[str, int] | None = None) -> str:
    """The module of a family with functions in it, compiled for some numbers: those that it names are constants."""
    text = text_of(f"{family}.py")
    assert text.count(_MARK) == 1
    if isinstance(functions, Written):
        return text.replace(_MARK, f"\n{functions.python}\n")
    hooks = _hooks(family)
    made = [
        "from graphdask.kernels.functions.generated import compiled",
        "from graphdask.kernels.common.twin import for_twins",
        "from graphdask.kernels.choice.selection import *",
        f"from {module_name(f'{_first(family)}_pack')} import *",
    ]
    made += [f"{name} = {number}" for name, number in sorted((numbers or {}).items()) if name in text]
    for name, function in sorted(functions.items()):
        made += [
            f"HAS_{name.upper()} = True",
            f"{name}_of_caller = compiled({function.python!r}, 'user_function', {function.types!r}, "
            f"{function.result!r}, for_python=False)",
        ]
        for called, parameters, arguments in _calls(name, hooks[name], function, "python"):
            made += [
                "",
                "",
                "@for_twins",
                f"def {called}({', '.join(parameters)}, a: {hooks[name].pack}):",
                f"    return {name}_of_caller({arguments})",
                "",
            ]
        if hooks[name].assumed:
            made += ["", f"ASKS_NEAR = {hooks[name].assumed in function.fields}", ""]
    return text.replace(_MARK, "\n".join(["", *made, ""]))


def python_module(family: str, functions: Inserted, made_for: Mapping[str, Any] | None = None) -> types.ModuleType:
    """The twins of a family, with functions in them, for the numbers among what they are made for (`python_text`).

    Raises
    ------
    Unsupported
        For a function given in CUDA C++.
    """
    if not functions:
        return module_of(family)
    for function in () if isinstance(functions, Written) else functions.values():
        if function.python is None:
            function.compiled  # noqa: B018  says that it cannot run here
    numbers = {name: number for name, number in (made_for or {}).items() if isinstance(number, int)}
    key = family, digests(functions), tuple(sorted(numbers.items()))
    with _MAKING:
        if key not in _MADE:
            from graphdask.kernels.functions.generated import module  # Numba takes long to import

            _MADE[key] = module(python_text(family, functions, numbers))
        return _MADE[key]
