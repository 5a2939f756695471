"""Questions about vertices and edges are answered as NetworkX answers them, for any division and on any device."""

from __future__ import annotations

from collections import Counter
from itertools import chain, product

import networkx as nx
import numpy as np
import pytest
from distributed import Client
from edge_sets import GRAPHS, Known, attached, counted, edges_of, listed
from emulated import emulated, stand_in
from gangs import active

import graphdask as gd
from graphdask.errors import InputError, Unsupported, VerificationError, VertexNotFound
from graphdask.partition.reversed import ReversedGenerator

DIVISIONS = [(1, "range", "1-hop"), (2, "random", "all"), (3, "random", "1-hop"), (4, "range", "all")]


def oracle(known: Known) -> nx.MultiDiGraph | nx.MultiGraph:
    """The edges of a known graph as NetworkX has them."""
    g = nx.MultiDiGraph() if known.graph.directed else nx.MultiGraph()
    g.add_nodes_from(known.vertices)
    for (u, v, weight), count in known.edges.items():
        for _ in range(count):
            g.add_edge(u, v, weight=weight)
    return g


def divided(graph: gd.Graph, division: tuple[int, str, str], device: str = "cpu") -> gd.Graph:
    parts, by, ghosts = division
    return graph.partition(parts, by, ghosts, device=device)


def check(G: gd.Graph, g: nx.MultiGraph | nx.MultiDiGraph, rng: np.random.Generator, made_of: gd.Graph = None) -> None:
    """Compare the answers about all vertices and about some pairs of these; rows are those of `made_of`, if given."""
    nodes = list(g)
    assert len(G) == len(g)
    sides = {"out": g.out_degree, "in": g.in_degree, "both": g.degree} if G.directed else {"out": g.degree}
    for side, degree in sides.items():
        found = G.degrees(side)
        assert found.dtype == np.int64
        assert found.tolist() == [degree[node] for node in G.vertex_ids.tolist()]
    around = {"out": g.neighbors}
    if G.directed:
        around |= {"in": g.predecessors, "both": lambda v: nx.all_neighbors(g, v)}
    for side, node in product(around, nodes[:12]):
        assert G.neighbors(node, side).tolist() == sorted(set(around[side](node)))
    if nodes:
        u, v = (rng.choice(np.array(nodes, object), 60) for _ in range(2))
        ends = [edge[:2] for edge in g.edges()][:60]
        u, v = [*u, *(a for a, _ in ends)], [*v, *(b for _, b in ends)]
        assert G.has_edge(u, v).tolist() == [g.has_edge(a, b) for a, b in zip(u, v, strict=True)]
        for a, b in list(zip(u, v, strict=True))[-8:]:
            assert G.has_edge(a, b) is g.has_edge(a, b)
            check_edge(G, g, a, b, made_of or G)


def check_edge(G, g, u, v, made_of) -> None:
    found = G.edge(u, v)
    weights = sorted(each["weight"] for each in (g.get_edge_data(u, v) or {}).values()) if G.weighted else None
    assert (found.weight is None) == (weights is None)
    if weights is not None:
        assert found.weight.tolist() == pytest.approx(weights, rel=1e-6)
    assert len(found.row) == g.number_of_edges(u, v)
    edges = made_of.edges("cpu")
    known = not made_of.merge and not isinstance(G, gd.DynamicGraph)
    for place, row in enumerate(found.row.tolist() if known else []):
        ends = edges.src[row], edges.dst[row]
        assert ends == (u, v) or (not G.directed and ends == (v, u))
        if G.weighted:
            assert edges.weights[row] == found.weight[place]


@pytest.mark.parametrize("division", DIVISIONS[:3])
@pytest.mark.parametrize("name", GRAPHS)
def test_answers_are_those_of_networkx(name, division, rng):
    known = GRAPHS[name]()
    check(divided(known.graph, division), oracle(known), rng)


@pytest.mark.parametrize("name", ["self-loops and duplicates", "real weights", "whole weights"])
def test_answers_are_the_same_on_the_emulator_of_a_gpu(name, rng, monkeypatch):
    stand_in(monkeypatch, emulated())
    known = GRAPHS[name]()
    check(divided(known.graph, DIVISIONS[2], "cuda"), oracle(known), rng)


