"""Local moving: vertices of a level that go to the community of the largest gain, some of them at a time.

In a round those vertices move whose hash is the round's, so that few neighbours move at once and none swap places for
ever. Gains are computed from exact sums (graphdask.algorithms._communities), each by the same operations of float64 on
every device; of equal gains the smallest label wins. The owner of a label keeps the sum of the degrees of its
community, which ranks read before they choose, and add to after. Nothing depends on how the graph is divided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.algorithms._community_levels import NARROW, Level, Links, sums_between
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import sum_at
from graphdask.partition.build import row_of_each
from graphdask.partition.ghosts import entries_of
from graphdask.partition.neighbours import firsts, places_of
from graphdask.partition.part import Csr

LEAST_GAIN = 2.0**-46
"""Least gain of a move, as a share of the vertex's degree; below it are errors of rounding."""
MASK = (1 << 64) - 1
SIGN = np.int64(-(1 << 63))


def mixed(x: int) -> int:
    """The finalizer of kernels/common/hash.py."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def round_of_each(numbers: Array, key: int, rounds: int) -> Array:
    """A round, 0 to `rounds` - 1, for each number, by its hash with a key."""
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(mixed(key & MASK))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (((x ^ (x >> np.uint64(31))) >> np.uint64(32)) * np.uint64(rounds)) >> np.uint64(32)


def greatest_at(xp: Any, size: int, places: Array, values: Array) -> Array:
    """Return the greatest of the float64 values for each of so many places, -inf where none is.

    They are compared as integers in the same order: CuPy's maximum of floats is wrong for negative ones there.
    """
    greatest = xp.full(size, ~np.float64(-np.inf).view(np.int64), np.int64)
    bits = values.view(np.int64)
    xp.maximum.at(greatest.view(np.uint64), places, xp.where(bits < 0, ~bits, bits ^ SIGN).view(np.uint64))
    return xp.where(greatest < 0, greatest ^ SIGN, ~greatest).view(np.float64)


def move(
    env: Environment,
    level: Level,
    rows: Array,
    label: Array,
    sums: Array,
    resolution: float,
    within: Callable[[Array, Array], Array] | None = None,
) -> Array:
    """Move own vertices to the neighbouring community, or the empty one of their own number, of the largest gain.

    Every rank calls it.

    Parameters
    ----------
    rows : array of int64
        The own vertices that may move.
    label : array of int64
        Communities over slots; changed for own vertices.
    sums : array of int64
        Over own vertices: the sum of degrees of the community of that number; changed.
    within : function of rows and slots, optional
        Which neighbours count. If given, a gain of 0 is enough for a move to a neighbour's community.

    Returns
    -------
    array of int64
        The vertices that moved.
    """
    xp, n = env.xp, level.size
    which, to, weights = _choices(env, level, rows, label, within)
    order = xp.argsort(which * n + to, kind="stable") if n <= NARROW else xp.lexsort(xp.stack([to, which]))
    which, to = which[order], to[order]
    start = firsts(xp, which) | firsts(xp, to)
    weights = sums_between(xp, weights[order], places_of(xp, start))
    which, to = which[start], to[start]
    labels, known = xp.unique(to, return_inverse=True)
    links = Links.of(env, level.bounds, labels)
    degree = level.degree[rows]
    stays = to == label[rows][which]
    others = links.read(sums)[known] - xp.where(stays, degree[which], 0)
    share = degree.astype(np.float64) * (resolution / level.total)
    gain = weights.astype(np.float64) - share[which] * others.astype(np.float64)
    here, best = gain[stays], greatest_at(xp, len(rows), which[~stays], gain[~stays])
    enough = best > here + degree * (LEAST_GAIN * max(1.0, resolution)) if within is None else best >= here
    chosen = places_of(xp, (gain == best[which]) & ~stays & enough[which])
    chosen = chosen[firsts(xp, which[chosen])]  # the smallest label of several
    goes = which[chosen]
    change = sum_at(xp, len(labels), known[chosen], degree[goes])
    change -= sum_at(xp, len(labels), known[stays][goes], degree[goes])
    links.add(change, sums)
    label[rows[goes]] = to[chosen]
    return rows[goes]


def _choices(
    env: Environment, level: Level, rows: Array, label: Array, within: Callable[[Array, Array], Array] | None
) -> tuple[Array, Array, Array]:
    """Places in `rows`, communities and weights: of each neighbour that counts; the own one, and that of the own number
    if it is another, with a weight of 0."""
    xp, csr = env.xp, level.csr
    places, count = entries_of(env.backend, csr, rows), xp.arange(len(rows))
    indptr = xp.zeros(len(rows) + 1, np.int64)
    xp.cumsum(csr.indptr[rows + 1] - csr.indptr[rows], out=indptr[1:])
    which, slots, weights = row_of_each(env.backend, Csr(indptr, places), 0), csr.indices[places], level.weights[places]
    counts = slots != rows[which]
    if within is not None:
        counts &= within(rows[which], slots)
    to = xp.concatenate([label[slots[counts]], label[rows], level.numbers[rows]])
    none = xp.zeros(2 * len(rows), np.int64)
    return xp.concatenate([which[counts], count, count]), to, xp.concatenate([weights[counts], none])
