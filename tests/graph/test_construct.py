"""from_edges: what is accepted, what is refused and how, and what the report counts."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import graphdask as gd
from graphdask.errors import GraphdaskWarning

UNDIRECTED = {"directed": False}


def edges_of(graph):
    """(source, destination) in the caller's ids, as kept."""
    source = graph.source
    return list(zip(graph.ids.to_caller(source.src).tolist(), graph.ids.to_caller(source.dst).tolist(), strict=True))


def test_vertices_are_those_that_edges_name():
    graph = gd.from_edges([40, 10], [10, 30])
    assert (graph.num_vertices, graph.num_edges, graph.directed, graph.weighted) == (3, 2, True, False)
    assert graph.vertex_ids.tolist() == [10, 30, 40]
    assert graph.report["renumbered"] is True
    assert edges_of(graph) == [(40, 10), (10, 30)]
    one_based = gd.from_edges([1, 2], [2, 3])
    assert one_based.vertex_ids.tolist() == [1, 2, 3]
    assert one_based.report["renumbered"] is False
    assert gd.from_edges([1], [3], num_vertices=6).vertex_ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert gd.from_edges([1], [3], vertices=[8, 1, 3]).vertex_ids.tolist() == [1, 3, 8]
    assert gd.from_edges([], [], vertices=["x", "a"]).vertex_ids.tolist() == ["a", "x"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, object, list, tuple])
def test_any_array_of_whole_numbers_gives_the_same_graph(dtype):
    src, dst = ([1, 100, 3], [3, 1, 100])
    if dtype not in (list, tuple):
        src, dst = np.array(src, dtype), np.array(dst, dtype)
    assert edges_of(gd.from_edges(src, dst)) == [(1, 3), (100, 1), (3, 100)]


@pytest.mark.parametrize(
    "strings",
    [["b", "a"], np.array(["b", "a"]), np.array(["b", "a"], object), np.array(["b", "a"], np.dtypes.StringDType())],
    ids=["list", "U1", "object", "StringDType"],
)
def test_any_array_of_strings_gives_the_same_graph(strings):
    graph = gd.from_edges(strings, ["c", "b"])
    assert graph.vertex_ids.tolist() == ["a", "b", "c"]
    assert edges_of(graph) == [("b", "c"), ("a", "b")]


@pytest.mark.parametrize(
    ("src", "message"),
    [
        ([0, -3], r"src\[1\] = -3 is negative"),
        (
            np.array([0, 2**63], np.uint64),
            r"src\[1\] = 9223372036854775808 is above the largest vertex id, 2\*\*63 - 1",
        ),
        ([1, 2**64], r"src\[1\] = 18446744073709551616 is above"),
        (np.array([1, -5], object), r"src\[1\] = -5 is negative"),
        ([0.0, 1.0], "src has the dtype float64; vertex ids are whole numbers or strings"),
        ([0.0, np.nan], r"src\[1\] is missing, or NaN; fill it in"),
        ([True, False], "src has the dtype bool"),
        ([1j, 2], "src has the dtype complex128"),
        (np.array([1, "a"], object), r"src\[1\] = 'a' is not of the same kind as the others"),
        (np.array(["a", 1], object), r"src\[1\] = 1|src\[0\] = 'a'"),
        (np.array([1, None], object), r"src\[1\] = None is missing; fill it in"),
        (np.array(["a", np.nan], object), r"src\["),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "src has the dtype datetime64"),
        ([[0, 1], [1, 2]], r"src must have one dimension, not shape \(2, 2\)"),
        (3, r"src must have one dimension, not shape \(\)"),
        ([[0], [1, 2]], "src is no array"),
        ([0], "src has 1 entries and dst 2"),
        ([0, 1, 2], "src has 3 entries and dst 2"),
    ],
)
def test_ids_that_are_not_valid_are_named(src, message):
    with pytest.raises(gd.InputError, match=message):
        gd.from_edges(src, [0, 1])


def test_the_ends_of_edges_are_of_one_kind():
    with pytest.raises(gd.InputError, match="not of one kind"):
        gd.from_edges([1, 2], ["a", "b"])
    with pytest.raises(gd.InputError, match="not both"):
        gd.from_edges([0], [1], num_vertices=2, vertices=[0, 1])


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ([1, 2], np.int64),
        ([1.5, np.inf], np.float64),
        (np.array([1, 2], np.int8), np.int64),
        (np.array([1, 2], np.uint32), np.int64),
        (np.array([1, 2], np.int32), np.int32),
        (np.array([1, 2], np.float32), np.float32),
        (np.array([1, 2], np.float16), np.float64),
        ([True, False], np.int64),
        (np.array([2**62, 0], np.uint64), np.int64),
    ],
)
def test_weights_are_kept_in_a_type_that_holds_them(weights, kept):
    graph = gd.from_edges([0, 1], [1, 2], weights)
    assert graph.source.weight_dtype == kept
    assert graph.weighted
    assert graph.source.weights.tolist() == np.asarray(weights).tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan], r"weights\[1\] is NaN"),
        ([1.0], r"shape \(1,\); one for each of the 2 edges"),
        ([[1.0, 2.0]], "shape"),
        (5, "shape"),
        ([[1], [1, 2]], "weights is no array"),
        (["1", "2"], "dtype"),
        ([None, 1], "dtype object"),
        ([1j, 2], "dtype complex128"),
        (np.array([2**63, 0], np.uint64), r"weights\[0\] = 9223372036854775808 is above 2\*\*63 - 1"),
    ],
)
def test_weights_that_are_not_valid_are_refused(weights, message):
    with pytest.raises(gd.InputError, match=message):
        gd.from_edges([0, 1], [1, 2], weights)


