"""Functions that return records, on random rows: in Python, in Numba, and in CUDA C++ on the emulator of a GPU."""

from __future__ import annotations

from types import SimpleNamespace

import emulated
import numpy as np
import pytest
from user_functions import C_TYPES, DTYPES

from graphdask.program.translate import Field

E = {
    "source.distance": Field("source_distance", "float"),
    "source.id": Field("source_id", "int"),
    "weight": Field("weight", "float"),
    "superstep": Field("superstep", "int"),
}
V = {"distance": Field("distance", "float"), "count": Field("count", "int"), "seen": Field("seen", "bool")}
M = {"": Field("message", "float")}
PAIR = {"[0]": Field("first", "int"), "[1]": Field("second", "float")}
STATE = {"distance": "float", "count": "int", "seen": "bool"}
KEPT = {name: V[name] for name in STATE}
"""Results that a dict leaves out are what they were."""


def rows(rng, count=100):
    """Random values of all fields above, by their names."""
    kinds = {field.name: field.type for fields in (E, V, M, PAIR) for field in fields.values()}
    draw = {
        "float": lambda: np.round(rng.normal(0, 3, count), rng.integers(0, 3)),
        "int": lambda: rng.integers(-3, 5, count),
        "bool": lambda: rng.random(count) < 0.5,
    }
    return {name: draw[kind]() for name, kind in kinds.items()}


def _parameter(fields, row):
    """A parameter as Python's function takes it: an object with attributes, a number, or a tuple."""
    if "" in fields:
        return row[fields[""].name]
    if "[0]" in fields:
        return tuple(row[fields[f"[{k}]"].name] for k in range(len(fields)))
    made = SimpleNamespace()
    for path, field in fields.items():
        owner = made
        *owners, last = path.split(".")
        for name in owners:
            owner = owner.__dict__.setdefault(name, SimpleNamespace())
        setattr(owner, last, row[field.name])
    return made


def in_python(function, parameters, results, table, defaults=None):
    """What Python returns for each row: a tuple of the results, None for nothing, or the type of what it raises.

    A function of one result returns it as a bare number, which a bool is only where the result is called `x`.
    """
    for k in range(len(table["weight"])):
        row = {name: column[k].item() for name, column in table.items()}
        try:
            value = function(*(_parameter(fields, row) for fields in parameters))
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            yield type(error)
            continue
        if isinstance(value, dict):
            kept = {name: row[field.name] for name, field in (defaults or {}).items()}
            yield tuple({**kept, **value}[name] for name in results)
        elif isinstance(value, tuple):
            yield value
        else:
            bare = len(results) == 1 and value is not None and (type(value) is not bool or "x" in results)
            yield (value,) if bare else None


def on_cpu(made, table):
    """What a translated function returns for each row in Numba, with its failures."""
    columns, function, found = [table[name] for name in made.fields], made.compiled, []
    failures = np.zeros(len(table["weight"]), np.int32)
    for k in range(len(failures)):
        found.append(function(*(column[k] for column in columns), failures[k : k + 1]))
    return found, failures


def kernels_of(functions):
    """The text of a family in which kernel k calls function k for every row."""
    text = ['#include "common/common.cuh"', '#include "functions/user.cuh"']
    for k, made in enumerate(functions):
        inputs = [f"const {C_TYPES[kind]} *{name}" for name, kind in zip(made.fields, made.types, strict=True)]
        outputs = [f"{C_TYPES[kind]} *out_{name}" for name, kind in made.results]
        arguments = [*(f"{name}[i]" for name in made.fields), *(f"out_{name} + i" for name, _ in made.results)]
        text += [
            made.cuda(f"function_{k}"),
            f'extern "C" __global__ void kernel_{k}(',
            f"    {', '.join(['long long n', *inputs, *outputs, 'bool *given', 'int *failures'])}) {{",
            f"    GD_FOR(i, n) given[i] = function_{k}({', '.join([*arguments, 'failures + i'])});",
            "}",
        ]
    return "\n".join(text)


def on_emulator(functions, table):
    """What each function returns for every row on the emulator of a GPU, with its failures.

    What it did not write is 77, or True.
    """
    texts, count = {**emulated.sources(), "user_records.cu": kernels_of(functions)}, len(table["weight"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulated, "sources", lambda: texts)
        backend = emulated.EmulatedCuda(preemptive=False)
        kernels = backend.kernels("user_records")
        for k, made in enumerate(functions):
            columns = [backend.from_host(np.ascontiguousarray(table[name])) for name in made.fields]
            out = [backend.from_host(np.full(count, 77, DTYPES[kind])) for _, kind in made.results]
            given, failures = (backend.from_host(np.zeros(count, dtype)) for dtype in (np.bool_, np.int32))
            getattr(kernels, f"kernel_{k}")(count, *columns, *out, given, failures)
            backend.synchronize()
            answers = [backend.to_host(column).tolist() for column in (given, *out)]
            yield list(zip(*answers, strict=True)), backend.to_host(failures)
