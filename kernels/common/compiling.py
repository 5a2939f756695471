"""The cost of compiling kernels, measured in Numba and CuPy and kept apart from the time of running them.

Each thread has an account: the kernels that it compiled, and the seconds for which it compiled, or waited for Numba's
lock while another thread of the process compiled. `clock` is a clock that stands still meanwhile, so its times do not
depend on whether the kernels were compiled before. Numba reports compilation by its events; loading a kernel from
Numba's files compiles nothing and raises no event. CuPy has no such events, so the function by which it calls NVRTC,
for its own kernels and for RawModule, is wrapped. A call of a compiled kernel goes through neither.

While Numba compiles, Python collects no garbage: Numba makes millions of objects, most of which stay, and collections
that go through them again and again would be a tenth of the time.
"""

from __future__ import annotations

import functools
import gc
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Compiled(NamedTuple):
    """Kernels that were compiled, and seconds spent on it."""

    kernels: int = 0
    seconds: float = 0.0


NOTHING = Compiled()


class _Account(threading.local):
    kernels = 0
    seconds = 0.0
    depth = 0
    """Compilations that this thread is in: Numba compiles what a kernel calls within that of the kernel."""
    held = 0
    """How often this thread has taken, or waits for, Numba's lock."""
    before = 0.0
    """What the process had spent when this thread asked for the lock first."""


class _Process:
    """Of all threads together; seconds in which several compile count once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.active, self.since, self.spent, self.kernels = 0, 0.0, 0.0, 0
        self.observers: list[Callable[[bool], None]] = []
        """Called with True when compilation begins and False when it ends, by the thread that compiles."""

    def total(self) -> Compiled:
        with self.lock:
            under_way = time.perf_counter() - self.since if self.active else 0.0
            return Compiled(self.kernels, self.spent + under_way)


class _Garbage:
    """Collected by Python when nothing is being compiled, if it was before."""

    def __init__(self) -> None:
        self._lock, self._compiling, self._collected = threading.Lock(), 0, False

    def keep(self) -> None:
        with self._lock:
            if not self._compiling:
                self._collected = gc.isenabled()
                gc.disable()
            self._compiling += 1

    def collect(self) -> None:
        with self._lock:
            if self._compiling:
                self._compiling -= 1
                if not self._compiling and self._collected:
                    gc.enable()


_account, _process, _garbage = _Account(), _Process(), _Garbage()


def clock() -> float:
    """Seconds, as `time.perf_counter`, without those for which this thread compiled or waited for a compiler."""
    return time.perf_counter() - _account.seconds


def account() -> Compiled:
    """What this thread has compiled until now, with what was charged to it."""
    return Compiled(_account.kernels, _account.seconds)


def since(before: Compiled) -> Compiled:
    """What this thread has compiled since its account was `before`."""
    return Compiled(_account.kernels - before.kernels, _account.seconds - before.seconds)


def charge(compiled: Compiled) -> None:
    """Add to this thread's account what others compiled while it waited for them."""
    _account.kernels += compiled.kernels
    _account.seconds += compiled.seconds


def in_parallel(each: Iterable[Compiled], shared: bool) -> Compiled:
    """What several did at the same time: the seconds of the one that took longest, and its kernels; or those of all
    where they are threads of one process, which have kernels in common."""
    each = list(each) or [NOTHING]
    kernels = [one.kernels for one in each]
    return Compiled(sum(kernels) if shared else max(kernels), max(one.seconds for one in each))


def process() -> Compiled:
    """What all threads of this process have compiled until now."""
    return _process.total()


def observe(observer: Callable[[bool], None]) -> None:
    """Have `observer(True)` called when a compilation begins in this process, `observer(False)` when it has ended."""
    with _process.lock:
        _process.observers.append(observer)


def forget(observer: Callable[[bool], None]) -> None:
    """Undo `observe`."""
    with _process.lock:
        _process.observers.remove(observer)


@contextmanager
def waiting() -> Iterator[None]:
    """While this thread, which has Numba's lock, waits for a kernel that another process compiles: the seconds count as
    those of compiling, and no kernel does."""
    _began()
    try:
        yield
    finally:
        _ended(0)


