"""That wrong draws of samplers in time, of typed edges, of GraphSAINT and in one pass are noticed: by their digits, and
by what is wrong on the host too.

As test_draw_mutants.py, whose mutants of kernels that these samplers share are held here by their own checks.
"""

from __future__ import annotations

import pytest
from mutants import Mutants, fails, rewritten
from sampler_models import (
    check_in_time,
    check_in_time_again,
    check_latest,
    check_metapath,
    check_metapath_in_partitions,
    check_random_edges,
    check_random_nodes,
    check_saint,
)
from set_laws import check_one_pass
from walk_laws import LEAST_P, p_of_counts

import graphdask as gd
from graphdask.sample import metapath, one_pass, saint, temporal

NUMBER = "word_of(pair, of_item, instance, _ZERO, s)"
BLOCK = "philox(key, instance, step, np.uint64(number >> 1))"
STEP = "philox(key, np.uint64(first + base + j), number, _0)"
TRAVELS = "philox(key, np.uint64(walker), np.uint64(s + 1), _0)"
TAKEN = "pick_uniform(row[j], row[j] + degree[j], one[j])"
AMONG = "pick_uniform(begin, end, first)"
OF_EDGE = "philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)"
WINDOW = "first - most if most >= 0 and first - begin > most else begin"


def check_roots():
    """Each vertex is a root as often as any other."""
    graph = gd.from_edges([0, 1, 2], [1, 2, 3])
    roots = gd.sample.saint_walks(graph, 4, 0, 5000, seed=2).walks.walks[:, 0]
    counts = [int((roots == vertex).sum()) for vertex in range(4)]
    assert p_of_counts(counts, [0.25] * 4) > LEAST_P


def one_pass_law():
    check_one_pass(400)


