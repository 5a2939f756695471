"""`graphdask sample SAMPLER FILE`: read, draw, verify, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from graphdask.commands import stream, streams, weights
from graphdask.commands.ids import vertex
from graphdask.commands.options import (
    GraphOptions,
    Whole,
    cleaning_options,
    cluster_options,
    cluster_step,
    device_option,
    input_file,
    json_option,
    overwrite_option,
    reading_options,
    stacked,
)
from graphdask.commands.parts import PARTS
from graphdask.commands.paths import FILE
from graphdask.commands.run import read
from graphdask.commands.sample_files import check_output, write
from graphdask.commands.sample_nodes import nodes
from graphdask.commands.samplers import ENTRIES, Entry
from graphdask.display import terminal
from graphdask.errors import InputError


@dataclass(kw_only=True)
class Request(GraphOptions):
    """The options of a call, as they were given."""

    partitions: int | None
    placement: str
    scheme: str | None
    device_memory: str | None
    seed: int | None
    device: str
    workers: int | None
    scheduler_file: str | None
    scheduler: str | None
    verify: bool
    output: Path | None
    overwrite: bool
    edge_rows: bool
    chunk: int | None
    resume: bool
    as_json: bool
    memory: str | None


shared_options = stacked(
    input_file,
    click.option("--seed", type=Whole(), help="Of the random numbers.  [default: 0]"),
    click.option(
        "--placement", type=click.Choice(["auto", "replicated", "partitioned", "streamed"]), default="auto",
        show_default=True,
        help="The whole graph on every worker, partitions between which samples travel, or the graph in host memory "
        "and some of it on the device at a time; the samples are the same.",
    ),
    click.option("--scheme", type=click.Choice(["baseline", "BA", "WS", "BAL", "in-place"]),
                 help="Of a streamed graph: which of its partitions are on the device.  [default: the best]"),
    click.option("--device-memory", metavar="SIZE", help="Of a streamed graph: 4GiB of the device may be used."),
    click.option("--verify", is_flag=True, help="Prove that every sampled edge exists; exit code 3 if one does not."),
    click.option("--output", metavar="NAME", type=FILE,
                 help="A file, .npz or .txt, or a folder, for Parquet files that the workers write."),
    overwrite_option,
    click.option("--edge-rows", is_flag=True,
                 help="Write the column edge too: which edge of the file each one is, the first being number 0. Of "
                      "walks, the edge of each step."),
    click.option("--chunk", type=Whole(min=1), metavar="K",
                 help="Draw and write so many walks or seeds at a time, where the memory is too little for all. "
                      "With a folder as output."),
    click.option("--resume", is_flag=True,
                 help="With --chunk: keep complete chunks in NAME.unfinished if the command breaks off, and go on "
                      "after those that are there. Where NAME has all of them, nothing is left to do."),
    click.option("--memory", metavar="SIZE",
                 help="Bytes in which each worker samples a .gdl file, besides its samples.  [default: 2GiB]"),
    cluster_options,
    reading_options,
    cleaning_options,
    click.option("--partitions", type=click.IntRange(min=1), help="Default: one for each worker."),
    device_option,
    json_option,
)  # fmt: skip


def _begin_options(entry: Entry) -> tuple[Any, ...]:
    what = "Samples start" if entry.start == "seeds" else "Walks start"
    return (
        click.option(f"--{entry.start}", "begin", metavar="IDS", help=f"{what} at these vertices: 7,8,9."),
        click.option(f"--{entry.start}-file", "begin_file", type=FILE, metavar="FILE",
                     help="At those in this file, one a line."),
        click.option("--number", type=Whole(min=0), metavar="K",
                     help="At so many vertices, drawn without replacement.  [default: at all vertices]"),
    )  # fmt: skip


@click.group("sample")
def command() -> None:
    """Draw samples of a graph from a file, or take parts of it: walks, neighbourhoods, subgraphs, edges."""


def execute(entry: Entry, own: dict[str, Any], begin: tuple[Any, Any, Any], request: Request) -> None:
    """Draw the samples and show what came of it."""
    if sum(each is not None for each in begin) > 1:
        name = entry.start
        raise InputError(f"--{name}, --{name}-file and --number say the same thing; give one of them")
    if request.seed is not None and not entry.draws and begin[-1] is None:
        unless = " without --number" if entry.start else ""
        raise InputError(f"--seed is of random numbers, and `sample {entry.name}` draws none{unless}")
    check_output(request.output, request.overwrite, request.resume)
    own = entry.prepare(own)
    takes = entry.takes_weights(own)
    if request.chunk is not None and (request.output is None or request.output.suffix):
        raise InputError("--chunk writes as it draws: give a folder with --output, whose name has no ending")
    if request.chunk is not None and request.output is not None and streams.address_of(request.output) is not None:
        raise InputError(
            f"--chunk writes to a folder of this host, and {streams.named(request.output)} is an address; leave "
            "--chunk out, or write to a folder and copy it"
        )
    if request.resume and request.chunk is None:
        raise InputError("--resume goes on after complete chunks: say --chunk too")
    if request.edge_rows:
        _check_edge_rows(entry, request)
    where, streamed = _placement(request), _on_disk(request)
    steps = terminal.Steps()
    with cluster_step(request, steps) as client:
        if streamed:
            G = stream.opened(request, steps)
        else:
            G = read(request, steps, weights.wanted(request.weights, takes))
            if entry.weights and G.report.get("third_column") == "times":  # which are no weights, but are asked for
                G = read(request, steps, True)
            G = G.partition(request.partitions, device=request.device)
        if entry.weights and not G.weighted:
            raise InputError(
                f"{request.path}: read without weights, which `graphdask sample {entry.name}` takes as the "
                f"{entry.weights} of the edges; give --weights, and a file that has them, such as an edge list of "
                f"three columns (--format edgelist)"
            )
        vertices = _vertices(G, entry.start, request.seed or 0, *begin) if entry.start else None
        more = {"placement": where, "client": client}
        if entry.draws:
            more["seed"] = request.seed or 0
        if request.edge_rows and entry.edges:
            more["edge_rows"] = True
        if request.chunk is not None:
            written = _written(entry, request, G, vertices, {**own, **more}, steps)
            _show(entry, request, G, written, steps, _words(written), takes)
            return
        with steps.step(entry.name) as step:
            result = entry.sample(G, vertices, **own, **more)
            step.edges = result.stats.edges
        if request.edge_rows:
            result = result.with_edges()
        with steps.step("gather") as step:
            step.detail = entry.words(result)
        if request.verify:
            with steps.step("verify") as step:
                result.verify()
                step.detail = "verified"
        if request.output is not None:
            with steps.step("write") as step:
                write(result, request.output, request.overwrite)
                request.output = streams.named(request.output)
                step.detail = f"{request.output}: {', '.join(result.columns)}"
    _show(entry, request, G, result, steps, entry.words(result), takes)


def _check_edge_rows(entry: Entry, request: Request) -> None:
    """Raise InputError where nothing would come of the rows of edges."""
    if request.output is None:
        raise InputError("--edge-rows adds a column to what is written; say where with --output")
    if entry.walks and request.output.suffix.lower() == ".txt":
        raise InputError(
            f"--edge-rows: {request.output} has a walk in each line and no place for edges; name a file that ends in "
            f".npz, or a folder"
        )


def _placement(request: Request) -> Any:
    if request.placement == "streamed":
        from graphdask.sample.streamed import Streamed

        return Streamed(scheme=request.scheme, device_memory=request.device_memory)
    for name, value in (("--scheme", request.scheme), ("--device-memory", request.device_memory)):
        if value is not None:
            raise InputError(f"{name} {value} is of --placement streamed")
    return request.placement


def _on_disk(request: Request) -> bool:
    """Whether the file is one that is streamed; its options are checked before any work."""
    if request.path.suffix != stream.ENDING:
        if request.memory is not None:
            raise InputError(stream.not_streamed(request.path))
        return False
    stream.refuse(request)
    if request.placement != "auto":
        raise InputError(f"--placement has no meaning for {request.path.name}, whose rows are read from disk")
    if request.verify:
        raise InputError(f"--verify needs the graph in memory; sample the file that {request.path.name} was made from")
    return True


def _written(
    entry: Entry, request: Request, G: Any, vertices: Any, options: dict[str, Any], steps: terminal.Steps
) -> Any:
    """Draw and write some instances at a time."""
    assert request.chunk is not None
    assert request.output is not None
    chunks = entry.in_chunks(G, vertices, request.chunk, **options)
    with steps.step(f"{entry.name}, write") as step:
        written = chunks.to_parquet(
            request.output, verify=request.verify, edge_rows=request.edge_rows, overwrite=request.overwrite,
            resume=request.resume,
        )  # fmt: skip
        step.edges, step.detail = written.edges, f"{request.output}: {_words(written)}"
    return written


def _words(written: Any) -> str:
    return f"{terminal.count(written.rows, 'row')} in {terminal.count(written.chunks, 'chunk')}"


def _show(entry: Entry, request: Request, G: Any, result: Any, steps: terminal.Steps, answer: str, takes: bool) -> None:
    """Say what was done; `result` says in its stats what the one run did, or the last one."""
    stats, sent, last = result.stats, "", " for the last chunk"
    if request.chunk is None:
        last = ""
        sent = f", {terminal.size(stats.bytes_sent)} sent"
    if request.as_json:
        terminal.print_json({
            "sampler": entry.name, "file": streams.named(request.path), "vertices": G.num_vertices,
            "directed": G.directed, "weighted": G.weighted, "weights": weights.status(G, request.weights, takes),
            "report": G.report, "answer": answer, "placement": result.placement,
            "verified": True if request.verify else None, "output": request.output,
            "steps": [step.to_dict() for step in steps.steps],
            "stats": stats.to_dict() if request.chunk is None else None,
        })  # fmt: skip
        return
    click.echo(f"{request.path.name}\n")
    click.echo(steps.table())
    click.echo("")
    click.echo(terminal.pairs([
        ("weights", weights.in_words(G, request.weights, takes, entry.name)),
        ("workers", f"{stats.ranks}, {result.placement}, {', '.join(sorted(set(stats.devices)))}"),
        ("transport", f"{stats.transport}{sent}"),
        (stats.algorithm, f"{terminal.seconds(stats.seconds)} s{stats.compiling_in_words}{last}"),
        *(stream.traffic(stats.streamed) if "chunks_read" in stats.streamed else ()),
        ("verified", "yes" if request.verify else "not asked for (--verify)"),
    ]))  # fmt: skip


def _vertices(G: Any, option: str, seed: int, begin: str | None, file: Path | None, number: int | None) -> Any:
    """The vertices to begin at, by the caller's ids."""
    if number is not None:
        from graphdask.sample.one_pass import random_nodes

        if number > G.num_vertices:
            there = terminal.count(G.num_vertices, "vertex")
            raise InputError(f"--number {number} is more than the {there} of the graph; leave it out to start at all")
        return random_nodes(G, number, seed=seed)
    if begin is None and file is None:
        return G.vertex_ids
    texts = file.read_text().split() if file is not None else str(begin).split(",")
    return [vertex(text.strip(), G, option) for text in texts if text.strip()]


def _command(entry: Entry) -> click.Command:
    def call(**options: Any) -> None:
        own = {name: options.pop(name) for name in entry.names}
        begin = (options.pop("begin", None), options.pop("begin_file", None), options.pop("number", None))
        execute(entry, own, begin, Request(**options))

    function: Callable[..., None] = shared_options(call)
    for option in reversed(entry.options + (_begin_options(entry) if entry.start else ())):
        function = option(function)
    return click.command(entry.name, help=entry.help, short_help=entry.help.partition("\n\n")[0])(function)


for _entry in (*ENTRIES, *PARTS):
    command.add_command(_command(_entry))
command.add_command(nodes)
