"""About how many lines a text has: they are assumed to be as long as those at some places of it."""

from __future__ import annotations

import re

from .opening import Source

PLACES, SAMPLE = 16, 1 << 14
"""Places of a text that are sampled, and bytes of each."""
SMALLEST = 4
"""Bytes of a line with an edge."""
TIGHTEST = 64
"""Bytes of text in one of a compressed file, at most: a file that is smaller than this allows is not checked."""


def estimated_lines(source: Source, most: int = 0) -> tuple[int, str]:
    """About how many lines a text has, in doubt fewer, 0 where they are `most` at the most in any case or few of them
    are read; and what stands in them, a field of `PerEdge`."""
    if source.limit is not None:
        return 0, "narrow"
    if source.compression is None:
        if source.size <= SMALLEST * most:
            return 0, "narrow"
        taken, lines, kinds = 0, 0, set()
        with source.path.open("rb") as file:
            for place in range(PLACES):
                file.seek(place * max(source.size - SAMPLE, 0) // (PLACES - 1))
                text = file.read(SAMPLE)
                taken, lines = taken + len(text), lines + text.count(b"\n")
                kinds.add(_kind(text))
        return source.size * lines // max(taken, 1), "wide" if "wide" in kinds else "narrow"
    if TIGHTEST * source.size <= SMALLEST * most:
        return 0, "narrow"
    with source.open() as stream:
        begin = stream.read(PLACES * SAMPLE)
    # later ids may be longer
    return source.size * begin.count(b"\n") // max(source.taken, 1) // 2, _kind(begin)


def _kind(text: bytes) -> str:
    """Whether ids in some lines are wide, as far as the middle one shows it; of names the reader says it."""
    lines = text.split(b"\n")[1:-1]
    ends = re.findall(rb"[^\s,;]+", lines[len(lines) // 2])[:2] if lines else []
    return "wide" if len(ends) == 2 and all(end.isdigit() and int(end[:19]) >= 2**31 for end in ends) else "narrow"
