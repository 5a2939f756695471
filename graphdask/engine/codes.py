"""Codes: weights in the fewest bytes from which a kernel restores each of them to the last bit.

If all weights are whole numbers of a unit, at most 255 or 65535 of it, their codes are these numbers, in one or two
bytes. The unit is a power of two, so that whole numbers, halves and quarters have codes, and a product with it is
exact. Otherwise the weights are float32 if that holds every one of them or if x is float32, and else float64. Codes do
not change the bits of a sum; they change only how many bytes it reads.
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
        """Return the narrowest codes that hold every weight, as `real` has it.

        Only floats hold weights that are negative or not finite.
        """
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
        """Return the codes, in the order of the weights."""
        out = env.xp.empty(len(weights), self.dtype)
        self.kernels(env, weights).codes_write(len(weights), weights, int(self.single), self.unit, out)
        return out

    def kernels(self, env: Environment, weights: Array) -> Any:
        """Return the kernels that write codes."""
        return env.kernels("codes", given_t=weights.dtype, weight_t=self.dtype)


def _unit(most: float, bits: int) -> float:
    """The power of two of which `most` is as many as fit in so many bits. Whatever is a whole number of a larger
    unit, and no more than `most`, is a whole number of this one, too."""
    if not math.isfinite(most):
        return 1.0
    return math.ldexp(1.0, max(-LARGEST, min(math.frexp(most)[1] - bits, LARGEST)))
