"""Sampled neighbourhoods and edges: the true ones pass, and every kind of error is found."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd

N = 40


def made(parts, directed=True):
    rng = np.random.default_rng(11)
    src, dst = rng.integers(0, N - 1, 260), rng.integers(0, N - 1, 260)
    weights = rng.integers(0, 4, 260)
    graph = gd.from_edges(src, dst, weights, num_vertices=N, directed=directed)
    return graph.partition(parts, by="random", ghosts="1-hop", device="cpu")


def rows(result, rank):
    return result.parts.values[rank].columns


def fullest(result):
    """The rank with the most rows: its columns."""
    return max((value.columns for value in result.parts.values), key=lambda columns: len(columns["src"]))


CALLS = {
    "uniform": lambda G, **o: gd.sample.neighbors(G, [[0, 1], [2], [], [3, 4, 5]], [4, 3], **o),
    "by weight": lambda G, **o: gd.sample.neighbors(G, [[0, 1], [2], [], [3]], [4, 3], bias="weight", **o),
    "by degree, inward": lambda G, **o: gd.sample.neighbors(G, [0, 1, 2], [4, 3], bias="degree", direction="in", **o),
    "with replacement": lambda G, **o: gd.sample.neighbors(G, [0, 1, 2], [4, 3], replace=True, **o),
    "layer": lambda G, **o: gd.sample.layer(G, [[0, 1], [2], [], [3]], [4, 9], **o),
    "fire": lambda G, **o: gd.sample.forest_fire(G, [[0, 1], [2], [], [3]], 0.8, 3, **o),
}


def set_last(column, value):
    def plant(columns):
        columns[column][-1] = value(columns[column][-1]) if callable(value) else value

    return plant


def drop_last(columns):
    for name in columns:
        columns[name] = columns[name][:-1]


def drop_first(columns):
    for name in columns:
        columns[name] = columns[name][1:]


def swap_ends(columns):
    for column in columns.values():
        column[[0, -1]] = column[[-1, 0]]


def again(columns):
    """The last edge once more."""
    for name in columns:
        columns[name] = np.append(columns[name], columns[name][-1:])


ERRORS = {
    "no edge": set_last("dst", N - 1),  # vertex N - 1 has none
    "no vertex": set_last("dst", N),
    "below none": set_last("src", -1),
    "another source": set_last("src", N - 1),
    "hop too high": set_last("hop", 7),
    "hop before the one before": set_last("hop", -1),
    "not at home": set_last("instance", 99),
    "order": swap_ends,
    "one too few": drop_last,
    "first left out": drop_first,
    "too many": again,
}


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_errors_are_found(name, parts, placement):
    graph = made(parts)
    for error, plant in ERRORS.items():
        result = CALLS[name](graph, placement=placement, seed=3).verify()
        plant(fullest(result))
        if name == "fire" and error == "one too few":
            result.verify()  # a fire may burn less
            continue
        with pytest.raises(gd.VerificationError):
            result.verify()


def test_an_edge_too_often_is_named():
    graph = gd.from_edges([0, 0, 0], [1, 1, 2], directed=True).partition(1, device="cpu")
    result = gd.sample.neighbors(graph, [0], [-1]).verify()
    assert result.dst.tolist() == [1, 1, 2]
    fullest(result)["dst"][:] = 1
    with pytest.raises(gd.VerificationError, match="instance 0, the edge from 0 to 1 is none of the graph"):
        result.verify()


def test_an_edge_of_bias_zero_is_found():
    graph = gd.from_edges([0, 0, 0], [1, 2, 3], weights=[1, 0, 1], directed=True).partition(1, device="cpu")
    result = gd.sample.neighbors(graph, [0], [1], bias="weight").verify()
    fullest(result)["dst"][0] = 2
    with pytest.raises(gd.VerificationError, match="from 0 to 2"):
        result.verify()


@pytest.mark.parametrize("placement", ["replicated", "partitioned"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("parts", [1, 3])
def test_wrong_random_edges_are_found(parts, directed, placement):
    graph = made(parts, directed)
    errors = [set_last("dst", N - 1), set_last("dst", N), set_last("src", -1), drop_last, again]
    for plant in errors:
        result = gd.sample.random_edges(graph, 20, placement=placement).verify()
        plant(fullest(result))
        with pytest.raises(gd.VerificationError):
            result.verify()
    every = gd.sample.random_edges(graph, 260, placement=placement).verify()
    columns = fullest(every)
    for column in columns.values():
        column[0] = column[1]
    if (columns["src"][:2] == columns["src"][1]).all():
        with pytest.raises(gd.VerificationError):
            every.verify()
