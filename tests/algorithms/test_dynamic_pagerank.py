"""PageRank of dynamic graphs against exact solutions and against the paper's algorithms in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.algorithms.dynamic_pagerank import METHODS

DAMPING = 0.85
DEVICES = ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)]


def exact(D):
    """The solution of the equations, every vertex with a self-loop."""
    src, dst, _ = D.edges(device="cpu")
    n = D.num_vertices
    src, dst = np.searchsorted(D.vertex_ids, src), np.searchsorted(D.vertex_ids, dst)
    steps = np.eye(n)
    steps[dst, src] = 1.0
    if not D.directed:
        steps[src, dst] = 1.0
    steps /= steps.sum(axis=0)
    return np.linalg.solve(np.eye(n) - DAMPING * steps, np.full(n, (1 - DAMPING) / n))


def neighbours(edges, n):
    """Out-neighbours of every vertex, itself among them."""
    out = [{v} for v in range(n)]
    for u, v in edges:
        out[u].add(v)
    return out


def plain(method, ranks, before, after, n, tol=1e-10, frontier=1e-6, prune=1e-6):
    """The paper's Algorithms 1 to 5, a vertex at a time: ranks, iterations, and the vertices that were ever ranked."""
    out = neighbours(after, n)
    inward = [[u for u in range(n) if v in out[u]] for v in range(n)]
    inserted, deleted = after - before, before - after
    ranks = [1 / n] * n if method == "static" else list(ranks)
    if method in ("static", "nd"):
        affected = set(range(n))
    else:
        affected = {v for u, _ in inserted | deleted for v in out[u]} | {v for _, v in deleted}
    if method == "dt":
        todo = list(affected)
        while todo:
            new = out[todo.pop()] - affected
            affected |= new
            todo += new
    ever = set()
    iteration, largest = 0, np.inf
    while largest > tol:
        iteration += 1
        new, expand, keep = list(ranks), set(), set(affected)
        for v in affected:
            others = sum(ranks[u] / len(out[u]) for u in inward[v] if u != v)
            if method == "dfp":
                new[v] = ((1 - DAMPING) / n + DAMPING * others) / (1 - DAMPING / len(out[v]))
            else:
                new[v] = (1 - DAMPING) / n + DAMPING * (others + ranks[v] / len(out[v]))
            relative = abs(new[v] - ranks[v]) / max(new[v], ranks[v])
            if method == "dfp" and relative <= prune:
                keep.discard(v)
            if relative > frontier:
                expand.add(v)
        ever |= affected
        largest = max((abs(a - b) for a, b in zip(new, ranks, strict=True)), default=0.0)
        ranks, affected = new, keep
        if method in ("df", "dfp"):
            affected = keep | {v for u in expand for v in out[u]}
    return ranks, iteration, ever


@pytest.mark.parametrize("method", METHODS)
def test_methods_do_what_the_paper_says(method):
    rng = np.random.default_rng(7)
    n = 120
    # a sparse graph in which changes die out: a ring of cliques with few edges between
    edges = {(int(u), int(v)) for u, v in rng.integers(0, n, (260, 2)) // 10 * 10 + rng.integers(0, 10, (260, 2))}
    D = gd.DynamicGraph(gd.from_edges(*zip(*sorted(edges), strict=True), num_vertices=n).partition(3))
    ranks = gd.pagerank(D, method="static").rank
    ever = []
    for _ in range(5):
        before = set(edges)
        insert, delete = rng.integers(0, n, (2, 2)), np.array(sorted(edges))[rng.integers(0, len(edges), 2)].T
        D.update(insert=insert, delete=delete)
        edges -= set(zip(*delete.tolist(), strict=True))
        edges |= set(zip(*insert.tolist(), strict=True))
        found = gd.pagerank(D, method=method).verify()
        ranks, iterations, worked_on = plain(method, ranks, before, edges, n)
        ever.append(len(worked_on))
        assert (found.method, found.iterations, found.affected) == (method, iterations, len(worked_on))
        np.testing.assert_allclose(found.rank, ranks, rtol=1e-12)
        ranks = found.rank
    assert max(ever) == n or method not in ("static", "nd")
    assert min(ever) < n or method in ("static", "nd")


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("directed", [True, False])
def test_ranks_have_the_same_bits_for_every_number_of_partitions_and_on_every_device(directed, device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    expected = None
    cases = [(parts, "cpu") for parts in (1, 2, 3, 4, 7)] if device == "cpu" else [(1, "cpu"), (3, "cuda")]
    for parts, where in cases:
        rng = np.random.default_rng(11)
        hub = np.zeros(300, np.int64), rng.integers(0, 300, 300)
        src, dst = (np.concatenate([*ends, rng.integers(0, 300, 500)]) for ends in (hub, hub[::-1]))
        D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=300, directed=directed).partition(parts, device=where))
        ranks, done = [], []
        for method in METHODS:
            insert, delete = rng.integers(0, 303 + len(ranks), (2, 6)), rng.integers(0, 300, (2, 900))
            D.update(insert=insert, delete=delete)
            found = gd.pagerank(D, method=method).verify()
            assert np.abs(found.rank - exact(D)).sum() < (1e-4 if method in ("df", "dfp") else 1e-7)
            ranks.append(found.rank)
            done.append((found.iterations, found.affected, found.residual))
        if expected is None:
            expected = ranks, done
        for one, other in zip(ranks, expected[0], strict=True):
            np.testing.assert_array_equal(one, other)
        assert done == expected[1]


