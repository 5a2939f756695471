"""The two files of a graph of LDBC Graphalytics, by the name of either."""

from __future__ import annotations

import os
from pathlib import Path

from .opening import COMPRESSION_SUFFIXES


def ldbc_pair(path: str | os.PathLike[str]) -> tuple[Path, Path] | None:
    """(NAME.v, NAME.e) for either of the two or their common stem, compressed or not; None if one is
    missing."""
    given = Path(path).expanduser()
    stem = given.with_suffix("") if given.suffix.lower() in COMPRESSION_SUFFIXES else given
    if stem.suffix.lower() in (".v", ".e"):
        stem = stem.with_suffix("")
    found = []
    for kind in (".v", ".e"):
        names = [Path(f"{stem}{kind}{packed}") for packed in ("", *COMPRESSION_SUFFIXES)]
        if given in names:
            names.insert(0, given)
        existing = [name for name in names if name.is_file()]
        if not existing:
            return None
        found.append(existing[0])
    return found[0], found[1]
