"""`graphdask bench NAME`: measure a part of graphdask on this machine, beside its peers, as JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from graphdask.cluster.described import header
from graphdask.commands.bench_records import Destination, growing, records_options
from graphdask.commands.options import Numbers, Whole, cluster_of, cluster_options, device_option, refuse_alone
from graphdask.commands.paths import FILE, TEXT
from graphdask.display import terminal
from graphdask.errors import InputError

IN_HEADER = ("benchmark", "host", "machine", "processor", "cores", "python")
"""What the header says of every record."""
CLUSTER = ("workers", "scheduler", "scheduler_file")
"""The options of `cluster_options`."""

repeats_option = click.option(
    "--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Times that each is measured."
)
one_device_option = click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="Where it is measured."
)
suite_option = click.option(
    "--suite", default="quick", show_default=True, help="quick: a minute on 2 cores; full: to compare."
)
plot_option = click.option("--plot", type=FILE, metavar="DIR", help="Draw the figures into this folder.")
ranks_option = click.option("--ranks", type=Numbers(), default=(1,), help="1,2,4: workers, or ranks of this process.")


@click.group("bench")
def command() -> None:
    """Measure a part of graphdask on this machine, beside its peers.

    The first record describes the machine and the versions.
    """


@command.command("io")
@click.option(
    "--size", "size_mb", type=click.FloatRange(min=0.001), default=100, show_default=True, help="File size in MB."
)
@click.option("--threads", type=click.IntRange(min=1), help="Parsing threads; default: one for each core.")
@repeats_option
@records_options
def io(to: Destination, **arguments: Any) -> None:
    """Reading an edge list, against pandas and pyarrow."""
    from graphdask.bench import io

    _measure(io, to, arguments)


@command.command("read")
@click.option("--edges", type=Whole(min=1), default=5_000_000, show_default=True, help="Edges of each file.")
@click.option("--vertices", type=Whole(min=2), default=1_000_000, show_default=True, help="Ids are below this.")
@click.option("--scale", type=click.IntRange(min=1), default=18, show_default=True, help="Of the R-MAT graph.")
@click.option("--case", "cases", multiple=True, type=click.Choice(["text", "weights", "csv", "gzip", "rmat"]),
              help="Only this one; may be repeated.")  # fmt: skip
@repeats_option
@records_options
def read(to: Destination, cases: tuple[str, ...], **arguments: Any) -> None:
    """CPU time and peak memory of reading text to a graph, against pandas and SciPy; a process for each call."""
    from graphdask.bench import read

    _measure(read, to, ({"cases": cases} if cases else {}) | arguments)


@command.command("program")
@click.option("--scale", type=click.IntRange(min=1), default=16, show_default=True, help="Of an R-MAT graph.")
@click.option("--edge-factor", type=click.IntRange(min=1), default=16, show_default=True, help="Edges per vertex.")
@click.option("--case", "cases", multiple=True, type=click.Choice(["bfs", "sssp", "components", "pagerank", "katz"]),
              help="Only this one; may be repeated.")  # fmt: skip
@click.option("--iterations", type=click.IntRange(min=1), default=20, show_default=True, help="Of PageRank.")
@click.option("--parts", type=click.IntRange(min=1), default=1, show_default=True, help="Partitions of the graph.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Measure other libraries too.")
@repeats_option
@one_device_option
@records_options
def program(to: Destination, cases: tuple[str, ...], **arguments: Any) -> None:
    """Vertex programs, each beside the algorithm and other libraries: NetworkX and python-graphblas."""
    from graphdask.bench import program

    _measure(program, to, ({"cases": cases} if cases else {}) | arguments)


@command.command("write")
@click.option("--edges", type=Whole(min=1), default=10_000_000, show_default=True, help="Edges that are written.")
@repeats_option
@records_options
def write(to: Destination, **arguments: Any) -> None:
    """Writing generated edges, against pandas and pyarrow."""
    from graphdask.bench import write

    _measure(write, to, arguments)


@command.command("stream")
@click.option("--scale", type=click.IntRange(min=1), default=20, show_default=True, help="Of an R-MAT graph.")
@click.option("--edge-factor", type=click.IntRange(min=1), default=16, show_default=True, help="Edges per vertex.")
@repeats_option
@click.option(
    "--graph", "graph_file", metavar="FILE", type=TEXT, help="A graph from a file instead, without its directions."
)
@click.option("--directory", type=FILE, help="On the disk that is measured.")
@one_device_option
@records_options
def stream(to: Destination, **arguments: Any) -> None:
    """Graphs larger than memory: against a sequential read of the file, or the link to a GPU, and against memory."""
    from graphdask.bench import stream

    _measure(stream, to, arguments)


@command.command("comm")
@click.option("--communicator", default="all", show_default=True, help="One of them, or all.")
@one_device_option
@click.option(
    "--ranks",
    type=click.IntRange(min=2),
    multiple=True,
    default=(2, 4),
    show_default=True,
    help="Ranks that exchange; may be repeated.",
)
@click.option("--size", "sizes", type=Whole(min=1), multiple=True, help="Bytes for each peer; default: 8 B to 128 MiB.")
@records_options
def comm(to: Destination, sizes: tuple[int, ...], **arguments: Any) -> None:
    """Latency and bandwidth of all-to-all exchanges."""
    from graphdask.bench import comm

    _measure(comm, to, arguments | ({"sizes": sizes} if sizes else {}))


@command.command("generate")
@click.option("--suite", default="quick", show_default=True, help="tiny; quick: a minute on 2 cores; paper: for GPUs.")
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--vertices", "n", type=Whole(min=2), help="Measure one graph of this size instead of a suite.")
@click.option("--degree", type=Whole(min=1), default=4, show_default=True, help="With --vertices.")
@click.option("--p", type=float, default=0.5, show_default=True, help="With --vertices.")
@click.option("--devices", type=click.IntRange(min=1), help="GPUs, or threads on the CPU, at most; default: all.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Times that each is measured."
)
@click.option("--peers/--no-peers", default=True, show_default=True, help="Measure other generators too.")
@plot_option
@device_option
@records_options
def generate(to: Destination, **arguments: Any) -> None:
    """Generators: the experiments of the cuPPA paper, and the generators of others.

    Experiments: rate, scaling (Figure 16), vertices (11), vertices-degree (12), degree (13), probability (14), threads
    (15), peers (10).
    """
    from graphdask.bench import generate

    _measure(generate, to, arguments, progress=_bar, overwrite=to.overwrite)


@command.command("sample")
@click.option(
    "--suite",
    default="quick",
    show_default=True,
    help="quick: a minute on 2 cores; full: to compare; peers: others' samplers, each with ours beside it; "
    "selection: ways to draw neighbours without replacement; "
    "out-of-memory: streamed graphs beside those in memory.",
)
@click.option("--sampler", "samplers", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--walks", type=Numbers(), default=(), help="1000000,40000000: walks of each case; default: the suite's.")
@click.option("--scale", type=Whole(min=1), help="R-MAT with 2**SCALE vertices; default: the suite's.")
@click.option("--graph", metavar="FILE", type=TEXT,
              help="A graph from a file instead; of a directed one Metropolis-Hastings walks, which are not defined "
              "there, are left out.")  # fmt: skip
@click.option("--directed/--undirected", "directed", default=None, help="How it is read; default: as it says.")
@ranks_option
@click.option(
    "--placement",
    type=click.Choice(["auto", "replicated", "partitioned"]),
    default="auto",
    help="Of the graph: whole on every rank, or divided.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Times that each is measured, and oftener where it takes milliseconds, unless it is 1.",
)
@click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Of graph, weights, starts and samples.")
@click.option("--gather/--no-gather", default=True, show_default=True, help="Bring samples here, and measure that too.")
@click.option(
    "--peers/--no-peers",
    default=True,
    show_default=True,
    help="Measure igraph, NetworkX, torch-cluster, pyg-lib too; on a GPU pylibcugraph.",
)
@device_option
@cluster_options
@records_options
def sample(to: Destination, **arguments: Any) -> None:
    """Random walks and traversal samplers, by each bias and method: sampled edges per second."""
    from graphdask.bench import sample
    from graphdask.bench.selection import TABLES

    _measure(sample, to, arguments, columns=TABLES if arguments["suite"] == "selection" else None)


@command.command("analytics")
@suite_option
@click.option("--algorithm", "algorithms", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--scale", "scales", type=Numbers(), default=(), help="R-MAT graphs of 2**SCALE vertices: 18 or 18,20.")
@click.option("--edge-factor", type=Whole(min=1), help="Edges per vertex of R-MAT graphs.  [default: 16]")
@click.option(
    "--graph", "files", multiple=True, metavar="FILE", type=TEXT, help="A graph from a file; may be repeated."
)
@click.option("--directed/--undirected", "directed", default=None, help="How files are read; default: as they say.")
@click.option(
    "--scaling",
    multiple=True,
    metavar="NAME",
    help="Instead, a set of the paper's Figure 5: strong, weak-edge or weak-vertex; may be repeated.",
)
@click.option(
    "--ranks", type=Numbers(), default=(), help="1,2,4: partitions; default: up to the cores, GPUs or workers."
)
@click.option("--sources", type=Whole(min=1), help="Vertices to start from.  [default: 16; full: 64]")
@click.option("--repeats", type=Whole(min=1), help="Runs of what has no source.  [default: 3; full: 10]")
@click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Of graphs, weights and sources.")
@click.option(
    "--max-weight",
    type=Whole(min=1),
    default=255,
    show_default=True,
    help="Weights are drawn from 1 to this, where there are none and an algorithm takes them.",
)
@click.option("--by", type=click.Choice(["range", "random", "biased-random", "metis"]), help="Partitioner.")
@click.option("--ghosts", type=click.Choice(["all", "1-hop"]), help="Remote vertices that a partition knows.")
@click.option("--exchange", type=click.Choice(["selective", "broadcast"]), help="Partitions that a change is sent to.")
@click.option(
    "--choices", is_flag=True, help="Each partitioner, ghosts, exchange, id width, allocation and fusion in turn."
)
@click.option(
    "--comm",
    "data_plane",
    type=click.Choice(["auto", "tcp", "ucx", "nccl", "shm"]),
    help="Between workers of a cluster; in one process ranks are threads.",
)
@click.option("--verify", is_flag=True, help="Prove one answer of each algorithm, on each graph and number of ranks.")
@click.option("--peers/--no-peers", default=True, show_default=True, help="Measure other libraries too.")
@click.option("--gapbs", type=FILE, metavar="DIR", help="Folder of the compiled GAP suite.")
@plot_option
@device_option
@cluster_options
@records_options
def analytics(to: Destination, data_plane: str | None, **arguments: Any) -> None:
    """Algorithms from many sources on 1 to N ranks, beside other libraries.

    Algorithms: bfs, bfs-push, components, strong, betweenness, pagerank, pagerank-20, triangles, lcc, core, cdlp,
    sssp, pagerank-weighted, sssp-float32. TEPS are counted by Graph500's convention (edges of the input in the source's
    component) and over the edges that were scanned. pagerank is float32 to 1e-4; pagerank-20, float32 without
    weights, and pagerank-weighted, float64 with weights, make 20 iterations, as peers do, to compare iteration_ms.
    """
    import dask.config

    from graphdask.bench import analytics

    if data_plane is not None and not any(arguments[name] for name in CLUSTER):
        raise InputError("--comm is for the workers of a cluster; add --workers, --scheduler or --scheduler-file")
    with dask.config.set({} if data_plane is None else {"graphdask.comm": data_plane}):
        _measure(analytics, to, arguments, {"comm": data_plane}, progress=_bar, overwrite=to.overwrite)


@command.command("dynamic")
@suite_option
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="temporal, random, or generated: "
              "R-MAT made by the workers.  [default: the first two]")  # fmt: skip
@click.option("--temporal", "files", multiple=True, metavar="FILE", type=TEXT,
              help="`source destination time`, in place of generated temporal graphs; may be repeated.")  # fmt: skip
@click.option("--graph", "graphs", multiple=True, metavar="FILE", type=TEXT,
              help="A graph without times, for random batches in place of R-MAT; may be repeated.")  # fmt: skip
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Besides static and nd; may be repeated.")
@click.option("--stop", "stops", multiple=True, metavar="NAME", help="tolerance or error.  [default: both]")
@click.option("--error", type=float, default=1e-6, show_default=True, help="L1, at which methods are compared.")
@click.option("--scale", type=Whole(min=1), help="R-MAT with 2**SCALE vertices; default: the suite's.")
@click.option("--batch", "shares", type=float, multiple=True, metavar="SHARE", help="Of the edges, in a batch; "
              "default: the suite's.")  # fmt: skip
@click.option("--batches", type=Whole(min=1), help="In a stream; default: the suite's.")
@click.option("--partition-by", default="both", show_default=True, help="both, in or none: after which degrees "
              "vertices are for a thread or a block of a GPU.")  # fmt: skip
@click.option("--errors", type=Whole(min=1), help="After how many batches the error is measured.  [default: 4]")
@ranks_option
@click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Of graphs and batches.")
@plot_option
@device_option
@cluster_options
@records_options
def dynamic(to: Destination, **arguments: Any) -> None:
    """PageRank of graphs that change: every method, at the same tolerance and at the same error.

    Methods: static, nd, dt, df, dfp, and at the same error auto.
    """
    from graphdask.bench import dynamic

    _measure(dynamic, to, arguments, progress=_bar, overwrite=to.overwrite)


Columns = Sequence[str] | Mapping[str, Sequence[str]]


def _measure(
    benchmark: Any, to: Destination, arguments: dict[str, Any], described: Mapping[str, Any] = MappingProxyType({}),
    columns: Columns | None = None, **more: Any,
) -> None:  # fmt: skip
    """Run a benchmark, and give each of its records where it is wanted.

    Parameters
    ----------
    benchmark : module
        Of `graphdask.bench`.
    to : Destination
    arguments : dict
        Of its `run`, which the header names with what else is `described`; those of `cluster_options` name the client
        with which it runs.
    described : mapping
    columns : sequence, or mapping of sequences, optional
        Of the table. Default: those of the module.
    **more
        Arguments that the header does not name.
    """
    shown = getattr(benchmark, "SHOWN", ()) if columns is None else columns
    refuse_alone(to.overwrite, "--output", to.output, arguments.get("plot"))
    cluster = {name: arguments.pop(name) for name in CLUSTER if name in arguments}
    described = {name: value for name, value in cluster.items() if name == "workers"} | dict(described)
    with ExitStack() as stack:
        name = benchmark.__name__.rpartition(".")[2]
        each = stack.enter_context(_kept(header(name, {**arguments, **described}), to, shown))
        if cluster:
            more["client"] = stack.enter_context(cluster_of(**cluster, device=arguments["device"]))
        benchmark.run(each=each, **arguments, **more)


@contextmanager
def _kept(head: dict[str, Any], to: Destination, columns: Columns) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What takes each record as soon as it is there; a long run that is ended leaves what it has measured.

    The record goes to the file, and, as a line, to standard output as JSON, or to standard error. The table comes at
    the end, also where that is an error, or Ctrl-C.
    """
    out, records, written = to.file(), [head], 0
    stays = not to.overwrite and (out is None or out.file.opened is None)  # what an error leaves in the file

    def keep(record: dict[str, Any]) -> None:
        nonlocal written
        records.append(record)
        new = records if len(records) == 2 else [record]
        append(new)
        written = len(records)
        if to.as_json:
            _print_json(new)
        else:
            _print_line(record, columns)

    try:
        with growing(out) as append:
            yield keep
    except BaseException:
        if len(records) > 1 and not to.as_json:
            _show(records, to.output if stays else None, columns, written)
        raise
    if not to.as_json:
        _show(records, to.output, columns, len(records))
    elif len(records) == 1:
        _print_json(records)


