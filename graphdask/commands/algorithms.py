"""The algorithms of the command line: the table from which `run` and `profile` make their commands."""

from __future__ import annotations

from typing import Any

import click

from graphdask.commands import neighbourhoods
from graphdask.commands.entry import Entry, public
from graphdask.commands.options import allocation_option
from graphdask.display import terminal
from graphdask.errors import InputError


def _depths(result: Any) -> dict[str, Any]:
    depth = result.depth
    return {"reached": int((depth >= 0).sum()), "vertices": len(depth), "max_depth": int(depth.max())}


def _depth_words(found: dict[str, Any]) -> str:
    vertices = terminal.count(found["vertices"], "vertex")
    return f"reached {found['reached']:,} of {vertices}, largest depth {found['max_depth']}"


def _distances(result: Any) -> dict[str, Any]:
    distance, reached = result.distance, result.reached
    return {
        "reached": int(reached.sum()), "vertices": len(distance), "max_distance": distance[reached].max().item(),
    }  # fmt: skip


def _distance_words(found: dict[str, Any]) -> str:
    vertices = terminal.count(found["vertices"], "vertex")
    return f"reached {found['reached']:,} of {vertices}, largest distance {found['max_distance']}"


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


def _scores(result: Any) -> dict[str, Any]:
    score = result.score
    top = int(score.argmax()) if len(score) else None
    found = {"vertices": len(score), "sources": len(result.primitive.sources)}
    return found if top is None else found | {"highest": result.graph.vertex_ids[top], "score": float(score[top])}


def _score_words(found: dict[str, Any]) -> str:
    searched = f"paths from {terminal.count(found['sources'], 'vertex')}"
    return f"{searched}; the highest, of {found['highest']}, is {found['score']:,.6g}" if "score" in found else searched


def _ranks(result: Any) -> dict[str, Any]:
    rank = result.rank
    found = {"iterations": result.iterations, "residual": result.residual, "converged": result.converged}
    if len(rank):
        best = int(rank.argmax())
        found |= {"highest": result.graph.vertex_ids[best], "highest_rank": float(rank[best])}
    return found


def _rank_words(found: dict[str, Any]) -> str:
    ended = terminal.count(found["iterations"], "iteration")
    ended += f", residual {found['residual']:.2g}{'' if found['converged'] else ' (not converged)'}"
    return f"{ended}, highest rank {found['highest_rank']:.4g} at {found['highest']}" if "highest" in found else ended


def _betweenness(G: Any, weighted: bool | None, **options: Any) -> Any:
    if weighted and not G.weighted:
        raise InputError("--weighted needs weights, and the graph has none; leave it out to count hops")
    start: Any = public("betweenness")
    return start(G, weight=None if weighted is False else "weight", **options)


source_option = click.option(
    "--source", required=True, metavar="ID", help="Vertex to start from, as the file names it."
)

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "bfs", "Breadth-first search: hops from a vertex, and parents.", public("bfs"), _depths, _depth_words,
        (
            source_option,
            click.option("--direction", type=click.Choice(["auto", "push", "pull"]), default="auto", show_default=True,
                         help="Look along the edges from the frontier, or back to it; the answer is the same."),
            allocation_option,
        ),
        ("source", "direction", "allocation"),
    ),
    Entry(
        "sssp", "Shortest paths from a vertex by the sums of their weights, and parents.", public("sssp"), _distances,
        _distance_words,
        (
            source_option,
            click.option("--delta", type=float, metavar="WIDTH",
                         help="Width of a bucket of distances. Default: an estimate."),
            allocation_option,
        ),
        ("source", "delta", "allocation"), weights=True,
    ),
    Entry(
        "components", "Connected components; of a directed graph the weak ones.", public("connected_components"),
        component_summary, component_words, (allocation_option,), ("allocation",),
    ),
    Entry(
        "strong", "Strongly connected components: vertices that reach each other.",
        public("strongly_connected_components"), component_summary, component_words, (allocation_option,),
        ("allocation",),
    ),
    Entry(
        "betweenness", "Betweenness: how many shortest paths pass through a vertex.", _betweenness, _scores,
        _score_words,
        (
            click.option("--sources", type=click.IntRange(min=1), metavar="K",
                         help="Estimate from K vertices; default: all, exact."),
            click.option("--seed", type=int, help="Of the choice of K vertices.  [default: 0]"),
            click.option("--normalized", is_flag=True, help="Divide by the number of pairs of other vertices."),
            click.option("--weighted/--unweighted", default=None,
                         help="Shortest paths by the sums of weights, or by hops.  [default: where there are weights]"),
            allocation_option,
        ),
        ("sources", "seed", "normalized", "weighted", "allocation"), weights=True,
    ),
    Entry(
        "pagerank", "PageRank of every vertex.", public("pagerank"), _ranks, _rank_words,
        (
            click.option("--damping", default=0.85, show_default=True,
                         help="Probability of following an edge, in [0, 1)."),
            click.option("--tol", type=float, metavar="CHANGE",
                         help="Largest change of the ranks at the end, by --norm; 0: exactly --max-iter iterations.  "
                              "[default: 1e-10]"),
            click.option("--error", type=float, metavar="DISTANCE",
                         help="Instead: largest distance to the exact ranks, summed, that is proved."),
            click.option("--norm", type=click.Choice(("l1", "linf")),
                         help="Of the change: summed, or the largest.  [default: l1]"),
            click.option("--dtype", type=click.Choice(("float64", "float32")), default="float64", show_default=True,
                         help="Of the ranks."),
            click.option("--max-iter", default=500, show_default=True, help="Iterations at most."),
            click.option("--dangling", type=click.Choice(("uniform", "self-loop")), default="uniform",
                         show_default=True,
                         help="Vertices without out-edges: uniform teleports from them, self-loop gives every vertex a "
                              "self-loop."),
            click.option("--weighted/--unweighted", default=None,
                         help="Follow edges in proportion to their weights.  [default: where there are weights]"),
            click.option("--personalize", "personalization", multiple=True, metavar="ID[=WEIGHT]",
                         help="Where walkers start, WEIGHT 1 unless given; may be repeated.  [default: anywhere]"),
        ),
        ("damping", "tol", "error", "norm", "dtype", "max_iter", "dangling", "weighted", "personalization"),
        weights=True,
    ),
    *neighbourhoods.ENTRIES,
)  # fmt: skip
