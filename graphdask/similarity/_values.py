"""Weights of neighbours as values of which sums are exact, so that scores depend neither on partitions nor on a device.

Weights are multiplied by a power of two and rounded to whole numbers, so that the sum of no neighbourhood reaches
2**BITS; integers that are small enough stay as they are. The weights of parallel edges are added up. For the cosine,
the whole numbers of a neighbourhood are divided by a power of two above their sum, and products of such values are
rounded to multiples of 2**-UNIT.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.communities import greatest_of, whole_weights
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.similarity.two_hops_pack import UNIT
from graphdask.partition.neighbours import places_of, sums_between
from graphdask.partition.part import Csr, Part

BITS = 61


def worths(xp: Any, values: Array, others: Array) -> Array:
    """What shared neighbours are worth, of their values for two vertices: the lesser one of whole values, else the
    product; int64."""
    if values.dtype.kind == "f":
        return xp.rint(values * others * 2.0**UNIT).astype(np.int64)
    return xp.minimum(values, others)


def shift_of(part: Part, env: Environment) -> int | None:
    """The power of two by which weights are multiplied; None if they stay as they are. Every rank calls it."""
    comm, weights, indptr = env.comm, part.out.weights, part.out.indptr
    assert comm is not None
    assert weights is not None
    degree = int((indptr[1:] - indptr[:-1]).max()) if part.num_owned else 0
    degree = int(comm.allreduce(np.array([degree], np.int64), "max")[0])
    whole = weights.dtype.kind in "iu"
    greatest = greatest_of(env, weights)
    if whole and greatest * degree < 1 << BITS:
        return None
    return BITS - degree.bit_length() - int(np.frexp(float(greatest))[1])


def whole_values(xp: Any, csr: Csr, first: Array, shift: int | None) -> Array:
    """The whole weight of each neighbour, int64: the sum of those of its edges, of which `first` marks the first."""
    assert csr.weights is not None
    return sums_between(xp, whole_weights(xp, csr.weights, shift), places_of(xp, first))


def exponents(xp: Any, totals: Array) -> Array:
    """Powers of two above sums of whole values, int32."""
    return xp.frexp(totals.astype(np.float64))[1]
