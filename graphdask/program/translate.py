"""A plain Python function of the user as code for CPU and GPU.

The three functions of C-SAW, VertexBias, EdgeBias and Update (S. Pandey et al., "C-SAW: a framework for graph sampling
and random walk on GPUs", SC 2020, section III), are written in Python over documented fields. Here such a function
becomes two texts that compute the same bits: Python for Numba and CUDA C++, both in terms of
kernels/functions/user.{py,cuh}. The fields it reads become arguments; after them comes `failure`, one int32 in which
the first failure is stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphdask.errors import FunctionError, InputError, Unsupported, shown
from graphdask.program._function_source import MOST_READ, FunctionSource, Place, outside, read
from graphdask.program._statements import Statements
from graphdask.program._typed_texts import C_TYPE

NAME = "user_function"
"""What the Python function is called; `cuda` is given a name."""
REASONS = {
    1: "division by zero",
    2: "an integer that does not fit 64 bits",
    3: "square root of a negative number",
    4: "logarithm of a number that is not positive",
    5: "a result too large for a float",
    6: "a fractional power of a negative number",
    7: "a float that is not a 64-bit integer (too large, infinite or NaN)",
    8: "a negative power of an integer; write float(a) ** b",
    9: "range with a step of zero",
    10: "loops of more than 2 ** 20 steps in one call",
}
"""What the low four bits of a failure mean; the others are the number of the site (kernels/functions/user.cuh)."""

_HEADER = """from numpy import ceil, floor

from graphdask.kernels.functions.user import *


