"""Supersteps of a program that follow each other without the host, on one GPU that has the whole graph.

Where all vertices send in every superstep, nothing depends on what the host reads of one, unless the caller asks with
`until`. The host launches many and reads the last; in between the GPU adds up the aggregates by itself, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.program.program_pack import (
    ANY,
    COUNT,
    KIND_BITS,
    LEAST,
    LEAST_FLOAT,
    MOST,
    MOST_FLOAT,
    SUM,
)
from graphdask.program.definition import Definition

MOST_AHEAD, EDGES_AHEAD = 64, 1 << 32
"""Supersteps that are launched at a time, and the edges of all of them together, after which the host checks its
deadline: some 20 ms."""
KINDS: Mapping[tuple[str, str], int] = {
    ("sum", "float"): SUM, ("count", "int"): COUNT, ("any", "bool"): ANY, ("min", "int"): LEAST, ("max", "int"): MOST,
    ("min", "float"): LEAST_FLOAT, ("max", "float"): MOST_FLOAT,
}  # fmt: skip
"""Aggregates that a GPU can add up; a sum of integers may not fit 64 bits, which the host has to say."""


def may_go_ahead(of: Definition, env: Environment) -> bool:
    """Whether the host has nothing to do between supersteps, but for `until`."""
    alone = env.backend.name == "cuda" and env.size == 1
    return alone and of.everyone and all((each.combine, each.kind) in KINDS for each in of.aggregates)


@dataclass
class Ahead:
    """What is launched between two supersteps."""

    functions: int
    kinds: int
    """Of the aggregates, KIND_BITS each."""
    aggregates: int
    failures: Array
    """int64, a word for each function."""
    values: Array
    """int64: the values of the aggregates, or their bits."""

    @classmethod
    def of(cls, definition: Definition, failures: Array, values: Array) -> Ahead:
        """For a program."""
        kinds = [KINDS[each.combine, each.kind] for each in definition.aggregates]
        coded = sum(kind << KIND_BITS * k for k, kind in enumerate(kinds))
        return cls(len(definition.functions), coded, len(kinds), failures, values)

    def steps(self, edges: int, left: int | None) -> int:
        """How many supersteps to launch, of `left` until the end."""
        most = max(min(MOST_AHEAD, EDGES_AHEAD // max(edges, 1)), 1)
        return most if left is None else min(most, left)

    def between(self, kernels: object, pack: object) -> None:
        """Make the words of a superstep those of the next one."""
        kernels.program_between(  # type: ignore[attr-defined]
            1, self.aggregates, self.functions, self.kinds, self.failures, self.values, pack
        )

    @staticmethod
    def failed(progress: Any) -> tuple[int, int] | None:
        """The number of the function that failed before the last superstep, and its failure, if one did."""
        return (progress.failed - 1, progress.failure) if progress.failed else None
