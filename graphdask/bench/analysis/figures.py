"""The figures of `graphdask bench analytics --plot DIR`: rates over ranks as in the paper's Figure 5, and peers.

Source: Pan et al., Multi-GPU Graph Analytics, Section VII.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphdask.bench.analysis.algorithms import chosen, measured
from graphdask.plot import bars, curves

Record = dict[str, Any]

PICTURES = ("scaling-*.png", *(f"*-{algorithm.name}.png" for algorithm in measured()))
"""How their names look."""


def draw(records: list[Record], folder: Path, overwrite: bool = False) -> list[Path]:
    """Draw what the records hold: rates over the number of ranks, times of each algorithm; return the files, PNG."""
    timed = [record for record in records if "ms" in record]
    own = [record for record in timed if record["implementation"] == "graphdask"]
    drawn = []
    for group in dict.fromkeys(record["scaling"] or record["graph"] for record in own):
        of_it = [record for record in own if (record["scaling"] or record["graph"]) == group]
        ranks = sorted({record["ranks"] for record in of_it})
        if len(ranks) > 1:
            drawn.append(_rates(of_it, ranks, group, folder / f"scaling-{_file_name(group)}.png", overwrite))
    for graph in dict.fromkeys(record["graph"] for record in timed if record["implementation"] != "graphdask"):
        for algorithm in dict.fromkeys(record["algorithm"] for record in timed if record["graph"] == graph):
            here = [record for record in timed if (record["graph"], record["algorithm"]) == (graph, algorithm)]
            path = folder / f"{_file_name(graph)}-{algorithm}.png"
            (compared,) = {each.compared for each in chosen((algorithm,))}
            times = {_label(record): record[compared] for record in here if compared in record}
            unit = "milliseconds, median" if compared == "ms" else "milliseconds an iteration, median"
            bars(times, path, xlabel=unit, title=f"{algorithm}, {graph}", scale="log", overwrite=overwrite)
            drawn.append(path)
    return drawn


def _rates(records: list[Record], ranks: list[int], group: str, path: Path, overwrite: bool) -> Path:
    series = {}
    for algorithm in dict.fromkeys(record["algorithm"] for record in records):
        points = [(r["ranks"], r["mteps_input"]) for r in records if r["algorithm"] == algorithm and r["mteps_input"]]
        if points:
            series[algorithm] = ([x for x, _ in points], [y for _, y in points])
    curves(
        series, path, xlabel="ranks", ylabel="million edges of the input per second", title=group, ticks=ranks,
        overwrite=overwrite,
    )  # fmt: skip
    return path


def _label(record: Record) -> str:
    unit = "thread" if record["implementation"] == "gap" else "rank"
    ranks = f", {record['ranks']} {unit}{'s' * (record['ranks'] > 1)}" if "ranks" in record else ""
    return record["implementation"] + ranks


def _file_name(group: str) -> str:
    return group.replace(" ", "-").replace("/", "-")
