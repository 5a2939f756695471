"""Depths, parents and labels are SciPy's, for every number of partitions, partitioner, ghosts and exchange."""

from __future__ import annotations

import tracemalloc
from itertools import cycle, product

import networkx as nx
import numpy as np
import pytest
from covering import pairs
from graphs import GRAPHS
from memory import OTHERS
from reference import adjacency, search, smallest_of_component

import graphdask as gd
import graphdask.partition
import graphdask.partition.sources
from graphdask import execute
from graphdask.algorithms.bfs import DIRECTIONS, BreadthFirstSearch
from graphdask.engine.level_search import LEVELS_APART
from graphdask.partition.tuning import PARTITION

PARTS = (1, 2, 3, 4, 7)
DIVISIONS = tuple(product(("range", "random"), ("all", "1-hop")))
EXCHANGES = ("selective", "broadcast")


def check(n, src, dst, directed, parts, source, device="cpu", divisions=DIVISIONS, exchanges=EXCHANGES, ways=None):
    matrix = adjacency(n, src, dst, directed)
    depth, parent = search(matrix, source)
    label = smallest_of_component(matrix)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    directions = cycle(DIRECTIONS)
    for (by, ghosts), exchange in product(divisions, exchanges) if ways is None else ways:
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        direction = next(directions)
        said = f"by={by}, ghosts={ghosts}, exchange={exchange}, direction={direction}"
        found = gd.bfs(divided, source, exchange=exchange, direction=direction)
        np.testing.assert_array_equal(found.depth, depth, said)
        np.testing.assert_array_equal(found.parent, parent, said)
        assert found.depth.dtype == found.parent.dtype == np.int32
        assert (found.stats.ranks, found.stats.ghosts, found.stats.exchange) == (parts, ghosts, exchange)
        components = gd.connected_components(divided, exchange=exchange)
        np.testing.assert_array_equal(components.label, label, said)
        assert components.num_components == len(np.unique(label))
    found.verify()
    components.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_are_scipys(name, parts):
    n, src, dst, directed = GRAPHS[name]()
    place = PARTS.index(parts)
    ways = zip(DIVISIONS, cycle(EXCHANGES[:: -1 if place % 2 else 1]), strict=False)
    check(n, src, dst, directed, parts, source=n // 2, ways=list(ways)[: 2 if parts == 1 else 4])


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("by", ["biased-random", "metis", "owners"])
def test_answers_do_not_depend_on_the_partitioner(by, parts, rng):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    owners = rng.integers(0, parts, n) if by == "owners" else by
    check(n, src, dst, directed, parts, 17, divisions=[(owners, "all"), (owners, "1-hop")])


@pytest.mark.parametrize(
    ("name", "parts", "direction"),
    pairs(["dense random, directed", "sparse random, undirected", "scale-free", "star outward"], [2, 3, 7], DIRECTIONS),
)
def test_every_direction_meets_every_ghost_and_exchange(name, parts, direction):
    n, src, dst, directed = GRAPHS[name]()
    depth, parent = search(adjacency(n, src, dst, directed), 0)
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    for (by, ghosts), exchange in product(DIVISIONS, EXCHANGES):
        divided = graph.partition(parts, by=by, ghosts=ghosts, device="cpu")
        found = gd.bfs(divided, 0, exchange=exchange, direction=direction)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)


def test_a_pull_looks_at_fewer_edges_and_auto_chooses_it():
    graph = gd.generate.preferential_attachment(5000, degree=8, seed=3).partition(2, device="cpu")
    push, pull, auto = (gd.bfs(graph, 0, direction=direction).stats for direction in ("push", "pull", "auto"))
    assert push.edges == 2 * graph.num_edges
    assert auto.edges < push.edges / 2
    assert auto.edges <= pull.edges
    assert len(auto) <= len(push) + 1  # one superstep tells the ghosts of the frontier


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
def test_a_pull_takes_in_bitmaps_of_the_frontier(ghosts):
    graph = gd.generate.preferential_attachment(5003, degree=8, seed=3)
    alone, divided = graph.partition(1, device="cpu"), graph.partition(3, by="random", ghosts=ghosts, device="cpu")
    for direction in ("pull", "auto"):
        found = gd.bfs(divided, 7, direction=direction).verify()
        assert any("bitmap" in step["codes"] for step in found.stats)
        expected = gd.bfs(alone, 7, direction="push")
        np.testing.assert_array_equal(found.depth, expected.depth)
        np.testing.assert_array_equal(found.parent, expected.parent)


