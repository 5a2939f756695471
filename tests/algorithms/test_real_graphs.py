"""Real graphs, made by others: depths, parents and components are SciPy's, and the reference answers of LDBC."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.io
from reference import adjacency, search, smallest_of_component

import graphdask as gd
from graphdask.io import read_vertex_values

PARTS = (1, 2, 3, 4, 7)
DIVISIONS = tuple(product(("range", "random"), ("all", "1-hop")))
EXCHANGES = ("selective", "broadcast")

SMALL = (
    "social/email-Eu-core.txt.gz",
    "temporal/CollegeMsg.txt",
    "formats/PGPgiantcompo.graph",
    "formats/jazz.graph",
    "formats/ldbc-directed-example-unweighted.mtx",
    "formats/matrix_int8.mtx",
    "formats/sample2.mtx",
    "formats/skew_fp32.mtx",
    "formats/west0067_jumbled.mtx",
)
LARGE = (
    "social/soc-Slashdot0902.txt.gz",
    "web/web-NotreDame.txt.gz",
    "temporal/sx-askubuntu-a2q.txt.gz",
    "road/bremen_dist.gr",
    "road/NY.gr.xz",
    "road/BAY.gr.xz",
)


def pairs(path):
    """The edges as NumPy and SciPy read the file, by its ids; both ways where it holds undirected edges once."""
    if path.suffix == ".mtx":
        try:
            matrix = scipy.io.mmread(path, spmatrix=False).tocoo()
            return np.column_stack([matrix.row, matrix.col]) + 1
        except ValueError:  # SciPy refuses comments between the entries
            return np.loadtxt(path, comments="%", skiprows=1, usecols=(0, 1), dtype=np.int64)[1:]
    if path.suffix == ".graph":
        lines = [line for line in path.read_text().splitlines() if not line.startswith("%")][1:]
        return np.array([(u, int(v)) for u, line in enumerate(lines, 1) for v in line.split()])
    if path.name == "bremen_dist.gr":
        return np.loadtxt(path, usecols=(1, 2), dtype=np.int64)
    if "road" in str(path):
        once = np.loadtxt(path, comments="p", dtype=np.int64)
        return np.concatenate([once, once[:, ::-1]])
    return np.loadtxt(path, usecols=(0, 1), dtype=np.int64)


@cache
def expected(path):
    """The graph as read here; of the file as others read it, the ids, a source, and SciPy's answers."""
    edges = pairs(path)
    ids, numbers = np.unique(edges, return_inverse=True)
    if path.suffix == ".mtx":  # a matrix may have empty rows
        ids = np.arange(1, scipy.io.mminfo(path)[0] + 1)
        numbers = edges - 1
    matrix = adjacency(len(ids), *numbers.reshape(-1, 2).T, directed=True)
    source = int(np.argmax(np.diff(matrix.indptr)))
    graph = gd.read_graph(path, format="temporal" if "temporal" in str(path) else None)
    return graph, ids, source, *search(matrix, source), smallest_of_component(matrix)


def check(path, parts, by, ghosts, exchanges, device="cpu"):
    graph, ids, source, depth, parent, label = expected(path)
    np.testing.assert_array_equal(graph.vertex_ids, ids)
    divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
    for exchange, direction in zip(exchanges, ("auto", "pull") if parts % 2 else ("pull", "push"), strict=False):
        found = gd.bfs(divided, ids[source], exchange=exchange, direction=direction)
        np.testing.assert_array_equal(found.depth, depth)
        np.testing.assert_array_equal(found.parent, np.where(parent < 0, -1, ids[parent]))
        components = gd.connected_components(divided, exchange=exchange)
        np.testing.assert_array_equal(components.label, ids[label])
        assert components.num_components == len(np.unique(label))
    found.verify()
    components.verify()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", SMALL)
def test_small_graphs_in_every_way(shared_data, name, parts):
    for by, ghosts in DIVISIONS[PARTS.index(parts) % 2 :: 2]:
        check(shared_data / name, parts, by, ghosts, EXCHANGES)


# each number of parts has its own combination, so that all of them are met
COMBINATIONS = {
    1: ("range", "all", "selective"),
    2: ("random", "1-hop", "broadcast"),
    3: ("random", "all", "selective"),
    4: ("range", "1-hop", "selective"),
    7: ("range", "all", "broadcast"),
}


@pytest.mark.parametrize(
    ("name", "parts"), [(name, PARTS[(place + k) % 5]) for place, name in enumerate(LARGE) for k in (0, 2)]
)
def test_large_graphs(shared_data, name, parts):
    by, ghosts, exchange = COMBINATIONS[parts]
    check(shared_data / name, parts, by, ghosts, [exchange])


@pytest.mark.gpu
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_real_graphs_on_a_gpu(shared_data, name, parts):
    by, ghosts, exchange = COMBINATIONS[parts]
    check(shared_data / name, parts, by, ghosts, [exchange], device="cuda")


LDBC = {
    "example/example-directed": (True, 1, "example/example-directed-BFS", "example/example-directed-WCC"),
    "example/example-undirected": (False, 2, "example/example-undirected-BFS", "example/example-undirected-WCC"),
    "example/example-directed-input": (True, 1, "example/example-directed-BFS", "example/example-directed-WCC"),
    "example/example-undirected-input": (False, 2, "example/example-undirected-BFS", "example/example-undirected-WCC"),
    "bfs/dir-input": (True, 1, "bfs/dir-output", None),
    "bfs/undir-input": (False, 1, "bfs/undir-output", None),
    "wcc/dir-input": (True, None, None, "wcc/dir-output"),
    "wcc/undir-input": (False, None, None, "wcc/undir-output"),
}


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", LDBC)
def test_answers_are_those_of_ldbc(shared_data, name, parts, device):
    folder = shared_data / "ldbc-graphalytics"
    directed, source, depths, labels = LDBC[name]
    graph = gd.read_graph(folder / name, format="adjlist" if "input" in name else None, directed=directed)
    for (by, ghosts), exchange in zip(DIVISIONS, EXCHANGES + EXCHANGES[::-1], strict=True):
        divided = graph.partition(parts, by=by, ghosts=ghosts, device=device)
        if depths is not None:
            ids, depth = read_vertex_values(folder / depths)
            found = gd.bfs(divided, source, exchange=exchange).verify()
            np.testing.assert_array_equal(graph.vertex_ids, np.sort(ids))
            hops = np.where(depth == np.iinfo(np.int64).max, -1, depth)[np.argsort(ids)]
            np.testing.assert_array_equal(found.depth, hops)
        if labels is not None:
            ids, component = read_vertex_values(folder / labels)
            found = gd.connected_components(divided, exchange=exchange).verify()
            np.testing.assert_array_equal(graph.vertex_ids, np.sort(ids))
            np.testing.assert_array_equal(found.label, component[np.argsort(ids)])