@pytest.mark.slow
def test_answers_come_from_dask_workers(two_workers, rng):
    for name in ("real weights", "names and weights", "preferential attachment, merged"):
        known = GRAPHS[name]()
        with active(two_workers):
            check(known.graph.partition(3, "random"), oracle(known), rng)


def test_only_the_owners_are_asked_and_nothing_is_gathered(fault, watched):
    G = gd.from_edges(np.arange(99), np.arange(1, 100)).partition(4, "range").persist()
    kept = type(G.built.parts)
    asked = watched(kept, "ask", lambda self, selects: list(selects))
    fault(kept, "fetch", AssertionError("all ranks were asked"))
    assert G.has_edge(3, 4)
    assert G.has_edge([98, 3], [99, 5]).tolist() == [True, False]
    rank = G.built.vertex_map.locate(3)[0]
    assert Counter(chain.from_iterable(asked)) == Counter([rank, rank, G.built.vertex_map.locate(98)[0]])
    assert G.neighbors(50).tolist() == [51]
    assert G.edge(50, 51, edge_rows=False).row is None


def test_pairs_are_broadcast_and_keep_their_shape():
    G = gd.from_edges([0, 0], [1, 2])
    assert G.has_edge(0, [[0, 1], [2, 1]]).tolist() == [[False, True], [True, True]]
    assert G.has_edge([], []).tolist() == []
    assert G.has_edge(np.int64(0), 1) is True
    with pytest.raises(InputError, match=r"u has the shape \(2,\) and v \(3,\)"):
        G.has_edge([0, 1], [0, 1, 2])


def test_a_graph_without_vertices_is_a_graph():
    G = gd.from_edges([], [])
    assert len(G) == 0
    assert bool(G)


def test_unknown_vertices_and_directions_are_named():
    G = gd.from_edges(["a", "b"], ["b", "c"])
    for call in (lambda: G.neighbors("x"), lambda: G.has_edge("a", "x"), lambda: G.edge("x", "a")):
        with pytest.raises(VertexNotFound, match=r"'x' is not in the graph; it has 3 vertices"):
            call()
    with pytest.raises(VertexNotFound, match="'x' is not in the graph"):
        G.subgraph(["a", "x"])
    with pytest.raises(InputError, match="v 7 is not a string"):
        G.has_edge("a", 7)
    with pytest.raises(InputError, match=r"vertex=.* is not one vertex"):
        G.neighbors(["a"])
    for call in (G.degrees, lambda direction: G.neighbors("a", direction)):
        with pytest.raises(InputError, match="direction='up' is not one of out, in, both"):
            call("up")
    with pytest.raises(gd.ArgumentError, match=r"Graph.neighbors has no argument side="):
        G.neighbors("a", side="in")


def test_rows_count_edges_that_were_dropped():
    G = gd.from_edges([5, 5, 6, 5], [5, 6, 6, 6], self_loops="drop")
    assert G.edge(5, 6).row.tolist() == [1, 3]


@pytest.mark.parametrize("name", GRAPHS)
def test_a_subgraph_has_the_edges_between_its_vertices(name):
    known = GRAPHS[name]()
    some = known.vertices[::2]
    found = known.graph.partition(2, "random").subgraph(some)
    kept = {edge: count for edge, count in known.edges.items() if {edge[0], edge[1]} <= set(some)}
    assert found.vertex_ids.tolist() == some
    assert edges_of(found) == Counter(kept)


def test_a_subgraph_of_several_sets_is_refused():
    with pytest.raises(InputError, match=r"graphdask\.subgraph takes several sets"):
        gd.from_edges([0, 1], [1, 2]).subgraph([[0], [1]])


