"""`graphdask run ALGORITHM FILE`: read, divide, compute, verify, write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from graphdask.commands import neighbourhoods, terminal
from graphdask.commands.columns import check_output, write_columns
from graphdask.commands.options import (
    cleaning_options,
    cluster_of,
    cluster_options,
    input_file,
    json_option,
    partition_options,
    reading_options,
    stacked,
)
from graphdask.errors import InputError, VertexNotFound


@dataclass
class Request:
    """The options of a run, as they were given."""

    path: Path
    file_format: str | None
    directed: bool | None
    weights: bool | None
    ids: str | None
    self_loops: str
    multi_edges: str
    partitions: int | None
    by: str | None
    ghosts: str | None
    exchange: str | None
    device: str
    workers: int | None
    scheduler_file: str | None
    scheduler: str | None
    verify: bool
    output: Path | None
    as_json: bool


@dataclass
class Algorithm:
    """What a command adds to the run."""

    name: str
    start: Callable[..., Any]
    """`start(G, exchange=, client=)` gives the Result."""
    summary: Callable[[Any], dict[str, Any]]
    """The answer in numbers."""
    words: Callable[[dict[str, Any]], str]
    """The same in a line."""


shared_options = stacked(
    input_file,
    click.option("--verify", is_flag=True, help="Prove partitions and answer in linear time; exit code 3 if wrong."),
    click.option("--output", metavar="FILE", type=click.Path(path_type=Path),
                 help="Write a row for each vertex; .parquet, .csv, .txt or .npz."),
    cluster_options,
    reading_options,
    cleaning_options,
    partition_options,
    json_option,
)  # fmt: skip


@click.group()
def command() -> None:
    """Run an algorithm over a graph from a file."""


@command.command("bfs")
@click.option("--source", required=True, metavar="ID", help="Vertex to start from, as the file names it.")
@click.option(
    "--direction",
    type=click.Choice(["auto", "push", "pull"]),
    default="auto",
    show_default=True,
    help="Look along the edges from the frontier, or back to it; the answer is the same.",
)
@shared_options
def bfs_command(source: str, direction: str, **options: Any) -> None:
    """Breadth-first search: hops from a vertex, and parents."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.bfs import bfs

        return bfs(G, _vertex(source, G), direction=direction, **where)

    def summary(result: Any) -> dict[str, Any]:
        depth = result.depth
        return {
            "source": source,
            "reached": int((depth >= 0).sum()),
            "vertices": len(depth),
            "max_depth": int(depth.max()),
        }

    def words(found: dict[str, Any]) -> str:
        vertices = terminal.count(found["vertices"], "vertex")
        return f"reached {found['reached']:,} of {vertices}, largest depth {found['max_depth']}"

    execute(Request(**options), Algorithm(f"bfs from {source}", start, summary, words))


@command.command("sssp")
@click.option("--source", required=True, metavar="ID", help="Vertex to start from, as the file names it.")
@click.option("--delta", type=float, metavar="WIDTH", help="Width of a bucket of distances. Default: an estimate.")
@shared_options
def sssp_command(source: str, delta: float | None, **options: Any) -> None:
    """Shortest paths from a vertex by the sums of their weights, and parents."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.sssp import sssp

        return sssp(G, _vertex(source, G), delta=delta, **where)

    def summary(result: Any) -> dict[str, Any]:
        distance, reached = result.distance, result.reached
        return {
            "source": source,
            "reached": int(reached.sum()),
            "vertices": len(distance),
            "max_distance": distance[reached].max().item(),
        }

    def words(found: dict[str, Any]) -> str:
        vertices = terminal.count(found["vertices"], "vertex")
        return f"reached {found['reached']:,} of {vertices}, largest distance {found['max_distance']}"

    execute(Request(**options), Algorithm(f"sssp from {source}", start, summary, words))


@command.command("components")
@shared_options
def components_command(**options: Any) -> None:
    """Connected components; of a directed graph the weak ones."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.components import connected_components

        return connected_components(G, **where)

    execute(Request(**options), Algorithm("components", start, component_summary, component_words))


