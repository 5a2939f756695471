"""Functions of programs read columns of edges and vertices, with the same bits everywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from emulated import emulated, stand_in
from gangs import active
from scipy.sparse.csgraph import dijkstra

import graphdask as gd
from graphdask.errors import FunctionError, InputError

PARTS = (1, 2, 3, 4, 7)
N, M = 120, 500


def drawn():
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, N - 10, M), rng.integers(0, N, M)
    columns = {
        "toll": rng.integers(1, 99, M) / 4,
        "lanes": rng.integers(1, 5, M).astype(np.int8),
        "open": rng.random(M) < 0.8,
        "name": rng.permutation([f"road {k}" for k in range(M)]),
    }
    return src, dst, columns, {"score": rng.random(N), "level": rng.integers(0, 4, N).astype(np.int32)}


def graph(directed=True, **more):
    src, dst, edges, vertices = drawn()
    return gd.from_edges(
        src, dst, num_vertices=N, directed=directed, edge_columns=edges, vertex_columns=vertices, **more
    )


def shortest(send, **more):
    return gd.Program(
        state={"distance": (float, math.inf)}, message=(float, "min"), send=send,
        apply=lambda v, m: m < v.distance and {"distance": m}, **more,
    )  # fmt: skip


START = {"active": [0], "init": {"distance": {0: 0.0}}}


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("directed", [True, False])
def test_shortest_paths_by_a_column(directed, direction):
    src, dst, columns, _ = drawn()
    ends = [(src, dst)] * (direction != "in" or not directed) + [(dst, src)] * (direction != "out" or not directed)
    least = np.full((N, N), np.inf)
    for one, other in ends:
        np.minimum.at(least, (one, other), np.where(columns["open"], columns["toll"], np.inf))
    matrix = scipy.sparse.csr_array(np.where(np.isfinite(least), least, 0.0))
    expected = dijkstra(matrix, indices=0)
    program = shortest(lambda e: e.source.distance + e.toll if e.open else None, direction=direction)
    for parts in PARTS:
        found = gd.run(graph(directed).partition(parts, by="random"), program, **START)
        assert found.distance.tolist() == expected.tolist()
        found.verify()


def labels():
    """Weights of neighbours' labels by the score of the vertex, in floats, whose order matters."""
    return gd.Program(
        state={"label": (float, lambda v: v.score)},
        message=(float, "sum"),
        send=lambda e: e.source.label * e.lanes * (1.0 + e.destination.score) + e.source.level,
        apply=lambda v, m: {"label": m / (1.0 + v.score + v.level)},
        aggregate={"all": ("sum", lambda old, new: new.label * new.score - old.label)},
        max_supersteps=3,
    )


def by_loops(direction):
    src, dst, columns, vertices = drawn()
    score, level = vertices["score"], vertices["level"].astype(float)
    weight = score.copy()
    arcs = [*zip(src, dst, columns["lanes"], strict=True)] * (direction != "in")
    arcs += [*zip(dst, src, columns["lanes"], strict=True)] * (direction != "out")
    sends = np.ones(N, bool)
    for _ in range(3):
        sums, came = np.zeros(N), np.zeros(N, bool)
        for u, v, lanes in arcs:
            if sends[u]:
                sums[v] += weight[u] * lanes * (1.0 + score[v]) + level[u]
                came[v] = True
        new = np.where(came, sums / (1.0 + score + level), weight)
        sends, weight = new != weight, new
    return weight


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_sums_weighted_by_scores_of_both_ends(direction):
    program, results = replace(labels(), direction=direction), []
    for parts in PARTS:
        for ghosts in ("1-hop", "all"):
            results.append(gd.run(graph().partition(parts, by="random", ghosts=ghosts), program))
    np.testing.assert_allclose(results[0].label, by_loops(direction), rtol=1e-12)
    for found in results:
        np.testing.assert_array_equal(found.label.view(np.int64), results[0].label.view(np.int64))
        assert found.aggregates == results[0].aggregates
    results[-1].verify()


