"""What a spec and a run refuse, failures with the caller's line, and graphs in which there is little to sample."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from specs import by_weight, specs

import graphdask as gd
from graphdask.errors import DeadlineExceeded, FunctionError, InputError, OverBudget, VertexNotFound
from graphdask.program.translate import translate
from graphdask.program.translated import Translated
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE


@pytest.fixture
def graph():
    return gd.from_edges([0, 0, 1, 2, 2], [1, 2, 3, 3, 0], [5.0, 0.0, 1.0, 1.0, 2.0]).partition(1, device="cpu")


def line_of(function):
    return function.__code__.co_firstlineno


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "depth is missing"),
        ({"depth": -1}, "depth=-1 is not a whole number from 0"),
        ({"depth": 2.0}, "depth=2.0 is not a whole number"),
        ({"depth": True}, "depth=True is not a whole number"),
        ({"depth": 1, "per": "graph"}, "per='graph' is not one of vertex, layer"),
        ({"depth": 1, "direction": None}, "direction=None is not one of out, in"),
        ({"depth": 1, "replace": 1}, "replace=1 is neither True nor False"),
        ({"depth": 1, "revisit": "no"}, "revisit='no' is neither True, False nor None"),
        ({"depth": 1, "frontier_size": 0}, "frontier_size=0 is not a whole number from 1"),
        ({"depth": 1, "vertex_bias": lambda v: 1}, "give frontier_size too"),
        ({"depth": 1, "neighbor_size": -2}, "neighbor_size=-2 is not a whole number from -1"),
        ({"depth": 1, "neighbor_size": "3"}, "neighbor_size='3' is not a whole number"),
        ({"neighbor_size": [1, None]}, r"neighbor_size\[1\]=None is not a whole number"),
        ({"neighbor_size": [1, 2], "depth": 3}, "depth=3, but neighbor_size has 2 numbers"),
        ({"depth": 1, "neighbor_size": -1, "replace": True}, "with replace=True a number of neighbours is needed"),
        ({"depth": 1, "per": "layer", "neighbor_size": lambda v: 1}, 'does not go with per="layer"'),
        ({"depth": 1, "edge_bound": 2}, "edge_bound is a bound of edge_bias, and there is none"),
        ({"depth": 1, "edge_bound": 2, "edge_bias": by_weight, "per": "layer"}, 'edge_bound requires per="vertex"'),
        ({"depth": 1, "edge_bound": "2", "edge_bias": by_weight}, "edge_bound='2' is not a number"),
        ({"depth": 1, "edge_bound": 0, "edge_bias": by_weight}, "edge_bound=0 must be above 0"),
        ({"depth": 1, "edge_bound": math.nan, "edge_bias": by_weight}, "edge_bound=nan is not a number"),
        ({"depth": 1, "edge_bound": 2**63, "edge_bias": by_weight}, "must be above 0 and finite, an int below"),
        ({"depth": 1, "edge_bound": 0.5, "edge_bias": lambda e: 1}, "edge_bias returns integers"),
        ({"depth": 1, "edge_bias": by_weight, "select": "table"}, "select='table' is not one of auto, inverse"),
        ({"depth": 1, "edge_bias": by_weight, "select": "alias", "neighbor_size": 2}, "draws with replacement"),
        ({"depth": 1, "edge_bias": lambda e: e.depth + e.weight, "select": "alias"}, "reads depth"),
        ({"depth": 1, "edge_bias": by_weight, "select": "alias", "edge_bound": 2}, "edge_bound is for select="),
        ({"depth": 1, "edge_bias": by_weight, "select": "alias", "per": "layer"}, 'is for per="vertex"'),
        ({"depth": 1, "select": "inverse"}, "a way to choose by edge_bias, and there is none"),
        ({"depth": 1, "edge_bias": by_weight, "select": "rejection"}, "select='rejection' needs edge_bound"),
        ({"depth": 1, "edge_bias": by_weight, "select": "reservoir", "edge_bound": 2}, "edge_bound is for select="),
        ({"depth": 1, "edge_bias": by_weight, "select": "reservoir", "per": "layer"}, 'is for per="vertex"'),
        ({"depth": 1, "edge_bias": by_weight, "select": "reservoir", "neighbor_size": 1025}, "is 1,024 at most"),
        ({"depth": 1, "select": "bipartite"}, "a way to choose by edge_bias, and there is none"),
        (
            {"depth": 1, "edge_bias": by_weight, "select": "updated", "replace": True},
            "select='updated' is a way to draw without replacement",
        ),
        ({"depth": 1, "edge_bias": by_weight, "select": "bipartite", "edge_bound": 2}, "edge_bound is for select="),
        (
            {"depth": 1, "edge_bias": by_weight, "select": "repeated", "neighbor_size": 1 << 24},
            "neighbor_size is 16,777,215",
        ),
        (
            {"depth": 1, "edge_bound": 2, "edge_bias": by_weight, "neighbor_size": 1 << 24},
            "neighbor_size is 16,777,215",
        ),
    ],
)
def test_specs_that_make_no_sense(arguments, message):
    with pytest.raises(InputError, match=message):
        Spec(**arguments)


def test_functions_that_cannot_be_translated():
    def unknown(e):
        return e.colour

    def wrong(e):
        return 0.5

    def indexing(v):
        return [1, 2][v.id]

    for arguments, function, reason in (
        ({"update": wrong}, wrong, "float"),
        ({"neighbor_size": wrong}, wrong, "float"),
        ({"vertex_bias": indexing, "frontier_size": 1}, indexing, "cannot be translated"),
    ):
        with pytest.raises(FunctionError, match=reason) as caught:
            Spec(depth=1, **arguments)
        assert caught.value.path == __file__
        assert line_of(function) < caught.value.line <= line_of(function) + 1
    for function, reason in ((unknown, "colour"), (lambda e: e.random, "random")):
        with pytest.raises(FunctionError, match=f"there is no field e.{reason}.*Columns of the edges: none") as caught:
            gd.sample.run(gd.from_edges([0], [1]), Spec(depth=1, edge_bias=function), [0])
        assert caught.value.path == __file__
    with pytest.raises(FunctionError, match="is not a plain Python function"):
        Spec(depth=1, edge_bias=abs)


def test_functions_translated_for_something_else():
    heavy = translate(lambda e: e.heat, {"heat": "float"}, "float")
    with pytest.raises(
        FunctionError, match=r"takes heat \(float\); the fields of edge_bias are source \(int\), .*weight"
    ):
        Spec(depth=1, edge_bias=heavy)
    with pytest.raises(FunctionError, match="returns bool; edge_bias returns float"):
        Spec(depth=1, edge_bias=Translated.from_cuda("__device__ bool f() { return true; }", "f", {}, "bool"))


def test_a_function_translated_before_is_taken(graph):
    made = translate(by_weight, {"weight": "float"}, "float")
    one, other = (gd.sample.run(graph, Spec(edge_bias=f, depth=2), [0, 2]) for f in (made, by_weight))
    np.testing.assert_array_equal(one.dst, other.dst)
    whole = translate(by_weight, {"weight": "int"}, "int")
    with pytest.raises(FunctionError, match=r"takes weight \(int\)"):
        gd.sample.run(graph, Spec(edge_bias=whole, depth=2), [0])


def nearly(e):
    return -1 if e.destination_near_previous or e.depth == 1 else 1


def division(e):
    return 9 // (e.destination - 3) ** 2


def negative(e):
    return 2 - e.destination


def not_a_number(e):
    return math.inf - math.inf if e.destination == 3 else 1.0


def nowhere(e):
    return e.destination + 2


def far_too_many(v):
    return 2**62


def too_far_back(e):
    return -2


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_failures_name_the_line(graph, device, monkeypatch):
    if device == "emulated":
        from emulated import emulated, stand_in

        stand_in(monkeypatch, emulated())
        graph = graph.partition(1, device="cuda")
    for arguments, function, below, reason in (
        ({"edge_bias": division}, division, 1, "division failed: division by zero"),
        ({"edge_bias": division, "edge_bound": 9}, division, 1, "division failed: division by zero"),
        ({"edge_bias": negative}, negative, 0, "negative returned a bias that is negative, infinite or NaN"),
        ({"edge_bias": negative, "edge_bound": 3, "replace": True}, negative, 0, "negative, infinite or NaN"),
        ({"edge_bias": not_a_number}, not_a_number, 0, "negative, infinite or NaN"),
        ({"update": nowhere}, nowhere, 0, "nowhere returned neither -1 nor a vertex"),
        ({"update": too_far_back}, too_far_back, 0, "returned neither -1 nor a vertex"),
        ({"neighbor_size": too_far_back}, too_far_back, 0, "returned a number of neighbours below -1"),
        ({"neighbor_size": far_too_many, "replace": True}, far_too_many, 0, "or above 2,147,483,647"),
        ({"vertex_bias": negative_vertex, "frontier_size": 1}, negative_vertex, 0, "negative, infinite or NaN"),
    ):
        with pytest.raises(FunctionError, match=reason) as caught:
            gd.sample.run(graph, Spec(depth=3, **arguments), [0, 1, 2], instances=30)
        assert (caught.value.path, caught.value.line) == (__file__, line_of(function) + below)
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)


def negative_vertex(v):
    return -1.0


@pytest.mark.slow
def test_biases_above_their_bound_end_the_run(graph):
    with pytest.raises(FunctionError, match="by_weight returned a bias above edge_bound") as caught:
        gd.sample.run(graph, Spec(edge_bias=by_weight, edge_bound=4.5, depth=1, replace=True), [0], instances=99)
    assert caught.value.line == line_of(by_weight)


def test_integers_that_add_up_to_too_much(graph):
    def large(e):
        return 2**62

    with pytest.raises(FunctionError, match=r"integer biases of one choice that add up to 2\*\*63 or more"):
        gd.sample.run(graph, Spec(edge_bias=large, depth=1, select="inverse"), [0])
    assert gd.sample.run(graph, Spec(edge_bias=large, depth=1, select="inverse"), [1]).dst.tolist() == [3]


def test_bad_runs(graph):
    walk = Spec(depth=2, replace=True)
    with pytest.raises(InputError, match=r"spec is a dict, not a gd\.sample\.Spec"):
        gd.sample.run(graph, {"depth": 2}, [0])
    with pytest.raises(VertexNotFound, match="9"):
        gd.sample.run(graph, walk, [0, 9])
    with pytest.raises(InputError, match="seeds=0 is neither an array"):
        gd.sample.run(graph, walk, 0)
    with pytest.raises(InputError, match="not all of them have one dimension"):
        gd.sample.run(graph, walk, [[0], 1])
    for instances in (-1, 2.0, True, "3"):
        with pytest.raises(InputError, match=r"instances=.* is not a whole number"):
            gd.sample.run(graph, walk, [0], instances)
    with pytest.raises(InputError, match="instances=3, but there are no seeds"):
        gd.sample.run(graph, walk, [], 3)
    with pytest.raises(InputError, match=r"seed=0\.5 is not a whole number"):
        gd.sample.run(graph, walk, [0], seed=0.5)
    with pytest.raises(InputError, match="placement='everywhere'"):
        gd.sample.run(graph, walk, [0], placement="everywhere")
    bare = gd.from_edges([0], [1]).partition(1, device="cpu")
    with pytest.raises(FunctionError, match="by_weight asks for the weight of an edge, but this graph has no weights"):
        gd.sample.run(bare, Spec(edge_bias=by_weight, depth=1), [0])


@pytest.mark.slow
def test_edges_of_bias_zero_are_like_none(graph):
    nothing = Spec(edge_bias=lambda e: 0, depth=2, neighbor_size=2)
    assert gd.sample.run(graph, nothing, [0, 1, 2]).verify().src.tolist() == []
    bounded = Spec(edge_bias=lambda e: 0.0, depth=2, replace=True, edge_bound=1.0)
    assert gd.sample.run(graph, bounded, [0, 1, 2]).src.tolist() == []
    everything = Spec(edge_bias=by_weight, neighbor_size=-1, depth=1)
    assert gd.sample.run(graph, everything, [0]).dst.tolist() == [1]
    asleep = Spec(vertex_bias=lambda v: v.id, frontier_size=2, neighbor_size=-1, depth=1)
    assert gd.sample.run(graph, asleep, [[0, 1]]).src.tolist() == [1]


def test_any_seed_and_its_own_samples(graph):
    walk = Spec(depth=3, replace=True)
    seeds = (0, 1, 2**32, 2**63, 2**64 - 1)
    seen = {tuple(gd.sample.run(graph, walk, [0], 40, seed=seed).dst.tolist()) for seed in seeds}
    assert len(seen) > 3


@pytest.mark.slow
def test_little_to_sample():
    """No seeds, no steps, no edges; a vertex alone; a vertex that ends all walks."""
    empty = gd.from_edges([], [], np.zeros(0), num_vertices=3).partition(1, device="cpu")
    path = gd.from_edges([0, 1], [1, 2], [0.5, 0.5]).partition(1, device="cpu")
    for spec in specs(2).values():
        for seeds in ([0, 2], [[0, 1], []], [[], []], []):
            assert len(gd.sample.run(empty, spec, seeds).verify().src) == 0
    for spec in specs(0).values():
        found = gd.sample.run(path, spec, [0]).verify()
        assert len(found.src) == 0
        assert found.nodes.tolist() == [0]
    found = gd.sample.run(path, specs(5)["simple walk"], [0, 2])
    assert (found.src.tolist(), found.dst.tolist(), found.instance.tolist()) == ([0, 1], [1, 2], [0, 0])


def test_pools_and_what_comes_into_them(graph):
    """Parallel edges, seeds that stand twice, vertices that come back or do not, and jumps."""
    twice = gd.from_edges([0, 0, 1], [1, 1, 0]).partition(1, device="cpu")
    once, again = (Spec(neighbor_size=-1, depth=3, revisit=revisit) for revisit in (False, True))
    assert gd.sample.run(twice, once, [[0, 0]]).verify().src.tolist() == [0, 0, 1]
    assert gd.sample.run(twice, again, [[0, 0]]).verify().src.tolist() == 4 * [0] + 4 * [1] + 8 * [0]
    jump = Spec(update=lambda e: 2 if e.depth == 0 else -1, neighbor_size=-1, depth=3)
    found = gd.sample.run(graph, jump, [1])
    assert (found.src.tolist(), found.dst.tolist(), found.nodes.tolist()) == ([1, 2, 2], [3, 0, 3], [1, 3, 2, 0])
    seeds = gd.sample.run(graph, Spec(neighbor_size=-1, depth=1), [0, 1], instances=5)
    assert seeds.src.tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert gd.sample.run(graph, Spec(depth=1), [0, 1], instances=0).src.tolist() == []


@pytest.mark.slow
def test_ids_of_the_caller():
    names = gd.from_edges(np.array(["a", "a", "c"]), np.array(["b", "c", "a"])).partition(1, device="cpu")
    found = gd.sample.run(names, Spec(edge_bias=lambda e: e.destination == 2, depth=2, replace=True), ["a"])
    assert (found.src.tolist(), found.dst.tolist()) == (["a"], ["c"])


TELLING = {
    "source": (1, lambda e: e.source if e.depth else e.destination),
    "destination": (2, lambda e: e.destination),
    "weight": (6, lambda e: e.weight if e.depth else e.destination),
    "source_degree": (2, lambda e: e.source_degree if e.depth else e.destination),
    "destination_degree": (3, lambda e: e.destination_degree if e.depth else e.destination),
    "previous": (0, lambda e: e.previous if e.depth else e.destination),
    "depth": (1, lambda e: e.depth if e.depth else e.destination),
    "instance": (4, lambda e: e.instance if e.depth else e.destination),
    "seed": (0, lambda e: e.seed if e.depth else e.destination),
    "destination_is_previous": (0, lambda e: int(e.destination_is_previous) if e.depth else e.destination),
    "destination_near_previous": (1, lambda e: int(e.destination_near_previous) if e.depth else e.destination),
    "random": (5, lambda e: 5 * int(0.0 <= e.random < 1.0) if e.depth else e.destination),
}
SRC = np.array([0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 6])
DST = np.array([1, 2, 0, 2, 3, 4, 5, 0, 0, 0, 0])


@pytest.mark.parametrize("field", TELLING)
def test_fields_of_an_edge(field):
    """From 0 to 1 to 2, and from there to the vertex that the field of the second edge names."""
    value, update = TELLING[field]
    graph = gd.from_edges(SRC, DST, np.array([4, 4, 4, 6, 4, 4, 4, 4, 4, 4, 4])).partition(1, device="cpu")
    spec = Spec(edge_bias=lambda e: e.depth == 2 or e.destination == e.depth + 1, update=update, depth=3, replace=True)
    found = gd.sample.run(graph, spec, [6, 6, 6, 6, 0])
    assert found.src[found.instance == 4].tolist() == [0, 1, value]


@pytest.mark.parametrize(
    ("size", "count"),
    [(lambda v: v.id, 2), (lambda v: v.degree, 3), (lambda v: v.depth, 0), (lambda v: v.instance, 1),
     (lambda v: v.place, 1), (lambda v: -1 if 0.0 <= v.random < 1.0 else 0, 3)],
)  # fmt: skip
def test_fields_of_a_vertex(size, count):
    graph = gd.from_edges(SRC, DST).partition(1, device="cpu")
    found = gd.sample.run(graph, Spec(neighbor_size=size, depth=1), [[6], [0, 2]])
    assert np.count_nonzero(found.src == 2) == count


def test_in_neighbours():
    graph = gd.from_edges(SRC, DST).partition(1, device="cpu")
    found = gd.sample.run(graph, Spec(neighbor_size=lambda v: v.degree, depth=1, direction="in"), [0, 2]).verify()
    assert (found.src.tolist(), found.dst.tolist()) == ([0] * 5 + [2] * 2, [1, 3, 4, 5, 6, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 3])
def test_failures_on_the_owner_of_a_vertex_name_the_line(graph, parts):
    divided = graph.partition(parts, device="cpu")
    for arguments, function, below in (
        ({"edge_bias": division}, division, 1),
        ({"edge_bias": division, "per": "layer"}, division, 1),
        ({"edge_bias": nearly, "select": "inverse"}, nearly, 0),
        ({"update": nowhere}, nowhere, 0),
        ({"update": nowhere, "per": "layer"}, nowhere, 0),
        ({"vertex_bias": negative_vertex, "frontier_size": 1}, negative_vertex, 0),
    ):
        with pytest.raises(FunctionError, match=function.__name__) as caught:
            gd.sample.run(divided, Spec(depth=3, **arguments), [0, 1, 2], 30, placement="partitioned")
        assert (caught.value.path, caught.value.line) == (__file__, line_of(function) + below)


def test_a_step_that_asks_for_more_than_there_is_memory(tuned):
    star = gd.from_edges(np.zeros(3000, np.int64), np.arange(1, 3001)).partition(1, device="cpu")
    spec = Spec(neighbor_size=lambda v: v.degree, depth=1)
    assert len(gd.sample.run(star, spec, [0], instances=10).src) == 30_000
    tuned(SAMPLE, memory_asked_from=30_000, chosen_bytes=1 << 40)
    with pytest.raises(OverBudget, match=r"30,000 edges or vertices in step 0 need about .* GiB"):
        gd.sample.run(star, spec, [0], instances=10)
    apart = {"placement": "partitioned", "instances": 10}
    layer = Spec(edge_bias=lambda e: e.destination, neighbor_size=3, depth=1, per="layer")
    assert len(gd.sample.run(star.partition(2, device="cpu"), layer, [0], **apart).src) == 30
    tuned(SAMPLE, candidate_bytes=1 << 40)
    with pytest.raises(OverBudget, match="sampling by a spec"):
        gd.sample.run(star.partition(2, device="cpu"), layer, [0], **apart)


def test_many_steps(graph):
    """Steps whose sizes cannot be known before, of which few or none have anything to do."""
    ring = gd.from_edges(np.arange(50), (np.arange(50) + 1) % 50, directed=False).partition(2, device="cpu")
    around = Spec(neighbor_size=-1, depth=400)
    pruned = Spec(neighbor_size=-1, update=lambda e: e.destination if e.destination > e.source else -1, depth=400)
    for placement in ("replicated", "partitioned"):
        found = gd.sample.run(ring, around, [0], placement=placement).verify()
        assert len(found.src) == 2 * 50
        found = gd.sample.run(ring, pruned, [0], placement=placement).verify()
        assert len(found.src) == 2 * 51  # 49 is reached from 0 and from 48
    grown = Spec(neighbor_size=-1, depth=400, revisit=True)
    with pytest.raises(OverBudget, match="sampling by a spec needs about"):
        gd.sample.run(ring, grown, [0], placement="replicated")


def test_a_deadline_is_kept_between_launches(graph, tuned):
    import dask

    tuned(SAMPLE, candidate_launch={"cpu": 1})
    with pytest.raises(DeadlineExceeded, match="passed its deadline"), dask.config.set({"graphdask.deadline": 1e-9}):
        gd.sample.run(graph, Spec(edge_bias=by_weight, depth=1), [0, 1, 2])