@command.command("strong")
@shared_options
def strong_command(**options: Any) -> None:
    """Strongly connected components: vertices that reach each other."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.strong import strongly_connected_components

        return strongly_connected_components(G, **where)

    execute(Request(**options), Algorithm("strong components", start, component_summary, component_words))


@command.command("betweenness")
@click.option(
    "--sources", type=click.IntRange(min=1), metavar="K", help="Estimate from K vertices; default: all, exact."
)
@click.option("--normalized", is_flag=True, help="Divide by the number of pairs of other vertices.")
@shared_options
def betweenness_command(sources: int | None, normalized: bool, **options: Any) -> None:
    """Betweenness: how many shortest paths pass through a vertex."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.betweenness import betweenness

        return betweenness(G, sources, normalized=normalized, **where)

    def summary(result: Any) -> dict[str, Any]:
        score = result.score
        top = int(score.argmax()) if len(score) else None
        found = {"vertices": len(score), "sources": len(result.primitive.sources)}
        return found if top is None else found | {"highest": result.graph.vertex_ids[top], "score": float(score[top])}

    def words(found: dict[str, Any]) -> str:
        searched = f"paths from {terminal.count(found['sources'], 'vertex')}"
        return (
            f"{searched}; the highest, of {found['highest']}, is {found['score']:,.6g}"
            if "score" in found
            else searched
        )

    execute(Request(**options), Algorithm("betweenness", start, summary, words))


@command.command("pagerank")
@click.option("--damping", default=0.85, show_default=True, help="Probability of following an edge, in [0, 1).")
@click.option("--tol", default=1e-10, show_default=True, help="Largest change of the ranks, summed, at the end.")
@click.option("--max-iter", default=500, show_default=True, help="Iterations at most.")
@click.option(
    "--dangling",
    type=click.Choice(("uniform", "self-loop")),
    default="uniform",
    show_default=True,
    help="At a vertex without out-edges: start anew, or give every vertex a self-loop.",
)
@click.option(
    "--weighted/--unweighted",
    default=None,
    help="Follow edges in proportion to their weights.  [default: where there are weights]",
)
@shared_options
def pagerank_command(
    damping: float, tol: float, max_iter: int, dangling: str, weighted: bool | None, **options: Any
) -> None:
    """PageRank of every vertex."""

    def start(G: Any, **where: Any) -> Any:
        from graphdask.algorithms.pagerank import pagerank

        return pagerank(G, damping, tol, max_iter, dangling=dangling, weighted=weighted, **where)

    execute(Request(**options), Algorithm("pagerank", start, pagerank_summary, pagerank_words))


def pagerank_summary(result: Any) -> dict[str, Any]:
    """How the iteration ended, and the vertex of the highest rank."""
    rank = result.rank
    found = {"iterations": result.iterations, "residual": result.residual, "converged": result.converged}
    if len(rank):
        best = int(rank.argmax())
        found |= {"highest": result.graph.vertex_ids[best], "highest_rank": float(rank[best])}
    return found


def pagerank_words(found: dict[str, Any]) -> str:
    """The same in a line."""
    ended = terminal.count(found["iterations"], "iteration")
    ended += f", residual {found['residual']:.2g}{'' if found['converged'] else ' (not converged)'}"
    return f"{ended}, highest rank {found['highest_rank']:.4g} at {found['highest']}" if "highest" in found else ended


def _command_of(entry: neighbourhoods.Entry) -> click.Command:
    """The command of an algorithm that stands in a table."""

    @shared_options
    def run(**options: Any) -> None:
        own = {name: options.pop(name) for name in entry.names}
        start = partial(entry.start, **own)
        execute(Request(**options), Algorithm(entry.name, start, entry.summary, entry.words))

    for option in entry.options:
        run = option(run)
    return click.command(entry.name, help=entry.help)(run)


for _entry in neighbourhoods.ENTRIES:
    command.add_command(_command_of(_entry))


def component_summary(result: Any) -> dict[str, Any]:
    """Number of components, and the largest one."""
    import numpy as np

    labels, sizes = np.unique(result.label, return_counts=True)
    found: dict[str, Any] = {"components": len(labels)}
    if len(labels):
        found |= {"largest": int(sizes.max()), "largest_label": labels[int(sizes.argmax())]}
    return found


def component_words(found: dict[str, Any]) -> str:
    """The same in a line."""
    number = terminal.count(found["components"], "component")
    return f"{number}, the largest of {terminal.count(found['largest'], 'vertex')}" if "largest" in found else number


