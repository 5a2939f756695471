"""Samplers that functions describe: the same edges on an emulated GPU, on any number of workers, and for any ids."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from emulated import emulated, stand_in
from graphs import GRAPHS
from specs import COLUMNS, WITH_SUMS, WITHOUT_SUMS, by_degree, by_weight, same, second_order, specs

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask.partition.tuning import PARTITION
from graphdask.program.translated import Translated
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE

NAMES = ["one vertex with a self-loop", "duplicates both ways", "isolated vertices", "star outward", "short path"]


def hubs():
    """Rows of hundreds, and others around them."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(300, np.int64), rng.integers(0, 90, 500), np.full(200, 7)])
    return 90, src, rng.integers(0, 90, 1000), True


def made(make, kind="integers"):
    n, src, dst, directed = make()[:4]
    rng = np.random.default_rng(n)
    weights = rng.integers(0, 9, len(src)) if kind == "integers" else rng.random(len(src)).astype(np.float32) * 9
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


@pytest.mark.parametrize("kind", ["integers", "floats"])
@pytest.mark.parametrize("shape", [*NAMES, "hubs"])
@pytest.mark.parametrize("name", specs(2))
def test_the_same_on_a_gpu(name, shape, kind, monkeypatch, rng):
    stand_in(monkeypatch, emulated())
    graph, spec = made(hubs if shape == "hubs" else GRAPHS[shape], kind), specs(2)[name]
    n = graph.num_vertices
    seeds = [rng.integers(0, n, size) for size in (2, 0, 1, 3)]
    on_cpu, on_gpu = (graph.partition(1, device=device) for device in ("cpu", "cuda"))
    expected = gd.sample.run(on_cpu, spec, seeds, instances=6).verify()
    same(expected, gd.sample.run(on_gpu, spec, seeds, instances=6).verify())


@pytest.mark.slow
def test_the_same_on_a_gpu_after_too_few_trials_and_many_launches(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(SAMPLE, trials=2)
    graph = made(hubs)
    calls = [
        Spec(edge_bias=by_weight, neighbor_size=5, depth=2, edge_bound=40),
        Spec(edge_bias=second_order, neighbor_size=40, depth=2, per="layer"),
        Spec(edge_bias=second_order, neighbor_size=40, depth=2, edge_bound=2.5, replace=True),
        Spec(neighbor_size=50, depth=1),
    ]
    for spec in calls:
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, [[0, 1], [7], [5, 6]])
        with SAMPLE.varied(candidate_launch={"cpu": 100, "cuda": 500}):
            for device in ("cpu", "cuda"):
                same(expected, gd.sample.run(graph.partition(1, device=device), spec, [[0, 1], [7], [5, 6]]))


@pytest.mark.slow
def test_64_bit_vertex_numbers(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    chosen = {name: specs(2)[name] for name in ("node2vec", "layer", "Metropolis-Hastings")}
    expected = {name: gd.sample.run(made(hubs, "floats"), spec, [0, 7, 5]) for name, spec in chosen.items()}
    tuned(PARTITION, narrow_ids=0)
    for name, spec in chosen.items():
        for device in ("cpu", "cuda"):
            found = gd.sample.run(made(hubs, "floats").partition(1, device=device), spec, [0, 7, 5])
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(found, column), getattr(expected[name], column))


@pytest.mark.slow
@pytest.mark.parametrize("make", [pytest.param(GRAPHS["scale-free"], id="scale-free"), hubs])
def test_the_same_on_any_number_of_workers(make):
    graph = made(make)
    seeds = np.arange(graph.num_vertices)[:50]
    for spec in specs(3).values():
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, seeds, instances=101)
        for parts in (2, 3):
            divided = graph.partition(parts, by="random", device="cpu")
            same(expected, gd.sample.run(divided, spec, seeds, instances=101).verify())


def near_twice(e):
    return e.destination if e.destination_near_previous or e.depth == 0 else e.source


