"""The figures of `graphdask bench generate --plot DIR`: the paper's Figures 10 to 16 from the records of a run.

Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
scale-free networks", Data Science and Engineering 4 (2019), Sections 5.6 and 5.7.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from graphdask.plot import bars, curves

Record = dict[str, Any]

FIGURES = (
    # experiment, on the x axis, one line for each, axis labels, scale of x
    ("vertices", "n", "p", "vertices n", "log"),
    ("vertices-degree", "n", "degree", "vertices n", "log"),
    ("degree", "degree", "p", "edges per vertex d", "log"),
    ("probability", "p", "degree", "probability of a direct edge p", "symlog"),
    ("threads", "threads", "degree", "threads", "log"),
)
PICTURES = ("scaling.png", "rate.png", "peers.png", *(f"{name}-*.png" for name, *_ in FIGURES))
"""How their names look."""
NAMES = {"p": "p = {}", "degree": "d = {}"}


def draw(records: list[Record], folder: Path, overwrite: bool = False) -> list[Path]:
    """Draw a figure for every experiment and generator among the records; return the files, PNG."""
    measured = [record for record in records if "seconds" in record]
    drawn = []
    for experiment, x, line, label, scale in FIGURES:
        of_it = [record for record in measured if record["experiment"] == experiment]
        for generator in dict.fromkeys(record["generator"] for record in of_it):
            path = folder / f"{experiment}-{generator.lower()}.png"
            series = _series([r for r in of_it if r["generator"] == generator], x, line)
            ticks = sorted({r["degree"] for r in of_it}) if x == "degree" else None
            curves(
                series, path, xlabel=label, ylabel="runtime in seconds", title=_title(generator, of_it), xscale=scale,
                ticks=ticks, overwrite=overwrite,
            )  # fmt: skip
            drawn.append(path)
    scaling = [record for record in measured if record["experiment"] == "scaling" and "speedup" in record]
    if scaling:
        drawn.append(_scaling(scaling, folder / "scaling.png", overwrite))
    rates = {_rate_label(r): r["edges_per_second"] / 1e6 for r in measured if r["experiment"] == "rate"}
    if rates:
        title = _title("", measured)
        bars(rates, folder / "rate.png", xlabel="million edges per second", title=title, overwrite=overwrite)
        drawn.append(folder / "rate.png")
    peers = {r["generator"]: r["edges_per_second"] / 1e6 for r in measured if r["experiment"] == "peers"}
    if peers:
        label = "million edges per second"
        bars(peers, folder / "peers.png", xlabel=label, title="On the CPU", scale="log", overwrite=overwrite)
        drawn.append(folder / "peers.png")
    return drawn


def _series(records: list[Record], x: str, line: str) -> dict[str, tuple[list[float], list[float]]]:
    series: dict[str, tuple[list[float], list[float]]] = {}
    for record in records:
        label = NAMES[line].format(f"{record[line]:g}")
        if line == "degree" and x != "n":
            label = f"n = {_short(record['n'])}, {label}"
        xs, ys = series.setdefault(label, ([], []))
        xs.append(record[x])
        ys.append(record["seconds"])
    return series


def _scaling(records: list[Record], path: Path, overwrite: bool) -> Path:
    """Figure 16: speedup over one device."""
    series: dict[str, tuple[list[float], list[float]]] = {}
    for record in records:
        xs, ys = series.setdefault(f"n = {_short(record['n'])}, d = {record['degree']}", ([], []))
        xs.append(record["devices"])
        ys.append(record["speedup"])
    counts = sorted({record["devices"] for record in records})
    unit = "CPU threads" if records[0]["device"] == "CPU" else "GPUs"
    curves(
        series, path, xlabel=unit, ylabel="speedup", title=_title("cuPPA-Hash", records), xscale="linear",
        yscale="linear", ticks=counts, guide=("perfect", [0, counts[-1]], [0, counts[-1]]),
        overwrite=overwrite,
    )  # fmt: skip
    return path


def _title(generator: str, records: list[Record]) -> str:
    """The generator and the device."""
    device = next((r["device"] for r in records if r["experiment"] != "peers"), "")
    return ", ".join(part for part in (generator, device) if part)


def _rate_label(record: Record) -> str:
    law = "" if record["p"] is None else f", p = {record['p']:g}"
    return f"{record['generator']}: n = {_short(record['n'])}, d = {record['degree']}{law}"


def _short(number: int) -> str:
    """500M for 500,000,000."""
    step = min(3, int(math.log10(max(number, 1))) // 3)
    return f"{number / 1000**step:.3g}{('', 'k', 'M', 'B')[step]}"
