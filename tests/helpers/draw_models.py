"""Which 64-bit numbers decide what, in plain Python with whole numbers of any size: what samplers must draw, digit for
digit. A number x of 64 bits and n alternatives make the digit floor(x n / 2^64), never a remainder.
"""

from __future__ import annotations

import numpy as np
from set_laws import by_weight, by_weight_anywhere, drawn, drawn_by_spec, star

import graphdask as gd
from graphdask.kernels.common.hash import hashed, key
from graphdask.kernels.common.philox import DRAW_EDGE, DRAW_END, DRAW_FRONTIER, DRAW_NEIGHBOR, DRAW_TRIAL, philox
from graphdask.kernels.neighbors.successive import MOST_REDRAWS
from graphdask.sample.spec import Spec
from graphdask.sample.tuning import SAMPLE


def pairs_of(seed, instance, tag, step=0, what=DRAW_NEIGHBOR):
    """The blocks of two 64-bit numbers of a vertex, or a place in a pool, in an instance, one after the other."""
    keys = [np.uint64(key(np.uint64(seed % 2**64), what, part)) for part in (0, 1)]
    of_item, block = np.uint64(hashed(*keys, np.uint64(tag))), 0
    while True:
        yield tuple(map(int, philox(of_item, np.uint64(instance), np.uint64(step), np.uint64(block))))
        block += 1


def numbers_of(*arguments, **options):
    """The numbers of these blocks."""
    for pair in pairs_of(*arguments, **options):
        yield from pair


def firsts_of(*arguments, **options):
    """The first number of each block."""
    for first, _ in pairs_of(*arguments, **options):
        yield first


def floyd(numbers, degree, k):
    chosen = []
    for last in range(degree - k, degree):
        place = next(numbers) * (last + 1) >> 64
        chosen.append(last if place in chosen else place)
    return chosen


def in_turn(numbers, weights, k, redraws=0, regions=False):
    """One draw after the other among what is left, after some among all that find only what was drawn before.

    With regions a draw takes two numbers: where the first finds one again, the second is among all but that.
    """
    chosen = []
    for _ in range(k):
        for _ in range(redraws):
            place = found(weights, next(numbers) * sum(weights) >> 64)
            second = next(numbers) if regions else 0
            if place in chosen and regions:
                others = [0 if at == place else weight for at, weight in enumerate(weights)]
                place = found(others, second * sum(others) >> 64)
            if place not in chosen:
                break
        else:
            left = [0 if place in chosen else weight for place, weight in enumerate(weights)]
            place = found(left, next(numbers) * sum(left) >> 64)
            if regions:
                next(numbers)
        chosen.append(place)
    return chosen


def found(weights, number):
    """The place whose weight takes in a number."""
    for place, weight in enumerate(weights):
        if number < weight:
            return place
        number -= weight
    raise AssertionError("the number is too large")


def by_rejection(pairs, weights, k, bound):
    """Each of k draws has as many trials as there are at most, and its own blocks for all of them."""
    pairs, chosen = [next(pairs) for _ in range(k * SAMPLE.trials)], []
    for s in range(k):
        for first, second in pairs[s * SAMPLE.trials : (s + 1) * SAMPLE.trials]:
            place = first * len(weights) >> 64
            if second * bound >> 64 < weights[place] and place not in chosen:
                chosen.append(place)
                break
    return chosen


def vitter(numbers, degree, k):
    chosen = list(range(k))
    for place in range(k, degree):
        slot = next(numbers) * (place + 1) >> 64
        if slot < k:
            chosen[slot] = place
    return chosen


def check_reservoir(degree, k, seed):
    rows = drawn(degree, k, 4, seed=seed, method="reservoir")
    for instance in range(4):
        assert rows[instance].tolist() == vitter(numbers_of(seed, instance, degree), degree, k)


def check_floyd(degree, k, seed):
    rows = drawn(degree, k, 4, seed=seed)
    again = drawn(degree, k, 4, seed=seed, replace=True)
    for instance in range(4):
        assert rows[instance].tolist() == floyd(numbers_of(seed, instance, degree), degree, k)
        numbers = numbers_of(seed, instance, degree)
        assert again[instance].tolist() == [next(numbers) * degree >> 64 for _ in range(k)]


REDRAWN = ("repeated", "bipartite")
"""Methods that draw again what is drawn already."""


def check_by_weight(weights, values, k, instances=3, collisions=None):
    """Of weights that are multiples of whole numbers, `values`, by a power of two; of methods that come upon what is
    drawn already, where it is said how they see it."""
    degree = len(values)
    after = {"auto": 8 if degree > 32 else 0, "updated": 0, "repeated": MOST_REDRAWS, "bipartite": MOST_REDRAWS}
    for method, redraws in after.items():
        if collisions and method not in REDRAWN:
            continue
        rows = drawn(degree, k, instances, weights, method=method, collisions=collisions or "auto")
        for instance in range(instances):
            numbers = numbers_of(0, instance, degree)
            redrawn = 0 if method == "auto" and k > 32 else redraws
            expected = in_turn(numbers, values, k, redrawn, method == "bipartite")
            assert rows[instance].tolist() == expected


def check_fire(p):
    graph = star(50)
    fire = gd.sample.forest_fire(graph, np.full(40, 50), p, depth=1, seed=9)
    for instance in range(40):
        numbers = numbers_of(9, instance, 50, step=1)
        count = 0
        while count < 50 and next(numbers) < p * 2**64:
            count += 1
        expected = list(range(50)) if count == 50 else floyd(numbers_of(9, instance, 50), 50, count)
        assert (fire.dst[fire.instance == instance]).tolist() == expected