def test_a_graph_keeps_what_it_was_given():
    src, dst, weights = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])
    graph = gd.from_edges(src, dst, weights)
    src[:], dst[:], weights[:] = 9, 9, np.nan
    assert edges_of(graph) == [(0, 1), (1, 2)]
    assert graph.source.weights.tolist() == [1.0, 2.0]


LOOPS = ([0, 1, 2, 2], [1, 1, 2, 0])


@pytest.mark.parametrize("directed", [True, False])
def test_self_loops(directed):
    kept = gd.from_edges(*LOOPS, directed=directed)
    assert (kept.num_edges, kept.report["self_loops"]) == (4, 2)
    dropped = gd.from_edges(*LOOPS, [1, 2, 3, 4], directed=directed, self_loops="drop")
    assert edges_of(dropped) == [(0, 1), (2, 0)]
    assert dropped.source.weights.tolist() == [1, 4]
    assert (dropped.report["edges_read"], dropped.report["self_loops"], dropped.report["self_loops_dropped"]) == (
        4,
        2,
        2,
    )
    gd.connected_components(dropped.partition(device="cpu"))
    assert dropped.persist().report["self_loops"] == 2
    with pytest.raises(gd.InputError, match=r"edge number 1 is a self-loop at vertex 11"):
        gd.from_edges([10, 11], [11, 11], directed=directed, self_loops="error")
    assert gd.from_edges([0], [1], directed=directed, self_loops="error").num_edges == 1
    with pytest.raises(gd.InputError, match="self_loops='remove' is not one of keep, drop, error"):
        gd.from_edges([0], [1], self_loops="remove")


def test_dropping_self_loops_keeps_their_vertices():
    graph = gd.from_edges([4, 8], [4, 4], self_loops="drop")
    assert graph.vertex_ids.tolist() == [4, 8]
    graph = gd.from_edges([4, 8], [4, 8], self_loops="drop")
    assert (graph.num_vertices, graph.num_edges) == (2, 0)


PARALLEL = ([0, 1, 0, 2, 0, 2], [1, 0, 1, 2, 1, 2])


def test_parallel_edges():
    kept = gd.from_edges(*PARALLEL)
    assert (kept.num_edges, kept.report["parallel_edges"]) == (6, 3)
    merged = gd.from_edges(*PARALLEL, [5, 9, 3, 8, 3, 1], multi_edges="merge")
    assert edges_of(merged) == [(1, 0), (0, 1), (2, 2)]
    assert merged.source.weights.tolist() == [9, 3, 1]
    assert merged.report["parallel_edges_merged"] == 3
    undirected = gd.from_edges(*PARALLEL, [5.0, 2.0, 3.0, 8.0, 3.0, -1.0], directed=False, multi_edges="merge")
    assert edges_of(undirected) == [(1, 0), (2, 2)]
    assert undirected.source.weights.tolist() == [2.0, -1.0]
    assert undirected.report["parallel_edges"] == 4
    unweighted = gd.from_edges(*PARALLEL, directed=False, multi_edges="merge")
    assert edges_of(unweighted) == [(0, 1), (2, 2)]
    with pytest.raises(gd.InputError, match="multi_edges='first' is not one of keep, merge, error"):
        gd.from_edges([0], [1], multi_edges="first")


def test_the_first_parallel_edge_is_named():
    with pytest.raises(gd.InputError, match=r"edge number 2 from 10 to 20 repeats an earlier edge"):
        gd.from_edges([10, 20, 10, 20], [20, 10, 20, 10], multi_edges="error")
    with pytest.raises(gd.InputError, match=r"edge number 1 from b to a repeats an earlier edge"):
        gd.from_edges(["a", "b"], ["b", "a"], directed=False, multi_edges="error")
    assert gd.from_edges([0, 1], [1, 0], multi_edges="error").num_edges == 2


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("wide", [False, True], ids=["32-bit", "64-bit"])
def test_merging_leaves_the_lightest_of_random_edges(rng, directed, wide):
    src, dst, weights = rng.integers(0, 12, 300), rng.integers(0, 12, 300), rng.random(300)
    lightest: dict[tuple[int, int], float] = {}
    for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        pair = (u, v) if directed else (min(u, v), max(u, v))
        lightest[pair] = min(w, lightest.get(pair, np.inf))
    # with so many vertices, pairs are compared as two columns, not as one 64-bit key
    n = 2**31 + 5 if wide else 12
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed, multi_edges="merge")
    pairs = [(u, v) if directed else (min(u, v), max(u, v)) for u, v in edges_of(graph)]
    assert dict(zip(pairs, graph.source.weights.tolist(), strict=True)) == lightest
    assert len(pairs) == len(lightest)
    assert graph.source.src.dtype == (np.int64 if wide else np.int32)


