"""Indices of the counters of layered.py, also for modules that read them without an import of Numba."""

WORKED, LOOKED, FOUND = 0, 1, 2
UNREACHED, ALONE = 255, 254
"""Values in place of a depth in layered_levels.py: for a row that is not reached yet, and for one without edges."""
