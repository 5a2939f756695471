"""Supersteps of a vertex program in one launch."""

from graphdask.kernels.program.program_default import MACROS

__all__ = ["GPU_ONLY", "MACROS"]

GPU_ONLY = ("program_loop",)
"""Kernels without a twin: on a CPU a superstep does not wait for a launch."""
