"""Which case a process runs, and the choices that it has made, in a file: it is there after the process has crashed."""

from __future__ import annotations

import mmap
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from graphdask.selftest.choices import Choices

MOST = 1 << 16
"""Choices that are written; a case of more of them is repeated by its number."""
WORD = 8


class Running:
    """The file, which the process that runs cases writes.

    It has the number of the case plus 1, 0 before the first one; the number of choices; and the choices, in 64 bits.
    """

    def __init__(self, path: Path):
        path.write_bytes(bytes((MOST + 2) * WORD))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.memory.close()

    def begin(self, number: int) -> None:
        """Note that a case begins."""
        struct.pack_into("<qq", self.memory, 0, number + 1, 0)

    def chosen(self, count: int, value: int) -> None:
        """Note a choice, which is the one of number `count` of this case."""
        if count <= MOST:
            struct.pack_into("<q", self.memory, (count + 1) * WORD, value)
            struct.pack_into("<q", self.memory, WORD, count)


class Noted(Choices):
    """Choices that are noted in the file as they are made."""

    def __init__(self, file: Running, given: Sequence[int] = (), rng: random.Random | None = None):
        super().__init__(given, rng)
        self.file = file

    def below(self, bound: int) -> int:
        value = super().below(bound)
        self.file.chosen(len(self.taken), value)
        return value


def running(path: Path) -> tuple[int | None, list[int]]:
    """Return the number of the case that a process ran last, None if it ran none, and the choices of that case."""
    try:
        data = path.read_bytes()
    except OSError:
        return None, []
    number, count = struct.unpack_from("<qq", data)
    return (number - 1 if number else None), list(struct.unpack_from(f"<{count}q", data, 2 * WORD))
