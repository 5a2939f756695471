"""What cannot be translated, and what fails when it runs, is told with the user's file, line and text."""

from __future__ import annotations

import linecache
import math
import time
from functools import lru_cache, partial, wraps

import numpy as np
import pytest
from user_functions import FIELDS, line_of, on_emulator, rows

from graphdask.errors import FunctionError, InputError, Unsupported
from graphdask.program.translate import translate
from graphdask.program.translated import REASONS, Translated

TEXT = "words"
HUGE = 1 << 70
NOT_A_NUMBER = math.nan
TABLE = np.arange(3)


def branches(e):
    return e.weight if e.is_neighbor else e.src


def divides(e):
    x = e.src
    return (
        x // e.degree  # here
    )


def spins(e):
    x = e.src
    while x != 0.5:  # here
        x = x + 1 - 1
    return 1


RUNTIME = [
    (divides, {"src": 1, "degree": 0}, "division by zero"),
    (spins, {"src": 1}, "loops of more than"),
]


@pytest.mark.parametrize(("function", "values", "reason"), RUNTIME)
def test_a_failure_at_run_time_names_the_line(function, values, reason):
    made, failure = translate(function, FIELDS, int), np.zeros(1, np.int32)
    assert made.compiled(*(values[name] for name in made.fields), failure) == 0
    with pytest.raises(FunctionError, match=reason) as raised:
        made.check(int(failure[0]))
    if function is spins:
        assert (raised.value.line, raised.value.source) == line_of(function, "# here")
    assert raised.value.path == __file__
    assert f"{function.__name__} failed" in str(raised.value)
    made.check(0)


def test_the_first_failure_is_kept():
    made, failure = translate(lambda e: 1 // e.src + math.sqrt(-1 - e.src), FIELDS, float), np.zeros(1, np.int32)
    made.compiled(0, failure)
    assert REASONS[failure[0] % 16] == "division by zero"


CUDA = """
__device__ double twice(double x) { return 2 * x; }
__device__ inline double bias(const long long src, double w) { return twice(w) + src; }  // double bias(int)
"""


def test_a_function_in_cuda_runs_on_a_gpu_only(rng):
    fields = {"src": int, "weight": float}
    made = Translated.from_cuda(CUDA, "bias", fields, float)
    failing = CUDA.replace("double w)", "double w, int *failure)").replace("return twice(w)", "*failure = 5; return w")
    fails = Translated.from_cuda(failing, "bias", fields, float)
    table = rows(rng, 50)
    (values, failures), (_, codes) = on_emulator([made, fails], table, 50)
    np.testing.assert_array_equal(values, 2 * table["weight"] + table["src"])
    assert not failures.any()
    assert (codes == 5).all()
    with pytest.raises(FunctionError, match="bias stored failure 5"):
        fails.check(5)
    with pytest.raises(Unsupported, match="bias is CUDA C\\+\\+ and cannot run on a CPU"):
        made.compiled  # noqa: B018
    assert made.digest != fails.digest


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        (
            CUDA,
            "other",
            r"0 definitions of other, and needs one: __device__ double other\(long long src, double weight\)",
        ),
        (CUDA.replace("const long long src", "int src"), "bias", r"bias is double \(int, double\) and must be"),
        (CUDA.replace("inline double", "float"), "bias", "bias is float"),
        (CUDA.replace("double w)", "double w, int more)"), "bias", r"\(long long, double, int\) and must be"),
        ("#include <cub/cub.cuh>\n" + CUDA, "bias", "#include"),
        (CUDA, "a b", "not a name"),
        ("", "bias", "0 definitions"),
    ],
)
def test_cuda_of_another_shape_is_refused(source, name, message):
    with pytest.raises(FunctionError, match=message):
        Translated.from_cuda(source, name, {"src": int, "weight": float}, float)


def test_types_and_names_that_are_not_known_are_refused():
    with pytest.raises(InputError, match=r"the type of 'weight' is 'double', not one of int, float, bool"):
        translate(branches, {"weight": "double"}, float)
    with pytest.raises(InputError, match=r"the type of 'result' is None"):
        translate(branches, FIELDS, None)
    with pytest.raises(InputError, match="'a b' is not a name"):
        translate(branches, {"a b": int}, float)
    with pytest.raises(InputError, match="'1x' is not a name"):
        translate(branches, FIELDS, float).cuda("1x")


