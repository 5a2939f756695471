"""How much memory of the host may still be used, by the system and by the limits of a container or a job; and arrays of
pages of their own."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np

OWN_PAGES, HUGE_PAGES = 1 << 20, 1 << 22
"""Bytes from which on an array has pages of its own, and from which on these are huge where the system has such."""

BEGINNING = 4096
"""Bytes of /proc/meminfo, which the available memory is among; the whole has fewer."""


def free() -> int:
    """Bytes that are available, and that the control group still allows."""
    with open("/proc/meminfo", "rb", buffering=0) as meminfo:
        _, found, after = meminfo.read(BEGINNING).partition(b"MemAvailable:")
    group = of_control_group()
    return min(int(after.split(maxsplit=1)[0]) * 1024, group) if found else group


def of_control_group(root: str = "/sys/fs/cgroup") -> int:
    """Bytes that the control group still allows; a very large number where there is no limit.

    The kernel counts file pages as used, and takes the inactive ones back before it refuses memory.
    """
    try:
        with open(f"{root}/memory.max") as limit:
            text = limit.read().strip()
        if text == "max":
            return 1 << 62
        with open(f"{root}/memory.current") as used:
            current = int(used.read())
        with open(f"{root}/memory.stat") as stat:
            inactive = next((int(line.split()[1]) for line in stat if line.startswith("inactive_file ")), 0)
    except OSError:
        return 1 << 62
    return max(0, int(text) - max(0, current - inactive))


def processes_ended() -> int:
    """How many processes of this host, or of its control group, the system has ended for lack of memory."""
    found = 0
    for path in ("/proc/vmstat", "/sys/fs/cgroup/memory.events"):
        with suppress(OSError), open(path) as counters:
            found += sum(int(line.split()[1]) for line in counters if line.startswith("oom_kill "))
    return found


def reserved(count: int, dtype: Any, huge: bool = True) -> np.ndarray:
    """Return an array of zeros, of which a page takes memory once it is written to.

    The pages of a large one go back to the system as soon as it is freed. What is freed to the C library stays with the
    process for later use.
    """
    dtype = np.dtype(dtype)
    size = count * dtype.itemsize
    if size < OWN_PAGES or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(count, dtype)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if huge and size >= HUGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
            pages.madvise(mmap.MADV_HUGEPAGE)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"{size:,} bytes cannot be reserved: {error}") from None
    return np.frombuffer(pages, dtype)
