"""Traversal samplers: what they take, wherever they run; and what they refuse."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from graphs import GRAPHS
from memory import OTHERS

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound
from graphdask.sample.tuning import SAMPLE

NAMES = [
    "one vertex", "one vertex with a self-loop", "only self-loops", "only duplicates", "duplicates both ways",
    "isolated vertices", "star outward", "star around the last", "short path", "dense random, directed", "scale-free",
]  # fmt: skip
COLUMNS = ("src", "dst", "hop", "instance", "nodes", "node_offsets", "row", "col", "edge_offsets")


def rows_of(name, weights=None):
    """The graph, and for each vertex its out-neighbours in order, parallel ones as often as they are there."""
    n, src, dst, directed = GRAPHS[name]()[:4]
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    rows = [[] for _ in range(n)]
    for u, v in zip(src.tolist(), dst.tolist(), strict=True):
        rows[u].append(v)
        if not directed and u != v:
            rows[v].append(u)
    return graph, [sorted(row) for row in rows]


def follow(found, seeds, rows, taken):
    """Grow every instance from its seeds by the edges found; `taken(h, row)` of a row must have been drawn, or any."""
    edges = iter(zip(*(getattr(found, name).tolist() for name in ("src", "dst", "hop", "instance")), strict=True))
    number = Counter(zip(found.instance.tolist(), found.hop.tolist(), found.src.tolist(), strict=True))
    for instance, start in enumerate(seeds):
        seen = list(dict.fromkeys(start))
        frontier = list(seen)
        for hop in range(len(found.sampler.fanouts)):
            reached = []
            for u in frontier:
                count = number[instance, hop, u]
                assert taken is None or count == taken(hop, rows[u])
                drawn = []
                for _ in range(count):
                    src, dst, at, of = next(edges)
                    assert (src, at, of) == (u, hop, instance)
                    drawn.append(dst)
                assert not Counter(drawn) - Counter(rows[u]) or found.sampler.replace
                assert set(drawn) <= set(rows[u])
                if count == len(rows[u]) and not found.sampler.replace:
                    assert drawn == rows[u]
                reached += drawn
            frontier = [v for v in dict.fromkeys(reached) if v not in seen]
            seen += frontier
        sub = found.subgraph(instance)
        expected = list(dict.fromkeys([*start, *found.dst[found.instance == instance].tolist()]))
        assert sub.nodes.tolist() == expected
        np.testing.assert_array_equal(sub.nodes[sub.row], found.src[found.instance == instance])
        np.testing.assert_array_equal(sub.nodes[sub.col], found.dst[found.instance == instance])
        indptr, indices = sub.to_csr()
        assert (len(indptr), indptr[-1]) == (len(sub.nodes) + 1, len(indices))
        rebuilt = sorted(zip(np.repeat(np.arange(len(sub.nodes)), np.diff(indptr)), indices, strict=True))
        assert rebuilt == sorted(zip(sub.row, sub.col, strict=True))
    assert next(edges, None) is None


@pytest.mark.parametrize("name", NAMES)
def test_every_vertex_is_expanded_where_it_is_reached_first(name, rng):
    graph, rows = rows_of(name)
    graph = graph.partition(2, device="cpu")
    seeds = [rng.integers(0, len(rows), size).tolist() for size in (1, 3, 0, 6)]
    for sizes in ([2, 3], [-1, 1, 2], [1], [], [0, 4], [50, 50]):
        found = gd.sample.neighbors(graph, seeds, sizes).verify()
        follow(found, seeds, rows, lambda h, row: min(sizes[h] % 2**32, len(row)))  # noqa: B023
        if all(size >= 0 for size in sizes):
            found = gd.sample.neighbors(graph, seeds, sizes, replace=True).verify()
            follow(found, seeds, rows, lambda h, row: sizes[h] if row else 0)  # noqa: B023
    follow(gd.sample.snowball(graph, seeds, 3).verify(), seeds, rows, lambda h, row: len(row))
    follow(gd.sample.forest_fire(graph, seeds, 0.0, 2).verify(), seeds, rows, lambda h, row: 0)
    each = rng.integers(0, len(rows), 9)
    follow(
        gd.sample.neighbors(graph, each, [2, 2]), [[v] for v in each.tolist()], rows, lambda h, row: min(2, len(row))
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_is_drawn_from_all_edges_of_the_frontier(name, rng):
    graph, rows = rows_of(name)
    graph = graph.partition(2, device="cpu")
    seeds = [rng.integers(0, len(rows), size).tolist() for size in (1, 3, 0, 6)]
    for sizes in ([2, 3, 4], [10**6, 1], [0, 5], [40, 40]):
        found = gd.sample.layer(graph, seeds, sizes).verify()
        drawn = Counter(zip(found.instance.tolist(), found.hop.tolist(), found.src.tolist(), strict=True))
        totals = Counter(zip(found.instance.tolist(), found.hop.tolist(), strict=True))
        follow(found, seeds, rows, None)
        for instance, start in enumerate(seeds):
            frontier = seen = set(start)
            for hop, size in enumerate(sizes):
                assert totals[instance, hop] == min(size, sum(len(rows[v]) for v in frontier))
                assert all(drawn[instance, hop, v] <= len(rows[v]) for v in frontier)
                mine = (found.instance == instance) & (found.hop == hop)
                frontier = set(found.dst[mine].tolist()) - seen
                seen = seen | frontier


def calls(graph, seeds, placement):
    sample = gd.sample
    yield sample.neighbors(graph, seeds, [3, 2], placement=placement)
    yield sample.neighbors(graph, seeds, [40, -1], placement=placement, direction="in", seed=2**64 - 5)
    yield sample.neighbors(graph, seeds, [3, 40], bias="weight", placement=placement, seed=2**63 + 5)
    yield sample.neighbors(graph, seeds, [3, 4], bias="degree", method="bipartite", placement=placement)
    yield sample.neighbors(graph, seeds, [40, 4], bias="degree", method="bipartite", placement=placement)
    yield sample.neighbors(graph, seeds, [3, 40], method="repeated", collisions="bitmap", placement=placement)
    yield sample.neighbors(graph, seeds, [3, 4], method="reservoir", placement=placement)
    yield sample.neighbors(graph, seeds, [3, 4], bias="weight", method="reservoir", placement=placement)
    yield sample.neighbors(graph, seeds, [4, 4], bias="weight", replace=True, placement=placement, direction="in")
    yield sample.forest_fire(graph, seeds, 0.9, 3, placement=placement)
    yield sample.forest_fire(graph, seeds, 0.9, 2, method="reservoir", placement=placement)
    yield sample.layer(graph, seeds, [9, 50], placement=placement)
    yield sample.layer(graph, seeds, [9, 50], method="bipartite", placement=placement)
    yield sample.layer(graph, seeds, [9, 50], bias="weight", placement=placement)
    yield sample.layer(graph, seeds, [5, 5], bias="degree", direction="in", placement=placement)


@pytest.mark.parametrize("name", ["dense random, directed", "scale-free", "star around the last"])
@pytest.mark.parametrize("weights", ["integers", "floats"])
def test_the_same_edges_in_every_placement(name, weights, rng):
    n, src, dst, directed = GRAPHS[name]()[:4]
    values = rng.integers(0, 6, len(src)) if weights == "integers" else rng.random(len(src))
    graph = gd.from_edges(src, dst, values, num_vertices=n, directed=directed)
    seeds = [rng.integers(0, n, size) for size in (3, 0, 1, 1, 8)]
    expected = None
    for parts, by, ghosts in ((1, "range", "all"), (2, "random", "all"), (3, rng.integers(0, 3, n), "1-hop"),
                              (4, "random", "1-hop"), (7, "range", "all")):  # fmt: skip
        divided = graph.partition(parts, by, ghosts, device="cpu")
        for placement in ("replicated", "partitioned"):
            for number, found in enumerate(calls(divided, seeds, placement)):
                arrays = [getattr(found, column) for column in COLUMNS]
                if expected is None or number >= len(expected):
                    expected = [*(expected or []), arrays]
                for one, other in zip(expected[number], arrays, strict=True):
                    np.testing.assert_array_equal(one, other)
                assert found.placement == placement
                if parts in (1, 3):
                    found.verify()


def test_neighbours_of_a_vertex_do_not_depend_on_the_others_nor_on_when_it_is_reached():
    """A complete graph: vertex 9 is a seed, or reached at hop 1 among others."""
    n = 12
    src, dst = (~np.eye(n, dtype=bool)).nonzero()
    graph = gd.from_edges(src, dst, directed=True).partition(1, device="cpu")
    as_seed = gd.sample.neighbors(graph, [[9]], [3])
    reached = gd.sample.neighbors(graph, [[4, 0]], [-1, 3])
    assert as_seed.dst.tolist() == reached.dst[(reached.src == 9) & (reached.hop == 1)].tolist()
    second = gd.sample.neighbors(graph, [[9], [9]], [3])
    assert second.dst[:3].tolist() == as_seed.dst.tolist()


def test_string_ids_and_workers_of_a_cluster(two_workers):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    names = np.array([f"v{i:03d}" for i in range(n)])
    expected = gd.sample.neighbors(gd.from_edges(src, dst, directed=True), [3, 8, 8], [4, 4])
    graph = gd.from_edges(names[src], names[dst], directed=True)
    for placement in ("replicated", "partitioned"):
        found = gd.sample.neighbors(graph, names[[3, 8, 8]], [4, 4], placement=placement, client=two_workers).verify()
        np.testing.assert_array_equal(found.dst, names[expected.dst])
        np.testing.assert_array_equal(found.instance, expected.instance)
        np.testing.assert_array_equal(found.nodes, names[expected.nodes])
        layers = gd.sample.layer(graph, names[[3]], [9, 9], placement=placement, client=two_workers).verify()
        assert len(layers.src) == 18
        assert len(gd.sample.random_edges(graph, 7, placement=placement, client=two_workers).verify().src) == 7


def test_edges_of_bias_zero_are_none():
    graph = gd.from_edges([0, 0, 0, 1, 2], [1, 2, 3, 0, 0], weights=[0, 5, 0, 0, 0], directed=True)
    found = gd.sample.neighbors(graph, [[0], [1], [3]], [3, 3], bias="weight").verify()
    assert (found.src.tolist(), found.dst.tolist()) == ([0], [2])
    found = gd.sample.neighbors(graph, [[0], [1]], [2], bias="weight", replace=True).verify()
    assert (found.src.tolist(), found.dst.tolist()) == ([0, 0], [2, 2])
    found = gd.sample.neighbors(graph, [[0]], [3], bias="degree").verify()
    assert found.dst.tolist() == [1, 2]
    negative_zero = gd.from_edges([0, 0], [1, 2], weights=[-0.0, 1.0], directed=True)
    assert gd.sample.neighbors(negative_zero, [0], [2], bias="weight").dst.tolist() == [2]


@pytest.mark.parametrize("weights", [np.array([2**57, 2**57, 1]), np.array([1e300, 1e-300, 5e-324]), [2**57, 1.0, 3.5]])
def test_biases_of_any_size_add_up(weights):
    graph = gd.from_edges([0, 0, 0], [1, 2, 3], weights=weights, directed=True)
    found = gd.sample.neighbors(graph, np.zeros(50, int), [2], bias="weight").verify()
    assert len(found.dst) == 100
    for replace in (True, False):
        found = gd.sample.neighbors(graph, np.zeros(50, int), [1], bias="weight", replace=replace)
        assert 3 not in found.dst


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_sums_of_biases_are_kept_unless_a_rank_has_lost_them(placement, rng):
    graph = gd.from_edges(rng.integers(0, 30, 200), rng.integers(0, 30, 200), rng.random(200), num_vertices=30)
    graph = graph.partition(3, by="random", device="cpu")
    for bias in ("weight", "degree"):
        first = gd.sample.neighbors(graph, np.arange(30), [2, 2], bias=bias, placement=placement)
        parts = [first.built.parts[rank] for rank in range(3)]
        made = [part.tables.get(("rows and sums", bias, "out")) for part in parts]
        again = gd.sample.neighbors(graph, np.arange(30), [2, 2], bias=bias, placement=placement)
        assert all(
            part.tables.get(("rows and sums", bias, "out")) is one for part, one in zip(parts, made, strict=True)
        )
        assert parts[1].tables.forget()
        third = gd.sample.neighbors(graph, np.arange(30), [2, 2], bias=bias, placement=placement)
        np.testing.assert_array_equal(first.dst, again.dst)
        np.testing.assert_array_equal(first.dst, third.dst)


def test_no_seeds_and_no_hops():
    graph = gd.from_edges([0, 1], [1, 2], directed=True)
    for seeds in ([], [[]], [[], []], np.zeros(0, np.int64)):
        for call in (gd.sample.neighbors, lambda G, s, sizes: gd.sample.layer(G, s, sizes)):
            found = call(graph, seeds, [2, 2]).verify()
            assert [len(getattr(found, name)) for name in ("src", "dst", "nodes", "row")] == [0, 0, 0, 0]
            assert found.node_offsets.tolist() == [0] * (len(seeds) + 1)
    assert gd.sample.neighbors(graph, [0, 2], []).nodes.tolist() == [0, 2]
    empty = gd.from_edges([], [], num_vertices=0)
    assert len(gd.sample.neighbors(empty, [], [3]).src) == 0
    with pytest.raises(VertexNotFound):
        gd.sample.neighbors(empty, [0], [3])


@pytest.mark.parametrize("directed", [True, False])
def test_random_edges_and_vertices(directed, rng):
    src, dst = rng.integers(0, 20, 300), rng.integers(0, 20, 300)
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    graph = gd.from_edges(src, dst, num_vertices=21, directed=directed)
    there, expected = Counter(zip(src.tolist(), dst.tolist(), strict=True)), None
    for parts in (1, 2, 5):
        divided = graph.partition(parts, by="random", ghosts="1-hop", device="cpu")
        for placement in ("replicated", "partitioned"):
            all_of_them = gd.sample.random_edges(divided, 300, placement=placement).verify()
            assert Counter(zip(all_of_them.src.tolist(), all_of_them.dst.tolist(), strict=True)) == there
            some = gd.sample.random_edges(divided, 17, placement=placement).verify()
            assert some.src.tolist() == all_of_them.src[:17].tolist()
            expected = expected or (some.src.tolist(), some.dst.tolist())
            assert expected == (some.src.tolist(), some.dst.tolist())
    assert len(gd.sample.random_edges(graph, 0).src) == 0
    assert sorted(gd.sample.random_nodes(graph, 21, seed=4).tolist()) == list(range(21))
    assert len(set(gd.sample.random_nodes(graph, 20).tolist())) == 20


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda G, s: s.neighbors(G, [7]), VertexNotFound, "seed 7 is not in the graph"),
        (lambda G, s: s.neighbors(G, [[0], [-1]]), VertexNotFound, "seed -1"),
        (lambda G, s: s.neighbors(G, [[0], [1.5]]), InputError, "1.5 is not a whole number"),
        (lambda G, s: s.neighbors(G, [[0], 1]), InputError, "not all of them have one dimension"),
        (lambda G, s: s.neighbors(G, np.zeros((2, 2), int)), InputError, "2 dimensions"),
        (lambda G, s: s.neighbors(G, 0), InputError, "neither an array of vertices nor a list"),
        (lambda G, s: s.neighbors(G, [0.5]), InputError, "0.5 is not a whole number"),
        (lambda G, s: s.neighbors(G, [0], 3), InputError, "fanouts=3 is not a sequence"),
        (lambda G, s: s.neighbors(G, [0], [2, -2]), InputError, r"fanouts\[1\]=-2 is not a whole number of -1 or more"),
        (lambda G, s: s.neighbors(G, [0], [1.5]), InputError, r"fanouts\[0\]=1.5"),
        (lambda G, s: s.neighbors(G, [0], [True]), InputError, r"fanouts\[0\]=True"),
        (lambda G, s: s.neighbors(G, [0], [-1], replace=True), InputError, "-1 stands for all"),
        (lambda G, s: s.neighbors(G, [0], replace=2), InputError, "replace=2"),
        (
            lambda G, s: s.neighbors(G, [0], bias="size"),
            InputError,
            "bias='size' is not one of None, 'weight', 'degree'",
        ),
        (lambda G, s: s.neighbors(G, [0], direction="up"), InputError, "direction='up'"),
        (lambda G, s: s.neighbors(G, [0], method="alias"), InputError, "method='alias'"),
        (lambda G, s: s.neighbors(G, [0], method="updated", replace=True), InputError, "without replacement"),
        (lambda G, s: s.neighbors(G, [0], collisions="bits"), InputError, "collisions='bits' is not one of"),
        (lambda G, s: s.neighbors(G, [0], collisions="bitmap"), InputError, "method='auto' does without"),
        (lambda G, s: s.forest_fire(G, [0], method="alias"), InputError, "method='alias'"),
        (lambda G, s: s.forest_fire(G, [0], method="updated", collisions="linear"), InputError, "does without"),
        (lambda G, s: s.neighbors(G, [0], placement="there"), InputError, "placement='there'"),
        (lambda G, s: s.neighbors(G, [0], seed=0.5), InputError, "seed=0.5 is not a whole number"),
        (lambda G, s: s.neighbors("G", [0]), InputError, "not a Graph"),
        (lambda G, s: s.neighbors(G, [0], bias="weight"), InputError, "weight -3 of the edge from 1 to 2 is negative"),
        (lambda G, s: s.neighbors(G, [0]).subgraph(1), InputError, "none of the 1 instances"),
        (lambda G, s: s.snowball(G, [0], -1), InputError, "depth=-1"),
        (lambda G, s: s.snowball(G, [0], 1.0), InputError, r"depth=1.0"),
        (lambda G, s: s.forest_fire(G, [0], 1), InputError, "p=1 is not a probability"),
        (lambda G, s: s.forest_fire(G, [0], -0.1), InputError, "p=-0.1"),
        (lambda G, s: s.forest_fire(G, [0], float("nan")), InputError, "p=nan"),
        (lambda G, s: s.layer(G, [0], [-1]), InputError, r"sizes\[0\]=-1 is not a whole number of 0 or more"),
        (lambda G, s: s.layer(G, [0], [1], method="alias"), InputError, "method='alias'"),
        (lambda G, s: s.layer(G, [0], [1], bias="degree", method="updated"), InputError, "by exponential keys"),
        (lambda G, s: s.layer(G, [0], [1], collisions="bitmap"), InputError, "does without"),
        (lambda G, s: s.random_nodes(G, 4), InputError, "4 vertices are asked for, and the graph has 3"),
        (lambda G, s: s.random_edges(G, 3), InputError, "3 edges are asked for, and the graph has 2"),
        (lambda G, s: s.random_edges(G, -1), InputError, "k=-1"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    graph = gd.from_edges([0, 1], [1, 2], weights=[1, -3], directed=True)
    with pytest.raises(error, match=message):
        call(graph, gd.sample)


def test_weights_that_are_missing_or_infinite():
    with pytest.raises(InputError, match="the edges of this graph have no weights"):
        gd.sample.neighbors(gd.from_edges([0], [1]), [0], bias="weight")
    graph = gd.from_edges([0, 1], [1, 2], weights=[1.0, np.inf], directed=True)
    with pytest.raises(InputError, match="weight inf of the edge from 1 to 2 is infinite"):
        gd.sample.forest_fire(graph, [0], bias="weight")
    graph = gd.from_edges([0, 0, 1], [1, 2, 2], weights=[2**58, 2**58, 1], directed=True)
    with pytest.raises(InputError, match="add up to about"):
        gd.sample.neighbors(graph, [0], bias="weight")


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_weights_of_a_file_are_refused_by_all_ranks(tmp_path, placement):
    (tmp_path / "edges.txt").write_text("0 1 1.0\n1 2 -2.5\n2 0 1.0\n")
    graph = gd.read_graph(tmp_path / "edges.txt", directed=True, weights=True)
    for parts in (1, 3):
        with pytest.raises(InputError, match=r"weight -2.5 of the edge .* 1 (and|to) 2 is neg"):
            gd.sample.neighbors(graph.partition(parts, device="cpu"), [0], bias="weight", placement=placement)


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
def test_weights_that_are_no_biases_are_named_by_the_ids_of_the_caller(placement):
    """From what is known of the weights once the graph is there, so wherever they come from."""
    graph = gd.from_edges(["a", "a", "b"], ["b", "c", "c"], [1.0, 2.0, -3.0]).partition(2, device="cpu")
    calls = [
        lambda: gd.sample.neighbors(graph, ["a"], bias="weight", placement=placement),
        lambda: gd.sample.random_walk(graph, ["a"], 2, bias="weight", placement=placement),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"the weight -3\.0 of the edge from b to c is negative"):
            call()


@pytest.mark.slow
def test_the_table_used_longest_ago_makes_way_for_a_call_that_needs_memory(free_memory):
    graph = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [5.0, 1.0, 1.0, 1.0]).partition(1, device="cpu")
    calls = {
        ("rows and sums", "weight", "out"): lambda: gd.sample.neighbors(graph, [0], bias="weight"),
        ("edge biases", "weight", "alias"): lambda: gd.sample.random_walk(graph, 0, 2, bias="weight", method="alias"),
        ("edge biases", "weight", "inverse"): lambda: gd.sample.random_walk(
            graph, 0, 2, bias="weight", method="inverse"
        ),
    }
    first, second, third = calls
    for name in (first, second, first):
        found = calls[name]()
    tables = found.built.parts[0].tables
    held = tables.nbytes
    assert held > 0
    free_memory(lambda: 1 << 40 if tables.nbytes < held else 0)
    calls[third]()
    assert [name in tables for name in calls] == [True, False, True]
    held = 0
    with pytest.raises(gd.errors.OverBudget):
        calls[second]()
    assert tables.nbytes == 0


def skewed():
    """Ends of edges by 1 / (1 + number): the first vertices have rows a hundred times as long as the others."""
    rng = np.random.default_rng(4)
    share = 1 / np.arange(1, 1001)
    src, dst = rng.choice(1000, (2, 4000), p=share / share.sum())
    graph = gd.from_edges(src, dst, rng.random(4000) + 0.1, num_vertices=1000, directed=False)
    return graph.partition(1, device="cpu")


@pytest.mark.parametrize(
    "call",
    [
        lambda graph, seeds: gd.sample.snowball(graph, seeds, 2),
        lambda graph, seeds: gd.sample.forest_fire(graph, seeds, 0.99, 2, bias="weight"),
        lambda graph, seeds: gd.sample.layer(graph, seeds, [100, 100], bias="weight"),
        lambda graph, seeds: gd.sample.run(graph, gd.sample.Spec(neighbor_size=-1, depth=2), seeds),
    ],
)
def test_memory_is_announced_where_rows_are_skewed(call):
    graph, seeds = skewed(), np.arange(200, 1000)
    call(graph, seeds)
    tracemalloc.start()
    try:
        found = call(graph, seeds)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * found.stats.memory + OTHERS


def test_launches_are_cut_where_rows_are_long(tuned):
    graph, seeds = skewed(), np.arange(4, 104)
    calls = [
        lambda: gd.sample.forest_fire(graph, seeds, 0.99, 2, bias="weight"),
        lambda: gd.sample.snowball(graph, seeds, 2),
    ]
    expected = [call() for call in calls]
    tuned(SAMPLE, tree_launch=700)
    for call, one in zip(calls, expected, strict=True):
        np.testing.assert_array_equal(call().dst, one.dst)


def test_a_hop_that_comes_to_more_than_there_is_memory_for(monkeypatch, tuned, free_memory):
    graph = skewed()
    gd.sample.snowball(graph, [0], 1)
    # An estimate has to be too small, which none is found to be.
    monkeypatch.setattr("graphdask.sample.traversal.Traversal.memory", lambda *arguments: 0)
    tuned(SAMPLE, memory_asked_from=10_000)
    free_memory(10_000)
    with pytest.raises(gd.errors.OverBudget, match=r"edges or vertices in hop 1 need about"):
        gd.sample.snowball(graph, np.arange(500, 600), 2, placement="replicated")
