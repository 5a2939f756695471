"""Answers in a few numbers, and these in a line, as the command line shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.display import terminal
from graphdask.interface.registry import Option


def middle(G: Any) -> dict[str, Any]:
    """The source of an example: the vertex in the middle of the ids."""
    return {"source": G.vertex_ids[G.num_vertices // 2]}


def reached(column: str) -> tuple[Any, Any]:
    """The summary of a search, and its line: how many vertices it reached, and the largest value of a column."""

    def summary(result: Any) -> dict[str, Any]:
        values = getattr(result, column)
        found = values[(values >= 0) & (values < np.inf) if values.dtype.kind == "f" else values >= 0]
        return {"reached": len(found), "vertices": len(values), f"max_{column}": found.max().item()}

    def words(found: dict[str, Any]) -> str:
        vertices = terminal.count(found["vertices"], "vertex")
        return f"reached {found['reached']:,} of {vertices}, largest {column} {found[f'max_{column}']}"

    return summary, words


def largest(result: Any, column: str) -> dict[str, Any]:
    """The largest value of a column, and the first vertex that has it; empty if there are no vertices."""
    values = getattr(result, column)
    if not len(values):
        return {}
    best = int(values.argmax())
    return {f"largest_{column}": values[best].item(), "at": result.graph.vertex_ids[best]}


def classes(result: Any, name: str) -> dict[str, Any]:
    """The number of labels, as `name`, and the most frequent one."""
    labels, sizes = np.unique(result.label, return_counts=True)
    found: dict[str, Any] = {name: len(labels)}
    if len(labels):
        found |= {"largest": int(sizes.max()), "largest_label": labels[int(sizes.argmax())]}
    return found


def components(result: Any) -> dict[str, Any]:
    """The number of components, and the largest one."""
    return classes(result, "components")


def component_words(found: dict[str, Any]) -> str:
    """The summary of components in a line."""
    number = terminal.count(found["components"], "component")
    return f"{number}, the largest of {terminal.count(found['largest'], 'vertex')}" if "largest" in found else number


def values_of(column: str) -> tuple[Any, Any]:
    """The summary of a column of numbers, and its line: the largest value, and where it is."""

    def summary(result: Any) -> dict[str, Any]:
        return {"vertices": result.graph.num_vertices} | largest(result, column)

    def words(found: dict[str, Any]) -> str:
        vertices = terminal.count(found["vertices"], "vertex")
        return f"{vertices}, at most {found[f'largest_{column}']:,} at {found['at']}" if "at" in found else vertices

    return summary, words


def ranks(result: Any) -> dict[str, Any]:
    """How PageRank ended, and the highest rank."""
    rank = result.rank
    found = {"iterations": result.iterations, "residual": result.residual, "converged": result.converged}
    if len(rank):
        best = int(rank.argmax())
        found |= {"highest": result.graph.vertex_ids[best], "highest_rank": float(rank[best])}
    return found


def rank_words(found: dict[str, Any]) -> str:
    """The summary of PageRank in a line."""
    ended = terminal.count(found["iterations"], "iteration")
    ended += f", residual {found['residual']:.2g}{'' if found['converged'] else ' (not converged)'}"
    return f"{ended}, highest rank {found['highest_rank']:.4g} at {found['highest']}" if "highest" in found else ended


TARGETS = Option(
    "Vertex after which the search stops; of several, after all.  [default: none]", metavar="ID", multiple=True
)
"""The option of the targets of a search."""
RANK_OPTIONS = {
    "damping": Option("Probability of following an edge, in [0, 1)."),
    "tol": Option(
        "Largest change of the ranks at the end, by --norm; 0: exactly --max-iter iterations.  [default: 1e-10]",
        metavar="CHANGE",
    ),
    "error": Option("Instead: largest distance to the exact ranks, summed, that is proved.", metavar="DISTANCE"),
    "norm": Option("Of the change: summed, or the largest.  [default: l1]", choices=("l1", "linf")),
    "dtype": Option("Of the ranks.", choices=("float64", "float32")),
    "max_iter": Option("Iterations at most."),
    "dangling": Option(
        "Vertices without out-edges: uniform teleports from them, self-loop gives every vertex a self-loop.",
        choices=("uniform", "self-loop"), default="uniform",
    ),
    "weighted": Option(
        "Follow edges in proportion to their weights.  [default: where there are weights]",
        spelling="weighted/unweighted",
    ),
    "personalization": Option(
        "Where walkers start, WEIGHT 1 unless given; may be repeated.  [default: anywhere]", metavar="ID[=WEIGHT]",
        spelling="personalize", multiple=True,
    ),
}  # fmt: skip
"""The options of PageRank."""
