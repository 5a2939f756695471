"""What the ranks of this process were estimated to need, so that whoever misses the process can say so."""

from __future__ import annotations

_announced: dict[int, tuple[str, int, int]] = {}
"""By rank, for what, of how many ranks, and how many bytes; the last one announced is the last entry."""


def announce(rank: int, ranks: int, what: str, nbytes: int) -> None:
    """Note that a rank of so many is about to allocate so many bytes."""
    _announced.pop(rank, None)
    _announced[rank] = what, ranks, nbytes


def announced() -> tuple[str, int] | None:
    """Return for what memory was announced last, and how much by all ranks of this process; None if none was."""
    if not _announced:
        return None
    what, ranks, _ = next(reversed(_announced.values()))
    return what, sum(nbytes for *of, nbytes in list(_announced.values()) if of == [what, ranks])
