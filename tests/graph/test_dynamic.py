"""Graphs that batches change equal the graphs that are made of the same edges at once."""

from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from common_checks import bits, run
from emulated import EmulatedCuda, emulated, stand_in
from memory import free

import graphdask as gd
from graphdask import execute
from graphdask.comm.threads import ThreadCommunicator
from graphdask.dynamic import graph as dynamic_graph
from graphdask.dynamic.rows import DynamicRows
from graphdask.dynamic.tuning import DYNAMIC
from graphdask.gang import dynamic
from graphdask.interface.registry import algorithms
from graphdask.partition.changes import Batch
from graphdask.partition.tuning import PARTITION


class Edges(dict):
    """The edges that there should be, and their weights, kept in a dictionary."""

    def __init__(self, directed):
        super().__init__()
        self.directed = directed

    def key(self, u, v):
        return (u, v) if self.directed or u <= v else (v, u)

    def apply(self, insert=((), ()), delete=((), ())):
        for u, v in zip(*delete[:2], strict=True):
            self.pop(self.key(u, v), None)
        weights = insert[2] if len(insert) == 3 else [None] * len(insert[0])
        for u, v, weight in zip(*insert[:2], weights, strict=True):
            self[self.key(u, v)] = weight


def check(D, edges):
    found = D.edges(device="cpu")
    weights = [None] * len(found.src) if found.weights is None else found.weights.tolist()
    keys = [edges.key(u, v) for u, v in zip(found.src.tolist(), found.dst.tolist(), strict=True)]
    assert len(keys) == len(edges) == D.num_edges
    assert dict(zip(keys, weights, strict=True)) == edges
    assert packed(D) == edges


def packed(D):
    """The edges of the rows on the workers, out-edges and in-edges alike."""
    execute.dynamic_rows(D)
    base, appeared = D.base.ids.values.tolist(), D._appeared.tolist()
    ids = base + appeared
    directions = []
    for name in ("outward", "backward"):
        found = {}
        for rank in range(D.rows.gang.size):
            part = D.rows.parts.values[rank]
            rows, take = getattr(part, name), D.rows.gang.backends[rank].to_host
            begin, length, indices, own = (take(a) for a in (rows.begin, rows.length, rows.indices, part.ids))
            names = take(part.names)
            np.testing.assert_array_equal(names[: len(own)], own)
            np.testing.assert_array_equal(names[take(part.slots)], np.arange(part.num_slots))
            weights = None if rows.weights is None else take(rows.weights)
            for v in range(len(own)):
                span = slice(int(begin[v]), int(begin[v] + length[v]))
                row = names[indices[span]]
                assert (np.diff(row) > 0).all()
                for at, u in enumerate(row.tolist(), start=span.start):
                    ends = (own[v], u) if name == "outward" else (u, own[v])
                    found[ids[ends[0]], ids[ends[1]]] = None if weights is None else weights[at]
        directions.append(found)
    assert directions[0] == directions[1]
    if D.directed:
        return directions[0]
    assert {(v, u): weight for (u, v), weight in directions[0].items()} == directions[0]
    return {(u, v): weight for (u, v), weight in directions[0].items() if u <= v}


