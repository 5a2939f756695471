"""Users' functions on random values of their fields: in Python, in Numba, and in CUDA C++ on the emulator of a GPU."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import emulated
import numpy as np
import pytest

FIELDS = {"weight": "float", "src": "int", "degree": "int", "depth": int, "time": float, "is_neighbor": bool}
C_TYPES = {"int": "long long", "float": "double", "bool": "bool"}
DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}
ROUNDS = 400


def line_of(function, mark):
    """Number and text of the line of a function that has this comment."""
    lines, first = inspect.getsourcelines(function)
    found = next(k for k, line in enumerate(lines) if mark in line)
    return first + found, lines[found].strip()


def rows(rng, count=ROUNDS):
    """Random values of the fields, and some that are special."""
    weight = rng.choice([0.0, -0.0, 0.5, 1.0, -1.0, 3.0, 1e-3], count)
    weight = np.where(rng.random(count) < 0.8, np.round(rng.normal(0, 20, count), rng.integers(0, 9)), weight)
    return {
        "weight": weight,
        "src": rng.integers(-40, 40, count),
        "degree": rng.integers(0, 50, count),
        "depth": rng.integers(-2, 3, count),
        "time": np.where(rng.random(count) < 0.9, rng.normal(0, 8, count), rng.integers(-3, 4, count)),
        "is_neighbor": rng.random(count) < 0.5,
    }


def in_python(function, table, count):
    """What Python returns for each row, or the type of what it raises."""
    for i in range(count):
        try:
            value = function(SimpleNamespace(**{name: column[i].item() for name, column in table.items()}))
        except (ZeroDivisionError, OverflowError, ValueError) as error:
            value = type(error)
        yield TypeError if isinstance(value, complex) else value


def on_cpu(made, table, count):
    """The values and failures of a function for every row, in Numba."""
    columns = [table[name] for name in made.fields]
    values, failures = np.zeros(count, DTYPES[made.result]), np.zeros(count, np.int32)
    function = made.compiled
    for i in range(count):
        values[i] = function(*(column[i] for column in columns), failures[i : i + 1])
    return values, failures


def kernels_of(functions):
    """The text of a family in which kernel k calls function k for every row."""
    text = ['#include "common/common.cuh"', '#include "functions/user.cuh"']
    for k, made in enumerate(functions):
        columns = [f"const {C_TYPES[kind]} *{name}" for name, kind in zip(made.fields, made.types, strict=True)]
        inputs = "".join(f"{column}, " for column in columns)
        arguments = "".join(f"{name}[i], " for name in made.fields)
        text += [
            made.cuda(f"function_{k}"),
            f'extern "C" __global__ void kernel_{k}(',
            f"    long long n, {inputs}{C_TYPES[made.result]} *out, int *failures) {{",
            f"    GD_FOR(i, n) out[i] = function_{k}({arguments}failures + i);",
            "}",
        ]
    return "\n".join(text)


def on_emulator(functions, table, count):
    """The values and failures of each function for every row, on the emulator of a GPU."""
    texts = {**emulated.sources(), "user_functions.cu": kernels_of(functions)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulated, "sources", lambda: texts)
        backend = emulated.EmulatedCuda(preemptive=False)
        kernels = backend.kernels("user_functions")
        for k, made in enumerate(functions):
            columns = [backend.from_host(np.ascontiguousarray(table[name])) for name in made.fields]
            out = backend.from_host(np.full(count, 77, DTYPES[made.result]))
            failures = backend.from_host(np.zeros(count, np.int32))
            getattr(kernels, f"kernel_{k}")(count, *columns, out, failures)
            backend.synchronize()
            yield backend.to_host(out), backend.to_host(failures)


def expression(rng, depth, kind):
    """A random expression of a kind, as text."""
    leaves = {
        "int": ["e.src", "e.degree", "e.depth", "x", "3", "-2", "7"],
        "float": ["e.weight", "e.time", "y", "0.5", "-1.25", "4.0"],
        "bool": ["e.is_neighbor", "True", "False"],
    }
    if depth == 0:
        return str(rng.choice(leaves[kind]))

    def part(*kinds):
        return expression(rng, depth - 1, str(rng.choice(kinds)))

    any_kind = ("int", "float", "bool")
    forms = {
        "int": [
            lambda: f"({part('int')} {rng.choice(['+', '-', '*', '//', '%'])} {part('int', 'bool')})",
            lambda: f"-{part('int')}",
            lambda: f"abs({part('int')})",
            lambda: f"({part('int')} if {part(*any_kind)} else {part('int')})",
            lambda: f"{rng.choice(['min', 'max'])}({part('int')}, {part('int')})",
            lambda: f"({part('int')} {rng.choice(['and', 'or'])} {part('int')})",
            lambda: f"int({part('bool', 'int')})",
        ],
        "float": [
            lambda: f"({part('float')} {rng.choice(['+', '-', '*', '/', '//', '%'])} {part(*any_kind)})",
            lambda: f"({part('int')} / {part('int', 'bool')})",
            lambda: f"math.sqrt({part('float')})",
            lambda: f"({part('float')} if {part(*any_kind)} else {part(*any_kind)})",
            lambda: f"{rng.choice(['min', 'max'])}({part('float')}, {part('int', 'float')})",
            lambda: f"({part('float')} {rng.choice(['and', 'or'])} {part(*any_kind)})",
        ],
        "bool": [
            lambda: f"({part(*any_kind)} {rng.choice(['<', '<=', '==', '!=', '>', '>='])} {part(*any_kind)})",
            lambda: f"({part('int', 'float')} < {part('int', 'float')} <= {part('int', 'float')})",
            lambda: f"(not {part(*any_kind)})",
            lambda: f"({part('bool')} {rng.choice(['and', 'or'])} {part('bool')})",
            lambda: f"bool({part(*any_kind)})",
        ],
    }
    return forms[kind][rng.integers(len(forms[kind]))]()
