"""Whether a search is to pull its next level: the rule of graphdask.engine.direction. Twin of direction.cuh."""

from graphdask.kernels.common.tuning import ALPHA, BETA


def is_pull_due(pulls, found, edges, before, unexplored, vertices):
    """Return whether to pull; Numba compiles it for twins.

    Parameters
    ----------
    pulls : bool
        Whether the last level was pulled.
    found, edges : float
        The number of vertices of the frontier, and of their edges.
    before : float
        The size of the frontier before it.
    unexplored : float
        The number of edges that no level has visited.
    vertices : float
        The number of vertices.
    """
    if pulls:
        return found * BETA >= vertices or found > before
    return edges * ALPHA > unexplored and edges * BETA > vertices