@pytest.fixture(params=["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
        return "cuda"
    return request.param


@pytest.mark.parametrize(
    ("parts", "directed", "weighted"), [(1, True, True), (2, False, False), (3, True, False), (4, False, True),
                                        (7, True, True)]
)  # fmt: skip
def test_batches_give_the_graph_of_the_same_edges(parts, directed, weighted, device, monkeypatch, watched):
    if device == "cuda" and parts in (2, 7):
        pytest.skip("the other cases have these rows")
    rng = np.random.default_rng(parts)
    n, edges = 60, Edges(directed)
    start = rng.integers(0, n, (2, 150))
    weights = np.unique(rng.integers(0, 2**20, 10_000))[:150].astype(np.float64) if weighted else None
    for u, v, weight in zip(*start.tolist(), [None] * 150 if weights is None else weights.tolist(), strict=True):
        known = edges.get(edges.key(u, v))
        edges[edges.key(u, v)] = weight if known is None else min(known, weight)
    G = gd.from_edges(*start, weights, num_vertices=n, directed=directed)
    owners = np.arange(n) % 3 if parts == 3 else None
    D = gd.DynamicGraph(G.partition(parts, owners, device=device))
    check(D, edges)
    laid_out = watched(DynamicRows, "lay_out")
    for size in (0, 1, 30, 3000):  # the last one is larger than the graph
        insert, delete = rng.integers(0, n + size // 30, (2, size)), rng.integers(0, n + 2, (2, size // 2))
        insert[:, : size // 4] = delete[:, : size // 4]  # deleted and inserted
        batch = [*insert.tolist(), rng.integers(0, 99, size).astype(float).tolist()][: 3 if weighted else 2]
        version, before, vertices = D.version, dict(edges), set(D.vertex_ids.tolist())
        found = D.update(insert=batch, delete=delete)
        edges.apply(batch, delete.tolist())
        check(D, edges)
        assert D.version == found.version == version + 1
        added, removed = (
            {edges.key(u, v) for u, v in zip(*map(np.ndarray.tolist, ends), strict=True)}
            for ends in (found.added, found.removed)
        )
        assert (added, removed) == (edges.keys() - before.keys(), before.keys() - edges.keys())
        assert found.deleted + found.absent == delete.shape[1]
        assert found.inserted + found.duplicates == insert.shape[1]
        assert set(D.vertex_ids.tolist()) == vertices | set(insert.ravel().tolist())
        assert (np.diff(D.vertex_ids) > 0).all()
    assert laid_out


@pytest.mark.parametrize("weighted", [False, True])
def test_long_rows_that_stay_where_they_are_change_by_pieces(weighted, device, tuned):
    tuned(DYNAMIC, hub=100, share_made=1)
    rng, n, leaves = np.random.default_rng(3), 9_500, np.arange(100, 9_500)
    hub, middle = np.zeros(len(leaves), np.int64), np.ones(300, np.int64)
    src, dst = np.concatenate([hub, leaves, middle]), np.concatenate([leaves, hub, leaves[:300]])
    edges, weights = Edges(True), [rng.integers(0, 99, len(src)).astype(float)] if weighted else []
    edges.apply([src.tolist(), dst.tolist(), *(each.tolist() for each in weights)])
    D = gd.DynamicGraph(gd.from_edges(src, dst, *weights, num_vertices=n, directed=True).partition(2, device=device))
    for size in (1, 700):
        insert, delete = (np.stack([hub[:size], rng.choice(of, size, replace=False)]) for of in (n, leaves))
        batch = [np.concatenate([one, other]) for one, other in (insert, insert[::-1])]
        gone = [np.concatenate([one, other]) for one, other in (delete, delete[::-1])]
        batch += [rng.integers(0, 99, 2 * size).astype(float)] if weighted else []
        D.update(insert=batch, delete=gone)
        edges.apply([each.tolist() for each in batch], [each.tolist() for each in gone])
        check(D, edges)


@pytest.mark.parametrize(("parts", "weighted"), [(1, False), (3, True), (4, False)])
def test_a_batch_costs_one_exchange_and_one_wait_for_the_device(parts, weighted, monkeypatch, watched):
    stand_in(monkeypatch, emulated())
    reads, exchanges = watched(EmulatedCuda, "to_host"), watched(ThreadCommunicator, "exchange")
    ring, edges = (np.arange(90), (np.arange(90) + 1) % 90, np.arange(90.0))[: 3 if weighted else 2], Edges(True)
    edges.apply(ring)
    D = gd.DynamicGraph(gd.from_edges(*ring).partition(parts, device="cuda"))
    assert D.num_edges == 90
    for insert, delete in (
        (([0, 0], [5, 6], [7.0, 8.0]), ([], [])),
        ((np.arange(40), [9] * 40, np.ones(40)), ([0], [5])),
    ):
        reads.clear(), exchanges.clear()
        D.update(insert=insert[: 3 if weighted else 2], delete=delete)
        assert (len(reads), len(exchanges)) == (parts, parts if parts > 1 else 0)
        edges.apply(delete=delete)
        edges.apply([list(column) for column in insert[: 3 if weighted else 2]])
    check(D, edges)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_batch_is_cut_into_shares_that_hold_all_of_it(size):
    for ends in (np.zeros((2, 0), int), np.array([[3, 1], [0, 2]]), np.random.default_rng(1).integers(0, 50, (2, 33))):
        for weights in (None, np.arange(ends.shape[1], dtype=np.float32)):
            batch = Batch.of((ends[0], ends[1]), (ends[0][:1], ends[1][:1]), weights, True, 50)
            shares = batch.shares(size)
            width = 8 if weights is None else 12
            counts = [len(share) // width for share in shares]
            assert (len(shares), sum(counts), max(counts) - min(counts) <= 1) == (size, len(batch), True)
            cut = [(share[: 8 * k], share[8 * k :]) for share, k in zip(shares, counts, strict=True)]
            np.testing.assert_array_equal(np.concatenate([edges for edges, _ in cut]).view(np.uint64), batch.edges)
            if weights is not None:
                joined = np.concatenate([rest for _, rest in cut]).view(np.float32)
                np.testing.assert_array_equal(joined, batch.weights)


def test_a_batch_counts_what_it_met():
    D = gd.DynamicGraph(gd.from_edges([0, 1, 1, 2], [1, 2, 2, 2], num_vertices=4))
    assert D.num_edges == 3  # parallel edges are one
    found = D.update(insert=([3, 3, 0, 1, 9], [0, 0, 1, 2, 8]), delete=([1, 2, 2, 0, 7], [2, 2, 2, 3, 0]))
    counts = found.inserted, found.deleted, found.duplicates, found.absent, found.vertices
    # inserted: 3-0, 9-8, and 1-2, deleted before; deleted: 1-2, 2-2; duplicates: 3-0 again, 0-1; absent: 2-2 again, two
    assert counts == (3, 2, 2, 3, 2)
    assert [ends.tolist() for ends in found.added] == [[3, 9], [0, 8]]
    assert [ends.tolist() for ends in found.removed] == [[2], [2]]
    assert D.report == {"inserted": 3, "deleted": 2, "duplicates": 2, "absent": 3, "appeared": 2}
    found = D.update()
    assert (found.inserted, found.deleted, found.version, D.num_edges) == (0, 0, 2, 4)


def test_inserting_an_edge_that_is_there_sets_its_weight():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], [5, 7], directed=False))
    assert D.update(insert=([1, 0, 0], [0, 2, 2], [3, 8, 9])).duplicates == 2
    assert sorted(zip(*(each.tolist() for each in D.edges()), strict=True)) == [
        (0, 1, 3), (0, 2, 9), (1, 2, 7)
    ]  # fmt: skip
    assert gd.sssp(D, 0).distance.tolist() == [0, 3, 9]


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        ({"insert": ([0, 1], [1])}, "insert: src has 2 entries and dst 1; they must be pairs"),
        ({"insert": ([0, -1], [1, 1])}, "insert: src[1] = -1 is negative; vertex ids start at 0"),
        ({"insert": ([0, 1], ["a", "b"])}, "insert: dst[0] = 'a', but the ids of this graph are whole numbers"),
        ({"insert": ([0], [1], [2.0])}, "insert= wants (src, dst)"),
        ({"delete": ([0], [1.5])}, "delete: dst has the dtype float64"),
        ({"insert": ([0], [1]), "delete": [0]}, "delete= wants (src, dst)"),
        ({"insert": 7}, "insert= wants (src, dst)"),
    ],
)
def test_a_bad_batch_is_refused_whole(batch, reason):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    with pytest.raises(gd.InputError) as error:
        D.update(**{"delete": ([0], [1]), **batch})
    assert str(error.value).startswith(reason)
    assert (D.version, D.num_edges, D.num_vertices) == (0, 2, 3)
    assert D.edges().src.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1.5], "weights[0] = 1.5 does not fit int64"),
        ([np.nan], "weights[0] is NaN"),
        ([1, 2], "weights has the shape"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, reason):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], [4, 5]))
    with pytest.raises(gd.InputError, match="wants"):
        D.update(insert=([0], [2]))
    with pytest.raises(gd.InputError) as error:
        D.update(insert=([0], [2], weights))
    assert reason in str(error.value)


