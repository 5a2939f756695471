"""Check of generated preferential attachment graphs: recomputing any vertex gives the stored edges.
 Invariant 1: every stored target is what the backend computes for it (linear, in pieces of bounded size).
Invariant 2: for a sample of vertices it is what the definition gives, followed here edge by edge in Python
integers of any size, without the kernels: `recompute` shares no code with them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError, VerificationError
from graphdask.generate.preferential_attachment import PreferentialAttachment, edges, first_edge
from graphdask.verify.draws import MASK, hash_of, keys
from graphdask.verify.tuning import VERIFY


def _hash_pair(key: int, a: int, b: int) -> int:
    x = a * 0x9E3779B1 + (b * 0x85EBCA6B << 32) & MASK
    x = (x ^ (x >> 32) ^ (key % 2**32)) * 0xDABA0B6EB09322E3 & MASK
    x = (x ^ (x >> 32) ^ (key >> 32)) * 0xD6E8FEB86659FD93 & MASK
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
        self.keys, self.fraction_keys = keys(source.seed, 1), keys(source.seed, 2)
        self.redraw_keys = keys(source.seed, 16)
        self.below = int(source.p * 2**63)
        least = source.degree / 2**16
        self.careful = source.degree > 256 or 0 < source.p < least or 0 < 2**63 - self.below < least * 2**63

    def step(self, v: int, edge: int) -> tuple[int, int, bool]:
        """The vertex u that is drawn at `edge` of v, the drawn edge of u, and whether the walk ends at u."""
        degree = self.source.degree
        slot, far = v * degree + edge, v >= 1 << 31
        u, rest = divmod((hash_of(self.keys, slot) if far else _hash_pair(self.keys[0], v, edge)) * v, 1 << 64)
        if far or self.careful:
            edge, coin = divmod(hash_of(self.fraction_keys, slot) * degree, 1 << 64)
            direct = coin // 2 < self.below
        else:
            edge, coin = divmod((rest >> 32) * degree, 1 << 32)
            direct = coin < (self.below + 2**30) >> 31
        return u, edge, u < degree or direct

    def target(self, v: int, edge: int) -> int:
        """The end of the walk that begins at `edge` of vertex v."""
        ended = False
        while not ended:
            v, edge, ended = self.step(v, edge)
        return v

    def raw(self, v: int) -> list[int]:
        """The targets of v before anything is done about parallel edges."""
        degree = self.source.degree
        return list(range(v)) if v < degree else [self.target(v, edge) for edge in range(degree)]

    def redrawn(self, v: int, number: int) -> int:
        """Draw `number` for a repeated edge of v; after the last one, the vertices in their order."""
        degree = self.source.degree
        bound = 32 * (degree // 4 + 1)
        if number >= bound:
            return number - bound
        shifted = [(key + number * 0x9E3779B97F4A7C15) & MASK for key in self.redraw_keys]
        u = hash_of((shifted[0], self.redraw_keys[1]), v) * v >> 64
        k, coin = divmod(hash_of((shifted[1], self.redraw_keys[0]), v) * degree, 1 << 64)
        return u if u < degree or coin // 2 < self.below else self.target(u, k)

    def row(self, v: int) -> list[int]:
        """The targets of v."""
        raw = self.raw(v)
        if self.source.multi_edges == "keep" or v < self.source.degree:
            return raw
        first: list[int | None] = [target if raw.index(target) == edge else None for edge, target in enumerate(raw)]
        if self.source.multi_edges == "redraw":
            draws = (self.redrawn(v, number) for number in itertools.count())
            for edge in range(len(raw)):
                while first[edge] is None:
                    target = next(draws)
                    if target not in first:
                        first[edge] = target
        return [target for target in first if target is not None]


def recompute(source: PreferentialAttachment, vertices: Iterable[int]) -> list[list[int]]:
    """Return the targets of each of `vertices`, from the definition."""
    definition = Definition(source)
    return [definition.row(v) for v in vertices]


def check(
    backend: Backend, source: PreferentialAttachment, start: int, stop: int, dst: Array, sample: int = 256
) -> None:
    """Raise VerificationError unless `dst` holds the targets of vertices start .. stop-1 of `source`.

    Parameters
    ----------
    backend : Backend
        Where `dst` lies and the edges are recomputed.
    source : PreferentialAttachment
        The graph; what it does about parallel edges included.
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
    expected = first_edge(stop, source.degree) - first_edge(start, source.degree)
    if source.multi_edges != "merge" and len(dst) != expected:
        raise VerificationError(f"vertices {start} .. {stop} have {expected} edges, but {len(dst)} are stored")
    definition, sampled, begin = Definition(source), _sample(source, start, stop, sample), 0
    step = max(1, VERIFY.attached_edges // source.degree)
    for low in range(start, stop, step):
        high = min(low + step, stop)
        src, again = edges(backend, source.n, source.degree, source.p, source.seed, low, high, source.multi_edges)
        with backend.activate():
            stored = dst[begin : begin + len(again)]
            differing = backend.xp.flatnonzero(stored != again[: len(stored)]) if len(stored) else stored
            if len(differing):
                position = int(differing[0])
                v = int(src[position])
                edge = position - int(_first(backend, src, [v])[0])
                _raise(source, v, edge, int(stored[position]), int(again[position]))
            vertices = [v for v in sampled if low <= v < high]
            firsts, ends = _first(backend, src, vertices), _first(backend, src, [v + 1 for v in vertices])
            for v, first, end in zip(vertices, firsts, ends, strict=True):
                row, right = backend.to_host(stored[first:end]).tolist(), definition.row(v)
                for edge, (has, should) in enumerate(zip(row, right, strict=False)):
                    if has != should:
                        _raise(source, v, edge, has, should)
                if len(row) != len(right):
                    raise VerificationError(f"vertex {v} has {len(right)} edges, but {len(row)} are stored")
        begin += len(again)
    if begin != len(dst):
        raise VerificationError(f"vertices {start} .. {stop} have {begin} edges, but {len(dst)} are stored")


def _sample(source: PreferentialAttachment, start: int, stop: int, sample: int) -> list[int]:
    if start == stop:
        return []
    draw = random.Random(source.seed)
    chosen = {start, stop - 1, *(draw.randrange(start, stop) for _ in range(max(0, sample - 2)))}
    return sorted(chosen)[:sample] if sample < 2 else sorted(chosen)


def _first(backend: Backend, src: Array, vertices: list[int]) -> list[int]:
    """Where the edges of each of the vertices begin in `src`, which ascends."""
    if not vertices or not len(src):
        return [0] * len(vertices)
    wanted = backend.from_host(np.array(vertices, src.dtype))
    return backend.to_host(backend.xp.searchsorted(src, wanted)).tolist()


def _raise(source: PreferentialAttachment, vertex: int, edge: int, stored: int, right: int) -> None:
    raise VerificationError(
        f"vertex {vertex}, edge {edge}: stored target {stored}, but seed {source.seed} gives {right}"
    )
