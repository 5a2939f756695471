"""What samplers in time, of typed edges, of GraphSAINT and in one pass must draw, digit for digit, in plain Python.

As in draw_models.py: a number x of 64 bits and n alternatives make the digit floor(x n / 2^64).
"""

from __future__ import annotations

import numpy as np
from draw_models import floyd, found, numbers_of
from walk_laws import WORD, key_of, philox

import graphdask as gd
from graphdask.kernels.common.hash import hashed, key
from graphdask.kernels.common.philox import DRAW_ONE_PASS
from graphdask.sample.saint import MOST

sample = gd.sample
NODES, ROOTS = -(1 << 62) & WORD, -(1 << 62) - 1 & WORD
"""What stands for a vertex in the keys of random_nodes and of GraphSAINT's roots."""
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 0), (3, 4), (4, 0), (4, 1)]
BOTH = sorted({edge for u, v in EDGES for edge in ((u, v), (v, u))})
TYPES = [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0]


def made(directed=True, weights=None, parts=1):
    src, dst = np.array(EDGES).T
    return gd.from_edges(src, dst, weights, directed=directed).partition(parts, "random", device="cpu")


def in_time(count, fanout, seed=6, **options):
    """What each of `count` instances, of later and later times, sees of a vertex with 50 edges, and what it draws."""
    degree = 50
    times = np.random.default_rng(4).integers(0, 30, degree)
    graph = gd.from_edges(np.full(degree, degree), np.arange(degree), times).partition(1, device="cpu")
    limits = np.arange(count) % 32
    drawn = sample.temporal_neighbors(
        graph, np.full(count, degree), [fanout], seed_times=limits, seed=seed, **options
    ).verify()
    in_order = sorted(zip(times.tolist(), range(degree), strict=True))
    for instance, limit in enumerate(limits.tolist()):
        there = [neighbour for time, neighbour in in_order if time <= limit]
        yield instance, there, drawn.dst[drawn.instance == instance].tolist(), numbers_of(seed, instance, degree)


def check_in_time():
    """By Floyd's algorithm among the edges until the instance's time, with more than 32 of them too."""
    for fanout in (4, 36):
        for _, there, drawn, numbers in in_time(64, fanout):
            places = floyd(numbers, len(there), fanout) if fanout < len(there) else range(len(there))
            assert drawn == [there[place] for place in places]


def check_in_time_again():
    for _, there, drawn, numbers in in_time(64, 5, replace=True):
        assert drawn == [there[next(numbers) * len(there) >> 64] for _ in range(5 if there else 0)]


def check_latest():
    for _, there, drawn, _ in in_time(32, 4, strategy="last"):
        assert drawn == there[-4:]


def check_metapath(placement="replicated", seed=9, length=8):
    graph = made(weights=np.array(TYPES), parts=3 if placement == "partitioned" else 1)
    starts, path = np.arange(40) % 5, [0, 1, 1]
    walks = sample.metapath_walk(graph, starts, length, metapath=path, seed=seed, placement=placement).walks
    of_all = key_of(seed)
    for instance, walk in enumerate(walks.tolist()):
        expected = [instance % 5]
        for step in range(length):
            kind, at = path[step % 3], expected[-1]
            row = [v for (u, v), of in zip(EDGES, TYPES, strict=True) if u == at and of == kind]
            first, _ = philox(of_all, instance, step + 1, 0)
            expected.append(row[first * len(row) >> 64] if row else -1)
        assert walk == expected


def check_metapath_in_partitions():
    check_metapath("partitioned")


def check_saint(seed=3, instances=30):
    """Roots in proportion to weights, by a number below their sum, and from each a simple walk."""
    degrees = np.bincount([u for u, _ in EDGES], minlength=5).tolist()
    rows, rows_of_both = ([[v for u, v in edges if u == at] for at in range(5)] for edges in (EDGES, BOTH))
    options = {"instances": instances, "seed": seed}
    for drawn, weights, each, length, of in (
        (sample.saint_nodes(made(), 3, **options), [MOST // 5 // degree for degree in degrees], 3, 1, rows),
        (sample.saint_walks(made(), 2, 3, **options), [1] * 5, 2, 3, rows),
        (sample.saint_edges(made(False), 2, **options), [1] * 5, 2, 1, rows_of_both),
    ):
        of_all = key_of(seed)
        for number, walk in enumerate(drawn.walks.walks.tolist()):
            if number % each == 0:
                numbers = numbers_of(seed, number // each, ROOTS)
            expected = [found(weights, next(numbers) * sum(weights) >> 64)]
            for step in range(length):
                row = of[expected[-1]]
                first, _ = philox(of_all, number, step + 1, 0)
                expected.append(row[first * len(row) >> 64])
            assert walk == expected


def check_random_nodes():
    graph = gd.from_edges(np.arange(60), np.roll(np.arange(60), 1))
    for seed in range(4):
        for k in (9, 45):
            assert sample.random_nodes(graph, k, seed=seed).tolist() == floyd(numbers_of(seed, 0, NODES), 60, k)


def check_random_edges():
    """The edges of the smallest keys, in their order; an edge of two ends has the key of the smaller one."""
    for directed in (True, False):
        for seed in range(5):
            drawn = sample.random_edges(made(directed), 6, seed=seed)
            keys = [np.uint64(key(np.uint64(seed), DRAW_ONE_PASS, part)) for part in (0, 1)]
            edges = EDGES if directed else BOTH
            by_key = []
            for at in range(5):
                of_row = int(np.uint64(hashed(*keys, np.uint64(at))))
                for place, v in enumerate(v for u, v in edges if u == at):
                    if directed or at <= v:
                        by_key.append((philox(of_row, place, 0, 0)[0], at, v))
            expected = [(u, v) for _, u, v in sorted(by_key)[:6]]
            assert list(zip(drawn.src.tolist(), drawn.dst.tolist(), strict=True)) == expected
