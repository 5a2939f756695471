"""What `graphdask run` offers of neighbourhoods (triangles, lcc, core, cdlp): entries of the table of algorithms."""

from __future__ import annotations

from typing import Any

import click

from graphdask.commands.entry import Entry, public
from graphdask.commands.options import allocation_option
from graphdask.display import terminal


def _most(result: Any, name: str, values: Any) -> dict[str, Any]:
    """The first vertex of the largest value."""
    if not len(values):
        return {}
    best = int(values.argmax())
    return {f"largest_{name}": values[best].item(), "at": result.graph.vertex_ids[best]}


def _triangles(result: Any) -> dict[str, Any]:
    return {"triangles": result.total} | _most(result, "count", result.count)


def _clustering(result: Any) -> dict[str, Any]:
    values = result.coefficient
    return {"mean": float(values.mean()) if len(values) else 0.0} | _most(result, "coefficient", values)


def _core(result: Any) -> dict[str, Any]:
    values = result.core
    found = _most(result, "core", values)
    return {"degeneracy": found["largest_core"], "vertices": int((values == values.max()).sum())} if found else {}


def _labels(result: Any) -> dict[str, Any]:
    import numpy as np

    labels, sizes = np.unique(result.label, return_counts=True)
    found: dict[str, Any] = {"communities": len(labels), "iterations": result.iterations}
    if len(labels):
        found |= {"largest": int(sizes.max()), "largest_label": labels[int(sizes.argmax())]}
    return found


def _triangle_words(found: dict[str, Any]) -> str:
    words = terminal.count(found["triangles"], "triangle")
    return f"{words}, at most {found['largest_count']:,} at {found['at']}" if "at" in found else words


def _clustering_words(found: dict[str, Any]) -> str:
    return f"{found['mean']:.4g} on average"


def _core_words(found: dict[str, Any]) -> str:
    if not found:
        return "no vertices"
    return f"{terminal.count(found['vertices'], 'vertex')} in the innermost core, number {found['degeneracy']:,}"


def _label_words(found: dict[str, Any]) -> str:
    words = f"{terminal.count(found['communities'], 'label')} after {terminal.count(found['iterations'], 'iteration')}"
    return (
        f"{words}, the most frequent at {terminal.count(found['largest'], 'vertex')}" if "largest" in found else words
    )


ENTRIES = (
    Entry("triangles", "Triangles through every vertex of an undirected graph.",
          public("triangles"), _triangles, _triangle_words),
    Entry("lcc", "Local clustering coefficient of every vertex (LDBC).",
          public("local_clustering_coefficient"), _clustering, _clustering_words),
    Entry("core", "Core number of every vertex of an undirected graph.",
          public("core_number"), _core, _core_words, (allocation_option,), ("allocation",)),
    Entry("cdlp", "Communities by synchronous label propagation (LDBC).",
          public("label_propagation"), _labels, _label_words,
          (click.option("--iterations", type=click.IntRange(0), default=10, show_default=True, help="How many."),
           allocation_option),
          ("iterations", "allocation")),
)  # fmt: skip