"""
_TYPES: dict[Any, str] = {"int": "int", "float": "float", "bool": "bool", int: "int", float: "float", bool: "bool"}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Translated:
    """A function of the user, ready for both devices. Equal functions have equal digests; it can be pickled."""

    name: str
    """Of the user's function, for messages."""
    fields: tuple[str, ...]
    """The fields that are read: the arguments, in this order."""
    types: tuple[str, ...]
    """The type of each: `int` (int64, `long long`), `float` (float64, `double`) or `bool`."""
    result: str
    """The type of the result, one of the same."""
    python: str | None
    """A module with `user_function(f_FIELD, ..., failure)`; None for a function given in CUDA C++."""
    digest: str
    """Of the code, with the constants in it and without names of files."""
    path: str | None
    """The user's file."""
    sites: tuple[Place, ...]
    """The lines where it can fail, by number."""
    body: str
    """In CUDA C++: what follows the head of the function, or, of one given so, its source."""
    called: str | None = None
    """The name of the function in a source given in CUDA C++."""
    takes_failure: bool = True
    """Whether a function given in CUDA C++ has the parameter `int *failure`."""
    place: Place | None = None
    """Its first line, of a Python function."""
    numbers: frozenset[float] | None = None
    """What it can return, where that does not depend on numbers that it reads."""

    @property
    def compiled(self) -> Callable[..., Any]:
        """The function `(fields..., failure: int32 array of one)` for Numba's kernels and for Python, compiled.

        Compiled on first use, or read from the user's cache folder (kernels/functions/generated.py).

        Raises
        ------
        Unsupported
            For a function given in CUDA C++.
        """
        if self.python is None:
            raise Unsupported(
                f'{self.name} is CUDA C++ and cannot run on a CPU: use device="cuda" or give a Python function'
            )
        from graphdask.kernels.functions.generated import compiled  # Numba takes long to import

        return compiled(self.python, NAME, self.types, self.result)

    def cuda(self, name: str) -> str:
        """The function of this name in CUDA C++, for a source that includes `user.cuh`.

        Its parameters are those of the Python twin: the fields, then `int *failure`, in global or shared memory.
        """
        if not _IDENTIFIER.fullmatch(name):
            raise InputError(f"{name!r} is not a name of a function in CUDA C++")
        parameters = [f"{C_TYPE[kind]} f_{field}" for field, kind in zip(self.fields, self.types, strict=True)]
        head = (
            f"__device__ __forceinline__ {C_TYPE[self.result]} {name}({', '.join([*parameters, 'int *failure'])}) {{\n"
        )
        if self.called is None:
            return f"{head}{self.body}}}\n"
        arguments = [f"f_{field}" for field in self.fields] + ["failure"] * self.takes_failure
        return (
            f"namespace {name}_source {{\n{self.body}\n}}\n"
            f"{head}    return {name}_source::{self.called}({', '.join(arguments)});\n}}\n"
        )

    def error(self, failure: int) -> FunctionError:
        """The error of a failure that a run has stored, not 0."""
        site, reason = failure // 16, failure % 16
        if self.called is not None:
            return FunctionError(f"{self.name} stored failure {failure}")
        return self.sites[site].error(f"{self.name} failed: {REASONS[reason]}")

    def refused(self, reason: str) -> FunctionError:
        """The error of a result that cannot be used."""
        reason = f"{self.name} {reason}"
        return FunctionError(reason) if self.place is None else self.place.error(reason)

    def check(self, failure: int) -> None:
        """Raise FunctionError, which names the user's line, if a run has stored a failure."""
        if failure:
            raise self.error(int(failure))

    @classmethod
    def from_cuda(cls, source: str, name: str, fields: Mapping[str, Any], result: Any) -> Translated:
        """A function written in CUDA C++: the way out for what Python cannot say.

        Parameters
        ----------
        source : str
            With a definition `__device__ double name(long long source, double weight)`: one parameter for each field,
            of type `long long`, `double` or `bool`, and, if wanted, `int *failure` at the end, in which a number that
            is not 0 may be stored to make the run fail. It stands in a namespace, so there is no `#include` in it.
        name : str
        fields : mapping of str to {"int", "float", "bool"}
            The fields to be passed, in this order.
        result : {"int", "float", "bool"}

        Raises
        ------
        FunctionError
            If the source has no such function.
        """
        for argument, text in (("source", source), ("name", name)):
            if not isinstance(text, str):
                raise FunctionError(f"{argument}={shown(text)} is not text")
        known, kind = _checked(fields, result)
        if not _IDENTIFIER.fullmatch(name):
            raise FunctionError(f"name={shown(name)} is not a name of a function in CUDA C++")
        if re.search(r"^\s*#\s*include", source, re.MULTILINE):
            raise FunctionError(
                f"the source of {name} has an #include, which cannot stand in a namespace: leave it out"
            )
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
        found = re.findall(rf"__device__\s([^;{{}}()]*?)\b{name}\s*\(([^)]*)\)\s*\{{", bare)
        wanted = [C_TYPE[each] for each in known.values()]
        shape = f"__device__ {C_TYPE[kind]} {name}({', '.join(f'{c} {f}' for f, c in zip(known, wanted, strict=True))})"
        if len(found) != 1:
            raise FunctionError(f"the source has {len(found)} definitions of {name}, and needs one: {shape}")
        returns = _c_type(re.sub(r"\b(static|inline|constexpr|__forceinline__|__noinline__)\b", " ", found[0][0]))
        given = [_c_type(re.sub(r"\w+\s*$", "", part)) for part in found[0][1].split(",") if part.strip()]
        takes_failure = bool(given) and given[-1] == "int*"
        if returns != C_TYPE[kind] or given[: len(given) - takes_failure] != wanted:
            raise FunctionError(
                f"{name} is {returns} ({', '.join(given)}) and must be {shape}, with int *failure at the end if wanted"
            )
        made_of = repr(("CUDA", source, name, list(known.items()), kind))
        digest = hashlib.sha256(made_of.encode()).hexdigest()
        types = tuple(known.values())
        return cls(name, tuple(known), types, kind, None, digest, None, (), source, name, takes_failure)


_MADE: dict[Any, tuple[Any, Translated | FunctionError]] = {}
"""What functions became, with their trees, by these and the numbers around them: each call of a sampler translates its
own."""


