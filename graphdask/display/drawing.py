"""A small graph as inline SVG, for a notebook.

The layout is stress majorization (Gansner, Koren, North: Graph drawing by stress majorization, 2004) from the start
that classical scaling of the hop distances gives. It has no random numbers: the same graph is drawn alike each time.
Vertices are blue on any background; edges and names have the colour of the page's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

MOST_VERTICES, MOST_EDGES = 199, 800
"""Of a graph that is drawn."""
NAMED = 30
"""Vertices up to which names stand beside them; of larger graphs they show where the pointer is."""
LONGEST = 12
"""Characters of a name beside a vertex."""
SIZE, MARGIN = 320, 22
BLUE = "#3b82c4"
STEPS = 60


def stress_layout(num_vertices: int, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Place some hundred vertices in the plane so that distances are about the numbers of hops.

    Parameters
    ----------
    num_vertices : int
    src, dst : arrays of int, shape (m,)
        Edges; directions, self-loops and parallel edges do not matter.

    Returns
    -------
    numpy.ndarray of float64, shape (num_vertices, 2)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    n = num_vertices
    if n < 2:
        return np.zeros((n, 2))
    adjacency = coo_array((np.ones(len(src)), (src, dst)), shape=(n, n)).tocsr()
    hops = shortest_path(adjacency, directed=False, unweighted=True)
    apart = np.isinf(hops)
    hops[apart] = max(hops[~apart].max() * 0.7, 2.0)
    place = _scaled(hops) + _spiral(n)
    weight = np.divide(1.0, hops**2, out=np.zeros_like(hops), where=hops > 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    for _ in range(STEPS):
        apart_by = np.linalg.norm(place[:, None] - place[None], axis=2)
        ratio = np.divide(weight * hops, apart_by, out=np.zeros_like(hops), where=apart_by > 1e-9)
        place = inverse @ (ratio.sum(axis=1)[:, None] * place - ratio @ place)
    return place


def _scaled(hops: np.ndarray) -> np.ndarray:
    """Classical scaling: the two axes along which points of these distances spread most."""
    centred = np.eye(len(hops)) - 1.0 / len(hops)
    values, vectors = np.linalg.eigh(-0.5 * centred @ hops**2 @ centred)
    axes = vectors[:, -2:] * np.sign(vectors[np.abs(vectors[:, -2:]).argmax(axis=0), [-2, -1]])
    return axes * np.sqrt(np.maximum(values[-2:], 0.0))


def _spiral(n: int) -> np.ndarray:
    """Small different offsets, so that vertices of the same distances do not start at one point."""
    number = np.arange(n)
    angle = number * np.pi * (3.0 - np.sqrt(5.0))
    return 0.1 * np.sqrt((number + 1.0) / n)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def drawing(names: Sequence[str], src: np.ndarray, dst: np.ndarray, directed: bool) -> str:
    """Return a graph as an `svg` element; an empty text if it is too large or has no vertices.

    Parameters
    ----------
    names : sequence of str
        Of the vertices.
    src, dst : arrays of int, shape (m,)
        Numbers of the edges' ends. Parallel edges are drawn as one.
    directed : bool
        Whether edges have arrowheads.
    """
    n = len(names)
    pairs = np.unique(np.stack([src, dst], axis=1).astype(np.int64).reshape(-1, 2), axis=0)
    if not 0 < n <= MOST_VERTICES or len(pairs) > MOST_EDGES:
        return ""
    at = _fitted(stress_layout(n, pairs[:, 0], pairs[:, 1]))
    radius = 5.0 if n <= NAMED else 3.2
    degree = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    loop = pairs[:, 0] == pairs[:, 1]
    lines = "".join(f"M{_xy(at[u])}L{_xy(at[v])}" for u, v in pairs[~loop])
    loops = "".join(
        f'<circle cx="{x:.1f}" cy="{y - 1.8 * radius:.1f}" r="{1.8 * radius:.1f}"/>' for x, y in at[pairs[loop, 0]]
    )
    heads = "".join(_head(at[u], at[v], radius) for u, v in pairs[~loop]) if directed else ""
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"><title>{escape(name)}, degree {count}</title></circle>'
        for name, (x, y), count in zip(names, at, degree.tolist(), strict=True)
    )
    texts = "".join(_label(name, x, y, radius) for name, (x, y) in zip(names, at, strict=True) if n <= NAMED)
    parallel = len(src) - len(pairs)
    below = f'<div style="opacity:.65">{parallel:,} parallel edges are drawn once</div>' if parallel else ""
    return (
        f'<div style="margin-top:.6em"><svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="drawing of the '
        f'graph" width="{SIZE}" height="{SIZE}" viewBox="0 0 {SIZE} {SIZE}" style="max-width:100%">'
        f'<g fill="none" stroke="currentColor" stroke-opacity=".4">{loops}<path d="{lines}"/></g>'
        f'<path d="{heads}" fill="currentColor" fill-opacity=".55"/>'
        f'<g fill="{BLUE}">{dots}</g>'
        f'<g fill="currentColor" font-size="10" font-family="sans-serif">{texts}</g></svg>{below}</div>'
    )


def _fitted(place: np.ndarray) -> np.ndarray:
    """The same places within the picture, in the middle and undistorted."""
    low, high = place.min(axis=0), place.max(axis=0)
    scale = (SIZE - 2 * MARGIN) / max((high - low).max(), 1e-9)
    return (place - (low + high) / 2) * (scale if len(place) > 1 else 0.0) + SIZE / 2


def _head(start: np.ndarray, end: np.ndarray, radius: float) -> str:
    """The arrowhead of an edge, which ends at the circle of its vertex."""
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    across = np.array([-along[1], along[0]])
    tip = end - along * radius
    foot = tip - along * 1.6 * radius
    return f"M{_xy(tip)}L{_xy(foot + across * 0.7 * radius)}L{_xy(foot - across * 0.7 * radius)}Z"


def _xy(point: np.ndarray) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _label(name: str, x: float, y: float, radius: float) -> str:
    """The name of a vertex, shortened, on the side where the picture has space for it."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    left = x > 0.75 * SIZE
    at, anchor = (x - radius - 2, ' text-anchor="end"') if left else (x + radius + 2, "")
    return f'<text x="{at:.1f}" y="{y + 3.5:.1f}"{anchor}>{escape(short)}</text>'