def check_functions_alike(degree, k, seed):
    """Samplers of functions, of what is all alike."""
    rows = drawn_by_spec(degree, k, 4, seed=seed)
    again = drawn_by_spec(degree, k, 4, seed=seed, replace=True)
    for instance in range(4):
        numbers = numbers_of(seed, instance, 0, what=DRAW_EDGE)
        assert rows[instance].tolist() == floyd(numbers, degree, k)
        numbers = numbers_of(seed, instance, 0, what=DRAW_EDGE)
        assert again[instance].tolist() == [next(numbers) * degree >> 64 for _ in range(k)]


def check_functions_by_weight(weights, k, seed, function):
    """The same by sums of weights, which are kept or made for each choice."""
    ways = {by_weight: {}, by_weight_anywhere: {"select": "inverse"}}
    rows = drawn_by_spec(len(weights), k, 6, np.array(weights), seed, function, **ways[function])
    for instance in range(6):
        numbers = firsts_of(seed, instance, 0, what=DRAW_EDGE)
        assert rows[instance].tolist() == in_turn(numbers, weights, k)


def check_functions_redrawn(weights, k, function, instances=6):
    """By draws that find again what was drawn before, of sums that are kept or made for each choice."""
    for method in REDRAWN:
        rows = drawn_by_spec(len(weights), k, instances, np.array(weights), 4, function, select=method)
        for instance in range(instances):
            numbers = numbers_of(4, instance, 0, what=DRAW_EDGE)
            assert rows[instance].tolist() == in_turn(numbers, weights, k, MOST_REDRAWS, method == "bipartite")


def check_functions_by_rejection(weights, k, bound, seed):
    rows = drawn_by_spec(len(weights), k, 6, np.array(weights), seed, edge_bound=bound)
    for instance in range(6):
        expected = by_rejection(pairs_of(seed, instance, 0, what=DRAW_TRIAL), weights, k, bound)
        assert rows[instance].tolist() == expected


def check_function_walks(weights, seed, **options):
    """Walks along the edges of a complete graph with self-loops, by the weights of where they lead."""
    n, length = len(weights), 9
    src, dst = np.divmod(np.arange(n * n), n)
    graph = gd.from_edges(src, dst, np.array(weights)[dst], num_vertices=n).partition(1, device="cpu")
    if "edge_bias" in options and "edge_bound" not in options:
        options["select"] = "inverse"
    spec = Spec(depth=length, replace=True, **options)
    walks = gd.sample.run(graph, spec, [0], instances=20, seed=seed).dst.reshape(20, length)
    bound = options.get("edge_bound")
    for instance in range(20):
        for step in range(length):
            if bound:
                (expected,) = by_rejection(pairs_of(seed, instance, 0, step, DRAW_TRIAL), weights, 1, bound)
            else:
                of_all = weights if options else [1] * n
                expected = found(of_all, next(firsts_of(seed, instance, 0, step, DRAW_EDGE)) * sum(of_all) >> 64)
            assert walks[instance, step] == expected


def check_frontier(seed):
    """A number below the sum of the degrees of the pool names an edge of one of its vertices."""
    rows = [[1, 2, 3], [0], [1, 3], [0, 1, 2, 3]]
    src = np.repeat(np.arange(4), [len(row) for row in rows])
    graph = gd.from_edges(src, np.concatenate(rows)).partition(1, device="cpu")
    sampled = gd.sample.frontier_sampling(graph, np.tile([0, 2, 2, 1], (30, 1)), 12, seed=seed)
    of_all = np.uint64(key(np.uint64(seed % 2**64), DRAW_FRONTIER, 0))
    for instance in range(30):
        pool = [0, 2, 2, 1]
        for step in range(12):
            first, _ = philox(of_all, np.uint64(instance), np.uint64(step + 1), np.uint64(0))
            edges = [(place, v) for place, u in enumerate(pool) for v in rows[u]]
            place, v = edges[int(first) * len(edges) >> 64]
            assert (sampled.src[instance, step], sampled.dst[instance, step]) == (pool[place], v)
            pool[place] = v


def check_ends(seed=5, walks=200):
    """A walk of personalised PageRank ends where the second number says so, and else goes where the first one says."""
    rows = [[1, 2, 3], [0], [1, 3], [0, 1, 2, 3]]
    src = np.repeat(np.arange(4), [len(row) for row in rows])
    graph = gd.from_edges(src, np.concatenate(rows)).partition(1, device="cpu")
    made = gd.sample.personalized_pagerank(graph, [0, 3], walks, restart=0.25, seed=seed)
    of_all = np.uint64(key(np.uint64(seed), DRAW_END, 0))
    for number, source in enumerate((0, 3)):
        ends = np.zeros(4)
        for walk in range(walks):
            at, step = source, 0
            while True:
                first, second = philox(of_all, np.uint64(number * walks + walk), np.uint64(step), np.uint64(0))
                if int(second) < 2**62:
                    break
                at, step = rows[at][int(first) * len(rows[at]) >> 64], step + 1
            ends[at] += 1
        found = np.zeros(4)
        found[made.vertex[made.source == source]] = made.estimate[made.source == source]
        np.testing.assert_allclose(found, ends / walks)
