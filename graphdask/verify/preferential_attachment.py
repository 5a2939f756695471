"""Check of generated preferential attachment graphs: recomputing any vertex gives the stored edges.
 Invariant 1: every stored target is what the backend computes for it (linear, in pieces of bounded size).
Invariant 2: for a sample of vertices it is what the definition gives, followed here edge by edge in Python
integers of any size, without the kernels: `recompute` shares no code with them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from graphdask.backend import Array, Backend
from graphdask.errors import InputError, VerificationError
from graphdask.generate.preferential_attachment import PreferentialAttachment, edges, first_edge

_PIECE = 1 << 22
_MASK = (1 << 64) - 1


def _mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def _keys(seed: int, what: int) -> tuple[int, int]:
    mixed = _mix((seed + 0x9E3779B97F4A7C15) & _MASK)
    first, second = (_mix((mixed + number * 0x9E3779B97F4A7C15) & _MASK) for number in (2 * what, 2 * what + 1))
    return first, second


def _hash(keys: tuple[int, int], number: int) -> int:
    x = number ^ keys[0]
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27) ^ keys[1]) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)


def _hash_pair(key: int, a: int, b: int) -> int:
    x = a * 0x9E3779B1 + (b * 0x85EBCA6B << 32) & _MASK
    x = (x ^ (x >> 32) ^ (key % 2**32)) * 0xDABA0B6EB09322E3 & _MASK
    x = (x ^ (x >> 32) ^ (key >> 32)) * 0xD6E8FEB86659FD93 & _MASK
    return x ^ (x >> 32)


class Definition:
    """The generator in Python integers, a slot at a time.

    A step from edge k of vertex v reads a hash of (v, k) as a fraction of 2^64: u = floor(fraction * v); the rest
    of that product, cut to 32 bits, times the degree is the drawn edge, and the rest of that the coin: direct if it
    is below p * 2^32. From v = 2^31 on, for degrees above 256, and where p or 1 - p is less than degree / 2^16 but
    not 0, edge and coin come from a second hash, of the slot and of 64 bits, with p in steps of 2^-63.
    """

    def __init__(self, source: PreferentialAttachment):
        self.source = source
        self.keys, self.fraction_keys = _keys(source.seed, 1), _keys(source.seed, 2)
        self.below = int(source.p * 2**63)
        least = source.degree / 2**16
        self.careful = source.degree > 256 or 0 < source.p < least or 0 < 2**63 - self.below < least * 2**63

    def target(self, v: int, edge: int) -> int:
        """The end of the walk that begins at `edge` of vertex v."""
        degree = self.source.degree
        while True:
            slot, far = v * degree + edge, v >= 1 << 31
            u, rest = divmod((_hash(self.keys, slot) if far else _hash_pair(self.keys[0], v, edge)) * v, 1 << 64)
            if far or self.careful:
                edge, coin = divmod(_hash(self.fraction_keys, slot) * degree, 1 << 64)
                direct = coin // 2 < self.below
            else:
                edge, coin = divmod((rest >> 32) * degree, 1 << 32)
                direct = coin < (self.below + 2**30) >> 31
            if u < degree or direct:
                return u
            v = u

    def raw(self, v: int) -> list[int]:
        """The targets of v before anything is done about parallel edges."""
        degree = self.source.degree
        return list(range(v)) if v < degree else [self.target(v, edge) for edge in range(degree)]


def recompute(source: PreferentialAttachment, vertices: Iterable[int]) -> list[list[int]]:
    """Return the targets of each of `vertices`, from the definition."""
    definition = Definition(source)
    return [definition.raw(v) for v in vertices]


def check(
    backend: Backend, source: PreferentialAttachment, start: int, stop: int, dst: Array, sample: int = 256
) -> None:
    """Raise VerificationError unless `dst` holds the targets of vertices start .. stop-1 of `source`.

    Parameters
    ----------
    backend : Backend
        Where `dst` lies and the edges are recomputed.
    source : PreferentialAttachment
        The graph.
    start, stop : int
        The vertices, as in `graphdask.generate.preferential_attachment.edges`.
    dst : array
        The stored targets, in the order in which `edges` makes them.
    sample : int
        How many of the vertices are also recomputed from the definition, without the kernels; the first and
        the last are among them.

    Raises
    ------
    VerificationError
        Naming the first vertex and edge that differ.
    InputError
        For a range that is not within the graph, or a negative `sample`.
    """
    if not 0 <= start <= stop <= source.n:
        raise InputError(f"vertices {start} .. {stop} are not a range within 0 .. {source.n}")
    if sample < 0:
        raise InputError(f"sample={sample} must not be negative")
    offset = first_edge(start, source.degree)
    expected = first_edge(stop, source.degree) - offset
    if len(dst) != expected:
        raise VerificationError(f"vertices {start} .. {stop} have {expected} edges, but {len(dst)} are stored")
    step = max(1, _PIECE // source.degree)
    for low in range(start, stop, step):
        high = min(low + step, stop)
        begin, end = (first_edge(v, source.degree) - offset for v in (low, high))
        _, again = edges(backend, source.n, source.degree, source.p, source.seed, low, high)
        with backend.activate():
            differing = backend.xp.flatnonzero(dst[begin:end] != again)
            if len(differing):
                position = int(differing[0])
                stored, right = int(dst[begin + position]), int(again[position])
                _raise(source, offset + begin + position, stored, right)
    if start < stop:
        _check_sample(backend, source, start, stop, dst, sample)


def _check_sample(
    backend: Backend, source: PreferentialAttachment, start: int, stop: int, dst: Array, sample: int
) -> None:
    draw = random.Random(source.seed)
    chosen = {start, stop - 1, *(draw.randrange(start, stop) for _ in range(max(0, sample - 2)))}
    vertices = sorted(chosen)[:sample] if sample < 2 else sorted(chosen)
    offset = first_edge(start, source.degree)
    for v, right in zip(vertices, recompute(source, vertices), strict=True):
        begin = first_edge(v, source.degree)
        stored = backend.to_host(dst[begin - offset : begin - offset + len(right)]).tolist()
        for edge, (has, should) in enumerate(zip(stored, right, strict=True), begin):
            if has != should:
                _raise(source, edge, has, should)


def _raise(source: PreferentialAttachment, edge: int, stored: int, right: int) -> None:
    """Name the vertex to which `edge` (a rank in the order of the vertices) belongs."""
    clique = first_edge(source.degree, source.degree)
    if edge >= clique:
        vertex = source.degree + (edge - clique) // source.degree
    else:
        vertex = next(v for v in range(source.degree) if first_edge(v + 1, source.degree) > edge)
    raise VerificationError(
        f"vertex {vertex}, edge {edge - first_edge(vertex, source.degree)}: stored target {stored}, "
        f"but seed {source.seed} gives {right}"
    )