def test_a_batch_of_too_many_edges_is_refused(tuned):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    tuned(PARTITION, batch_edges=3)
    with pytest.raises(gd.InputError, match="a batch of 4 edges; 3 at most, so divide it"):
        D.update(insert=([5, 6, 7], [0, 0, 0]), delete=([0], [1]))
    assert (D.version, D.num_vertices) == (0, 3)
    assert D.update(insert=([5, 6], [0, 0]), delete=([0], [1])).vertices == 2


def test_a_batch_that_fails_on_a_worker_leaves_the_graph_as_it_was(fault):
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 0]).partition(2))
    D.update(insert=([0], [2]))
    apply = dynamic.apply_batch

    def on_one_rank(backend, part, *batch):
        return part.rank == 1 and apply(backend, part, *batch) is not None

    fault(dynamic, "apply_batch", gd.OverBudget("no more memory"), on_one_rank)
    with pytest.raises(gd.OverBudget, match="no more memory"):
        D.update(insert=([2, 7], [1, 0]), delete=([0], [2]))
    fault.over()
    assert (D.version, D.num_vertices, D.num_edges) == (1, 3, 4)
    assert packed(D) == dict.fromkeys([(0, 1), (1, 2), (2, 0), (0, 2)])
    assert D.update(delete=([0], [2])).deleted == 1
    assert packed(D) == dict.fromkeys([(0, 1), (1, 2), (2, 0)])


