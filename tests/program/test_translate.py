"""A user's Python function gives the same value in Python, in Numba and in CUDA C++; what fails names its line."""

from __future__ import annotations

import doctest
import importlib.util
import math
import pickle
import struct
from math import sqrt

import numpy as np
import pytest
from nvrtc import compile_ptx
from user_functions import DTYPES, FIELDS, ROUNDS, expression, in_python, kernels_of, on_cpu, on_emulator, rows

from graphdask.errors import FunctionError
from graphdask.program import translate as translate_module
from graphdask.program.translate import translate

SCALE = 2.5
LIMIT = 7


def nested(p=None):
    factor = 3 if p is None else p

    def function(e):
        """Has a docstring."""
        return e.weight * factor + SCALE

    return function


def branches(e):
    if e.degree > 10:
        x = 1
    elif e.is_neighbor:
        x = e.weight / 2
    else:
        x = -e.src
    return x


def second_order(e):
    p = 2.0
    q = 0.5
    if e.src == e.degree:
        return 1 / p * e.weight
    if e.is_neighbor:
        return e.weight
    return e.weight / q


def collatz(e):
    n = abs(e.src) + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def loops(e):
    total = 0
    for i in range(e.degree):
        for j in range(i, -e.src, -3):
            if j % 4 == 1:
                continue
            if total > 500:
                break
            total += j * i
        total -= 1
    return total


def endless(e):
    k = 0
    while True:
        k += 1
        if k * k > e.degree:
            found = k
            break
    return found


def widens(e):
    x = 0
    y = x
    for _ in range(5):
        y = x
        x = x * 0.5 + e.weight
    return y + x


def loop_variable(e):
    i = -1
    for i in range(e.degree):
        i += 1
    return i


def chained(e):
    a = b = e.src * 2
    b = a = a + b - 3
    a += 1
    return 0 < a - b <= e.degree // 2 < 40 != e.depth


def unreachable(e):
    return e.depth
    return "never"


def annotated(e):
    x: float = e.degree
    x /= 4
    x **= 2
    x -= True
    return int(x)


