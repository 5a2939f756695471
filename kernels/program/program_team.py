"""Supersteps of a vertex program by the GPUs of a host together: what a rank's row has for program_team.cu besides the
places of team.py.

PROGRAM         the words of its Program (program_pack.py); `changed` in its counters is how many vertices send first,
                the vertices that are listed or all
VOTES           three rows of TEAM_WORDS zeros
SUMS            by rank: the address where the words of aggregates of all ranks stand in its memory, as this device maps
                it; by meeting modulo 2 and sender, BINS words for each aggregate
Areas: lists of ghosts and what came to them, by superstep modulo 2.
"""

from typing import Any

from graphdask.kernels.common.team import END_OWN, OWN
from graphdask.kernels.program.program_pack import Program

GPU_ONLY = ("program_team",)
"""Kernels without a twin: ranks on CPUs do not write into each other's memory."""

PROGRAM, VOTES = OWN, OWN + len(Program.field_types)
SUMS = VOTES + 1
END_SUPERSTEP = END_OWN
HOST_LOOKS = 3
"""END_DONE of a launch after which the host asks whether the run ends."""


def __getattr__(name: str) -> Any:
    """MACROS, those of program_default.py: it is loaded, and Numba with it, only for those who ask."""
    if name != "MACROS":
        raise AttributeError(name)
    from graphdask.kernels.program.program_default import MACROS

    return MACROS
