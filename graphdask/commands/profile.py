"""`graphdask profile ALGORITHM FILE`: where the time of a run goes, superstep by superstep, as a table and a picture.

The columns are the terms of the BSP model: W, C, H and what is waited for (Pan et al., Multi-GPU Graph Analytics,
Sections III-A and V).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from graphdask.commands import weights
from graphdask.commands.algorithms import Algorithms, Chosen
from graphdask.commands.options import drawable, input_file, overwrite_option, refuse_alone, stacked
from graphdask.commands.paths import FILE
from graphdask.commands.run import Request, divided, facts, graph_options
from graphdask.display import terminal
from graphdask.results.bsp import BspTerms, Share

MOST_ROWS = 40
"""Supersteps that the table shows; of more, those that took longest."""

profile_options = stacked(
    input_file,
    click.option("--output", "picture", metavar="FILE", type=FILE,
                 help="Draw the supersteps; .png, .pdf or .svg."),
    overwrite_option,
    click.option("--warm-up/--no-warm-up", default=True, show_default=True,
                 help="Run once before, so that kernels are compiled and buffers are there."),
    graph_options,
)  # fmt: skip


@click.group(cls=Algorithms)
def command() -> None:
    """Show where the time of an algorithm goes, superstep by superstep.

    W: edges scanned, and the computation on them. C: splitting and coding what is sent. H: vertices and bytes sent.
    l: what a superstep costs without any work.

    In place of an algorithm, PROGRAM.py:NAME is a gd.Program of your own in a Python file.
    """


def execute(chosen: Chosen, picture: Path | None, overwrite: bool, warm_up: bool, **options: Any) -> None:
    """Do the run, and show its supersteps."""
    request = Request(**options, verify=False, output=None, output_format=None, overwrite=False)
    refuse_alone(overwrite, "--output", picture)
    if picture is not None:
        drawable("--output", picture, overwrite)
    steps = terminal.Steps()
    with divided(request, steps, chosen) as (G, client):
        if warm_up:
            with steps.step("warm up"), weights.as_asked(False):  # the run itself warns
                chosen.start(G, **request.how, client=client)
        with steps.step(chosen.title) as step, weights.as_asked(request.weights):
            result = chosen.start(G, **request.how, client=client)
            step.edges = result.stats.edges
        found = chosen.summary(result)
        step.detail = chosen.algorithm.words(found)
    stats = result.stats
    if picture is not None:
        from graphdask.plot import superstep_profile

        with steps.step("plot") as step:
            superstep_profile(stats, picture, overwrite=overwrite)
            step.detail = str(picture)
    if request.as_json:
        terminal.print_json({
            "algorithm": stats.algorithm, "file": request.path, "vertices": G.num_vertices, "edges": G.num_edges,
            "weights": weights.status(G, request.weights, chosen.takes_weights), "answer": found,
            "plot": picture, "steps": [step.to_dict() for step in steps.steps],
            "stats": stats.to_dict() | {"bottlenecks": bottlenecks(stats)},
        })  # fmt: skip
        return
    click.echo(f"{request.path.name}\n")
    click.echo(steps.table())
    click.echo("")
    click.echo(superstep_table(stats))
    click.echo("")
    click.echo(terminal.pairs(in_words(stats.bsp, stats.waits_for)))
    click.echo("")
    weighting = weights.in_words(G, request.weights, chosen.takes_weights, chosen.algorithm.command)
    click.echo(terminal.pairs([("weights", weighting), *facts(stats, False)[:3]]))


def bottlenecks(stats: Any) -> list[str]:
    """What took most of each superstep."""
    latency = stats.bsp.latency_seconds
    return [share.bottleneck(latency) for share in stats.shares]


def superstep_table(stats: Any) -> str:
    """A row for each superstep, times on the mean of the ranks; where there are many, for those that took longest."""
    shares, named = stats.shares, bottlenecks(stats)
    slowest = sorted(range(len(shares)), key=lambda number: -shares[number].seconds)[:MOST_ROWS]
    rows = [
        [f"{number:,}", f"{step['frontier']:,}", f"{step['edges']:,}", *_times(shares[number]),
         f"{step['messages']:,}", terminal.size(step["bytes_sent"]), named[number]]
        for number, step in enumerate(stats) if number in set(slowest)
    ]  # fmt: skip
    header = ("step", "frontier", "edges", "W ms", "C ms", "H ms", "wait ms", "ms", "vertices", "sent", "bound by")
    table = terminal.table(header, rows, right=range(len(header) - 1))
    rest = len(shares) - len(slowest)
    if rest:
        left = sum(share.seconds for share in shares) - sum(shares[number].seconds for number in slowest)
        table += f"\n  {terminal.count(rest, 'shorter superstep')} took {left * 1e3:.4g} ms together"
    return table


def _times(share: Share) -> list[str]:
    times = (share.compute, share.code, share.exchange, share.wait, share.seconds)
    return [f"{seconds * 1e3:.3f}" for seconds in times]


def in_words(terms: BspTerms, awaited: str) -> list[tuple[str, str]]:
    """The terms of a run with their meaning, and what was waited for."""
    each = {
        "light supersteps": "the median of supersteps with next to no work",
        "exchange": "at least: every superstep has work, so this is the shortest exchange with its wait",
        "nothing": "there was no superstep",
    }[terms.latency_from]
    bound = {
        "W": "W, computation", "C": "C, the coding of messages", "H": "H, the exchange of messages",
        "wait": f"waiting for {awaited}", "l": "l, what supersteps cost without any work",
    }[terms.bottleneck]  # fmt: skip
    return [
        ("W", f"{terms.work_edges:,} edges visited; {terms.work_seconds * 1e3:.4g} ms of computation"),
        ("C", f"{terms.coding_seconds * 1e3:.4g} ms of splitting and coding"),
        ("H", f"{terms.volume_vertices:,} vertices, {terminal.size(terms.volume_bytes)} sent; "
              f"{terms.transfer_seconds * 1e3:.4g} ms of exchange"),
        ("wait", f"{terms.wait_seconds * 1e3:.4g} ms for {awaited}, on the mean"),
        ("S", f"{terminal.count(terms.supersteps, 'superstep')} in {terms.seconds * 1e3:.4g} ms"),
        ("l", f"{terms.latency_seconds * 1e6:.4g} us a superstep ({each})"),
        ("bound by", bound),
    ]  # fmt: skip


command.execute, command.shared = execute, profile_options
