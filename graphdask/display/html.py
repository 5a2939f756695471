"""What a notebook shows of a graph or a result: a small table and the frontier of each superstep, as HTML.

Nothing is loaded from elsewhere and every text is escaped. Colours are the page's own, and one blue that is seen on
white as on black, so that it looks right in a light theme and in a dark one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.display.drawing import BLUE, MOST_EDGES, MOST_VERTICES, drawing
from graphdask.errors import GraphdaskError

BARS = 120
"""Most bars of a picture; supersteps beyond share one."""
HEIGHT, WIDTH = 48, 480
LINE = "border:0;border-top:1px solid rgba(128,128,128,.35)"
CELL = "padding:.15em .9em .15em 0;text-align:left;vertical-align:top;border:0;background:none;white-space:nowrap"


def card(title: str, kind: str, facts: Iterable[tuple[str, Any]], *below: str) -> str:
    """A title, facts as names and values, and pieces of HTML below them."""
    rows = "".join(
        f'<tr style="background:none"><td style="{CELL};opacity:.65">{escape(name)}</td>'
        f'<td style="{CELL};white-space:normal">{escape(str(value))}</td></tr>'
        for name, value in facts
    )
    return (
        '<div style="font-size:90%;line-height:1.4;max-width:60em;overflow-x:auto">'
        f'<div><b>{escape(title)}</b> <span style="opacity:.65">{escape(kind)}</span></div>'
        f'<hr style="{LINE};margin:.3em 0"/>'
        f'<table style="border-collapse:collapse;margin:0;border:0">{rows}</table>{"".join(below)}</div>'
    )


def table(names: Sequence[str], rows: Sequence[Sequence[Any]], note: str = "") -> str:
    """A small table of values."""
    head = "".join(f'<th style="{CELL};font-weight:600">{escape(name)}</th>' for name in names)
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{CELL};font-variant-numeric:tabular-nums">{escape(shown(value))}</td>' for value in row)
        + "</tr>"
        for row in rows
    )
    below = f'<div style="opacity:.65">{escape(note)}</div>' if note else ""
    return (
        f'<table style="border-collapse:collapse;margin:.5em 0 0 0;border:0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}"
    )


def frontiers(counts: Sequence[int]) -> str:
    """The frontier of each superstep as bars, beginning with the first; nothing for none."""
    if not len(counts) or max(counts) <= 0:
        return ""
    each = -(-len(counts) // BARS)
    groups = [(first, list(counts[first : first + each])) for first in range(0, len(counts), each)]
    highest, step = max(counts), WIDTH / max(len(groups), 12)
    bars = []
    for place, (first, group) in enumerate(groups):
        tall = max(group) / highest * (HEIGHT - 2)
        tall = max(tall, 1.0) if max(group) else 0.0
        name = f"superstep {first}" if len(group) == 1 else f"supersteps {first} to {first + len(group) - 1}, at most"
        bars.append(
            f'<rect x="{place * step:.1f}" y="{HEIGHT - tall:.1f}" width="{max(step - 1, 0.8):.1f}" '
            f'height="{tall:.1f}" fill="{BLUE}"><title>{escape(name)}: {max(group):,}</title></rect>'
        )
    return (
        f'<div style="margin-top:.6em"><div style="opacity:.65">frontier by superstep, {highest:,} at most</div>'
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="frontier by superstep" width="{WIDTH}" '
        f'height="{HEIGHT + 1}" viewBox="0 0 {WIDTH} {HEIGHT + 1}" style="max-width:100%">{"".join(bars)}'
        f'<line x1="0" y1="{HEIGHT + 0.5}" x2="{WIDTH}" y2="{HEIGHT + 0.5}" stroke="currentColor" '
        'stroke-opacity=".35"/></svg></div>'
    )


def shown(value: Any) -> str:
    """A value as a person reads it."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def size(nbytes: float) -> str:
    """Bytes with their prefix."""
    for limit, sign in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if nbytes >= limit:
            return f"{nbytes / limit:.3g} {sign}"
    return f"{nbytes:.0f} B"


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def of_graph(graph: Any) -> str:
    """What is shown of a graph: its own words, where its edges come from, where it is."""
    name, _, words = repr(graph).strip("<>").partition(": ")
    dynamic = hasattr(graph, "version")
    facts: list[tuple[str, Any]] = [("graph", words)]
    generator = getattr(getattr(graph.base if dynamic else graph, "source", None), "generator", None)
    if generator is not None:
        facts.append(("generated by", shown(generator)))
    if not dynamic:
        facts.append(("ids", graph.ids.describe()))
    facts.append(("partitions", _whereabouts(graph.rows if dynamic else graph.built)))
    report = ", ".join(f"{shown(count)} {key.replace('_', ' ')}" for key, count in graph.report.items() if count)
    if report and generator is None:
        facts.append(("batches" if dynamic else "met", report))
    return card(name, "", facts, _drawn(graph))


