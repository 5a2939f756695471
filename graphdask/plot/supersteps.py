"""Picture of a run: where the time of its supersteps went, how much they did, and what they sent.

Times are those of the mean rank, so that the parts of a superstep add up to its length.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.plot.style import COLOURS, new_figure, picture_output, pictured, saved, tidy
from graphdask.results.stats import Stats

PARTS = (
    ("compute", "W, computation", COLOURS[0]),
    ("code", "C, coding", COLOURS[2]),
    ("exchange", "H, exchange", COLOURS[1]),
    ("wait", "wait for", "#b9b9b9"),
)
"""What the time of a superstep is made of: its name in the statistics, what it is called, its colour."""
FRONTIER, EDGES, MESSAGES, BYTES = COLOURS[3], COLOURS[0], COLOURS[1], COLOURS[5]
FEW = 60
"""Supersteps up to which each has a bar of its own."""
MOST_BARS = 400
"""Bars at most; of more supersteps, neighbours share one: their mean."""
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


@pictured
def superstep_profile(stats: Any, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> Any:
    """Draw where the time of a run went, superstep by superstep, how much it did, and what it sent.

    Parameters
    ----------
    stats : Stats
        `result.stats`.

    Returns
    -------
    matplotlib.figure.Figure
        From the top: the time of each superstep, stacked; the shares of it, which show short supersteps too; frontier
        and edges scanned; vertices and bytes sent, if there are several ranks. If there are several hundred supersteps,
        neighbours share a bar that shows their mean.

    References
    ----------
    Pan et al., Multi-GPU Graph Analytics, Section V.
    """
    if not isinstance(stats, Stats):
        raise InputError(f"stats={shown(stats)} is not the Stats of a run, as result.stats is")
    out = picture_output(path, overwrite)
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    steps, terms = list(stats), stats.bsp
    several = stats.ranks > 1
    rows = 4 if several else 3
    figure = new_figure(8.4, 2.4 + 1.75 * rows)
    panels = figure.subplots(rows, 1, sharex=True, height_ratios=(3, 1.5, 2.2, 2.2)[:rows])
    width = max(1, -(-len(steps) // MOST_BARS))
    where = np.arange(0, len(steps), width) + (np.minimum(width, len(steps) - np.arange(0, len(steps), width)) - 1) / 2
    seconds = {name: _means([getattr(share, name) for share in stats.shares], width) for name, _, _ in PARTS}
    factor, unit = next(((f, u) for f, u in UNITS if terms.seconds >= f * max(len(steps), 1)), UNITS[-1])
    total = np.sum([*seconds.values()], axis=0)
    waits = several or bool(seconds["wait"].any())
    stacks = [(name, f"{label} {stats.waits_for}" if name == "wait" else label, colour)
             for name, label, colour in PARTS if waits or name != "wait"]  # fmt: skip
    _stacked(panels[0], where, {name: values / factor for name, values in seconds.items()}, width, len(steps), stacks)
    latency = terms.latency_seconds / factor
    panels[0].axhline(latency, color="black", linestyle=":", linewidth=1,
                      label=f"l = {_time(terms.latency_seconds)}")  # fmt: skip
    each = f", mean of {width}" if width > 1 else ""
    panels[0].set(ylabel=f"{unit} a superstep{each}", ylim=(0, None))
    _cut(panels[0], where, total / factor, unit)
    share = {name: np.divide(values, total, out=np.zeros_like(total), where=total > 0)
             for name, values in seconds.items()}  # fmt: skip
    _stacked(panels[1], where, share, width, len(steps), stacks)
    panels[1].set(ylabel="share of time", ylim=(0, 1))
    panels[1].yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    counts = (("frontier", "frontier, vertices", FRONTIER), ("edges", "W, edges visited", EDGES))
    _counted(panels[2], where, steps, counts, width)
    if several:
        sent = (("messages", "H, vertices sent", MESSAGES), ("bytes_sent", "H, bytes sent", BYTES))
        _counted(panels[3], where, steps, sent, width)
    for axes in panels:
        tidy(axes, "y")
        if axes is not panels[1]:
            axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    panels[-1].set(xlabel="superstep", xlim=(-0.6, max(len(steps), 1) - 0.4))
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ranks = f"{stats.ranks} rank{'s' if several else ''} over {stats.transport}"
    number = f"{len(steps):,} superstep{'' if len(steps) == 1 else 's'}"
    panels[0].set_title(
        f"{stats.algorithm}, {ranks}: {number} in {_time(terms.seconds)}, bound by {terms.bottleneck}",
        loc="left", fontsize="medium",
    )  # fmt: skip
    return saved(figure, out)


def _means(values: Any, width: int) -> np.ndarray:
    """Means of `width` neighbours each; the last group may be smaller."""
    array = np.asarray(values, np.float64)
    if width == 1 or not len(array):
        return array
    starts = np.arange(0, len(array), width)
    return np.add.reduceat(array, starts) / np.diff(np.append(starts, len(array)))


def _stacked(
    axes: Any, where: np.ndarray, parts: dict[str, np.ndarray], width: int, supersteps: int, stacks: Sequence[Any]
) -> None:
    """Bars on top of each other; without gaps where there are many."""
    bottom = np.zeros(len(where))
    for name, label, colour in stacks:
        axes.bar(where, parts[name], (0.8 if supersteps <= FEW else 1.0) * width, bottom=bottom, color=colour,
                 label=label, linewidth=0)  # fmt: skip
        bottom = bottom + parts[name]


def _cut(axes: Any, where: np.ndarray, heights: np.ndarray, unit: str) -> None:
    """Cut bars that are few and far higher than all others, which would be flat beside them; mark them, say how high.

    Often they are what a busy machine does to a process, not what the algorithm does.
    """
    if len(heights) <= FEW:
        return
    usual = 1.15 * float(np.quantile(heights, 0.98))
    high = heights > 3 * usual
    if not usual or not high.any():
        return
    axes.set_ylim(0, usual * 1.2)
    axes.plot(where[high], np.full(int(high.sum()), usual * 1.17), "^", color="black", markersize=4, linestyle="",
              label=f"cut, up to {heights.max():.3g} {unit}")  # fmt: skip


def _counted(axes: Any, where: np.ndarray, steps: list[Any], lines: Any, width: int) -> None:
    """Numbers of each superstep as lines; logarithmic, with 0, where they differ by much."""
    largest, smallest = 1.0, np.inf
    for name, label, colour in lines:
        values = _means([step[name] for step in steps], width)
        marker = "o" if len(steps) <= FEW else ""
        axes.plot(where, values, marker=marker, markersize=3.5, linewidth=1.2, color=colour, label=label)
        positive = values[values > 0]
        if len(positive):
            largest, smallest = max(largest, positive.max()), min(smallest, positive.min())
    if largest > 20 * smallest:
        axes.set_yscale("symlog", linthresh=max(1.0, 10 ** np.floor(np.log10(smallest))))
    axes.set_ylim(0, None)
    axes.set_ylabel("a superstep")


def _time(seconds: float) -> str:
    """Three digits and a unit."""
    factor, unit = next(((f, u) for f, u in UNITS if seconds >= f), UNITS[-1])
    return f"{seconds / factor:.3g} {unit}"
