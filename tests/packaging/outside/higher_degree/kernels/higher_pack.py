"""What higher.py and higher.cu work on."""

from graphdask.kernels.common.packs import Counters, Pack

FOUND = Counters("HigherFound", "hubs", "edges")
"""Deferred rows, edges visited."""


class Higher(Pack):
    indptr = "const long long *", "where the row of each own vertex begins"
    indices = "const index_t *", "their neighbours"
    degree = "const long long *", "per slot, its degree"
    higher = "unsigned long long *", "per own vertex, how many neighbours have a higher degree; zeros before"
    hubs = "index_t *", "rows of very many edges"
    counters = FOUND, "deferred rows, and what was done"
