"""The pictures of a scaling experiment: time, speed-up, efficiency, and the model beyond what was measured.

For each kind and size a picture of each, with a panel for each algorithm and a line for each transport. Points are
medians over the runs, bars reach from the first to the third quartile, of times from the least to the greatest.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.interface.kinds import choice
from graphdask.io.outputs import file_output, pictures_output
from graphdask.partition.given import given_sequence
from graphdask.plot.style import COLOURS, MARKERS, new_figure, saved, tidy
from graphdask.scale.model import ASSUMPTIONS, MEETINGS, Fit, extrapolated, fit, largest, modelled, sizes
from graphdask.scale.plan import ALONE
from graphdask.scale.records import checked_records
from graphdask.scale.speed import base, efficiency, speed_up

Record = dict[str, Any]
DASHES = {"direct": (0, (5, 2)), "tree": (0, (1, 1.4))}
ACROSS = 3
"""Panels beside each other."""
HEAD = 0.6
"""Inches for the heading and the legend."""


def draw(
    records: Sequence[Record],
    folder: str | os.PathLike[str] | None = None,
    *,
    until: int = 1024,
    format: str = "png",
    which: Sequence[str] = ("time", "speed-up", "efficiency", "model"),
    overwrite: bool = False,
) -> dict[str, Any]:
    """Draw the measurements of `graphdask.scale.run`, and the model fitted to them.

    Parameters
    ----------
    records : sequence of dict
    folder : path-like, optional
        Where to save the pictures; it is made where it is not there.
    until : int
        Workers up to which the model is drawn.
    format : {"png", "svg", "pdf"}
    which : sequence of {"time", "speed-up", "efficiency", "model"}
        A picture of each, for each kind and size; those with nothing to show are left out: all but `time` need
        measurements of several numbers of workers.
    overwrite : bool
        Replace pictures that are there. Default: raise OutputExists.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        By the names of the files, without the ending.

    Raises
    ------
    InputError
        Where nothing was measured, or for an unknown name.
    OutputExists
        For a picture that is there, without `overwrite=True`.
    """
    drawings: dict[str, Callable[[list[Record], str, int], Any]] = {
        "time": _times, "speed-up": _speed_ups, "efficiency": _efficiencies, "model": _model,
    }  # fmt: skip
    which = given_sequence("which", which, f"not a sequence of names among {', '.join(drawings)}")
    for name in which:
        choice("which", name, drawings)
    choice("format", format, ("png", "svg", "pdf"))
    if until < 2:
        raise InputError(f"until={until} must be at least 2")
    good = [record for record in checked_records(records) if "failed" not in record]
    if not good:
        raise InputError("records: nothing was measured, so there is nothing to draw")
    made = {}
    for title, group in grouped(good).items():
        several = len({record["workers"] for record in group}) > 1
        for name in which:
            if name == "time" or several:
                made[f"{title.replace(' ', '-')}-{name}"] = drawings[name](group, title, until)
    if folder is not None:
        place = pictures_output(folder, [f"{name}.{format}" for name in made], overwrite)
        for name, figure in made.items():
            saved(figure, file_output(place / f"{name}.{format}", overwrite))
    return made


def grouped(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Measurements of one kind on graphs of one size, by what a picture of them is called."""
    found: dict[str, list[Record]] = {}
    for record in records:
        scale, factor = record["scale"], record["edge_factor"]
        if record["kind"] == "weak-vertex":
            scale -= record["workers"].bit_length() - 1
        if record["kind"] == "weak-edge":
            factor //= record["workers"]
        found.setdefault(f"{record['kind']} {scale}x{factor}", []).append(record)
    return found


def lines(group: Sequence[Record], algorithm: str) -> dict[str, list[Record]]:
    """For each transport its measurements by the number of workers; that of one worker begins each of them."""
    own = [record for record in group if record["algorithm"] == algorithm]
    alone = [record for record in own if record["transport"] == ALONE]
    transports = dict.fromkeys(record["transport"] for record in own if record["transport"] != ALONE) or [ALONE]
    return {
        transport: sorted(
            [*alone, *(r for r in own if r["transport"] == transport and transport != ALONE)],
            key=lambda record: record["workers"],
        )
        for transport in transports
    }


