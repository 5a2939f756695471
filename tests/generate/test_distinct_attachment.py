"""Sources with distinct targets: blocks, public calls, waiting queues, bad input."""

import itertools
import pickle

import copy_model as definition
import networkx as nx
import numpy as np
import pytest
from emulated import EmulatedCuda, stand_in

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget
from graphdask.generate.copy_model import QueueCopyModel, SequentialBarabasiAlbert, SequentialCopyModel
from graphdask.generate.preferential_attachment import first_edge
from graphdask.generate.tuning import GENERATE

CPU = get_backend("cpu")
GRAPHS = [
    QueueCopyModel(2011, 4, 0.5, 1),
    QueueCopyModel(2011, 4, 0.5, 1, schedule="round-robin"),
    QueueCopyModel(500, 1, 0.0, 2, segment=3, factor=3),
    QueueCopyModel(140, 100, 0.1, 3),
    QueueCopyModel(2, 1, 0.5, 4),
    QueueCopyModel(17, 16, 1.0, 5),
    SequentialCopyModel(2011, 4, 0.5, 1),
    SequentialCopyModel(3, 2, 0.0, 6),
    SequentialBarabasiAlbert(2011, 4, seed=7),
    SequentialBarabasiAlbert(2, 1, seed=8),
    SequentialBarabasiAlbert(300, 16, seed=9),
]


def from_definition(graph):
    """Source and target of every edge, clique first."""
    if isinstance(graph, SequentialBarabasiAlbert):
        rows = definition.barabasi_albert(graph.n, graph.degree, graph.seed)
    else:
        rows = definition.copy_model(graph.n, graph.degree, graph.p, graph.seed)
    pairs = [(v, u) for v in range(graph.degree) for u in range(v)]
    pairs += [(v, u) for v, row in enumerate(rows, graph.degree) for u in row]
    return np.array(pairs).T


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_blocks_of_any_number_of_parts_are_the_graph(backend, graph):
    expected = from_definition(graph)
    for size in (1, 2, 3, 4, 7, 16):
        blocks = [graph.block(backend, rank, size) for rank in range(size)]
        assert {array.dtype for block in blocks for array in block} == {np.dtype(np.int32)}
        for i in (0, 1):
            whole = np.concatenate([backend.to_host(block[i]) for block in blocks])
            np.testing.assert_array_equal(whole, expected[i])
        for rank, (src, _) in enumerate(blocks):
            start, stop = graph.vertices(rank, size)
            assert len(src) == first_edge(stop, graph.degree) - first_edge(start, graph.degree)


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_edges_are_distinct_and_point_back(graph):
    src, dst = graph.block(CPU, 0, 1)
    assert (dst < src).all()
    assert (dst >= 0).all()
    assert len(np.unique(src.astype(np.int64) * graph.n + dst)) == len(src) == graph.num_edges
    assert nx.is_connected(nx.Graph(list(zip(src.tolist(), dst.tolist(), strict=True))))


def test_sources_travel_by_pickle():
    for graph in GRAPHS:
        assert pickle.loads(pickle.dumps(graph)) == graph


def edges_of(G):
    """The edges of a graph by way of its source, in the order in which they are made."""
    src, dst, weights = G.source.piece(0, 1).edges(CPU)
    assert weights is None
    return np.stack([src, dst])


def test_the_public_calls_make_their_graphs():
    expected = from_definition(GRAPHS[0])
    arguments = {"n": 2011, "degree": 4, "p": 0.5, "seed": 1}
    queue = gd.generate.preferential_attachment(**arguments, method="queue")
    assert queue.report["generator"] == "preferential attachment, method queue"
    others = [{"schedule": "round-robin"}, {"segment": 10, "factor": 1}, {"factor": 4}, {"multi_edges": "merge"}]
    graphs = [gd.generate.preferential_attachment(**arguments, method="queue", **more) for more in others]
    for G in [queue, *graphs, gd.generate.sequential_copy_model(**arguments)]:
        assert (G.num_vertices, G.num_edges, G.directed) == (2011, expected.shape[1], False)
        np.testing.assert_array_equal(edges_of(G), expected)
    barabasi = gd.generate.sequential_barabasi_albert(2011, 4, 7, directed=True)
    assert barabasi.directed
    np.testing.assert_array_equal(edges_of(barabasi), from_definition(GRAPHS[8]))


