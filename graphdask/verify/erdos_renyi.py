"""Check of generated uniform random graphs: every stored edge is led back to its number, in linear time.

The inverse of the bijection, in array code without the kernels, must lead the edge at place i back to cell
(i mod width, i div width). Since a cell has one number, this proves that all edges are distinct, wherever they are
stored. Edges that no cell has, self-loops among them, are named too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import VerificationError
from graphdask.generate import arguments
from graphdask.generate.erdos_renyi import ErdosRenyi
from graphdask.verify.draws import digit, hashed, keys
from graphdask.verify.tuning import VERIFY


def check(backend: Backend, source: ErdosRenyi, start: int, stop: int, src: Array, dst: Array) -> None:
    """Raise VerificationError unless `src` and `dst` hold edges number start .. stop-1 of `source`.

    Parameters
    ----------
    backend : Backend
        Where the arrays lie and are checked.
    source : ErdosRenyi
        The graph.
    start, stop : int
        As in `graphdask.generate.erdos_renyi.edges`.
    src, dst : arrays of shape (stop - start,)
        In the order in which `edges` makes them.

    Raises
    ------
    VerificationError
        Naming the first edge that does not belong where it stands.
    InputError
        For a range that is not within the graph.
    """
    start, stop = arguments.within("edges", start, stop, source.m)
    if not len(src) == len(dst) == stop - start:
        raise VerificationError(f"edges {start} .. {stop} are {stop - start}, but {len(src)} are stored")
    with backend.activate():
        for first in range(start, stop, VERIFY.numbered_edges):
            numbers = backend.xp.arange(first, min(first + VERIFY.numbered_edges, stop), dtype=np.uint64)
            piece = slice(first - start, first - start + len(numbers))
            wrong, impossible = _misplaced(backend, source, numbers, src[piece], dst[piece])
            places = backend.xp.flatnonzero(wrong)
            if len(places):
                at = int(places[0])
                edge = int(src[piece][at]), int(dst[piece][at])
                why = "is no possible edge" if bool(impossible[at]) else f"has another number with seed {source.seed}"
                raise VerificationError(f"edge {first + at}: the stored {edge} {why}")


def _misplaced(backend: Backend, source: ErdosRenyi, numbers: Array, src: Array, dst: Array) -> tuple[Array, Array]:
    """Whether each edge has another number than the given one, and whether it is no edge at all."""
    xp = backend.xp
    width, height = np.uint64(source.width), np.uint64(source.height)
    u, v = src.astype(np.uint64), dst.astype(np.uint64)
    y = xp.where(v > u, v - u, v + width - u) - np.uint64(1)
    impossible = (u >= width) | (v >= width)
    if source.star >= 0:
        joins_last = v == width
        impossible = (u >= width) | (v > width)
        y = xp.where(joins_last, np.uint64(source.star), y)
        impossible |= ~joins_last & (y == np.uint64(source.star))
    impossible |= y >= height
    x, y = xp.where(impossible, np.uint64(0), u), xp.where(impossible, np.uint64(0), y)
    for number in range(source.rounds - 1, -1, -1):
        pair = keys(source.seed, 128 + number)
        if number % 2:
            x = _lowered(xp, x, digit(hashed(pair, y), source.width), width)
        else:
            y = _lowered(xp, y, digit(hashed(pair, x), source.height), height)
    return impossible | (x != numbers % width) | (y != numbers // width), impossible


def _lowered(xp: Any, value: Array, by: Array, modulus: np.uint64) -> Array:
    """value - by, modulo the modulus; both are below it."""
    return xp.where(value >= by, value - by, value + modulus - by)