NEAR = {
    "node2vec by keys": Spec(edge_bias=second_order, select="reservoir", neighbor_size=3, depth=3),
    "against the edges": Spec(edge_bias=second_order, neighbor_size=2, depth=3, direction="in"),
    "update": Spec(edge_bias=second_order, update=near_twice, neighbor_size=2, depth=3),
}
"""Besides those of the helpers, samplers that ask about the vertex before."""
LAYERS = {
    "layer of some of the pool": Spec(
        vertex_bias=by_degree, frontier_size=2, edge_bias=second_order, neighbor_size=3, depth=3, per="layer"
    ),
    "layer with update": Spec(
        edge_bias=by_weight, update=lambda e: e.source if e.random < 0.5 else e.destination, neighbor_size=[5, -1, 2],
        per="layer",
    ),
    "layer with replacement": Spec(
        edge_bias=second_order, update=near_twice, neighbor_size=6, depth=2, per="layer", replace=True, direction="in"
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "parts", "ghosts"),
    [
        pytest.param(GRAPHS["scale-free"], (2, 4, 7), "1-hop", id="scale-free"),
        (hubs, (1, 3), "all"),
        (hubs, (7,), "1-hop"),
        pytest.param(GRAPHS["only self-loops"], (1, 2), "all", id="self-loops"),
        pytest.param(GRAPHS["no edges"], (2,), "all", id="no edges"),
    ],
)
def test_the_same_in_partitions(make, parts, ghosts):
    graph = made(make, "floats")
    seeds = [np.arange(graph.num_vertices)[k : k + k % 4] for k in range(20)]
    chosen = specs(3) | NEAR | LAYERS
    chosen["two of the pool"] = Spec(
        vertex_bias=lambda v: v.degree + v.place, frontier_size=2, neighbor_size=2, depth=3
    )
    expected = {name: gd.sample.run(graph.partition(1, device="cpu"), spec, seeds) for name, spec in chosen.items()}
    for count in parts:
        divided = graph.partition(count, by="random", ghosts=ghosts, device="cpu")
        for name, spec in chosen.items():
            found = gd.sample.run(divided, spec, seeds, placement="partitioned")
            assert found.placement == "partitioned"
            same(expected[name], found.verify())


@pytest.mark.parametrize("bias", [None, by_degree])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_step_that_takes_nothing_leaves_what_is_in_pools_for_the_next(parts, bias):
    """Of entries that all have bias 0 none is taken; one of which no edges are asked for is gone, the others stay."""
    ring = gd.from_edges(np.arange(6), np.roll(np.arange(6), -1)).partition(parts, by="random", device="cpu")
    late = Spec(vertex_bias=lambda v: v.degree if v.depth == 2 else 0, frontier_size=1, depth=4, revisit=True)
    found = gd.sample.run(ring, late, [[4], [], [1]], placement="partitioned").verify()
    assert [getattr(found, name).tolist() for name in COLUMNS] == [[4, 1], [5, 2], [2, 2], [0, 2]]
    rest = Spec(vertex_bias=bias, frontier_size=1, neighbor_size=[0, 0, 1], revisit=True)
    found = gd.sample.run(ring, rest, [[3, 3, 3]], placement="partitioned").verify()
    assert [getattr(found, name).tolist() for name in COLUMNS] == [[3], [4], [2], [0]]


@pytest.mark.slow
def test_the_same_in_partitions_on_a_gpu(monkeypatch):
    stand_in(monkeypatch, emulated())
    graph = made(hubs)
    chosen = specs(2) | NEAR | LAYERS
    for name, spec in chosen.items():
        expected = gd.sample.run(graph.partition(1, device="cpu"), spec, [[0, 7], [], [5]])
        divided = graph.partition(2, by="random", ghosts="1-hop", device="cuda")
        same(expected, gd.sample.run(divided, spec, [[0, 7], [], [5]], placement="partitioned").verify())
        assert len(expected.src), name


WALKS = ["walk by weight", "walk by aliases", "node2vec", "restart", "walk from some"]