def _drawn(graph: Any) -> str:
    """A drawing of a graph that is small, and whose edges this process has or generates; else an empty text."""
    if not graph.num_vertices <= MOST_VERTICES:
        return ""
    present = graph.present
    source = base = present.source
    while hasattr(base, "base"):
        base = base.base
    if hasattr(base, "chunks") or source.num_edges > 10 * MOST_EDGES:  # tasks of Dask, which a look should not start
        return ""
    try:
        src, dst, _ = source.piece(0, 1).edges(get_backend("cpu"))
    except GraphdaskError:
        return ""
    if not graph.directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    return drawing([str(vertex) for vertex in present.vertex_ids.tolist()], src, dst, graph.directed)


def _whereabouts(built: Any) -> str:
    if built is None:
        return "made when an algorithm first needs them"
    offsets = getattr(getattr(built, "vertex_map", None), "offsets", None)
    count = "" if offsets is None else f"{len(offsets) - 1:,}, "
    return f"{count}kept for the next call"


ASKED = ("direction", "damping", "tol", "max_iter", "norm", "method", "error", "delta", "instances", "seed")
"""Arguments of primitives and samplers that are shown where they are numbers or words."""


def of_result(result: Any, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str, extra: Any = ()) -> str:
    """What is shown of a result or of samples: what was asked, how the run went, the first values."""
    primitive, stats = result.primitive, result.stats
    asked = [
        f"{name}={shown(value)}"
        for name in ASKED
        if isinstance(value := getattr(primitive, name, None), bool | int | float | str) and value != ""
    ]
    facts: list[tuple[str, Any]] = [("of", repr(result.graph).strip("<>"))]
    if asked:
        facts.append(("with", ", ".join(asked)))
    facts += extra
    found = [
        f"{name} {shown(value)}"
        for name, value in result.parts.summary[0].values.items()
        if isinstance(value, bool | int | float) and name in FOUND
    ]
    if found:
        facts.append(("found", ", ".join(found)))
    facts += of_run(stats)
    picture = frontiers([step["frontier"] for step in stats])
    return card(stats.algorithm, type(result).__name__, facts, table(columns, rows, note), picture)


FOUND = ("iterations", "residual", "converged", "triangles", "affected", "error")
"""Numbers of the whole run that say something to a reader."""


def of_run(stats: Any) -> list[tuple[str, Any]]:
    """What is shown of a run."""
    devices = ", ".join(sorted({device.partition(":")[0] for device in stats.devices}))
    ranks = "1 rank" if stats.ranks == 1 else f"{stats.ranks} ranks"
    facts: list[tuple[str, Any]] = [
        ("ran on", f"{ranks} ({devices}) over {stats.transport}"),
        ("took", f"{duration(stats.seconds)} in {len(stats):,} supersteps, {stats.edges:,} edges visited"),
        *([("compiled", f"{stats.compiled:,} kernels in {duration(stats.compile_seconds)}")] if stats.compiled else []),
        ("memory", f"{size(max(stats.memory, stats.allocated_end))} beside the graph, on the rank that has most"),
    ]
    if stats.bytes_sent:
        facts.append(("sent", f"{size(stats.bytes_sent)} between ranks"))
    if stats.restarts:
        facts.append(("restarts", stats.restarts))
    return facts