PROGRAMS = {
    "pushed": (shortest(lambda e: e.source.distance + e.toll), START),
    "of the source": (shortest(lambda e: e.source.distance + e.source.score), START),
    "to the destination": (shortest(lambda e: e.source.distance + e.lanes + e.destination.level), START),
    "against edges": (shortest(lambda e: e.source.distance + e.toll, direction="in"), START),
    "both ways": (shortest(lambda e: e.source.distance + e.toll, direction="both"), START),
    "sums": (labels(), {}),
    "any": (
        gd.Program(
            state={"seen": (bool, lambda v: v.level == 3)}, message="any", send=lambda e: e.source.seen and e.open,
            apply=lambda v, m: m and not v.seen and v.score > 0.1 and {"seen": True},
        ),
        {},
    ),
    "everyone": (
        gd.Program(
            state={"x": (float, 1.0)}, message=(float, "sum"), send=lambda e: e.source.x * e.source.score,
            apply=lambda v, m: {"x": v.score + 0.25 * m}, activity="all", max_supersteps=4,
        ),
        {},
    ),
}  # fmt: skip


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())


def same(found, expected):
    assert found.iterations == expected.iterations
    for column in expected.columns:
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=column)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_on_a_gpu(name, directed, gpu):
    (program, how), G = PROGRAMS[name], graph(directed)
    expected = gd.run(G.partition(1, device="cpu"), program, **how)
    same(gd.run(G.partition(4, by="random", device="cpu"), program, **how), expected)
    for parts in (1, 3):
        same(gd.run(G.partition(parts, by="random", device="cuda"), program, **how).verify(), expected)


def test_the_same_on_a_cluster(two_workers):
    for program, how in (PROGRAMS["pushed"], PROGRAMS["sums"]):
        expected = gd.run(graph().partition(1, device="cpu"), program, **how)
        with active(two_workers):
            G = graph()
            for _ in range(2):
                same(gd.run(G, program, **how), expected)


def test_columns_come_once_and_only_those_that_are_read(watched):
    from graphdask.gang import columns

    brought = watched(columns, "numbers_of", lambda G, of, name: name)
    G = graph().partition(2)
    gd.run(G, shortest(lambda e: e.source.distance + e.source.degree), **START)
    assert (brought, G.built.columns) == ([], frozenset())
    before = G.built.nbytes
    for _ in range(2):
        gd.run(G, PROGRAMS["pushed"][0], **START)
    assert brought == ["toll"]
    assert sum(G.built.nbytes) == sum(before) + 8 * M


def test_a_field_of_the_state_hides_a_column():
    program = shortest(lambda e: e.source.distance + e.source.score, max_supersteps=1)
    program = replace(program, state={"distance": (float, math.inf), "score": (float, 2.0)})
    assert gd.run(graph(), program, **START).distance[0] == 0.0
    found = gd.run(graph(), program, **START).distance
    assert set(found.tolist()) == {0.0, 2.0, math.inf}


@pytest.mark.slow
def test_columns_of_a_dynamic_graph():
    G = gd.from_edges([0, 1], [1, 2], edge_columns={"toll": [1.0, 2.0]}, vertex_columns={"score": [1, 2, 3]})
    D, program = gd.DynamicGraph(G), shortest(lambda e: e.source.distance + e.toll)
    assert gd.run(D, program, **START).distance.tolist() == [0.0, 1.0, 3.0]
    D.update(insert=([0], [2]), columns={"toll": [0.5]})
    for parts in (1, 3):
        other = gd.DynamicGraph(G.partition(parts))
        other.update(insert=([0, 2], [2, 3]), delete=([0], [1]), columns={"toll": [0.5, 4.0]})
        assert gd.run(other, program, **START).distance.tolist() == [0.0, math.inf, 0.5, 4.5]
        with pytest.raises(FunctionError, match=r"e\.destination\.score: vertex 3 has no value in the column"):
            gd.run(other, shortest(lambda e: e.source.distance + e.destination.score), **START)
    assert gd.run(D, program, **START).distance.tolist() == [0.0, 1.0, 0.5]
    D.update(insert=([2], [0]))
    with pytest.raises(FunctionError, match=r"e\.toll: row 3 of the column is missing; fill it in"):
        gd.run(D, program, **START)


def test_columns_of_a_frame_with_names_as_ids():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"src": ["a", "a", "b"], "dst": ["b", "c", "c"], "km": [3, 9, 2]})
    people = pandas.DataFrame({"id": ["c", "b", "a"], "age": [30, 20, 10]})
    G = gd.from_frame(frame, "src", "dst", edge_columns=["km"], vertex_columns=people)
    program = shortest(lambda e: e.source.distance + e.km + e.destination.age)
    found = gd.run(G, program, active=["a"], init={"distance": {"a": 0.0}})
    assert dict(zip(G.vertex_ids.tolist(), found.distance.tolist(), strict=True)) == {"a": 0.0, "b": 23.0, "c": 39.0}


