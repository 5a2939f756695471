"""What a function of several parameters and results must not be is told with the user's file, line and text."""

from __future__ import annotations

import inspect
import linecache
import math

import numpy as np
import pytest
from user_functions import line_of
from user_records import KEPT, PAIR, STATE, E, M, V

from graphdask.errors import FunctionError, InputError
from graphdask.program.translate import Field, translate, translate_record
from graphdask.program.translated import Translated

NOT_A_NUMBER = math.nan
ONE = {"x": "float"}
NAMES = "a dict or tuple of distance, count, seen"


def check(function, message, parameters, results, line, **options):
    with pytest.raises(FunctionError, match=message) as raised:
        translate_record(function, parameters, results, **options)
    assert (raised.value.path, raised.value.line, raised.value.source) == (__file__, *line)


# fmt: off
def misspelt(e): return e.source.distanc  # e
def misspelt_above(e): return e.sorce.distance  # e
def elsewhere(e): return e.distance  # e
def not_there(e): return e.source.xyzzy  # e
def half(e): return e.source + 1  # e
def deeper(e): return e.weight.real  # e
def method(e): return e.source.distance.is_integer()  # e
def indexed(e): return e.weight[0]  # e
def no_item(v, m): return m[2]  # p
def by_variable(v, m): return m[v.count]  # p
def whole_pair(v, m): return m  # p
def not_a_pair(v, m): return m[0]  # m
def called(v, m): return m(1)  # m
def whole_state(v, m): return v  # m
def rebinds(v, m): m = m + 1  # m
def nan(v, m): return NOT_A_NUMBER  # m
def few(v): return 1  # m
def many(v, m, more): return 1  # m
def default(v, m=0): return 1  # m
def text(e): return e["weight"]  # e
def again(e):
    s = e.source  # e
    s = e
    return s.superstep
def under_a_condition(e):
    if e.weight > 0:
        s = e.source  # e
    return s.distance
def before(e):
    x = s.distance  # noqa: F821  # e
    s = e.source  # noqa: F841
    return x
def alias_as_number(e):
    s = e.source
    return s + 1  # e
def alias_misspelt(e):
    s = e.source
    return s.distanc  # e
def unpacked(v, m):
    a, b = v.distance  # m
    return a + b
def unlike_many(v, m):
    a, b = m, m, m  # m
    return a + b
# fmt: on


READS = {
    misspelt: r"no field e.source.distanc, did you mean e.source.distance\? Fields: e.source.distance, e.source.id, e",
    misspelt_above: r"there is no field e.sorce.distance, did you mean e.source.distance\?",
    elsewhere: r"there is no field e.distance, did you mean e.source.distance\?",
    not_there: r"there is no field e.source.xyzzy\. Fields: e.source.distance, ",
    half: "e.source is used as a value: read one of its fields, such as e.source.distance",
    deeper: "the attribute real cannot be translated",
    method: "the attribute is_integer cannot be translated",
    indexed: "indexing cannot be translated",
    no_item: r"there is no field m\[2\]\. Fields: v.distance, v.count, v.seen, m\[0\], m\[1\]",
    by_variable: "indexing cannot be translated",
    whole_pair: r"m is used as a value: read one of its fields, such as m\[0\]",
    not_a_pair: r"m is a number and has no field m\[0\]: write m alone",
    called: "a call of the number m cannot be translated",
    whole_state: "v is used as a value: read one of its fields, such as v.distance",
    rebinds: "m is a parameter and cannot be assigned to",
    nan: "NOT_A_NUMBER is not a number",
    few: r"apply must have two parameters, without defaults, such as def apply\(v, m\)",
    many: "apply must have two parameters",
    default: "apply must have two parameters",
    again: "s = e.source names what has fields: assign it once, outside of if, for and while",
    under_a_condition: "s = e.source names what has fields: assign it once",
    before: "the attribute distance cannot be translated",
    alias_as_number: "e.source is used as a value: read one of its fields, such as e.source.distance",
    alias_misspelt: r"there is no field e.source.distanc, did you mean e.source.distance\?",
    unpacked: "an assignment of v.distance to several names cannot be translated",
    unlike_many: "3 values are assigned to 2 names",
    text: "indexing cannot be translated",
}