def _panels(group: list[Record], title: str, ylabel: str, note: str) -> tuple[Any, dict[str, Any]]:
    """A figure with axes for each algorithm; `note` stands under them."""
    names = list(dict.fromkeys(record["algorithm"] for record in group))
    columns = 2 if len(names) == 4 else min(ACROSS, len(names))
    rows = -(-len(names) // columns)
    width = max(3.1 * columns, 6.4)
    wrapped = "\n".join(
        textwrap.fill(line, int(width * 17), subsequent_indent="   " if line.startswith(" ") else "")
        for line in note.split("\n")
    )
    below = 0.15 * (wrapped.count("\n") + 1) + 0.12
    height = 2.6 * rows + HEAD + below
    figure = new_figure(width, height)
    figure.get_layout_engine().set(rect=(0, below / height, 1, 1 - (below + HEAD) / height))
    left = 0.1 / width
    figure.text(left, 1 - 0.08 / height, _heading(group, title), fontsize="medium", va="top", ha="left")
    figure.text(left, 0.06 / height, wrapped, fontsize=7.5, color="0.35", va="bottom", ha="left")
    grid = figure.add_gridspec(rows, columns)
    axes = {name: figure.add_subplot(grid[k // columns, k % columns]) for k, name in enumerate(names)}
    for k, (name, each) in enumerate(axes.items()):
        each.set_title(name, fontsize="medium", loc="left", fontweight="bold")
        if k % columns == 0:
            each.set_ylabel(ylabel)
        if k + columns >= len(names):
            each.set_xlabel("workers")
    return figure, axes


def _heading(group: list[Record], title: str) -> str:
    kind, _, size = title.partition(" ")
    scale, _, factor = size.partition("x")
    first = group[0]
    what = {
        "strong": f"strong scaling: R-MAT, 2^{scale} vertices x {factor} edges",
        "weak-edge": f"weak-edge scaling: R-MAT, 2^{scale} vertices x {factor} edges for each worker",
        "weak-vertex": f"weak-vertex scaling: R-MAT, 2^{scale} vertices for each worker x {factor} edges",
    }[kind]
    return f"{what}; {first['devices'][0] if first['device'] == 'cuda' else first['machine']['processor']}"


def _ticks(axes: Any, workers: Sequence[int], straight: bool = False) -> None:
    """Label the numbers of workers, on a logarithmic axis; on a linear one where `straight` and they are few."""
    from matplotlib.ticker import FixedLocator, NullLocator

    most = max(workers)
    if not straight or most > 16:
        axes.set_xscale("log", base=2)
    shown = sorted({size for size in workers if len(workers) <= 6 or size in (1, 4, 16, 64, 256, 1024, 4096, most)})
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(shown, [f"{size:,}" for size in shown])
    if axes.get_xscale() == "log":
        axes.set_xlim(min(workers) * 0.85, most * 1.18)
    tidy(axes)


def _legend(figure: Any, axes: dict[str, Any], more: Sequence[Any] = ()) -> None:
    """One for all panels, under the heading; `more` are entries that no panel has."""
    found: dict[str, Any] = {}
    for each in axes.values():
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    found |= {handle.get_label(): handle for handle in more}
    height = figure.get_figheight()
    figure.legend(
        found.values(), found.keys(), loc="upper left", bbox_to_anchor=(0.0, 1 - 0.24 / height), ncols=len(found),
        frameon=False, fontsize="small", handlelength=2.4, columnspacing=1.4,
    )  # fmt: skip


def _colours(group: list[Record]) -> dict[str, int]:
    names = dict.fromkeys(record["transport"] for record in group if record["transport"] != ALONE)
    return {name: k for k, name in enumerate(names or [ALONE])}


def _points(
    axes: Any, x: list[int], values: list[list[float]], number: int, label: str, span: tuple[float, float] = (25, 75)
) -> None:
    """Medians with bars."""
    middle = np.array([np.median(each) for each in values])
    low, high = (np.array([np.percentile(each, share) for each in values]) for share in span)
    axes.errorbar(
        x, middle, yerr=[middle - low, high - middle], fmt=MARKERS[number] + "-", color=COLOURS[number], label=label,
        linewidth=1.4, markersize=5, markerfacecolor="white", capsize=2.5, elinewidth=1,
    )  # fmt: skip


def _spent(record: Record, name: str = "seconds", factor: float = 1e3) -> list[float]:
    return [run[name] * factor for run in record["runs"]]


def _times(group: list[Record], title: str, until: int) -> Any:
    note = "Median over the runs; bars: the least and the greatest. Thin lines: the whole call, with the client."
    figure, axes = _panels(group, title, "milliseconds", note)
    colours = _colours(group)
    for name, each in axes.items():
        for transport, own in lines(group, name).items():
            x = [record["workers"] for record in own]
            _points(each, x, [_spent(record) for record in own], colours[transport], transport, (0, 100))
            calls = [float(np.median(_spent(record, "call_seconds"))) for record in own]
            each.plot(
                x, calls, "-", color=COLOURS[colours[transport]], linewidth=0.8, alpha=0.6, marker=".", markersize=3
            )
        each.set_yscale("log")
        _plain_log(each)
        _ticks(each, sorted({record["workers"] for record in group}))
    _legend(figure, axes)
    return figure


def _plain_log(axes: Any) -> None:
    """Labels such as 0.5, 1, 2 where the axis is shorter than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    subs = (1.0, 2.0, 5.0) if high < low * 300 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1e4 else f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _speed_ups(group: list[Record], title: str, until: int) -> Any:
    return _gains(group, title, "speed-up", speed_up, lambda workers: [size / workers[0] for size in workers])


def _efficiencies(group: list[Record], title: str, until: int) -> Any:
    return _gains(group, title, "efficiency", efficiency, lambda workers: [1.0] * len(workers))


def _gains(group: list[Record], title: str, what: str, gain: Any, perfect: Any) -> Any:
    kind = "edges of the input in the same time" if title.startswith("weak") else "less time"
    note = (
        f"Speed-up: how many times {'more ' if title.startswith('weak') else ''}{kind} than the fewest workers"
        f"{'; efficiency: speed-up over the growth of the workers' if what == 'efficiency' else ''}. "
        f"Bars: the quartiles of the runs. Grey: perfect."
    )
    figure, axes = _panels(group, title, what, note)
    colours = _colours(group)
    for name, each in axes.items():
        workers = sorted({record["workers"] for record in group if record["algorithm"] == name})
        each.plot(workers, perfect(workers), color="0.75", linewidth=1, zorder=0)
        for transport, own in lines(group, name).items():
            x, values = [], []
            for record in own:
                first = base(record, group)
                same = first is None or first["workers"] == record["workers"]
                found = [1.0 if same else gain(record, group, seconds) for seconds in _spent(record, factor=1.0)]
                x.append(record["workers"])
                values.append([value for value in found if value is not None])
            _points(each, x, values, colours[transport], transport)
        _ticks(each, sorted({record["workers"] for record in group}), straight=True)
    top = max(each.get_ylim()[1] for each in axes.values())
    for each in axes.values():
        each.set_ylim(0, top)
    _legend(figure, axes)
    return figure


def _model(group: list[Record], title: str, until: int) -> Any:
    from matplotlib.lines import Line2D

    models = {(one.algorithm, one.transport, one.meeting): one for meeting in MEETINGS for one in fit(group, meeting)}
    note = (
        "A MODEL, W + H g + S l, fitted to the points; lines beyond them are no measurement. It assumes:\n"
        + "\n".join(f" - {line}" for line in ASSUMPTIONS)
    )
    figure, axes = _panels(group, title, "milliseconds", note)
    colours = _colours(group)
    for name, each in axes.items():
        for transport, own in lines(group, name).items():
            number = colours[transport]
            x = [record["workers"] for record in own]
            _points(each, x, [_spent(record) for record in own], number, transport, (0, 100))
            each.lines[-1].set_linestyle("none")
            for meeting, dashes in DASHES.items():
                model = models.get((name, transport, meeting))
                if model is not None:
                    curve = predicted(model, own, until)
                    times = [1e3 * value for value in curve.values()]
                    each.plot(list(curve), times, linestyle=dashes, linewidth=1.3, color=COLOURS[number], zorder=1)
        each.set_yscale("log")
        _plain_log(each)
        _ticks(each, sorted({*sizes(until), *(record["workers"] for record in group)}))
    grey = [
        Line2D([], [], linestyle=dashes, color="0.4", linewidth=1.3, label=f"model, {way}")
        for dashes, way in zip(DASHES.values(), ("each tells every other", "told along a tree"), strict=True)
    ]
    _legend(figure, axes, grey)
    return figure


def predicted(model: Fit, own: Sequence[Record], until: int) -> dict[int, float]:
    """Seconds by workers: of those that were measured, then of powers of two beyond them."""
    found = {record["workers"]: modelled(model, record) for record in own}
    last = largest(own)
    if last is not None and last["workers"] > 1:
        found |= {size: extrapolated(model, last, size) for size in sizes(until) if size > last["workers"]}
    return found
