"""Functions of samplers read columns of edges and vertices: the law that they state, on every placement and device."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from emulated import emulated, stand_in
from gangs import active
from graphs import GRAPHS
from specs import agree, same

import graphdask as gd
from graphdask.errors import FunctionError, InputError
from graphdask.sample.spec import Spec

SRC = [0, 0, 0, 1, 1, 2, 2, 3]
DST = [1, 2, 3, 2, 3, 0, 3, 0]
TIME = [10, 30, 20, 5, 40, 30, 31, 7]
SCORE = [1.0, 4.0, 0.0, 3.0]
TRIALS = 20_000


def graph(**columns):
    times = np.array(TIME, "datetime64[ns]")
    given = {"edge_columns": {"time": times, "kind": list("abcdefgh")}, "vertex_columns": {"score": SCORE}}
    return gd.from_edges(SRC, DST, **(given | columns))


def by_score(v):
    return v.score


def recent(e):
    return e.time >= 20 and e.destination.score + 1.0


def test_vertices_are_chosen_by_a_column():
    """C-SAW's VertexBias by a property of the vertex: two of a pool in turn, in proportion to it among what is left."""
    spec = Spec(vertex_bias=by_score, frontier_size=2, neighbor_size=1, depth=1)
    found = gd.sample.run(graph(), spec, [[0, 1, 2, 3]], instances=TRIALS, seed=3)
    law = {}
    for one, other in permutations(range(4), 2):
        chance = SCORE[one] / sum(SCORE) * SCORE[other] / (sum(SCORE) - SCORE[one])
        pair = tuple(sorted((one, other)))
        law[pair] = law.get(pair, 0.0) + chance
    bounds, src = found.edge_offsets.tolist(), found.src.tolist()
    agree([tuple(src[a:b]) for a, b in pairwise(bounds)], {k: p for k, p in law.items() if p})


@pytest.mark.slow
def test_edges_are_chosen_by_columns_of_theirs_and_of_their_destinations():
    spec = Spec(edge_bias=recent, depth=2, replace=True)
    found = gd.sample.run(graph(), spec, [0], instances=TRIALS, seed=4)
    biases = {}
    for u, v, time in zip(SRC, DST, TIME, strict=True):
        biases.setdefault(u, {})[v] = (time >= 20) * (SCORE[v] + 1.0)
    law = {}
    for first, bias in biases[0].items():
        chance = bias / sum(biases[0].values())
        second = {v: b for v, b in biases[first].items() if b}
        for last, b in second.items():
            law[first, last] = law.get((first, last), 0.0) + chance * b / sum(second.values())
        if not second and chance:
            law[first,] = chance
    bounds, dst = found.edge_offsets.tolist(), found.dst.tolist()
    paths = [tuple(dst[a:b]) for a, b in pairwise(bounds)]
    agree(paths, {path: p for path, p in law.items() if p})
    assert set(zip(found.src.tolist(), found.dst.tolist(), strict=True)) <= {
        (u, v) for u, v, time in zip(SRC, DST, TIME, strict=True) if time >= 20
    }


def large(directed=True):
    n, src, dst, _ = GRAPHS["scale-free"]()
    rng = np.random.default_rng(5)
    edges = {
        "cost": rng.random(len(src)).astype(np.float32),
        "count": rng.integers(0, 9, len(src)).astype(np.uint8),
        "open": rng.random(len(src)) < 0.7,
    }
    vertices = {"score": rng.random(n), "group": rng.integers(0, 3, n)}
    return gd.from_edges(src, dst, num_vertices=n, directed=directed, edge_columns=edges, vertex_columns=vertices)


