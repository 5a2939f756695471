"""Pictures: the numbers in them are right, and a notebook's backend and figures are left alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError, Unsupported
from graphdask.plot import bars, changing_ranks, curves, degree_distribution, draw
from graphdask.plot.degrees import log_bins
from graphdask.plot.layout import force_layout

PNG = b"\x89PNG\r\n\x1a\n"


def counted(degrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(degrees, return_counts=True)


def test_logarithmic_bins_hold_every_vertex_once(rng):
    degree, count = counted(rng.zipf(2.0, 10_000))
    top = degree[-1]
    centre, density = log_bins(degree, count)
    assert (np.diff(centre) > 0).all()
    assert centre[0] >= 1
    assert centre[-1] <= top
    # Of degrees in bins of width one the density is the fraction itself.
    assert density[0] == pytest.approx(count[0] / 10_000)


def test_pictures_are_saved_and_returned(tmp_path):
    path = tmp_path / "degrees.png"
    figure = degree_distribution({"one": [1, 1, 2, 3, 100], "other": (np.array([1, 2]), np.array([5, 1]))}, path)
    assert path.read_bytes().startswith(PNG)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"one", "other"}


@pytest.mark.parametrize(("least", "scale"), [(1_240_000, "linear"), (12, "log")])
def test_axes_of_changing_ranks_have_whole_batches_and_round_numbers(least, scale):
    found = [
        {"method": method, "batch": k, "ms": 1e-3, "affected": affected}
        for k in range(2)
        for method, affected in (("nd", 1_260_000), ("dfp", least))
    ]
    figure = changing_ranks(found)
    figure.canvas.draw()
    axes = figure.axes[1]
    assert axes.get_yscale() == scale
    assert {"0", "1"} == {text.get_text() for text in axes.get_xticklabels() if 0 <= text.get_position()[0] <= 1}
    if scale == "linear":
        assert "1,250,000" in {text.get_text() for text in axes.get_yticklabels()}


@pytest.mark.parametrize("degrees", [[], [0, 0], [3]])
def test_the_smallest_distributions_are_drawn_too(degrees, tmp_path):
    degree_distribution(degrees, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


def test_drawing_touches_neither_pyplot_nor_the_backend():
    code = (
        "import sys, graphdask.plot as plot; plot.degree_distribution([1, 2, 3]); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_laws_are_drawn_beside_what_was_counted():
    figure = degree_distribution({"one": [1, 1, 2, 3]}, laws={"theory": ([1, 2, 3], [0.5, 0.25, 1e-9])}, tails=False)
    (line,) = (line for line in figure.axes[0].lines if line.get_label() == "theory")
    assert line.get_xdata().tolist() == [1, 2]  # what is far below the least share would squeeze the picture


def test_no_line_joins_degrees_that_are_far_apart():
    figure = degree_distribution(([4, 5, 4000], [100, 50, 1]), tails=False)
    (line,) = (line for line in figure.axes[0].lines if line.get_linestyle() == "-")
    assert np.isnan(line.get_xdata()).tolist() == [False, False, True, False]


def test_curves_are_drawn_in_the_order_of_x():
    figure = curves(
        {"a": ([2, 1], [20, 10]), "b": ([1], [5])}, xlabel="x", ylabel="y", guide=("perfect", [1, 2], [1, 2])
    )
    first, second, guide = figure.axes[0].lines
    assert first.get_xdata().tolist() == [1, 2]
    assert first.get_ydata().tolist() == [10, 20]
    assert (second.get_label(), guide.get_label()) == ("b", "perfect")


def test_zero_has_a_place_on_a_symlog_axis():
    figure = curves({"a": ([0, 0.001, 1], [1, 2, 3])}, xlabel="p", ylabel="s", xscale="symlog")
    assert figure.axes[0].get_xlim()[0] <= 0


def test_bars_have_their_values_beside_them():
    figure = bars({"ours": 1234.5, "theirs": 2.25}, xlabel="rate")
    assert [text.get_text() for text in figure.axes[0].texts] == ["1,234", "2.25"]
    assert bars({}, xlabel="rate").axes


def edges_of(figure):
    return len(figure.axes[0].collections[0].get_segments())


def test_a_drawing_has_every_edge_once_and_every_vertex(tmp_path):
    G = gd.from_edges([0, 1, 1, 2, 3, 3], [1, 0, 0, 1, 3, 1], num_vertices=6)
    figure = draw(G, tmp_path / "a.png", title="six", iterations=20)
    assert edges_of(figure) == 3
    assert len(figure.axes[0].collections[1].get_offsets()) == 6
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(("n", "src", "dst"), [(0, [], []), (1, [], []), (1, [0], [0]), (3, [], []), (2, [0], [1])])
def test_the_smallest_graphs_are_drawn_too(n, src, dst):
    G = gd.from_edges(np.array(src, int), np.array(dst, int), num_vertices=n)
    assert draw(G, iterations=5).axes


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(Unsupported, match="sample the graph down to 50,000"):
        draw(gd.generate.preferential_attachment(60_000, 1))
    G = gd.from_edges([0], [1])
    with pytest.raises(
        InputError, match=r"layout has the shape \(3, 2\) and .*; 2 vertices need numbers of shape \(2, 2\)"
    ):
        draw(G, layout=np.zeros((3, 2)))
    with pytest.raises(InputError, match="iterations=-1"):
        draw(G, iterations=-1)
    with pytest.raises(InputError, match="not a Graph"):
        draw([(0, 1)])


@pytest.mark.slow
def test_a_layout_keeps_neighbours_together_and_is_the_same_again():
    src = np.arange(1, 400)
    dst = (src - 1) // 3
    place = force_layout(400, src, dst)
    assert np.isfinite(place).all()
    assert np.array_equal(place, force_layout(400, src, dst))
    along = np.linalg.norm(place[src] - place[dst], axis=1).mean()
    order = np.random.default_rng(0).permutation(400)
    assert along < np.linalg.norm(place - place[order], axis=1).mean() / 3


def test_the_grid_gives_the_repulsion_of_all_pairs():
    from graphdask.plot.layout import repulsion, unit_charge

    rng = np.random.default_rng(1)
    place, mass = rng.random((200, 2)), rng.integers(1, 5, 200).astype(float)
    difference = place[:, None] - place[None]
    square = (difference**2).sum(axis=2) + 1e-12
    exact = (mass[None, :, None] * difference / square[..., None]).sum(axis=1)
    found = repulsion(place, mass, unit_charge())
    assert np.median(np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)) < 0.05
