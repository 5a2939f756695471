"""Picture of a run: where the time of its supersteps went, and the size of the frontier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphdask.plot.style import COLOURS, new_figure, saved, tidy


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
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(7.2, 4.8)
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
        tidy(axes, "y")
    return saved(figure, path)
