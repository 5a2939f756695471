"""Pictures: the degree distribution of a graph, and what the supersteps of a run did.

Figures are made without pyplot, so that neither the backend nor the figures of a notebook are touched; a notebook
shows the figure that is returned.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

BINS_PER_DECADE = 8
COLOURS = ("#1f6fb4", "#d9772b", "#3f9b5b", "#8a5fb0", "#7a7a7a")
MARKERS = ("o", "s", "^", "D", "v")


def degree_distribution(
    degrees: Any, path: str | os.PathLike[str] | None = None, *, title: str = "Degree distribution"
) -> Any:
    """Draw how many vertices have each degree, on logarithmic axes.

    Parameters
    ----------
    degrees : array-like of int, shape (n,), or dict
        The degree of each vertex; or for each label such an array, or the numbers of vertices by degree
        (`numpy.bincount`) as a pair `(degree, count)`.
    path : path-like, optional
        Where to save the picture; the ending says the format.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        Points: the fraction of vertices of each degree. Line: the mean over logarithmic bins, which shows the tail
        where single points scatter. Dashed: the power law of that tail, with its exponent by maximum likelihood.

    References
    ----------
    Alam, Perumalla, Sanders (2019), Figure 3. Clauset, Shalizi, Newman: Power-law distributions in empirical data,
    SIAM Review 51 (2009), equation 3.7.

    Examples
    --------
    >>> figure = degree_distribution([1, 1, 1, 2, 2, 3])
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.8), dpi=130, layout="constrained")
    axes = figure.add_subplot()
    series = degrees if isinstance(degrees, Mapping) else {"": degrees}
    for number, (label, given) in enumerate(series.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        degree, count = _counted(given)
        if not len(degree):
            continue
        share = count / count.sum()
        axes.plot(degree, share, marker, color=colour, markersize=3, alpha=0.35, markeredgewidth=0)
        centre, density = log_bins(degree, count)
        axes.plot(centre, density, "-", color=colour, linewidth=1.6, label=label or "mean over logarithmic bins")
        tail = power_law(degree, count)
        if tail is not None:
            exponent, first = tail
            above = degree >= first
            end = np.array([first, degree[-1]], np.float64)
            scale = share[above].sum() * (exponent - 1) * (first - 0.5) ** (exponent - 1)
            axes.plot(
                end, scale * end**-exponent, "--", color="black", linewidth=1,
                label=f"{label + ': ' if label else ''}power law, exponent {exponent:.2f} from degree {first}",
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="degree", ylabel="fraction of vertices", title=title)
    axes.grid(True, which="major", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    return _saved(figure, path)


def superstep_profile(stats: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Draw where the time of a run went, superstep by superstep, and the size of its frontier.

    Parameters
    ----------
    stats : Stats
        `result.stats`.
    path : path-like, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.2, 4.8), dpi=130, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    steps = list(stats)
    number = np.arange(len(steps))
    above.plot(number, [step["frontier"] for step in steps], "o-", markersize=3, color=COLOURS[0], label="frontier")
    above.plot(number, [step["messages"] for step in steps], "s-", markersize=3, color=COLOURS[1], label="messages")
    above.set(ylabel="vertices", title=f"{stats.algorithm}: {stats.ranks} ranks over {stats.transport}")
    above.set_yscale("symlog", linthresh=1)
    above.legend(frameon=False)
    bottom = np.zeros(len(steps))
    for colour, part in zip(COLOURS, ("compute", "code", "exchange", "wait"), strict=False):
        height = np.array([step[part] * 1e3 for step in steps])
        below.bar(number, height, 0.8, bottom=bottom, color=colour, label=part)
        bottom += height
    below.set(xlabel="superstep", ylabel="milliseconds")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(True, axis="y", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
    return _saved(figure, path)


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


def power_law(degree: np.ndarray, count: np.ndarray) -> tuple[float, int] | None:
    """Exponent of the tail of a degree distribution, by maximum likelihood.

    Parameters
    ----------
    degree, count : arrays of shape (k,)
        Distinct positive degrees, ascending, and how many vertices have each.

    Returns
    -------
    exponent : float
    first : int
        Degree from which the tail is taken: the largest that leaves it a hundredth of the vertices and at least 50,
        with degrees over a factor of ten. None where there is no such tail.

    Notes
    -----
    alpha = 1 + n / sum(log(d / (first - 1/2))), the discrete approximation of Clauset, Shalizi and Newman.
    """
    remaining = np.cumsum(count[::-1])[::-1]
    enough = np.flatnonzero((remaining >= max(50, 0.01 * count.sum())) & (degree * 10 <= degree[-1]))
    if not len(enough):
        return None
    at = int(enough[-1])
    first = int(degree[at])
    logs = np.log(degree[at:] / (first - 0.5))
    return 1.0 + float(count[at:].sum() / (count[at:] * logs).sum()), first


def _counted(given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distinct positive degrees and how many vertices have each."""
    if isinstance(given, tuple):
        degree, count = (np.asarray(x) for x in given)
    else:
        degree, count = np.unique(np.asarray(given), return_counts=True)
    seen = (degree > 0) & (count > 0)
    return degree[seen], count[seen]


def _saved(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    if path is not None:
        figure.savefig(path)
    return figure
