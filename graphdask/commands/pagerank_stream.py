"""`graphdask pagerank-stream FILE`: replay a temporal graph in batches, with PageRank after each.

Source of the experiment: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for
dynamic graphs, 2024, Section 5.1.4: most edges are there at the start, the rest come in batches, in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import (
    TextOptions,
    cluster_of,
    cluster_options,
    device_option,
    drawable,
    ids_option,
    input_file,
    overwrite_option,
    refuse_alone,
    stacked,
    text_options,
)
from graphdask.commands.paths import FILE
from graphdask.display import terminal
from graphdask.errors import InputError

METHODS = ("static", "nd", "dt", "df", "dfp", "auto")

stream_options = stacked(
    click.option("--preload", default=0.9, show_default=True, metavar="SHARE",
                 help="Share of the edges, the earliest, that the graph begins with."),
    click.option("--batch", default=1e-4, show_default=True, metavar="SHARE",
                 help="Share of all edges that a batch inserts, one edge at least."),
    click.option("--batches", default=100, show_default=True, type=click.IntRange(min=1),
                 help="Batches at most; fewer where the edges end."),
    click.option("--appear/--all-vertices", "appear",
                 help="Let vertices appear with their first edge; default: all are there from the start."),
    click.option("--method", "methods", multiple=True, type=click.Choice(METHODS), default=("dfp",), show_default=True,
                 help="static: from scratch; nd: from the last ranks; dt: what the changes reach; df: what changes of "
                      "ranks reach; dfp: the same, leaving what has settled; auto: the fastest for --l1-error. May be "
                      "given more than once: each has a graph and ranks of its own."),
    click.option("--damping", default=0.85, show_default=True, help="Probability of following an edge, in [0, 1)."),
    click.option("--tol", type=float,
                 help="Largest change of a rank at the end; 0: exactly --max-iter iterations.  [default: 1e-10]"),
    click.option("--l1-error", "bound", type=float, metavar="ERROR",
                 help="Instead of --tol: stop where the L1 error is proved to be this at most; auto wants it."),
    click.option("--max-iter", default=500, show_default=True, help="Iterations at most."),
    click.option("--frontier-tol", type=float, metavar="TOL",
                 help="Relative change from which out-neighbours are affected; of df and dfp.  [default: 1e-6]"),
    click.option("--prune-tol", type=float, metavar="TOL",
                 help="Relative change up to which a vertex is left; of dfp.  [default: 1e-6]"),
    click.option("--error/--no-error", "with_error", default=True, show_default=True,
                 help="After each batch, compare with ranks from scratch at a tolerance of 1e-100, 500 iterations."),
)  # fmt: skip


@dataclass
class Request(TextOptions):
    """The options, as they were given."""

    path: Path
    preload: float
    batch: float
    batches: int
    appear: bool
    methods: tuple[str, ...]
    damping: float
    tol: float | None
    bound: float | None
    max_iter: int
    frontier_tol: float | None
    prune_tol: float | None
    with_error: bool
    directed: bool
    ids: str | None
    partitions: int | None
    by: str | None
    device: str
    workers: int | None
    scheduler_file: str | None
    scheduler: str | None
    output: Path | None
    plot: Path | None
    overwrite: bool
    as_json: bool

    def check(self) -> None:
        """Refuse what cannot be, before anything is read."""
        for name, given, takes in (
            ("--frontier-tol", self.frontier_tol, ("df", "dfp", "auto")),
            ("--prune-tol", self.prune_tol, ("dfp", "auto")),
        ):
            if given is not None and not set(self.methods) & set(takes):
                raise InputError(f"{name} is of {' and '.join(takes)}, which --method does not name")
        if "auto" in self.methods and self.bound is None:
            raise InputError("--method auto chooses the fastest way to an error; say --l1-error")

    def of(self, method: str) -> dict[str, Any]:
        """Arguments of `pagerank`."""
        found = {"damping": self.damping, "tol": self.tol, "error": self.bound, "max_iter": self.max_iter}
        if method in ("df", "dfp", "auto"):
            found["frontier_tol"] = self.frontier_tol
        if method in ("dfp", "auto"):
            found["prune_tol"] = self.prune_tol
        return found


@click.command("pagerank-stream")
@input_file
@stream_options
@click.option("--directed/--undirected", "directed", default=True, show_default=True,
              help="Whether edges have a direction.")  # fmt: skip
@ids_option
@text_options
@click.option("--partitions", type=click.IntRange(min=1), help="Default: one for each worker.")
@click.option("--by", type=click.Choice(["range", "random"]), help="Partitioner; default: random, where there are more "
              "than one.")  # fmt: skip
@device_option
@cluster_options
@click.option("--output", metavar="FILE", type=FILE, help="Write a line of JSON for each batch "
              "and method.")  # fmt: skip
@click.option("--plot", metavar="FILE", type=FILE, help="Draw runtime, affected vertices and "
              "error of every batch; .png, .pdf or .svg.")  # fmt: skip
@overwrite_option
@click.option("--json", "as_json", is_flag=True, help="Print these lines instead of tables.")
def command(**options: Any) -> None:
    """Replay the edges of FILE, `source destination time`, in batches, with PageRank after each.

    A line for each batch and method says how long the batch and its PageRank took, how many vertices were affected,
    how many iterations were done and by which method, and how large the L1 error is; in the end there are the means.
    """
    request = Request(**options)
    request.check()
    from graphdask.io.record_files import records_output

    refuse_alone(request.overwrite, "--output or --plot", request.output, request.plot)
    if request.plot is not None:
        drawable("--plot", request.plot, request.overwrite)
    out = None if request.output is None else records_output(request.output, request.overwrite, belongs=None)
    records = []
    with ExitStack() as stack:
        append = None if out is None else stack.enter_context(out.growing())
        where = request.workers, request.scheduler, request.scheduler_file, request.device
        client = stack.enter_context(cluster_of(*where))
        for record in replay(request, client):
            records.append(record)
            if append is not None:
                append([terminal.to_json(record)])
            show(request, record)
    if request.plot is not None:
        from graphdask.plot import changing_ranks

        drawn = [record | {"ms": 1e3 * record["seconds"]} for record in records]
        title = f"{request.path.name}, batches of {request.batch:g} of its edges"
        changing_ranks(drawn, request.plot, title=title, overwrite=request.overwrite)
    if not request.as_json:
        click.echo(f"\n{summary(request, records)}")


def show(request: Request, record: dict[str, Any]) -> None:
    """Print what is known of a batch, above the progress bar."""
    from tqdm.auto import tqdm

    with tqdm.external_write_mode():
        if request.as_json:
            terminal.print_json(record)
            return
        shown = columns(request, record)
        if not record["batch"] and record["method"] == request.methods[0]:
            click.echo("  " + "  ".join(name.rjust(width) for name, width, _ in shown))
        click.echo(("  " + "  ".join(cell.rjust(width) for _, width, cell in shown)).rstrip())


def columns(request: Request, record: dict[str, Any]) -> list[tuple[str, int, str]]:
    """Name, width and cell of each column of the line of a batch."""
    found = [
        ("batch", 6, f"{record['batch']:,}"),
        ("method", 6, record["method"]),
        ("update ms", 9, f"{record['update_seconds'] * 1e3:.2f}"),
        ("pagerank ms", 11, f"{record['seconds'] * 1e3:.2f}"),
        ("affected", max(8, len(f"{record['vertices']:,}")), f"{record['affected']:,}"),
        ("iterations", 10, f"{record['iterations']:,}"),
    ]
    if request.with_error:
        found.append(("L1 error", 8, f"{record['error']:.1e}"))
    if request.bound is not None:
        found.append(("at most", 8, f"{record['bound']:.1e}"))
    done = ", ".join(f"{name} {count}" for name, count in record["steps"].items())
    return [*found, ("by method", 0, done)]


def replay(request: Request, client: Any) -> Iterator[dict[str, Any]]:
    """Yield a record for each batch and method."""
    import numpy as np
    from tqdm.auto import tqdm

    from graphdask.algorithms.ranking import dynamic_pagerank, pagerank
    from graphdask.dynamic.graph import DynamicGraph
    from graphdask.dynamic.temporal import read_stream

    stream = read_stream(
        request.path, preload=request.preload, batch=request.batch, batches=request.batches,
        directed=request.directed, appear=request.appear, ids=request.ids,
        **request.of_text,
    )  # fmt: skip
    G = stream.graph.partition(request.partitions, request.by, device=request.device)
    graphs = {method: DynamicGraph(G) for method in dict.fromkeys(request.methods)}
    how: dict[str, Any] = {"client": client, "progress": False}
    for method, D in graphs.items():
        if stream.first:
            load_kernels(D, method, request.bound is not None, stream.src[:1], stream.dst[:1], how)
        pagerank(D, method="static", **request.of("static"), **how)
    for k, batch in enumerate(tqdm(stream, unit=" batches", leave=False, disable=not terminal.watched())):
        exact = None
        for method, D in graphs.items():
            update = D.update(insert=batch, **how)
            result: Any = pagerank(D, method=method, **request.of(method), **how)
            record = {
                "file": request.path.name, "batch": k, "method": method, "done": result.method,
                "edges": len(batch[0]), "inserted": update.inserted, "duplicates": update.duplicates,
                "appeared": update.vertices, "vertices": D.num_vertices, "num_edges": D.num_edges,
                "update_seconds": update.seconds, "seconds": result.stats.seconds, "iterations": result.iterations,
                "affected": result.affected, "residual": result.residual, "converged": result.converged,
                "steps": result.steps, "bound": result.error,
            }  # fmt: skip
            if request.with_error:
                if exact is None:
                    exact = dynamic_pagerank(
                        D, "static", request.damping, 1e-100, 500, None, None, {}, False, keeps=False, **how
                    ).rank
                record["error"] = float(np.abs(result.rank - exact).sum())
            yield record


def load_kernels(D: Any, method: str, to_error: bool, src: Any, dst: Any, how: dict[str, Any]) -> None:
    """Delete an edge and insert it again, so that what is built and loaded on first use counts in no batch."""
    from graphdask.algorithms.ranking import pagerank

    loose: dict[str, Any] = {"error": 1.0} if to_error else {"tol": 1.0}
    pagerank(D, method="static", **loose, **how)
    for change in ("delete", "insert"):
        D.update(**{change: (src, dst)}, **how)
        pagerank(D, method=method, **loose, **how)


def summary(request: Request, records: list[dict[str, Any]]) -> str:
    """A row for each method: means over the batches, and the largest error."""
    rows = []
    for method in dict.fromkeys(request.methods):
        mine = [record for record in records if record["method"] == method]
        mean = {name: sum(record[name] for record in mine) / len(mine)
                for name in ("update_seconds", "seconds", "iterations", "affected")}  # fmt: skip
        error = max(record["error"] for record in mine) if request.with_error else None
        rows.append([
            method, f"{mean['update_seconds'] * 1e3:.2f}", f"{mean['seconds'] * 1e3:.2f}",
            f"{mean['iterations']:.1f}", f"{mean['affected']:,.0f}", "" if error is None else f"{error:.2g}",
        ])  # fmt: skip
    last = records[-1]
    batches = f"{last['batch'] + 1:,} batches" if last["batch"] else "1 batch"
    headline = (
        f"{request.path.name}: {batches} of {terminal.count(records[0]['edges'], 'edge')}; "
        f"{terminal.count(last['vertices'], 'vertex')} and {terminal.count(last['num_edges'], 'edge')} in the end"
    )
    header = ("method", "update ms", "pagerank ms", "iterations", "affected", "largest error")
    return f"{headline}\n\n{terminal.table(header, rows, right=(1, 2, 3, 4))}"
