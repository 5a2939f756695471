"""`graphdask sample nodes FILE`: vertices of the whole graph, drawn where the command runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click

from graphdask.commands import stream, streams
from graphdask.commands.options import (
    GraphOptions,
    Whole,
    cleaning_options,
    input_file,
    json_option,
    overwrite_option,
    reading_options,
    stacked,
)
from graphdask.commands.paths import FILE
from graphdask.commands.run import read
from graphdask.commands.sample_files import check_output, write
from graphdask.display import terminal


@dataclass(kw_only=True)
class Request(GraphOptions):
    """The options of a call, as they were given."""

    k: int
    seed: int
    output: Path | None
    overwrite: bool
    as_json: bool
    memory: str | None = None
    partitions: int | None = None
    device: str = "cpu"


@dataclass
class Vertices:
    """What was drawn, as samples are written."""

    vertex: Any
    columns: ClassVar[tuple[str, ...]] = ("vertex",)

    def to_parquet(self, path: Path, *, overwrite: bool) -> None:
        """Write a folder of one file."""
        from graphdask.io.outputs import readable_write
        from graphdask.sample.result import sample_folder, write_table

        out = sample_folder(path, overwrite)
        with out.filling() as folder, readable_write(out.path, out.left):
            write_table({"vertex": self.vertex}, folder / "part-00000.parquet")


@click.command("nodes", short_help="Vertices of the whole graph, all alike, without replacement.")
@stacked(
    click.option("--count", "k", type=Whole(min=0), required=True, help="How many."),
    input_file,
    click.option("--seed", type=Whole(), default=0, show_default=True, help="Of the random numbers."),
    click.option("--output", metavar="NAME", type=FILE,
                 help="A file, .npz or .txt, or a folder, for a Parquet file."),
    overwrite_option,
    reading_options,
    cleaning_options,
    json_option,
)  # fmt: skip
def nodes(**options: Any) -> None:
    """Vertices of the whole graph, all alike, without replacement."""
    from graphdask.sample.one_pass import random_nodes

    request = Request(**options)
    check_output(request.output, request.overwrite)
    steps, streamed = terminal.Steps(), request.path.suffix == stream.ENDING
    if streamed:
        stream.refuse(request)
    G = stream.opened(request, steps) if streamed else read(request, steps, request.weights)
    with steps.step("nodes") as step:
        drawn = Vertices(random_nodes(G, request.k, seed=request.seed))
        answer = step.detail = terminal.count(len(drawn.vertex), "vertex")
    if request.output is not None:
        with steps.step("write") as step:
            write(drawn, request.output, request.overwrite)
            request.output = streams.named(request.output)
            step.detail = f"{request.output}: vertex"
    if request.as_json:
        terminal.print_json({
            "sampler": "nodes", "file": streams.named(request.path), "vertices": G.num_vertices, "directed": G.directed,
            "weighted": G.weighted, "report": G.report, "answer": answer, "output": request.output,
            "steps": [step.to_dict() for step in steps.steps],
        })  # fmt: skip
        return
    click.echo(f"{request.path.name}\n")
    click.echo(steps.table())
