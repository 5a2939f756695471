"""Supersteps of a vertex program in one launch: what program_loop.cu gives back in `progress`."""

from graphdask.kernels.program.program_default import MACROS

__all__ = ["ARRIVED", "GPU_ONLY", "MACROS", "STEPS", "STOPS", "VISITED", "WORDS"]

GPU_ONLY = ("program_loop",)
"""Kernels without a twin: on a CPU a superstep does not wait for a launch."""

ARRIVED, STOPS, STEPS, VISITED, WORDS = range(5)
"""What blocks meet at, whether the loop ends, its supersteps, and the vertices that sent; how many words these are."""