# fmt: off
def returns_float(e): return e.weight  # int
def returns_int(e): return e.src  # bool
def no_field(e): return e.wieght  # int
def no_field_at_all(e): return e.xyzzy  # int
def deeper(e): return e.src.degree  # int
def whole(e): return e  # int
def passes_whole(e): return abs(e)  # int
def unknown_name(e): return e.src + nowhere  # int  # noqa: F821
def text(e): return TEXT  # int
def literal_text(e): return "a"  # int
def none(e): return None  # int
def huge(e): return HUGE  # int
def huge_literal(e): return 9223372036854775808  # int
def nan(e): return NOT_A_NUMBER  # float
def array(e): return TABLE[e.src]  # int
def called(e): return print(e.src)  # int
def method(e): return e.weight.is_integer()  # bool
def rounds(e): return round(e.weight)  # int
def other_math(e): return math.sin(e.weight)  # float
def missing_math(e): return math.nothing(e.weight)  # float
def clock(e): return time.time()  # float
def keywords(e): return max(e.src, 1, key=abs)  # int
def starred(e): return max(*(1, 2))  # int
def one_extreme(e): return max(e.src)  # int
def two_roots(e): return math.sqrt(e.src, 2)  # float
def shift(e): return e.src << 1  # int
def invert(e): return ~e.src  # int
def contained(e): return e.src in (1, 2)  # bool
def same(e): return e.src is None  # bool
def walrus(e): return (x := e.src) + x  # int
def listed(e): return [e.src]  # int
def imaginary(e): return 2j  # float
def formatted(e): return f"{e.src}"  # int


def bare_return(e):
    if e.src:
        return  # here
    return 1


def no_return(e):  # here
    if e.src:
        return 1


def loop_return(e):  # here
    while e.src:
        return 1


def maybe_unset(e):
    if e.src:
        x = 1
    return x  # here


def unset_by_loop(e):
    for i in range(e.src):
        x = i
    return x  # here


def read_before(e):
    x += 1  # here  # noqa: F821
    return x


def prints(e):
    print(e.src)  # here
    return 1


def asserts(e):
    assert e.src  # here
    return 1


def raises(e):
    if e.src:
        raise ValueError  # here
    return 1


def tries(e):
    try:  # here
        return 1
    finally:
        pass


def imports(e):
    import math as m  # here
    return m.pi


def inner(e):
    def more(x):  # here
        return x
    return more(e.src)


def pair(e):
    a, b = e.src  # here
    return a + b


def stores(e):
    e.src = 3  # here
    return 1


def rebinds(e):
    e = 3  # here
    return e


def walks(e):
    for _ in TABLE:  # here
        pass
    return 1


def float_range(e):
    for _ in range(e.weight):  # here
        pass
    return 1


def no_range(e):
    for _ in range():  # here
        pass
    return 1


def loop_else(e):
    while e.src:
        break
    else:
        return 2  # here
    return 1


def globally(e):
    global HUGE  # here
    HUGE = 3
    return 1


def calls_local(e):
    x = e.src
    return x(1)  # here


def generator(e):  # here
    yield e.src


async def later(e):  # here
    return e.src


def nothing():  # here
    return 1


def two(e, f):  # here
    return 1


def default(e=1):  # here
    return 1


def many(*e):  # here
    return 1


def keyword_only(*, e):  # here
    return 1
# fmt: on


