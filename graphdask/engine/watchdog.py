"""Watchdog: ends a run that makes no progress for too long, or that takes longer than it may in all.

A rank notes progress whenever a part of its work is done: a superstep, a launch, a chunk that was read, a block that
was written. A part that took longer than the limit ends the run, so a rank and the client that counts its signs of
progress judge alike.
"""

from __future__ import annotations

import math
import time

from graphdask.errors import DeadlineExceeded


class Watchdog:
    """The limits of a run on one rank.

    Parameters
    ----------
    deadline : float
        Seconds that may pass without progress.
    time_limit : float
        Seconds that the run may take in all, from now on.
    """

    def __init__(self, deadline: float = math.inf, time_limit: float = math.inf):
        self.deadline, self.time_limit = deadline, time_limit
        self.moved = self._started = time.monotonic()
        """`time.monotonic()` of the last progress."""
        self.parts = 0
        """How many parts of the work are done."""

    def advance(self, name: str, place: str = "") -> None:
        """Note that a part of the work is done.

        Raises
        ------
        DeadlineExceeded
            If it came after a limit; the error names the algorithm and the place.
        """
        now = time.monotonic()
        where = f" in {place}" if place else ""
        if now - self._started > self.time_limit:
            raise DeadlineExceeded(late(f"{name}{where}", "time_limit", self.time_limit))
        if now - self.moved > self.deadline:
            raise DeadlineExceeded(late(f"{name}{where}", "deadline", self.deadline))
        self.moved = now
        self.parts += 1


def late(what: str, setting: str, limit: float) -> str:
    """What an error says of a run that has passed one of its limits."""
    if setting == "time_limit":
        return f"{what} passed its time limit of {limit:g} s; raise the setting graphdask.time-limit"
    return (
        f"{what} passed its deadline of {limit:g} s without progress; raise the setting graphdask.deadline if a part "
        f"of the work may take as long as that"
    )
