"""How much memory of the host may still be used, by the system and by the limits of a container or a job; and arrays of
pages of their own."""

from __future__ import annotations

import mmap
import time
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np

OWN_PAGES, HUGE_PAGES = 1 << 20, 1 << 22
"""Bytes from which on an array has pages of its own, and from which on these are huge where the system has such."""

BEGINNING = 4096
"""Bytes of /proc/meminfo, which the available memory is among; the whole has fewer."""
ROOT, OWN = "/sys/fs/cgroup", "/proc/self/cgroup"
UNLIMITED = 1 << 62
"""More bytes than any limit of a control group; the kernel writes almost 2**63 for none."""
KNOWN = 10.0
"""Seconds for which it is known which control groups have a limit; a job's does not change."""
SECOND = "memory.max", "memory.current", "inactive_file "
FIRST = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "
"""Files of a control group of the second and of the first version, and a word of its `memory.stat`."""


class _Group(NamedTuple):
    """A control group."""

    folder: str
    limit: str
    used: str
    inactive: str


def free() -> int:
    """Bytes that are available, and that the control group still allows."""
    with open("/proc/meminfo", "rb", buffering=0) as meminfo:
        _, found, after = meminfo.read(BEGINNING).partition(b"MemAvailable:")
    group = _of_own_groups()
    return min(int(after.split(maxsplit=1)[0]) * 1024, group) if found else group


def of_control_group(root: str = ROOT, own: str = OWN) -> int:
    """Bytes that the control groups of this process still allow; a very large number where there is no limit."""
    return _left(_limited(root, own))


class _Known:
    """The control groups of this process that have a limit, as they were found last."""

    groups: ClassVar[list[_Group]] = []
    until = 0.0
    """`time.monotonic()` from which on they are looked for again."""


def _of_own_groups() -> int:
    """As `of_control_group`; which groups have a limit is looked for every few seconds."""
    now = time.monotonic()
    if now >= _Known.until:
        _Known.groups, _Known.until = _limited(ROOT, OWN), now + KNOWN
    return _left(_Known.groups)


def _left(groups: list[_Group]) -> int:
    """Bytes that some groups still allow.

    The kernel counts file pages as used, and takes the inactive ones back before it refuses memory.
    """
    least = UNLIMITED
    for group in groups:
        with suppress(OSError, ValueError), open(f"{group.folder}/{group.used}") as used:
            current = int(used.read())
            with open(f"{group.folder}/memory.stat") as stat:
                found = (int(line.split()[1]) for line in stat if line.startswith(group.inactive))
                inactive = next(found, 0)
            least = min(least, max(0, _limit(group) - max(0, current - inactive)))
    return least


def _limit(group: _Group) -> int:
    """Bytes that a group may take; a very large number if it says nothing, or that there is no limit."""
    try:
        with open(f"{group.folder}/{group.limit}") as limit:
            text = limit.read().strip()
        return UNLIMITED if text == "max" else min(int(text), UNLIMITED)
    except (OSError, ValueError):
        return UNLIMITED


def _limited(root: str, own: str) -> list[_Group]:
    """The control groups of this process, and those that hold these, that have a limit.

    In a container a process may see the names of groups outside it, and the files of its own group at the root.
    """
    try:
        with open(own) as lines:
            entries = [line.rstrip("\n").split(":", 2) for line in lines]
    except OSError:
        entries = []
    found = {}
    for _, controllers, path in [["0", "", "/"], *(entry for entry in entries if len(entry) == 3)]:
        first = "memory" in controllers.split(",")
        if controllers and not first:
            continue
        files = FIRST if first else SECOND
        for top in [f"{root}/memory"] if first else [root, f"{root}/unified"]:
            names = [name for name in path.split("/") if name]
            for depth in range(len(names) + 1):
                folder = "/".join([top, *names[:depth]])
                found[folder] = _Group(folder, *files)
    return [group for group in found.values() if _limit(group) < UNLIMITED]


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
