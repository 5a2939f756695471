"""Shortest paths by the GPUs of a host together: what sssp_team.cu leaves behind.

It works on the `TeamRelaxing` of each rank (sssp_pack.py), whose source is in the far queue of its owner.
Areas: lists of ghosts and their labels, by superstep modulo 2.
"""

from typing import Any

from graphdask.kernels.common.team import END_OWN

GPU_ONLY = ("sssp_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

END_SUPERSTEP, END_TOO_FAR, END_LOOKED, END_WIDENED = END_OWN, END_OWN + 1, END_OWN + 2, END_OWN + 4


def __getattr__(name: str) -> Any:
    """MACROS, those of sssp.py: it is loaded, and Numba with it, only for those who ask."""
    if name != "MACROS":
        raise AttributeError(name)
    from graphdask.kernels.sssp.sssp import MACROS

    return MACROS
