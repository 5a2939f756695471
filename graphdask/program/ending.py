"""What follows a superstep of a loop without the host: the values of the aggregates, and whether `until` ends the run.

`until` is translated as other functions of a program are. The loop ends its call where the translated one is true,
fails, or reads an integer that no float holds; then the host calls the caller's function, which decides. A function
that cannot be translated, or that computes what Python computes with other last digits, is called after every
superstep.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from graphdask.errors import FunctionError
from graphdask.kernels.program.program_pack import BINS
from graphdask.program._glue_parts import indented
from graphdask.program.definition import Definition, Function
from graphdask.program.fields import Place
from graphdask.program.translate import Field, translate

INEXACT = re.compile(r"\b(exp|log|power)\(")
"""Functions whose last digits may not be Python's."""
WHOLE = 1 << 53
"""Up to which integers are the same as floats, as which functions may compare them."""
CUDA_CAST = {"int": "(long long)({})", "float": "(double)({})", "bool": "(({}) != 0)"}
CAST = {"int": "np.int64({})", "float": "np.float64({})", "bool": "({} != 0)"}


def ending_of(of: Definition, until: Callable[[Any], Any] | None) -> tuple[Function | None, str | None]:
    """The function `until` translated, or else why only Python can call it, as a clause after "because"; None and None
    where there is none."""
    aggregates = ((each.name, each.kind, value_of(of, k)) for k, each in enumerate(of.aggregates))
    places = {name: Place(Field(name, kind), value, "run") for name, kind, value in aggregates}
    for name in ("active", "superstep"):
        places[name] = Place(Field(name, "int"), name, "run")
    if until is None:
        return None, None
    try:
        code = translate(until, {name: place.field.type for name, place in places.items()}, "bool")
    except FunctionError as error:
        return None, error.reason if error.line is None else f"{error.reason} (line {error.line})"
    if code.python is None:
        return None, "it is CUDA C++"
    found = INEXACT.search(code.python)
    if found:
        return None, f"the last digits of {found[1]} may not be those of Python"
    return Function("until_of_caller", code, places), None


def value_of(of: Definition, k: int) -> str:
    """Where functions read the value of aggregate k, in both languages."""
    return f"a.{'floats' if of.aggregates[k].kind == 'float' else 'integers'}[{k}]"


def python_ending(of: Definition, ending: Function | None) -> str:
    """The functions of program_default.py that a loop calls between supersteps, for Numba."""
    made = [] if ending is None else [
        f"until_of_caller = compiled({ending.code.python!r}, 'user_function', {ending.code.types!r}, "
        f"{ending.code.result!r}, for_python=False)\n\n\n"
    ]  # fmt: skip
    cleared = [  # Numba compiles a function again for every literal
        f"clear(a.sums, np.int64({k}), np.int64({int(each.combine in ('min', 'max'))}))"
        for k, each in enumerate(of.aggregates)
    ]
    failures = ["a.failure_to_send", "a.failure_to_apply", *(f"a.failure{k}" for k in range(len(of.aggregates)))]
    count = len(of.aggregates)
    integers = [f"a.integers[{k}]" for k in range(count)] or ["np.int64(0)"]
    floats = [f"a.floats[{k}]" for k in range(count)] or ["0.0"]
    lines = ["looks = False"]
    for k, each in enumerate(of.aggregates):
        lines += _value(f"a.sums[{k * BINS}]", f"a.sums[{k * BINS + 1}]", k, each.combine, each.kind, value_of(of, k))
        if ending is not None and each.kind == "int" and each.name in ending.code.fields:
            lines.append(f"looks = looks or a.integers[{k}] >= {WHOLE} or a.integers[{k}] <= -{WHOLE}")
    if ending is not None:
        read = (ending.places[name] for name in ending.code.fields)
        given = [CAST[place.field.type].format(place.expression) for place in read]
        lines += [
            f"looks = until_of_caller({', '.join([*given, 'a.failure_of_until'])}) or looks",
            "looks = looks or a.failure_of_until[0] != 0", "a.failure_of_until[0] = 0",
        ]  # fmt: skip
    made += [
        f"@inlined\ndef clear_sums(a: Program):\n{indented(cleared or ['pass'])}\n\n",
        f"@inlined\ndef known(a: Program):\n    return ({', '.join(integers)},), ({', '.join(floats)},)\n\n\n",
        f"@inlined\ndef fails(a: Program):\n    return {' or '.join(f'{each}[0] != 0' for each in failures)}\n\n",
        f"@for_twins\ndef host_looks(active, superstep, a: Program):\n{indented([*lines, 'return looks'])}",
    ]
    return "".join(made)


