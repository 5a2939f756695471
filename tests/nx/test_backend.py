"""The backend of NetworkX: the same answers as NetworkX's own, or a reason why there is none."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
import types

import networkx as nx
import pytest
from gangs import active
from networkx_names import function_of

from graphdask.nx import backend
from graphdask.nx.graph import NxGraph, convert_from_nx, convert_to_nx
from graphdask.nx.info import notes
from graphdask.nx.offered import OFFERS, can_run, should_run


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    """NetworkX says with a warning that it keeps converted graphs; the tests know."""
    kept = nx.config.backend_priority.algos, nx.config.fallback_to_nx
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")
    nx.config.backend_priority.algos, nx.config.fallback_to_nx = kept


def graph(directed: bool = False, loops: bool = False, multi: bool = False):
    """Nodes of several kinds, isolated ones among them, in an order of their own; weights on some of the edges."""
    kind = {(0, 0): nx.Graph, (1, 0): nx.DiGraph, (0, 1): nx.MultiGraph, (1, 1): nx.MultiDiGraph}[directed, multi]
    random = nx.gnm_random_graph(30, 70, seed=4, directed=directed)
    names = {node: (node, "b") if node % 3 else f"node {node}" for node in random}
    G = kind()
    G.add_nodes_from([names[node] for node in sorted(random, key=lambda node: node * 7 % 30)])
    G.add_edges_from((names[u], names[v]) for u, v in random.edges)
    G.add_nodes_from(["alone", 7.5])
    if multi:
        G.add_edges_from(list(G.edges(keys=False))[::3])
    if loops:
        G.add_edges_from([(names[1], names[1]), ("alone", "alone")])
    for number, (*_, data) in enumerate(G.edges(data=True)):
        if number % 4:
            data["weight"] = number % 5 + (0.25 if directed else 0)
    return G


ROOT = (1, "b")
EVERY = [
    ("pagerank", {}),
    ("pagerank", {"weight": None, "alpha": 0.5, "personalization": {ROOT: 2, "alone": 1, "stranger": 5}}),
    ("pagerank", {"nstart": {ROOT: 1}, "tol": 1e-9}),
    ("single_source_shortest_path_length", {"source": ROOT}),
    ("single_source_shortest_path_length", {"source": ROOT, "cutoff": 1.5}),
    ("single_target_shortest_path_length", {"target": ROOT, "cutoff": 2}),
    ("descendants", {"source": ROOT}),
    ("ancestors", {"source": ROOT}),
    ("descendants_at_distance", {"source": ROOT, "distance": 2}),
    ("single_source_dijkstra_path_length", {"source": ROOT}),
    ("single_source_dijkstra_path_length", {"source": ROOT, "cutoff": 4}),
    ("dijkstra_path_length", {"source": ROOT, "target": (2, "b")}),
    ("betweenness_centrality", {}),
    ("betweenness_centrality", {"normalized": False}),
    ("betweenness_centrality", {"k": 6, "seed": 5}),
    ("betweenness_centrality", {"k": 6, "seed": 5, "normalized": False}),
    ("pagerank", {"dangling": {ROOT: 1, "alone": 3, "stranger": 5}, "personalization": {ROOT: 1, (2, "b"): 1}}),
    ("has_path", {"source": ROOT, "target": (2, "b")}),
    ("has_path", {"source": ROOT, "target": "alone"}),
    ("shortest_path_length", {"source": ROOT, "target": (2, "b")}),
    ("shortest_path_length", {"source": ROOT}),
    ("shortest_path_length", {"target": ROOT, "weight": "weight"}),
    ("shortest_path_length", {"target": ROOT, "weight": "weight", "method": "bellman-ford"}),
    ("shortest_path_length", {"source": ROOT, "target": (2, "b"), "weight": "weight", "method": "bellman-ford"}),
    ("shortest_path_length", {"weight": "weight"}),
    ("shortest_path_length", {}),
    ("bellman_ford_path_length", {"source": ROOT, "target": (2, "b")}),
    ("single_source_bellman_ford_path_length", {"source": ROOT, "weight": None}),
    ("all_pairs_shortest_path_length", {"cutoff": 2}),
    ("all_pairs_dijkstra_path_length", {"cutoff": 3.5}),
    ("closeness_centrality", {}),
    ("closeness_centrality", {"u": ROOT, "distance": "weight"}),
    ("closeness_centrality", {"wf_improved": False}),
    ("harmonic_centrality", {}),
    ("harmonic_centrality", {"nbunch": [ROOT, "alone"], "distance": "weight"}),
    ("harmonic_centrality", {"sources": [ROOT, (2, "b")]}),
    ("is_directed_acyclic_graph", {}),
    ("hits", {"tol": 1e-12, "max_iter": 10_000}),
]
OF_SIMPLE = [
    ("eigenvector_centrality", {"tol": 1e-12, "max_iter": 2000}),
    ("eigenvector_centrality", {"nstart": "degree", "weight": "weight", "tol": 1e-3}),
    ("katz_centrality", {"alpha": 0.05}),
    ("katz_centrality", {"alpha": 0.02, "beta": 3, "normalized": False, "weight": "weight"}),
]
CONNECTED = [
    ("eccentricity", {}),
    ("eccentricity", {"v": ROOT}),
    ("eccentricity", {"v": [ROOT, "alone"], "weight": "weight"}),
    ("diameter", {"weight": "weight"}),
    ("radius", {}),
    ("center", {}),
    ("periphery", {"weight": "weight"}),
    ("average_shortest_path_length", {}),
    ("average_shortest_path_length", {"weight": "weight"}),
    ("average_shortest_path_length", {"weight": "weight", "method": "unweighted"}),
    ("wiener_index", {}),
    ("wiener_index", {"weight": "weight"}),
]
UNDIRECTED = [
    ("connected_components", {}),
    ("number_connected_components", {}),
    ("is_connected", {}),
    ("node_connected_component", {"n": ROOT}),
    ("triangles", {}),
    ("global_efficiency", {}),
    ("betweenness_centrality", {"endpoints": True}),
    ("betweenness_centrality", {"endpoints": True, "normalized": False}),
    ("betweenness_centrality", {"endpoints": True, "k": 6, "seed": 5}),
    ("betweenness_centrality", {"endpoints": True, "k": 6, "seed": 5, "normalized": False}),
]
SIMPLE = [
    ("triangles", {"nodes": [ROOT, "alone", "stranger"]}),
    ("clustering", {}),
    ("clustering", {"nodes": ROOT}),
    ("average_clustering", {}),
    ("average_clustering", {"count_zeros": False}),
    ("transitivity", {}),
]
DIRECTED = [
    ("weakly_connected_components", {}),
    ("number_weakly_connected_components", {}),
    ("is_weakly_connected", {}),
    ("strongly_connected_components", {}),
    ("number_strongly_connected_components", {}),
    ("is_strongly_connected", {}),
    ("attracting_components", {}),
    ("number_attracting_components", {}),
    ("is_attracting_component", {}),
]


def same(found, known) -> bool:
    """Equal, but for the last bits of what is not whole."""
    if isinstance(known, list | tuple):
        return len(found) == len(known) and all(map(same, found, known))
    if isinstance(known, dict):
        return found.keys() == known.keys() and all(same(found[node], known[node]) for node in known)
    return found == known or math.isclose(found, known, rel_tol=1e-9, abs_tol=1e-15)


@pytest.mark.parametrize("multi", [False, True], ids=["simple", "multi"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_answers_are_those_of_networkx(directed, multi):
    G = graph(directed, loops=True, multi=multi)
    for name, keywords in EVERY + (DIRECTED if directed else UNDIRECTED) + ([] if directed or multi else SIMPLE):
        compare(G, name, keywords)
    nx.add_cycle(G, list(G))
    for name, keywords in [] if multi else OF_SIMPLE:
        compare(G, name, {**keywords, **({"nstart": dict(G.degree)} if "nstart" in keywords else {})})
    for name, keywords in CONNECTED:
        compare(G, name, keywords)


@pytest.mark.parametrize("multi", [False, True], ids=["simple", "multi"])
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_betweenness_by_weight_is_that_of_networkx(directed, multi):
    G = graph(directed, loops=True, multi=multi)
    for *_, data in G.edges(data=True):
        data["length"] = data.get("weight", 2) + 1
    ways = [{}, {"normalized": False}, {"k": 6, "seed": 5}, {"k": 6, "seed": 5, "normalized": False}]
    ways += [] if directed else [{"endpoints": True}, {"endpoints": True, "k": 6, "seed": 5}]
    for way in ways:
        compare(G, "betweenness_centrality", {"weight": "length", **way})
    compare(G, "betweenness_centrality", {"weight": "nowhere"})  # every edge weighs 1
    data["weight"] = 0
    with pytest.raises(NotImplementedError, match="graphdask"):
        nx.betweenness_centrality(G, weight="weight", backend="graphdask")


def compare(G, name, keywords):
    known, found = (getattr(nx, name)(G, **keywords, backend=x) for x in ("networkx", "graphdask"))
    if name.startswith(("strongly", "attracting")):
        known, found = set(map(frozenset, known)), set(map(frozenset, found))
    elif isinstance(known, types.GeneratorType):
        known, found = list(known), list(found)
    numbers = {type(found), type(known)} <= {int, float}  # NetworkX's lengths are whole until a weight is not
    assert numbers or type(found) is type(known), (name, keywords)
    assert same(found, known), (name, keywords)


@pytest.mark.parametrize(("name", "k"), [("k_core", None), ("k_core", 2), ("k_shell", None), ("k_crust", None),
                                         ("k_crust", 2), ("k_corona", 2), ("k_corona", 3)])  # fmt: skip
def test_core_subgraphs_are_those_of_networkx_with_all_attributes(name, k):
    G = graph()
    G.graph["title"], G.nodes[ROOT]["colour"] = "t", "red"
    known, found = (getattr(nx, name)(G, k=k, backend=x) for x in ("networkx", "graphdask"))
    assert nx.utils.graphs_equal(found, known)
    assert list(found) == [node for node in G if node in known]
    if k is None:
        compare(G, "core_number", {})


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (0, 2), (1, 3)], []])
def test_what_holds_of_small_digraphs(edges):
    G = nx.DiGraph(edges)
    G.add_node(0)
    for name in ("is_directed_acyclic_graph", "is_attracting_component", "number_attracting_components"):
        compare(G, name, {})


def test_numbers_are_pythons_own():
    G = graph()
    assert {type(x) for x in nx.pagerank(G, backend="graphdask").values()} == {float}
    lengths = nx.single_source_dijkstra_path_length(G, ROOT, backend="graphdask")
    assert {type(x) for x in lengths.values()} == {int}
    assert type(nx.number_connected_components(G, backend="graphdask")) is int
    assert type(nx.is_connected(G, backend="graphdask")) is bool


def test_empty_graphs_and_missing_nodes_raise_what_networkx_raises():
    calls = [
        (nx.is_connected, nx.Graph(), {}),
        (nx.is_strongly_connected, nx.DiGraph(), {}),
        (nx.connected_components, nx.DiGraph(), {}),
        (nx.average_clustering, nx.Graph(), {}),
        (nx.clustering, nx.MultiGraph([(0, 1)]), {}),
        (nx.core_number, nx.Graph([(0, 0)]), {}),
        *((nx.descendants, nx.path_graph(3, kind), {"source": 9}) for kind in (nx.Graph, nx.DiGraph)),
        (nx.single_source_shortest_path_length, nx.path_graph(3), {"source": 9}),
        (nx.single_source_dijkstra_path_length, nx.path_graph(3), {"source": 9}),
        (nx.dijkstra_path_length, nx.Graph([(0, 1), (2, 3)]), {"source": 0, "target": 3}),
        (nx.triangles, nx.path_graph(3), {"nodes": 9}),
        (nx.pagerank, nx.path_graph(3), {"personalization": {0: 0}}),
        (nx.pagerank, nx.star_graph(9), {"max_iter": 1}),
        (nx.eigenvector_centrality, nx.Graph(), {}),
        (nx.eigenvector_centrality, nx.star_graph(9), {"max_iter": 1}),
        (nx.eigenvector_centrality, nx.path_graph(3), {"nstart": {0: 0, 1: 0, 2: 0}}),
        (nx.katz_centrality, nx.path_graph(3), {"alpha": 2.0}),
        (nx.katz_centrality, nx.path_graph(3), {"tol": 0}),
        (nx.betweenness_centrality, nx.path_graph(3), {"k": 9}),
        (nx.k_core, nx.Graph(), {}),
        (nx.k_shell, nx.Graph([(0, 0)]), {}),
        (nx.attracting_components, nx.Graph(), {}),
        (nx.diameter, nx.Graph(), {}),
        *((nx.center, kind(), {}) for kind in (nx.Graph, nx.DiGraph)),
        (nx.eccentricity, nx.Graph([(0, 1), (2, 3)]), {}),
        (nx.radius, nx.path_graph(3, nx.DiGraph), {}),
        (nx.eccentricity, nx.path_graph(3), {"v": 9}),
        (nx.average_shortest_path_length, nx.Graph(), {}),
        (nx.average_shortest_path_length, nx.path_graph(3, nx.DiGraph), {}),
        (nx.average_shortest_path_length, nx.path_graph(3), {"method": "none"}),
        (nx.wiener_index, nx.Graph(), {}),
        (nx.closeness_centrality, nx.path_graph(3), {"u": 9}),
        (nx.closeness_centrality, nx.path_graph(3), {"u": 9, "distance": "weight"}),
        (nx.harmonic_centrality, nx.path_graph(3), {"nbunch": 9}),
        (nx.has_path, nx.path_graph(3), {"source": 9, "target": 0}),
        (nx.has_path, nx.path_graph(3), {"source": 0, "target": 9}),
        *(
            (nx.shortest_path_length, nx.Graph([(0, 1), (2, 3)]), keywords)
            for keywords in (
                {"source": 0, "target": 3},
                {"source": 0, "target": 3, "weight": "weight"},
                {"source": 0, "target": 3, "weight": "weight", "method": "bellman-ford"},
                {"source": 9, "target": 3, "weight": "weight", "method": "bellman-ford"},
                {"source": 9, "target": 9, "weight": "weight", "method": "bellman-ford"},
                {"source": 9, "weight": "weight", "method": "bellman-ford"},
                {"target": 9, "weight": "weight"},
                {"target": 9},
                {"method": "none"},
                {"source": 9},
                {"source": 0, "target": 9, "weight": "weight"},
            )
        ),
        (nx.single_source_bellman_ford_path_length, nx.path_graph(3), {"source": 9}),
    ]
    for function, G, keywords in calls:
        raised = []
        for name in ("networkx", "graphdask"):
            with pytest.raises(Exception) as error:  # noqa: PT011  # which one, NetworkX decides
                list(function(G, **keywords, backend=name))
            assert not isinstance(error.value, NotImplementedError) or isinstance(error.value, nx.NetworkXException)
            raised.append((error.type, str(error.value)))
        assert raised[0] == raised[1], function.__name__
    assert list(nx.connected_components(nx.Graph(), backend="graphdask")) == []
    assert nx.pagerank(nx.Graph(), backend="graphdask") == {}


NEWER = {"closeness_centrality": [("sp", None)], "hits": [("method", "power_iteration")]}
"""Arguments that a version of NetworkX which is allowed does not have yet."""


@pytest.mark.parametrize("name", sorted(OFFERS))
def test_signatures_are_those_of_networkx(name):
    function = inspect.unwrap(function_of(name).orig_func)
    theirs = [(p.name, p.default) for p in inspect.signature(function).parameters.values()]
    ours = [(p.name, p.default) for p in OFFERS[name].signature.parameters.values()]
    assert [each for each in ours if each in theirs or each not in NEWER.get(name, ())] == theirs


def test_what_is_announced_is_what_there_is():
    assert set(notes()) == set(OFFERS)
    assert set(OFFERS) < set(backend.__all__)
    assert "graphdask" in nx.utils.backends.backends
    assert "graphdask" in nx.pagerank.backends
    assert "numbers of 0 or more" in nx.pagerank.__doc__.rpartition("Backends")[2]


@pytest.mark.parametrize(
    ("name", "keywords", "directed", "reason"),
    [
        ("pagerank", {"alpha": 1.0}, False, "alpha=1.0"),
        ("pagerank", {"weight": len}, False, "not a function"),
        ("betweenness_centrality", {"weight": len}, False, "not a function"),
        ("katz_centrality", {"beta": {}}, False, "beta="),
        ("hits", {"normalized": False}, False, "normalized="),
        ("betweenness_centrality", {"endpoints": True}, True, "endpoints"),
        ("eccentricity", {"sp": {}}, False, "sp="),
        ("diameter", {"usebounds": True}, False, "usebounds"),
        ("radius", {"e": {}}, False, "e="),
        ("average_shortest_path_length", {"method": "floyd-warshall"}, False, "Floyd"),
        ("closeness_centrality", {"distance": len}, False, "not a function"),
        ("shortest_path_length", {"weight": "w", "method": "bellman-ford"}, False, "all pairs"),
        ("k_core", {"core_number": {}}, False, "core_number="),
        ("clustering", {"weight": "weight"}, False, "weights"),
        ("clustering", {}, True, "Fagiolo"),
        ("transitivity", {}, True, "directed"),
        ("core_number", {}, True, "both ways"),
        ("bfs_edges", {"source": ROOT}, False, "no bfs_edges"),
    ],
)
def test_what_differs_is_refused_with_the_reason(name, keywords, directed, reason):
    G = graph(directed)
    assert reason in can_run(name, (G,), keywords)
    with pytest.raises(NotImplementedError, match="graphdask"):
        getattr(nx, name)(G, **keywords, backend="graphdask")


@pytest.mark.parametrize(
    ("value", "name"),
    [(-1, "single_source_dijkstra_path_length"), (-1, "pagerank"), ("x", "pagerank"), (2**70, "pagerank"),
     (math.nan, "pagerank"), (math.inf, "single_source_dijkstra_path_length")],
)  # fmt: skip
def test_weights_that_graphdask_has_no_answer_for_leave_it_to_networkx(value, name):
    G = nx.path_graph(4)
    G.edges[1, 2]["weight"] = value
    arguments = (G, 0) if "source" in name else (G,)
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(*arguments, backend="graphdask")


def test_what_depends_on_the_graph_is_left_to_networkx_too():
    class Own(nx.Graph):
        pass

    assert "tree" in can_run("center", (nx.path_graph(5),), {})
    assert "class of its own" in can_run("k_core", (Own(nx.path_graph(5)),), {})
    with pytest.raises(NotImplementedError, match="99 nodes to 100 others"):
        backend.pagerank(convert_from_nx(nx.star_graph(99, nx.DiGraph)), dangling=dict.fromkeys(range(100), 1.0))
    with pytest.raises(NotImplementedError, match="sum to 0"):
        backend.pagerank(convert_from_nx(nx.path_graph(3, nx.DiGraph)), dangling={7: 1.0})


def test_graphs_that_compute_their_edges_stay_with_networkx():
    from networkx.algorithms.approximation.kcomponents import _AntiGraph

    G = _AntiGraph(nx.path_graph(6).edges)
    with pytest.raises(NotImplementedError):
        nx.core_number(G, backend="graphdask")
    nx.config.backend_priority.algos = ["graphdask"]
    G = _AntiGraph(nx.gnm_random_graph(120, 6000, seed=1).edges)
    assert nx.core_number(G) == nx.core_number(G, backend="networkx")
    H = nx.subgraph_view(nx.path_graph(6), filter_node=lambda node: node != 3)
    assert nx.number_connected_components(H, backend="graphdask") == 2


def test_small_graphs_stay_with_networkx_until_they_are_converted():
    G = nx.gnm_random_graph(100, 2000, seed=1)
    assert "not yet converted, has fewer than" in should_run("core_number", (G,), {})
    assert should_run("betweenness_centrality", (G,), {}) is True
    assert "from both ends" in should_run("has_path", (G, 0, 1), {})
    nx.config.backend_priority.algos = ["graphdask"]
    nx.core_number(G)
    assert "graphdask" not in G.__networkx_cache__.get("backends", {})
    nx.betweenness_centrality(G)
    assert should_run("core_number", (G,), {}) is True
    G.add_edge(0, 200)
    assert should_run("core_number", (G,), {}) is not True


def test_a_graph_is_converted_once_and_its_partitions_stay():
    G = nx.gnm_random_graph(50, 200, seed=1)
    nx.number_connected_components(G, backend="graphdask")
    (first,) = G.__networkx_cache__["backends"]["graphdask"].values()
    nx.core_number(G, backend="graphdask")
    (again,) = G.__networkx_cache__["backends"]["graphdask"].values()
    assert again is first
    assert first.plain().built is not None
    G.add_edge(100, 101)
    assert nx.number_connected_components(G, backend="graphdask") == nx.number_connected_components(G)


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_comes_back_as_it_was(directed, multi):
    G = graph(directed, loops=True, multi=multi)
    G.graph["title"], G.nodes["alone"]["colour"] = "t", "red"
    there = convert_from_nx(G, preserve_edge_attrs=True, preserve_node_attrs=True, preserve_graph_attrs=True)
    back = convert_to_nx(there)
    assert type(back) is type(G)
    assert nx.utils.graphs_equal(back, G)
    assert (there.number_of_nodes(), there.number_of_edges()) == (len(G), G.number_of_edges())
    part = convert_to_nx(convert_from_nx(G, edge_attrs={"weight": 1}, node_attrs={"colour": "none"}))
    assert {data["weight"] for *_, data in part.edges(data=True)} >= {1}
    assert dict(part.nodes(data="colour"))["alone"] == "red"


def test_a_converted_graph_is_taken_where_a_graph_is():
    there = convert_from_nx(nx.path_graph(5))
    assert isinstance(there, NxGraph)
    assert nx.single_source_shortest_path_length(there, 0)[4] == 4
    assert repr(there) == "<NxGraph: Graph of 5 nodes and 4 edges, for graphdask>"


def test_the_workers_of_a_dask_client_give_the_same_answer(two_workers):
    G = graph(loops=True)
    known = nx.pagerank(G, backend="graphdask")
    with active(two_workers):
        H = G.copy()
        assert nx.pagerank(H, backend="graphdask") == known
        assert list(nx.connected_components(H, backend="graphdask")) == list(nx.connected_components(G))
        (there,) = H.__networkx_cache__["backends"]["graphdask"].values()
        there.plain().built = None


def test_networkx_alone_loads_nothing_of_graphdasks_but_what_describes_it():
    code = "import networkx, sys; print(*sorted(name[10:] for name in sys.modules if name.startswith('graphdask')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "execute gang gang.calls gang.forked nx nx.info version"


@pytest.mark.parametrize("cutoff", [None, -1, 0, 0.5, 1, 2, 2.5, 1e9])
def test_a_search_goes_as_far_as_networkx_with_a_cutoff(cutoff):
    G = nx.gnm_random_graph(60, 80, seed=1, directed=True)
    for name in ("single_source_shortest_path_length", "single_target_shortest_path_length"):
        for node in range(0, 60, 7):
            known, found = (dict(getattr(nx, name)(G, node, cutoff, backend=x)) for x in ("networkx", "graphdask"))
            assert found == known
