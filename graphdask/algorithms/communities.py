"""What community detection computes with: weights as whole numbers, and the modularity of a partition as a fraction.

Weights are multiplied by a power of two and rounded, so that their sum over all arcs is below 2**52; of unweighted
graphs each is 1, and integer weights whose sum is small enough stay as they are. All sums are then exact, in any order:
they do not depend on how the graph is divided or on the device. A self-loop counts twice at its vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.errors import GraphdaskError, InputError, shown
from graphdask.graph.graph import Graph
from graphdask.partition.build import row_of_each, to_owners
from graphdask.partition.given import given_array
from graphdask.partition.part import Part

BITS = 52
"""The sum of all weights is below 2**BITS, so that float64 holds each sum of weights too."""
HALF = 26


@dataclass
class Arcs:
    """The stored edges of the own vertices, with whole weights."""

    rows: Array
    """Own vertices, index dtype, a slot for each edge."""
    slots: Array
    """Their neighbours."""
    weights: Array
    """int64."""
    total: int
    """Sum of the weights of all ranks."""

    @classmethod
    def of(cls, part: Part, env: Environment) -> Arcs:
        """Make the arcs of a partition. Every rank calls it, from `init` or `result` only."""
        xp, csr = env.xp, part.out
        rows = row_of_each(env.backend, csr, 0)
        count = add_up(env, [csr.num_edges])[0]
        whole = csr.weights is None or csr.weights.dtype.kind in "iu"
        given = xp.ones(csr.num_edges, np.int64) if csr.weights is None else csr.weights

        def rough(shift: int) -> int:
            return add_up(env, [total_of(whole_weights(xp, given, shift))])[0]

        weights = whole_weights(xp, given, shift_of(count, greatest_of(env, given), whole, rough))
        weights[rows == csr.indices] *= 2
        return cls(rows, csr.indices, weights, add_up(env, [total_of(weights)])[0])

    @staticmethod
    def memory(part: Part) -> int:
        """Bytes at most, while they are made."""
        return part.out.num_edges * (part.vertex_map.dtype.itemsize + 34)


def shift_of(count: int, greatest: Any, whole: bool, rough: Callable[[int], int]) -> int | None:
    """The power of two that `count` weights are multiplied by, None if they are `whole` and stay as they are.

    `rough` gives the sum of all weights that are multiplied by a power and rounded.
    """
    if whole and greatest * 2 * count < 1 << BITS:
        return None
    shift = BITS - (2 * count).bit_length() - int(np.frexp(float(greatest))[1])
    return shift + BITS - 2 - (rough(shift) + count).bit_length()  # sums of rounded weights differ by less than `count`


def whole_weights(xp: Any, weights: Array, shift: int | None) -> Array:
    """Weights times a power of two, rounded; int64."""
    if shift is not None:
        weights = xp.rint(xp.ldexp(weights.astype(np.float64), shift))
    return weights.astype(np.int64)


def add_up(env: Environment, numbers: list[int]) -> list[int]:
    """Sums over all ranks of numbers below 2**63 in all. Every rank calls it, from the same place."""
    assert env.comm is not None
    return [int(x) for x in env.comm.allreduce(np.array(numbers, np.int64), "sum")]


def greatest_of(env: Environment, weights: Array) -> Any:
    """The greatest weight of all ranks, 0 without any. Every rank calls it."""
    assert env.comm is not None
    mine = np.array([weights.max().item() if len(weights) else 0], np.float64 if weights.dtype.kind == "f" else None)
    return env.comm.allreduce(mine, "max")[0].item()


def total_of(values: Array) -> int:
    return int(values.sum()) if len(values) else 0


def modularity_of(env: Environment, total: int, inside: int, sums: Array, resolution: float) -> float:
    """The modularity, correctly rounded; 0 if the `total` of all weights is 0. Every rank calls it.

    `inside` is the weight of this rank's arcs within communities, and `sums` those of all arcs of its communities.
    """
    if not total:
        return 0.0
    high, low = sums >> HALF, sums & ((1 << HALF) - 1)
    square = low * low  # below 2**52, like the sums of the other products
    parts = (high * high, high * low, square >> HALF, square & ((1 << HALF) - 1))
    within, hh, hl, ll_high, ll_low = add_up(env, [inside, *(total_of(each) for each in parts)])
    squares = (((hh << HALF) + 2 * hl + ll_high) << HALF) + ll_low
    return float(Fraction(within, total) - Fraction(resolution) * Fraction(squares, total**2))


def sums_of_labels(part: Part, env: Environment, label: Array, values: Array) -> Array:
    """For each own vertex the sum of the values of all vertices that have its id as their label, int64.

    Every rank calls it, from `init` or `result` only, with the labels and int64 values of its own vertices.
    """
    assert env.comm is not None
    at = part.vertex_map.to_position(env.backend, label)
    at, values = to_owners(env.comm, env.backend, part.vertex_map.offsets, at, values)
    return sum_at(env.xp, part.num_owned, at - at.dtype.type(part.first_position), values)


def given_labels(G: Graph, labels: Any) -> np.ndarray:
    """Check a dict by the caller's ids, or an array in the order of `vertex_ids`.

    Returns
    -------
    ndarray
        int64, shape (num_vertices,): the smallest number of a vertex that has the same label.
    """
    try:
        if isinstance(labels, Mapping):
            values = given_array("labels", list(labels.values()))
            keys = np.empty(len(labels), object)
            keys[:] = list(labels)
            numbers = G.ids.to_internal(keys, "labels: vertex")
            if len(numbers) < G.num_vertices:
                without = np.setdiff1d(np.arange(G.num_vertices), numbers)
                first = G.vertex_ids[without[:1]].tolist()[0]
                raise InputError(f"labels has no label of {len(without):,} of {G.num_vertices:,} vertices, the first "
                                 f"{shown(first)}; give each vertex a label")  # fmt: skip
            values = values[np.argsort(numbers)]
        else:
            values = given_array("labels", labels)
        if values.shape != (G.num_vertices,):
            raise InputError(
                f"labels has the shape {values.shape}; {G.num_vertices} vertices need one label each, in the order of "
                f"G.vertex_ids"
            )
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise InputError("labels has NaN, which is no label; give each vertex a label")
        _, first, which = np.unique(values, return_index=True, return_inverse=True)
    except GraphdaskError:
        raise
    except Exception as error:  # whatever an object that a caller gives raises
        raise InputError(f"labels is no array of labels that can be ordered: {error}") from error
    return first[which.reshape(-1)].astype(np.int64)
