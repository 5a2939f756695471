"""What a notebook draws of a small graph: every vertex and edge, alike each time, readable on any background."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import graphdask as gd
from graphdask.display.drawing import MOST_EDGES, SIZE, drawing, stress_layout

SVG = "{http://www.w3.org/2000/svg}"


def picture(G: gd.Graph) -> ET.Element | None:
    found = re.search(r"<svg.*</svg>", G._repr_html_(), re.DOTALL)
    return None if found is None else ET.fromstring(found[0])


def dots(svg: ET.Element) -> dict[str, tuple[float, float]]:
    """Where each vertex is, by what is shown of it where the pointer is."""
    each = [(c.find(f"{SVG}title"), c) for c in svg.iter(f"{SVG}circle")]
    return {title.text: (float(c.get("cx")), float(c.get("cy"))) for title, c in each if title is not None}


def ends(svg: ET.Element) -> set[tuple[str, str]]:
    text = next(path.get("d") for path in svg.iter(f"{SVG}path") if "Z" not in path.get("d") and path.get("d"))
    return {tuple(line.split("L")) for line in text.split("M")[1:]}


@pytest.mark.parametrize("parts", [1, 3])
def test_every_vertex_and_edge_is_drawn_where_they_meet(parts):
    g = nx.karate_club_graph()
    svg = picture(gd.from_networkx(g).partition(parts))
    where = dots(svg)
    assert set(where) == {f"{v}, degree {k}" for v, k in g.degree}
    place = {title.split(",")[0]: "{:.1f},{:.1f}".format(*at) for title, at in where.items()}
    assert ends(svg) == {(place[str(u)], place[str(v)]) for u, v in g.edges}
    assert all(0 < x < SIZE and 0 < y < SIZE for x, y in where.values())
    assert len(set(where.values())) == len(g)


def test_the_same_graph_is_drawn_alike_and_nothing_is_built():
    G = gd.from_networkx(nx.gnm_random_graph(60, 90, seed=1))
    assert G._repr_html_() == G._repr_html_() == gd.from_networkx(nx.gnm_random_graph(60, 90, seed=1))._repr_html_()
    assert G.built is None


@pytest.mark.parametrize("g", [nx.path_graph(40), nx.balanced_tree(2, 4), nx.grid_2d_graph(8, 8), nx.cycle_graph(20)])
def test_distances_in_the_picture_follow_the_hops(g):
    g = nx.convert_node_labels_to_integers(g)
    place = stress_layout(len(g), *np.array(g.edges).T)
    hops = np.array(nx.floyd_warshall_numpy(g))
    assert np.corrcoef(pdist(place), squareform(hops))[0, 1] > 0.88
    assert pdist(place).min() > 0.3


def test_names_are_escaped_and_directions_have_arrowheads():
    G = gd.from_edges(["<b>", "x", "x"], ["x", "x", "a name that is too long for it"])
    svg = picture(G)
    assert {text.text for text in svg.iter(f"{SVG}text")} == {"<b>", "x", "a name that…"}
    assert [path.get("d").count("Z") for path in svg.iter(f"{SVG}path")] == [0, 2]
    assert "a name that is too long for it, degree 1" in dots(svg)
    undirected = picture(G.to_undirected())
    assert [path.get("d").count("Z") for path in undirected.iter(f"{SVG}path")] == [0, 0]


def test_colours_are_those_of_the_page_and_one_blue():
    text = gd.from_networkx(nx.karate_club_graph())._repr_html_()
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', text)) == {"none", "currentColor", "#3b82c4"}
    assert "http://www.w3.org/2000/svg" in text
    assert not re.search(r"(src|href)=", text)


def test_large_graphs_and_those_of_tasks_are_not_drawn():
    assert picture(gd.from_edges(np.arange(198), np.arange(1, 199))) is not None
    assert picture(gd.from_edges(np.arange(199), np.arange(1, 200))) is None
    assert picture(gd.from_edges([], [])) is None
    dense = gd.from_edges(*np.triu_indices(60, 1))
    assert dense.num_edges > MOST_EDGES
    assert picture(dense) is None
    frame = gd.from_edges([0, 1], [1, 2]).to_dask_dataframe(1)
    assert picture(gd.from_dask_dataframe(frame, "src", "dst")) is None


def test_parallel_edges_and_changed_graphs_are_drawn_as_they_are():
    D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2], directed=False))
    D.update(insert=([2], [3]), delete=([0], [1]))
    assert set(dots(picture(D))) == {"0, degree 0", "1, degree 1", "2, degree 2", "3, degree 1"}
    assert "1 parallel edges are drawn once" in gd.from_edges([0, 1], [1, 0], directed=False)._repr_html_()
    assert "parallel" not in gd.from_edges([0, 1], [1, 0])._repr_html_()


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (2, 1), (2, 0), (5, 0), (30, 435), (199, 0)])
def test_small_and_odd_graphs_have_a_picture(n, m):
    src, dst = (np.zeros(1, int), np.zeros(1, int)) if n == 1 and m else np.array(np.triu_indices(n, 1))[:, :m]
    text = drawing([str(v) for v in range(n)], src, dst, True)
    assert "nan" not in text
    assert "inf" not in text
    assert text.count("<title>") == n


def test_in_a_terminal_a_graph_is_one_line():
    for G in (gd.from_edges(["a\n"], ["b"]), gd.generate.rmat(3), gd.DynamicGraph(gd.from_edges([0], [1]))):
        assert "\n" not in repr(G)