def translate(function: Callable[[Any], Any], fields: Mapping[str, Any], result: Any) -> Translated:
    """Translate a Python function for CPU and GPU.

    Parameters
    ----------
    function : function
        With one parameter, written with `def` or `lambda`, that reads fields as attributes of it. It may use local
        variables, numbers of the code around it (taken as they are now), arithmetic, comparisons, `and`, `or`, `not`,
        conditional expressions, `if`, `for` over `range`, `while`, `min`, `max`, `abs`, `int`, `float`, `bool` and, of
        `math`, `sqrt`, `exp`, `log`, `pow`, `floor`, `ceil` and the constants.
    fields : mapping of str to {"int", "float", "bool"}
        The fields there are. Their order is that of the arguments.
    result : {"int", "float", "bool"}
        What the function returns; a narrower type is converted.

    Returns
    -------
    Translated

    Raises
    ------
    FunctionError
        If the function cannot be translated, with its file, the line and what is allowed.

    Notes
    -----
    Integers have 64 bits; one that does not fit is a failure, as are a division by zero, a square root or logarithm
    that Python refuses, and loops of more than 2 ** 20 steps. A variable that is an integer on one path and a float on
    another is a float, and an integer that meets a float is first rounded to one. Both devices return the same bits.
    They are Python's for all but `exp`, `log` and powers of floats, which may differ from it in the last digits
    (relative error 1e-15, for large powers 1e-12). Code after a `return`, `break` or `continue` is ignored.

    Examples
    --------
    >>> from graphdask.program.translate import translate
    >>> def heavy(e):
    ...     return e.weight * 2 if e.dst_degree > 10 else 1.0
    >>> translate(heavy, {"weight": "float", "dst_degree": "int"}, "float").fields
    ('weight', 'dst_degree')
    """
    known, kind = _checked(fields, result)
    source = read(function)
    numbers = outside(source.function)
    key = id(source.tree), tuple(known.items()), kind, numbers
    if numbers is None:
        return _translated(source, known, kind)
    found = _MADE.get(key)  # another thread may clear them at any time
    if found is None:
        if len(_MADE) >= MOST_READ:
            _MADE.clear()
        try:
            found = source.tree, _translated(source, known, kind)
        except FunctionError as error:
            found = source.tree, error
        _MADE[key] = found
    made = found[1]
    if isinstance(made, FunctionError):
        raise made.with_traceback(None)
    return made


def _translated(source: FunctionSource, known: Mapping[str, str], kind: str) -> Translated:
    body = Statements(source, known, kind).translate()
    used = tuple(field for field in known if field in body.used)
    parameters = ", ".join([*(f"f_{field}" for field in used), "failure"])
    python = f"{_HEADER}def {NAME}({parameters}):\n" + "".join(f"{line}\n" for line in body.python)
    types = tuple(known[field] for field in used)
    digest = hashlib.sha256(repr((python, types, kind)).encode()).hexdigest()
    cuda = "".join(f"{line}\n" for line in body.cuda)
    place = source.place(source.tree)
    return Translated(
        source.name, used, types, kind, python, digest, source.path, body.sites, cuda, place=place, numbers=body.numbers
    )


def _checked(fields: Mapping[str, Any], result: Any) -> tuple[dict[str, str], str]:
    if not isinstance(fields, Mapping):
        raise InputError(f"fields={shown(fields)} is not a mapping of names to types")
    for name, kind in (*fields.items(), ("result", result)):
        if not isinstance(kind, str | type) or kind not in _TYPES:
            raise InputError(f"fields, result: the type of {shown(name)} is {shown(kind)}, not one of int, float, bool")
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise InputError(f"the field {shown(name)} is not a name")
    return {name: _TYPES[kind] for name, kind in fields.items()}, _TYPES[result]


def _c_type(text: str) -> str:
    words = text.replace("*", " * ").split()
    return " ".join(word for word in words if word != "const").replace(" *", "*")
