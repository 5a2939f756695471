"""`graphdask scale run` measures over numbers of workers; `graphdask scale plot` draws it, with a model beyond them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import Numbers, Whole, cluster_of, device_option, overwrite_option, scheduler_options
from graphdask.commands.paths import FILE
from graphdask.display import terminal
from graphdask.errors import GraphdaskError, InputError


class Names(click.ParamType):
    """Names with commas between them: `shm,ucx`."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(",") if name.strip())


@click.group("scale")
def command() -> None:
    """How the time of the algorithms falls with the workers: measure, draw, extrapolate."""


@command.command("run")
@click.option("--workers", type=Numbers(), default=(1, 2), help="1,2,4: numbers of workers.  [default: 1,2]")
@click.option(
    "--kind",
    "kinds",
    type=Names(),
    default=("strong",),
    help="strong: one graph for all; weak-edge: edges per vertex grow with the workers; weak-vertex: vertices do. "
    "Several with commas.  [default: strong]",
)
@click.option(
    "--algorithms",
    type=Names(),
    default=("bfs", "dobfs", "components", "betweenness", "pagerank", "sssp"),
    help="Of bfs, dobfs, components, betweenness, pagerank, triangles, sssp; bfs only pushes, dobfs optimises its "
    "direction.  [default: all but triangles]",
)
@click.option(
    "--scale",
    "scales",
    type=Numbers(),
    default=(),
    help="R-MAT graphs of 2**SCALE vertices, of weak kinds for one worker: 20 or 20,22.  "
    "[default: the paper's on GPUs, small ones on CPUs]",
)
@click.option(
    "--edge-factor",
    type=Whole(min=1),
    help="Edges per vertex, of weak-edge for one worker.  [default on GPUs: strong 32, weak 256]",
)
@click.option(
    "--transports",
    type=Names(),
    default=("auto",),
    help="Data planes between workers: auto, shm, ucx, nccl, tcp; several with commas.  [default: auto]",
)
@click.option("--sources", type=Whole(min=1), default=4, show_default=True, help="Vertices to start from.")
@click.option("--repeats", type=Whole(min=1), default=3, show_default=True, help="Runs from each source.")
@click.option("--seed", type=Whole(min=0), default=0, show_default=True, help="Of graphs, weights and sources.")
@click.option(
    "--max-weight", type=Whole(min=1), default=255, show_default=True, help="Weights for sssp are drawn from 1 to this."
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="After which a run counts as failed.  [default: graphdask.time-limit]",
)
@click.option("--retry-failed", is_flag=True, help="Measure again what failed before.")
@click.option(
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="JSON lines are appended to this file; what is in it is not measured again.",
)
@click.option("--overwrite", is_flag=True, help="Measure all of it anew, and replace FILE in the end.")
@device_option
@scheduler_options
@click.option("--json", "as_json", is_flag=True, help="Print the new JSON lines instead of a table.")
def measure(
    scheduler: str | None,
    scheduler_file: str | None,
    workers: tuple[int, ...],
    output: Path,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Measure algorithms on R-MAT graphs over numbers of workers and transports.

    Each measurement is a line of FILE as soon as it is made. The same command goes on where the last one ended.
    Workers are started on this host, or are those of the cluster that is named.
    """
    from graphdask.scale.experiment import run

    begin, steps = time.perf_counter(), terminal.Steps()
    new = []

    def say(line: str) -> None:
        steps.announce("")
        if not as_json:
            click.echo(line)

    def show(record: dict[str, Any]) -> None:
        new.append(record)
        place = f"{record.pop('done')}/{record.pop('of')}"
        steps.announce("")
        click.echo(terminal.to_json(record) if as_json else f"{place:>7}  {in_a_line(record)}")

    started = max(workers) if scheduler or scheduler_file else None
    with cluster_of(started, scheduler, scheduler_file, arguments["device"]) as client:
        records = run(output, workers=workers, client=client, each=show, say=say, doing=steps.announce, **arguments)
    failed = [record for record in new if "failed" in record]
    if not as_json:
        click.echo(f"\n{table(records)}\n")
        click.echo(
            f"{terminal.count(len(new), 'measurement')} written to {output} in "
            f"{terminal.seconds(time.perf_counter() - begin)} s"
            + (f", {len(failed)} of them failed" if failed else "")
        )  # fmt: skip
    if new and len(failed) == len(new):
        raise GraphdaskError(f"nothing could be measured: {failed[-1]['reason']}")


def in_a_line(record: dict[str, Any]) -> str:
    """A measurement as it is made."""
    many = "s" * (record["workers"] > 1)
    what = f"{record['kind']:<11} {record['scale']} x {record['edge_factor']:<4} {record['algorithm']:<11} " \
           f"{record['workers']} worker{many:<1} {record.get('data_plane') or record['transport']:<7}"  # fmt: skip
    if "failed" in record:
        return f"{what} failed: {record['reason']}"
    times = [each["seconds"] * 1e3 for each in record["runs"]]
    return f"{what} {record['seconds'] * 1e3:.4g} ms ({min(times):.4g} to {max(times):.4g}), " \
           f"call {record['call_seconds'] * 1e3:.4g} ms"  # fmt: skip


def table(records: list[dict[str, Any]]) -> str:
    """A row for each measurement, with its speed-up over the fewest workers on the same kind of graphs."""
    from graphdask.scale.speed import speed_up

    header = ("kind", "graph", "algorithm", "workers", "over", "ms", "call ms", "GTEPS", "speed-up", "bound by")
    rows = []
    for record in records:
        about = [record["kind"], f"{record['scale']} x {record['edge_factor']}", record["algorithm"],
                 str(record["workers"]), record.get("data_plane") or record["transport"]]  # fmt: skip
        if "failed" in record:
            rows.append([*about, "failed", "", "", "", record["failed"]])
            continue
        gain = speed_up(record, records)
        rate = record["teps"]
        rows.append([
            *about, f"{record['seconds'] * 1e3:.4g}", f"{record['call_seconds'] * 1e3:.4g}",
            "" if rate is None else f"{rate / 1e9:.3g}", "" if gain is None else f"{gain:.3g}",
            record["bsp"]["bottleneck"],
        ])  # fmt: skip
    return terminal.table(header, rows, right=(3, 5, 6, 7, 8))


@command.command("plot")
@click.argument("path", metavar="FILE", type=FILE)
@click.option(
    "--output",
    "folder",
    type=FILE,
    metavar="FOLDER",
    help="For the pictures.  [default: FILE without its ending]",
)
@overwrite_option
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["png", "svg", "pdf"]),
    default="png",
    show_default=True,
    help="Of the pictures.",
)
@click.option("--until", type=Whole(min=2), default=1024, show_default=True, help="Workers that the model goes to.")
@click.option("--json", "as_json", is_flag=True, help="Print the fit and what it says as one JSON object.")
def plot(path: Path, folder: Path | None, overwrite: bool, file_format: str, until: int, as_json: bool) -> None:
    """Draw time, speed-up and efficiency of FILE, and the cost model W + H g + S l beyond what was measured."""
    from graphdask.scale import draw, read
    from graphdask.scale.model import ASSUMPTIONS

    records = read(path)
    folder = path.with_suffix("") if folder is None else folder
    if folder == path:
        folder = path.with_name(f"{path.name}-plots")
    if not any("failed" not in record for record in records):
        raise InputError(f"{path}: nothing in it was measured, so there is nothing to draw")
    made = draw(records, folder, until=until, format=file_format, overwrite=overwrite)
    drawn = [folder / f"{name}.{file_format}" for name in made]
    models = _models(records, until)
    if as_json:
        terminal.print_json({"model": models, "assumptions": ASSUMPTIONS, "pictures": drawn})
        return
    failed = sum("failed" in record for record in records)
    click.echo(
        f"{terminal.count(len(records), 'measurement')} in {path}{f', {failed} of them failed' if failed else ''}\n"
    )
    click.echo(table(sorted(records, key=lambda one: (one["kind"], one["algorithm"], one["workers"]))) + "\n")
    if models:
        formula = "a superstep takes w E + l + g B + m (P - 1), the first one v for each vertex of a rank besides"
        click.echo(f"The cost model, {formula}:\n\n{_fit_table(models)}\n")
        click.echo(
            "What the MODEL says of more workers, in milliseconds, from ranks told along a tree to each rank telling "
            f"every other:\n\n{_beyond_table(models)}\n"
        )
        click.echo("It assumes:\n" + "\n".join(terminal.bullet(line) for line in ASSUMPTIONS) + "\n")
    else:
        click.echo("No model: it needs measurements on several workers.\n")
    click.echo("\n".join(map(str, drawn)))


def _models(records: list[dict[str, Any]], until: int) -> list[dict[str, Any]]:
    """The models of each kind and size, and what they say by the number of workers."""
    from graphdask.scale import fit
    from graphdask.scale.figures import grouped, lines, predicted
    from graphdask.scale.model import MEETINGS

    found = []
    for title, group in grouped([record for record in records if "failed" not in record]).items():
        for meeting in MEETINGS:
            for model in fit(group, meeting):
                own = lines(group, model.algorithm)[model.transport]
                found.append({"measured": title, **vars(model), "seconds": predicted(model, own, until)})
    return found


def _fit_table(fits: list[dict[str, Any]]) -> str:
    header = ("kind", "algorithm", "over", "w ns/edge", "v ns/vertex", "l us", "1/g GB/s", "m us", "residual", "")
    rows = [
        [*_place(one), f"{one['edge_seconds'] * 1e9:.3g}", f"{one['vertex_seconds'] * 1e9:.3g}",
         f"{one['step_seconds'] * 1e6:.3g}",
         f"{1e-9 / one['byte_seconds']:.3g}" if one["byte_seconds"] else "any", f"{one['meeting_seconds'] * 1e6:.3g}",
         f"{one['residual']:.1%}", "" if one["own"] else "g, m near the transport's"]
        for one in fits if one["meeting"] == "direct"
    ]  # fmt: skip
    return terminal.table(header, rows, right=range(3, 9))


def _beyond_table(beyond: list[dict[str, Any]]) -> str:
    """A row for each algorithm and transport: each sends to every other - along a tree."""
    most = max(max(one["seconds"]) for one in beyond)
    shown = [size for size in (1, 8, 64, 256, 1024) if size < most] + [most]
    rows, trees = [], {_place(one): one["seconds"] for one in beyond if one["meeting"] == "tree"}
    for one in beyond:
        if one["meeting"] == "direct":
            tree = trees[_place(one)]
            cells = [
                _both(one["seconds"][size], tree[size]) if size in tree else "" for size in shown
            ]  # fmt: skip
            rows.append([*_place(one), *cells])
    header = ("kind", "algorithm", "over", *(f"P = {size:,}" for size in shown))
    return terminal.table(header, rows, right=range(3, 3 + len(shown)))


def _place(one: dict[str, Any]) -> tuple[str, str, str]:
    return one["measured"], one["algorithm"], one["transport"]


def _both(direct: float, tree: float) -> str:
    texts = [f"{value * 1e3:.3g}" if value < 1 else f"{value * 1e3:.0f}" for value in (tree, direct)]
    return texts[0] if texts[0] == texts[1] else " - ".join(texts)
