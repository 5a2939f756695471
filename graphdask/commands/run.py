"""`graphdask run ALGORITHM FILE`: read, divide, compute, verify, write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from graphdask.commands import stream, streams, weights
from graphdask.commands.algorithms import Algorithms, Chosen
from graphdask.commands.columns import check_output, put_columns, write_columns
from graphdask.commands.options import (
    GraphOptions,
    cleaning_options,
    cluster_options,
    cluster_step,
    input_stream,
    json_option,
    overwrite_option,
    partition_options,
    reading_options,
    refuse_alone,
    stacked,
)
from graphdask.commands.paths import OUTPUT, OUTPUT_FILE, STREAM
from graphdask.display import terminal
from graphdask.display.phases import OF_GRAPH, progress_over
from graphdask.errors import InputError


@dataclass(kw_only=True)
class Request(GraphOptions):
    """The options of a run, as they were given."""

    partitions: int | None
    by: str | None
    ghosts: str | None
    exchange: str | None
    id_width: str | None
    device: str
    workers: int | None
    scheduler_file: str | None
    scheduler: str | None
    verify: bool
    output: Path | None
    output_format: str | None
    overwrite: bool
    as_json: bool
    memory: str | None

    @property
    def how(self) -> dict[str, Any]:
        """Arguments that all algorithms take."""
        return {"exchange": self.exchange}


graph_options = stacked(
    cluster_options,
    reading_options,
    cleaning_options,
    partition_options,
    click.option("--memory", metavar="SIZE", help="Bytes in which each worker streams a .gdl file.  [default: 2GiB]"),
    json_option,
)

shared_options = stacked(
    input_stream,
    click.option("--verify", is_flag=True, help="Prove partitions and answer; exit code 3 if wrong."),
    click.option("--output", metavar="FILE", type=OUTPUT_FILE,
                 help="Write a row for each vertex; .parquet, .csv, .txt or .npz; - is standard output."),
    click.option("--output-format", type=click.Choice(["csv", "txt"]),
                 help="Of --output -, where no name says it.  [default: csv]"),
    overwrite_option,
    graph_options,
)  # fmt: skip


@click.group(cls=Algorithms)
def command() -> None:
    """Run an algorithm over a graph from a file.

    In place of an algorithm, PROGRAM.py:NAME is a gd.Program of your own in a Python file.

    FILE may be -, standard input: text, also compressed, in the format that --format names or its first lines show.
    """


def execute(chosen: Chosen, **options: Any) -> None:
    """Do the run and show what came of it."""
    request = Request(**options)
    refuse_alone(request.overwrite, "--output", request.output)
    if request.output_format is not None and request.output != STREAM:
        raise InputError("--output-format is for --output -; the name of a file says its format")
    if request.output == STREAM:
        streams.refuse_of_files("--output", ("--overwrite", request.overwrite))
    elif request.output is not None:
        check_output(request.output, request.path, request.overwrite)
    with streams.standard_output() if request.output == STREAM else nullcontext() as out:
        _execute(chosen, request, out)


def _execute(chosen: Chosen, request: Request, out: IO[bytes] | None) -> None:
    """Do it; `out` is standard output, where the answer goes there."""
    steps, on_disk = terminal.Steps(), request.path.suffix == stream.ENDING
    with given(request), divided(request, steps, chosen) as (G, client):
        with steps.step(chosen.title) as step, weights.as_asked(request.weights):
            result = chosen.start(G, **request.how, client=client)
            step.edges = result.stats.edges
        with steps.step("gather") as gather:
            found = chosen.summary(result)
            step.detail = chosen.algorithm.words(found)
            gather.detail = f"{', '.join(result.columns)} of every vertex, to this process"
        if request.verify:
            with steps.step("verify graph") as step:
                G.verify(**({} if on_disk else {"client": client}))
                step.detail, step.edges = "verified", G.num_edges
            with steps.step("verify answer") as step:
                result.verify()
                step.detail, step.edges = "verified", G.num_edges
        if request.output is not None:
            with steps.step("write") as step:
                if out is None:
                    write_columns(result, request.output, request.overwrite)
                else:
                    put_columns(result, out, request.output_format or "csv")
                request.output = streams.named(request.output, OUTPUT)
                step.detail = f"{request.output}: {', '.join(('vertex', *result.columns))}"
    show(request, chosen, G, result, found, steps)


@contextmanager
def given(request: Request) -> Iterator[None]:
    """The file that is read, while it is there: of standard input, where that is kept."""
    named = streams.named(request.path)
    if request.path == STREAM and request.memory is not None:
        raise InputError(stream.not_streamed(request.path))
    with streams.readable(request.path, request.file_format) as (request.path, request.file_format):
        yield
    request.path = named


@contextmanager
def divided(request: Request, steps: terminal.Steps, chosen: Chosen) -> Iterator[tuple[Any, Any]]:
    """The graph with its partitions built, and the client of the cluster that holds them; None in this process."""
    streamed = request.path.suffix == stream.ENDING
    if streamed:
        stream.refuse(request, chosen.own)
    elif request.memory is not None:
        raise InputError(stream.not_streamed(request.path))
    with cluster_step(request, steps) as client:
        if streamed:
            with stream.opened(request, steps) as G:
                yield G, client
            return
        with progress_over(request.path, (*OF_GRAPH, "partitioning")):
            G = read(request, steps, weights.wanted(request.weights, chosen.takes_weights))
            G = _partitioned(G, request, steps, client)
        yield G, client


def _partitioned(G: Any, request: Request, steps: terminal.Steps, client: Any) -> Any:
    """The graph with its partitions built, as a step."""
    with steps.step("partition") as step:
        G = G.partition(
            request.partitions,
            request.by,
            request.ghosts,
            device=request.device,
            id_width=None if request.id_width is None else int(request.id_width),
        )
        G.persist(client=client)
        step.edges = G.num_edges
        parts, largest = len(G.built.nbytes), max(G.built.nbytes)
        step.detail = f"{terminal.count(parts, 'partition')}, the largest of {terminal.size(largest)}"
    return G


def read(request: Any, steps: terminal.Steps, wanted: bool | str | None) -> Any:
    """Read the graph that the options of a command name, as a step; `wanted`: which weights."""
    from graphdask.graph.construct import read_graph

    with steps.step("read") as step:
        G = read_graph(
            streams.address_of(request.path) or request.path,
            format=request.file_format,
            weights=wanted,
            ids=request.ids,
            **request.of_text,
            directed=request.directed,
            self_loops=request.self_loops,
            multi_edges=request.multi_edges,
        )
        step.edges = G.source.num_edges
        kind = "directed" if G.directed else "undirected"
        vertices = terminal.count(G.num_vertices, "vertex")
        step.detail = f"{vertices}, {terminal.count(step.edges, 'edge')}, {kind}{', weighted' if G.weighted else ''}"
    return G


def show(request: Request, chosen: Chosen, G: Any, result: Any, found: dict[str, Any], steps: terminal.Steps) -> None:
    """Print the tables, or the JSON object."""
    stats, takes = result.stats, chosen.takes_weights
    if request.as_json:
        terminal.print_json({
            "algorithm": stats.algorithm, "file": request.path, "vertices": G.num_vertices, "edges": G.num_edges,
            "directed": G.directed, "weighted": G.weighted, "weights": weights.status(G, request.weights, takes),
            "report": G.report, "answer": found,
            "verified": True if request.verify else None, "output": request.output,
            "steps": [step.to_dict() for step in steps.steps], "stats": stats.to_dict(),
        })  # fmt: skip
        return
    click.echo(f"{request.path.name}\n")
    click.echo(steps.table())
    click.echo("")
    weighting = weights.in_words(G, request.weights, takes, chosen.algorithm.command)
    click.echo(terminal.pairs([("weights", weighting), *facts(stats, request.verify)]))


def memory_in_words(stats: Any) -> str:
    """What was announced, what the algorithm's own arrays took, and what grew."""
    start, end = terminal.size(stats.allocated_start), terminal.size(stats.allocated_end)
    took = start if start == end else f"{start}, in the end {end}"
    grew = f", grown {terminal.count(stats.growths, 'time')}" if stats.growths else ""
    return f"{stats.allocation}: {terminal.size(stats.memory)} announced; arrays of {took}{grew}"


