"""Copies to a device beside its computation.

On a GPU copies go over a stream of their own: events make kernels wait for what they read, and copies for the kernels
that still read what they replace. Elsewhere, and so in tests, a copy is done when the call returns.

Source: WolfPath, Section 4.5.2 (asynchronous copies).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend, CudaBackend


def copies_of(backend: Backend) -> Copies:
    """Copies to the device of a backend."""
    return CudaCopies(backend) if isinstance(backend, CudaBackend) else Copies()


class Copies:
    """Copies that are done when the call returns.

    Attributes
    ----------
    copying, computing : float
        Seconds that copies took, and visits, as far as `settle` has been called after them.
    """

    def __init__(self) -> None:
        self.copying = self.computing = 0.0
        self._began = 0.0

    def copy(self, place: int, out: Array, array: np.ndarray) -> Callable[[], Any] | None:
        """Copy to the device, where kernels still read what was in a place; what waits until `array` may be changed."""
        began = time.perf_counter()
        if isinstance(out, np.ndarray):
            out[...] = array
        else:
            out.set(array)
        self.copying += time.perf_counter() - began
        return None

    def visit(self, place: int) -> None:
        """What is launched from now on reads what was copied to a place."""
        self._began = time.perf_counter()

    def visited(self, place: int, stays: bool) -> None:
        """What has been launched up to now is all that reads it, which may be soon copied over unless it stays."""
        self.computing += time.perf_counter() - self._began

    def settle(self) -> None:
        """Reckon up the times of what has come to its end."""

    def finish(self) -> None:
        """Wait for all copies."""


class CudaCopies(Copies):
    """Copies on a stream of their own."""

    def __init__(self, backend: Backend):
        super().__init__()
        self._cuda = backend.xp.cuda
        self._stream = self._cuda.Stream(non_blocking=True)
        self._filled: dict[int, Any] = {}
        self._unused: dict[int, Any] = {}
        self._copies: list[tuple[Any, Any]] = []
        self._visits: list[tuple[Any, Any]] = []
        self._spare: list[Any] = []
        """Events that nobody waits for any more."""
        self._begin: Any = None
        """Of visits that follow each other without a wait."""
        self._read: set[int] = set()
        """Places that what was launched reads, of those that stay."""
        self._before = self._recorded()  # memory of the device may have been somebody's before

    def _recorded(self, stream: Any = None) -> Any:
        event = self._spare.pop() if self._spare else self._cuda.Event()
        event.record(self._cuda.get_current_stream() if stream is None else stream)
        return event

    def copy(self, place: int, out: Array, array: np.ndarray) -> Callable[[], Any] | None:
        if place in self._read:
            self._read.remove(place)
            self._unused[place] = self._recorded()
        self._stream.wait_event(self._unused.get(place, self._before))
        began = self._recorded(self._stream)
        out.set(array, stream=self._stream)
        self._filled[place] = ended = self._recorded(self._stream)
        self._copies.append((began, ended))
        done: Callable[[], Any] = ended.synchronize
        return done

    def visit(self, place: int) -> None:
        filled = self._filled.pop(place, None)
        if filled is not None:  # else what was launched before has waited for it
            self._end_visits()
            self._cuda.get_current_stream().wait_event(filled)
        if self._begin is None:
            self._begin = self._recorded()

    def visited(self, place: int, stays: bool) -> None:
        if stays:
            self._read.add(place)
        else:
            self._unused[place] = self._end_visits() or self._recorded()

    def _end_visits(self) -> Any:
        """What is recorded behind them; None where there are none."""
        if self._begin is None:
            return None
        ended = self._recorded()
        self._visits.append((self._begin, ended))
        self._begin = None
        return ended

    def settle(self) -> None:
        self._end_visits()
        elapsed = self._cuda.get_elapsed_time
        for name, pairs in (("copying", self._copies), ("computing", self._visits)):
            done = 0
            while done < len(pairs) and pairs[done][1].done:
                setattr(self, name, getattr(self, name) + elapsed(*pairs[done]) / 1e3)
                self._spare.append(pairs[done][0])
                done += 1
            del pairs[:done]

    def finish(self) -> None:
        self._end_visits()
        self._stream.synchronize()