@pytest.mark.parametrize("parts", [1, 3])
def test_algorithms_run_on_them(parts):
    for G in (
        gd.generate.preferential_attachment(800, 2, 0.5, 3, method="queue"),
        gd.generate.sequential_barabasi_albert(800, 2, 3),
    ):
        depth = gd.bfs(G.partition(parts, device="cpu"), 5).depth
        reference = nx.single_source_shortest_path_length(nx.Graph(edges_of(G).T.tolist()), 5)
        assert dict(enumerate(depth.tolist())) == reference


def brute_waiting(n, degree, p, seed, threads):
    """Waiting and held edges of each vertex when `threads` vertices at a time see only those before them."""
    rows = dict(enumerate(definition.copy_model(n, degree, p, seed), degree))
    done = {v: 0 for v in rows}
    result = {}
    for step in range(degree, n, threads):
        together = range(step, min(step + threads, n))
        reached = {}
        for v in together:
            known = {u: rows[u][: done[u]] for u in range(degree, step)}
            found, waits = [], None
            for edge in range(degree):
                attempt = 0
                while True:
                    u, k, direct = definition.copy_draw(v, degree, p, seed, v * degree + edge, attempt)
                    if not direct and k >= len(known.get(u, [])):
                        if waits is None:
                            waits = [edge, 0]
                        waits[1] += 1
                        break
                    target = u if direct else known[u][k]
                    if waits is not None or target not in found:
                        found.append(target)
                        break
                    attempt += 1
            reached[v] = degree if waits is None else waits[0]
            result[v] = (0, 0) if waits is None else (waits[1], degree - waits[0] - waits[1])
        done |= reached
    return result


@pytest.mark.parametrize(("n", "degree", "p", "threads"), [(90, 4, 0.3, 13), (60, 3, 0.0, 57), (70, 1, 0.5, 20)])
def test_what_waits_after_phase_one_is_what_lockstep_threads_do_not_know(n, degree, p, threads):
    found = gd.generate.waiting_queue(n, degree, p, 5, threads=threads, schedule="round-robin")
    expected = brute_waiting(n, degree, p, 5, threads)
    waiting, held = np.array(list(expected.values())).T
    assert found.vertices[0] == (waiting > 0).sum()
    assert (found.waiting[0], found.held[0]) == (waiting.sum(), held.sum())
    of_thread = np.bincount(np.arange(n - degree) % threads, waiting)
    assert found.placed.tolist() == [of_thread.max()]
    assert found.finished.sum() == (n - degree) * degree
    np.testing.assert_array_equal(found.targets, definition.copy_model(n, degree, p, 5))


def test_a_pass_finishes_what_was_known_before_it():
    """A chain: with p = 0 and one edge, pass i finishes the vertices that are i copies from a direct edge."""
    n, seed = 400, 11
    found = gd.generate.waiting_queue(n, 1, 0.0, seed, threads=n, schedule="round-robin")
    depth = np.zeros(n, int)
    for v in range(1, n):
        u, _, direct = definition.copy_draw(v, 1, 0.0, seed, v, 0)
        depth[v] = 0 if direct else depth[u] + 1
    np.testing.assert_array_equal(found.finished, np.bincount(depth[1:]))
    np.testing.assert_array_equal(found.number, np.arange(depth.max() + 1))
    assert found.passes.tolist() == [depth.max()]


def test_segments_are_fixed_or_grow():
    records = gd.generate.waiting_queue(30_004, 4, 0.5, 1, threads=100, segment=700)
    begins = records.number == 0
    assert (records.stop - records.first)[begins].tolist() == [700] * 42 + [600]
    assert records.first[0] == 4
    assert records.segment[-1] == 42
    grown = gd.generate.waiting_queue(30_004, 4, 0.5, 1, threads=100, segment=700, factor=2, capacity=10)
    size = (grown.stop - grown.first)[grown.number == 0]
    assert set((size[1:-1] / size[:-2]).tolist()) == {1.0, 2.0}
    np.testing.assert_array_equal(grown.targets, records.targets)
    default = gd.generate.waiting_queue(30_004, 4, 0.5, 1, threads=100, capacity=3)
    assert default.stop[0] - default.first[0] == 300
    dynamic = gd.generate.waiting_queue(30_004, 4, 0.5, 1, threads=100, factor=2)
    assert dynamic.stop[0] - dynamic.first[0] == 100