def cuda_ending(of: Definition, ending: Function | None) -> str:
    """The functions of program_default.cuh that a team calls between supersteps, in CUDA C++."""
    known, read = ["bool looks = false;"], () if ending is None else ending.code.fields
    for k, each in enumerate(of.aggregates):
        lines = _cuda_value(each.combine, each.kind, f"integers[{k}]")
        if each.kind == "int" and each.name in read:
            lines.append(f"looks = looks || integers[{k}] >= {WHOLE}LL || integers[{k}] <= -{WHOLE}LL;")
        known += [f"if (k == {k}) {{", *(f"    {line}" for line in lines), "}"]
    head = "__device__ __forceinline__ bool"
    know = ["long long *const integers = (long long *)a.integers;", *known, "return looks;"]
    looks, made = ["return false;"], ""
    if ending is not None:
        made = f"#define GD_UNTIL 1\n{ending.code.cuda(ending.name)}"
        places = [ending.places[name] for name in read]
        given = [CUDA_CAST[place.field.type].format(place.expression) for place in places]
        looks = [
            f"const bool looks = {ending.name}({', '.join([*given, 'a.failure_of_until'])});",
            "const bool failed = *(volatile int *)a.failure_of_until != 0;", "*(volatile int *)a.failure_of_until = 0;",
            "return looks || failed;",
        ]  # fmt: skip
    return (
        f"{made}{head} know(int k, const long long *sums, const Program &a) {{\n{indented(know)}}}\n"
        f"{head} host_looks(long long active, long long superstep, const Program &a) {{\n{indented(looks)}}}\n"
    )


def _cuda_value(combine: str, kind: str, value: str) -> list[str]:
    """Statements in CUDA C++ that write the value of an aggregate, or the bits of a float, from its words `sums`."""
    if combine in ("count", "any"):
        return [f"{value} = sums[0] + (sums[1] << 32){' > 0' if combine == 'any' else ''};"]
    if combine == "sum" and kind == "float":
        return [f"{value} = __double_as_longlong(gd_exact_value(sums));"]
    if combine == "sum":  # of one that does not fit 64 bits the host says so
        return [
            "const long long high = sums[1] + (sums[0] >> 32);",
            f"{value} = (long long)((unsigned long long)high << 32) | (sums[0] & 4294967295LL);",
            "looks = high < -2147483648LL || high > 2147483647LL;",
        ]  # fmt: skip
    key, none = ("sums[0]", "gd_infinity()") if combine == "min" else ("~sums[0]", "-gd_infinity()")
    return [f"{value} = " + (f"__double_as_longlong(gd_of_ordered({key}, {none}));" if kind == "float" else f"{key};")]


def _value(low: str, high: str, k: int, combine: str, kind: str, value: str) -> list[str]:
    """Statements that write the value of aggregate k from its words, `low` the first one of them."""
    if combine in ("count", "any"):
        count = f"{low} + ({high} << 32)"
        return [f"{value} = np.int64({count} > 0)" if combine == "any" else f"{value} = {count}"]
    if combine == "sum" and kind == "float":
        return [f"{value} = exact_value(a.sums, np.int64({k}))"]
    if combine == "sum":  # of one that does not fit 64 bits the host says so
        return [
            f"high = {high} + ({low} >> 32)", f"{value} = (high << 32) | ({low} & 4294967295)",
            "looks = looks or high < -2147483648 or high > 2147483647",
        ]  # fmt: skip
    key = low if combine == "min" else f"~{low}"
    none = "np.inf" if combine == "min" else "-np.inf"
    return [f"{value} = of_ordered({key}, {none})" if kind == "float" else f"{value} = {key}"]
