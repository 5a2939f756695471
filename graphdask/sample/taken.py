"""The edges that a sampler took, one below the other, by their ends: what the proof of their rows asks about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array


@dataclass
class Taken:
    """Edges that a sampler took; all arrays are of shape (edges,)."""

    src: Array
    """Vertex numbers, index dtype; -1 for none."""
    dst: Array
    instance: Array
    """int64."""
    step: Array
    """int64."""
    again: bool
    """Whether an instance may take an edge twice at a step."""
    kinds: Array | None = None
    """int64: the weight that an edge has, where only such are taken."""


def listed(columns: Mapping[str, Array], again: bool) -> Taken:
    """Edges that stand one below the other, with their hops and instances."""
    return Taken(columns["src"], columns["dst"], columns["instance"], columns["hop"].astype(np.int64), again)


def in_turn(xp: Any, src: Array, dst: Array, first: int) -> Taken:
    """Edges that instances from `first` on took one after the other; a row for each instance."""
    n, length = src.shape
    instance = xp.repeat(xp.arange(first, first + n, dtype=np.int64), length)
    step = xp.tile(xp.arange(length, dtype=np.int64), n)
    src, dst = xp.ascontiguousarray(src), xp.ascontiguousarray(dst)
    return Taken(src.reshape(-1), dst.reshape(-1), instance, step, again=True)
