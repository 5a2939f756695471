"""Picture of degree distributions, of one graph or of several over each other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.graph.degrees import degree_counts
from graphdask.graph.graph import Graph
from graphdask.graph.power_law import counted, fit_power_law
from graphdask.plot.series import mapping, points
from graphdask.plot.style import COLOURS, MARKERS, new_figure, picture_output, pictured, saved, tidy

BINS_PER_DECADE = 8


@pictured
def degree_distribution(
    degrees: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "Degree distribution",
    tails: bool = True,
    laws: Mapping[str, tuple[Any, Any]] | None = None,
    overwrite: bool = False,
) -> Any:
    """Draw how many vertices have each degree, on logarithmic axes.

    Parameters
    ----------
    degrees : Graph, array-like of int, shape (n,), or dict
        A graph, whose degrees are counted; the degree of each vertex; or the numbers of vertices by degree as a pair
        `(degree, count)`. A dictionary has one of these for each label.
    title : str
    tails : bool
        Draw the power law of each tail.
    laws : dict, optional
        Curves to draw besides, for each label a pair `(degree, share)`: what theory expects.

    Returns
    -------
    matplotlib.figure.Figure
        Points: the fraction of vertices of each degree. Line: the mean over logarithmic bins, which shows the tail
        where single points scatter. Dashed: the power law of that tail, see `graphdask.graph.power_law.fit_power_law`.

    References
    ----------
    Alam, Perumalla, Sanders: Novel parallel algorithms for fast multi-GPU-based generation of massive scale-free
    networks, Data Science and Engineering 4 (2019), Figures 3 and 7.

    Examples
    --------
    >>> figure = degree_distribution([1, 1, 1, 2, 2, 3])
    """
    series = mapping("degrees", degrees, "") if isinstance(degrees, Mapping) else {"": degrees}
    found = {
        label: counted(degree_counts(given) if isinstance(given, Graph) else given) for label, given in series.items()
    }
    lines = mapping("laws", {} if laws is None else laws, "not a mapping of labels to pairs (degree, share)")
    expected = {label: points(f"laws[{label!r}]", pair) for label, pair in lines.items()}
    out = picture_output(path, overwrite)
    figure = new_figure(6.4, 4.8)
    axes = figure.add_subplot()
    least = 1.0
    for number, (label, (degree, count)) in enumerate(found.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        if not len(degree):
            continue
        share = count / count.sum()
        least = min(least, float(share.min()))
        axes.plot(degree, share, marker, color=colour, markersize=3, alpha=0.3, markeredgewidth=0, rasterized=True)
        centre, density = log_bins(degree, count)
        least = min(least, float(density.min()))
        centre, density = _with_gaps(centre, density)
        axes.plot(
            centre, density, marker + "-", color=colour, linewidth=1.4, markersize=4.5, markerfacecolor="white",
            label=label or "mean over logarithmic bins",
        )  # fmt: skip
        tail = fit_power_law((degree, count)) if tails else None
        if tail is not None:
            above = degree >= tail.first
            end = np.array([tail.first, degree[-1]], np.float64)
            scale = share[above].sum() * (tail.exponent - 1) * (tail.first - 0.5) ** (tail.exponent - 1)
            axes.plot(
                end, scale * end**-tail.exponent, "--", color="black" if len(series) == 1 else colour, linewidth=1,
                label=f"{label and f'{label}: '}power law, exponent {tail.exponent:.2f} from degree {tail.first}",
            )  # fmt: skip
    for label, (at, value) in expected.items():
        seen = value > least / 3
        axes.plot(at[seen], value[seen], "-", color="black", linewidth=0.9, label=label)
    axes.set(xscale="log", yscale="log", xlabel="degree", ylabel="fraction of vertices", title=title)
    axes.set_ylim(bottom=least / 3)
    tidy(axes)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small")
    return saved(figure, out)


def log_bins(degree: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean fraction of vertices for each degree in logarithmic bins.

    Parameters
    ----------
    degree, count : arrays of shape (k,)
        Distinct positive degrees, ascending, and how many vertices have each.

    Returns
    -------
    centre, density : arrays
        Of the bins that hold a vertex: geometric middle, and fraction of vertices divided by the bin's width.
    """
    top = int(degree[-1])
    number = max(1, int(np.ceil(np.log10(top + 1) * BINS_PER_DECADE)))
    edges = np.unique(np.ceil(np.logspace(0, np.log10(top + 1), number + 1)).astype(np.int64))
    edges[-1] = top + 1
    which = np.searchsorted(edges, degree, side="right") - 1
    held = np.bincount(which, weights=count, minlength=len(edges) - 1)
    width = np.diff(edges)
    centre = np.sqrt(edges[:-1].astype(np.float64) * (edges[1:] - 1))
    full = held > 0
    return centre[full], (held / width / count.sum())[full]


def _with_gaps(centre: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with a break of the line wherever there is no vertex over a factor of ten or more."""
    wide = np.flatnonzero(centre[1:] > 10 * centre[:-1]) + 1
    return np.insert(centre, wide, np.nan), np.insert(density, wide, np.nan)
