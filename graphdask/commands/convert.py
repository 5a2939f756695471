"""`graphdask convert IN OUT`: a graph file in another format, with the ids that it has."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import click

from graphdask.commands import stream, streams
from graphdask.commands import weights as weighing
from graphdask.commands.options import (
    READ,
    WRITTEN,
    TextOptions,
    columns_option,
    ids_option,
    json_option,
    overwrite_option,
    text_options,
    writable,
)
from graphdask.commands.paths import INPUT_FILE, OUTPUT, OUTPUT_FILE, STREAM
from graphdask.display import terminal
from graphdask.errors import InputError


@click.command("convert")
@click.argument("source", metavar="IN", type=INPUT_FILE)
@click.argument("target", metavar="OUT", type=OUTPUT_FILE)
@click.option("--format-in", metavar="NAME", help=f"Format of IN: {READ}; default: what its name says.")
@click.option(
    "--format-out", metavar="NAME", help=f"Format of OUT: {WRITTEN}; default: what its name says; of -, edgelist."
)
@click.option("--directed/--undirected", "directed", default=None,
              help="Whether edges have a direction; default: what IN says.")  # fmt: skip
@click.option(
    "--weights/--no-weights", "weights", default=None,
    help="Require weights, or ignore them; default: what IN has as weights, or numbers as its third column.",
)  # fmt: skip
@click.option(
    "--renumber", is_flag=True,
    help="Write the vertices as 0 to n-1, in ascending order of their ids, or as 1 to n in formats that count from 1; "
    "OUT.ids.csv says which id each number was.",
)  # fmt: skip
@columns_option("edge", "edges")
@columns_option("vertex", "vertices")
@ids_option
@text_options
@overwrite_option
@json_option
def command(
    source: Path,
    target: Path,
    format_in: str | None,
    format_out: str | None,
    directed: bool | None,
    weights: bool | None,
    renumber: bool,
    edge_columns: list[str] | bool | None,
    vertex_columns: list[str] | bool | None,
    ids: str | None,
    overwrite: bool,
    as_json: bool,
    **text: Any,
) -> None:
    """Write the edges of IN to OUT, in the format that its name says.

    Edges, ids, weights, times and the columns that are named stay as they are, but for --renumber; nothing is merged or
    dropped. OUT is written
    whole or not at all. IN may be -, standard input: text, also compressed, in the format that --format-in names or its
    first lines show. OUT may be -, standard output: text; what else there is to say is then on standard error. Both may
    be addresses that fsspec opens, such as s3://bucket/graph.parquet. A graph that is streamed (.gdl) is an IN too, of
    which `graphdask stream build` makes such a file.
    """
    format_out = _format_of(source, target, format_out, overwrite)
    table = _table_of(target, overwrite) if renumber else None
    reading = {"directed": directed, "ids": ids, **TextOptions(**text).of_text}
    reading |= {"edge_columns": edge_columns, "vertex_columns": vertex_columns}
    reading["weights"] = weighing.wanted(weights, True)
    with streams.standard_output() if target == STREAM else nullcontext() as out:
        record = _convert(source, target, format_in, format_out, reading, overwrite, out, table)
        if as_json:
            terminal.print_json(record)
        else:
            _show(record, weights)


def _format_of(source: Path, target: Path, name: str | None, overwrite: bool) -> str:
    """The format that is written, once it is known that it can be, and where."""
    from graphdask.io import FORMATS, detect_format
    from graphdask.io.sent import refuse_existing
    from graphdask.io.streams import WRITES, stream_format

    if target == STREAM:
        streams.refuse_of_files("OUT", ("--overwrite", overwrite))
        return stream_format(name, WRITES, OUTPUT, "--format-out ") or "edgelist"
    if target.suffix == ".gdl":
        raise InputError(
            f"{target} is for graphs that are streamed; `graphdask stream build {source} {target}` makes it"
        )
    name = name or detect_format(target)
    if name not in FORMATS or not FORMATS[name].writes:
        able = ", ".join(name for name, known in FORMATS.items() if known.writes)
        raise InputError(f"{target}: graphdask does not write {name}; it writes {able}")
    if source != STREAM and target.exists() and source.exists() and target.samefile(source):
        raise InputError(f"{target} is the file to read; name another one to write")
    address = streams.address_of(target)
    if address is None:
        writable(target, overwrite)
    else:
        refuse_existing(address, overwrite)
    return name


def _table_of(target: Path, overwrite: bool) -> str | Path:
    """Where the ids of renumbered vertices are written, once something can be written there."""
    if target == STREAM:
        raise InputError(f"--renumber writes a table beside OUT, which is {OUTPUT}; name a file")
    address = streams.address_of(target)
    if address is not None:
        return f"{address}.ids.csv"
    table = target.with_name(f"{target.name}.ids.csv")
    writable(table, overwrite)
    return table


def _convert(
    source: Path,
    target: Path,
    format_in: str | None,
    format_out: str,
    reading: dict[str, Any],
    overwrite: bool,
    out: IO[bytes] | None,
    table: str | Path | None,
) -> dict[str, Any]:
    """Read and write, and return what is said of it; `out` is standard output, where that is the target, and `table` is
    where the ids are written if vertices are renumbered."""
    from graphdask.display.phases import phase, progress_over
    from graphdask.io import write_edges
    from graphdask.io.outputs import file_output
    from graphdask.io.renumbered import renumbered, write_table
    from graphdask.io.sent import sent
    from graphdask.io.streams_out import write_stream
    from graphdask.io.writers import NUMBERED

    begin = time.perf_counter()
    with progress_over(source, ("reading", "writing")):
        with streams.readable(source, format_in, "--format-in", graph=False) as (file, format_in):
            edges = _edges(source, file, format_in, reading)
            size = _bytes(file)
        if table is not None:
            first = int(format_out in NUMBERED)
            edges, given = renumbered(edges, first)
        middle = time.perf_counter()
        with phase("writing"):
            if out is None:
                write_edges(edges, streams.address_of(target) or target, format=format_out, overwrite=overwrite)
            else:
                write_stream(edges, out, format_out)
        if table is not None:
            with sent(table, overwrite) as place, file_output(place, overwrite).stream() as file:
                write_table(given, first, file)
        end = time.perf_counter()
    return {
        "in": {"file": streams.named(source), "format": edges.report.get("format", format_in), "bytes": size,
               "seconds": middle - begin},
        "out": {"file": streams.named(target, OUTPUT), "format": format_out,
                "bytes": _bytes(target) if out is None and streams.address_of(target) is None else None,
                "seconds": end - middle},
        "ids": table,
        "edges": edges.num_edges,
        "vertices_declared": None if edges.vertices is None else len(edges.vertices),
        "directed": edges.directed,
        "weights": None if edges.weights is None else str(edges.weights.dtype),
        "times": edges.times is not None,
        "edge_columns": [] if edges.edge_columns is None else edges.edge_columns.column_names,
        "vertex_columns": [] if edges.vertex_columns is None else edges.vertex_columns.column_names[1:],
        "report": edges.report,
    }  # fmt: skip


def _edges(source: Path, file: Path, format_in: str | None, reading: dict[str, Any]) -> Any:
    """What `read_edges` reads, of a graph that is streamed too."""
    if format_in is not None or file.suffix != stream.ENDING:
        from graphdask.io import read_edges

        return read_edges(file, format=format_in, **reading)
    from graphdask.stream.edge_list import edge_list
    from graphdask.stream.graph import open_

    columns = {name: reading.pop(name) for name in ("edge_columns", "vertex_columns")}
    for name, value in reading.items():
        if not (value is None or value == "auto" or (name == "skip_rows" and value == 0)):
            stream.refuse_option(name, value, source)
    with open_(file) as S:
        return edge_list(S, **columns)


def _show(record: dict[str, Any], weights: bool | None) -> None:
    """Print the tables."""
    rows = [
        [word, side["file"].name, str(side["format"]), f"{record['edges']:,}",
         "" if side["bytes"] is None else terminal.size(side["bytes"]), terminal.seconds(side["seconds"])]
        for word, side in (("read", record["in"]), ("written", record["out"]))
    ]  # fmt: skip
    click.echo(terminal.table(("", "file", "format", "edges", "size", "seconds"), rows, right=(3, 4, 5)))
    if record["ids"] is not None:
        click.echo(f"\n{record['ids']}: the id that each number was")
    note = weighing.unread(record["report"])
    if weighing.third(record["report"]):
        note = "the third column is written as weights, as by --weights; --no-weights leaves it out"
    if note and weights is not False:
        click.echo(f"\n{record['in']['file'].name}: {note}")


def _bytes(path: Path) -> int:
    """Size of a file, or of the files in a folder; 0 for a stem of several files."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0