def _vertex(text: str, G: Any) -> int | str:
    """A vertex id from the command line: a number where the graph's ids are."""
    if not G.ids.are_numbers:
        return text
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise InputError(f"--source {text!r} is not a whole number, but the ids of this graph are")
    if abs(int(text)) >= 2**63:
        raise VertexNotFound(f"source {text} is not in the graph; {G.ids.describe()}")
    return int(text)


def execute(request: Request, algorithm: Algorithm) -> None:
    """Do the run and show what came of it."""
    if request.output is not None:
        check_output(request.output, request.path)
    steps = terminal.Steps()
    elsewhere = request.scheduler or request.scheduler_file
    if elsewhere or request.workers:
        steps.announce("connect" if elsewhere else "start cluster")
    with cluster_of(request.workers, request.scheduler, request.scheduler_file, request.device) as client:
        if client is not None:
            number = len(client.scheduler_info(n_workers=-1)["workers"])
            steps.add("connect" if elsewhere else "start cluster", terminal.count(number, "worker"))
        G = read(request, steps)
        with steps.step("partition") as step:
            G = G.partition(parts=request.partitions, by=request.by, ghosts=request.ghosts, device=request.device)
            G.persist(client=client)
            step.edges = G.num_edges
            parts, largest = len(G.built.nbytes), max(G.built.nbytes)
            step.detail = f"{terminal.count(parts, 'partition')}, the largest of {terminal.size(largest)}"
        with steps.step(algorithm.name) as step:
            result = algorithm.start(G, exchange=request.exchange, client=client)
            step.edges = result.stats.edges
        with steps.step("gather") as gather:
            found = algorithm.summary(result)
            step.detail = algorithm.words(found)
            gather.detail = f"{', '.join(result.columns)} of every vertex, to this process"
        if request.verify:
            with steps.step("verify graph") as step:
                G.verify(client=client)
                step.detail, step.edges = "verified", G.num_edges
            with steps.step("verify answer") as step:
                result.verify()
                step.detail, step.edges = "verified", G.num_edges
        if request.output is not None:
            with steps.step("write") as step:
                write_columns(result, request.output)
                step.detail = f"{request.output}: {', '.join(('vertex', *result.columns))}"
    show(request, G, result, found, steps)


def read(request: Request, steps: terminal.Steps) -> Any:
    """Read the graph, as a step."""
    from graphdask.construct import read_graph

    with steps.step("read") as step:
        G = read_graph(
            request.path,
            format=request.file_format,
            weights=request.weights,
            ids=request.ids,
            directed=request.directed,
            self_loops=request.self_loops,
            multi_edges=request.multi_edges,
        )
        step.edges = G.source.num_edges
        kind = "directed" if G.directed else "undirected"
        vertices = terminal.count(G.num_vertices, "vertex")
        step.detail = f"{vertices}, {terminal.count(step.edges, 'edge')}, {kind}{', weighted' if G.weighted else ''}"
    return G


def show(request: Request, G: Any, result: Any, found: dict[str, Any], steps: terminal.Steps) -> None:
    """Print the tables, or the JSON object."""
    stats = result.stats
    if request.as_json:
        terminal.print_json({
            "algorithm": stats.algorithm, "file": request.path, "vertices": G.num_vertices, "edges": G.num_edges,
            "directed": G.directed, "weighted": G.weighted, "report": G.report, "answer": found,
            "verified": True if request.verify else None, "output": request.output,
            "steps": [step.to_dict() for step in steps.steps], "stats": stats.to_dict(),
        })  # fmt: skip
        return
    click.echo(f"{request.path.name}\n")
    click.echo(steps.table())
    click.echo("")
    click.echo(terminal.pairs(facts(stats, request.verify)))


def facts(stats: Any, verified: bool) -> list[tuple[str, str]]:
    """How a run was done, in words."""
    devices = ", ".join(f"{number} x {name}" for name, number in Counter(stats.devices).items())
    lines = [
        ("partitions", f"{stats.ranks} ({devices}), ghosts {stats.ghosts}"),
        ("transport", f"{stats.transport}, {stats.exchange}, {terminal.size(stats.bytes_sent)} sent"),
        (stats.algorithm, f"{terminal.count(len(stats), 'superstep')} in {terminal.seconds(stats.seconds)} s"),
        ("verified", "yes" if verified else "not asked for (--verify)"),
    ]
    if stats.restarts:
        lines.append(("restarts", f"{stats.restarts}, after a lost worker"))
    return lines