@pytest.mark.slow
def test_walks_of_many_steps_in_a_launch_are_those_made_step_by_step(monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    graph = made(hubs, "floats")
    tuned(SAMPLE, trials=3)
    on_cpu, on_gpu = (graph.partition(1, device=device) for device in ("cpu", "cuda"))
    for name in WALKS:
        spec = specs(5)[name]
        found = [gd.sample.run(where, spec, np.arange(90)).verify() for where in (on_cpu, on_gpu)]
        with SAMPLE.varied(fused=False, **WITHOUT_SUMS):
            expected = gd.sample.run(graph.partition(1, device="cpu"), spec, np.arange(90))
        assert len(list(found[0].stats)) < len(list(expected.stats)), name
        for one in found:
            same(expected, one)


def nearer(e):
    return 3 if e.destination_near_previous else 1


def nearer_and_heavier(e):
    return e.weight * 1.5 if e.destination_near_previous or e.destination_is_previous else e.weight


ASKING = {
    "integers": Spec(edge_bias=nearer, edge_bound=4, depth=6, replace=True),
    "floats": Spec(edge_bias=nearer_and_heavier, edge_bound=13.5, depth=6, replace=True),
    "an update too": Spec(edge_bias=nearer, edge_bound=3, update=near_twice, depth=6, replace=True),
    "against the edges": Spec(edge_bias=second_order, edge_bound=2.0, depth=6, replace=True, direction="in"),
}


@pytest.mark.slow
@pytest.mark.parametrize("trials", [2, 128])
@pytest.mark.parametrize("name", ASKING)
def test_walks_that_ask_what_is_near_are_those_made_step_by_step(name, trials, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    tuned(SAMPLE, trials=trials)
    graph = made(hubs, "floats")
    found = gd.sample.run(graph.partition(1, device="cpu"), ASKING[name], np.arange(90), instances=200).verify()
    assert len(found.stats) < 5
    same(found, gd.sample.run(graph.partition(1, device="cuda"), ASKING[name], np.arange(90), instances=200))
    tuned(SAMPLE, fused=False)
    same(found, gd.sample.run(graph.partition(1, device="cpu"), ASKING[name], np.arange(90), instances=200))


def by_odd_weight(e):
    return e.weight if e.destination % 2 else 0.0


KEYED = {
    "by weight": Spec(edge_bias=by_weight, select="reservoir", depth=5, replace=True),
    "by an integer": Spec(edge_bias=nearer, select="reservoir", depth=5, replace=True),
    "node2vec": Spec(edge_bias=second_order, select="reservoir", depth=5, replace=True, direction="in"),
    "an update too": Spec(edge_bias=nearer, select="reservoir", update=near_twice, depth=5, replace=True),
    "some of bias 0": Spec(edge_bias=by_odd_weight, select="reservoir", depth=5, replace=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("warps", [1, 3, 8])
@pytest.mark.parametrize("name", KEYED)
def test_walks_by_a_reservoir_are_those_made_step_by_step(name, warps, monkeypatch, tuned):
    stand_in(monkeypatch, emulated())
    graph, starts = made(hubs, "floats"), np.arange(40)
    of_processor = warps * 20 // emulated().processors  # of a launch, which has 20 walkers
    tuned(SAMPLE, walk_warps=of_processor, walk_blocks=2, walk_launch=(60, 3))
    found = gd.sample.run(graph.partition(1, device="cpu"), KEYED[name], starts).verify()
    assert found.stats.edges == len(found.src)
    assert len(found.stats) > 2
    same(found, gd.sample.run(graph.partition(1, device="cuda"), KEYED[name], starts))
    tuned(SAMPLE, fused=False)
    same(found, gd.sample.run(graph.partition(1, device="cpu"), KEYED[name], starts))


def failing_near(e):
    return 1.0 / (0 if e.destination_near_previous else 1)


def above_near(e):
    return 5.0 if e.destination_near_previous else 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bias", "message"), [(failing_near, "division by zero"), (above_near, "returned a bias above edge_bound")]
)
def test_functions_fail_where_something_is_near_and_nowhere_else(bias, message):
    """A function is asked what it would say too; that it could fail is no failure."""
    spec = Spec(edge_bias=bias, edge_bound=2.0, depth=9, replace=True)
    square, triangle = (gd.from_edges(np.arange(n), np.roll(np.arange(n), 1), directed=False) for n in (4, 3))
    assert len(gd.sample.run(square.partition(1, device="cpu"), spec, [0, 1], instances=50).dst) == 450
    with pytest.raises(gd.errors.FunctionError, match=message):
        gd.sample.run(triangle.partition(1, device="cpu"), spec, [0, 1], instances=50)


@pytest.mark.slow
def test_sums_that_are_kept_change_no_edge(monkeypatch):
    stand_in(monkeypatch, emulated())
    for kind in ("integers", "floats"):
        graph = made(hubs, kind)
        for name in ("biased neighbours", "neighbours with replacement", "neighbours again until new"):
            with SAMPLE.varied(**WITHOUT_SUMS):
                expected = gd.sample.run(graph.partition(1, device="cpu"), specs(2)[name], np.arange(90))
            for device in ("cpu", "cuda"):
                divided = graph.partition(1, device=device)
                same(expected, gd.sample.run(divided, specs(2)[name], np.arange(90)))
                same(expected, gd.sample.run(divided, specs(2)[name], np.arange(90)))


def bytes_kept(graph):
    """Bytes of the tables that are kept of a graph in one piece."""
    (part,) = graph.replicas.held.values
    return part.tables.nbytes


@pytest.mark.parametrize("per", ["vertex", "layer"])
def test_calls_that_draw_little_make_sums_once_they_have_looked_at_enough(per, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph, spec = made(hubs), Spec(edge_bias=by_weight, neighbor_size=[2, 2], per=per)
    with SAMPLE.varied(**WITHOUT_SUMS):
        expected = [gd.sample.run(graph.partition(1, device="cpu"), spec, [0, 3], seed=seed) for seed in range(12)]
    for device in ("cpu", "cuda"):
        divided, kept = graph.partition(1, device=device), []
        for seed, one in enumerate(expected):
            same(one, gd.sample.run(divided, spec, [0, 3], seed=seed).verify())
            kept.append(bytes_kept(divided))
        assert kept[0] < kept[-1], "the first call looks at fewer edges than there are"
        assert sorted(set(kept)) == [kept[0], kept[-1]], "they are made once"


@pytest.mark.slow
@pytest.mark.parametrize("starts", [2, 90])
def test_sums_that_do_not_fit_are_not_made_and_cost_no_other_table(starts, free_memory):
    graph, spec = made(hubs), Spec(edge_bias=by_weight, neighbor_size=[1] * 9, revisit=True)
    divided = graph.partition(1, device="cpu")
    gd.sample.run(divided, Spec(edge_bias=by_weight, select="alias", depth=1, replace=True), [0])
    with SAMPLE.varied(**WITHOUT_SUMS):
        expected = [gd.sample.run(divided, spec, np.arange(starts), seed=seed) for seed in range(12)]
    aliases = bytes_kept(divided)
    assert aliases > 0
    free_memory(max(one.stats.memory for one in expected))
    with dask.config.set({"graphdask.memory-fraction": 1.0}):
        for seed, one in enumerate(expected):
            same(one, gd.sample.run(divided, spec, np.arange(starts), seed=seed))
    assert bytes_kept(divided) == aliases


def of_few(e):
    return e.weight if e.destination % 7 == 0 else 0


def huge(e):
    return 2**62 if e.source_degree else 1


@pytest.mark.parametrize("device", ["cpu", "emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_layers_by_sums_that_are_kept_are_those_by_all_biases(device, monkeypatch, tuned):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    tuned(SAMPLE, candidate_launch=1000)
    graph = made(hubs)
    seeds = [np.arange(20), [], [0], [89], [0, 7, 5], np.arange(60, 90)]
    for bias in (by_weight, of_few):
        for options in (
            {"neighbor_size": [5, 9, 3]}, {"neighbor_size": [32, 0, 2]}, {"neighbor_size": [40, 3], "replace": True},
            {"neighbor_size": 4, "depth": 2, "direction": "in"},
        ):  # fmt: skip
            spec = Spec(edge_bias=bias, per="layer", **options)
            with SAMPLE.varied(**WITHOUT_SUMS):
                expected = gd.sample.run(graph.partition(1, device="cpu"), spec, seeds)
            with SAMPLE.varied(**WITH_SUMS):
                divided = graph.partition(1, device="cpu" if device == "cpu" else "cuda")
                same(expected, gd.sample.run(divided, spec, seeds))
    for bias in (huge, by_weight):  # too large together, but each row's alone are not
        tuned(SAMPLE, **(WITH_SUMS if bias is huge else WITHOUT_SUMS))
        path = gd.from_edges([0, 1, 2], [3, 4, 5], [2**62] * 3).partition(
            1, device="cpu" if device == "cpu" else "cuda"
        )
        with pytest.raises(gd.errors.FunctionError, match="add up to"):
            gd.sample.run(path, Spec(edge_bias=bias, per="layer", neighbor_size=2, depth=1), [[0, 1, 2]])


@pytest.mark.parametrize("per", ["vertex", "layer"])
def test_what_inverse_draws_without_replacement_is_among_what_is_left(per):
    for bias in (by_weight, second_order):
        one, other = (
            gd.sample.run(made(hubs), Spec(edge_bias=bias, neighbor_size=[5, 3], per=per, select=select), np.arange(20))
            for select in ("inverse", "updated")
        )
        same(one, other)


def naming(zero, one, two):
    """From `zero` by the edge to `one`, then from `two`."""
    return Spec(
        vertex_bias=lambda v: 1 if v.id == zero or v.id == two else 0,
        frontier_size=1,
        edge_bias=lambda e: 1 if e.destination == one or (e.source == two and e.previous == e.seed) else 0,
        update=lambda e: two,
        depth=2,
    )


TABLE = np.array([3, 700, 10**12, 2**62])


@pytest.mark.parametrize(
    ("ids", "reported", "devices"),
    [
        pytest.param(TABLE, TABLE, ("cpu", "cuda"), id="a table"),
        pytest.param(np.arange(5, 9), np.arange(5, 9), ("cpu",), id="from 5 on"),
        pytest.param(np.array(list("abcd")), np.arange(4), ("cpu",), id="strings"),
    ],
)
def test_functions_are_given_the_ids_of_the_caller(ids, reported, devices, monkeypatch):
    stand_in(monkeypatch, emulated())
    graph, spec = gd.from_edges(ids[[0, 0, 1, 2, 3]], ids[[1, 2, 3, 3, 0]]), naming(*reported[:3].tolist())
    for device in devices:
        for placement in ("replicated", "partitioned"):
            divided = graph.partition(2, by="random", device=device)
            found = gd.sample.run(divided, spec, ids[:1], placement=placement).verify()
            assert list(zip(found.src, found.dst, strict=True)) == [(ids[0], ids[1]), (ids[2], ids[3])]


@pytest.mark.slow
def test_a_vertex_that_there_is_not_goes_into_no_pool():
    for replace in (True, False):
        with pytest.raises(gd.errors.FunctionError, match="neither -1 nor a vertex"):
            gd.sample.run(
                gd.from_edges(TABLE[[0, 1]], TABLE[[1, 0]]), Spec(update=lambda e: 4, depth=2, replace=replace), [3]
            )


@pytest.mark.slow
def test_cuda_source_in_place_of_a_function(monkeypatch):
    stand_in(monkeypatch, emulated())
    source = "__device__ double heavier(long long source, double weight, int *failure) { return source + weight; }"
    heavier = Translated.from_cuda(source, "heavier", {"source": "int", "weight": "float"}, "float")
    graph = made(hubs, "floats")
    expected = gd.sample.run(
        graph.partition(1, device="cpu"),
        Spec(edge_bias=lambda e: e.source + e.weight, neighbor_size=3, depth=2),
        [0, 5],
    )
    spec = Spec(edge_bias=heavier, neighbor_size=3, depth=2)
    same(expected, gd.sample.run(graph.partition(1, device="cuda"), spec, [0, 5]))
    with pytest.raises(gd.errors.Unsupported, match="heavier is CUDA C"):
        gd.sample.run(graph.partition(1, device="cpu"), spec, [0, 5])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_the_same_on_a_device(kind):
    graph = made(hubs, kind)
    for spec in specs(3).values():
        pair = [
            gd.sample.run(graph.partition(1, device=device), spec, np.arange(90), 500) for device in ("cpu", "cuda")
        ]
        same(*pair)
