"""A drawing of a small graph: a force-directed layout, vertices coloured and sized by degree."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.errors import InputError, Unsupported
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import whole
from graphdask.partition.given import given_array
from graphdask.plot.layout import force_layout
from graphdask.plot.style import new_figure, picture_output, pictured, saved

MOST_VERTICES, MOST_EDGES = 50_000, 500_000
MOST_ITERATIONS = 1_000_000
COLOUR_MAP = "viridis"


@pictured
def draw(
    G: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    layout: np.ndarray | None = None,
    iterations: int = 300,
    overwrite: bool = False,
) -> Any:
    """Draw a small graph.

    Parameters
    ----------
    G : Graph
        Of at most 50,000 vertices and 500,000 edges.
    title : str
    layout : array of float, shape (num_vertices, 2), optional
        Where the vertices stand; default: a force-directed layout, the same for the same graph.
    iterations : int
        Of that layout; 10,000 vertices take some 5 s for 300 on a core.

    Returns
    -------
    matplotlib.figure.Figure
        Vertices are coloured by the logarithm of their degree, edges as the end with the higher one.

    Raises
    ------
    InputError
        For a layout of another shape, or fewer than 0 iterations.
    Unsupported
        For a larger graph: sample it first.

    References
    ----------
    Alam, Perumalla, Sanders: Novel parallel algorithms for fast multi-GPU-based generation of massive scale-free
    networks, Data Science and Engineering 4 (2019), Figures 4 to 6.

    Examples
    --------
    >>> import graphdask as gd
    >>> figure = draw(gd.generate.preferential_attachment(100, degree=1, seed=1), iterations=10)
    """
    out = picture_output(path, overwrite)
    n = checked_graph(G).num_vertices
    if n > MOST_VERTICES or G.source.num_edges > MOST_EDGES:
        raise Unsupported(
            f"{n:,} vertices and {G.source.num_edges:,} edges are more than a drawing shows; "
            f"sample the graph down to {MOST_VERTICES:,} and {MOST_EDGES:,} first"
        )
    iterations = whole("iterations", iterations, 0, MOST_ITERATIONS)
    given = None if layout is None else given_array("layout", layout)
    if given is not None and (given.shape != (n, 2) or given.dtype.kind not in "biuf"):
        raise InputError(
            f"layout has the shape {given.shape} and the dtype {given.dtype}; {n} vertices "
            f"need numbers of shape {(n, 2)}"
        )
    src, dst = _edges(G)
    place = force_layout(n, src, dst, iterations=iterations) if given is None else given.astype(np.float64)
    figure = new_figure(6.0, 6.0)
    figure.set_dpi(200)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_title(title)
    if n:
        _draw(axes, place, src, dst)
    return saved(figure, out)


def _edges(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Distinct edges without direction or self-loops."""
    backend = get_backend("cpu")
    src, dst, _ = G.source.piece(0, 1).edges(backend)
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    pairs = np.unique(np.stack([low, high])[:, low < high], axis=1)
    return pairs[0].astype(np.int64), pairs[1].astype(np.int64)


def _draw(axes: Any, place: np.ndarray, src: np.ndarray, dst: np.ndarray) -> None:
    """Edges below, then vertices, the largest on top."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    n, m = len(place), len(src)
    degree = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    tone = np.log1p(degree)
    tone = 0.95 * (1 - tone / max(tone.max(), 1e-9))
    colour = colormaps[COLOUR_MAP](0.95 - tone)
    scale = np.sqrt(10_000 / n)
    by_degree = np.argsort(np.maximum(degree[src], degree[dst]), kind="stable")
    ends = np.stack([place[src], place[dst]], axis=1)[by_degree]
    strong = np.where(degree[src] >= degree[dst], src, dst)[by_degree]
    axes.add_collection(
        LineCollection(
            list(ends),
            colors=colour[strong],
            linewidths=np.clip(0.25 * scale, 0.1, 1.0),
            alpha=float(np.clip(6000 / max(m, 1), 0.12, 0.7)),
            zorder=1,
            rasterized=True,
        )
    )
    order = np.argsort(degree, kind="stable")
    size = np.clip(scale, 0.5, 6) * (0.5 + 0.35 * degree[order] ** 0.85)
    axes.scatter(
        place[order, 0], place[order, 1], s=size, c=colour[order], linewidths=0, zorder=2, rasterized=True
    )  # fmt: skip
    low, high = place.min(axis=0), place.max(axis=0)
    margin = 0.02 * max(float((high - low).max()), 1e-9)
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