def test_an_interrupt_between_the_rows_and_the_graph_leaves_both_as_they_were(fault):
    D = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 0]).partition(2))
    first = D.update(insert=([0], [2]))
    report = D.report

    fault(dynamic_graph, "Log", KeyboardInterrupt)  # when the workers are done
    with pytest.raises(KeyboardInterrupt):
        D.update(insert=([2, 7], [1, 0]), delete=([0], [2]))
    fault.over()
    assert (D.version, D.num_vertices, D.num_edges, D.report) == (first.version, 3, 4, report)
    assert packed(D) == dict.fromkeys([(0, 1), (1, 2), (2, 0), (0, 2)])
    other = copy.copy(D)
    assert (other.update(delete=([0], [2])).deleted, D.report["deleted"], other.report["deleted"]) == (1, 0, 1)


def test_rows_that_outgrow_the_memory_are_refused_and_the_graph_stays():
    D, edges = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 0], num_vertices=2000)), Edges(True)
    edges.apply(([0, 1, 2, 0], [1, 2, 0, 2]))
    D.update(insert=([0], [2]))
    many = np.arange(2000)
    refused = pytest.raises(gd.OverBudget, match=r"moved to where they can grow, need .* use more workers")
    with free(20_000), refused:
        D.update(insert=(np.repeat([0, 1, 2], 2000), np.tile(many, 3)), delete=([1], [2]))
    check(D, edges)
    assert D.update(insert=(np.repeat([0, 1, 2], 2000), np.tile(many, 3))).inserted == 6000 - 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "dask"])
def test_batches_may_be_data_frames(kind):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    framed = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")

    def frame(**columns):
        made = pandas.DataFrame(columns)
        return made if kind == "pandas" else framed.from_pandas(made, npartitions=3)

    rng = np.random.default_rng(1)
    G = gd.from_edges(*rng.integers(0, 9, (2, 30)), rng.random(30))
    D, plain = gd.DynamicGraph(G), gd.DynamicGraph(G)
    src, dst, weight = *rng.integers(0, 12, (2, 60)), rng.random(60)
    gone = rng.integers(0, 9, (2, 20))
    found = D.update(insert=frame(dst=dst, time=src, weight=weight, src=src), delete=frame(src=gone[0], dst=gone[1]))
    expected = plain.update(insert=(src, dst, weight), delete=gone)
    for name in ("inserted", "deleted", "duplicates", "absent", "vertices"):
        assert getattr(found, name) == getattr(expected, name), name
    for one, other in zip(D.edges(device="cpu"), plain.edges(device="cpu"), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(gd.InputError, match="insert: the data frame has no column 'weight'; it has src, dst"):
        D.update(insert=frame(src=src, dst=dst))
    with pytest.raises(gd.InputError, match="negative; vertex ids start at 0"):
        D.update(delete=frame(src=src - 5, dst=dst))
    assert D.version == 1


def test_a_temporal_file_is_a_graph_and_batches(tmp_path):
    rng = np.random.default_rng(2)
    src, dst, times = rng.integers(0, 20, 50), rng.integers(0, 20, 50), rng.permutation(50)
    file = tmp_path / "times.txt"
    file.write_text("".join(f"{u} {v} {t}\n" for u, v, t in zip(src, dst, times, strict=True)))
    order = np.argsort(times)
    stream = gd.read_stream(file, preload=0.5, batch=0.2)
    assert [len(batch[0]) for batch in stream] == [10, 10, 5]
    assert len(stream) == 3
    D, edges = gd.DynamicGraph(stream.graph), Edges(True)
    edges.apply((src[order[:25]], dst[order[:25]]))
    for k, batch in enumerate(stream):
        D.update(insert=batch)
        cut = order[25 + 10 * k : 35 + 10 * k]
        edges.apply((src[cut], dst[cut]))
        check(D, edges)
    assert D.num_vertices == len(np.unique([src, dst]))
    assert gd.read_stream(file, preload=0.5, batch=0.2, appear=True).graph.num_vertices == len(
        np.unique([src[order[:25]], dst[order[:25]]])
    )
    for wrong, reason in (
        ({"preload": 1}, "preload=1 is"),
        ({"batch": 2}, "batch=2 is"),
        ({"batches": 0}, "batches=0"),
    ):
        with pytest.raises(gd.InputError, match=reason):
            gd.read_stream(file, **wrong)


def test_every_edge_may_go_and_its_vertices_stay():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], directed=False).partition(3))
    assert D.update(delete=([2, 1], [1, 0])).deleted == 2
    assert (D.num_vertices, D.num_edges) == (3, 0)
    assert gd.connected_components(D).label.tolist() == [0, 1, 2]