@pytest.mark.parametrize("by", [None, "random", "range", np.arange(90) % 4])
def test_slots_stay_as_vertices_appear_which_come_last(by):
    src, dst = np.append(np.arange(90), np.repeat([60, 2], 20)), np.append(np.arange(90) * 7 % 90, np.arange(40))
    D = gd.DynamicGraph(gd.from_edges(src, dst).partition(4, by))
    gd.pagerank(D, method="static")
    assert all((np.diff(part.outward.length) <= 0).all() for part in D.rows.parts.values)
    rows, before = D.rows, [part.names.copy() for part in D.rows.parts.values]
    for k in range(4):
        D.update(insert=([90 + 2 * k, 5], [3, 91 + 2 * k]))
        found = gd.pagerank(D, method="dfp").verify()
    assert D.rows is rows
    np.testing.assert_allclose(found.rank, exact(D), rtol=1e-3)
    for part, names in zip(D.rows.parts.values, before, strict=True):
        np.testing.assert_array_equal(part.names, names)
        assert (np.diff(part.ids[part.present]) > 0).all()
        assert (part.ids[: part.num_alive] < part.alive).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:pagerank stopped")
def test_ranks_follow_a_hundred_batches_without_drift():
    rng = np.random.default_rng(2)
    n = 250
    src, dst = (rng.random((2, 1250)) ** 2 * n).astype(int)
    most = {"static": 1e-7, "nd": 1e-7, "dt": 1e-7, "df": 1e-5, "dfp": 2e-4}
    G = gd.from_edges(src, dst, num_vertices=n)
    graphs = {method: gd.DynamicGraph(G.partition(2 if method == "dfp" else 1)) for method in most}
    errors, sums = ({method: [] for method in most} for _ in range(2))
    for D in graphs.values():
        gd.pagerank(D, method="static")
    for _ in range(100):
        batch = {
            "insert": (rng.random((2, 4)) ** 2 * n).astype(int),
            "delete": [ends[rng.integers(0, 1250, 3)] for ends in (src, dst)],
        }
        expected = None
        for method, D in graphs.items():
            D.update(**batch)
            expected = exact(D) if expected is None else expected
            rank = gd.pagerank(D, method=method).rank
            errors[method].append(np.abs(rank - expected).sum())
            sums[method].append(abs(rank.sum() - 1))
    for method, D in graphs.items():
        assert max(errors[method]) < most[method]
        assert max(errors[method][50:]) < 2 * max(errors[method][:50])
        assert max(sums[method]) < (1e-9 if method in ("static", "nd") else most[method])
        found = gd.pagerank(D, method="nd", max_iter=500, tol=1e-100)
        assert np.abs(found.rank - expected).sum() < 1e-12
        assert abs(found.rank.sum() - 1) < 1e-9


