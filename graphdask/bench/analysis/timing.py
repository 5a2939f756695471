"""The time of an algorithm from each source, how much it scans and sends, and its memory beside the estimate.

Two clocks are read in each run. `call` is the time of the whole call, from the caller's arguments to the answer where
it was computed, until the devices have finished. Other libraries are timed in the same way, and this time is compared.
`supersteps` leaves out the client, the start of the ranks and the results, and is recorded beside it. Neither includes
compilation. TEPS are counted by two conventions: edges of the input in the component that was reached (Graph500), and
edges that were scanned. Both use the time of the call.
"""

from __future__ import annotations

import gc
import statistics
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from operator import truediv
from typing import Any

from graphdask.bench.harness import CLOCK, timed_call
from graphdask.errors import GraphdaskWarning


@dataclass(frozen=True)
class Timed:
    """One run."""

    seconds: float
    """Of its supersteps."""
    call_seconds: float
    """Of the whole call, until the devices of this process have finished."""
    stats: Any
    iterations: int | None = None
    """None where the algorithm counts none."""


def timed(run: Callable[[Any], Any], sources: Sequence[Any]) -> list[Timed]:
    """Time `run(source)`, which returns a Result and has been called before, for each source."""
    runs = []
    for source in sources:
        with quiet():
            call_seconds, result = timed_call(partial(run, source))
        stats, iterations = _reported(result)
        del result
        runs.append(Timed(stats.bsp.seconds, call_seconds, stats, iterations))
    return runs


def _reported(result: Any) -> tuple[Any, int | None]:
    """What is kept of a result."""
    return result.stats, getattr(result, "iterations", None)


def middle(runs: Sequence[Timed]) -> Timed:
    """The run of median length, by its supersteps."""
    return sorted(runs, key=lambda each: each.seconds)[len(runs) // 2]


def measure(run: Callable[[Any], Any], sources: Sequence[Any], edges: Sequence[int]) -> dict[str, Any]:
    """Time `run(source)` for each source.

    Parameters
    ----------
    run : callable
        Returns a Result; has been called before.
    sources : sequence
    edges : sequence of int
        For each source, the edges of the input in the component that it reaches.

    Returns
    -------
    dict
        `clock`, which is "call"; milliseconds of the whole call (`ms`, `ms_min`, `ms_max`) and of the supersteps
        (`supersteps_ms`, ...), medians of counts, rates, and the BSP terms of the run of median length; of what
        iterates, `iterations` and `iteration_ms`, a call divided by them. Mean rates over sources are harmonic, as
        Graph500 takes them; where no edge is reached there is none.
    """
    runs = timed(run, sources)
    seconds = [each.call_seconds for each in runs]
    typical = middle(runs).stats
    return {
        "runs": len(runs),
        "clock": CLOCK,
        **milliseconds("ms", seconds),
        **per_iteration(seconds, [each.iterations for each in runs]),
        **milliseconds("supersteps_ms", [each.seconds for each in runs]),
        "mteps_input": rate(edges, seconds),
        "mteps_looked": rate([each.stats.edges for each in runs], seconds),
        "supersteps": statistics.median(len(each.stats) for each in runs),
        "edges_looked": statistics.median(each.stats.edges for each in runs),
        "bytes_sent": statistics.median(each.stats.bytes_sent for each in runs),
        "transport": typical.transport,
        "device": ", ".join(dict.fromkeys(typical.devices)),
        "bsp": asdict(typical.bsp),
    }


def milliseconds(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """The median of some seconds, the least and the most, in milliseconds."""
    return {
        name: statistics.median(seconds) * 1e3,
        f"{name}_min": min(seconds) * 1e3,
        f"{name}_max": max(seconds) * 1e3,
    }


def per_iteration(seconds: Sequence[float], iterations: Sequence[int | None]) -> dict[str, float]:
    """Iterations, and milliseconds of each, medians over the runs; nothing where a run does not know how many."""
    counts = [count for count in iterations if count]
    if not counts or len(counts) < len(iterations):
        return {}
    each = map(truediv, seconds, counts)
    return {"iterations": statistics.median_low(counts), "iteration_ms": statistics.median(each) * 1e3}


def rate(edges: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Million edges per second, the harmonic mean over the runs."""
    rates = [count / spent / 1e6 for count, spent in zip(edges, seconds, strict=True)]
    return statistics.harmonic_mean(rates) if all(rates) else None


@contextmanager
def quiet() -> Iterator[None]:
    """Without what a measurement asks for: an iteration that stops before it has converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphdaskWarning)
        yield


class PeakMemory:
    """Growth of the memory in use at its peak, on the rank that takes most, while the context is open.

    On a GPU of this process, these are the bytes that CuPy's pool has given out, read after each allocation. On the
    CPU, these are the bytes that NumPy holds over all ranks, divided by their number. `bytes` is None if the ranks are
    in other processes.
    """

    def __init__(self, device: str, ranks: int, here: bool):
        self.device, self.ranks, self.here = device, ranks, here
        self.bytes: int | None = None

    def __enter__(self) -> PeakMemory:
        gc.collect()
        if self.here and self.device == "cpu":
            tracemalloc.start()
        elif self.here:
            self._follow()
        return self

    def _follow(self) -> None:
        import cupy

        pool, self._allocate = cupy.get_default_memory_pool(), cupy.cuda.get_allocator()
        lock = threading.Lock()
        self._peaks: dict[int, int] = {}
        before: dict[int, int] = {}
        for number in range(cupy.cuda.runtime.getDeviceCount()):
            with cupy.cuda.Device(number):
                before[number] = pool.used_bytes()
        allocate = self._allocate

        def followed(nbytes: int) -> Any:
            memory = allocate(nbytes)
            number = cupy.cuda.Device().id
            grown = pool.used_bytes() - before[number]
            with lock:
                self._peaks[number] = max(self._peaks.get(number, 0), grown)
            return memory

        cupy.cuda.set_allocator(followed)

    def __exit__(self, *exception: Any) -> None:
        if not self.here:
            return
        if self.device == "cpu":
            self.bytes = tracemalloc.get_traced_memory()[1] // self.ranks
            tracemalloc.stop()
            return
        import cupy

        cupy.cuda.set_allocator(self._allocate)
        self.bytes = max(self._peaks.values(), default=0)