def _print_line(record: dict[str, Any], columns: Columns) -> None:
    """A record as one line on standard error, above the bar of a terminal."""
    from tqdm.auto import tqdm

    names = columns[record["table"]] if isinstance(columns, Mapping) else columns or list(record)
    cells = [f"{name}={_cell(record[name])}" for name in names if record.get(name) is not None]
    tqdm.write("  ".join(cells), file=sys.stderr)
    sys.stderr.flush()


def _print_json(records: Iterable[dict[str, Any]]) -> None:
    click.echo("".join(terminal.to_json(record) + "\n" for record in records), nl=False)


def _show(records: list[dict[str, Any]], output: Path | None, columns: Columns, written: int) -> None:
    """The records, in one table with the given columns, or in one for each title, which they have as `table`, and how
    many of them are `written` to the output."""
    machine = records[0]
    click.echo(f"{machine['processor']}, {machine['cores']} cores; graphdask {machine['versions']['graphdask']}\n")
    if isinstance(columns, Mapping):
        tables = {title: [record for record in records[1:] if record["table"] == title] for title in columns}
        click.echo("\n\n".join(f"{title}\n\n{_table(of, columns[title])}" for title, of in tables.items() if of))
    else:
        click.echo(_table(records[1:], columns))
    if output is not None and written:
        click.echo(f"\n{terminal.count(written, 'record')} written to {output}")


def _bar(steps: Iterable[Any]) -> Any:
    """The cases of a benchmark, with a bar on a terminal."""
    if not sys.stderr.isatty():
        return steps
    from tqdm.auto import tqdm

    return tqdm(steps, unit=" cases", leave=False)


def _table(records: list[dict[str, Any]], columns: Sequence[str] = ()) -> str:
    """Columns are the given ones, or the keys in the order in which they appear; none that is the same in all."""
    keys = list(dict.fromkeys(key for record in records for key in record if key not in IN_HEADER))
    keys = [key for key in columns if key in keys] or keys
    shown = [key for key in keys if len(records) == 1 or len({repr(record.get(key)) for record in records}) > 1]
    rows = [[_cell(record.get(key)) for key in shown] for record in records]
    right = [k for k, key in enumerate(shown) if all(isinstance(r.get(key, 0), int | float) for r in records)]
    return terminal.table(shown, rows, right)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
