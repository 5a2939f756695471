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
    flooded_edges: Mapping[str, int] = per_device(cpu=1 << 14, cuda=1 << 24)
    """Edges of a graph from which on the best states are sent first, if the order is free and messages are the states
    that vertices send, as labels are; the supersteps of a smaller graph take no time."""
    ordered_edges: Mapping[str, int] = per_device(cpu=1 << 14, cuda=1 << 62)
    """The same where messages differ from these states, as distances do. On a GPU more supersteps then cost more than
    fewer edges save."""


PROGRAM = ProgramTuning()
"""The sizes that programs use now."""