def test_auto_makes_no_in_edges_but_uses_those_that_there_are(rng):
    graph = gd.from_edges(rng.integers(0, 300, 9000), rng.integers(0, 300, 9000)).partition(2, device="cpu")
    pushed = gd.bfs(graph, 0)
    assert pushed.stats.edges == graph.num_edges
    assert not graph.built.inward
    gd.bfs(graph, 0, direction="pull")
    assert graph.built.inward
    again = gd.bfs(graph, 0)
    assert again.stats.edges < graph.num_edges
    np.testing.assert_array_equal(again.parent, pushed.parent)


def test_an_unknown_direction_is_named():
    with pytest.raises(gd.InputError, match="direction='down' is not one of auto, push, pull"):
        gd.bfs(gd.from_edges([0], [1]), 0, direction="down")


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_a_long_path_takes_a_superstep_for_each_hop_or_for_many_where_one_rank_has_all(parts):
    n = 2000
    src, dst = np.arange(n - 1), np.arange(1, n)
    check(n, src, dst, False, parts, 0, divisions=[("range", "1-hop")], exchanges=["selective"])
    stats = gd.bfs(gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, device="cpu"), 0).stats
    assert len(stats) == LEVELS_APART + 2 if parts == 1 else len(stats) >= n
    assert (sum(step["frontier"] for step in stats), stats.edges) == (n, 2 * (n - 1))


@pytest.mark.parametrize("ghosts", ["all", "1-hop"])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parts", [2, 3, 4])
def test_giants_of_ranks_are_one_component_where_an_edge_joins_them(parts, directed, joined, ghosts, rng):
    size = 400
    owners = np.repeat(np.arange(parts), size)
    inside = [rng.integers(0, size, (2, 4000)) + k * size for k in range(parts)]
    src, dst = np.concatenate(inside, axis=1)
    if joined:  # between the vertices of the most neighbours, so that no sample of neighbours meets the edge
        last = size * np.arange(parts) + size - 1
        src, dst = np.concatenate([src, last[:-1]]), np.concatenate([dst, last[1:]])
    graph = gd.from_edges(src, dst, num_vertices=parts * size, directed=directed)
    found = gd.connected_components(graph.partition(parts, owners, ghosts, device="cpu")).verify()
    matrix = adjacency(parts * size, src, dst, directed)
    np.testing.assert_array_equal(found.label, smallest_of_component(matrix))
    assert (found.num_components == 1) == joined


@pytest.mark.parametrize("parts", [2, 7])
def test_components_take_two_supersteps_however_long_the_graph(parts):
    n = 2000
    graph = gd.from_edges(np.arange(n - 1), np.arange(1, n), directed=False).partition(parts, "random", device="cpu")
    found = gd.connected_components(graph)
    assert found.num_components == 1
    assert len(found.stats) == 2


def test_answers_agree_with_networkx(rng):
    g = nx.gnm_random_graph(150, 220, seed=int(rng.integers(2**31)), directed=True)
    graph = gd.from_networkx(g).partition(3, device="cpu")
    reached = nx.single_source_shortest_path_length(g, 5)
    assert gd.bfs(graph, 5).depth.tolist() == [reached.get(v, -1) for v in range(150)]
    label = gd.connected_components(graph).label
    for members in nx.weakly_connected_components(g):
        assert {int(label[v]) for v in members} == {min(members)}