@pytest.mark.parametrize("name", [*GRAPHS, "R-MAT", "a file", "after batches"])
def test_reversed_edges_are_those_of_the_graph_turned_round(name, tmp_path):
    if name == "R-MAT":
        G = gd.generate.rmat(6, seed=3)
    elif name == "a file":
        GRAPHS["real weights"]().graph.write(tmp_path / "edges.csv")
        G = gd.read_graph(tmp_path / "edges.csv", weights=True)
    elif name == "after batches":
        G = gd.DynamicGraph(gd.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0]))
        G.update(insert=([3, 9], [1, 0], [5.0, 6.0]), delete=([0], [1]))
    else:
        G = GRAPHS[name]().graph
    turned = G.reverse()
    expected = Counter({(v, u, w) if G.directed else (u, v, w): count for (u, v, w), count in edges_of(G).items()})
    assert edges_of(turned) == expected
    assert edges_of(turned.reverse()) == edges_of(G)
    assert turned.vertex_ids.tolist() == G.vertex_ids.tolist()
    turned = turned.partition(3, "random").verify()
    assert (turned.num_edges, turned.weighted, turned.directed) == (G.num_edges, G.weighted, G.directed)
    if len(G):
        first = G.vertex_ids[0]
        assert gd.bfs(turned, first).verify().depth.tolist() == gd.bfs(_by_hand(G), first).depth.tolist()
    for u, v, _ in list(edges_of(G))[:3]:
        ends = (v, u) if G.directed else (u, v)
        assert turned.edge(*ends).row.tolist() == G.edge(u, v).row.tolist()


def _by_hand(G):
    src, dst, _ = G.edges("cpu")
    return gd.from_edges(dst, src, directed=G.directed, vertices=G.vertex_ids)


class Unturned(ReversedGenerator):
    """Its blocks are not reversed."""

    def block(self, *share):
        return self.generator.block(*share)


def test_a_reversed_generator_is_still_proved_by_its_definition():
    G = gd.generate.preferential_attachment(300, 2, seed=4, directed=True).reverse()
    assert "reversed PreferentialAttachment" in G._repr_html_()
    G.partition(2).verify()
    G.source.generator = Unturned(G.source.generator.generator)
    with pytest.raises(VerificationError):
        G.partition(2).verify()


@pytest.mark.parametrize("n", [0, 1, 3, 5000])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_first_edges_are_those_of_edges(name, n):
    G = GRAPHS[name]().graph
    frame, (src, dst, weights) = G.head(n), G.edges("cpu")
    assert frame["src"].tolist() == src[:n].tolist()
    assert frame["dst"].tolist() == dst[:n].tolist()
    assert list(frame.columns) == ["src", "dst"] + ["weight"] * G.weighted
    if weights is not None:
        assert frame["weight"].tolist() == weights[:n].tolist()
        assert frame["weight"].dtype == weights.dtype


def test_only_some_edges_are_made_for_the_first_ones():
    assert gd.generate.preferential_attachment(2**40, 2).head(2).to_numpy().tolist() == [[1, 0], [2, 0]]
    with pytest.raises(InputError, match="n=-1 is not a whole number"):
        gd.from_edges([0], [1]).head(-1)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_the_same_however_it_is_made_and_divided(name, rng):
    known = GRAPHS[name]()
    G = known.graph
    src, dst, weights = G.edges("cpu")
    order = rng.permutation(len(src))
    if not G.directed:
        swapped = rng.random(len(src)) < 0.5
        src, dst = np.where(swapped, dst, src), np.where(swapped, src, dst)
    weights = None if weights is None else weights[order].astype(np.float64)
    again = gd.from_edges(src[order], dst[order], weights, directed=G.directed, vertices=G.vertex_ids)
    assert gd.same_graph(G, again.partition(3, "random").persist())
    assert not gd.same_graph(G, gd.from_edges([1, 7], [7, 3], vertices=[1, 3, 7, 2**41]))
    if known.edges:
        fewer = slice(1, None)
        weights = None if weights is None else weights[fewer]
        less = gd.from_edges(src[order][fewer], dst[order][fewer], weights, directed=G.directed, vertices=G.vertex_ids)
        assert not gd.same_graph(G, less)


