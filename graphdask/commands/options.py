"""What the commands share: options that say how to read and divide a graph, and where to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from graphdask.commands.paths import FILE, INPUT_FILE, TEXT
from graphdask.display.terminal import Steps, count
from graphdask.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


class Whole(click.ParamType):
    """A whole number that may be written 1_000_000, 1,000,000 or 1e6."""

    name = "integer"

    def __init__(self, min: int | None = None):
        self.min = min

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).replace("_", "").replace(",", "")
        try:
            number = int(text) if text.lstrip("+-").isdigit() else float(text)
            whole = int(number)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if whole != number:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if self.min is not None and whole < self.min:
            self.fail(f"{value} is too small; it must be {self.min:,} or more", param, ctx)
        return whole


class Number(click.ParamType):
    """A number, whole where it is written so."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        self.fail(f"{value!r} is no number", param, ctx)


class Numbers(click.ParamType):
    """Whole numbers with commas between them: `1,2,4`."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(each) for each in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no list such as 1,2,4", param, ctx)


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order in which `--help` shows them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


READ = "edgelist, csv, temporal, adjlist, matrixmarket, metis, dimacs, ldbc, parquet, npz, native, gexf or graphml"
WRITTEN = "edgelist, csv, matrixmarket, metis, dimacs, parquet, npz, native, gexf or graphml"
"""Of `graphdask.io.FORMATS`, which `--help` does not load."""

input_file = click.argument("path", metavar="FILE", type=FILE)
input_stream = click.argument("path", metavar="FILE", type=INPUT_FILE)

ids_option = click.option(
    "--ids",
    type=click.Choice(["int", "str"]),
    help="Vertex ids are numbers, or names even where they look like numbers; default: what they look like.",
)


def _columns(ctx: click.Context, parameter: click.Parameter, value: str | None) -> list[str | int] | None:
    """Names or positions of columns."""
    if value is None:
        return None
    return [int(each) if each.isascii() and each.isdigit() else each for each in value.split(",")]


text_options = stacked(
    click.option(
        "--header/--no-header",
        "header",
        default=None,
        help="Whether the first line of a text that is no comment is a header; default: what it looks like.",
    ),
    click.option("--skip-rows", type=Whole(min=0), metavar="K", help="Pass over the first K lines of a text."),
    click.option(
        "--na-values",
        metavar="WORDS",
        callback=lambda ctx, parameter, value: None if value is None else [word for word in value.split(",") if word],
        help="Words, with commas between them, that stand for a missing id; '' for none; default: NULL, NA, nan, ...",
    ),
    click.option(
        "--columns",
        metavar="A,B,...",
        callback=_columns,
        help="Columns of a text or of Parquet that are source, target and perhaps weight, in a file with times source, "
        "target and time: names, or positions from 0; default: what the header says, else the first.",
    ),
    click.option(
        "--delimiter",
        metavar="C",
        callback=lambda ctx, parameter, value: "\t" if value in ("tab", "\\t") else value,
        help="Character between the columns of a text, tab or whitespace; default: what the first line shows.",
    ),
    click.option(
        "--comment",
        metavar="CHARS",
        help="Characters of which each begins a comment in a text, at the start of a line; '' for none; default: #%.",
    ),
)


@dataclass(kw_only=True)
class TextOptions:
    """What `text_options` give."""

    header: bool | None = None
    skip_rows: int | None = None
    na_values: list[str] | None = None
    columns: list[str | int] | None = None
    delimiter: str | None = None
    comment: str | None = None

    @property
    def of_text(self) -> dict[str, Any]:
        """Arguments of what reads a text."""
        return {
            "header": self.header, "skip_rows": self.skip_rows or 0, "na_values": self.na_values,
            "columns": self.columns, "delimiter": self.delimiter, "comment": self.comment,
        }  # fmt: skip


@dataclass(kw_only=True)
class GraphOptions(TextOptions):
    """What `reading_options` and `cleaning_options` give, and the file."""

    path: Path
    file_format: str | None
    directed: bool | None
    weights: bool | None
    ids: str | None
    self_loops: str
    multi_edges: str


reading_options = stacked(
    click.option(
        "--format", "file_format", metavar="NAME", help=f"Format of FILE: {READ}; default: what its name says."
    ),
    click.option(
        "--directed/--undirected",
        "directed",
        default=None,
        help="Whether edges have a direction; default: what the file says, else directed.",
    ),
    click.option(
        "--weights/--no-weights",
        "weights",
        default=None,
        help="Require weights, or ignore them; default: what the file has as weights, or numbers as its third column, "
        "where they are of use.",
    ),
    ids_option,
    text_options,
)

cleaning_options = stacked(
    click.option(
        "--self-loops", type=click.Choice(["keep", "drop", "error"]), default="keep", show_default=True,
        help="What to do with edges from a vertex to itself.",
    ),
    click.option(
        "--multi-edges", type=click.Choice(["keep", "merge", "error"]), default="keep", show_default=True,
        help="What to do with parallel edges.",
    ),
)  # fmt: skip

device_option = click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where partitions live; auto: on GPUs where there are any.",
)


class Scheme(click.ParamType):
    """How memory is allocated: a name, or a share of the maximum."""

    name = "scheme"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float:
        if value in ("maximal", "just-enough", "fixed"):
            return str(value)
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            self.fail(
                f"{value!r} is neither maximal, just-enough nor fixed, nor a share above 0 and up to 1", param, ctx
            )
        return share


allocation_option = click.option(
    "--allocation", type=Scheme(), metavar="SCHEME",
    help="Room of queues: maximal, just-enough (grows), fixed (0.75 of the maximum), or a share such as 0.25.",
)  # fmt: skip

checkpoint_options = {
    "checkpoint": click.option(
        "--checkpoint", type=TEXT, metavar="FOLDER", help="Write the state there now and then, and go on from it."
    ),
    "every": click.option(
        "--every", metavar="WHEN", help="When: 60s, 5min, 1h, or a number of supersteps.  [default: 60s, at most 5 %]"
    ),
}

partition_options = stacked(
    click.option("--partitions", type=click.IntRange(min=1), help="Default: one for each worker."),
    click.option(
        "--by",
        type=click.Choice(["range", "random", "biased-random", "metis"]),
        help="How vertices are divided among partitions; default: by what the graph looks like.",
    ),
    click.option(
        "--ghosts",
        type=click.Choice(["all", "1-hop"]),
        help="Remote vertices that a partition knows: all, or those its edges lead to; default: the algorithm's.",
    ),
    click.option(
        "--exchange",
        type=click.Choice(["selective", "broadcast"]),
        help="Partitions that a change is sent to: those that know the vertex (selective), or all (broadcast); "
        "default: the algorithm's.",
    ),
    click.option(
        "--id-width", type=click.Choice(["32", "64"]), help="Bits of a vertex id; default: the fewest that do."
    ),
    device_option,
)

scheduler_options = stacked(
    click.option(
        "--scheduler-file", metavar="FILE", type=TEXT, help="Run on the cluster whose scheduler wrote this file."
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Run on the cluster of the scheduler at this address."),
)

cluster_options = stacked(
    click.option(
        "--workers", type=click.IntRange(min=1),
        help="Start so many workers on this host, or wait for them on the cluster; default: run in this process.",
    ),
    scheduler_options,
)  # fmt: skip

overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace the output where it is there; default: refuse."
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")


@contextmanager
def cluster_of(
    workers: int | None, scheduler: str | None, scheduler_file: str | None, device: str = "auto"
) -> Iterator[Any]:
    """The client of the cluster that the options name; None to run in this process."""
    from graphdask.cluster.local import connect, local_cluster

    if scheduler is not None and scheduler_file is not None:
        raise InputError("--scheduler and --scheduler-file name the same thing; give one of them")
    if scheduler is not None or scheduler_file is not None:
        with connect(scheduler, scheduler_file, 1 if workers is None else workers) as client:
            yield client
    elif workers is not None:
        with local_cluster(workers, device) as client:
            yield client
    else:
        yield None


@contextmanager
def cluster_step(request: Any, steps: Steps) -> Iterator[Any]:
    """The client of the cluster that a request names, as a step of the table; None to run in this process."""
    connects = request.scheduler is not None or request.scheduler_file is not None
    name = "connect" if connects else "start cluster"
    if connects or request.workers:
        steps.announce(name)
    with cluster_of(request.workers, request.scheduler, request.scheduler_file, request.device) as client:
        if client is not None:
            steps.add(name, count(len(client.nthreads()), "worker"))
        yield client


PICTURES = (".png", ".pdf", ".svg")


def drawable(name: str, path: Path, overwrite: bool) -> None:
    """Raise InputError, before any work, where a picture cannot be drawn or is there already."""
    if path.suffix.lower() not in PICTURES:
        raise InputError(f"{name} {path}: the name of a picture ends in .png, .pdf or .svg")
    writable(path, overwrite)


def columns_option(kind: str, plural: str) -> Callable[[Any], Any]:
    """The option that names columns of edges, or of vertices."""
    return click.option(
        f"--{kind}-columns", metavar="A,B,...", callback=_kept_columns,
        help=f"Columns of {plural} to keep, with commas between their names, or all; default: none.",
    )  # fmt: skip


def _kept_columns(ctx: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | bool | None:
    """Names of columns, or True for all."""
    return None if value is None else True if value == "all" else value.split(",")


def writable(path: Path, overwrite: bool) -> None:
    """Raise InputError, before any work, where a file cannot be written or is there already."""
    from graphdask.io.outputs import file_output

    file_output(path, overwrite)


def refuse_alone(overwrite: bool, outputs: str, *given: Any) -> None:
    """Raise InputError for --overwrite where nothing is written."""
    if overwrite and all(each is None for each in given):
        raise InputError(f"--overwrite says how to write; give {outputs} as well")
