"""Sizes of samplers that tests vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphdask.tuning import Tuning, per_device


@dataclass(frozen=True)
class SampleTuning(Tuning):
    """How samplers divide their work."""

    walk_launch: Mapping[str, tuple[int, int]] = per_device(cpu=(1 << 21, 1 << 21), cuda=(1 << 24, 1 << 15))
    """Steps of a launch, and of one walker in it; the host checks the deadline in between."""
    walk_warps: int = 24
    """Warps of walkers by a reservoir that are on a processor of a GPU at the same time."""
    walk_blocks: int = 1 << 12
    """Blocks of such a launch at most, for each processor."""
    walk_steps: int = 16
    """Steps of a walker in a superstep over partitions."""
    pagerank_steps: int = 64
    """Steps of a walker of personalized PageRank in a superstep."""
    pool_launch: Mapping[str, int] = per_device(cpu=1 << 18, cuda=1 << 22)
    """Steps of all pools in one launch, about; the host checks the deadline in between."""

    trials: int = 128
    """Trials of rejection; then a vertex's edges are scanned after all, which changes no probability."""
    sums_from_draws: float = 0.25
    """Choices for each vertex from which on sums of all vertices' biases pay."""
    sums_from_biases: float = 1.0
    """Biases for each edge, evaluated without sums by this call and earlier ones, above which sums would have taken no
    longer."""
    fused: bool = True
    """Whether one kernel makes all steps of a `Spec` that allows it; without, each step takes several launches."""

    candidate_launch: Mapping[str, int] = per_device(cpu=1 << 18, cuda=1 << 26)
    """Candidates with biases in one launch: on a CPU what stays in its cache."""
    tree_launch: int = 1 << 25
    """Words in a launch, about, for trees of biases or tables of what is drawn: as many as the edges of rows, or
    drawn."""
    edge_launch: int = 1 << 27
    """Edges that the buffers of a launch over small instances hold, about: some tens of milliseconds."""
    minibatch_edges: int = 1 << 21
    """Edges that the buffers of one call of the kernel of minibatches hold on a CPU, where no batch needs more."""
    minibatch_vertices: int = 1 << 25
    """Vertices that the minibatches of a launch on a GPU have at most: some 2 GiB."""

    memory_asked_from: int = 1 << 20
    """Edges or vertices of a step from which on free memory is asked for: on a GPU this takes as long as a launch."""
    chosen_bytes: int = 96
    """Bytes of a candidate that is chosen."""
    candidate_bytes: int = 40
    """Bytes of an edge that competes in a layer: its bias as it is made, sent, received, put in order and chosen
    from."""
    non_edge_bytes: int = 40
    """Bytes for each edge, in either direction, while the rows that say what is no edge are made; 16 of them stay."""
    most_degree: int = (1 << 31) - 1
    """Edges of a row with biases at most; alias tables count them in 32 bits."""


SAMPLE = SampleTuning()
"""The sizes that samplers use now."""