@contextmanager
def waited(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock; a thread that waits for it has waited for another one, which compiled a kernel for both."""
    if not lock.acquire(blocking=False):
        begun = time.perf_counter()
        lock.acquire()
        charge(Compiled(1, time.perf_counter() - begun))
    try:
        yield
    finally:
        lock.release()


def _began() -> None:
    _account.depth += 1
    if _account.depth == 1:
        with _process.lock:
            if not _process.active:
                _process.since = time.perf_counter()
            _process.active += 1
            observers = list(_process.observers)
        for observer in observers:
            observer(True)


def _ended(kernels: int = 1) -> None:
    if not _account.depth:  # it began before anybody listened
        return
    _account.depth -= 1
    if _account.depth == 0:
        _account.kernels += kernels
        with _process.lock:
            _process.active -= 1
            _process.kernels += kernels
            if not _process.active:
                _process.spent += time.perf_counter() - _process.since
            observers = list(_process.observers)
        for observer in observers:
            observer(False)


def _locking() -> None:
    _account.held += 1
    if _account.held == 1:
        _account.before = _process.total().seconds


def _unlocked() -> None:
    if not _account.held:
        return
    _account.held -= 1
    if _account.held == 0:
        _account.seconds += _process.total().seconds - _account.before


@functools.cache
def listen_to_numba() -> None:
    """Count what Numba compiles from now on. Every module that imports Numba for kernels calls it, or imports `twin`,
    which does."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # Numba has no types
        def __init__(self, start: Callable[[], None], end: Callable[[], None]):
            self._start, self._end = start, end

        def on_start(self, event: Any) -> None:
            self._start()

        def on_end(self, event: Any) -> None:
            self._end()

    event.register("numba:compile", Listener(_began, _ended))
    event.register("numba:compile", Listener(_garbage.keep, _garbage.collect))
    event.register("numba:compiler_lock", Listener(_locking, _unlocked))


HEADERS_KEPT = "CUPY_NVRTC_USE_PCH"
"""Variable of the environment by which CuPy lets NVRTC precompile headers."""
NVRTC = ("compile_using_nvrtc", "_compile_using_nvrtc_no_warning")
"""Functions by which CuPy calls NVRTC. Later versions call the second one themselves, and the first one calls it."""


def prepare_cupy(compiler: Any) -> None:
    """Count what CuPy compiles from now on, and keep its headers; `compiler` is the module `cupy.cuda.compiler`."""
    listen_to_cupy(compiler)
    keep_headers(compiler)


def listen_to_cupy(compiler: Any) -> None:
    """Count what CuPy compiles from now on; `compiler` is the module `cupy.cuda.compiler`."""
    for name in NVRTC:
        compile_ = getattr(compiler, name, None)
        if compile_ is not None and not hasattr(compile_, "counted_by_graphdask"):
            setattr(compiler, name, _counted(compile_))


def keep_headers(compiler: Any) -> None:
    """Let NVRTC keep the headers of CuPy's kernels, parsed, for those that this process compiles after; unless the
    environment says whether to. The next kernel is then compiled in 0.05 s instead of 0.13."""
    if hasattr(compiler, "_use_pch") and HEADERS_KEPT not in os.environ:
        compiler._use_pch = True


def _counted(compile_: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compile_)
    def counted(*args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        outermost = _account.depth == 0
        _began()
        try:
            return compile_(*args, **kwargs)
        finally:
            _ended()
            if outermost:
                _account.seconds += time.perf_counter() - begun

    counted.counted_by_graphdask = True  # type: ignore[attr-defined]
    return counted


class Timer:
    """Seconds since it was made, by `clock`, and what was compiled meanwhile in this thread."""

    def __init__(self) -> None:
        self._started, self._before = clock(), account()

    @property
    def seconds(self) -> float:
        """Without compilation."""
        return clock() - self._started

    @property
    def compiled(self) -> Compiled:
        """What was compiled since."""
        return since(self._before)
