"""What is wrong with a program or with its run is said with the argument or the line, before any work if possible."""

from __future__ import annotations

import inspect
import math

import dask
import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import FunctionError, InputError, Unsupported, VertexNotFound
from graphdask.program.translated import Translated

INFINITY = math.inf
DAMPING = 1 << 40


def program(**changes):
    """Shortest paths by hops, with other arguments."""
    return gd.Program(
        **{
            "state": {"distance": (float, INFINITY)},
            "message": (float, "min"),
            "send": lambda e: e.source.distance + 1.0,
            "apply": lambda v, m: m < v.distance and {"distance": m},
        }
        | changes
    )


def number(x, y):
    return 1.0


WRONG = [
    ({"state": None}, r"state=None is not a mapping of names to \(type, default\)"),
    ({"state": {}}, "state={} is not a mapping"),
    ({"state": {"a": float}}, r"state\['a'\]=.* is not \(type, default\)"),
    ({"state": {"a": (str, "")}}, r"state\['a'\]: the type .* is not one of int, float, bool"),
    ({"state": {"a": (float, None)}}, r"state\['a'\]: the default is None, which is no float64; give a number"),
    ({"state": {"a": (float, math.nan)}}, r"state\['a'\]: the default is nan, .* not NaN"),
    ({"state": {"a": (float, 10**400)}}, r"state\['a'\]: the default is 10.*, which is no float64"),
    ({"state": {"a": (np.float32, 1e300)}}, r"state\['a'\]: the default is 1e\+300, .* the range of float32"),
    ({"state": {"a": (int, 0.5)}}, r"state\['a'\]: the default is 0.5, .* an integer of 64 bits"),
    ({"state": {"a": (np.int32, 1 << 40)}}, r"state\['a'\]: the default is 1099511627776, .* an integer of 32 bits"),
    ({"state": {"a": (bool, 1)}}, r"state\['a'\]: the default is 1, .* True or False"),
    ({"state": {"id": (int, 0)}}, "state: id is a field that every vertex or edge has; choose another name"),
    ({"state": {"lambda": (int, 0)}}, "state: 'lambda' is not a name that Python and C"),
    ({"state": {"stats": (int, 0)}}, "state: results have another attribute stats; choose another name"),
    ({"state": {f"a{i}": (int, 0) for i in range(9)}}, "state has 9 fields; a vertex has 8 at most"),
    ({"message": float}, r"message=.* is not \(type, combine\), such as"),
    ({"message": np.zeros(3)}, r"message=.* is not \(type, combine\)"),
    ({"message": (float, "mean")}, "the combine of message='mean' is not one of min, max, sum, any, count, first"),
    ({"message": ((float,) * 5, "min")}, "message has 5 fields; it has 1 to 4"),
    ({"message": ((int, int), "any")}, "message: 'any' combines messages of one field, and this has 2"),
    ({"message": ({"weight": float}, "min")}, "message: weight is a field that every vertex or edge has"),
    ({"send": None}, "send is missing: the function of e"),
    ({"apply": None}, "apply is missing: the function of v and m"),
    ({"send": 5}, "send=5 is not a function: give one written with def or lambda"),
    ({"apply": "x"}, "apply='x' is not a function"),
    ({"direction": "outward"}, "direction='outward' is not one of out, in, both"),
    ({"activity": "al"}, "activity='al' is not one of changed, all"),
    ({"aggregate": [1]}, r"aggregate=\[1\] is not a mapping of names to \(combine, function\)"),
    ({"aggregate": {"a": "sum"}}, r"aggregate\['a'\]='sum' is not \(combine, function\)"),
    ({"aggregate": {"a": ("mean", number)}}, r"aggregate\['a'\]='mean' is not one of sum, min, max, any, count"),
    ({"aggregate": {"a": ("sum", 3)}}, r"aggregate\['a'\]=3 is not a function"),
    ({"aggregate": {"distance": ("sum", number)}}, "aggregate: distance is a field of the state too"),
    ({"aggregate": {"active": ("sum", number)}}, "aggregate: active is a field that every vertex or edge has"),
    ({"aggregate": {f"a{i}": ("sum", number) for i in range(5)}}, "aggregate has 5 entries; there are 4 at most"),
    ({"until": 5}, "until=5 is not a function of the aggregates"),
    ({"max_supersteps": -1}, "max_supersteps=-1 is not a whole number from 0"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_an_argument_of_a_program_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        program(**changes)


def misspelt(e):
    return e.source.distanse


def of_the_edge(e):
    return e.wieght


def two(e, f):
    return 1.0


def pair(e):
    return 1.0, 2.0


def unknown(v, m):
    return {"distnce": m}


def one(v):
    return {"distance": 1.0}


def no_old_id(old, new):
    return old.id


def only_a_test(v, m):
    return m < v.distance


FUNCTIONS = [
    ({"apply": only_a_test}, 'a truth value here, and distance is float: write `test and {"dist', only_a_test),
    ({"send": misspelt}, "no field e.source.distanse, did you mean e.source.distance", misspelt),
    ({"send": of_the_edge}, "no field e.wieght, did you mean e.weight", of_the_edge),
    ({"send": two}, "send must have one parameter", two),
    ({"send": pair}, "this tuple has 2 values and must have 1", pair),
    ({"apply": unknown}, "no result distnce, did you mean distance", unknown),
    ({"apply": one}, "apply must have two parameters", one),
    ({"aggregate": {"a": ("sum", no_old_id)}}, r"no field old.id\. Fields: old.distance, new.distance", no_old_id),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message", "function"), FUNCTIONS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_function_that_cannot_be_translated_is_named_with_its_line(changes, message, function):
    with pytest.raises(FunctionError, match=message) as raised:
        gd.run(gd.from_edges([0], [1]), program(**changes))
    lines, first = inspect.getsourcelines(function)
    assert raised.value.path == __file__
    assert first <= raised.value.line < first + len(lines)


@pytest.fixture(scope="module")
def G():
    return gd.from_edges([0, 0, 1], [1, 2, 2])


RUNS = [
    ({"program": 5}, InputError, "program=5 is not a gd.Program"),
    ({"active": [7]}, VertexNotFound, "active vertex 7 is not in the graph; its vertices are 0 to 2"),
    ({"active": [[0, 1]]}, InputError, "active has 2 dimensions"),
    ({"init": [1]}, InputError, r"init=\[1\] is not a mapping of fields"),
    ({"init": {"distanc": {0: 1.0}}}, InputError, "init: there is no field 'distanc' of the state; fields: distance"),
    ({"init": {"distance": [1.0, 2.0]}}, InputError, r"init\['distance'\] has the shape \(2,\); give one value"),
    ({"init": {"distance": ["a", "b", "c"]}}, InputError, r"init\['distance'\] is an array of .*; each value is a num"),
    ({"init": {"distance": [math.nan, 1, 2]}}, InputError, r"init\['distance'\] has nan, which is no float64; give a"),
    ({"init": {"distance": {0: math.nan}}}, InputError, r"init\['distance'\]\[0\] is nan, which is no float64"),
    ({"init": {"distance": {9: 1.0}}}, VertexNotFound, r"init\['distance'\]: vertex 9 is not in the graph"),
    ({"until": 3}, InputError, "until=3 is not a function"),
    ({"until": lambda a, b: True}, InputError, "until is a function of one argument, the aggregates, and this one"),
    ({"max_supersteps": "x"}, InputError, "max_supersteps='x' is not a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "error", "message"), RUNS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_argument_of_a_run_is_named(G, arguments, error, message):
    with pytest.raises(error, match=message):
        gd.run(**{"G": G, "program": program()} | arguments)


def test_a_run_that_cannot_be_is_refused_before_any_work(G):
    with pytest.raises(FunctionError, match="send asks for the weight of an edge, but this graph has no weights"):
        gd.run(G, program(send=lambda e: e.source.distance + e.weight))
    with pytest.raises(InputError, match="never ends by itself: give max_supersteps= or until="):
        gd.run(G, program(activity="all"))


def test_cuda_on_a_cpu_is_refused_and_its_fields_are_checked(G):
    def cuda(field):
        source = f"__device__ bool f(double {field}, double *r_message) {{ *r_message = {field}; return true; }}"
        return Translated.record_from_cuda(source, "f", {field: "float"}, {"message": "float"})

    with pytest.raises(Unsupported, match=r"f is CUDA C.* and cannot run on a CPU"):
        gd.run(G.partition(2, device="cpu"), program(send=cuda("source_state_distance")))
    with pytest.raises(FunctionError, match=r"send: there is no field far of type float\. Fields: source_state_dist"):
        program(send=cuda("far"))


def divides(e):
    return 1 / (e.source.id - 1)


def subtracts(e):
    return e.source.distance - e.source.distance


def unknown_number(v, m):
    return {"distance": m - INFINITY}


def infinite(old, new):
    return new.distance - INFINITY


FAILURES = [
    ({"send": divides}, "send failed: division by zero", divides),
    ({"send": subtracts}, "send sends NaN; return None where there is no message", subtracts),
    ({"apply": unknown_number}, "apply gives distance the value NaN", unknown_number),
    ({"apply": lambda v, m: {"distance": INFINITY},
      "aggregate": {"far": ("max", infinite)}}, r"aggregate\['far'\] returns NaN", infinite),
]  # fmt: skip


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(("changes", "message", "function"), FAILURES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_function_that_fails_is_named_with_its_line_by_all_ranks(G, changes, message, function, parts):
    with pytest.raises(FunctionError, match=message) as raised:
        gd.run(G.partition(parts), program(**changes))
    lines, first = inspect.getsourcelines(function)
    assert raised.value.path == __file__
    assert first <= raised.value.line < first + len(lines)


@pytest.mark.slow
def test_integers_that_do_not_fit_are_named(G):
    large = {"state": {"n": (int, 1 << 62)}, "apply": lambda v, m: {"n": m}, "send": lambda e: e.source.n}
    with pytest.raises(FunctionError, match="send sends integers whose sum at a vertex does not fit 64 bits"):
        gd.run(G, program(message=(int, "sum"), **large))
    small = {"state": {"n": (np.int32, 1)}, "apply": lambda v, m: {"n": m}, "send": lambda e: e.source.n * DAMPING}
    with pytest.raises(FunctionError, match="apply gives n an integer that does not fit int32; take int"):
        gd.run(G, program(message=(int, "max"), **small))


@pytest.mark.parametrize("parts", [1, 3])
def test_what_until_raises_comes_back(G, parts):
    class Mine(Exception):
        pass

    def until(a):
        raise Mine("mine")

    with pytest.raises(Mine, match="mine"):
        gd.run(G.partition(parts), program(), active=[0], init={"distance": {0: 0.0}}, until=until)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("until", "message"),
    [
        (lambda a: 1 / (a.superstep - 1) > 2, "until failed: float division by zero|until failed: division by zero"),
        (lambda a: math.sqrt(-a.superstep) > 2, "until failed: "),
    ],
    ids=["division", "root"],
)
def test_arithmetic_that_fails_in_until_is_named_with_its_line(G, parts, until, message):
    with pytest.raises(FunctionError, match=message) as raised:
        gd.run(G.partition(parts), program(), active=[0], init={"distance": {0: 0.0}}, until=until)
    assert (raised.value.path, raised.value.line) == (__file__, until.__code__.co_firstlineno)


async def awaited(a):
    return True


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("until", "kind"),
    [(awaited, "coroutine"), (dask.delayed(bool), "Delayed"), (lambda a: np.arange(2) > a.superstep, "ndarray")],
    ids=["coroutine", "delayed", "array"],
)
def test_what_until_returns_is_true_or_false(G, parts, until, kind):
    with pytest.raises(FunctionError, match=f"until returns a {kind}, which is neither true nor false"):
        gd.run(G.partition(parts), program(), active=[0], init={"distance": {0: 0.0}}, until=until)


def test_an_unknown_name_in_until_is_named_once(G):
    with pytest.raises(FunctionError, match=r"^.*test_program_errors.py:\d+: until: there is no aggregate foo"):
        gd.run(G, program(), active=[0], until=lambda a: a.foo > 1)
