"""Check of generated graphs with distinct targets: every slot draws again, from the targets stored before it.

Invariant 1: every target of the vertices up to the block's last is the first free candidate of its slot, given the
targets stored before it, and those of the clique are 0 .. v-1. By induction over the slots the targets are the only
ones that the seed allows; distinct ones follow. Linear time.
Invariant 2: the block holds these targets.
Invariant 3, of the copy model: for a sample of vertices the draws are made in Python integers of any size, without the
kernels.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import VerificationError
from graphdask.generate.copy_model import DistinctAttachment, SequentialCopyModel
from graphdask.generate.preferential_attachment import first_edge
from graphdask.verify.draws import hash_of, keys

_ALL = 1 << 64
_AGAIN = 4
_GOLDEN = 0x9E3779B97F4A7C15


def redraw(source: SequentialCopyModel, v: int, stored: Callable[[int, int], int]) -> list[int]:
    """Return the targets of `v` from the definition, where `stored(u, k)` is target k of an earlier vertex u."""
    if v < source.degree:
        return list(range(v))
    near, far, again = keys(source.seed, 1), keys(source.seed, 2), keys(source.seed, _AGAIN)
    found: list[int] = []
    for edge in range(source.degree):
        slot = v * source.degree + edge
        for attempt in range(source.attempts + 1):
            number = slot if attempt == 0 else (hash_of(again, slot) + attempt * _GOLDEN) % _ALL
            target, rest = divmod(hash_of(near, number) * v, _ALL)
            if attempt == source.attempts:
                while target in found:
                    target = (target + 1) % v
                break
            k, coin = divmod((rest if v < 1 << 31 else hash_of(far, number)) * source.degree, _ALL)
            if target >= source.degree and coin // 2 >= int(source.p * 2**63):
                target = stored(target, k)
            if target not in found:
                break
        found.append(target)
    return found


def check(backend: Backend, source: DistinctAttachment, start: int, stop: int, dst: Array, sample: int = 64) -> None:
    """Raise VerificationError unless `dst` holds the targets of vertices start .. stop-1 of `source`.

    Parameters
    ----------
    backend : Backend
        Where `dst` lies and the targets before it are made again.
    source : DistinctAttachment
        The graph.
    start, stop : int
        The vertices.
    dst : array
        The stored targets, in the order of the edges.
    sample : int
        How many of the vertices are also drawn without the kernels.

    Raises
    ------
    VerificationError
        Naming the first vertex and edge that are wrong.
    """
    begin, end = first_edge(start, source.degree), first_edge(stop, source.degree)
    if len(dst) != end - begin:
        raise VerificationError(f"vertices {start} .. {stop} have {end - begin} edges, but {len(dst)} are stored")
    if not len(dst):
        return
    targets = source.targets(backend, max(stop, source.degree))
    with backend.activate():
        targets[begin:end] = dst
        wrong = source.first_wrong(backend, targets)
    if wrong >= 0:
        _raise(source, wrong, int(targets[wrong]))
    if isinstance(source, SequentialCopyModel):
        _check_sample(backend, source, start, stop, targets, sample)


def _check_sample(
    backend: Backend, source: SequentialCopyModel, start: int, stop: int, targets: Array, sample: int
) -> None:
    draw = random.Random(source.seed)
    for v in sorted({start, stop - 1, *(draw.randrange(start, stop) for _ in range(sample))}):
        begin = first_edge(v, source.degree)
        held = backend.to_host(targets[begin : first_edge(v + 1, source.degree)])
        right = redraw(source, v, lambda u, k: int(targets[first_edge(u, source.degree) + k]))
        differing = np.flatnonzero(held != np.array(right, held.dtype))
        if len(differing):
            _raise(source, begin + int(differing[0]), int(held[differing[0]]))


def _raise(source: DistinctAttachment, entry: int, stored: int) -> None:
    """Name the vertex to which `entry` (a rank in the order of the edges) belongs."""
    clique = first_edge(source.degree, source.degree)
    if entry >= clique:
        vertex = source.degree + (entry - clique) // source.degree
    else:
        vertex = next(v for v in range(source.degree) if first_edge(v + 1, source.degree) > entry)
    edge = entry - first_edge(vertex, source.degree)
    raise VerificationError(
        f"vertex {vertex}, edge {edge}: the stored target {stored} is not what seed {source.seed} draws after the "
        f"targets stored before it"
    )
