"""How long a drill waits: for some seconds, and longer while its processes are at work on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable

from graphdask.selftest.cases import Wrong

POLL = 0.05
LOOK = 5.0
"""Seconds after which it is measured again how much has been worked."""
AT_WORK = 0.1
"""Share of a processor from which on processes are at work. Those of an idle cluster use a few percent of one."""
MOST = 6.0
"""Multiple of the time after which what works is late too."""


class Patience:
    """Says when something is late.

    Parameters
    ----------
    seconds : float
        After which a wait is late if nothing works any more.
    worked : function
        Returns the seconds of processors that were used so far.
    """

    def __init__(self, seconds: float, worked: Callable[[], float]):
        self.seconds, self._worked = seconds, worked
        self.begin()

    def begin(self) -> None:
        """Begin to wait."""
        self._began = self._looked = time.monotonic()
        self._before = self._worked()
        self._idle = 0.0

    @property
    def late(self) -> bool:
        """Whether the wait is late: `seconds` have passed without work, or six times as many in all."""
        now = time.monotonic()
        if now >= self._looked + LOOK:
            worked = self._worked()
            if not 0 <= worked - self._before < AT_WORK * (now - self._looked):  # fewer where a process has ended
                self._idle = 0.0
            else:
                self._idle += now - self._looked
            self._before, self._looked = worked, now
        return self._idle >= self.seconds or now - self._began >= MOST * self.seconds

    def until(self, holds: Callable[[], bool], what: str, said: Callable[[], str] = str, every: float = POLL) -> None:
        """Wait until something holds, which is asked `every` so many seconds; raise Wrong, with what was waited for,
        where that is late."""
        self.begin()
        while not holds():
            if self.late:
                raise Wrong(f"{what}: {said()}, after {time.monotonic() - self._began:.0f} s")
            time.sleep(every)