@pytest.mark.parametrize(("function", "message"), READS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_what_a_function_reads_and_is_not_there_is_named(function, message):
    line = line_of(function, "# ")
    parameters = {"e": (E,), "p": (V, PAIR), "m": (V, M)}[line[1][-1]]
    what = "send(e)" if parameters == (E,) else "apply(v, m)"
    check(function, message, parameters, ONE, line, what=what)


# fmt: off
def number(v, m): return m
def variable(v, m):
    new = m
    return new  # here
def kept_in_a_variable(v, m):
    new = {"distance": m}  # here
    return new
def empty(v, m): return {}
def unknown(v, m): return {"distnace": m}
def unlike(v, m): return {"xyzzy": m}
def twice(v, m): return {"seen": True, "seen": False}  # noqa: F601
def computed_name(v, m): return {m: 1}
def spread(v, m): return {**v}
def whole_number(v, m): return {"count": m}
def truth(v, m): return {"seen": v.count}
def short(v, m): return m, 1
def starred(v, m): return (*v, 1)
def listed(v, m): return [m, 1, True]
def both(v, m): return {"count": 1} and {"seen": True}
def number_or(v, m): return v.seen or {"count": 1}
def number_and(v, m): return v.seen and m
def one_branch(v, m): return {"count": 1} if v.seen else m
# fmt: on

RECORDS = {
    number: f"apply must return {NAMES}, or None, and this is not one",
    variable: "apply must return a dict or tuple",
    kept_in_a_variable: "a dict cannot be translated",
    empty: "this dict is empty: it needs at least one of distance, count, seen",
    unknown: r"there is no result distnace, did you mean distance\? Results: distance, count, seen",
    unlike: r"there is no result xyzzy\. Results: distance, count, seen",
    twice: "seen stands twice in this dict",
    computed_name: "apply must return a dict whose keys are names of results",
    spread: "apply must return a dict whose keys are names of results",
    whole_number: r"count must be int, and this is float: write int\(...\)",
    truth: r"seen must be bool, and this is int: compare it with something, or write bool\(...\)",
    short: "this tuple has 2 values and must have 3: distance, count, seen",
    starred: r"a tuple with \* cannot be translated",
    listed: "apply must return a dict or tuple",
    both: "a dict cannot be translated",
    number_or: "apply must return a dict or tuple",
    number_and: "apply must return a dict or tuple",
    one_branch: "apply must return a dict or tuple",
}


@pytest.mark.parametrize(("function", "message"), RECORDS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_record_of_another_shape_is_named(function, message):
    line = line_of(function, "# here" if "# here" in inspect.getsource(function) else "def ")
    check(function, message, (V, M), STATE, line, defaults=KEPT, optional=True, what="apply")


# fmt: off
def returns_none(v, m): return {"distance": m, "count": 1, "seen": True} if m else None
def returns_false(v, m): return False
def under_a_test(v, m): return m > 0 and (m, 1, True)
def bare_return(v, m):
    if m > 0:
        return  # here
    return m, 1, True
def falls_off(v, m):
    if m > 0:
        return m, 1, True
def without_seen(v, m): return {"distance": m, "count": 1}
# fmt: on

MISSING = {
    returns_none: f"returns_none returns nothing here: it must return {NAMES}",
    returns_false: "returns_false returns nothing here",
    under_a_test: "under_a_test returns nothing here",
    bare_return: "bare_return returns nothing here",
    falls_off: "falls_off does not return a value on every path",
    without_seen: f"this dict has no seen: without_seen must return {NAMES}",
}


@pytest.mark.parametrize(("function", "message"), MISSING.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_record_that_must_be_given_is_given_whole_on_every_path(function, message):
    line = line_of(function, "# here" if "# here" in inspect.getsource(function) else "def ")
    check(function, message, (V, M), STATE, line)


def test_the_line_is_that_of_the_branch():
    def function(v, m):
        return (
            {"distance": m} if m < v.distance else {"distanse": m}  # here
        )

    check(function, "there is no result distanse", (V, M), {"distance": float}, line_of(function, "# here"))


def test_a_number_where_one_result_is_wanted():
    def function(e):
        return e.weight

    line = line_of(function, "return")
    check(function, "send must return int, and this is float", (E,), {"x": int}, line, what="send(e)")

    def nothing(e):
        return None

    message = "nothing returns nothing here: it must return x, bare or in a dict"
    check(nothing, message, (E,), {"x": int}, line_of(nothing, "return"))

    def without_a_parameter(e):
        return 1

    message = r"without_a_parameter must have no parameters, such as def without_a_parameter\(\)"
    check(without_a_parameter, message, (), {"x": int}, line_of(without_a_parameter, "def"))


def test_a_function_may_be_translated_in_two_ways():
    def function(e):
        return e.weight

    assert translate(function, {"weight": int}, int).compiled(3, np.zeros(1, np.int32)) == 3
    with pytest.raises(FunctionError, match="must have two parameters"):
        translate_record(function, (V, M), ONE)
    assert translate_record(function, (E,), ONE).compiled(3.0, np.zeros(1, np.int32)) == (True, 3.0)


def test_a_failure_at_run_time_names_the_line():
    def apply(v, m):
        return m > 0 and {
            "count": v.count // v.count,  # here
        }

    made, failure = translate_record(apply, (V, M), {"count": int}, optional=True), np.zeros(1, np.int32)
    made.compiled(0, 1.0, failure)
    with pytest.raises(FunctionError, match="apply failed: division by zero") as raised:
        made.check(int(failure[0]))
    assert (raised.value.line, raised.value.source) == line_of(apply, "# here")


@pytest.mark.parametrize(
    ("parameters", "results", "defaults", "message"),
    [
        ((E,), {}, None, "results is empty"),
        ((E,), ["x"], None, "results=.* is not a mapping of names to types"),
        ((E,), {"x": "double"}, None, "the type of 'x' is 'double', not one of int, float, bool"),
        ((E,), {"a b": int}, None, "results: 'a b' is not a name"),
        (({"weight": "float"},), ONE, None, "is not a mapping of texts to Field"),
        (({"weight": Field("a.b", "float")},), ONE, None, "the field 'a.b' is not a name"),
        (({"weight": Field("w", "double")},), ONE, None, "the type of 'w' is 'double'"),
        (({"a": Field("w", int), "b": Field("w", float)},), ONE, None, "the field w has two types"),
        ((E,), ONE, {"y": E["weight"]}, r"defaults: 'y' \(float\) is no result of this type"),
        ((E,), {"x": int}, {"x": E["weight"]}, r"defaults: 'x' \(float\) is no result of this type"),
    ],
)
def test_types_and_names_that_are_not_known_are_refused(parameters, results, defaults, message):
    with pytest.raises(InputError, match=message):
        translate_record(lambda e: e.weight, parameters, results, defaults=defaults)


CUDA = "__device__ bool apply(double distance, double *r, int *failure) { *r = distance; return true; }"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (CUDA.replace("bool apply", "int apply"), r"apply is int .* and must be __device__ bool apply\("),
        (CUDA.replace("double *r", "float *r"), r"must be .*\(double distance, double \*r_distance\), with int"),
        (CUDA.replace("double *r", "double r"), r"apply is bool \(double, double, int\*\) and must be"),
        (CUDA.replace(", double *r", ""), r"apply is bool \(double, int\*\) and must be"),
        ("", "0 definitions of apply"),
    ],
)
def test_cuda_of_another_shape_is_refused(source, message):
    Translated.record_from_cuda(CUDA, "apply", {"distance": float}, {"distance": float})
    with pytest.raises(FunctionError, match=message):
        Translated.record_from_cuda(source, "apply", {"distance": float}, {"distance": float})
    with pytest.raises(InputError, match="results is empty"):
        Translated.record_from_cuda(CUDA, "apply", {"distance": float}, {})


def test_a_function_with_other_parameters_in_its_text_by_now_is_refused():
    path = "<a file that changes>"
    old, new = "f = lambda e: None\n", "f = lambda v, m: None\n"
    made = {}
    exec(compile(old, path, "exec"), made)
    linecache.cache[path] = (len(new), None, [new], path)
    try:
        with pytest.raises(FunctionError, match="has changed since <lambda> was imported"):
            translate(made["f"], {"weight": "float"}, int)
    finally:
        del linecache.cache[path]
