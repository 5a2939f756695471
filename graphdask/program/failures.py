"""What a failure of a function of the caller is called."""

from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable
from typing import Any

from graphdask.errors import FunctionError
from graphdask.program._glue_parts import NOT_A_NUMBER, TOO_LARGE_SUM, TOO_WIDE
from graphdask.program.definition import Definition, Function


def error_of(of: Definition, function: Function, failure: int) -> FunctionError:
    """The error of a failure that kernels have stored for a function; it names the line."""
    site, reason = failure // 16, failure % 16
    code, sends = function.code, function is of.send
    if reason == NOT_A_NUMBER and (sends or function.name.startswith("aggregate")):
        return code.refused("sends NaN; return None where there is no message" if sends else "returns NaN")
    if reason == NOT_A_NUMBER:
        return code.refused(f"gives {of.state[site].name} the value NaN")
    if reason == TOO_WIDE:
        field = of.state[site]
        number = "an integer" if field.kind == "int" else "a float"
        return code.refused(f"gives {field.name} {number} that does not fit {field.dtype}; take {field.kind}")
    if reason == TOO_LARGE_SUM:
        return code.refused("sends integers whose sum at a vertex does not fit 64 bits; send floats")
    return code.error(failure)


def ended(until: Callable[[Any], Any], known: Any) -> bool:
    """Whether `until` ends the run. If it divides by zero, or its arithmetic fails otherwise, the error names the line,
    as it does where it returns what is neither true nor false; any other exception of it comes back as it is."""
    try:
        value = until(known)
    except FunctionError:  # a ValueError that names its line already
        raise
    except (ArithmeticError, ValueError) as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        if not frames:  # until is no function of Python, such as a method of NumPy
            raise
        path, line = frames[-1].filename, frames[-1].lineno
        source = linecache.getline(path, line or 0).strip() or None
        raise FunctionError(f"until failed: {error}", path, line, source) from error
    try:
        if not inspect.isawaitable(value):
            return bool(value)
        because = None
    except Exception as error:  # an array of several values, a Delayed of Dask
        because = error
    if inspect.iscoroutine(value):
        value.close()
    raise FunctionError(f"until returns a {type(value).__name__}, which is neither true nor false") from because