def misspelt(e):
    return e.source.distance + e.tol


def text(e):
    if e.name > 1:
        return 1.0
    return e.source.distance


def of_no_vertex(e):
    return e.destination.toll


WRONG = [
    (misspelt, r"no field e.tol, did you mean e.toll\? .*Columns of the edges: toll, lanes, open, name", 1),
    (text, "e.name: the column is of the type (large_)?string; functions read numbers, truth values, dates", 1),
    (of_no_vertex, "no field e.destination.toll.*Columns of the vertices: score, level", 1),
]


@pytest.mark.parametrize(("send", "message", "line"), WRONG)
def test_a_column_that_cannot_be_read_is_named_with_the_line(send, message, line):
    with pytest.raises(FunctionError, match=message) as raised:
        gd.run(graph(), shortest(send), **START)
    assert (raised.value.path, raised.value.line) == (__file__, send.__code__.co_firstlineno + line)


def test_apply_and_first_states_say_so_too():
    program = shortest(lambda e: e.source.distance + e.toll)
    wrong = replace(program, apply=lambda v, m: m < v.distance and {"distance": m + v.scor})
    with pytest.raises(FunctionError, match=r"no field v.scor, did you mean v.score\?"):
        gd.run(graph(), wrong)
    wrong = replace(program, state={"distance": (float, lambda v: v.levl)})
    with pytest.raises(FunctionError, match=r"no field v.levl, did you mean v.level\?.*Columns of the vertices: score"):
        gd.run(graph(), wrong)


def test_a_program_is_checked_before_its_graph_is_known():
    """An unknown name may be a column; what is wrong with any column is said at once."""
    with pytest.raises(FunctionError, match=r"a call of the number e\.toll cannot be translated"):
        shortest(lambda e: e.toll(1))
    with pytest.raises(FunctionError, match=r"there is no field old\.toll"):
        replace(labels(), aggregate={"all": ("sum", lambda old, new: old.toll)})


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_from_disk(name, directed, tmp_path):
    (program, how), G = PROGRAMS[name], graph(directed)
    expected = gd.run(G.partition(1, device="cpu"), program, **how)
    for order in ("layers", "ids"):
        path = tmp_path / f"{order}.gdl"
        gd.stream.build(G, path, order=order, memory="1MiB", chunk=1024)
        for parts in (1, 3):
            same(gd.run(gd.stream.open(path, "96KiB").partition(parts), program, **how).verify(), expected)
        same(in_little(path, program, how), expected)


def in_little(path, program, how):
    """A run in so little memory that columns are taken anew for each chunk."""
    memory = 1024
    while True:
        try:
            return gd.run(gd.stream.open(path, memory), program, **how)
        except gd.OverBudget:
            memory += memory // 8


@pytest.mark.parametrize("parts", [1, 3])
def test_the_same_from_disk_through_a_gpu(parts, gpu, tmp_path):
    for turn, (program, how) in enumerate(PROGRAMS.values()):
        G = graph(turn % 3 > 0)
        expected = gd.run(G.partition(1, device="cpu"), program, **how)
        S = gd.stream.build(G, tmp_path / "g.gdl", memory="1MiB", chunk=1024, overwrite=True)
        S = gd.stream.open(S.store.path, "256KiB", device="cuda").partition(parts)
        same(gd.run(S, program, **how).verify(), expected)


def test_a_file_without_columns_says_so(tmp_path):
    src, dst, *_ = drawn()
    S = gd.stream.build(gd.from_edges(src, dst), tmp_path / "edges.gdl")
    with pytest.raises(
        FunctionError, match=r"no field e\.toll.*Columns of the edges: none; the file was built without"
    ):
        gd.run(S, PROGRAMS["pushed"][0], **START)


def test_few_columns_are_read():
    names = "abcde"
    G = gd.from_edges([0], [1], vertex_columns={name: [1, 2] for name in names})
    send = lambda e: e.source.a + e.source.b + e.source.c + e.destination.d + e.destination.e  # noqa: E731
    with pytest.raises(InputError, match="functions read 5 columns of vertices: a, b, c, d, e; they read 4 at most"):
        gd.run(G, shortest(send))