SPECS = {
    "walk": Spec(edge_bias=lambda e: e.cost * e.destination.score if e.open else 0.0, depth=4, replace=True),
    "constants of few": Spec(edge_bias=lambda e: 2 if e.open else 1, depth=3, replace=True),
    "against edges": Spec(edge_bias=lambda e: e.count + 1, depth=3, neighbor_size=2, direction="in"),
    "reservoir": Spec(edge_bias=lambda e: e.count * e.source.score, neighbor_size=3, depth=2, select="reservoir"),
    "aliases": Spec(edge_bias=lambda e: e.cost, depth=3, replace=True, select="alias"),
    "layers": Spec(edge_bias=lambda e: e.cost + e.destination.group, neighbor_size=6, per="layer", depth=3),
    "of one group": Spec(
        edge_bias=lambda e: e.source.group == e.destination.group and e.count + 1, neighbor_size=2, depth=3
    ),
    "bias of the source alone": Spec(edge_bias=lambda e: e.source.group > 0, neighbor_size=2, depth=3),
    "pools": Spec(
        vertex_bias=lambda v: v.score + v.degree, edge_bias=lambda e: e.cost, frontier_size=1, depth=5,
        update=lambda e: e.destination if e.destination.group != 1 else e.source,
    ),
    "sizes": Spec(neighbor_size=lambda v: v.group, depth=3),
    "pools of the score alone": Spec(vertex_bias=lambda v: v.score, frontier_size=2, neighbor_size=2, depth=3),
}  # fmt: skip
SEEDS = [[0, 5, 9], [3], [7, 8, 11, 12]]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SPECS)
def test_the_same_on_partitions_and_from_host_memory(name, directed):
    G, spec = large(directed), SPECS[name]
    expected = gd.sample.run(G.partition(1, device="cpu"), spec, SEEDS, instances=20).verify()
    assert len(expected.src)
    for parts in (2, 3, 4, 7):
        found = gd.sample.run(
            G.partition(parts, by="random", device="cpu"), spec, SEEDS, instances=20, placement="partitioned"
        )
        same(expected, found)
    for placement in ("replicated", "streamed"):
        same(expected, gd.sample.run(G.partition(3, device="cpu"), spec, SEEDS, instances=20, placement=placement))


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


@pytest.mark.parametrize("name", SPECS)
def test_the_same_on_a_gpu(name, gpu):
    G, spec = large(), SPECS[name]
    expected = gd.sample.run(G.partition(1, device="cpu"), spec, SEEDS, instances=20)
    on_gpu = G.partition(1, device="cuda")
    for placement in ("replicated", "partitioned", "streamed"):
        same(expected, gd.sample.run(on_gpu, spec, SEEDS, instances=20, placement=placement))
    same(expected, gd.sample.run(G.partition(3, device="cuda"), spec, SEEDS, instances=20, placement="partitioned"))


def test_the_same_on_a_cluster(two_workers):
    G = large()
    for name in ("walk", "pools", "against edges"):
        expected = gd.sample.run(G.partition(1, device="cpu"), SPECS[name], SEEDS, instances=20)
        with active(two_workers):
            for placement in ("replicated", "partitioned"):
                same(expected, gd.sample.run(G, SPECS[name], SEEDS, instances=20, placement=placement))


@pytest.mark.slow
def test_columns_come_once_and_only_those_that_are_read(watched):
    from graphdask.gang import columns

    brought = watched(columns, "numbers_of", lambda G, of, name: name)
    G = large().partition(1, device="cpu")
    for _ in range(2):
        gd.sample.run(G, SPECS["walk"], [0])
    assert sorted(brought) == ["cost", "open", "score"]
    gd.sample.run(G, SPECS["aliases"], [0])
    assert len(brought) == 3
    gd.sample.run(G, SPECS["constants of few"], [0])
    gd.sample.run(G, Spec(depth=1), [0])
    assert len(brought) == 3


@pytest.mark.slow
def test_equal_functions_of_two_columns_do_not_share_what_is_kept_of_biases():
    G = gd.from_edges([0, 0], [1, 2], edge_columns={"a": [1, 0], "b": [0, 1]})
    for select in ("inverse", "alias"):
        of_a = Spec(edge_bias=lambda e: e.a, depth=1, select=select, replace=True)
        of_b = Spec(edge_bias=lambda e: e.b, depth=1, select=select, replace=True)
        assert gd.sample.run(G, of_a, [0], instances=9).dst.tolist() == [1] * 9
        assert gd.sample.run(G, of_b, [0], instances=9).dst.tolist() == [2] * 9


