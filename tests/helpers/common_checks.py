"""What is checked of every algorithm of the registry, on every shape of graph: one answer, wherever it is computed."""

from __future__ import annotations

import warnings
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from graphs import GRAPHS, Edges

import graphdask as gd
from graphdask.interface.registry import Algorithm

PARTS = (1, 2, 3, 4, 7)
SHAPES = {name: GRAPHS[name] for name in (
    "one vertex", "one vertex with a self-loop", "only self-loops", "only duplicates", "duplicates both ways",
    "isolated vertices", "no edges", "two triangles", "star outward", "star inward", "star around the last", "cycle",
    "short path", "sparse random, directed", "dense random, undirected", "scale-free",
)}  # fmt: skip
WAYS = tuple(product(("range", "random", "biased-random"), ("all", "1-hop"), ("selective", "broadcast"), (32, 64)))
"""How a graph is divided, which ghosts it has, how ranks exchange, and the bits of an id."""


def empty() -> Edges:
    return 0, np.zeros(0, np.int64), np.zeros(0, np.int64), True


def hub() -> Edges:
    """A vertex whose row no block takes at once, and others around it."""
    rng = np.random.default_rng(8)
    src = np.concatenate([np.zeros(4500, np.int64), rng.integers(0, 700, 900), np.full(300, 5)])
    dst = np.concatenate([rng.integers(0, 700, 4500), rng.integers(0, 700, 900), rng.integers(0, 700, 300)])
    return 700, src, dst, False


def broad() -> Edges:
    """So many vertices that the queues of a block fill up and empty again."""
    rng = np.random.default_rng(9)
    return 4000, rng.integers(0, 4000, 9000), rng.integers(0, 4000, 9000), True


def graph_of(algorithm: Algorithm, edges: Edges) -> gd.Graph:
    """A graph on which the algorithm is defined, with weights that have ties if it uses any."""
    n, src, dst, directed = edges
    weights = np.random.default_rng(n).integers(1, 4, len(src)) if algorithm.weights else None
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed and not algorithm.undirected)


def run(algorithm: Algorithm, graph: gd.Graph, **options: Any) -> Any:
    """The result; iterations that stop before they converge, as on some of the graphs, are no matter here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* stopped after max_iter=", gd.GraphdaskWarning)
        return getattr(gd, algorithm.name)(graph, **algorithm.example(graph), **options)


def bits(result: Any) -> dict[str, np.ndarray]:
    return {name: np.asarray(result._internal(name)) for name in result.columns}


def same(found: Any, expected: Any, said: str, tolerance: float = 0.0, dtypes: bool = True) -> None:
    """All columns of two results are equal to the last bit, or within a relative tolerance."""
    for name, values in bits(expected).items():
        other = bits(found)[name]
        assert other.dtype == values.dtype or not dtypes, said
        if tolerance:
            np.testing.assert_allclose(other, values, rtol=tolerance, atol=tolerance, err_msg=said)
        else:
            np.testing.assert_array_equal(other, values, said)


def one_answer_over_partitions(algorithm: Algorithm, name: str) -> None:
    graph = graph_of(algorithm, SHAPES[name]())
    expected = run(algorithm, graph.partition(1, device="cpu")).verify()
    assert set(expected.columns) == set(algorithm.columns)
    summary = algorithm.summary(expected)
    assert algorithm.words(summary)
    ways = cycle(WAYS[len(name) % 5 :: 5])
    for parts in PARTS:
        by, ghosts, exchange, width = next(ways)
        divided = graph.partition(parts, by, ghosts, device="cpu", id_width=width)
        found = run(algorithm, divided, exchange=exchange).verify()
        same(found, expected, f"{name}, {parts} parts by {by}, {ghosts}, {exchange}, {width} bits", dtypes=width == 32)
        assert algorithm.summary(found) == summary
        assert (found.stats.ranks, found.stats.ghosts, found.stats.exchange) == (parts, ghosts, exchange)


def no_vertices(algorithm: Algorithm, device: str) -> None:
    """The empty graph has an empty answer, or no source, as the error says."""
    for parts in (1, 3, 7):
        graph = graph_of(algorithm, empty()).partition(parts, device=device)
        if algorithm.takes("source"):
            with pytest.raises(gd.VertexNotFound, match="source 0 is not in the graph; it has no vertices"):
                getattr(gd, algorithm.name)(graph, 0)
            continue
        found = run(algorithm, graph).verify()
        assert {len(values) for values in bits(found).values()} == {0}
        assert algorithm.words(algorithm.summary(found))


def one_answer_on_devices(algorithm: Algorithm, edges: Edges, parts: int) -> None:
    graph = graph_of(algorithm, edges)
    by, ghosts = ("random", "1-hop") if parts == 3 else ("range", "all")
    width = 64 if parts == 3 else 32
    on_cpu, on_gpu = (graph.partition(parts, by, ghosts, device=device, id_width=width) for device in ("cpu", "cuda"))
    found = run(algorithm, on_gpu).verify()
    assert found.stats.devices[0] != "CPU"
    same(found, run(algorithm, on_cpu), f"{parts} parts", algorithm.tolerance)


def one_answer_from_disk(algorithm: Algorithm, name: str, path: Any) -> None:
    """The answer from disk is that in memory, or the error says what to do."""
    graph = graph_of(algorithm, SHAPES[name]())
    expected = run(algorithm, graph.partition(1, device="cpu"))
    gd.stream.build(graph, path, chunk=1024, memory="1MiB", overwrite=True)
    S = gd.stream.open(path, "160KiB", device="cpu")
    for parts in (1, 2, 4):
        try:
            found = run(algorithm, S.partition(parts)).verify()
        except gd.Unsupported as error:
            if "has no streamed form" in str(error):
                return
            raise
        same(found, expected, f"{name}, {parts} ranks")


def takes_no_other_graph(algorithm: Algorithm) -> None:
    """What is no graph is refused; so is a directed one where the algorithm is not defined."""
    given = {name: value for name, value in (("source", 0), ("labels", [0, 0])) if algorithm.takes(name)}
    function = getattr(gd, algorithm.name)
    with pytest.raises(gd.InputError, match="G is a list, not a Graph"):
        function([(0, 1)], **given)
    if algorithm.undirected:
        with pytest.raises(gd.InputError, match=rf"{algorithm.name} is defined on undirected .*G.to_undirected\(\)"):
            function(gd.from_edges([0], [1]), **given)
