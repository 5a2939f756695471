"""`graphdask info FILE`: what is in a file, and what reading it would change."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from graphdask.commands import stream, streams
from graphdask.commands import weights as weighing
from graphdask.commands.options import TextOptions, cleaning_options, input_stream, json_option, reading_options
from graphdask.commands.tuning import COMMANDS, CommandsTuning
from graphdask.display import terminal

EDGE = 16
"""Bytes that an edge is reckoned to take, of files that state how many they have."""
SHARE = 32
"""How many times as much memory as is read of a text without `--all` must be there."""
BAR = 32
"""Characters of the longest bar of the histogram."""


@click.command("info")
@input_stream
@reading_options
@cleaning_options
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help=f"Read all of a file; default: of a text its first {CommandsTuning.first_bytes >> 20} MiB, and where ids are "
    f"names the first {CommandsTuning.first_bytes >> 23}, of a large file that states its numbers no more than these.",
)
@json_option
def command(path: Path, as_json: bool, **options: Any) -> None:
    """What is in a file, and what reading it would change.

    Prints sizes, ids, degrees, self-loops, parallel edges and the number of components; of a file that is streamed
    (.gdl), what is known without scanning its edges. FILE may be -, standard input: text, also compressed.
    Of a text that is larger than the first 64 MiB, however small it is while it is compressed, counts are of these,
    unless --all is given. Of METIS, NPZ, native and Parquet files of more than 4 million edges the numbers are those
    that the file states. LDBC is read whole.
    """
    if path.suffix == stream.ENDING:
        _streamed(path, as_json, {"all" if name == "whole" else name: value for name, value in options.items()})
        return
    with streams.readable(path, options.pop("file_format")) as (file, file_format):
        path = streams.named(path)
        short = None if options["whole"] else stated_only(file, file_format, options)
        if short is not None:
            _show_stated(short | {"file": path}, as_json)
            return
        found = describe(file, file_format, **options) | {"file": path}
    if as_json:
        terminal.print_json(found)
        return
    click.echo(f"{path.name}\n")
    click.echo(terminal.pairs(_lines(found)))
    if found["degree"]["histogram"]:
        click.echo(
            "\n" + _histogram(found["degree"]["histogram"], "in + out degree" if found["directed"] else "degree")
        )
    click.echo("\nreading counted and changed")
    counted = {name: value for name, value in found["report"].items() if not name.startswith("header")}
    click.echo(terminal.pairs([(_words(name), _shown(value)) for name, value in counted.items()]))


def stated_only(path: Path, file_format: str | None, options: dict[str, Any]) -> dict[str, Any] | None:
    """What a large file states of itself; None where it is to be read: it is small or states nothing, or an option
    says how to read it."""
    from graphdask.io.formats import format_of
    from graphdask.io.stated import stated

    usual = {"self_loops": "keep", "multi_edges": "keep", "whole": False}
    given = any(value not in (None, (), usual.get(name)) for name, value in options.items())
    if given or not path.is_file():
        return None
    name = format_of(path, file_format).name
    found = stated(path, name)
    if found is None or EDGE * found.edges <= COMMANDS.first_bytes:
        return None
    return {
        "file": path, "bytes": path.stat().st_size, "format": name, "complete": False, "read": found.where,
        "vertices": found.vertices, "edges": found.edges, "directed": found.directed,
        "weighted": found.weights is not None, "weights": found.weights,
    }  # fmt: skip


def _show_stated(found: dict[str, Any], as_json: bool) -> None:
    """Print what a file states."""
    if as_json:
        terminal.print_json(found)
        return
    vertices, directed = found["vertices"], found["directed"]
    kind = "" if directed is None else ", directed" if directed else ", undirected"
    click.echo(f"{found['file'].name}\n")
    click.echo(terminal.pairs([
        ("format", f"{found['format']}, {terminal.size(found['bytes'])}"),
        ("read", f"{found['read']}, which states these numbers; --all reads the edges, and counts"),
        ("vertices", "not stated" if vertices is None else f"{vertices:,}"),
        ("edges", f"{found['edges']:,}{kind}"),
        ("weights", found["weights"] or "none"),
    ]))  # fmt: skip


def describe(
    path: Path,
    file_format: str | None = None,
    directed: bool | None = None,
    weights: bool | None = None,
    ids: str | None = None,
    self_loops: str = "keep",
    multi_edges: str = "keep",
    whole: bool = False,
    **text: Any,
) -> dict[str, Any]:
    """Return what `info` prints, as plain values."""
    import numpy as np

    from graphdask.device.backend import get_backend
    from graphdask.graph.construct import read_graph
    from graphdask.io.estimates import usable_memory
    from graphdask.io.opening import first_bytes

    few = first_bytes(min(COMMANDS.first_bytes, max(usable_memory() // SHARE, 1 << 20)))
    with nullcontext() if whole or path.is_dir() else few:
        G = read_graph(
            path,
            format=file_format,
            weights=weighing.wanted(weights, True),
            directed=directed,
            ids=ids,
            **TextOptions(**text).of_text,
            self_loops=self_loops,
            multi_edges=multi_edges,
        )
    src, dst, values = G.source.piece(0, 1).edges(get_backend("cpu"))
    n, loops = G.num_vertices, int((src == dst).sum())
    out = np.bincount(src, minlength=n)
    inward = np.bincount(dst, minlength=n)
    degree = out + inward
    number, largest = _components(src, dst, n)
    vertices = G.vertex_ids
    return {
        "file": path,
        "bytes": path.stat().st_size if path.is_file() else None,
        "format": G.report.get("format", file_format),
        "complete": "read_bytes" not in G.report,
        "vertices": n,
        "edges": G.num_edges,
        "directed": G.directed,
        "weighted": G.weighted,
        "weights": None if values is None or not len(values) else _spread(values),
        "weights_read": weighing.status(G, weights, True),
        "weights_in_words": weighing.of_a_file(G, weights, _users()),
        "ids": {
            "first": vertices[0] if n else None, "last": vertices[-1] if n else None, "numbers": G.ids.are_numbers,
            "renumbered": G.ids.table is not None,
        },
        "self_loops": loops,
        "parallel_edges": G.report.get("parallel_edges", 0),
        "isolated_vertices": int((degree == 0).sum()),
        "degree": _degrees(degree, out if G.directed else None, inward if G.directed else None),
        "components": {"count": number, "largest": largest, "exact": True, "method": "scipy.sparse.csgraph, weak"},
        "report": G.report,
    }  # fmt: skip


def _streamed(path: Path, as_json: bool, options: dict[str, Any]) -> None:
    """Print what is in a file that is streamed; its rows are read, its edges are not."""
    import numpy as np

    from graphdask.stream.graph import open_

    for name, value in options.items():
        if value not in (None, "keep") and (name, value) != ("all", False):
            stream.refuse_option(name, value, path)
    S = open_(path)
    bins = np.zeros(65, np.int64)
    degree = {}
    for name, section in S.store.sections.items():
        spans = []
        for _, rows, _ in S.store.rows(section):
            spans.append((int(rows.min()), int(rows.sum()), int(rows.max())))
            if name == "out":
                bins += np.bincount(np.frexp(rows.astype(np.float64))[1], minlength=len(bins))
        if spans:
            least, total, greatest = zip(*spans, strict=True)
            label = "in" if name == "inward" else "out" if S.directed else "all"
            degree[label] = {"min": min(least), "mean": sum(total) / S.num_vertices, "max": max(greatest)}
    found = stream.described(S) | {"degree": degree | {"histogram": _bins(bins)}}
    if as_json:
        terminal.print_json(found)
        return
    click.echo(f"{path.name}\n")
    click.echo(terminal.pairs([*stream.lines(S), *_degree_lines(degree)]))
    if S.num_vertices:
        click.echo("\n" + _histogram(found["degree"]["histogram"], "out-degree" if S.directed else "degree"))


def _users() -> list[str]:
    """The algorithms of `run` that use weights."""
    from graphdask.interface.registry import algorithms

    return [each.command for each in algorithms().values() if each.weights]


def _spread(weights: Any) -> dict[str, Any]:
    import numpy as np

    with np.errstate(invalid="ignore"):  # infinite weights of both signs have no mean
        return {"dtype": str(weights.dtype), "min": weights.min(), "max": weights.max(), "mean": float(weights.mean())}


def _degrees(degree: Any, out: Any, inward: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"histogram": histogram(degree)}
    named = {"all": degree} if out is None else {"out": out, "in": inward}
    for name, values in named.items():
        if len(values):
            found[name] = {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())}
    return found


def histogram(degree: Any) -> list[dict[str, int]]:
    """Vertices by degree in the bins 0, 1, 2-3, 4-7, 8-15, ..."""
    import numpy as np

    if not len(degree):
        return []
    return _bins(np.bincount(np.frexp(degree.astype(np.float64))[1]))


def _bins(counts: Any) -> list[dict[str, int]]:
    """The same from the number of vertices by the binary exponent of their degree."""
    filled = counts.nonzero()[0].tolist()
    return [
        {"from": (1 << k) >> 1, "to": max((1 << k) - 1, 0), "vertices": int(counts[k])}
        for k in (range(filled[0], filled[-1] + 1) if filled else ())
    ]


def _components(src: Any, dst: Any, n: int) -> tuple[int, int]:
    """Number of weak components and the size of the largest one."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if n == 0:
        return 0, 0
    adjacency = coo_array((np.ones(len(src), np.int8), (src, dst)), shape=(n, n)).tocsr()
    number, labels = connected_components(adjacency, directed=True, connection="weak")
    return int(number), int(np.bincount(labels).max())


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    ids, components, degree = found["ids"], found["components"], found["degree"]
    kind = "directed" if found["directed"] else "undirected"
    weights = found["weights"]
    lines = [
        ("format", f"{found['format']}, {terminal.size(found['bytes'])}" if found["bytes"] else str(found["format"])),
        *_header_lines(found["report"]),
        *_share_lines(found),
        ("vertices", f"{found['vertices']:,}, {found['isolated_vertices']:,} isolated"),
        ("edges", f"{found['edges']:,}, {kind}, {'weighted' if found['weighted'] else 'without weights'}"),
    ]
    spread = ""
    if weights:
        spread = f"{weights['dtype']}, {weights['min']:g} to {weights['max']:g}, mean {weights['mean']:.4g}; "
    lines.append(("weights", spread + found["weights_in_words"]))
    if found["vertices"]:
        gaps = ", with gaps: renumbered inside" if ids["renumbered"] else ""
        lines.append(("ids", f"{ids['first']} to {ids['last']}{gaps}"))
    lines += [("self-loops", f"{found['self_loops']:,}"), ("parallel edges", f"{found['parallel_edges']:,}")]
    lines += _degree_lines(degree)
    weak = " (weak)" if found["directed"] else ""
    lines.append((f"components{weak}", f"{components['count']:,}, largest {components['largest']:,}; exact, by SciPy"))
    return lines


