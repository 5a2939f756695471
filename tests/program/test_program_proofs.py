"""Results of programs are proved by running them again in another way; what is wrong in them is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs import GRAPHS
from plain_programs import graph_of
from some_programs import programs

import graphdask as gd
from graphdask.errors import VerificationError
from graphdask.verify.program import repeated

NAMES = list(programs())
DENSE = "dense random, directed"


def ran(name, shape, parts):
    program, arguments = programs()[name]
    n, src, dst, directed = GRAPHS[shape]()
    weights = np.random.default_rng(len(src)).integers(1, 9, len(src)) / 4
    arguments = {**arguments, "active": [0]} if n == 1 and "active" in arguments else arguments
    return gd.run(graph_of(n, src, dst, weights, directed).partition(parts, by="random"), program, **arguments)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_right_results_are_proved(name, parts):
    for shape in GRAPHS:
        result = ran(name, shape, parts)
        assert result.verify() is result


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_bit_in_any_field_of_the_state_is_found(name, parts):
    result = ran(name, DENSE, parts)
    right, rng = list(result.parts.values), np.random.default_rng(5)
    for column in result.columns:
        rank = int(rng.integers(parts))
        values = right[rank].columns[column].copy()
        values.view(np.uint8)[int(rng.integers(len(values))) * values.itemsize] ^= 1
        result.parts.values[:] = right
        result.parts.values[rank] = replace(right[rank], columns={**right[rank].columns, column: values})
        with pytest.raises(VerificationError, match=rf"program: vertex \d+ has another {column} when it is run again"):
            result.verify()
    result.parts.values[:] = right
    result.verify()


@pytest.mark.parametrize(("key", "value"), [("iterations", 5), ("aggregates", {"change": 0.0})])
def test_wrong_iterations_and_aggregates_are_found(key, value):
    result = ran("rank", DENSE, 1)
    (one,) = result.parts.values
    result.parts.values[0] = replace(one, values={**one.values, key: value})
    with pytest.raises(VerificationError, match=f"{key}: the result says"):
        result.verify()


@pytest.mark.slow
def test_what_was_pushed_is_pulled_where_the_edges_are_there():
    result = ran("shortest", "dense random, undirected", 1)
    assert result.primitive.definition.pushes
    (part,) = result.built.parts.values
    assert not repeated(part, result.primitive).definition.pushes
