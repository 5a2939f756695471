"""`graphdask generate pa|rmat|er`: make a graph; write it, draw its degrees, or say how fast it was made."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import click

from graphdask.commands import streams
from graphdask.commands.options import (
    Whole,
    cluster_options,
    cluster_step,
    device_option,
    drawable,
    json_option,
    overwrite_option,
    refuse_alone,
    stacked,
)
from graphdask.commands.paths import FILE, OUTPUT, OUTPUT_TEXT, STREAM
from graphdask.commands.speaking import OPTIONS
from graphdask.display import terminal
from graphdask.errors import InputError

GENERATED = ("edgelist", "csv")
"""Formats in which a generated graph goes to a stream."""


@dataclass(frozen=True)
class Generator:
    """A row of the table of generators."""

    name: str
    """Of the sub-command."""
    kind: str
    title: str
    function: str
    """The function of `graphdask.generate`."""
    options: Callable[[Any], Any]
    """The options that are its arguments, under their names."""


@dataclass
class Request:
    """The options that all generators share, as they were given."""

    output: Path | None
    file_format: str | None
    files: int | None
    overwrite: bool
    plot: Path | None
    workers: int | None
    scheduler_file: str | None
    scheduler: str | None
    device: str
    as_json: bool


def _multi_edges(*further: str) -> Any:
    return click.option(
        "--multi-edges", type=click.Choice(["keep", "merge", *further]), default="keep", show_default=True,
        help="What to do with parallel edges.",
    )  # fmt: skip


seed_option = click.option("--seed", type=Whole(), default=0, show_default=True, help="The same seed, the same graph.")

directed_option = click.option("--directed/--undirected", "directed", default=False, show_default="undirected",
                               help="Whether edges have a direction.")  # fmt: skip

GENERATORS = (
    Generator(
        "pa",
        "Preferential attachment",
        "Scale-free, by preferential attachment: cuPPA-Hash or cuPPA.",
        "preferential_attachment",
        stacked(
            click.option("--vertices", "n", type=Whole(min=1), required=True, metavar="N", help="Number of vertices."),
            click.option("--degree", type=Whole(), default=4, show_default=True, help="Edges of each new vertex."),
            click.option("--p", type=float, default=0.5, show_default=True, help="Probability of a direct edge."),
            click.option("--method", type=click.Choice(["hash", "queue"]), default="hash", show_default=True,
                         help="Compute copied edges again (cuPPA-Hash), or queue them (cuPPA)."),
            _multi_edges("redraw"),
            directed_option,
            seed_option,
        ),
    ),
    Generator(
        "rmat",
        "R-MAT",
        "R-MAT, the Kronecker graphs of Graph500.",
        "rmat",
        stacked(
            click.option("--scale", type=Whole(min=0), required=True, metavar="S", help="2^S vertices."),
            click.option("--edge-factor", type=Whole(), default=16, show_default=True, help="Edges per vertex."),
            click.option("--a", type=float, default=0.57, show_default=True,
                         help="Probability of the upper left quadrant."),
            click.option("--b", type=float, default=0.19, show_default=True, help="Of the upper right one."),
            click.option("--c", type=float, default=0.19, show_default=True, help="Of the lower left one."),
            click.option("--permute/--no-permute", default=True, show_default=True, help="Shuffle the vertex ids."),
            click.option("--self-loops", type=click.Choice(["keep", "drop"]), default="keep", show_default=True,
                         help="What to do with edges from a vertex to itself."),
            _multi_edges(),
            directed_option,
            seed_option,
        ),
    ),
    Generator(
        "er",
        "Erdos-Renyi",
        "Erdos-Renyi, uniformly random: G(n, m) or G(n, p).",
        "erdos_renyi",
        stacked(
            click.option("--vertices", "n", type=Whole(min=0), required=True, metavar="N", help="Number of vertices."),
            click.option("--edges", "m", type=Whole(min=0), help="Number of edges: G(n, m)."),
            click.option("--p", type=float, help="Probability of every possible edge: G(n, p)."),
            directed_option,
            seed_option,
        ),
    ),
)  # fmt: skip
"""A generator more is a row more."""

shared_options = stacked(
    click.option("--output", type=OUTPUT_TEXT, metavar="PATH",
                 help="graph.parquet, graph.txt.gz, ... is one file; graph/ a folder with a part for each worker; - is "
                      "standard output, for text."),
    click.option("--format", "file_format", metavar="NAME",
                 help="edgelist, csv, parquet, npz or native; default: what the name says."),
    click.option("--files", type=click.IntRange(min=1), help="Write a folder of so many parts."),
    overwrite_option,
    click.option("--plot", type=FILE, metavar="FILE",
                 help="Draw the degree distribution; .png, .pdf or .svg."),
    cluster_options,
    device_option,
    json_option,
)  # fmt: skip


@click.group("generate")
def command() -> None:
    """Generate a graph, and write it to files.

    Without --output every edge is made and dropped, which says how fast that goes. Every worker makes and writes its
    own share; a graph may be larger than all memory.
    """


def _add(generator: Generator) -> None:
    @command.command(generator.name, help=generator.title)
    @generator.options
    @shared_options
    def run(**options: Any) -> None:
        names = Request.__dataclass_fields__
        request = Request(**{name: options.pop(name) for name in names})
        order = [parameter.name for parameter in command.commands[generator.name].params]
        execute(request, generator, {name: options[name] for name in order if name in options})


for _generator in GENERATORS:
    _add(_generator)


def execute(request: Request, generator: Generator, arguments: dict[str, Any]) -> None:
    """Generate, and show what came of it."""
    import graphdask.generate

    output = request.output
    refuse_alone(request.overwrite, "--output", output, request.plot)
    if output is None:
        for option, given in (("--format", request.file_format), ("--files", request.files)):
            if given is not None:
                raise InputError(f"{option} says how to write a graph; give --output as well")
    if request.plot is not None:
        drawable("--plot", request.plot, request.overwrite)
    G = getattr(graphdask.generate, generator.function)(**arguments)
    G = G.partition(device=request.device)
    if output is not None:
        _check(G, request)
    with streams.standard_output() if output == STREAM else nullcontext() as out:
        steps = terminal.Steps()
        with cluster_step(request, steps) as client:
            found = _work(G, request, steps, client, out)
        _show(G, request, generator, arguments, found, steps)


def _show(
    G: Any, request: Request, generator: Generator, arguments: dict[str, Any], found: dict[str, Any], steps: Any
) -> None:
    """Print the tables, or the JSON object."""
    record = {"generator": generator.name, "arguments": arguments, "vertices": G.num_vertices, "directed": G.directed}
    record |= found
    record |= {"device": request.device, "plot": request.plot, "steps": [step.to_dict() for step in steps.steps]}
    if request.as_json:
        terminal.print_json(record)
        return
    click.echo(f"{generator.kind}: {_in_words(arguments)}\n")
    click.echo(steps.table())
    click.echo("")
    click.echo(terminal.pairs(_facts(record)))


def _in_words(arguments: dict[str, Any]) -> str:
    """The arguments that say which graph it is, as the command line names them."""
    words = []
    for name, value in arguments.items():
        if value is None or isinstance(value, bool):
            continue
        shown = f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)
        words.append(f"{OPTIONS.get(name, name).lstrip('-').replace('_', ' ')} {shown}")
    return ", ".join(words)


def _work(G: Any, request: Request, steps: terminal.Steps, client: Any, out: IO[bytes] | None) -> dict[str, Any]:
    """Write, or make and count; then draw."""
    from graphdask.execute import count_edges

    found: dict[str, Any] = {}
    if G.merge or request.plot is not None:
        with steps.step("generate, partition") as step:
            G.persist(client=client)
            step.edges, parts = G.built.num_edges, G.built.nbytes
            step.detail = f"{terminal.count(len(parts), 'partition')}, the largest of {terminal.size(max(parts))}"
        found = {"edges": step.edges, "bytes": sum(parts), "seconds": step.seconds, "workers": len(parts)}
    if request.output is not None:
        with steps.step("write" if G.merge else "generate, write") as step:
            how = {"device": request.device, "client": client}
            if out is None:
                written = G.write(
                    request.output, request.file_format, files=request.files, overwrite=request.overwrite, **how
                )
            else:
                written = _to_stream(G, out, request.file_format or "edgelist", how)
            step.edges = written.edges
            step.detail = (
                f"{terminal.size(written.bytes)}, {terminal.size(written.bytes / max(written.seconds, 1e-9))}/s"
            )
        found = {
            "edges": written.edges, "bytes": written.bytes, "seconds": step.seconds, "workers": written.writers,
            "output": written.path if out is None else Path(OUTPUT), "format": written.format, "files": written.files,
        }  # fmt: skip
    elif not found:
        with steps.step("generate") as step:
            made = count_edges(G, request.device, client=client)
            step.edges = made.edges
            step.detail = f"{terminal.count(made.edges, 'edge')} made and dropped, {terminal.size(made.bytes)}"
        found = {
            "edges": made.edges, "bytes": made.bytes, "seconds": step.seconds, "workers": made.writers,
            "self_loops": made.self_loops,
        }  # fmt: skip
    if request.plot is not None:
        from graphdask.commands.demo import draw_degrees

        with steps.step("plot") as step:
            draw_degrees(G, request.plot, f"{terminal.count(G.num_vertices, 'vertex')}", request.overwrite)
            step.detail = str(request.plot)
    found["edges_per_second"] = found["edges"] / found["seconds"] if found["seconds"] else None
    return found


def _to_stream(G: Any, out: IO[bytes], file_format: str, how: dict[str, Any]) -> Any:
    """Write a graph to a stream, by way of a file: writers make their shares side by side."""
    from graphdask.io.streams import called, kept_folder

    with kept_folder(OUTPUT) as folder, called(path := folder / f"{OUTPUT}.txt", OUTPUT):
        written = G.write(path, file_format, **how)
        with path.open("rb") as file:
            shutil.copyfileobj(file, out, 1 << 20)
        out.flush()
    return written


def _check(G: Any, request: Request) -> None:
    """Refuse what cannot be written before a cluster is started."""
    from graphdask.gang.output import check_write
    from graphdask.io.addresses import given_address
    from graphdask.io.sent import refuse_existing
    from graphdask.io.streams import kept_folder

    if request.output == STREAM:
        from graphdask.io.streams import stream_format

        stream_format(request.file_format, GENERATED, OUTPUT)
        streams.refuse_of_files("--output", ("--files", request.files), ("--overwrite", request.overwrite))
        return
    how = (request.file_format, request.files, request.overwrite, request.device)
    address = given_address(request.output)
    if address is None:
        check_write(G, request.output, *how)
        return
    refuse_existing(address, request.overwrite)
    with kept_folder("what is written") as folder:  # and sent from there
        check_write(G, f"{folder}/{PurePosixPath(address).name}{'/' * address.endswith('/')}", *how)


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    kind = "directed" if record["directed"] else "undirected"
    rate = terminal.rate(record["edges"], record["seconds"])
    lines = [
        ("vertices", f"{record['vertices']:,}"),
        ("edges", f"{record['edges']:,}, {kind}"),
        ("rate", f"{rate}edges/s, by {terminal.count(record['workers'], 'worker')}"),
    ]
    if record.get("self_loops"):
        lines.append(("self-loops", f"{record['self_loops']:,}"))
    if "output" in record:
        output = record["output"]
        folder = output.is_dir() if isinstance(output, Path) else output.endswith("/") or record["files"] > 1
        files = f"a folder of {terminal.count(record['files'], 'part')}" if folder else "one file"
        lines.append(("written", f"{record['output']}, {record['format']}, {files}, {terminal.size(record['bytes'])}"))
    else:
        lines.append(("size", f"{terminal.size(record['bytes'])}, not written (--output)"))
    return lines
