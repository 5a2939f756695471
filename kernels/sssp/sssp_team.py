"""Shortest paths by the GPUs of a host together: the arguments of sssp_team.cu besides those in team.py.

INDPTR .. IDS   out-edges, their weights, ids of the own vertices
LABELS .. LIMIT as in sssp.py, but for
BOUNDS          a byte for each slot, 255: a bound of its distance (sssp.cuh)
NEARS, FARS     queues, by step and by split modulo 2; the source is in the far ones of its owner
GHOST_QUEUE     a buffer for all ghosts
LONG_ROWS       a buffer for deferred rows
COUNTERS        as in sssp.py
LEASTS          three smallest distances of far ones, by split modulo 3
VOTES           four rows of TEAM_WORDS zeros
Areas: lists of ghosts and their labels, by superstep modulo 2.
"""

from typing import Any

from graphdask.kernels.common.team import END_OWN, OWN

GPU_ONLY = ("sssp_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

INDPTR, INDICES, WEIGHTS, IDS, LABELS, STAMP, BOUNDS, LIMIT, NEARS = range(OWN, OWN + 9)
FARS, GHOST_QUEUE, LONG_ROWS, COUNTERS, LEASTS, VOTES = NEARS + 2, *range(NEARS + 4, NEARS + 9)
END_SUPERSTEP, END_TOO_FAR, END_LOOKED, END_WIDENED = END_OWN, END_OWN + 1, END_OWN + 2, END_OWN + 4


def __getattr__(name: str) -> Any:
    """MACROS, those of sssp.py: it is loaded, and Numba with it, only for those who ask."""
    if name != "MACROS":
        raise AttributeError(name)
    from graphdask.kernels.sssp.sssp import MACROS

    return MACROS
