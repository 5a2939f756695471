"""Programs in which a field keeps the least or greatest message: which they are, and that messages that are dropped
where they arrive change no answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_programs import Plain

import graphdask as gd
from graphdask.program.definition import Definition
from graphdask.program.tuning import PROGRAM


def with_if(v, m):
    """A function of several lines."""
    if m < v.x:
        return {"x": m}
    return None


def first_of_others(v, m):
    if v.x > m:
        return {"other": 1, "x": m}


def raised(v, m):
    return {"x": m + 1} if m < v.x else None


def at_a_price(v, m):
    if m < v.x:
        return {"x": m}
    return {"other": 1}


SEEN = [
    (lambda v, m: m < v.x and {"x": m}, "min"),
    (lambda v, m: v.x > m and {"x": m, "other": v.superstep}, "min"),
    (lambda v, m: {"x": m} if m < v.x else None, "min"),
    (lambda v, m: {"x": m} if m > v.x else False, "max"),
    (with_if, "min"),
    (first_of_others, "min"),
    (lambda v, m: {"x": min(v.x, m)}, "min"),
    (lambda v, m: {"x": max(m, v.x)}, "max"),
]
NOT_SEEN = [
    (lambda v, m: m < v.x and {"x": m}, "max"),
    (lambda v, m: m <= v.x and {"x": m}, "min"),
    (lambda v, m: m < v.other and {"x": m}, "min"),
    (lambda v, m: m < v.x and v.other > 0 and {"x": m}, "min"),
    (lambda v, m: m < v.x and {"other": m}, "min"),
    (lambda v, m: v.x < m and {"x": m}, "min"),
    (lambda v, m: m < v.x and {"x": m}, "sum"),
    (lambda v, m: {"x": max(v.x, m)}, "min"),
    (lambda v, m: {"x": min(v.other, m)}, "min"),
    (lambda v, m: {"x": min(v.x, m), "other": m}, "min"),
    (lambda v, m: {"x": min(v.x, m + 1)}, "min"),
    (raised, "min"),
    (at_a_price, "min"),
]


def field_kept_by(apply, combine):
    """The number of the field of a program that keeps the least or greatest message, or None."""
    program = gd.Program(
        state={"other": (int, 0), "x": (int, 0)}, message=(int, combine), send=lambda e: e.source.x, apply=apply
    )
    return Definition.of(program, None).keeps


@pytest.mark.parametrize(("apply", "combine"), SEEN)
def test_functions_that_keep_the_least_are_seen(apply, combine):
    assert field_kept_by(apply, combine) == 1


@pytest.mark.parametrize(("apply", "combine"), NOT_SEEN)
def test_functions_that_do_something_else_are_not(apply, combine):
    assert field_kept_by(apply, combine) is None


def programs():
    """By name: programs that keep a field, and how runs of them begin."""
    made = {}
    for name, kind, most in (("float", float, math.inf), ("single", np.float32, math.inf), ("small", np.uint8, 255)):
        whole = name == "small"
        made[f"distances, {name}"] = (
            gd.Program(
                state={"x": (kind, most), "when": (np.int32, -1)},
                message=(int if whole else float, "min"),
                send=(lambda e: e.source.x + 1) if whole else (lambda e: e.source.x + 0.25 * e.weight),
                apply=lambda v, m: m < v.x and {"x": m, "when": v.superstep},
            ),
            {"active": [0, 5], "init": {"x": {0: 0, 5: 2, 7: 1, 20: 1}}},
        )  # 7 and 20 could send less than others
    made["labels"] = (
        gd.Program(
            state={"x": (int, lambda v: (v.id * 7) % 61)},
            message=(int, "max"),
            send=lambda e: e.source.x,
            apply=lambda v, m: {"x": m} if m > v.x else None,
            direction="both",
        ),
        {},
    )
    made["some are silent"] = (
        gd.Program(
            state={"x": (int, lambda v: v.id)},
            message=(int, "min"),
            send=lambda e: e.source.x if e.source.x % 3 else None,
            apply=lambda v, m: m < v.x and {"x": m},
        ),
        {"active": list(range(0, 60, 2))},
    )
    made["widths"] = (
        gd.Program(
            state={"x": (float, 0.0)},
            message=(float, "max"),
            send=lambda e: min(e.source.x, e.weight) if e.weight > 2 else None,
            apply=lambda v, m: v.x < m and {"x": m},
        ),
        {"active": [3], "init": {"x": {3: math.inf, 9: 4.0}}},
    )
    return made


NAMES = sorted(programs())


def edges(seed):
    rng = np.random.default_rng(seed)
    src, dst = rng.zipf(1.7, 260) % 60, rng.integers(0, 60, 260)
    return src, dst, rng.integers(1, 9, 260).astype(float)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_that_of_plain_loops(name, directed, seed, tuned, tmp_path):
    program, how = programs()[name]
    assert Definition.of(program, "float").keeps == 0
    tuned(PROGRAM, single_steps=seed)
    src, dst, weights = edges(seed)
    graph = gd.from_edges(src, dst, weights, num_vertices=60, directed=directed)
    expected, done, _ = Plain(program, 60, src, dst, weights, directed=directed).run(**how)
    stored = gd.stream.build(graph, tmp_path / "g.gdl", memory="64MiB")
    for where in (*(graph.partition(parts) for parts in (1, 2, 3, 4, 7)), stored):
        found = gd.run(where, program, **how)
        assert found.iterations == done
        for field in expected:
            np.testing.assert_array_equal(getattr(found, field), expected[field])
        found.verify()
