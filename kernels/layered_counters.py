"""Places among the counters of layered.py, also for who reads them and imports no Numba."""

WORKED, LOOKED, FOUND = 0, 1, 2