def test_what_differs_makes_another_graph():
    G = gd.from_edges([0, 1, 1], [1, 2, 2], [1, 2, 3])
    others = {
        "weights": gd.from_edges([0, 1, 1], [1, 2, 2], [1, 2, 2]),
        "no weights": gd.from_edges([0, 1, 1], [1, 2, 2]),
        "direction": gd.from_edges([0, 1, 1], [1, 2, 2], [1, 2, 3], directed=False),
        "an isolated vertex": gd.from_edges([0, 1, 1], [1, 2, 2], [1, 2, 3], num_vertices=4),
        "ids": gd.from_edges([1, 2, 2], [2, 3, 3], [1, 2, 3]),
        "names": gd.from_edges(["0", "1", "1"], ["1", "2", "2"], [1, 2, 3]),
        "how often": gd.from_edges([0, 0, 1], [1, 1, 2], [1, 2, 3]),
        "reversed": G.reverse(),
    }
    assert [name for name, other in others.items() if gd.same_graph(G, other) or gd.same_graph(other, G)] == []
    with pytest.raises(InputError, match="H is a list, not a Graph of graphdask"):
        gd.same_graph(G, [1])


def test_a_graph_that_changes_answers_for_its_present_version(rng):
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], directed=False))
    D.update(insert=([2, 7], [0, 0]), delete=([0], [1]))
    now = listed([1, 2, 7], [2, 0, 0], directed=False)
    check(D, oracle(now), rng)
    assert gd.same_graph(D, now.graph)
    assert [D.edge(*ends).row.tolist() for ends in ((1, 2), (0, 2), (7, 0))] == [[1], [2], [3]]
    D.update(insert=([7], [1]))
    assert D.has_edge(1, 7)
    assert D.neighbors(7).tolist() == [0, 1]
    assert len(D) == 4
    assert counted(*D.subgraph([7, 1, 2]).edges("cpu"), False) == counted([1, 1], [2, 7], None, False)


@pytest.mark.parametrize("order", ["ids", "layers"])
@pytest.mark.parametrize("inward", [True, False])
@pytest.mark.parametrize("name", sorted(set(GRAPHS) - {"preferential attachment, merged"}))  # which has no rows
def test_a_graph_on_disk_answers_from_its_file(name, inward, order, rng, tmp_path):
    known = GRAPHS[name]()
    options = {"root": known.graph.vertex_ids[0]} if order == "layers" and len(known.graph) else {}
    options |= {"order": order if options else "ids", "inward": inward if known.graph.directed else None}
    S = gd.stream.build(known.graph, tmp_path / "graph.gdl", edge_rows=True, chunk=1024, **options)
    check(S, oracle(known), rng, known.graph)
    first = known.graph.vertex_ids[:1]
    assert S.has_edge(first, first).tolist() == known.graph.has_edge(first, first).tolist()
    assert S.has_edge(first[:0], first[:0]).tolist() == []
    assert gd.same_graph(S, known.graph)
    assert len(S.head(7)) == min(7, known.edges.total())


def test_weights_of_parallel_edges_on_disk_ascend_with_and_without_rows(tmp_path, rng):
    weights = rng.permutation(40).astype(np.float64)
    for directed in (True, False):
        G = gd.from_edges([0] * 40, [1] * 40, weights, directed=directed)
        S = gd.stream.build(G, tmp_path / f"{directed}.gdl", edge_rows=True)
        for rows in (True, False):
            assert S.edge(0, 1, edge_rows=rows).weight.tolist() == list(range(40))
            assert G.edge(0, 1, edge_rows=rows).weight.tolist() == list(range(40))
        assert S.edge(0, 1).row.tolist() == np.argsort(weights).tolist()


def test_what_a_file_does_not_hold_is_named(tmp_path):
    G = attached(60, 2).graph
    S = gd.stream.build(G, tmp_path / "graph.gdl")
    with pytest.raises(Unsupported, match=r"build it with edge_rows=True .* or ask with edge_rows=False"):
        S.edge(0, 1)
    assert S.edge(0, 1, edge_rows=False).row is None
    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        with pytest.raises(Unsupported, match=r"G.neighbors reads .*graph.gdl in this process, so leave it out"):
            S.neighbors(0, client=client)
        assert S.neighbors(0).tolist() == G.neighbors(0, client=client).tolist()
    with pytest.raises(VertexNotFound):
        S.neighbors(60)
    with pytest.raises(InputError, match="direction"):
        S.degrees("up")
    assert len(S) == 60
    assert gd.same_graph(S.reverse(), G.reverse())
    assert gd.same_graph(S.subgraph(range(20)), G.subgraph(range(20)))
    S.close()
    with pytest.raises(InputError, match="was closed; open it again"):
        S.degrees()
