"""Programs whose messages are pushed, of all ways to combine, and a graph for them; kept apart from the tests that use
them."""

from __future__ import annotations

import math

import numpy as np

import graphdask as gd

HOPS = gd.Program(
    state={"depth": (np.int32, -1)},
    message=(int, "min"),
    send=lambda e: e.source.depth + 1,
    apply=lambda v, m: v.depth < 0 and {"depth": m},
)
SHORTEST = gd.Program(
    state={"distance": (float, math.inf)},
    message=(float, "min"),
    send=lambda e: e.source.distance + e.weight,
    apply=lambda v, m: m < v.distance and {"distance": m},
)
REACHED = gd.Program(state={"x": (bool, False)}, message="any", apply=lambda v, m: {"x": True})
COUNTED = gd.Program(
    state={"x": (int, 0), "y": (int, 0)},
    message=(int, "count"),
    send=lambda e: e.source.id + e.source.x > 3 and 1,
    apply=lambda v, m: {"x": m + v.received, "y": v.y + m},
    max_supersteps=5,
)
SILENT = gd.Program(
    state={"x": (int, lambda v: v.id)},
    message=(int, "max"),
    send=lambda e: None if e.source.x % 2 else e.source.x * 3 % 17,
    apply=lambda v, m: m > v.x and {"x": m},
    max_supersteps=9,
)
FIELDS = gd.Program(
    state={"x": (np.float32, 0.5), "k": (np.int32, lambda v: v.id)},
    message=(float, "max"),
    send=lambda e: e.source.x + e.source.k * e.weight / (1 + e.source.degree) - e.superstep,
    apply=lambda v, m: {"x": 0.5 * m, "k": v.k + v.received},
    max_supersteps=6,
)
SUMMED = gd.Program(
    state={"x": (float, lambda v: v.id * 0.1), "k": (np.uint8, 0)},
    message=(float, "max"),
    send=lambda e: e.source.x * e.weight,
    apply=lambda v, m: {
        "x": (0.3 * m + v.total) % 11 + (v.least if v.superstep else 0.5),
        "k": v.k + (v.some and v.odd > 9),
    },
    aggregate={
        "total": ("sum", lambda old, new: new.x - old.x),
        "odd": ("count", lambda old, new: int(new.x) % 2),
        "some": ("any", lambda old, new: new.x > 9.5),
        "least": ("min", lambda old, new: new.x),
    },
    until=lambda a: a.superstep >= 6 and a.total < 1e9 and a.active > 0,
)
PROGRAMS = {
    "depths": (HOPS, {"active": 1, "init": {"depth": {1: 0}}}, np.int64),
    "distances by codes": (SHORTEST, {"active": 1, "init": {"distance": {1: 0.0}}}, np.float64),
    "distances by floats": (SHORTEST, {"active": 1, "init": {"distance": {1: 0.0}}}, np.float32),
    "reached": (REACHED, {"active": [1, 2]}, np.int64),
    "counted": (COUNTED, {}, np.int64),
    "silent": (SILENT, {}, np.int64),
    "fields": (FIELDS, {}, np.int64),
    "aggregates": (SUMMED, {"init": {"x": {0: 0.7}}}, np.int64),
}


def graph(dtype):
    """Rows of no edges, of few, of a chunk and of several."""
    rng = np.random.default_rng(1)
    src, dst = rng.zipf(1.5, 3000) % 150, rng.integers(0, 150, 3000)
    src[:700] = 7
    weights = rng.integers(1, 255, 3000).astype(dtype)
    return gd.from_edges(src, dst, weights=weights + dtype(0.1), num_vertices=160, directed=False)