def test_edges_of_a_dynamic_graph_have_the_columns_of_their_batches():
    D = gd.DynamicGraph(gd.from_edges([0, 0], [1, 2], edge_columns={"time": [1, 2]}))
    later = Spec(edge_bias=lambda e: e.time > 1, neighbor_size=-1, depth=1)
    assert gd.sample.run(D, later, [0]).dst.tolist() == [2]
    D.update(insert=([0], [4]), columns={"time": [9]}, delete=([0], [2]))
    assert gd.sample.run(D, later, [0]).dst.tolist() == [4]
    D.update(insert=([0], [5]))
    with pytest.raises(FunctionError, match=r"e\.time: row 3 of the column is missing; fill it in"):
        gd.sample.run(D, later, [0])


def no_column(e):
    return e.tim


def of_strings(e):
    return e.kind


def no_column_of_vertices(e):
    return e.destination.time


def lacking(e):
    return e.note


def of_vertex(v):
    return v.scor


WRONG = [
    ({"edge_bias": no_column}, r"no field e.tim, did you mean e.time\? .*Columns of the edges: time, kind, note", 1),
    ({"edge_bias": of_strings}, "e.kind: the column is of the type string; functions read numbers", 1),
    ({"edge_bias": no_column_of_vertices}, r"no field e.destination.time.*Columns of the vertices: score", 1),
    ({"edge_bias": lacking}, "e.note: row 2 of the column is missing; fill it in, or leave the edge out", 1),
    ({"vertex_bias": of_vertex, "frontier_size": 1}, r"no field v.scor, did you mean v.score\?", 1),
]


@pytest.mark.parametrize(("functions", "message", "line"), WRONG)
def test_a_column_that_cannot_be_read_is_named_with_the_line(functions, message, line):
    note = [1.0, 2.0, None, *range(5)]
    G = graph(edge_columns={"time": TIME, "kind": list("abcdefgh"), "note": note})
    function = next(iter(functions.values()))
    with pytest.raises(FunctionError, match=message) as raised:
        gd.sample.run(G, Spec(depth=1, **functions), [0])
    assert raised.value.path == __file__
    assert raised.value.line == function.__code__.co_firstlineno + line


def test_what_functions_read_of_a_column():
    """Missing values of edges that the graph leaves out do not matter; integers of 64 bits have to fit."""
    G = gd.from_edges([0, 1, 1], [1, 1, 2], self_loops="drop", edge_columns={"x": [1, None, 3]})
    everything = Spec(edge_bias=lambda e: e.x, neighbor_size=-1, depth=2)
    assert gd.sample.run(G, everything, [0]).dst.tolist() == [1, 2]
    wide = gd.from_edges([0], [1], edge_columns={"x": np.array([2**63], np.uint64)})
    with pytest.raises(FunctionError, match=r"e\.x: the column has 9223372036854775808, which does not fit"):
        gd.sample.run(wide, everything, [0])
    times = np.array(["2020-01-02", "2020-01-01"], "datetime64[ns]")
    dated = gd.from_edges([0, 0], [1, 2], edge_columns={"x": times})
    day = int(times[0].astype(np.int64))
    assert gd.sample.run(dated, Spec(edge_bias=lambda e: e.x >= day, depth=1), [0]).dst.tolist() == [1]


def test_few_columns_are_read():
    names = "abcde"
    G = gd.from_edges([0], [1], edge_columns={name: [1] for name in names})
    with pytest.raises(InputError, match="functions read 5 columns of edges: a, b, c, d, e; they read 4 at most"):
        gd.sample.run(G, Spec(edge_bias=lambda e: e.a + e.b + e.c + e.d + e.e, depth=1), [0])


def test_a_file_without_columns_says_so(tmp_path):
    S = gd.stream.build(gd.from_edges(SRC, DST), tmp_path / "edges.gdl")
    with pytest.raises(
        FunctionError, match=r"no field e\.time.*Columns of the edges: none; the file was built without"
    ):
        gd.sample.run(S, Spec(edge_bias=recent, depth=1), [0])


def test_an_edge_bound_below_the_least_integer_is_refused_with_the_graph():
    spec = Spec(edge_bias=lambda e: e.time, depth=1, edge_bound=0.5)
    with pytest.raises(InputError, match=r"edge_bound=0\.5, but edge_bias returns integers"):
        gd.sample.run(graph(), spec, [0])
