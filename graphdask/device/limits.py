"""Refuse a call before it begins if host memory, a disk or a week cannot suffice, by an estimate from counts.

The estimate for a disk is a lower bound, so that no file is refused that could be written: compressed files are assumed
to be as small as possible.
"""

from __future__ import annotations

import os
from pathlib import Path

from graphdask.config import Config
from graphdask.device import host_memory
from graphdask.errors import InputError, OverBudget, WriteError

LONGEST = 7 * 86_400.0
"""Seconds that a call may be sure to take; what is certain to take longer is refused."""
LEAST_SECONDS = 1e-6
"""Of an iteration over a graph, however small that is."""
UNITS = ((1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"))
NOTED = 1 << 20
"""Bytes up to which free memory is not checked."""


def size(nbytes: float) -> str:
    """Bytes with three digits and a unit."""
    factor, unit = next((pair for pair in UNITS if nbytes >= pair[0]), (1 << 10, "KiB"))
    value = nbytes / factor
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"


def refuse_beyond_memory(what: str, needed: int, instead: str) -> None:
    """Raise OverBudget if `what` needs more bytes of the host's memory than may be used."""
    if needed <= NOTED:
        return
    usable = int(host_memory.free() * Config.load().memory_fraction)
    if needed > usable:
        raise OverBudget(
            f"{what} need about {size(needed)} of host memory, and {size(usable)} may be used (the setting "
            f"graphdask.memory-fraction of what is free); {instead}"
        )


def refuse_beyond_time(what: str, seconds: float, instead: str) -> None:
    """Raise InputError if `what` takes longer than `LONGEST`, by an estimate that no machine beats."""
    if seconds > LONGEST:
        days = seconds / 86_400
        took = f"{days:,.0f} days" if days < 1000 else f"{days / 365.25:,.0f} years"
        raise InputError(f"{what} would take {took} at least; nothing was begun; {instead}")


def free_disk(path: str | os.PathLike[str]) -> int | None:
    """Bytes that this user may still write where a file is to stand; None where nobody knows, as of a folder that is
    on the workers only."""
    folder = Path(path).absolute().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize if found.f_blocks else None


def refuse_beyond_disk(path: str | os.PathLike[str], what: str, needed: int, instead: str) -> None:
    """Raise WriteError if a file for `what` needs more bytes than are free on its disk; nothing is written before."""
    if needed <= NOTED:
        return
    free = free_disk(path)
    if free is not None and needed > free:
        raise WriteError(
            f"{os.fspath(path)} cannot be written: {what} need {size(needed)} at least, and {size(free)} are free on "
            f"its disk; nothing was begun; {instead}"
        )


def least_of_edges(format: str, compression: str, edges: int, vertices: int, item: int, weight: int) -> int:
    """Bytes that a file of so many edges takes at least.

    Parameters
    ----------
    format, compression : str
        As `graphdask.io` names them; `compression` is empty where there is none.
    edges, vertices : int
    item, weight : int
        Bytes of an id, and of a weight; 0 without weights.
    """
    if format == "native":
        return edges * (2 * item + weight)
    if compression or format not in ("edgelist", "csv"):
        return edges
    # a vertex in a hundred has an id of fewer digits than this; many edges may have the same ones
    digits = max(1, len(str(max(vertices - 1, 0))) - 2)
    return edges * (2 * digits + 2 + (2 if weight else 0))
