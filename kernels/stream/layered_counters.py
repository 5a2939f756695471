"""Places among the counters of layered.py, also for who reads them and imports no Numba."""

WORKED, LOOKED, FOUND = 0, 1, 2
UNREACHED, ALONE = 255, 254
"""In place of a depth, in layered_levels.py: of a row that has not been reached, and of one that has no edges."""