LAMBDAS = (lambda e: e.src + 1, lambda e: e.src - 1)
EXACT = [
    (lambda e: e.weight * 2 if e.degree > 10 else 1.0, "float"),
    (lambda e: e.src // e.degree, "int"),
    (lambda e: e.src % e.degree, "int"),
    (lambda e: e.src / e.degree, "float"),
    (lambda e: e.weight // e.time, "float"),
    (lambda e: e.weight % e.time, "float"),
    (lambda e: e.weight / e.time - e.src * e.time + 0.1, "float"),
    (lambda e: e.weight * e.time + e.weight * e.weight, "float"),
    (lambda e: e.src**2 + e.degree**3 - (-e.src) ** True, "int"),
    (lambda e: min(e.src, e.degree, 3) * max(e.weight, e.time) + max(e.is_neighbor, e.depth), "float"),
    (lambda e: abs(e.src) + abs(e.weight) - abs(e.is_neighbor), "float"),
    (lambda e: int(e.weight) + math.floor(e.time) * math.ceil(e.weight) + math.floor(e.src), "int"),
    (lambda e: math.sqrt(e.weight) + sqrt(e.degree), "float"),
    (lambda e: (e.src and e.weight) or e.degree, "float"),
    (lambda e: (e.src or 3) and (e.is_neighbor or e.depth), "int"),
    (lambda e: not (e.src > 0 and (e.weight > 0 or not e.is_neighbor)), "bool"),
    (lambda e: bool((e.src and e.degree / e.src > 1) or e.weight < 1), "bool"),
    (lambda e: e.src < e.weight <= e.degree * 2 < e.time + 60, "bool"),
    (lambda e: +e.is_neighbor - (-e.is_neighbor) + (e.is_neighbor == True), "int"),  # noqa: E712
    (lambda e: bool(e.src) + bool(e.weight) + float(e.is_neighbor), "float"),
    (
        lambda e: LIMIT * math.pi + math.e * SCALE - math.inf * (e.src > 1000 and 1) if e.src > 1000 else -math.tau,
        "float",
    ),
    (lambda e: 5, "float"),
    (lambda e: -9223372036854775808 + abs(e.src), "int"),
    *((function, "int") for function in LAMBDAS),
    (nested(), "float"),
    (nested(np.float64(0.7)), "float"),
    (branches, "float"),
    (second_order, "float"),
    (collatz, "int"),
    (loops, "int"),
    (endless, "int"),
    (widens, "float"),
    (loop_variable, "int"),
    (chained, "bool"),
    (unreachable, "int"),
    (annotated, "int"),
]
ROUNDED = [
    (lambda e: math.exp(e.weight) + math.exp(-e.src), "float"),
    (lambda e: math.log(e.weight) * math.log(e.degree, 2), "float"),
    (lambda e: math.pow(e.weight, e.time), "float"),
    (lambda e: e.weight**e.src + e.degree**-2, "float"),
    (lambda e: e.weight**0.5 + abs(e.time) ** 0.3 + (e.src + 0.5) ** 3, "float"),
    (lambda e: math.exp(e.weight * 40) * 2.0**-20, "float"),
]
PYTHON_SAYS = {
    ZeroDivisionError: {1},
    OverflowError: {5, 7},
    ValueError: {3, 4, 6, 7, 1},
    TypeError: {6},
}


def agree(functions, results, table, tolerance=0.0, may_overflow=False):
    """Hold Python, Numba and CUDA C++ against each other; returns how many rows had a value."""
    count = len(table["src"])
    made = [translate(function, FIELDS, result) for function, result in zip(functions, results, strict=True)]
    good = 0
    for function, one, (gpu, gpu_failures) in zip(functions, made, on_emulator(made, table, count), strict=True):
        cpu, cpu_failures = on_cpu(one, table, count)
        np.testing.assert_array_equal(cpu_failures, gpu_failures)
        np.testing.assert_array_equal(cpu.view(np.uint8)[~np.isnan(cpu).repeat(cpu.itemsize)],
                                      gpu.view(np.uint8)[~np.isnan(cpu).repeat(cpu.itemsize)])  # fmt: skip
        for i, value in enumerate(in_python(function, table, count)):
            where = {name: column[i].item() for name, column in table.items()}, one.python
            reason = int(cpu_failures[i]) % 16
            if isinstance(value, type):
                assert reason in PYTHON_SAYS[value], where
            elif reason:
                assert reason in (2, 7), where  # an integer of Python may have any size
                assert may_overflow, where
            else:
                assert value == pytest.approx(cpu[i], rel=tolerance, abs=tolerance, nan_ok=True), where
                good += 1
    return good


def test_functions_return_what_python_returns(rng):
    functions, results = zip(*EXACT, strict=True)
    assert len(functions) > 30
    assert agree(functions, results, rows(rng)) > 0.8 * ROUNDS * len(functions)


def test_transcendental_functions_are_near_those_of_python(rng):
    functions, results = zip(*ROUNDED, strict=True)
    assert agree(functions, results, rows(rng), tolerance=1e-12) > 0.3 * ROUNDS * len(functions)


def test_exp_log_and_root_are_within_three_units_in_the_last_place(rng):
    exp = translate(lambda e: math.exp(e.weight), FIELDS, float).compiled
    log = translate(lambda e: math.log(e.weight), FIELDS, float).compiled
    failure = np.zeros(1, np.int32)
    for x in [*rng.uniform(-700, 700, 2000), *rng.normal(0, 1, 2000), -745.1, 709.7, 1e-300, 0.0]:
        assert abs(exp(x, failure) - math.exp(x)) <= 3 * math.ulp(math.exp(x))
    for x in [*np.exp(rng.uniform(-700, 700, 2000)), *rng.normal(1, 0.1, 2000) ** 2, 5e-324, 1.0, 1.7e308]:
        assert abs(log(x, failure) - math.log(x)) <= 3 * math.ulp(math.log(x))
    assert failure[0] == 0


EXTREMES = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    2**31,
    -(2**31),
    2**31 - 1,
    3037000500,
    -3037000500,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
]
INTEGER = [
    lambda e: e.src + e.degree,
    lambda e: e.src - e.degree,
    lambda e: e.src * e.degree,
    lambda e: e.src // e.degree,
    lambda e: e.src % e.degree,
    lambda e: -e.src,
    lambda e: abs(e.src),
    lambda e: e.src ** (e.degree % 5),
]


def test_integers_that_do_not_fit_64_bits_fail_and_others_are_exact(rng):
    pairs = [(a, b) for a in EXTREMES for b in EXTREMES]
    pairs += [tuple(int(x) >> int(rng.integers(64)) for x in rng.integers(-(2**63), 2**63, 2)) for _ in range(300)]
    table = {"src": np.array([a for a, _ in pairs]), "degree": np.array([b for _, b in pairs])}
    made = [translate(function, FIELDS, int) for function in INTEGER]
    for function, one, (gpu, gpu_failures) in zip(INTEGER, made, on_emulator(made, table, len(pairs)), strict=True):
        cpu, failures = on_cpu(one, table, len(pairs))
        np.testing.assert_array_equal(cpu, gpu)
        np.testing.assert_array_equal(failures, gpu_failures)
        for value, found, failure in zip(in_python(function, table, len(pairs)), cpu, failures % 16, strict=True):
            if value is ZeroDivisionError:
                assert failure == 1
            elif -(2**63) <= value < 2**63:
                assert (found, failure) == (value, 0)
            else:
                assert failure == 2


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    5e-324,
    1e308,
    -1e308,
    math.inf,
    -math.inf,
    math.nan,
    2.0**63,
    0.3,
    -2.5,
]
FLOATING = [
    lambda e: e.weight // e.time,
    lambda e: e.weight % e.time,
    lambda e: e.weight / e.time,
    lambda e: math.pow(e.weight, e.time),
    lambda e: e.weight**e.time,
    lambda e: min(e.weight, e.time),
    lambda e: max(e.weight, e.time),
    lambda e: math.exp(e.weight),
    lambda e: math.log(e.weight),
    lambda e: math.sqrt(e.weight),
    lambda e: int(e.weight),
    lambda e: math.floor(e.weight),
    lambda e: math.ceil(e.time),
    lambda e: e.weight < e.time or e.weight != e.weight,
]