@pytest.mark.parametrize("parts", PARTS)
def test_the_empty_graph_has_no_source_and_no_component(parts):
    graph = gd.from_edges([], [], num_vertices=0).partition(parts, device="cpu")
    with pytest.raises(gd.VertexNotFound, match="source 0 is not in the graph; it has no vertices"):
        gd.bfs(graph, 0)
    result = gd.connected_components(graph).verify()
    assert result.label.shape == (0,)
    assert result.num_components == 0


@pytest.mark.parametrize("source", [-1, 5, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**70)])
def test_a_source_outside_the_graph_is_named(source):
    graph = gd.from_edges([0, 1], [1, 2], num_vertices=5)
    with pytest.raises(gd.VertexNotFound, match=f"source {source} is not in the graph; its vertices are 0 to 4"):
        gd.bfs(graph, source)


def test_a_source_among_sparse_ids_and_strings_is_named():
    with pytest.raises(gd.VertexNotFound, match=r"source 15 is not .* 3 vertices with ids between 10 and 40"):
        gd.bfs(gd.from_edges([10, 20], [20, 40]), 15)
    names = gd.from_edges(["a", "b"], ["b", "d"])
    with pytest.raises(gd.VertexNotFound, match=r"source 'c' is not .* 3 vertices with ids between 'a' and 'd'"):
        gd.bfs(names, "c")
    with pytest.raises(gd.InputError, match="source 0 is not a string"):
        gd.bfs(names, 0)
    for source in (0.0, "a", None, True):
        with pytest.raises(gd.InputError, match="not a whole number"):
            gd.bfs(gd.from_edges([0], [1]), source)
    with pytest.raises(gd.InputError, match="neither a vertex nor a list of them"):
        gd.bfs(gd.from_edges([0], [1]), [[0], [1]])


@pytest.mark.parametrize("source", [np.int64(1), np.uint8(1), np.array(1), np.array(1, np.uint64)])
def test_a_source_may_be_any_whole_number(source):
    assert gd.bfs(gd.from_edges([0, 1], [1, 2]).partition(device="cpu"), source).depth.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("parts", [1, 3])
def test_values_that_are_vertices_come_back_as_the_callers_ids(parts):
    strings = gd.from_edges(["d", "b", "x"], ["b", "c", "y"]).partition(parts, device="cpu")
    assert strings.vertex_ids.tolist() == ["b", "c", "d", "x", "y"]
    found = gd.bfs(strings, "d")
    assert found.depth.tolist() == [1, 2, 0, -1, -1]
    assert found.parent.tolist() == ["d", "b", "d", None, None]
    assert gd.connected_components(strings).label.tolist() == ["b", "b", "b", "x", "x"]
    big = 2**62
    numbers = gd.from_edges([7, big], [big, 9], vertices=[7, 8, 9, big]).partition(parts, device="cpu")
    found = gd.bfs(numbers, 7)
    assert found.parent.tolist() == [7, -1, big, 7]
    assert found.parent.dtype == np.int64
    assert gd.connected_components(numbers).label.tolist() == [7, 8, 7, 7]
    shifted = gd.from_edges([5, 6], [6, 7], directed=False).partition(parts, device="cpu")
    found = gd.bfs(shifted, 7)
    assert found.parent.tolist() == [6, 7, 7]
    assert gd.connected_components(shifted).label.tolist() == [5, 5, 5]


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("name", ["sparse random, directed", "dense random, undirected", "one vertex"])
def test_64_bit_vertex_numbers_give_the_same(name, parts, tuned):
    tuned(PARTITION, narrow_ids=0)
    n, src, dst, directed = GRAPHS[name]()
    matrix = adjacency(n, src, dst, directed)
    depth, parent = search(matrix, 0)
    for (by, ghosts), exchange in zip(DIVISIONS, ("broadcast", "selective", "selective", "broadcast"), strict=True):
        graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, by, ghosts, device="cpu")
        found = gd.bfs(graph, 0, exchange=exchange).verify()
        assert found.depth.dtype == np.int64
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)
        components = gd.connected_components(graph, exchange=exchange).verify()
        np.testing.assert_array_equal(components.label, smallest_of_component(matrix))


