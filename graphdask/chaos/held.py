"""What a worker holds: threads and memory of graphdask, and open files. It is the same before a fault and after it."""

from __future__ import annotations

import os
import threading
from collections import Counter
from contextlib import suppress

SPARE = {"threads": 0, "memory": 4, "descriptors": 24}
"""By how much each may grow: connections of Dask, buffers that grow once."""
OURS = ("graphdask", "rank-", "nccl-")
"""How the names of graphdask's threads begin."""


def held() -> tuple[int, dict[str, int]]:
    """Return the process id of a worker and what it holds; runs there."""
    open_files: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            open_files["memory" if "memfd:graphdask" in os.readlink(f"/proc/self/fd/{name}") else "descriptors"] += 1
    threads = sum(thread.name.startswith(OURS) for thread in threading.enumerate())
    return os.getpid(), {"threads": threads, **open_files}


def grown(before: dict[int, dict[str, int]], now: dict[int, dict[str, int]]) -> str:
    """Return what workers that were there before hold more of than they may; empty for nothing."""
    for pid in before.keys() & now.keys():
        for name, spare in SPARE.items():
            had, has = before[pid].get(name, 0), now[pid].get(name, 0)
            if has > had + spare:
                return f"{name}: {has} of a worker, {had} before"
    return ""
