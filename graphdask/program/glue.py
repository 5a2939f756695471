"""The functions that the kernels of programs call, written for a program; program_default.py says which these are.

They are written twice, in Python for Numba (_python_glue.py) and in CUDA C++ (_cuda_glue.py), from the same
expressions. A message is handed from one to the other in parts: its fields, `count` and `any` as an integer, an integer
that is added up as two of 32 bits, and where messages are chosen (`min` and `max` of several fields, `first`) the
vertex that sent it, which decides between equal ones; in CUDA also the place of the edge, which decides between
parallel ones.
"""

from __future__ import annotations

from typing import Any

from graphdask.kernels.functions.inserted import Written
from graphdask.program._cuda_glue import CudaGlue
from graphdask.program._python_glue import PythonGlue
from graphdask.program.definition import Definition, Function

MOST_KEPT = 256
"""Texts that are kept for the next run of the same program."""
_WRITTEN: dict[Any, Written] = {}


def written(definition: Definition, ending: Function | None = None) -> Written:
    """The functions of a program in both languages, with `until` if it is given; a function given in CUDA C++ leaves
    nothing in Python."""
    key = definition.key, None if ending is None else ending.code.digest
    found = _WRITTEN.get(key)
    if found is None:
        if len(_WRITTEN) >= MOST_KEPT:
            _WRITTEN.clear()
        found = _WRITTEN[key] = _written(definition, ending)
    return found


def _written(definition: Definition, ending: Function | None) -> Written:
    on_cpu = all(function.code.python is not None for function in definition.functions)
    return Written(PythonGlue(definition, ending).text() if on_cpu else "", CudaGlue(definition, ending).text())
