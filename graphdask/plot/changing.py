"""Pictures of PageRank on graphs that change: runtime, affected vertices and error, a line for each method.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for dynamic graphs, 2024,
Figures 3 to 5.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.interface.kinds import choice
from graphdask.partition.given import given_sequence
from graphdask.plot.style import COLOURS, MARKERS, new_figure, picture_output, pictured, saved, tidy

PANELS = (("ms", "PageRank, milliseconds"), ("affected", "affected vertices"), ("error", "L1 error"))
"""Quantities, and how they are labelled."""
LINES = ("-", "--", "-.", ":")
"""Methods may lie on each other."""
DECADE = 10.0
"""From this ratio of its values on, an axis is logarithmic; on a shorter one few numbers are round."""


@pictured
def changing_ranks(
    records: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str] | None = None,
    *,
    x: str = "batch",
    xlabel: str = "batch",
    title: str = "",
    xscale: str = "linear",
    overwrite: bool = False,
) -> Any:
    """Draw runtime, affected vertices and error beside each other, logarithmic where values are far from each other.

    Parameters
    ----------
    records : sequence of mappings
        With `method`, `ms`, `affected`, `x`, and where it is known `error`. Where a method has several records of the
        same x, their mean is drawn.
    x : str
        What the horizontal axis shows.
    xlabel, title : str
    xscale : {"linear", "log"}

    Examples
    --------
    >>> found = [{"method": "nd", "batch": k, "ms": 2.0, "affected": 9, "error": 1e-7} for k in range(3)]
    >>> len(changing_ranks(found).axes)
    3
    """
    choice("xscale", xscale, ("linear", "log"))
    records = _checked_records(records, x)
    out = picture_output(path, overwrite)
    panels = [panel for panel in PANELS if any(record.get(panel[0]) is not None for record in records)]
    figure = new_figure(4.6 * max(len(panels), 1), 4.0)
    methods = list(dict.fromkeys(record["method"] for record in records))
    for place, (name, label) in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), place)
        for number, method in enumerate(methods):
            at, values = _means([r for r in records if r["method"] == method], x, name)
            marker = MARKERS[number % len(MARKERS)] if len(at) <= 20 else ""
            axes.plot(
                at, values, marker + LINES[number % len(LINES)], color=COLOURS[number % len(COLOURS)], label=method,
                linewidth=1.3, markersize=4.5, markerfacecolor="white",
            )  # fmt: skip
        drawn = [value for line in axes.get_lines() for value in np.asarray(line.get_ydata()) if value > 0]
        axes.set(xlabel=xlabel, ylabel=label, xscale=xscale)
        if drawn and max(drawn) >= DECADE * min(drawn):
            axes.set_yscale("log")
        elif min(drawn, default=0.0) >= 1.0:
            axes.yaxis.set_major_formatter("{x:,.10g}")
        if xscale == "linear" and all(isinstance(value, int) for value in at):
            axes.xaxis.get_major_locator().set_params(integer=True)
        tidy(axes)
    if figure.axes:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize="small")
    if title:
        figure.suptitle(title, fontsize="medium")
    return saved(figure, out)


def _checked_records(given: Any, x: str) -> list[Mapping[str, Any]]:
    """Return the records, once each says its method, and numbers of the rest."""
    each: list[Mapping[str, Any]] = given_sequence("records", given, "not a sequence of mappings")
    for place, record in enumerate(each):
        if not isinstance(record, Mapping) or "method" not in record:
            raise InputError(f"records[{place}]={shown(record)} is not a mapping with a method")
        if x not in record:
            raise InputError(f"records[{place}] has no {shown(x)}, which x= names")
        for name in (x, *(name for name, _ in PANELS)):
            value = record.get(name)
            if not isinstance(value, numbers.Real) and (name == x or value is not None):
                raise InputError(
                    f"records[{place}][{name!r}]={shown(value)}, which is drawn against x=, is not a number"
                )
    return each


def _means(records: Sequence[Mapping[str, Any]], x: str, name: str) -> tuple[list[float], list[float]]:
    """The mean of a quantity for each x; what is 0 has no place on a logarithmic axis."""
    at = sorted({record[x] for record in records if record.get(name) is not None})
    means = [float(np.mean([r[name] for r in records if r[x] == place and r.get(name) is not None])) for place in at]
    return at, [mean if mean > 0 else float("nan") for mean in means]
