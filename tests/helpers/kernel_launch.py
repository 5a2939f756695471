"""What tests of kernels share: random rows, calls that take NumPy arrays on any backend, queues without an order."""

from __future__ import annotations

from functools import reduce

import numpy as np

from graphdask.kernels.common.packs import Pack

HUB_THREADS = 1 << 14
POISON = -77


def random_rows(rng, rows, slots, dtype, hub=False):
    """indptr and indices of random rows over `slots`; with `hub`, one row of more edges than a block takes at once."""
    degrees = rng.integers(0, 6, rows)
    degrees[rng.random(rows) < 0.3] = 0
    if hub:
        degrees[rng.integers(rows)] = 9001
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    return indptr, rng.integers(0, slots, indptr[-1]).astype(dtype)


LENGTHS = (0, 1, 7, 8, 9, 15, 16, 63, 64, 65, 255, 256, 257, 511, 513, 2047, 2048, 2049, 4095, 4096, 4097, 9001)


def rows_of_all_lengths(rng, dtype, slots):
    """indptr and indices of rows of the lengths at which sums in lanes and chunks change, and of others."""
    lengths = rng.permutation([*LENGTHS, *rng.integers(0, 12, 40), *rng.integers(250, 600, 5)])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return indptr, rng.integers(0, slots, indptr[-1]).astype(dtype)


def sent(backend, argument):
    """A number as it is; an array of the host, or a pack of such, as a copy on a backend."""
    if isinstance(argument, Pack):
        return type(argument)(**{name: sent(backend, value) for name, value in values_of(argument).items()})
    return backend.from_host(argument.copy()) if isinstance(argument, np.ndarray) else argument


def bring_back(backend, mine, theirs):
    """Change an array of the host, or those of a pack, as kernels changed what was `sent`."""
    if isinstance(mine, Pack):
        for name, value in values_of(mine).items():
            bring_back(backend, value, getattr(theirs, name))
    elif isinstance(mine, np.ndarray):
        mine[...] = backend.to_host(theirs)


def values_of(pack):
    """The fields of a pack that somebody has assigned to."""
    return {name: value for name in pack.field_types if (value := getattr(pack, name)) is not None}


class Packed:
    """A pack on a backend, of the arrays and numbers of a test."""

    def __init__(self, backend, pack, **values):
        self.backend, self.pack = backend, sent(backend, pack(**values))

    def host(self, name):
        """An array as the kernels left it."""
        self.backend.synchronize()
        return self.backend.to_host(getattr(self.pack, name))

    def counts(self):
        """The counters by name."""
        self.backend.synchronize()
        return self.pack.read_counters(self.backend)


class Launch:
    """Sends NumPy arguments to a backend, calls kernels, and brings every array back changed."""

    def __init__(self, backend, family, dtype, cooperative=False):
        self.backend, self.kernels = backend, backend.kernels(family, cooperative=cooperative, index_t=dtype)

    def __call__(self, n: int, *arguments, names: tuple[str, ...]) -> None:
        given = [sent(self.backend, argument) for argument in arguments]
        for name in names:
            count = HUB_THREADS if name.endswith("_hubs") else n
            # kernels for hubs take no list of rows
            rest = (
                given[1:]
                if name in ("bfs_push_hubs", "bfs_advance_hubs", "bfs_pull_hubs", "components_hook_hubs")
                else given
            )
            getattr(self.kernels, name)(count, *rest)
        self.backend.synchronize()
        for mine, theirs in zip(arguments, given, strict=True):
            bring_back(self.backend, mine, theirs)


def check_queue(queue, length, expected):
    """The first entries are the expected ones in any order, and nobody wrote behind them."""
    assert sorted(queue[:length].tolist()) == sorted(expected)
    assert (queue[length:] == POISON).all()


def tree(lane):
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


def dealt(values):
    """Eight lanes take the values in turn; then they are added as a tree."""
    return tree([reduce(lambda a, b: a + b, values[i::8], 0.0) for i in range(8)])


def ordered_sum(values):
    """The sum of a row, in the order that kernels/pagerank/pagerank.py states."""
    return dealt([dealt(values[first : first + 256]) for first in range(0, len(values), 256)])