KERNELS = {
    "neighbors": {
        "a draw modulo": (
            "multiply_high(number, np.uint64(last + 1))", "number % np.uint64(last + 1)", check_in_time,
            check_random_nodes,
        ),
        "a draw modulo, of many": (
            f"multiply_high({NUMBER}, np.uint64(last + 1))", f"{NUMBER} % np.uint64(last + 1)", check_in_time,
            check_random_nodes,
        ),
        "a draw modulo, with replacement": (
            f"multiply_high({NUMBER}, np.uint64(degree))", f"{NUMBER} % np.uint64(degree)", check_in_time_again,
            check_saint,
        ),
        "never the last": (
            f"multiply_high({NUMBER}, np.uint64(degree))",
            f"multiply_high({NUMBER}, np.uint64(max(degree - 1, 1)))", check_in_time_again, check_saint, check_roots,
        ),
        "what is next to a collided number": (
            "place = begin + last", "place = begin + (places[before] - begin + 1) % (last + 1)", check_in_time,
            check_random_nodes,
        ),
        "one generator for all instances": (
            BLOCK, BLOCK.replace("instance", "_ZERO"), check_in_time, check_in_time_again, check_saint,
        ),
        "one generator for all vertices": (
            "hashed(key_0, key_1, np.uint64(vertex))", "hashed(key_0, key_1, _ZERO)", check_in_time, check_random_nodes,
            check_saint,
        ),
    },
    "temporal": {
        "edges of the limit itself are left out": (
            "times[middle] <= limit", "times[middle] < limit", check_in_time, check_latest,
        ),
        "a window off by one": (WINDOW, WINDOW.replace("first - most if", "first - most - 1 if"), check_latest),
        "a window that ends before the last": (
            "windows[2 * i + 1] = first", "windows[2 * i + 1] = max(first - 1, begin)", check_in_time,
            check_in_time_again, check_latest,
        ),
        "the limit of another instance": (
            "limits[instances[i]]", "limits[instances[0]]", check_in_time, check_in_time_again, check_latest,
        ),
    },
    "walk": {
        "a draw modulo": (
            TAKEN, "row[j] + np.int64(one[j] % np.uint64(degree[j]))", check_metapath, check_saint,
        ),
        "a draw modulo in a partition": (
            AMONG, "begin + np.int64(first % np.uint64(end - begin))", check_metapath_in_partitions,
        ),
        "never the last": (TAKEN, TAKEN.replace("degree[j]", "max(degree[j] - 1, 1)"), check_metapath, check_saint),
        "never the last in a partition": (
            AMONG, AMONG.replace("end", "max(end - 1, begin + 1)"), check_metapath_in_partitions,
        ),
        "one generator for all steps": (STEP, STEP.replace("number", "_1"), check_metapath, check_saint),
        "one generator for all walks": (
            STEP, STEP.replace("np.uint64(first + base + j)", "_1"), check_metapath, check_saint,
        ),
        "one generator for all steps in a partition": (
            TRAVELS, TRAVELS.replace("np.uint64(s + 1)", "_1"), check_metapath_in_partitions,
        ),
        "one generator for all walks in a partition": (
            TRAVELS, TRAVELS.replace("np.uint64(walker)", "_1"), check_metapath_in_partitions,
        ),
    },
    "one_pass": {
        "one key for two edges": (
            OF_EDGE, OF_EDGE.replace("(e - begin)", "((e - begin) >> 1)"), check_random_edges, one_pass_law,
        ),
        "one key for all edges of a row": (
            OF_EDGE, OF_EDGE.replace("np.uint64(e - begin)", "_ZERO"), check_random_edges,
        ),
        "one generator for all rows": (
            "hashed(key_0, key_1, np.uint64(vertices[row]))", "hashed(key_0, key_1, _ZERO)", check_random_edges,
        ),
        "edges of two ends count twice": (
            "(not once or vertices[row] <= ends[e])", "(not once or vertices[row] + 9 > ends[e])", check_random_edges,
        ),
        "self-loops do not count": (
            "(not once or vertices[row] <= ends[e])", "(not once or vertices[row] < ends[e])", check_random_edges,
        ),
    },
}  # fmt: skip
"""Of each module its mutants, by name: what is right, what stands there instead, and the checks that fail."""
HOST = {
    "sums of roots off by one": (saint._roots, 'side="right"', 'side="left"', check_saint),
    "one generator for all roots": (
        saint._roots, "instances=np.arange(instances)", "instances=np.zeros(instances, np.int64)",
        check_saint,
    ),
    "roots are those of random nodes": (saint._roots, "-(1 << 62) - 1", "-(1 << 62)", check_saint),
    "random nodes with replacement": (
        one_pass.random_nodes, "replace=0", "replace=1", check_random_nodes,
        one_pass_law,
    ),
    "never the last vertex": (
        one_pass.random_nodes, "np.array([0, n])", "np.array([0, max(n - 1, int(k))])", check_random_nodes,
        one_pass_law,
    ),
    "keys as if they had a sign": (
        one_pass._smallest, "(keys ^ np.uint64(1 << 63)).view", "keys.view", check_random_edges,
    ),
    "the type after": (
        metapath.MetapathWalk.walk, "step % len", "(step + 1) % len", check_metapath,
    ),
    "the type after, in a partition": (
        metapath.MetapathWalk.advance, "step % len", "(step + 1) % len", check_metapath_in_partitions,
    ),
    "rows that are not in the order of time": (
        temporal.by_time, "order = xp.argsort(times, kind=\"stable\")", "order = xp.argsort(-times, kind=\"stable\")",
        check_in_time, check_latest,
    ),
}  # fmt: skip
"""The same of functions of the host, which come first."""


@pytest.mark.slow
@pytest.mark.parametrize("family", KERNELS)
def test_wrong_kernels_are_noticed(family, tmp_path):
    mutants = Mutants(tmp_path, family, {name: pieces[:2] for name, pieces in KERNELS[family].items()})
    for name, (_, _, *checks) in KERNELS[family].items():
        for check in checks:
            with mutants.running(None):
                check()
            with mutants.running(name):
                noticed = fails(check)
            assert noticed, f"{name}: {check.__name__} does not notice it"


@pytest.mark.parametrize("name", HOST)
def test_what_the_host_does_wrong_is_noticed(name):
    function, right, wrong, *checks = HOST[name]
    for check in checks:
        check()
        with rewritten(function, right, wrong):
            noticed = fails(check)
        assert noticed, f"{name}: {check.__name__} does not notice it"
