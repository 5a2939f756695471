"""Names and arguments that there are not: the error names the one that is meant, and functions stay what they are."""

from __future__ import annotations

import inspect
import pickle
import traceback
import warnings

import cloudpickle
import pytest

import graphdask as gd
from graphdask.interface import suggest
from graphdask.interface.suggest import names

PUBLIC = {
    f"{module.__name__}.{name}": value
    for module in (gd, gd.sample, gd.generate, gd.stream)
    for name in module.__all__
    if inspect.isfunction(value := getattr(module, name))
}


@pytest.fixture(scope="module")
def G():
    return gd.from_edges([0, 1, 2], [1, 2, 0])


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (gd, "cdlp", "graphdask.label_propagation"),
        (gd, "louvain_communities", "graphdask.louvain"),
        (gd, "betweenness_centrality", "graphdask.betweenness"),
        (gd, "shortest_paths", "graphdask.sssp"),
        (gd, "pagerak", "graphdask.pagerank"),
        (gd, "Pagerank", "graphdask.pagerank"),
        (gd, "conected_components", "graphdask.connected_components"),
        (gd, "rmat", "graphdask.generate.rmat"),
        (gd, "barabasi_albert_graph", "graphdask.generate.preferential_attachment"),
        (gd.sample, "node2vek", "graphdask.sample.node2vec"),
        (gd.sample, "bfs", "graphdask.bfs"),
        (gd.generate, "rmatt", "graphdask.generate.rmat"),
        (gd.stream, "opn", "graphdask.stream.open"),
    ],
)
def test_a_name_is_refused_with_the_one_that_is_meant(module, name, meant):
    with pytest.raises(AttributeError) as raised:
        getattr(module, name)
    assert str(raised.value) == f"module {module.__name__!r} has no attribute {name!r}; did you mean {meant}?"


NOT_HERE = (
    "degree_centrality", "current_flow_betweenness", "dfs", "depth_first_search", "spectral_clustering", "diameter",
    "maximum_flow",
    "write_graph", "to_networkx", "path", "cycle", "client", "karate_club", "complete_graph",
)  # fmt: skip
"""What other packages have and graphdask has not, nor anything that does the same."""


@pytest.mark.parametrize("name", NOT_HERE)
def test_nothing_is_suggested_for_what_is_not_here(name):
    with pytest.raises(AttributeError) as raised:
        getattr(gd, name)
    assert str(raised.value) == f"module 'graphdask' has no attribute {name!r}"


@pytest.mark.parametrize("name", ["xyzzy", "_pagerank", "__pagerank__"])
def test_nothing_is_guessed_of_a_name_that_is_like_none(name):
    with pytest.raises(AttributeError) as raised:
        getattr(gd, name)
    assert str(raised.value) == f"module 'graphdask' has no attribute {name!r}"


@pytest.mark.parametrize("name", names())
def test_every_name_that_is_suggested_is_there(name):
    value = gd
    for each in name.split("."):
        value = getattr(value, each)
    assert callable(value)


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (gd.pagerank, "alpha", "damping"),
        (gd.pagerank, "max_iterations", "max_iter"),
        (gd.pagerank, "tolerance", "tol"),
        (gd.pagerank, "dampin", "damping"),
        (gd.pagerank, "nstart", "start"),
        (gd.betweenness, "k", "sources"),
        (gd.bfs, "root", "source"),
        (gd.sssp, "start", "source"),
        (gd.label_propagation, "max_iter", "iterations"),
        (gd.sample.random_walk, "walk_length", "length"),
        (gd.sample.neighbors, "num_neighbors", "fanouts"),
        (gd.sample.neighbors, "random_state", "seed"),
        (gd.generate.rmat, "edgefactor", "edge_factor"),
        (gd.generate.preferential_attachment, "m", "degree"),
        (gd.read_graph, "sep", "delimiter"),
        (gd.stream.open, "filename", "path"),
    ],
)
def test_an_argument_is_refused_with_the_one_that_is_meant(function, given, meant):
    for error in (gd.InputError, TypeError):
        with pytest.raises(error, match=f"^{function.__name__} has no argument {given}=; did you mean {meant}=[?]$"):
            function(**{given: 3})


def test_an_argument_like_none_is_refused_with_those_that_there_are(G):
    with pytest.raises(gd.ArgumentError, match="bfs has no argument zzzz=; it has G, source, depth_limit"):
        gd.bfs(G, 0, zzzz=2)


def test_arguments_that_are_missing_or_too_many_are_refused_alike(G):
    with pytest.raises(gd.ArgumentError, match="bfs needs source=; it has G, source, depth_limit"):
        gd.bfs(G)
    with pytest.raises(gd.ArgumentError, match="bfs takes 2 arguments by position, but 3 were given; it has G, "):
        gd.bfs(G, 0, 1)


def test_a_type_error_from_inside_a_function_stays_as_it_is():
    def fails(a):
        return a + "b"

    from graphdask.interface.suggest import suggesting

    with pytest.raises(TypeError) as raised:
        suggesting(fails, __name__, "fails")(1)
    assert type(raised.value) is TypeError


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_function_keeps_signature_and_source_and_is_pickled_by_its_name(name):
    function = PUBLIC[name]
    inner = inspect.unwrap(function)
    assert inner is not function
    assert inspect.signature(function) == inspect.signature(inner)
    assert inspect.getdoc(function) == inspect.getdoc(inner)
    assert inspect.getsource(function) == inspect.getsource(inner)
    assert f"{function.__module__}.{function.__qualname__}" == name
    assert pickle.loads(pickle.dumps(function)) is function
    assert cloudpickle.loads(cloudpickle.dumps(function)) is function


def test_a_warning_names_the_line_of_the_caller(G, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("# Nodes: 9 Edges: 7\n0 1\n1 2\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gd.pagerank(gd.from_edges([0, 1, 1], [1, 2, 0]), max_iter=1, tol=1e-12)
        gd.betweenness(G, sources=1)
        gd.read_graph(path)
    assert len(caught) >= 3
    assert {each.filename for each in caught} == {__file__}


def test_a_call_takes_no_longer_than_a_frame(G):
    with pytest.raises(gd.VertexNotFound) as raised:
        gd.bfs(G, 77)
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[1:3] == ["call", "bfs"]


def test_an_option_with_a_check_of_its_own_is_refused_in_its_own_words(G):
    with pytest.raises(gd.InputError, match="weight=1 is neither 'weight', the weights of the graph, nor None"):
        gd.betweenness(G, weight=1)


def test_a_module_that_is_imported_by_its_package_costs_no_look_for_what_is_meant(fault):
    fault(suggest, "names", AssertionError("every import of a module would load all algorithms"))
    assert "did you mean" not in str(suggest.no_attribute("graphdask.stream", "run", []))
    with pytest.raises(AssertionError, match="all algorithms"):
        suggest.no_attribute("graphdask.stream", "runs", [])
