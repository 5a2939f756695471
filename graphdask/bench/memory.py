"""The memory that this process has taken at its peak, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc

from graphdask.errors import GraphdaskError


class HighWater:
    """Growth of resident memory at its peak, in `bytes`, while the context is open; None if it cannot be measured."""

    bytes: int | None = None

    def __enter__(self) -> HighWater:
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:  # glibc: what was freed goes back to the system, and does not hide growth
            trim(0)
        try:
            with open("/proc/self/clear_refs", "w") as clear:
                clear.write("5")  # the peak is counted from here
            self._before: int | None = resident("VmRSS")
        except OSError:
            self._before = None
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            self.bytes = max(0, resident("VmHWM") - self._before)


def resident(name: str) -> int:
    """Return the bytes of resident memory of this process, now (`VmRSS`) or at most so far (`VmHWM`)."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        raise GraphdaskError(
            "the resident memory of a process is read from /proc, which this system does not have"
        ) from None
