"""What the functions that kernels of programs call have in common in both languages."""

from __future__ import annotations

from collections.abc import Iterable

NOT_A_NUMBER, TOO_WIDE, TOO_LARGE_SUM = 11, 12, 13
"""Reasons of failures besides those of functions (graphdask.program.translated.REASONS)."""
TOO_LARGE_SINGLE = "3.4028235677973366e38"
"""The least float that float32 rounds to infinity, 2 ** 128 - 2 ** 103."""
LARGEST, SMALLEST = 9223372036854775807, "(-9223372036854775807 - 1)"


def indented(lines: Iterable[str]) -> str:
    """The lines, each a level deeper."""
    return "".join(f"    {line}\n" for line in lines)
