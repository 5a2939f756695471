"""What the ranks of this process were estimated to need, so that whoever misses the process can say so."""

from __future__ import annotations

_announced: dict[int, tuple[str, int]] = {}
"""By rank, for what and how many bytes; the last one announced is the last entry."""


def announce(rank: int, what: str, nbytes: int) -> None:
    """Note that a rank is about to allocate so many bytes."""
    _announced.pop(rank, None)
    _announced[rank] = what, nbytes


def announced() -> tuple[str, int] | None:
    """Return for what memory was announced last, and how much by all ranks of this process; None if none was."""
    if not _announced:
        return None
    what = next(reversed(_announced.values()))[0]
    return what, sum(nbytes for of, nbytes in list(_announced.values()) if of == what)