def test_zeros_infinities_and_nan_behave_as_in_python():
    pairs = [(a, b) for a in SPECIAL for b in SPECIAL]
    table = {"weight": np.array([a for a, _ in pairs]), "time": np.array([b for _, b in pairs])}
    table |= {name: np.zeros(len(pairs), np.int64) for name in ("src", "degree", "depth", "is_neighbor")}
    assert agree(FLOATING, [float] * len(FLOATING), table, tolerance=1e-12, may_overflow=True) > 0.4 * len(pairs) * len(
        FLOATING
    )
    function = translate(FLOATING[1], FIELDS, float).compiled
    for a, b in ((-0.0, 2.0), (0.0, -2.0), (4.0, -2.0)):
        assert struct.pack("d", function(a, b, np.zeros(1, np.int32))) == struct.pack("d", a % b)


def test_random_functions_return_what_python_returns(rng, tmp_path, monkeypatch, host):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # what will not come again is not kept
    host.temporary_folder(tmp_path)
    texts = ["import math"]
    results = [str(rng.choice(["int", "float", "bool"])) for _ in range(12)]
    for k, result in enumerate(results):
        texts += [
            f"def function_{k}(e):",
            "    x = 1",
            "    y = 0.75",
            f"    if {expression(rng, 2, 'bool')}:",
            f"        x = {expression(rng, 3, 'int')}",
            f"    for i in range({expression(rng, 1, 'int')} % 5):",
            f"        y = {expression(rng, 2, 'float')} + i",
            f"    return {expression(rng, 4, result)}",
        ]
    path = tmp_path / "functions.py"
    path.write_text("\n".join(texts) + "\n")
    spec = importlib.util.spec_from_file_location("functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table, chosen = rows(rng, 200), []
    for k, result in enumerate(results):  # some raise for every row
        function = getattr(module, f"function_{k}")
        if len(chosen) < 3 and not all(isinstance(value, type) for value in in_python(function, table, 200)):
            chosen.append((function, result))
    functions, results = zip(*chosen, strict=True)
    assert agree(functions, results, table, may_overflow=True, tolerance=1e-15) > 0


def test_nvrtc_compiles_the_functions_and_fuses_nothing(tmp_path):
    pytest.importorskip("nvidia.cuda_nvrtc", reason="needs NVRTC, which the extra 'test' installs")
    functions = [translate(function, FIELDS, result) for function, result in (*EXACT, *ROUNDED)]
    path = tmp_path / "functions.cu"
    path.write_text(kernels_of(functions))
    folder = importlib.util.find_spec("graphdask.kernels").submodule_search_locations
    assert ".entry kernel_0(" in compile_ptx(path, 70, include=list(folder))
    sums = [translate(lambda e: e.weight * e.time + e.weight * e.src, FIELDS, float), functions[-1], functions[-5]]
    path.write_text(kernels_of(sums))
    assert "fma.rn.f64" not in compile_ptx(path, 90, include=list(folder))


@pytest.mark.gpu
def test_a_gpu_returns_the_bits_of_the_cpu(rng):
    import cupy

    table, count = rows(rng), ROUNDS
    functions = [translate(function, FIELDS, result) for function, result in (*EXACT, *ROUNDED)]
    (folder,) = importlib.util.find_spec("graphdask.kernels").submodule_search_locations
    module = cupy.RawModule(code=kernels_of(functions), options=("-std=c++17", f"-I{folder}"))
    for k, made in enumerate(functions):
        columns = [cupy.asarray(table[name]) for name in made.fields]
        out = cupy.full(count, 77, DTYPES[made.result])
        failures = cupy.zeros(count, cupy.int32)
        module.get_function(f"kernel_{k}")((3,), (64,), (np.int64(count), *columns, out, failures))
        cpu, cpu_failures = on_cpu(made, table, count)
        np.testing.assert_array_equal(failures.get(), cpu_failures)
        np.testing.assert_array_equal(out.get().view(np.uint8), cpu.view(np.uint8), made.python)


def test_only_the_fields_in_use_are_arguments_in_the_order_of_the_fields():
    made = translate(lambda e: e.depth + e.src * e.weight, FIELDS, float)
    assert (made.fields, made.types, made.result) == (("weight", "src", "depth"), ("float", "int", "int"), "float")
    assert made.cuda("bias").startswith(
        "__device__ __forceinline__ double bias(double f_weight, long long f_src, long long f_depth, int *failure) {"
    )


def test_the_digest_is_of_the_code_with_its_constants():
    here, there = translate(nested(), FIELDS, float), translate(nested(3), FIELDS, "float")
    assert here.digest == there.digest
    assert here.digest != translate(nested(4), FIELDS, float).digest
    assert here.digest != translate(nested(3.0), {"weight": "int"}, float).digest
    assert len({translate(function, FIELDS, result).digest for function, result in EXACT}) == len(EXACT)


def test_a_function_is_translated_again_where_a_number_around_it_has_changed(monkeypatch):
    def digests():
        return {translate(function, FIELDS, "float").digest for function in functions}

    functions = [nested(4), nested(4)]
    before = digests()
    assert len(before) == 1
    monkeypatch.setitem(globals(), "SCALE", 2)
    whole = digests()
    monkeypatch.setitem(globals(), "SCALE", -0.0)
    below = digests()
    monkeypatch.setitem(globals(), "SCALE", 0.0)
    assert len(before | whole | below | digests()) == 4
    functions = [nested(4), nested(5), nested(4)]
    assert len(digests()) == 2
    monkeypatch.setitem(globals(), "SCALE", "2")
    for _ in range(2):
        with pytest.raises(FunctionError, match="SCALE"):
            digests()


def test_a_translation_can_be_sent_to_another_process():
    made = translate(branches, FIELDS, float)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.compiled is made.compiled


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(translate_module).failed == 0
