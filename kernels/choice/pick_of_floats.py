"""A choice in proportion to biases that are floats, by `selection_pick`, for a single pool.

Twins with functions of the caller, which are compiled for each of them, call it: here it is compiled once.
"""

import numpy as np

from graphdask.kernels.choice.selection import selection_pick
from graphdask.kernels.choice.selection_pack import Selections
from graphdask.kernels.common.philox import DRAW_POOL
from graphdask.kernels.common.twin import twin

_ZERO, _ONE, _POOL = np.int64(0), np.int64(1), np.int64(DRAW_POOL)
"""As integers of the type that other callers hand over: Numba compiles a function again for every literal and type."""


@twin
def pick_of_floats(biases, size, copied, instance, step, seed, chosen, owner, failure):
    """A place of a pool in proportion to biases that are floats."""
    none, bounds = np.zeros(1, np.int64), np.zeros(2, np.int64)
    copied[:size], bounds[1] = biases[:size], size
    selection_pick(
        _ONE, Selections(
            labels=none, bounds=bounds, values=copied, floating=_ONE, starts=none, counts=none + 1, replace=_ZERO,
            seed=seed, what=_POOL, tags=none, instances=none + instance, step=step, done=none, chosen=chosen,
            owner=owner, failure=failure,
        ),
    )  # fmt: skip
