"""Programs for the tests: by name, with the arguments of their runs."""

from __future__ import annotations

import math

import numpy as np

import graphdask as gd

INFINITY = math.inf


def programs() -> dict[str, tuple[gd.Program, dict]]:
    """Each way to combine, in each direction, with and without what edges and destinations know."""
    return {
        "hops": (
            gd.Program(
                state={"hops": (np.int32, -1)},
                message=(int, "min"),
                send=lambda e: e.source.hops + 1,
                apply=lambda v, m: v.hops < 0 and {"hops": m},
            ),
            {"active": [0], "init": {"hops": {0: 0}}},
        ),
        "shortest": (
            gd.Program(
                state={"distance": (float, INFINITY)},
                message=(float, "min"),
                send=lambda e: e.source.distance + e.weight,
                apply=lambda v, m: m < v.distance and {"distance": m},
            ),
            {"active": [0], "init": {"distance": {0: 0.0}}},
        ),
        "labels both ways": (
            gd.Program(
                state={"label": (int, lambda v: v.id)},
                message=(int, "max"),
                send=lambda e: e.source.label,
                apply=lambda v, m: m > v.label and {"label": m},
                direction="both",
            ),
            {},
        ),
        "reachable backward": (
            gd.Program(
                state={"reached": (bool, False)},
                message="any",
                apply=lambda v, m: {"reached": True},
                direction="in",
            ),
            {"active": [0], "init": {"reached": {0: True}}},
        ),
        "rank": (
            gd.Program(
                state={"rank": (float, 1.0)},
                message=(float, "sum"),
                send=lambda e: e.source.rank / e.source.degree,
                apply=lambda v, m: {"rank": 0.15 + 0.85 * m},
                activity="all",
                max_supersteps=6,
                aggregate={
                    "change": ("sum", lambda old, new: abs(new.rank - old.rank)),
                    "largest": ("max", lambda old, new: new.rank),
                    "rising": ("count", lambda old, new: new.rank > old.rank),
                },
            ),
            {},
        ),
        "nearest with its parent": (
            gd.Program(
                state={"distance": (float, INFINITY), "parent": (int, -1)},
                message=({"distance": float, "parent": int}, "min"),
                send=lambda e: {"distance": e.source.distance + e.weight, "parent": e.source.id},
                apply=lambda v, m: m.distance < v.distance and {"distance": m.distance, "parent": m.parent},
            ),
            {"active": [0], "init": {"distance": {0: 0.0}}},
        ),
        "first of both ways": (
            gd.Program(
                state={"from_": (int, -1), "step": (int, -1)},
                message=((int, float), "first"),
                send=lambda e: (e.source.id, e.weight),
                apply=lambda v, m: v.from_ < 0 and {"from_": m[0], "step": v.superstep},
                direction="both",
                max_supersteps=5,
            ),
            {"active": [0, 1]},
        ),
        "integers added, some silent": (
            gd.Program(
                state={"total": (int, lambda v: v.id % 5)},
                message=(int, "sum"),
                send=lambda e: e.source.total - e.destination.total if e.source.id % 3 else None,
                apply=lambda v, m: {"total": (v.total + m) % 1000},
                max_supersteps=4,
            ),
            {},
        ),
        "conflicts": (
            gd.Program(
                state={"color": (int, lambda v: v.id % 3), "seen": (int, 0)},
                message="count",
                send=lambda e: e.source.color == e.destination.color,
                apply=lambda v, m: {"color": (v.color + 1) % 3 if m > 1 else v.color, "seen": v.received},
                max_supersteps=4,
            ),
            {},
        ),
        "how many came": (
            gd.Program(
                state={"came": (np.int32, 0), "weighed": (np.float32, 0.0)},
                message=(float, "max"),
                send=lambda e: e.weight if e.source.degree > 1 else None,
                apply=lambda v, m: {"came": v.came + v.received, "weighed": m},
                max_supersteps=3,
            ),
            {},
        ),
        "weights added": (
            gd.Program(
                state={"total": (float, 0.0)},
                message=(float, "sum"),
                send=lambda e: e.weight,
                apply=lambda v, m: {"total": v.total + m},
                max_supersteps=3,
            ),
            {},
        ),
        "waves": (
            gd.Program(
                state={"height": (float, lambda v: 1.0 / (1 + v.id))},
                message=((float, int), "sum"),
                send=lambda e: (e.source.height * e.weight, 1),
                apply=lambda v, m: {"height": 0.5 * v.height + 0.25 * m[0] / (1 + m[1]) + 0.001 * v.total},
                direction="both",
                aggregate={"total": ("sum", lambda old, new: new.height - old.height)},
                until=lambda a: a.superstep >= 5,
            ),
            {},
        ),
    }