REFUSED = {
    returns_float: "returns_float must return int, and this is float: write int",
    returns_int: "must return bool, and this is int: compare it",
    no_field: r"there is no field e.wieght, did you mean e.weight\? Fields: e.weight, e.src, e.degree, e.depth, e",
    no_field_at_all: r"there is no field e.xyzzy\. Fields: e.weight",
    deeper: "the attribute degree cannot be translated",
    whole: "e is used as a value: read one of its fields, such as e.weight",
    passes_whole: "e is used as a value",
    unknown_name: "nowhere is not defined",
    text: "TEXT, a str, cannot be translated; a function may use",
    literal_text: "'a', a str, cannot",
    none: "None, a NoneType, cannot",
    huge: "HUGE = 1180591620717411303424 does not fit 64 bits",
    huge_literal: "does not fit 64 bits",
    nan: "NOT_A_NUMBER is not a number",
    array: "indexing cannot",
    called: "a call of print cannot",
    method: "the attribute is_integer cannot",
    rounds: "a call of round cannot",
    other_math: "a call of math.sin cannot be translated; a function may use .* math.sqrt, exp",
    missing_math: "module math has no nothing",
    clock: "a call of time.time cannot",
    keywords: "max with keywords",
    starred: "max with keywords or",
    one_extreme: "max takes 2 or more numbers here, not 1",
    two_roots: "math.sqrt takes 1 numbers here, not 2",
    shift: "the operator << cannot",
    invert: "the operator ~ cannot",
    contained: "the comparison in cannot",
    same: "the comparison is cannot",
    walrus: "an assignment inside an expression",
    listed: "a list cannot",
    imaginary: "2j, a complex, cannot",
    formatted: "a string cannot",
    bare_return: "bare_return returns nothing here: it must return int",
    no_return: "no_return does not return a value on every path",
    loop_return: "does not return a value on every path",
    maybe_unset: "x has no value on some path to this line: set it before",
    unset_by_loop: "x has no value on some path",
    read_before: "x has no value on some path",
    prints: "an expression whose value is not used cannot",
    asserts: "assert cannot",
    raises: "raise cannot",
    tries: "try cannot",
    imports: "import cannot",
    inner: "a function inside the function cannot",
    pair: "an assignment of e.src to several names cannot be translated",
    stores: "an assignment to e.src cannot",
    rebinds: "e is a parameter and cannot be assigned to",
    walks: r"a loop over anything but range\(...\) cannot",
    float_range: "range takes integers, and e.weight is a float",
    no_range: "range takes 1 to 3 integers, not 0",
    loop_else: "else of a loop cannot",
    globally: "global cannot",
    calls_local: "a call of the number x cannot",
    generator: "a generator or an async function cannot",
    later: "a generator or an async function cannot",
    nothing: r"nothing must have one parameter, without a default, such as def nothing\(e\)",
    two: "two must have one parameter",
    default: "default must have one parameter",
    many: "many must have one parameter",
    keyword_only: "keyword_only must have one parameter",
}


@pytest.mark.parametrize(("function", "message"), REFUSED.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_what_cannot_be_translated_is_named_with_its_line(function, message):
    line, source = line_of(function, "# ")
    result = source.split("#")[1].strip()
    with pytest.raises(FunctionError, match=message) as raised:
        translate(function, FIELDS, "int" if result == "here" else result)
    assert (raised.value.path, raised.value.line, raised.value.source) == (__file__, line, source)
    assert str(raised.value).startswith(f"{__file__}:{line}: ")
    assert str(raised.value).endswith(f"\n    {source}")


@wraps(branches)
def wrapped(e):
    return e.src


class Callable:
    def __call__(self, e):
        return 1

    def method(self, e):
        return 1


@pytest.mark.parametrize(
    "function", [3, len, partial(branches), Callable(), Callable().method, Callable, wrapped, lru_cache(branches)]
)
def test_only_plain_functions_are_taken(function):
    with pytest.raises(FunctionError, match="is not a plain Python function: give one written with def or lambda"):
        translate(function, FIELDS, int)


def test_a_function_without_a_source_is_refused():
    scope = {}
    exec("def made(e):\n    return e.src\n", scope)
    with pytest.raises(FunctionError, match="the source of made cannot be read"):
        translate(scope["made"], FIELDS, int)


def test_a_source_that_has_changed_is_refused(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def made(e):\n    return e.src + 1\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    translate(scope["made"], FIELDS, int)
    for text in ("def made(e):\n    return e.src + 2\n", "\ndef made(e):\n    return e.src + 1\n"):
        path.write_text(text)
        with pytest.raises(FunctionError, match="has changed since made was imported"):
            translate(scope["made"], FIELDS, int)


def test_a_closure_without_a_value_is_named():
    def function(e):
        return e.src + late

    with pytest.raises(FunctionError, match="late has no value yet"):
        translate(function, FIELDS, int)
    late = 3
    assert translate(function, FIELDS, int).fields == ("src",)


def test_functions_on_one_line_are_distinguished():
    functions = [lambda e: 1, lambda e: 2]
    assert translate(functions[1], FIELDS, int).python.endswith("return np.int64(2)\n")


def test_expressions_that_are_nested_too_deeply_are_refused():
    scope = {"__name__": "deep"}
    text = "def deep(e):\n    return " + "(1 if e.src else " * 85 + "2" + ")" * 85 + "\n"
    linecache.cache["<deep>"] = (len(text), None, text.splitlines(True), "<deep>")
    exec(compile(text, "<deep>", "exec"), scope)
    with pytest.raises(FunctionError, match="deep is nested too deeply"):
        translate(scope["deep"], FIELDS, int)
