"""Sizes of commands that tests vary."""

from __future__ import annotations

from dataclasses import dataclass

from graphdask.tuning import Tuning


@dataclass(frozen=True)
class CommandsTuning(Tuning):
    """What commands read."""

    first_bytes: int = 64 << 20
    """Bytes of a text that `info` reads without `--all`."""


COMMANDS = CommandsTuning()
"""The sizes that commands use now."""