def local_changes(n, batches):
    """A directed graph of near neighbours and a few hubs, and batches of edges to insert and to delete."""
    rng = np.random.default_rng(3)
    src = rng.integers(0, n, 4 * n)
    dst = np.where(rng.random(4 * n) < 0.05, rng.integers(0, 5, 4 * n), (src + rng.integers(1, 20, 4 * n)) % n)
    changes = []
    for _ in range(batches):
        insert = rng.integers(0, n, 3)
        gone = rng.integers(0, 4 * n, 2)
        changes.append(((insert, (insert + 7) % n), (src[gone], dst[gone])))
    return gd.from_edges(src, dst, num_vertices=n), changes


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_ranks_are_as_near_to_the_exact_ones_as_they_are_asked_to_be(method):
    G, changes = local_changes(150, 6)
    expected = None
    for parts in (1, 3):
        D = gd.DynamicGraph(G.partition(parts))
        gd.pagerank(D, method="static", error=1e-5)
        done = []
        for insert, delete in changes:
            D.update(insert=insert, delete=delete)
            found = gd.pagerank(D, method=method, error=1e-5).verify()
            assert np.abs(found.rank - exact(D)).sum() <= found.error <= 1e-5
            assert found.converged
            done.append((found.rank.tolist(), found.steps, found.affected, found.error))
        expected = expected or done
        assert done == expected


@pytest.mark.slow
def test_a_result_says_where_vertices_had_to_be_ranked_to_keep_the_error():
    G, changes = local_changes(400, 8)
    D = gd.DynamicGraph(G)
    gd.pagerank(D, method="static", error=1e-6)
    steps, methods = {}, set()
    for insert, delete in changes:
        D.update(insert=insert, delete=delete)
        found = gd.pagerank(D, method="dfp", error=1e-6, frontier_tol=1e-4, prune_tol=1e-4).verify()
        assert np.abs(found.rank - exact(D)).sum() <= found.error <= 1e-6
        assert sum(found.steps.values()) == found.iterations
        methods.add(found.method)
        steps = {name: steps.get(name, 0) + count for name, count in found.steps.items()} | steps
    assert "nd" in methods
    assert set(steps) <= {"nd", "df", "dfp"}
    # where all ranks are wanted to be exact nearly, and nearly everything is lost, it is naive-dynamic
    found = gd.pagerank(D, method="dfp", error=1e-12, frontier_tol=0.5, prune_tol=0.5).verify()
    assert (found.method, np.abs(found.rank - exact(D)).sum() <= 1e-12) == ("nd", True)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_batch_of_many_edges_is_left_to_naive_dynamic(parts):
    D = gd.DynamicGraph(local_changes(400, 0)[0].partition(parts))
    gd.pagerank(D, method="static", error=1e-6)
    rng = np.random.default_rng(1)
    D.update(insert=rng.integers(0, 400, (2, 3000)))
    found = gd.pagerank(D, method="auto", error=1e-6).verify()
    assert (found.method, found.steps) == ("nd", {"nd": found.iterations})
    assert found.iterations <= gd.pagerank(D, method="static", error=1e-6).iterations


@pytest.mark.slow
def test_runs_to_an_error_and_to_a_tolerance_follow_each_other():
    G, changes = local_changes(300, 9)
    D = gd.DynamicGraph(G.partition(2))
    gd.pagerank(D, method="static")
    for k, (insert, delete) in enumerate(changes):
        D.update(insert=insert, delete=delete)
        if k == 5:
            D.update(insert=(np.arange(1000, 1400), np.arange(1400, 1800)))  # more than there is room for
        how = {"error": 1e-5} if k % 3 else {"tol": 1e-8}
        found = gd.pagerank(D, method="dfp", **how).verify()
        assert np.abs(found.rank - exact(D)).sum() <= found.error
        assert found.error <= 1e-5 or k % 3 == 0


def test_an_ordinary_graph_is_ranked_to_an_error_too():
    D = gd.DynamicGraph(local_changes(300, 0)[0])
    found = gd.pagerank(D.present, error=1e-4, dangling="self-loop")
    assert np.abs(found.rank - exact(D)).sum() <= found.error <= 1e-4
    assert found.iterations < gd.pagerank(D.present, dangling="self-loop").iterations / 2


@pytest.mark.filterwarnings("ignore:pagerank stopped")
def test_the_reference_run_solves_the_equations():
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 2], num_vertices=4))
    D.update(insert=([3], [1]), delete=([0], [1]))
    found = gd.pagerank(D, method="static", tol=1e-100, max_iter=500)
    np.testing.assert_allclose(found.rank, exact(D), rtol=1e-14)
    assert abs(found.rank.sum() - 1) < 1e-15


