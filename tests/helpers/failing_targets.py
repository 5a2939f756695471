"""Targets of `graphdask fuzz` in which something is wrong that is known."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from graphdask.errors import InputError
from graphdask.selftest.cases import Wrong
from graphdask.selftest.choices import Choices

KEPT: list = []


class Fails:
    """What fails where some choice is above 700; the number of choices is one of them."""

    def __init__(self, folder: Path):
        self.folder = folder

    def run(self, choices: Choices) -> str:
        values = [choices.below(1000) for _ in range(choices.below(20))]
        if any(value > 700 for value in values):
            self.fail(max(values))
        if values:
            raise InputError("refused")
        return "none"

    def fail(self, value: int) -> None:
        raise Wrong(f"above 700: {value}")


class Raises(Fails):
    def fail(self, value: int) -> None:
        raise KeyError(value)


class Crashes(Fails):
    def fail(self, value: int) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class Leaves(Fails):
    def fail(self, value: int) -> None:
        KEPT.append((self.folder / "open").open("w"))


class LeavesAThread(Fails):
    def fail(self, value: int) -> None:
        threading.Thread(target=threading.Event().wait, daemon=True).start()


class TakesMemory(Fails):
    def fail(self, value: int) -> None:
        KEPT.append(bytearray(600 << 20))
        KEPT.clear()


class Spins(Fails):
    """What uses a processor without end."""

    def fail(self, value: int) -> None:
        while True:
            pass


class Waits(Fails):
    """What waits without end."""

    def fail(self, value: int) -> None:
        threading.Event().wait()


class NeverBegins(Fails):
    def __init__(self, folder: Path):
        raise RuntimeError("no target")


class Tallies(Fails):
    """What counts and says what it has done in a case that goes on."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.tally: Counter[str] = Counter()
        self.say: Callable[..., None] = lambda now, done="": None

    def run(self, choices: Choices) -> str:
        self.tally["none/right"] += 1
        self.say("", "done")
        threading.Event().wait()
        return "none"