def test_many_isolated_vertices_cost_nothing_until_they_need_memory():
    graph = gd.from_edges([0], [1], num_vertices=2**42)
    assert graph.num_vertices == 2**42
    with pytest.raises(gd.OverBudget, match="the partitions need about"):
        gd.bfs(graph, 0)


def test_repr_says_what_it_is():
    assert repr(gd.from_edges([0], [1], [2.0])) == "<Graph: 2 vertices, 1 edges, directed, weights float64>"
    assert (
        repr(gd.from_edges([], [], num_vertices=1000, directed=False)) == "<Graph: 1,000 vertices, 0 edges, undirected>"
    )


@pytest.mark.parametrize(
    ("src", "dst", "reason"),
    [
        (["a", 1], ["b", "c"], r"src\[1\] = 1 is not of the same kind as the others"),
        (["a", None], ["b", "c"], r"src\[1\] = None is missing; fill it in"),
        ([1, 2], [3, "b"], r"dst\[1\] = 'b' is not of the same kind as the others"),
        (np.ma.array([1, 2], mask=[False, True]), [2, 3], r"src\[1\] is masked; fill it in"),
    ],
)
def test_values_that_numpy_would_change_or_uncover_are_refused(src, dst, reason):
    with pytest.raises(gd.errors.InputError, match=reason):
        gd.from_edges(src, dst)


@pytest.mark.parametrize("directed", ["yes", "no", None, 1])
def test_a_direction_that_is_neither_true_nor_false_is_refused(directed):
    with pytest.raises(gd.errors.InputError, match=f"directed={directed!r} is neither True nor False"):
        gd.from_edges([0], [1], directed=directed)


@pytest.mark.parametrize("other", [None, "graph.txt", np.eye(3)])
def test_what_is_no_graph_is_refused_by_name(other):
    kind = type(other).__name__
    for call in (lambda: gd.bfs(other, 0), lambda: gd.connected_components(other)):
        with pytest.raises(gd.errors.InputError, match=rf"G is a (numpy\.)?{kind}, not a Graph of graphdask"):
            call()
    with pytest.raises(gd.errors.InputError, match=rf"g is a (numpy\.)?{kind}; from_networkx takes a NetworkX graph"):
        gd.from_networkx(other)
    with pytest.raises(gd.errors.InputError, match=rf"ddf is a (numpy\.)?{kind}; from_dask_dataframe takes a Dask"):
        gd.from_dask_dataframe(other, "src", "dst")


@pytest.mark.parametrize("source", [1.0, None, True, "1"])
def test_a_source_of_another_kind_is_named_as_the_caller_wrote_it(source):
    with pytest.raises(gd.errors.InputError, match=f"source {source!r} is not a whole number"):
        gd.bfs(gd.from_edges([0], [1]), source)


@pytest.mark.parametrize("declared", [2, 4])
def test_a_comment_that_declares_other_vertices_than_edges_name_is_warned_of(tmp_path, declared):
    file = tmp_path / "graph.txt"
    file.write_text(f"# Nodes: {declared} Edges: 2\n0 1\n1 2\n")
    with pytest.warns(GraphdaskWarning, match=rf"graph\.txt: the file declares {declared} vertices, its edges name 3"):
        assert gd.read_graph(file).num_vertices == 3


def _others() -> list[tuple[object, str, str]]:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2]})
    return [
        (nx.path_graph(3), "networkx.classes.graph.Graph", "from_networkx(G)"),
        (nx.MultiDiGraph(), "networkx.classes.multidigraph.MultiDiGraph", "from_networkx(G)"),
        (sp.csr_array((3, 3)), "scipy.sparse._csr.csr_array", "from_scipy(G)"),
        (frame, f"{type(frame).__module__}.DataFrame", "from_edges(G[source], G[target])"),
        ("roads.gr", "str", "read_graph('roads.gr')"),
        (Path("roads.gr"), "pathlib.PosixPath", "read_graph('roads.gr')"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_graph_of_another_package_is_named_with_its_module_and_what_converts_it(number):
    other, name, convert = _others()[number]
    for call in (gd.pagerank, gd.triangles, lambda G: gd.sample.random_walk(G, [0], 2)):
        with pytest.raises(gd.errors.InputError) as raised:
            call(other)
        assert str(raised.value).startswith(f"G is a {name}, not a Graph of graphdask; graphdask.{convert}")
