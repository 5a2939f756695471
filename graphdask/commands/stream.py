"""`graphdask stream build IN OUT.gdl`, `graphdask stream check FILE.gdl`: graphs larger than memory, on disk.

What `run`, `sample` and `profile` do with such a file is here too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from graphdask.commands import streams
from graphdask.commands import weights as weighing
from graphdask.commands.options import columns_option, ids_option, input_file, json_option, text_options
from graphdask.commands.paths import FILE, INPUT, STREAM
from graphdask.display import terminal
from graphdask.display.first_use import FirstUse
from graphdask.errors import InputError

ENDING = ".gdl"
ALONE = (
    *("by", "ghosts", "exchange", "id_width", "file_format", "directed", "weights", "ids"),
    *("header", "skip_rows", "na_values", "columns", "delimiter", "comment"),
)
"""Options of `run` and `sample` that say nothing of a graph that is streamed from a file that says everything."""
OWN = ("allocation",)
"""The same among the options of an algorithm."""


@click.group("stream")
def command() -> None:
    """Make and check files of graphs larger than memory, which `run` and `sample` stream.

    `graphdask run pagerank big.gdl --memory 2GiB` goes through one; with `--workers 2` two workers share it, each
    through its GPU where they have one.
    """


@command.command("build")
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option("--memory", metavar="SIZE", default="1GiB", show_default=True, help="Bytes that building may take.")
@click.option(
    "--order",
    type=click.Choice(["layers", "ids"]),
    default="layers",
    show_default=True,
    help="Rows by layer of a search, or by vertex id.",
)
@click.option("--root", metavar="ID", help="Vertex that layers are counted from; default: the one of most edges.")
@click.option("--chunk", metavar="SIZE", help="Bytes of a chunk; default: 2 to 16 MiB, less of little memory.")
@click.option(
    "--directed/--undirected",
    "directed",
    default=None,
    help="Whether edges have a direction; default: what IN says, else directed.",
)
@click.option(
    "--weights/--no-weights",
    "weights",
    default=None,
    help="Require weights, or ignore them; default: what IN has as weights, or numbers as its third column.",
)
@ids_option
@text_options
@click.option(
    "--inward/--no-inward",
    default=None,
    help="Keep in-edges, which pagerank, betweenness, closeness, strong, cdlp and lcc need; default: yes.",
)
@click.option("--edge-rows", is_flag=True, help="Keep which edge of IN each one is, for `sample --edge-rows`.")
@columns_option("edge", "edges")
@columns_option("vertex", "vertices")
@click.option("--overwrite", is_flag=True, help="Replace OUT.")
@json_option
def build_command(source: Path, target: Path, root: str | None, as_json: bool, **options: Any) -> None:
    """Write the graph of IN to OUT (.gdl), to be streamed.

    Edge lists, CSV, DIMACS, LDBC, Parquet and .gdg files, and folders of parts, are read in blocks where their ids are
    numbers, so that they may be larger than memory; others, and all of which columns are kept, are read whole first.
    """
    from graphdask.stream.construct import build

    if target.suffix != ENDING:
        raise InputError(f"{target}: the name of a file that is streamed ends in {ENDING}")
    if root is not None and root.lstrip("+-").isdigit():
        options["root"] = int(root)
    elif root is not None:
        options["root"] = root
    options["weights"] = weighing.wanted(options["weights"], True)
    begin = time.perf_counter()
    options["skip_rows"] = options["skip_rows"] or 0
    options["edge_rows"] = options["edge_rows"] or None  # columns of edges bring them
    with FirstUse("building", None) as first_use:
        S = build(streams.address_of(source) or source, target, **options)
    compiled = first_use.spent
    record = described(S) | {
        "seconds": time.perf_counter() - begin - compiled.seconds,
        "compiled": compiled.kernels, "compile_seconds": compiled.seconds,
    }  # fmt: skip
    if as_json:
        terminal.print_json(record)
        return
    spent = terminal.seconds(record["seconds"]) + terminal.besides(compiled)
    click.echo(terminal.pairs([*lines(S), ("seconds", spent)]))


@command.command("check")
@input_file
@json_option
def check(path: Path, as_json: bool) -> None:
    """Read a whole file and compare every checksum."""
    from graphdask.stream.graph import open_

    with streams.readable(path, None) as (file, _):
        S = open_(file).verify()
    name = streams.named(path)
    if as_json:
        terminal.print_json(described(S) | {"file": name, "whole": True})
        return
    size = ("file", f"{name}, {terminal.size(S.nbytes)}")
    click.echo(terminal.pairs([size, *lines(S)[1:], ("checksums", "all match")]))


def described(S: Any) -> dict[str, Any]:
    """What a file holds, for JSON."""
    return {
        "file": S.store.path, "bytes": S.nbytes, "vertices": S.num_vertices, "edges": S.num_edges,
        "directed": S.directed, "weights": None if S.store.weights is None else str(S.store.weights),
        "layers": S.layers, "chunks": S.chunks, "root": S.store.header["root"],
        "edge_columns": [*S.edge_columns], "vertex_columns": [*S.vertex_columns],
    }  # fmt: skip


def in_words(S: Any) -> str:
    """The same in a line."""
    kind = "directed" if S.directed else "undirected"
    layers = "" if S.layers is None else f"{terminal.count(S.layers, 'layer')} in "
    return (
        f"{terminal.count(S.num_vertices, 'vertex')}, {terminal.count(S.num_edges, 'edge')}, {kind}"
        f"{', weighted' if S.weighted else ''}; {layers}{terminal.count(S.chunks, 'chunk')}"
    )


def lines(S: Any) -> list[tuple[str, str]]:
    """The same as lines of a summary."""
    columns = [
        (f"columns of {what}", ", ".join(names))
        for what, names in (("edges", S.edge_columns), ("vertices", S.vertex_columns))
        if names
    ]
    return [("file", f"{S.store.path}, {terminal.size(S.nbytes)}"), ("graph", in_words(S)), *columns]


def not_streamed(path: Path) -> str:
    """What is said where --memory is given for another file."""
    if path in (STREAM, Path(INPUT)):
        return f"--memory is for a file that is streamed ({ENDING}), which {INPUT} cannot hold"
    made = path.name.split(".")[0] + ENDING
    return f"--memory is for a file that is streamed; `graphdask stream build {path} {made}` makes one"


def refuse(request: Any, own: Mapping[str, Any] | None = None) -> None:
    """Raise InputError for options, of all algorithms or of one, that have no meaning for a file that is streamed."""
    for name in OWN:
        if own is not None and own.get(name) is not None:
            refuse_option(name, own[name], request.path)
    for name in ALONE:
        if getattr(request, name, None) is not None:
            refuse_option(name, getattr(request, name), request.path)
    if request.self_loops != "keep" or request.multi_edges != "keep":
        raise InputError(f"{request.path.name} is streamed as it is; leave --self-loops and --multi-edges out")


def refuse_option(name: str, value: Any, path: Path) -> NoReturn:
    """Raise InputError for an option that says nothing of a file that is streamed."""
    opposite = {"directed": "--undirected", "weights": "--no-weights", "header": "--no-header"}
    negative = opposite.get(name) if value is False else None
    option = negative or {"file_format": "--format"}.get(name, "--" + name.replace("_", "-"))
    raise InputError(f"{option} has no meaning for {path.name}, which is streamed as it is")


def opened(request: Any, steps: terminal.Steps) -> Any:
    """The graph of a run over a file that is streamed, as a step."""
    from graphdask.stream.graph import open_

    with steps.step("open") as step:
        S = open_(request.path, request.memory or "2GiB", device=request.device)
        if request.partitions is not None:
            S = S.partition(request.partitions)
        step.detail = in_words(S)
    return S


def traffic(streamed: dict[str, Any]) -> list[tuple[str, str]]:
    """What a streamed run read, in words."""
    size, count = terminal.size, terminal.count
    read = count(streamed["chunks_read"], "chunk")
    disk = [("from disk", size(streamed["from_disk"]))] if "from_disk" in streamed else []
    if streamed["in_place"]:
        disk.append(("in place", f"{size(streamed['in_place'])} of rows read where the host has them"))
    return [
        *disk,
        ("streamed", f"{size(streamed['nbytes'])} in {read}, {size(streamed['bandwidth'])}/s; "
                     f"{size(streamed['least'])} are the least for what was visited, {size(streamed['distinct'])} in "
                     "distinct chunks"),
        ("chunks", f"{streamed['chunks_skipped']:,} skipped, {streamed['chunks_resident']:,} found in memory, "
                   f"{streamed['chunks_unused']:,} read in vain"),
        ("overlap", f"{streamed['overlap']:.0%} of {terminal.seconds(streamed['reading'])} s of reading; "
                    f"{size(streamed['window'])} of chunks in memory"),
    ]  # fmt: skip
