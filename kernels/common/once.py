"""Processes that need the same twin at the same time, such as Dask workers of a host, compile it once between them.

The process that does not find a twin among Numba's files locks a file in their folder (flock) while it compiles.
Another process that misses the same twin waits for the lock, and loads what was kept. A twin locks before the twins
that it calls, and these do not call it, so that processes do not wait for each other in a circle; and no wait is longer
than LONGEST. A process that has waited for a twin that was not kept, because of a full disk, waits for no other one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any

from graphdask.kernels.common.compiling import waiting

LONGEST = 60.0
"""Seconds for which a process waits for another one."""
PAUSE = 0.005
"""Seconds between two tries to lock a file."""


class _Held(threading.local):
    """Locks of a thread, those of the twins that it compiles within each other."""

    def __init__(self) -> None:
        self.files: list[tuple[int, Path]] = []


_held = _Held()
_in_vain = threading.Event()


def compile_once(dispatcher: Any) -> None:
    """Let a twin that is kept in files wait for another process that compiles it for the same types."""
    kept, compile_, load = dispatcher._cache, dispatcher.compile, dispatcher._cache.load_overload

    def load_overload(signature: Any, context: Any) -> Any:
        found = load(signature, context)
        if found is not None or _in_vain.is_set():
            return found
        waited = _lock(Path(kept.cache_path), f"{dispatcher.py_func.__qualname__} {signature}")
        found = load(signature, context)  # another one may have kept it since
        if waited and found is None:
            _in_vain.set()
        return found

    def compile_here(signature: Any) -> Any:
        outer = len(_held.files)
        try:
            return compile_(signature)
        finally:
            while len(_held.files) > outer:
                _unlock(*_held.files.pop())

    kept.load_overload, dispatcher.compile = load_overload, compile_here


def _lock(folder: Path, twin: str) -> bool:
    """Lock the file of a twin, if the folder allows it; whether another process had it."""
    path = folder / f"{hashlib.sha256(twin.encode()).hexdigest()[:24]}.lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    _held.files.append((file, path))
    if _is_free(file):
        return False
    end = time.monotonic() + LONGEST
    with waiting():
        while time.monotonic() < end and not _is_free(file):
            time.sleep(PAUSE)
    return True


def _is_free(file: int) -> bool:
    """Whether this process has the lock now, or there are no locks in this file system."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _unlock(file: int, path: Path) -> None:
    try:
        path.unlink(missing_ok=True)  # a process that waits for this file finds the twin
    except OSError:
        pass
    finally:
        os.close(file)