def test_vertices_that_appear_alone_are_ranked_without_an_iteration_over_the_others():
    rng = np.random.default_rng(4)
    D = gd.DynamicGraph(gd.from_edges(*rng.integers(0, 50, (2, 200)), num_vertices=50))
    gd.pagerank(D, method="static", tol=1e-16, max_iter=5000)
    D.update(insert=([77, 60], [77, 60]))
    found = gd.pagerank(D, method="df")
    assert found.affected == 2
    np.testing.assert_allclose(found.rank, exact(D), rtol=1e-12)


def test_batches_between_calls_add_up():
    rng = np.random.default_rng(5)
    D = gd.DynamicGraph(gd.from_edges(*rng.integers(0, 50, (2, 200)), num_vertices=50).partition(2))
    gd.pagerank(D, method="static")
    D.update(insert=([1], [2]))
    D.update(delete=([1], [2]))
    D.update()
    found = gd.pagerank(D, method="dt")
    assert np.abs(found.rank - exact(D)).sum() < 1e-8
    assert found.affected > 1
    assert (gd.pagerank(D, method="dt").affected, gd.pagerank(D, method="df").affected) == (0, 0)


@pytest.mark.parametrize("device", DEVICES)
def test_ranks_are_kept_where_more_vertices_appear_than_there_is_room_for(device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    rng = np.random.default_rng(8)
    edges = rng.integers(0, 50, (2, 200))
    graph = gd.from_edges(*edges, num_vertices=50).partition(2, device="cpu" if device == "cpu" else "cuda")
    D = gd.DynamicGraph(graph)
    early = gd.pagerank(D, method="static")
    D.update(insert=([1, 60], [2, 3]), delete=edges[:, :4])
    D.update(insert=(np.arange(1000, 1400), np.arange(1400, 1800)))
    found = gd.pagerank(D, method="dt").verify()
    assert found.method == "dt"
    assert np.abs(found.rank - exact(D)).sum() < 1e-8
    again = gd.DynamicGraph(graph)
    gd.pagerank(again, method="static")
    inserted = [np.concatenate(ends) for ends in (([1, 60], np.arange(1000, 1400)), ([2, 3], np.arange(1400, 1800)))]
    again.update(insert=inserted, delete=edges[:, :4])
    expected = gd.pagerank(again, method="dt")
    np.testing.assert_allclose(found.rank, expected.rank, rtol=1e-12)
    assert found.affected == expected.affected < len(found.rank)
    with pytest.raises(gd.InputError, match="before the next batch"):
        early.verify()


def test_ranks_of_the_gang_are_sent_only_what_they_do_not_know():
    rng = np.random.default_rng(1)
    src = rng.integers(0, 1000, 4000)
    G = gd.from_edges(src, (src + rng.integers(1, 9, 4000)) % 1000, num_vertices=1000)
    D = gd.DynamicGraph(G.partition(3))

    def reported(method):
        return sum(step["messages"] for step in gd.pagerank(D, method=method).stats)

    every = reported("static")
    reported("dfp")  # what the last iteration had to say
    assert reported("dfp") == 0
    D.update(insert=([5], [900]))
    assert 0 < reported("dfp") < every / 10


def test_the_host_waits_for_a_device_once_in_an_iteration_and_once_for_a_batch(monkeypatch, watched):
    backend = emulated()
    stand_in(monkeypatch, backend)
    G, changes = local_changes(400, 2)
    D = gd.DynamicGraph(G.partition(1, device="cuda"))
    gd.pagerank(D, method="static")
    waits = watched(type(backend), "to_host")
    for method, (insert, delete) in zip(("dfp", "nd"), changes, strict=True):
        waits.clear()
        D.update(insert=insert, delete=delete)
        assert len(waits) == 1
        waits.clear()
        found = gd.pagerank(D, method=method)
        assert len(waits) <= found.iterations + 2  # the marks of the batch, and the first list


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES[1:])
def test_partitions_by_degree_change_no_bit(device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    rng = np.random.default_rng(3)
    hub = np.zeros(250, np.int64), rng.integers(0, 300, 250)  # rows for a block, out and in
    src, dst = (np.concatenate([*hub[::way], rng.integers(0, 300, 300)]) for way in (1, -1))
    expected = None
    for partition_by in ("both", "in", "none"):
        G = gd.from_edges(src, dst, num_vertices=300)
        for parts in (1, 2):
            D = gd.DynamicGraph(G.partition(parts, device="cpu" if expected is None else "cuda"))
            gd.pagerank(D, method="static")
            D.update(insert=([0, 5], [9, 0]))
            found = gd.pagerank(D, method="df", partition_by=partition_by)
            expected = found.rank if expected is None else expected
            np.testing.assert_array_equal(found.rank, expected)


def test_without_ranks_every_method_is_static():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    assert [gd.pagerank(D, method="dfp").method for _ in range(2)] == ["static", "dfp"]
    assert gd.pagerank(D, method="dfp", damping=0.5).method == "static"


def test_ranks_of_an_empty_graph_and_of_graphs_without_edges():
    D = gd.DynamicGraph(gd.from_edges([], []))
    assert gd.pagerank(D, method="dfp").verify().rank.tolist() == []
    D.update(insert=([4], [4]))
    assert gd.pagerank(D, method="dfp").verify().rank.tolist() == [1.0]
    D = gd.DynamicGraph(gd.from_edges([], [], num_vertices=4).partition(3))
    assert gd.pagerank(D, method="df").rank.tolist() == [0.25] * 4


def test_a_result_says_of_which_version_it_is():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    found = gd.pagerank(D, method="nd")
    D.update(insert=([9], [0]))
    assert found.to_frame().vertex.tolist() == found.to_dask()["vertex"].compute().tolist() == [0, 1, 2]
    assert found.to_dask()["rank"].compute().tolist() == found.rank.tolist()
    assert len(found.rank) == 3
    with pytest.raises(gd.InputError, match="verify them before the next batch"):
        found.verify()


@pytest.mark.parametrize("wrong", ["ranks", "rows"])
def test_a_wrong_result_is_found_out(wrong):
    rng = np.random.default_rng(6)
    D = gd.DynamicGraph(gd.from_edges(*rng.integers(0, 50, (2, 200)), num_vertices=50))
    found = gd.pagerank(D, method="static")
    if wrong == "ranks":
        ranks = found.parts.values[0].columns["rank"]
        ranks[3], ranks[4] = ranks[4], ranks[3]
        assert ranks[3] != ranks[4]
    else:
        D.rows.parts.values[0].backward.length[7] -= 1
    with pytest.raises(gd.VerificationError, match="one more iteration changes the ranks by"):
        found.verify()


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"method": "fast"}, gd.InputError, "method='fast' is not one of static, nd, dt, df, dfp, auto"),
        ({"method": "auto"}, gd.InputError, "method='auto' chooses the fastest way to an error; say error="),
        ({"method": "nd", "partition_by": "out"}, gd.InputError, "partition_by='out' is not one of both, in, none"),
        ({"partition_by": "in"}, gd.Unsupported, "partition_by= is of the methods of a DynamicGraph"),
        ({"method": "nd", "error": 0}, gd.InputError, "error=0 is not a number above 0"),
        ({"method": "nd", "error": 1e-6, "tol": 1e-9}, gd.InputError, "error=1e-06 both say when"),
        ({"error": 1e-6, "norm": "linf"}, gd.Unsupported, "error= is an L1 distance"),
        ({"method": "nd", "dangling": "uniform"}, gd.Unsupported, "dangling= is as it is with method='nd'"),
        ({"method": "nd", "norm": "l1"}, gd.Unsupported, "norm= is as it is"),
        ({"method": "nd", "dtype": "float32"}, gd.Unsupported, "dtype= is as it is"),
        ({"method": "nd", "frontier_tol": 1e-3}, gd.Unsupported, "frontier_tol= has no meaning with method='nd'"),
        ({"method": "df", "prune_tol": 1e-3}, gd.Unsupported, "prune_tol= has no meaning"),
        ({"method": "df", "frontier_tol": -1}, gd.InputError, "frontier_tol=-1 is not a number of 0 or more"),
        ({"prune_tol": 1e-3}, gd.Unsupported, "are of method='df' and 'dfp'"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(options, error, reason):
    D = gd.DynamicGraph(gd.from_edges([0], [1]))
    with pytest.raises(error, match=reason):
        gd.pagerank(D, **options)


def test_a_method_is_refused_where_nothing_changes_and_where_there_are_weights():
    with pytest.raises(gd.Unsupported, match="follows the batches of a DynamicGraph"):
        gd.pagerank(gd.from_edges([0], [1]), method="df")
    D = gd.DynamicGraph(gd.from_edges([0], [1], [2.0]))
    with pytest.raises(gd.Unsupported, match="use weighted=False"):
        gd.pagerank(D, method="df")
    assert gd.pagerank(D, method="df", weighted=False).converged