def test_a_graph_may_begin_with_nothing_and_with_names():
    D = gd.DynamicGraph(gd.from_edges([], []))
    D.update(insert=([5, 3], [3, 4]))
    assert D.vertex_ids.tolist() == [3, 4, 5]
    assert gd.bfs(D, 5).depth.tolist() == [1, 2, 0]
    D = gd.DynamicGraph(gd.from_edges(["b", "d"], ["d", "b"]))
    D.update(insert=(["a", "c"], ["b", "a"]), delete=(["b", "x"], ["d", "d"]))
    assert D.vertex_ids.tolist() == ["a", "b", "c", "d"]
    assert gd.bfs(D, "c").depth.tolist() == [1, 2, 0, -1]


@pytest.mark.parametrize("by", ["range", "metis", "owners"])
def test_algorithms_run_on_every_version_as_on_a_graph_made_at_once(by):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 40, (2, 90)) * 3
    G = gd.from_edges(src, dst, directed=False)
    owners = np.arange(G.num_vertices) % 3 if by == "owners" else by
    D = gd.DynamicGraph(G.partition(3, owners))
    D.update(insert=([1, 200, 50], [3, 1, 200]), delete=(src[:60], dst[:60]))
    assert by == "owners" or D.partition(2).plan.parts == 2
    graph = nx.Graph(zip(D.edges().src.tolist(), D.edges().dst.tolist(), strict=True))
    graph.add_nodes_from(D.vertex_ids.tolist())
    reached = nx.single_source_shortest_path_length(graph, 200)
    expected = [reached.get(v, -1) for v in D.vertex_ids.tolist()]
    early = gd.bfs(D, 200).verify()
    assert early.depth.tolist() == expected
    assert D.verify() is D
    groups = {v: min(group) for group in nx.connected_components(graph) for v in group}
    assert gd.connected_components(D).label.tolist() == [groups[v] for v in D.vertex_ids.tolist()]
    loops = nx.Graph(graph)
    loops.remove_edges_from(list(nx.selfloop_edges(loops)))
    assert gd.triangles(D).total == sum(nx.triangles(loops).values()) // 3
    present = D.present
    D.update(insert=([1000], [200]))
    assert gd.bfs(D, 200).depth.tolist() == [*expected, 1]
    assert gd.bfs(present, 200).depth.tolist() == early.depth.tolist() == expected


def _called(algorithm):
    def call(G):
        return bits(run(algorithm, G.to_undirected() if algorithm.undirected else G))

    return call


CALLS = {name: _called(each) for name, each in algorithms().items()} | {
    "walks": lambda G: gd.sample.random_walk(G, [7, 900], 20, bias="weight", seed=1).walks,
    "neighbors": lambda G: gd.sample.neighbors(G, [7, 900], [3, 2], seed=1).dst,
    "frame": lambda G: np.sort(G.to_dask_dataframe().compute().to_numpy(float), axis=0),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_algorithm_and_sampler_takes_a_dynamic_graph(name):
    rng = np.random.default_rng(9)
    src, dst = rng.permutation(40 * 40)[:150].reshape(2, -1) % 40 * 3 + 1
    weights = rng.integers(1, 9, len(src))
    D = gd.DynamicGraph(gd.from_edges(src, dst, weights, multi_edges="merge", vertices=np.arange(130)))
    D.update(insert=([7, 900, 7], [900, 40, 8], [2, 3, 4]), delete=(src[:20], dst[:20]))
    found = D.edges()
    scratch = gd.from_edges(*found[:2], found.weights, vertices=[*range(130), 900])
    np.testing.assert_equal(CALLS[name](D), CALLS[name](scratch))


def test_a_dynamic_graph_travels_with_its_lineage():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
    D.update(insert=([2], [0]))
    other = pickle.loads(pickle.dumps(D))
    other.update(delete=([0], [1]))
    assert (other.num_edges, D.num_edges) == (2, 3)


def test_what_is_no_graph_is_refused():
    with pytest.raises(gd.InputError, match="G is a list, not a Graph"):
        gd.DynamicGraph([1])