@pytest.mark.parametrize("exchange", ["selective", "broadcast"])
@pytest.mark.parametrize("parts", PARTS)
def test_a_search_from_several_sources_takes_the_nearest(parts, exchange):
    n, src, dst, directed = GRAPHS["sparse random, undirected"]()
    matrix = adjacency(n, src, dst, directed)
    every = np.stack([search(matrix, source)[0] for source in (3, 150, 299)])
    nearest = np.where(every < 0, n, every).min(axis=0)
    for ghosts in ("all", "1-hop"):
        graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, ghosts=ghosts, device="cpu")
        found = execute.run(graph, BreadthFirstSearch((3, 150, 299, 3)), exchange=exchange)
        np.testing.assert_array_equal(found.depth, np.where(nearest == n, -1, nearest))
        found.verify()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_search_over_edges_either_way_takes_them_as_undirected(parts, directed):
    n, src, dst, _ = GRAPHS["sparse random, undirected"]()
    depth, parent = search(adjacency(n, src, dst, False), 17)
    for (by, ghosts), exchange in product(DIVISIONS, EXCHANGES):
        graph = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(parts, by, ghosts, device="cpu")
        found = execute.run(graph, BreadthFirstSearch((17,), either_way=True), exchange=exchange).verify()
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, parent)


@pytest.mark.parametrize(("parts", "direction"), [*((1, direction) for direction in DIRECTIONS), (3, "auto")])
@pytest.mark.usefixtures("alone")
def test_the_announced_memory_is_what_a_search_takes(parts, direction, rng):
    src, dst = rng.integers(0, 200_000, (2, 2_000_000))
    graph = gd.from_edges(src, dst, num_vertices=200_000, directed=False)
    graph = graph.partition(parts, ghosts="all", device="cpu").persist()
    gd.bfs(graph, src[0], direction=direction)  # loads the kernels
    tracemalloc.start()
    memory = gd.bfs(graph, src[0], direction=direction).stats.memory
    peak = tracemalloc.get_traced_memory()[1] / parts
    tracemalloc.stop()
    if parts == 1:
        assert memory / 1.1 < peak < 1.1 * memory + OTHERS
    else:  # how much of an exchange there is at the same time depends on the other ranks
        assert memory / 3 < peak < 1.1 * memory + OTHERS


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_generated_graphs_are_searched_and_joined(parts):
    graph = gd.generate.preferential_attachment(3000, degree=3, seed=7).partition(parts, device="cpu")
    assert gd.bfs(graph, 2999).verify().depth.min() == 0
    assert gd.connected_components(graph).verify().num_components == 1


@pytest.mark.gpu
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_on_a_gpu_are_scipys(name, parts):
    n, src, dst, directed = GRAPHS[name]()
    check(n, src, dst, directed, parts, n // 2, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 3])
def test_a_long_path_on_a_gpu_is_scipys(parts):
    n = 3000
    src, dst = np.arange(n - 1), np.arange(1, n)
    check(n, src, dst, False, parts, 0, "cuda", divisions=[("range", "1-hop")], exchanges=["selective"])
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, device="cuda")
    assert (len(gd.bfs(graph, 0).stats) == 2) == (parts == 1)


@pytest.mark.gpu
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_hubs_on_a_gpu_are_scipys(directed, parts, rng):
    n, m = 60_000, 300_000
    src = np.concatenate([np.zeros(n - 1, np.int64), rng.integers(0, n, m), np.full(9000, 5)])
    dst = np.concatenate([np.arange(1, n), rng.integers(0, n, m), rng.integers(0, n, 9000)])
    check(n, src, dst, directed, parts, 17, device="cuda", divisions=[("range", "all"), ("random", "1-hop")])
