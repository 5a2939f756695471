"""Samplers as specs of functions, and the laws of what they draw, enumerated in Python from the same functions."""

from __future__ import annotations

import math
from itertools import permutations
from types import SimpleNamespace

import numpy as np
from scipy.stats import power_divergence

import graphdask as gd
from graphdask.sample.spec import Spec

LEAST = 1e-4
"""Of the probability that what was drawn, or something further off, is drawn; seeds are fixed."""
FIRE = 0.6
COLUMNS = ("src", "dst", "hop", "instance")
WITH_SUMS = {"sums_from_draws": 0.0}
WITHOUT_SUMS = {"sums_from_draws": math.inf, "sums_from_biases": math.inf}
"""Sizes of `SAMPLE` that make calls use sums of all biases, or never use them."""


def by_weight(e):
    return e.weight


def by_degree(v):
    return v.degree


def second_order(e):
    if e.destination_is_previous:
        return 0.25
    if e.previous < 0 or e.destination_near_previous:
        return 1.0
    return 2.0


def metropolis(e):
    return e.destination if e.random * e.destination_degree < e.source_degree else e.source


def restart(e):
    return e.seed if e.random < 0.25 else e.destination


def burning(v):
    return int(math.log(1.0 - v.random) / math.log(FIRE))


def specs(depth):
    """Samplers of c-saw's Section II-A, by name."""
    walk = {"depth": depth, "replace": True}
    return {
        "simple walk": Spec(**walk),
        "walk by weight": Spec(edge_bias=by_weight, **walk),
        "node2vec": Spec(edge_bias=second_order, edge_bound=2.0, **walk),
        "node2vec, all edges looked at": Spec(edge_bias=second_order, select="inverse", **walk),
        "Metropolis-Hastings": Spec(update=metropolis, **walk),
        "restart": Spec(update=restart, **walk),
        "frontier sampling": Spec(vertex_bias=by_degree, frontier_size=1, **walk),
        "biased neighbours": Spec(edge_bias=by_weight, neighbor_size=2, depth=depth),
        "neighbours against the edges": Spec(neighbor_size=3, depth=depth, direction="in"),
        "neighbours with replacement": Spec(edge_bias=by_weight, neighbor_size=3, depth=depth, replace=True),
        "bounded neighbours": Spec(edge_bias=by_weight, neighbor_size=2, depth=depth, edge_bound=9),
        "layer": Spec(edge_bias=by_weight, neighbor_size=4, depth=depth, per="layer"),
        "uniform layer": Spec(neighbor_size=40, depth=depth, per="layer"),
        "walk by aliases": Spec(edge_bias=by_weight, select="alias", **walk),
        "neighbours by aliases": Spec(
            edge_bias=by_weight, neighbor_size=3, depth=depth, select="alias", replace=True, direction="in"
        ),
        "walk by keys": Spec(edge_bias=by_weight, select="reservoir", **walk),
        "neighbours by keys": Spec(edge_bias=by_weight, neighbor_size=3, depth=depth, select="reservoir"),
        "neighbours by keys with replacement": Spec(
            edge_bias=by_weight, neighbor_size=2, depth=depth, select="reservoir", replace=True
        ),
        "neighbours again until new": Spec(edge_bias=by_weight, neighbor_size=3, depth=depth, select="repeated"),
        "neighbours beside": Spec(edge_bias=second_order, neighbor_size=40, depth=depth, select="bipartite"),
        "neighbours of what is left": Spec(edge_bias=by_weight, neighbor_size=2, depth=depth, select="updated"),
        "layer again until new": Spec(
            edge_bias=by_weight, neighbor_size=4, depth=depth, per="layer", select="repeated", direction="in"
        ),
        "layer beside": Spec(edge_bias=second_order, neighbor_size=50, depth=depth, per="layer", select="bipartite"),
        "walk from some": Spec(edge_bias=lambda e: e.source % 3 != 2, **walk),
        "many": Spec(neighbor_size=40, depth=depth),
        "snowball": Spec(neighbor_size=-1, depth=depth),
        "forest fire": Spec(neighbor_size=burning, depth=depth),
    }


def uneven(kind="integers", star=200):
    """A hub, edges of weight 0, vertices without edges, and rows of a few edges."""
    rng = np.random.default_rng(3)
    src = np.concatenate([np.zeros(star, np.int64), rng.integers(0, 80, 500), np.full(90, 7)])
    dst = rng.integers(0, 90, len(src))
    weights = rng.integers(0, 9, len(src)) if kind == "integers" else rng.random(len(src)).astype(np.float32) * 9
    return gd.from_edges(src, dst, weights, num_vertices=90)


def coin(e):
    return e.destination if e.random < 0.5 else -1


def same(expected, found):
    for column in COLUMNS:
        one, other = getattr(expected, column), getattr(found, column)
        np.testing.assert_array_equal(other, one, err_msg=column)
        assert one.dtype == other.dtype


class Rows:
    """A small graph as its rows, in ascending order of the neighbours."""

    def __init__(self, n, src, dst, weights=None):
        weights = np.ones(len(src)) if weights is None else weights
        self.rows = [[] for _ in range(n)]
        for u, v, w in sorted(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True)):
            self.rows[u].append((v, w))

    def biases(self, bias, source, previous, depth, seed):
        """Of each edge of a row."""
        near = {v for v, _ in self.rows[previous]} if previous >= 0 else set()
        for v, w in self.rows[source]:
            edge = SimpleNamespace(
                source=source, destination=v, weight=w, source_degree=len(self.rows[source]),
                destination_degree=len(self.rows[v]), previous=previous, destination_is_previous=v == previous,
                destination_near_previous=v in near, depth=depth, instance=0, seed=seed,
            )  # fmt: skip
            yield edge, 1 if bias is None else bias(edge)

    def walks(self, bias, seed, length, moves):
        """The law of walks, as tuples of destinations; `moves(edge)` gives pairs of the next vertex and its chance."""
        law, todo = {}, [((), 1.0, seed, -1)]
        while todo:
            path, chance, at, previous = todo.pop()
            drawn = list(self.biases(bias, at, previous, len(path), seed)) if at >= 0 else []
            total = sum(b for _, b in drawn)
            if len(path) == length or not total:
                law[path] = law.get(path, 0.0) + chance
                continue
            for edge, b in drawn:
                for following, share in moves(edge):
                    if b * share:
                        todo.append(((*path, edge.destination), chance * b / total * share, following, at))
        return law


def orders(biases, k):
    """The law of sequences of k numbers, each drawn in proportion to what is left."""
    law = {}
    for order in permutations(np.flatnonzero(biases).tolist(), k):
        chance, left = 1.0, float(np.sum(biases))
        for number in order:
            chance, left = chance * biases[number] / left, left - biases[number]
        law[order] = chance
    return law


def agree(found, law):
    """Whether keys were drawn by a law, by a G-test; rare ones are taken together."""
    keys = list(found)
    trials = len(keys)
    assert set(keys) <= set(law), "something was drawn that cannot be"
    counts = dict.fromkeys(law, 0)
    for key in keys:
        counts[key] += 1
    assert math.isclose(sum(law.values()), 1.0, rel_tol=1e-9)
    observed = np.array([counts[key] for key in law], float)
    expected = np.array([law[key] for key in law]) * trials
    rare = expected < 8
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 8:
            assert observed[-1] <= expected[-1] + 6 * math.sqrt(expected[-1]) + 6
            observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    if len(observed) < 2:
        return
    p = power_divergence(observed, expected * observed.sum() / expected.sum(), lambda_="log-likelihood").pvalue
    assert p > LEAST, p
