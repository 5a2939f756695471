"""Trusses: those of NetworkX, for every number of partitions; the proof finds what is wrong."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from common_checks import PARTS
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import VerificationError


def strip():
    """Triangles in a row, whose 4-truss goes from both ends, and a clique at one of them."""
    g = nx.complete_graph(5)
    g.add_edges_from((i, i + step) for i in range(4, 30) for step in (1, 2))
    return g


GRAPHS = {
    "no edges": lambda: nx.empty_graph(3),
    "strip": strip,
    "dense": lambda: nx.gnm_random_graph(50, 400, seed=1),
    "scale-free": lambda: nx.barabasi_albert_graph(120, 6, seed=2),
    "cliques": lambda: nx.connected_caveman_graph(6, 7),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_trusses_are_those_of_networkx_over_partitions(name):
    g = GRAPHS[name]()
    for k in (0, 3, 4, 5, 7):
        known = nx.k_truss(g, k)
        for parts, by in zip(PARTS, ("range", "random", "random", "range", "biased-random"), strict=True):
            s = gd.k_truss(gd.from_networkx(g).partition(parts, by, device="cpu"), k).verify()
            assert s.vertices.tolist() == sorted(known)
            assert sorted(zip(s.src.tolist(), s.dst.tolist(), strict=True)) == sorted(
                map(tuple, map(sorted, known.edges))
            )


def multigraph(parts, device="cpu"):
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 40, (2, 600))
    G = gd.from_edges(src, dst, rng.integers(1, 3, 600), directed=False)
    return G.partition(parts, "random", device=device), src, dst


def test_parallel_edges_stay_together_and_self_loops_go():
    G, src, dst = multigraph(3)
    simple = nx.Graph(zip(src.tolist(), dst.tolist(), strict=True))
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    s, known = gd.k_truss(G, 8, edge_rows=True).verify(), nx.k_truss(simple, 8)
    assert 0 < known.number_of_edges() < simple.number_of_edges()
    assert sorted(s.edge.tolist()) == [row for row in range(600) if known.has_edge(src[row], dst[row])]


@pytest.mark.parametrize("parts", [1, 3])
def test_trusses_on_the_emulator_of_a_gpu_have_the_same_bits(monkeypatch, parts):
    stand_in(monkeypatch, emulated())
    on_cpu, on_gpu = (gd.k_truss(multigraph(parts, device)[0], 8).verify() for device in ("cpu", "cuda"))
    for name in ("src", "dst", "weight"):
        np.testing.assert_array_equal(getattr(on_gpu, name), getattr(on_cpu, name))


@pytest.mark.parametrize("parts", [1, 3])
def test_a_wrong_truss_is_found(parts):
    s = gd.k_truss(multigraph(parts)[0], 8, edge_rows=True).verify()
    columns = max((kept.columns for kept in s.parts.values), key=lambda columns: len(columns["src"]))
    kept = dict(columns)
    removed = kept["removed"]
    places = {name: [len(values) // 2] for name, values in kept.items()}
    places["removed"] = [int(np.flatnonzero(removed == 0)[0]), int(np.flatnonzero(removed)[0])]
    for name, by in ((name, by) for name in kept for by in (1, -1, 1000)):
        for place in places[name]:
            columns[name] = kept[name].copy()
            columns[name][place] += by
            with pytest.raises(VerificationError, match="k-truss"):
                s.verify()
            columns[name] = kept[name]
    for change in (slice(None, -1), np.append(np.arange(len(kept["src"])), 0)):
        columns.update({name: values[change] for name, values in kept.items() if name != "removed"})
        with pytest.raises(VerificationError, match="k-truss"):
            s.verify()
