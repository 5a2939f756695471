"""Sizes of programs of vertices that tests vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphdask.tuning import Tuning, per_device


@dataclass(frozen=True)
class ProgramTuning(Tuning):
    """How supersteps of programs are launched."""

    single_steps: int = 64
    """Supersteps of a run that are a call each on a CPU."""
    launch_steps: int = 1 << 10
    """Supersteps of a launch, after which the host checks its deadline."""
    pulled_edges: Mapping[str, int] = per_device(cpu=1 << 62, cuda=1 << 24)
    """Edges of a graph from which on they are laid out to be pulled along; fewer are pushed along before a layout would
    be worth its time. On a CPU, whose loop pulls by itself, none are laid out."""
    ordered_edges: Mapping[str, int] = per_device(cpu=1 << 14, cuda=1 << 62)
    """Edges of a graph from which on the best states are sent first where the order is free; the supersteps of a
    smaller one take no time."""


PROGRAM = ProgramTuning()
"""The sizes that programs use now."""
