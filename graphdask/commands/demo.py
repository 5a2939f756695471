"""`graphdask demo`: generate a graph on a local cluster, search it, verify the answers, draw its degrees."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from graphdask.commands.options import Whole, cluster_of, device_option, json_option, overwrite_option
from graphdask.commands.paths import FILE
from graphdask.commands.run import facts
from graphdask.display import terminal

PLOT = "degree_distribution.png"
SMALL = 50_000
"""Vertices of a graph that takes hardly any time, and every kernel."""


@click.command("demo")
@click.option("--vertices", type=Whole(min=2), default=1_000_000, show_default=True, help="Size of the graph.")
@click.option("--degree", type=Whole(min=1), default=4, show_default=True, help="Edges that each new vertex brings.")
@click.option("--p", type=float, default=0.5, show_default=True, help="Probability of a direct edge.")
@click.option("--seed", type=Whole(), default=0, show_default=True, help="Of the generator.")
@click.option("--workers", type=click.IntRange(min=1), help="Default: one for each GPU, or one for each core.")
@device_option
@click.option(
    "--output", type=FILE, default=Path("graphdask-output"), show_default=True,
    metavar="DIR", help="Folder for the picture of the degree distribution.",
)  # fmt: skip
@overwrite_option
@json_option
def command(
    vertices: int,
    degree: int,
    p: float,
    seed: int,
    workers: int | None,
    device: str,
    output: Path,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Generate a graph, search it, verify the answers, on this host.

    Starts a Dask cluster, generates a scale-free graph on its workers, searches it, finds its components, verifies
    the graph and both answers, and draws the degree distribution.
    """
    steps = terminal.Steps()
    from graphdask.generate import preferential_attachment
    from graphdask.io.outputs import pictures_output

    G = preferential_attachment(vertices, degree=degree, p=p, seed=seed)
    picture = pictures_output(output, [PLOT], overwrite) / PLOT
    steps.announce("start cluster")
    workers = workers or _default_workers(device)
    with cluster_of(workers, None, None, device) as client:
        started = len(client.nthreads())
        steps.add("start cluster", terminal.count(started, "worker"))
        with steps.step("load kernels") as step:
            _load_kernels(preferential_attachment(min(vertices, SMALL), degree=degree, p=p, seed=seed), device, client)
            step.detail = "compiled where they are used first, then kept"
        with steps.step("generate, partition") as step:
            G = G.partition(device=device)
            G.persist(client=client)
            step.edges = G.num_edges
            step.detail = f"{terminal.count(G.num_vertices, 'vertex')}, {terminal.count(G.num_edges, 'edge')}"
        with steps.step("verify graph") as step:
            G.verify(client=client)
            step.detail, step.edges = "verified", G.num_edges
        search = _search(G, client, steps)
        parts = _components(G, client, steps)
        with steps.step("plot") as step:
            draw_degrees(G, picture, f"{vertices:,} vertices, degree {degree}, p = {p:g}", overwrite)
            step.detail = os.fspath(picture)
        stopping = time.perf_counter()
    steps.steps.append(terminal.Step("stop cluster", time.perf_counter() - stopping))
    stats = search.stats
    if as_json:
        terminal.print_json({
            "vertices": G.num_vertices, "edges": G.num_edges, "degree": degree, "p": p, "seed": seed,
            "workers": started, "devices": stats.devices, "transport": stats.transport, "verified": True,
            "seconds": time.perf_counter() - steps.started, "plot": picture,
            "steps": [step.to_dict() for step in steps.steps],
            "bfs": stats.to_dict(), "components": parts.stats.to_dict(),
        })  # fmt: skip
        return
    click.echo(f"A scale-free graph by cuPPA-Hash: degree {degree}, p = {p:g}, seed {seed}\n")
    click.echo(steps.table())
    click.echo("")
    click.echo(terminal.pairs([("workers", f"{started} on this host"), *facts(stats, verified=True)]))


def _default_workers(device: str) -> int:
    from graphdask.cluster.local import default_workers

    return default_workers(device)


def _load_kernels(small: Any, device: str, client: Any) -> None:
    """Do what follows with a small graph, so that it does not count what only the first use of a kernel takes."""
    from graphdask.algorithms.bfs import bfs
    from graphdask.algorithms.components import connected_components

    small = small.partition(device=device)
    small.persist(client=client)
    small.verify(client=client)
    search, parts = bfs(small, 0, client=client), connected_components(small, client=client)
    for result in search, parts:
        result.verify()
    _ = search.depth, parts.label


def _search(G: Any, client: Any, steps: terminal.Steps) -> Any:
    from graphdask.algorithms.bfs import bfs

    with steps.step("bfs from vertex 0") as step:
        result = bfs(G, 0, client=client)
        step.edges = result.stats.edges
        depth = result.depth
        step.detail = f"reached {int((depth >= 0).sum()):,} vertices, largest depth {int(depth.max())}"
    with steps.step("verify bfs") as step:
        result.verify()
        step.detail, step.edges = "verified", result.stats.edges
    return result


def _components(G: Any, client: Any, steps: terminal.Steps) -> Any:
    from graphdask.algorithms.components import connected_components
    from graphdask.algorithms.summaries import component_words, components

    with steps.step("components") as step:
        result = connected_components(G, client=client)
        step.edges = result.stats.edges
        step.detail = component_words(components(result))
    with steps.step("verify components") as step:
        result.verify()
        step.detail, step.edges = "verified", result.stats.edges
    return result


def draw_degrees(G: Any, path: Path, title: str, overwrite: bool) -> None:
    """Draw the degree distribution of a graph whose partitions are built."""
    import numpy as np

    from graphdask.plot import degree_distribution

    counts = G.built.parts.fetch(degree_counts)
    degrees = np.concatenate([degree for degree, _ in counts])
    numbers = np.concatenate([number for _, number in counts])
    distinct, inverse = np.unique(degrees, return_inverse=True)
    degree_distribution(
        (distinct, np.bincount(inverse, weights=numbers).astype(np.int64)), path, title=title, overwrite=overwrite
    )


def degree_counts(part: Any) -> tuple[Any, Any]:
    """Distinct out-degrees of a partition and how many of its vertices have each, on the host."""
    import numpy as np

    indptr = part.out.indptr
    degree = np.diff(indptr.get() if hasattr(indptr, "get") else indptr)
    return np.unique(degree, return_counts=True)