def facts(stats: Any, verified: bool) -> list[tuple[str, str]]:
    """How a run was done, in words."""
    devices = ", ".join(f"{number} x {name}" for name, number in Counter(stats.devices).items())
    lines = [
        ("partitions", f"{stats.ranks} ({devices}), ghosts {stats.ghosts}"),
        ("transport", f"{stats.transport}, {stats.exchange}, {terminal.size(stats.bytes_sent)} sent"),
        ("memory", memory_in_words(stats)),
        (
            stats.algorithm,
            f"{terminal.count(len(stats), 'superstep')} in {terminal.seconds(stats.seconds)} s"
            + stats.compiling_in_words,
        ),
        ("verified", "yes" if verified else "not asked for (--verify)"),
    ]
    if stats.streamed:
        each = " of each" if stats.ranks > 1 else ""
        memory = f"{terminal.size(stats.memory)}{each}, of which {terminal.size(stats.allocated_start)} beside chunks"
        lines[2 if each else 0 : 3] = [("memory", memory), *stream.traffic(stats.streamed)]
    if "messages" in stats.chosen:
        lines.insert(2, ("messages", f"{stats.chosen['messages']}, because {stats.chosen['because']}"))
    if "order" in stats.chosen:
        lines.insert(3, ("order", stats.chosen["order"]))
    if "until" in stats.chosen:
        lines.insert(3, ("until", stats.chosen["until"]))
    if stats.restarts:
        lines.append(("restarts", f"{stats.restarts}, after a lost worker"))
    return lines


command.execute, command.shared = execute, shared_options
