"""How an output gets its name: it is made beside its target, and put in its place when it is whole.

Nothing is replaced that nobody asked to replace, also where another program makes the same file meanwhile: a link, or
an exclusive creation, fails then. What is replaced stays until that moment.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from graphdask.errors import DeadlineExceeded, OutputExists

UNFINISHED = re.compile(r"\..+\.[0-9a-f]{12}\.\d+\.tmp", re.DOTALL)
"""Names of what is not finished."""
MOST_NAME = 200
"""Bytes of a target's name that the name of what is made beside it repeats; file systems take 255."""
PIPE_SECONDS = 300.0
"""How long a writer waits for somebody to read a named pipe."""
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
_EXCHANGE, _HERE = 2, -100

Opener = Callable[[], IO[bytes]]


def unfinished_name(target: Path, token: str, attempt: int = 0, inside: bool = False) -> Path:
    """The name under which something is made: beside the target, or inside a folder that is there and empty."""
    name = os.fsencode(target.name)[:MOST_NAME].decode(errors="ignore")
    made = f".{name}.{token}.{attempt}.tmp"
    return target / made if inside else target.with_name(made)


def new_name(target: Path, inside: bool = False) -> Path:
    """Such a name that nobody else has."""
    return unfinished_name(target, secrets.token_hex(6), 0, inside)


def exists(target: Path) -> OutputExists:
    """The error for an output that is there."""
    return OutputExists(f"{target} exists; pass overwrite=True to replace it, or name another", target)


def put_file(made: Path, target: Path, overwrite: bool, named: Path | None = None, alike: bool = True) -> None:
    """Give a finished file its name; `named` is what the caller called it.

    `alike` gives it the permissions of a file that it replaces.

    Raises
    ------
    OutputExists
        Where somebody made one meanwhile; `made` is left for the caller to remove.
    """
    if overwrite:
        if alike:
            _like(made, target)
        made.replace(target)
        return
    try:
        os.link(made, target, follow_symlinks=False)
    except FileExistsError:
        raise exists(named or target) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            raise exists(named or target) from None
        made.replace(target)
        return
    made.unlink()


def _like(made: Path, target: Path) -> None:
    """Give a new file the permissions, and where that may be the owner, of the one that it replaces."""
    with suppress(OSError):
        old = target.stat()
        new = made.stat()
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            with suppress(OSError):
                os.chown(made, old.st_uid, old.st_gid)
        made.chmod(stat.S_IMODE(old.st_mode))


def put_folder(made: Path, target: Path, overwrite: bool, check: Callable[[], None], last: str = "") -> None:
    """Give a finished folder its name.

    Parameters
    ----------
    made : Path
        Beside the target, or inside it where it was there and empty.
    target : Path
    overwrite : bool
    check : callable
        Raises where what stands under the name now must not be replaced; called right before it would be.
    last : str
        The file of it that says that it is whole, if any, which comes last.
    """
    if made.parent == target:
        _move_in(made, target, last, check)
        return
    if not overwrite:
        try:
            made.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise exists(target) from None
            raise
        return
    check()
    if not os.path.lexists(target):
        made.rename(target)
        return
    with suppress(OSError):
        made.chmod(stat.S_IMODE(target.stat().st_mode))
    if _exchange(made, target):
        shutil.rmtree(made, ignore_errors=True)
        return
    old = new_name(target)
    target.rename(old)
    try:
        made.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _move_in(made: Path, target: Path, last: str, check: Callable[[], None]) -> None:
    """Move the files of a folder into the one around it; one program at a time does so."""
    handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    moved: list[Path] = []
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        check()
        for name in sorted(os.listdir(made), key=lambda name: (name == last, name)):
            (made / name).rename(target / name)
            moved.append(target / name)
        made.rmdir()
    except BaseException:
        for file in moved:
            file.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names at once; False where the host cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return done == 0


@contextmanager
def new_file(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A new file with the permissions that new files of the user have."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, mode)
    with open(handle, "wb") as stream:
        yield stream


def probe(folder: Path, target: Path, inside: bool = False) -> None:
    """Make a file where the output will be made, and remove it; raise OSError where that is refused."""
    trial = new_name(target, inside)
    handle = os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    os.close(handle)
    trial.unlink()


def special(path: Path) -> Opener | None:
    """How to write to a pipe or a character device, or to a file that is open under a number; None for all else.

    `/dev/stdout`, `/dev/fd/3` and `/proc/self/fd/3` are what is open under that number, wherever it leads; that file is
    not opened anew, which would cut it off or lose its place.
    """
    number = descriptor(path)
    if number is not None:
        return lambda: open(os.dup(number), "wb")
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if stat.S_ISCHR(mode):
        return lambda: path.open("wb", buffering=0)
    if stat.S_ISFIFO(mode):
        return lambda: _pipe(path)
    return None


def descriptor(path: Path) -> int | None:
    """Return the number of this process's open file that a path leads to, or None."""
    for _ in range(8):
        folder, name = os.path.split(os.path.abspath(path))
        if name.isdecimal() and os.path.realpath(folder) in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            number = int(name)
            with suppress(OSError):
                os.fstat(number)
                return number
            return None
        try:
            path = Path(folder, os.readlink(path))
        except OSError:
            return None
    return None


def _pipe(path: Path) -> IO[bytes]:
    """Open a named pipe once somebody reads it."""
    deadline = time.monotonic() + PIPE_SECONDS
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise DeadlineExceeded(
                    f"{path} is a pipe that nobody has read for {PIPE_SECONDS:g} s; start its reader first"
                ) from None
            time.sleep(0.02)
    os.set_blocking(handle, True)
    return open(handle, "wb")
