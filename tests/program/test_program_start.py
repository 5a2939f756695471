"""A run that begins with an earlier result, and programs on dynamic graphs, clusters and with ids of all kinds."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest
from some_programs import programs

import graphdask as gd
from graphdask.errors import FunctionError, InputError, Unsupported, VertexNotFound
from graphdask.program.definition import PULLED_TOO
from graphdask.program.translated import Translated

LABELS = programs()["labels both ways"][0]
SHORTEST = programs()["shortest"][0]
HOPS, ABOUT_HOPS = programs()["hops"]


def grown(parts):
    """A graph, and batches that add edges and vertices, before and after those that it has."""
    start = gd.from_edges([10, 30, 50, 70], [20, 40, 60, 80]).partition(parts, by="random")
    return gd.DynamicGraph(start), [([20, 5], [30, 10]), ([60, 90, 5], [70, 80, 7]), ([7], [7])]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_run_goes_on_after_insertions_to_the_same_states_as_from_scratch(parts):
    D, batches = grown(parts)
    found = gd.run(D, LABELS)
    for batch in batches:
        D.update(insert=batch)
        found, scratch = gd.run(D, LABELS, start=found), gd.run(D, LABELS)
        np.testing.assert_array_equal(found.label, scratch.label)
        assert found.verify() is found


def test_a_run_goes_on_on_workers(two_workers):
    D, batches = grown(None)
    found = gd.run(D, LABELS, client=two_workers)
    D.update(insert=batches[0], client=two_workers)
    again = gd.run(D, LABELS, start=found, client=two_workers)
    alone = gd.DynamicGraph(gd.from_edges([10, 30, 50, 70], [20, 40, 60, 80]))
    alone.update(insert=batches[0])
    expected = gd.run(alone, LABELS)
    np.testing.assert_array_equal(again.label, expected.label)
    assert again.verify().stats.ranks == 2
    sent = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(sent.label, expected.label)
    assert (sent.iterations, sent.stats.chosen) == (again.iterations, again.stats.chosen)
    np.testing.assert_array_equal(gd.run(alone, LABELS, start=sent).label, expected.label)


def test_init_overrides_what_a_run_begins_with():
    G = gd.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    first = gd.run(G, SHORTEST, active=[0], init={"distance": {0: 0.0}})
    assert gd.run(G, SHORTEST, start=first, max_supersteps=0).distance.tolist() == [0, 1, 2, 3]
    other = gd.run(G, SHORTEST, start=first, init={"distance": {1: 0.5}}, active=1)
    assert other.distance.tolist() == [0, 0.5, 1.5, 2.5]
    whole = gd.run(G, SHORTEST, start=first, init={"distance": np.full(4, 7.0)}, max_supersteps=0)
    assert whole.distance.tolist() == [7, 7, 7, 7]
    D = gd.DynamicGraph(G)
    D.update(insert=([3], [4], [1.0]))
    assert gd.run(D, SHORTEST, start=first, max_supersteps=0).distance.tolist() == [0, 1, 2, 3, math.inf]
    more = gd.run(D, SHORTEST, start=first, init={"distance": {4: 2.0, 2: 1.0}}, max_supersteps=0)
    assert more.distance.tolist() == [0, 1, 1, 3, 2]


@pytest.mark.slow
def test_what_cannot_be_begun_with_is_said():
    G = gd.from_edges([0, 1], [1, 2], [1.0, 1.0])
    first = gd.run(G, LABELS)
    with pytest.raises(InputError, match=r"start=5 is not the result of a gd\.run"):
        gd.run(G, LABELS, start=5)
    with pytest.raises(InputError, match=r"start= has no field distance; its fields are label \(int64\)"):
        gd.run(G, SHORTEST, start=first)
    with pytest.raises(InputError, match="start= has the field hops as int32, and the program has it as int64"):
        gd.run(G, gd.Program({"hops": (int, 0)}, "any", apply=lambda v, m: {"hops": 1}), start=gd.run(G, HOPS))
    two = {"label": (int, 0), "more": (bool, False)}
    with pytest.raises(InputError, match=r"start= has the field more too, and the program has only label \(int64\)"):
        gd.run(G, LABELS, start=gd.run(G, gd.Program(two, "any", apply=lambda v, m: {"label": 1}), max_supersteps=0))
    with pytest.raises(VertexNotFound, match="start= has the vertex 2, which is not in the graph; its vertices are 0"):
        gd.run(gd.from_edges([0], [1]), LABELS, start=first)
    with pytest.raises(VertexNotFound, match="start= has the vertex 0, which is not in the graph"):
        gd.run(gd.from_edges(["a"], ["b"]), LABELS, start=first)


def test_ids_that_functions_call_by_numbers_may_not_move():
    D = gd.DynamicGraph(gd.from_edges(["b"], ["c"]))
    first, hops = gd.run(D, LABELS), gd.run(D, HOPS, active=["b"], init={"hops": {"b": 0}})
    D.update(insert=(["c"], ["d"]))
    assert gd.run(D, LABELS, start=first).label.tolist() == [2, 2, 2]
    D.update(insert=(["a"], ["b"]))
    with pytest.raises(InputError, match="functions call vertices by other numbers, because ids are strings or negat"):
        gd.run(D, LABELS, start=first)
    assert gd.run(D, HOPS, start=hops, active=["c"]).hops.tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("names", [("n", "a", "", "z"), (5, 2**62, 17, 2**63 - 1)], ids=["text", "gaps"])
def test_vertices_are_named_by_the_ids_of_the_caller(names, parts):
    a, b, c, d = names
    G = gd.from_edges([a, b, c], [b, c, d]).partition(parts)
    found = gd.run(G, HOPS, active=[b], init={"hops": {b: 0}})
    hops = dict(zip(found.graph.vertex_ids.tolist(), found.hops.tolist(), strict=True))
    assert hops == {a: -1, b: 0, c: 1, d: 2}
    array = gd.run(G, HOPS, active=b, init={"hops": np.array([hops[each] for each in G.vertex_ids.tolist()])})
    np.testing.assert_array_equal(array.hops, found.hops)
    with pytest.raises(VertexNotFound, match="active vertex"):
        gd.run(G, HOPS, active=[b, "no" if isinstance(a, str) else 4])


@pytest.mark.slow
def test_ids_of_64_bits_in_partitions_give_the_same_states():
    src, dst = np.random.default_rng(8).integers(0, 20, (2, 50))
    for program, arguments in ((HOPS, ABOUT_HOPS), (LABELS, {})):
        narrow = gd.run(gd.from_edges(src, dst, num_vertices=20).partition(3), program, **arguments)
        wide = gd.run(gd.from_edges(src, dst, num_vertices=20).partition(3, id_width=64), program, **arguments)
        for name in narrow.columns:
            np.testing.assert_array_equal(getattr(narrow, name), getattr(wide, name))


def test_every_type_of_the_state_keeps_its_extreme_values():
    extremes = {
        "whole": (int, -(2**63), 2**63 - 1),
        "narrow": (np.int32, -(2**31), 2**31 - 1),
        "real": (float, -math.inf, np.finfo(float).max),
        "single": (np.float32, float(np.finfo(np.float32).tiny), math.inf),
        "truth": (bool, False, True),
        "level": (np.uint8, 0, 255),
        "short": (np.int16, -(2**15), 2**15 - 1),
    }
    program = gd.Program(
        state={name: (kind, default) for name, (kind, default, _) in extremes.items()},
        message="any",
        apply=lambda v, m: {
            "narrow": v.narrow,
            "single": v.single,
            "real": v.real,
            "whole": v.whole,
            "truth": v.truth,
            "level": v.level,
            "short": v.short,
        },
    )
    found = gd.run(
        gd.from_edges([0, 1], [1, 0]).partition(2),
        program,
        init={name: {1: value} for name, (_, _, value) in extremes.items()},
    )
    for name, (kind, default, value) in extremes.items():
        values = getattr(found, name)
        assert values.dtype == kind
        assert values.tolist() == [default, value]


def _kept():
    return gd.Program({"x": (int, 0)}, "any", apply=_marks, until=_ends)


def _marks(v, m):
    return {"x": 1}


def _ends(a):
    return a.activ == 0


def test_programs_of_a_module_can_be_pickled():
    program = pickle.loads(pickle.dumps(_kept()))
    assert program == _kept()
    assert gd.run(gd.from_edges([0], [1]), program, until=lambda a: True).x.tolist() == [0, 1]


@pytest.mark.parametrize("parts", [1, 2])
def test_an_unknown_name_in_until_is_said_with_its_line(parts):
    with pytest.raises(
        FunctionError, match="until: there is no aggregate activ; there are active, superstep"
    ) as raised:
        gd.run(gd.from_edges([0], [1]).partition(parts), _kept())
    assert (raised.value.path, raised.value.source) == (__file__, "return a.activ == 0")


def test_a_message_that_is_a_number_has_no_fields():
    with pytest.raises(FunctionError, match=r"m is a number and has no field m\.x: write m alone"):
        gd.Program({"x": (int, 0)}, (int, "min"), lambda e: e.source.x, lambda v, m: {"x": m.x})


def test_cuda_is_refused_on_a_cpu_before_partitions_are_built():
    source = "__device__ bool f(double *r_message) { *r_message = 1; return true; }"
    send = Translated.record_from_cuda(source, "f", {}, {"message": "float"})
    program = gd.Program({"x": (float, 0.0)}, (float, "min"), send, lambda v, m: {"x": m})
    G = gd.from_edges([0], [1]).partition(2, device="cpu")
    with pytest.raises(Unsupported, match=r"f is CUDA C.* and cannot run on a CPU"):
        gd.run(G, program)
    assert G.built is None


@pytest.mark.parametrize(
    ("name", "messages", "because"),
    [
        ("hops", "pushed", f"min of one number is the same in any order, {PULLED_TOO}"),
        ("rank", "pulled", "all vertices send in every superstep"),
        ("nearest with its parent", "pulled", "a message has several fields"),
        ("weights added", "pulled", "sum is not one of min, max, any, count"),
        ("conflicts", "pulled", "send reads the destination"),
    ],
)
def test_statistics_say_how_messages_came_and_why(name, messages, because):
    program, arguments = programs()[name]
    found = gd.run(gd.from_edges([0, 1], [1, 2], [1.0, 2.0]), program, **{**arguments, "max_supersteps": 0})
    assert found.stats.chosen == {"messages": messages, "because": because}
    assert f"messages are {messages}, because {because}" in repr(found.stats)


UNTIL_OF_PYTHON = [
    (lambda a: print() or a.superstep > 3, r".*\bprint\b.*"),
    (lambda a: 2.0**a.superstep > 5.0, "the last digits of power may not be those of Python"),
    (lambda a: [a.superstep > 3][0], ".*"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("until", "why"), UNTIL_OF_PYTHON, ids=["print", "power", "list"])
def test_statistics_say_why_python_calls_until(until, why):
    program, arguments = programs()["hops"]
    found = gd.run(gd.from_edges([0, 1], [1, 2]), program, until=until, **arguments)
    said = found.stats.chosen["until"]
    assert re.fullmatch(f"called by Python after every superstep, because {why}", said)
    assert f"until is {said}" in repr(found.stats)
    translated = gd.run(gd.from_edges([0, 1], [1, 2]), program, until=lambda a: a.superstep > 3, **arguments)
    assert "until" not in translated.stats.chosen


@pytest.mark.parametrize(
    ("send", "silent"),
    [
        (lambda e: e.source.x, False),
        (lambda e: min(e.source.x, 3) if e.source.x else 0, False),
        (lambda e: e.source.x if e.source.id else None, True),
        (lambda e: None, True),
    ],
)
def test_whether_a_vertex_may_be_silent_is_what_its_function_says(send, silent):
    from graphdask.program.definition import Definition

    program = gd.Program({"x": (int, 0)}, (int, "min"), send, lambda v, m: {"x": m})
    assert Definition.of(program, None).may_be_silent == silent


def test_no_vertices_can_begin_again():
    empty = gd.from_edges([], [], num_vertices=0)
    found = gd.run(empty, LABELS)
    assert gd.run(empty, LABELS, start=found).label.tolist() == []
    assert gd.run(gd.from_edges([1], [2]), LABELS, start=found).label.tolist() == [2, 2]


@pytest.mark.slow
def test_a_deep_graph_is_gone_through_in_fewer_calls_than_supersteps():
    length = 150
    G = gd.from_edges(np.arange(length), np.arange(1, length + 1))
    deep = gd.run(G, HOPS, active=0, init={"hops": {0: 0}})
    assert deep.hops.tolist() == list(range(length + 1))
    assert deep.iterations == length + 1
    assert len(deep.stats) < deep.iterations
    assert sum(each["edges"] for each in deep.stats.supersteps) == length
    cut = gd.run(G, HOPS, active=0, init={"hops": {0: 0}}, max_supersteps=100)
    assert (cut.iterations, int(cut.hops.max())) == (100, 100)
    apart = gd.run(G.partition(2, by="range"), HOPS, active=0, init={"hops": {0: 0}})
    assert (apart.iterations, apart.hops.tolist()) == (deep.iterations, deep.hops.tolist())


@pytest.mark.slow
def test_vertices_pull_where_most_edges_send_and_get_the_same():
    n = 40
    src, dst = np.random.default_rng(3).integers(0, n, (2, 6 * n))
    G = gd.from_edges(src, dst, num_vertices=n, directed=False)
    pulled, pushed = gd.run(G, LABELS), gd.run(G.partition(2, by="range"), LABELS)
    assert (pulled.iterations, pulled.label.tolist()) == (pushed.iterations, pushed.label.tolist())


def test_messages_may_be_whole_where_the_weights_of_the_graph_are():
    shortest = gd.Program(
        state={"distance": (int, 1 << 40), "parent": (int, -1)},
        message=({"length": int, "by": int}, "min"),
        send=lambda e: {"length": e.source.distance + e.weight, "by": e.source.id},
        apply=lambda v, m: m.length < v.distance and {"distance": m.length, "parent": m.by},
    )
    src, dst, weights = np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]), np.array([1, 5, 9, 2])
    first = {"active": 0, "init": {"distance": {0: 0}}}
    for parts in (1, 3):
        found = gd.run(gd.from_edges(src, dst, weights, directed=True).partition(parts), shortest, **first)
        assert found.distance.tolist() == [0, 1, 5, 7]
        assert found.parent.tolist() == [-1, 0, 0, 2]
    with pytest.raises(FunctionError, match="length must be int, and this is float"):
        gd.run(gd.from_edges(src, dst, weights / 2, directed=True), shortest, **first)
