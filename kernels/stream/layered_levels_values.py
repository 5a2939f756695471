"""Values of layered_levels.py, also for modules that read them without an import of Numba."""

UNREACHED, ALONE = 255, 254
"""Values in place of a depth: for a row that is not reached yet, and for one without edges."""
