"""Pictures of measurements: a quantity against a parameter with a line for each series, or a bar for each name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.interface.kinds import choice
from graphdask.partition.given import given_sequence
from graphdask.plot.series import mapping, numbers, points
from graphdask.plot.style import COLOURS, MARKERS, new_figure, picture_output, pictured, saved, tidy


@pictured
def curves(
    series: Mapping[str, tuple[Any, Any]],
    path: str | os.PathLike[str] | None = None,
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    xscale: str = "log",
    yscale: str = "log",
    ticks: Any = None,
    guide: tuple[str, Any, Any] | None = None,
    overwrite: bool = False,
) -> Any:
    """Draw curves over each other.

    Parameters
    ----------
    series : dict
        For each label a pair `(x, y)`.
    xlabel, ylabel, title : str
    xscale, yscale : {"linear", "log", "symlog"}
        `symlog` shows 0 too: linear below the smallest positive value, logarithmic above.
    ticks : sequence of numbers, optional
        Where the x axis is labelled.
    guide : (label, x, y), optional
        A dashed line to compare with, such as the perfect speedup.

    Examples
    --------
    >>> figure = curves({"d = 4": ([1, 2, 4], [1.0, 1.9, 3.9])}, xlabel="GPUs", ylabel="speedup")
    """
    drawn = {
        label: points(f"series[{label!r}]", pair)
        for label, pair in mapping("series", series, "not a mapping of labels to pairs (x, y)").items()
    }
    for name, scale in (("xscale", xscale), ("yscale", yscale)):
        choice(name, scale, ("linear", "log", "symlog"))
    at = None if ticks is None else numbers("ticks", ticks)
    line = None if guide is None else _guide(guide)
    out = picture_output(path, overwrite)
    figure = new_figure(6.0, 4.4)
    axes = figure.add_subplot()
    for number, (label, (x, y)) in enumerate(drawn.items()):
        order = np.argsort(x, kind="stable")
        axes.plot(
            x[order], y[order], MARKERS[number % len(MARKERS)] + "-", label=label,
            color=COLOURS[number % len(COLOURS)], linewidth=1.4, markersize=4.5, markerfacecolor="white",
        )  # fmt: skip
    if line is not None:
        axes.plot(line[1], line[2], "--", color="0.45", linewidth=1, label=line[0], zorder=0)
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    _scaled(axes, "x", xscale, [x for x, _ in drawn.values()])
    _scaled(axes, "y", yscale, [y for _, y in drawn.values()])
    if at is not None:
        axes.set_xticks(at, [f"{tick:g}" for tick in at])
        axes.minorticks_off()
    tidy(axes)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small")
    return saved(figure, out)


def _guide(given: Any) -> tuple[str, np.ndarray, np.ndarray]:
    each = given_sequence("guide", given, "not (label, x, y)")
    if len(each) != 3 or not isinstance(each[0], str):
        raise InputError(f"guide={shown(given)} is not (label, x, y)")
    return each[0], *points("guide", each[1:])


def _scaled(axes: Any, axis: str, scale: str, values: list[Any]) -> None:
    """Set the scale of an axis; `symlog` becomes linear below the smallest positive value."""
    setting: dict[str, Any] = {}
    if scale == "symlog":
        positive = [value for each in values for value in each if value > 0]
        setting = {"linthresh": min(positive, default=1.0)}
    getattr(axes, f"set_{axis}scale")(scale, **setting)
    if scale == "linear":
        getattr(axes, f"set_{axis}lim")(**{"left" if axis == "x" else "bottom": 0})


@pictured
def bars(
    values: Mapping[str, float],
    path: str | os.PathLike[str] | None = None,
    *,
    xlabel: str,
    title: str = "",
    scale: str = "linear",
    overwrite: bool = False,
) -> Any:
    """Draw a bar for each name, the first on top, with its value.

    Parameters
    ----------
    values : dict
    xlabel, title : str
    scale : {"linear", "log"}

    Examples
    --------
    >>> figure = bars({"ours": 80.0, "theirs": 8.0}, xlabel="million edges per second")
    """
    named = mapping("values", values, "not a mapping of names to numbers")
    lengths = numbers("values", list(named.values())).tolist()
    choice("scale", scale, ("linear", "log"))
    out = picture_output(path, overwrite)
    figure = new_figure(7.0, 1.0 + 0.3 * max(len(named), 1))
    axes = figure.add_subplot()
    drawn = axes.barh(list(named), lengths, height=0.7, color=COLOURS[0])
    axes.bar_label(drawn, labels=[f"{length:,.3g}" if length < 1000 else f"{length:,.0f}" for length in lengths],
                   padding=3, fontsize="small")  # fmt: skip
    axes.invert_yaxis()
    axes.set_xscale(scale)
    axes.margins(x=0.12)
    axes.set(xlabel=xlabel, title=title)
    axes.tick_params(axis="y", length=0)
    tidy(axes, "x")
    return saved(figure, out)