def _header_lines(report: dict[str, Any]) -> list[tuple[str, str]]:
    """What was decided of the first line of a text."""
    if "header" not in report:
        return []
    names, why = report["header"], report.get("header_because")
    return [("header", f"{weighing.named(names) if names else 'none'}{f' ({why})' if why else ''}")]


def _share_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What the counts are of, where they are not of all."""
    if found["complete"]:
        return []
    read = terminal.size(found["report"]["read_bytes"])
    return [("read", f"the first {read} of the text, which all counts are of; --all reads the rest")]


def _degree_lines(degree: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("degree" if name == "all" else f"{name}-degree",
         f"min {degree[name]['min']:,}, mean {degree[name]['mean']:.4g}, max {degree[name]['max']:,}")
        for name in ("all", "out", "in") if name in degree
    ]  # fmt: skip


def _histogram(bins: list[dict[str, int]], label: str) -> str:
    most = max(bin_["vertices"] for bin_ in bins)
    rows = []
    for bin_ in bins:
        span = f"{bin_['from']:,}" if bin_["from"] >= bin_["to"] else f"{bin_['from']:,}-{bin_['to']:,}"
        bar = "#" * round(BAR * bin_["vertices"] / most) or ("." if bin_["vertices"] else "")
        rows.append([span, f"{bin_['vertices']:,}", bar])
    return terminal.table((label, "vertices", ""), rows, right=(0, 1))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
