"""A force-directed layout for drawings of some ten thousand vertices, in seconds.

The forces and the speed of the vertices are those of ForceAtlas2, which the drawing program Gephi uses: linear springs
along the edges, repulsion in proportion to (1 + degree) of both ends and to 1 / distance, gravity towards the centre.
The repulsion of all pairs is computed at once: vertices deposit their charge on a grid, fast Fourier transforms
convolve it with the force of a unit charge, and vertices read the result where they are. The start is a radial drawing
of a breadth-first tree from the vertex with the highest degree, with the same angle for every leaf.

Sources: M. Jacomy, T. Venturini, S. Heymann, M. Bastian, "ForceAtlas2, a continuous graph layout algorithm for handy
network visualization designed for the Gephi software", PLoS ONE 9 (2014); particle-mesh method: R. Hockney and J.
Eastwood, "Computer simulation using particles" (1988), Chapter 5.
"""

from __future__ import annotations

import numpy as np

GRID = 256
"""Cells of the grid along each side."""
REPULSION = 2.0
"""Strength beside that of gravity; more of it makes a drawing wider."""
TOLERANCE = 1.0
"""Of swinging, against speed; ForceAtlas2's jitter tolerance."""


def force_layout(num_vertices: int, src: np.ndarray, dst: np.ndarray, *, iterations: int = 300) -> np.ndarray:
    """Place the vertices of a graph in the plane.

    Parameters
    ----------
    num_vertices : int
    src, dst : arrays of int, shape (m,)
        Edges; self-loops and directions do not matter.
    iterations : int
        Steps; 0 leaves the vertices at the start.

    Returns
    -------
    array of float64, shape (num_vertices, 2)
        The same for the same edges.
    """
    if not num_vertices:
        return np.zeros((0, 2))
    degree = np.bincount(src, minlength=num_vertices) + np.bincount(dst, minlength=num_vertices)
    mass = 1.0 + degree
    place = _radial_tree(num_vertices, src, dst, degree) * np.sqrt(num_vertices) * 2
    before, speed = np.zeros_like(place), 1.0
    unit = unit_charge()
    for _ in range(iterations):
        force = REPULSION * mass[:, None] * repulsion(place, mass, unit)
        stretch = place[dst] - place[src]
        for axis in range(2):
            force[:, axis] += np.bincount(src, stretch[:, axis], num_vertices)
            force[:, axis] -= np.bincount(dst, stretch[:, axis], num_vertices)
        distance = np.linalg.norm(place, axis=1, keepdims=True)
        force -= mass[:, None] * place / np.maximum(distance, 1e-9)
        swing = np.linalg.norm(force - before, axis=1)
        traction = np.linalg.norm(force + before, axis=1) / 2
        wanted = TOLERANCE * (mass * traction).sum() / max((mass * swing).sum(), 1e-12)
        speed = min(wanted, 1.5 * speed)
        place += force * (speed / (1 + speed * np.sqrt(swing)))[:, None]
        before = force
    return place - (place * mass[:, None]).sum(axis=0) / mass.sum()


def unit_charge() -> list[np.ndarray]:
    """Transforms of the force, along x and y, that a charge in cell (0, 0) exerts; distances in cells.

    The grid is twice as large along each side as the drawing, so that the convolution does not wrap around.
    """
    from scipy.fft import rfft2

    step = ((np.arange(2 * GRID) + GRID) % (2 * GRID) - GRID).astype(np.float32)
    square = step[:, None] ** 2 + step[None, :] ** 2
    square[0, 0] = 1.0
    return [rfft2(difference / square) for difference in (step[:, None], step[None, :])]


def repulsion(place: np.ndarray, mass: np.ndarray, unit: list[np.ndarray]) -> np.ndarray:
    """Sum over all others of mass * difference / distance^2, by convolution on a grid."""
    from scipy.fft import irfft2, rfft2

    low = place.min(axis=0)
    cell = max(float((place.max(axis=0) - low).max()) / (GRID - 2), 1e-9)
    at = (place - low) / cell
    corner = at.astype(np.int64)
    right = at - corner
    left = 1 - right
    corners = [
        (corner[:, 0] + i, corner[:, 1] + j, (right if i else left)[:, 0] * (right if j else left)[:, 1])
        for i in (0, 1)
        for j in (0, 1)
    ]
    charge = np.zeros(GRID * GRID)
    for x, y, share in corners:
        charge += np.bincount(x * GRID + y, share * mass, GRID * GRID)
    size = 2 * GRID, 2 * GRID
    spectrum = rfft2(charge.reshape(GRID, GRID).astype(np.float32), size)
    field = np.empty_like(place)
    for axis in range(2):
        pushed = irfft2(spectrum * unit[axis], size)[:GRID, :GRID] / cell
        field[:, axis] = sum(share * pushed[x, y] for x, y, share in corners)
    return field


def _radial_tree(num_vertices: int, src: np.ndarray, dst: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """Breadth-first trees drawn radially: the depth is the radius, every leaf has the same angle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    ones = np.ones(len(src), np.int8)
    matrix = coo_array((ones, (src, dst)), (num_vertices, num_vertices)).tocsr()
    order, parent = [], np.full(num_vertices, -1)
    seen = np.zeros(num_vertices, bool)
    for root in np.argsort(-degree, kind="stable"):
        if not seen[root]:
            found, before = breadth_first_order(matrix, root, directed=False)
            seen[found] = True
            order.append(found)
            parent[found[1:]] = before[found[1:]]
    leaves, depth = np.zeros(num_vertices), np.zeros(num_vertices)
    sequence = np.concatenate(order)
    for v in sequence[::-1]:
        leaves[v] = max(leaves[v], 1.0)
        if parent[v] >= 0:
            leaves[parent[v]] += leaves[v]
    begin, free = np.zeros(num_vertices), 0.0
    used = np.zeros(num_vertices)
    for v in sequence:
        u = parent[v]
        if u < 0:
            begin[v], free = free, free + leaves[v]
        else:
            begin[v] = begin[u] + used[u]
            used[u] += leaves[v]
            depth[v] = depth[u] + 1
    angle = 2 * np.pi * (begin + leaves / 2) / max(free, 1.0)
    radius = (depth + (len(order) > 1)) / max(depth.max() + 1, 1.0)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
