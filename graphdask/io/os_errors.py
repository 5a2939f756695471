"""What the operating system refused, in words: which file, why, and what to do about it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from graphdask.errors import GraphdaskError, InputError, WriteError

TO_DO = {
    errno.EACCES: "get permission for it, or name another",
    errno.EPERM: "get permission for it, or name another",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "its symbolic links lead back to themselves; name another",
    errno.EMFILE: "close files, or raise the limit of this process (ulimit -n)",
    errno.ENFILE: "close files; the whole host has too many open",
    errno.ENOMEM: "free some memory",
    errno.EIO: "the disk, or the network file system, fails; see the log of the host (dmesg), or choose another disk",
    errno.ESTALE: "the network file system has lost it; try again",
    errno.EBUSY: "another program holds it; end that, or name another",
    errno.ETXTBSY: "it is a program that runs; name another",
}
"""By the number of the error, whether the file is read or written."""
TO_WRITE = {
    errno.EROFS: "its file system can only be read; name a file elsewhere",
    errno.ENOSPC: "make room, or choose {smaller}",
    errno.EDQUOT: "your quota is used up: delete files, or choose {smaller}",
    errno.EFBIG: "the file system, or the limit of this process (ulimit -f), takes no larger file; choose {smaller}",
    errno.ENOENT: "make its directory first",
    errno.ENOTDIR: "a part of its path is a file; name another",
    errno.EISDIR: "it is a directory; name a file",
    errno.EEXIST: "another program has made it meanwhile; name another",
    errno.ENXIO: "nobody reads from that pipe",
}
TO_READ = {
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "a part of its path is a file; check the name",
    errno.EISDIR: "it is a directory; name a file",
}
BY_CALLER = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG),
    *(errno.ELOOP, errno.EEXIST, errno.ETXTBSY),
)
"""The output that the caller named cannot be one; the others are failures of the host."""
SMALLER = "another folder or a smaller format (parquet, or .gz)"


def reason(error: OSError) -> str:
    """What the operating system says, as a part of a sentence."""
    if error.errno is None:
        return str(error) or type(error).__name__
    return os.strerror(error.errno).lower()


def unreadable(path: str | os.PathLike[str], error: OSError) -> InputError:
    """The error for a file, or folder, that is not read."""
    what = TO_READ.get(error.errno or 0) or TO_DO.get(error.errno or 0)
    return InputError(f"{os.fspath(path)} cannot be read: {reason(error)}{f'; {what}' if what else ''}")


def unwritable(
    path: str | os.PathLike[str], error: OSError, *, left: str = "nothing is left of it", smaller: str = SMALLER
) -> GraphdaskError:
    """The error for a file, or folder, that is not written.

    Parameters
    ----------
    path : path-like
        As the caller named it.
    error : OSError
    left : str
        What is there now; empty where nothing was begun.
    smaller : str
        What to choose where the disk is full.
    """
    number = error.errno or 0
    what = (TO_WRITE.get(number) or TO_DO.get(number, "")).format(smaller=smaller)
    reasons = "; ".join(part for part in (reason(error), left, what) if part)
    text = f"{os.fspath(path)} cannot be written: {reasons}"
    return InputError(text) if number in BY_CALLER else WriteError(text)


@contextlib.contextmanager
def readable_read(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise InputError in place of an OSError, which names the file that is read and says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno is None or _explained(error):
            raise
        raise unreadable(path, error) from error


@contextlib.contextmanager
def readable_write(
    path: str | os.PathLike[str], left: str = "nothing is left of it", smaller: str = SMALLER
) -> Iterator[None]:
    """Raise WriteError or InputError in place of an OSError, which names the output and says what to do."""
    try:
        yield
    except OSError as error:
        if _explained(error):
            raise
        raise unwritable(path, error, left=left, smaller=smaller) from error


def _explained(error: OSError) -> bool:
    """Whether an error says what is wrong already, or is not of a file."""
    return isinstance(error, GraphdaskError | TimeoutError | ConnectionError)


def in_a_paragraph(error: OSError) -> str:
    """What to say of an error that nobody has caught; it may not know its file."""
    name = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    number = error.errno or 0
    what = TO_DO.get(number) or (TO_WRITE if number in TO_WRITE and number not in TO_READ else TO_READ).get(number, "")
    what = what.format(smaller="another disk")
    return f"{name}{reason(error)}{f'; {what}' if what else ''}"
