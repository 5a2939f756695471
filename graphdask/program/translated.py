"""A function of the user, translated: what kernels of both devices are made of, and the errors of its failures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphdask.errors import FunctionError, InputError, Unsupported
from graphdask.program._cuda_source import takes_failure
from graphdask.program._function_source import Place
from graphdask.program._kinds import IDENTIFIER, kind_of, kinds_of
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
Results = tuple[tuple[str, str], ...]


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
    """The type of the result, one of the same; `bool` for a function with `results`, which says whether it has any."""
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
    results: Results = ()
    """Names and types of the results of a record; empty for a function of one number."""
    optional: bool = False
    """Whether a function with `results` may return none of them."""
    silent: bool = False
    """Whether it returns none of them on some path."""

    @property
    def compiled(self) -> Callable[..., Any]:
        """The function `(fields..., failure: int32 array of one)` for Numba's kernels and for Python, compiled.

        With `results` it returns a tuple of whether it has any, and of these, which are zeros if it has none.
        Compiled on first use, or read from the user's cache folder (kernels/functions/generated.py).

        Raises
        ------
        Unsupported
            For a function given in CUDA C++.
        """
        self.check_python()
        assert self.python is not None
        from graphdask.kernels.functions.generated import compiled  # Numba takes long to import

        kinds = (self.result, *(kind for _, kind in self.results)) if self.results else self.result
        return compiled(self.python, NAME, self.types, kinds)

    def check_python(self) -> None:
        """Raise Unsupported for a function given in CUDA C++, which a CPU cannot run."""
        if self.python is None:
            raise Unsupported(
                f'{self.name} is CUDA C++ and cannot run on a CPU: use device="cuda" or give a Python function'
            )

    def cuda(self, name: str) -> str:
        """The function of this name in CUDA C++, for a source that includes `user.cuh`.

        Its parameters are those of the Python twin: the fields, then `int *failure`, in global or shared memory. With
        `results` it has a pointer for each, `r_NAME`, before `failure`. If it returns true, it has written them all;
        if false, none.
        """
        if not IDENTIFIER.fullmatch(name):
            raise InputError(f"{name!r} is not a name of a function in CUDA C++")
        parameters = [f"{C_TYPE[kind]} f_{field}" for field, kind in zip(self.fields, self.types, strict=True)]
        parameters += [f"{C_TYPE[kind]} *r_{result}" for result, kind in self.results]
        head = (
            f"__device__ __forceinline__ {C_TYPE[self.result]} {name}({', '.join([*parameters, 'int *failure'])}) {{\n"
        )
        if self.called is None:
            return f"{head}{self.body}}}\n"
        arguments = [f"f_{field}" for field in self.fields] + [f"r_{result}" for result, _ in self.results]
        arguments += ["failure"] * self.takes_failure
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
        known, kind = kinds_of("fields", fields), kind_of("result", result)
        failure = takes_failure(source, name, C_TYPE[kind], [(C_TYPE[each], field) for field, each in known.items()])
        return cls._from_cuda(source, name, known, failure, kind)

    @classmethod
    def record_from_cuda(
        cls, source: str, name: str, fields: Mapping[str, Any], results: Mapping[str, Any]
    ) -> Translated:
        """A function of several results, or none, written in CUDA C++.

        Parameters
        ----------
        source : str
            With a definition `__device__ bool name(double distance, double *r_distance)`: one parameter for each
            field, then one pointer for each result, and, if wanted, `int *failure`, as for `from_cuda`. It writes the
            results and returns true, or returns false if there are none.
        name : str
        fields : mapping of str to {"int", "float", "bool"}
            The fields to be passed, in this order.
        results : mapping of str to {"int", "float", "bool"}
            The results, in the order of their pointers.

        Raises
        ------
        FunctionError
            If the source has no such function.
        """
        known, made = kinds_of("fields", fields), kinds_of("results", results)
        if not made:
            raise InputError("results is empty: name at least one result")
        parameters = [(C_TYPE[kind], field) for field, kind in known.items()]
        parameters += [(f"{C_TYPE[kind]}*", f"r_{result}") for result, kind in made.items()]
        failure = takes_failure(source, name, "bool", parameters)
        return cls._from_cuda(source, name, known, failure, "bool", tuple(made.items()))

    @classmethod
    def _from_cuda(
        cls, source: str, name: str, known: dict[str, str], failure: bool, kind: str, results: Results = ()
    ) -> Translated:
        made_of = repr(("CUDA", source, name, list(known.items()), kind, *results))
        digest = hashlib.sha256(made_of.encode()).hexdigest()
        types = tuple(known.values())
        return cls(
            name, tuple(known), types, kind, None, digest, None, (), source, name, failure,
            results=results, optional=bool(results), silent=bool(results),
        )  # fmt: skip
