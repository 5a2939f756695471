"""Codes: weights in the fewest bytes from which a kernel makes each of them again to the last bit.

A weight that is a whole number of units, at most 255 or 65535 of them, is that number, in one or two bytes; the unit is
a power of two, so that whole numbers, halves and quarters have codes, and a product with it is exact. Other weights are
float32 where that holds every one of them, or where x is float32, else float64. Sums have the same bits either way: how
many bytes a sum reads is all that changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment

BITS = {"uint8": 8, "uint16": 16}
LARGEST = 1000
"""Exponent of a unit at most, up or down: with it, nothing overflows on the way to a code."""
NARROW, WIDE = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True)
class Codes:
    """How the weights of some edges are held."""

    dtype: np.dtype
    unit: float
    """A weight is its code times this; 1 where codes are floats."""
    single: bool
    """Whether weights are taken as rounded to float32."""

    @classmethod
    def of(cls, env: Environment, weights: Array, real: Any) -> Codes:
        """The narrowest that hold every weight, as `real` has it; negative ones, and those that are not finite, are
        held by floats only."""
        single = np.dtype(real) == NARROW
        most = float(weights.max()) if len(weights) else 0.0
        if single:
            with np.errstate(over="ignore", under="ignore"):
                most = float(np.float32(most))
        units = [_unit(most, bits) for bits in BITS.values()]
        misfits = env.xp.zeros(3, np.int32)
        kernels = env.kernels("codes", given_t=weights.dtype, weight_t=np.float32)
        kernels.codes_try(len(weights), weights, int(single), *units, misfits)
        *unfit, wide = env.backend.to_host(misfits).tolist()
        for name, unit, missed in zip(BITS, units, unfit, strict=True):
            if not missed:
                return cls(np.dtype(name), unit, single)
        return cls(WIDE if wide and not single else NARROW, 1.0, single)

    def write(self, env: Environment, weights: Array) -> Array:
        """The codes, in the order of the weights."""
        out = env.xp.empty(len(weights), self.dtype)
        self.kernels(env, weights).codes_write(len(weights), weights, int(self.single), self.unit, out)
        return out

    def kernels(self, env: Environment, weights: Array) -> Any:
        """Those that write them."""
        return env.kernels("codes", given_t=weights.dtype, weight_t=self.dtype)


def _unit(most: float, bits: int) -> float:
    """The power of two of which `most` is as many as have room in so many bits. Whatever is a whole number of a larger
    unit, and no more than `most`, is a whole number of this one, too."""
    if not math.isfinite(most):
        return 1.0
    return math.ldexp(1.0, max(-LARGEST, min(math.frexp(most)[1] - bits, LARGEST)))
