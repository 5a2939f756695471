"""What layered_hooks.py and layered_hooks.cu work on."""

from graphdask.kernels.common.packs import Counters
from graphdask.kernels.stream.in_place_pack import RowsThere

COUNTS = Counters("HookCounts", "worked", "looked", "sectors", "missing")
"""Rows processed, edges scanned, sectors of 32 bytes read; whether a chunk was missing."""


class TreesThere(RowsThere):
    link = "index_t *", "per position: an earlier position of its tree, or itself"
    giant = "long long", "a position: rows in its tree are skipped; -1: no rows are skipped"
    counters = COUNTS, "what was done"
