"""Pictures: the numbers in them are right, and a notebook's backend and figures are left alone."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from graphdask.plot import degree_distribution, superstep_profile
from graphdask.plot.degrees import log_bins

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


@pytest.mark.parametrize("degrees", [[], [0, 0], [3]])
def test_the_smallest_distributions_are_drawn_too(degrees, tmp_path):
    degree_distribution(degrees, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


def test_the_profile_of_a_run_has_a_bar_for_each_superstep_and_part(tmp_path):
    import graphdask as gd

    result = gd.bfs(gd.from_edges([0, 1, 2], [1, 2, 3]), 0)
    figure = superstep_profile(result.stats, tmp_path / "profile.png")
    assert len(figure.axes[1].patches) == 4 * len(result.stats)
    assert (tmp_path / "profile.png").read_bytes().startswith(PNG)


def test_drawing_touches_neither_pyplot_nor_the_backend():
    code = (
        "import sys, graphdask.plot as plot; plot.degree_distribution([1, 2, 3]); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