def test_more_records_than_were_expected_are_all_there(tuned):
    many = gd.generate.waiting_queue(3000, 2, 0.1, threads=50, segment=50)
    tuned(GENERATE, queue_records=3)
    again = gd.generate.waiting_queue(3000, 2, 0.1, threads=50, segment=50)
    np.testing.assert_array_equal(many.most, again.most)


@pytest.mark.gpu
def test_waiting_queues_of_a_gpu_hold_no_more_than_lockstep_ones():
    options = {"n": 200_000, "degree": 8, "p": 0.3, "segment": 1280}
    cpu, cuda = (gd.generate.waiting_queue(**options, device=device) for device in ("cpu", "cuda"))
    np.testing.assert_array_equal(cpu.targets, cuda.targets)
    assert cuda.placed.max() <= 8
    assert len(cpu.placed) == len(cuda.placed)
    assert (cuda.vertices[cuda.number == 0] <= cpu.vertices[cpu.number == 0]).all()


BAD = [
    ({"n": 4}, "at least 5"),
    ({"n": 10.5}, "n=10.5"),
    ({"n": 1 << 62}, "below 2\\^63"),
    ({"degree": 0}, "degree=0"),
    ({"seed": -1}, "seed=-1"),
    ({"seed": 1 << 64}, "seed=18446744073709551616"),
]


@pytest.mark.parametrize(("arguments", "named"), [*BAD, ({"p": 1.5}, "p=1.5"), ({"p": float("nan")}, "p=nan")], ids=str)
def test_bad_arguments_are_named(arguments, named):
    arguments = {"n": 100} | arguments
    with pytest.raises(InputError, match=named):
        gd.generate.preferential_attachment(**arguments, method="queue")
    with pytest.raises(InputError, match=named):
        gd.generate.sequential_copy_model(**arguments)
    with pytest.raises(InputError, match=named):
        gd.generate.waiting_queue(**arguments)
    if "p" not in arguments:
        with pytest.raises(InputError, match=named):
            gd.generate.sequential_barabasi_albert(**arguments)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"schedule": "random"}, "schedule='random'"),
        ({"segment": 0}, "segment=0"),
        ({"segment": 2.5}, "segment=2.5"),
        ({"segment": True}, "segment=True"),
        ({"factor": 0}, "factor=0"),
        ({"factor": 1 << 20}, "factor=1048576"),
        ({"factor": "two"}, "factor='two'"),
        ({"schedule": "round-robin", "segment": 8}, "segment=8 belongs to"),
        ({"schedule": "round-robin", "factor": 2}, "factor=2 belongs to"),
        ({"multi_edges": "drop"}, "multi_edges='drop'"),
    ],
    ids=str,
)
def test_bad_schedules_are_named(options, named):
    with pytest.raises(InputError, match=named):
        gd.generate.preferential_attachment(100, method="queue", **options)


def test_options_of_the_queue_are_refused_elsewhere():
    for name, value in (("schedule", "segmented"), ("segment", 5), ("factor", 2)):
        with pytest.raises(InputError, match=f"{name}={value!r} belongs to method"):
            gd.generate.preferential_attachment(100, **{name: value})
    for name, value in (("threads", 0), ("capacity", 0), ("segment", -1), ("schedule", "none"), ("device", "tpu")):
        with pytest.raises(InputError, match=f"{name}={value!r}"):
            gd.generate.waiting_queue(100, **{name: value})
    for name in ("segment", "factor"):
        with pytest.raises(InputError, match=f"{name}=1 belongs to"):
            gd.generate.waiting_queue(100, schedule="round-robin", **{name: 1})


def test_a_graph_larger_than_the_memory_is_refused(backend, monkeypatch):
    if isinstance(backend, EmulatedCuda):
        stand_in(monkeypatch, backend)
    graphs = (QueueCopyModel, SequentialCopyModel, SequentialBarabasiAlbert)
    for graph, rank in itertools.product((kind(1 << 44, 4, 0.5, 0) for kind in graphs), (0, 1)):
        with pytest.raises(OverBudget, match='method="hash"'):
            graph.block(backend, rank, 2)
    with pytest.raises(OverBudget, match="GiB"):
        gd.generate.waiting_queue(1 << 44, device=backend.name)
