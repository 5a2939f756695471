"""That what is drawn wrong is noticed: every mutant of a kernel fails checks by which samplers are held to their laws.

Where a number is taken modulo another one, numbers of 64 bits leave less of a trace than any count of trials can show.
So these mutants are told from what is right by the digits themselves (draw_models.py).
"""

from __future__ import annotations

import numpy as np
import pytest
from draw_models import (
    check_by_weight,
    check_ends,
    check_fire,
    check_floyd,
    check_frontier,
    check_function_walks,
    check_functions_alike,
    check_functions_by_rejection,
    check_functions_by_weight,
    check_functions_redrawn,
    check_reservoir,
)
from mutants import Mutants, fails
from set_laws import (
    ALIKE,
    AS_SETS,
    IN_ORDER,
    by_weight,
    by_weight_anywhere,
    check_instances,
    check_one_pass,
    check_orders,
    check_row_of_40,
    check_sets,
    check_sets_alike,
    check_vertices,
    drawn,
    drawn_by_spec,
)
from specs import LEAST
from walk_laws import p_of_independence

import graphdask as gd
from graphdask.sample.spec import Spec

TRIALS = 20_000
WORD = "word_of(pair, of_item, instance, _ZERO, {})"
NEXT = "word_of(pair, of_item, instance, step, {})"
WEIGHTS = [5, 0, 1, 0, 2]


def alike(way):
    return lambda: check_sets_alike(ALIKE[way], 5, 3, TRIALS)


def in_order(way, weights=WEIGHTS, k=2):
    return lambda: check_orders(IN_ORDER[way], weights, k, TRIALS)


def row_of_40():
    check_row_of_40(IN_ORDER["auto"])


def layer_by_weight():
    check_sets(AS_SETS["layer"], [5, 1, 3, 1, 2], 2, TRIALS)


def one_pass():
    check_one_pass(400)


def floyd():
    check_floyd(7, 6, 3)


def floyd_of_many():
    check_floyd(50, 40, 3)


def by_digits():
    check_by_weight(np.arange(1, 41), np.arange(1, 41).tolist(), 30)


def by_digits_of_many():
    check_by_weight(np.arange(1, 41), np.arange(1, 41).tolist(), 36)


def by_digits_with_bits():
    check_by_weight(np.arange(1, 41), np.arange(1, 41).tolist(), 36, collisions="strided")
    check_by_weight(np.arange(1, 41), np.arange(1, 41).tolist(), 36, collisions="bitmap")


def by_digits_with_bits_in_vain():
    values = [1, 10**6, 1, 1, 10**6]
    check_by_weight(np.array(values), values, 4, instances=8, collisions="bitmap")


def reservoir():
    check_reservoir(50, 10, 3)


def fire():
    check_fire(0.9)


def instances():
    check_instances(drawn)


def functions_alike():
    check_functions_alike(7, 6, 3)


def functions_of_many():
    check_functions_alike(50, 40, 3)


def functions_by_sums():
    check_functions_by_weight([3, 1, 7, 5, 4], 3, 8, by_weight)


def functions_by_looking_at_all():
    check_functions_by_weight([3, 1, 7, 5, 4], 3, 8, by_weight_anywhere)


def functions_redrawn():
    check_functions_redrawn([3, 1, 7, 5, 40], 4, by_weight)
    check_functions_redrawn(list(range(1, 51)), 40, by_weight_anywhere, 3)


def steps_redrawn():
    """What a step draws does not tell what the next one draws at the same place of the pool."""
    graph = gd.from_edges(*np.divmod(np.arange(25), 5), np.tile([3, 1, 7, 5, 4], 5), num_vertices=5)
    spec = Spec(
        edge_bias=by_weight, depth=2, select="repeated", frontier_size=1, update=lambda e: e.destination,
        neighbor_size=2,
    )  # fmt: skip
    edges = gd.sample.run(graph.partition(1, device="cpu"), spec, np.zeros(4000, int), seed=2)
    first, second = (edges.dst[edges.hop == hop][::2] for hop in (0, 1))
    assert p_of_independence(first, second) > LEAST


def functions_redrawn_in_vain():
    check_functions_redrawn([1, 10**6, 1, 10**6], 3, by_weight)


def rejection():
    check_functions_by_rejection([3, 9, 1, 4, 9], 4, 9, 6)


def instances_of_functions():
    check_instances(drawn_by_spec)


def walks():
    check_function_walks([3, 7, 1, 4, 2], 8)


def walks_by_sums():
    check_function_walks([3, 7, 1, 4, 2], 8, edge_bias=by_weight)


def walks_by_rejection():
    check_function_walks([3, 7, 1, 4, 2], 8, edge_bias=by_weight, edge_bound=7)


def frontier():
    check_frontier(7)


FAMILIES = {
    "neighbors": {
        "a draw modulo": (
            "multiply_high(number, np.uint64(last + 1))", "number % np.uint64(last + 1)", floyd,
        ),
        "a draw modulo, with replacement": (
            f"multiply_high({WORD.format('s')}, np.uint64(degree))", f"{WORD.format('s')} % np.uint64(degree)", floyd,
        ),
        "a draw modulo, of many": (
            f"multiply_high({WORD.format('s')}, np.uint64(last + 1))", f"{WORD.format('s')} % np.uint64(last + 1)",
            floyd_of_many,
        ),
        "what is next to a collided number": (
            "place = begin + last", "place = begin + (places[before] - begin + 1) % (last + 1)", alike("auto"), floyd,
        ),
        "one generator for all instances": (
            "philox(key, instance, step, np.uint64(number >> 1))", "philox(key, _ZERO, step, np.uint64(number >> 1))",
            instances, floyd, fire,
        ),
        "one generator for how many and which": (
            "philox(key, instance, step, np.uint64(number >> 1))",
            "philox(key, instance, _ZERO, np.uint64(number >> 1))", fire,
        ),
        "one generator for all vertices": (
            "hashed(key_0, key_1, np.uint64(vertex))", "hashed(key_0, key_1, _ZERO)", check_vertices, floyd,
        ),
    },
    "reservoir": {
        "a draw modulo": (
            "multiply_high(numbers[place - base], np.uint64(place + 1))",
            "numbers[place - base] % np.uint64(place + 1)", reservoir,
        ),
        "one that never takes the last": (
            "range(base, base + many)", "range(base, base + many - 1)", alike("reservoir"),
        ),
    },
    "keys": {
        "a key of another edge": (
            "exponential_key(numbers[k], biases[k])", "exponential_key(numbers[k - (k & 1)], biases[k])",
            in_order("reservoir", [5, 1, 3, 1, 2]), in_order("functions, by keys", [5, 1, 3, 1, 2]), layer_by_weight,
        ),
    },
    "one_pass": {
        "one key for all edges of a row": (
            "philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)", "philox(of_row, _ZERO, _ZERO, _ZERO)", one_pass,
        ),
        "one generator for all rows": (
            "hashed(key_0, key_1, np.uint64(vertices[row]))", "hashed(key_0, key_1, _ZERO)", one_pass,
        ),
    },
    "successive": {
        "CTPS off by one": (
            "sums[begin + middle] <= number", "sums[begin + middle] < number", in_order("auto"), in_order("bipartite"),
            by_digits,
        ),
        "the last is never drawn": (
            "low, high, number = np.int64(0), degree - 1, np.int64(number)",
            "low, high, number = np.int64(0), max(degree - 2, np.int64(0)), np.int64(number)",
            in_order("auto"), in_order("repeated"), by_digits, in_order("functions, repeated"),
        ),
        "a tree of sums off by one": (
            "a.trees[at + place + step] <= drawn", "a.trees[at + place + step] < drawn", by_digits_of_many,
        ),
        "a collided number among what is left": (
            f"multiply_high({NEXT.format('number')}, left)",
            f"multiply_high({NEXT.format('number - (redraws > 0)')}, left)", by_digits,
            row_of_40,
        ),
        "a collided number for the regions": (
            f"word = {NEXT.format('number + 1')}", f"word = {NEXT.format('number')}", by_digits, in_order("bipartite"),
            functions_redrawn,
        ),
        "a draw modulo for the regions": ("multiply_high(word, total - width)", "word % (total - width)", by_digits),
        "a draw modulo": (
            f"multiply_high({NEXT.format('number')}, total)", f"{NEXT.format('number')} % total", by_digits,
        ),
        "a draw modulo among what is left": (
            f"multiply_high({NEXT.format('number')}, left)", f"{NEXT.format('number')} % left", by_digits,
            functions_redrawn_in_vain,
        ),
        "a draw modulo, of many": (
            f"np.int64(multiply_high({WORD.format('s')}, left))", f"np.int64({WORD.format('s')} % left)",
            by_digits_of_many,
        ),
    },
    "redrawn": {
        "one generator for all instances": (
            "np.uint64(a.instances[g])", "np.uint64(0)", functions_redrawn, in_order("functions, bipartite"),
        ),
        "one generator for all steps": ("np.uint64(a.step)", "np.uint64(0)", steps_redrawn),
        "sums that begin with the next row": (
            "begin = a.bounds[row]", "begin = a.bounds[row + 1]", functions_redrawn,
        ),
    },
    "marked": {
        "a draw modulo": ("multiply_high(word, total)", "word % total", by_digits_with_bits),
        "a draw modulo among what is left": ("multiply_high(word, left)", "word % left", by_digits_with_bits_in_vain),
        "a collided number for the regions": (
            f"word = {WORD.format('number + 1')}", f"word = {WORD.format('number')}", by_digits_with_bits,
        ),
        "bits of other edges": ("_ONE << np.uint32(bit)", "_ONE << np.uint32(bit & 15)", by_digits_with_bits),
    },
    "selection": {
        "a draw modulo": (
            "multiply_high(number, np.uint64(last + 1))", "number % np.uint64(last + 1)", functions_alike,
            functions_of_many,
        ),
        "a draw modulo, with replacement": (
            "multiply_high(number, np.uint64(size))", "number % np.uint64(size)", functions_alike,
        ),
        "a draw modulo by sums": (
            "multiply_high(first, np.uint64(left))", "first % np.uint64(left)", functions_by_sums,
        ),
        "a draw modulo among all": ("multiply_high(first, total)", "first % total", functions_by_looking_at_all),
        "what is next to a collided number": (
            "place = begin + last", "place = begin + (a.chosen[before] - begin + 1) % (last + 1)", alike("functions"),
            functions_alike,
        ),
        "the number of the first draw again": (
            "np.uint64(made)", "_0", in_order("functions"), in_order("functions, all edges looked at"),
        ),
        "CTPS off by one": (
            "digit >= units[p]", "digit > units[p]", in_order("functions, all edges looked at"),
            functions_by_looking_at_all,
        ),
        "kept CTPS off by one": (
            "a.sums[middle] > digit", "a.sums[middle] >= digit", in_order("functions"), functions_by_sums,
        ),
        "one generator for all instances": (
            "np.uint64(a.instances[g])", "_0", instances_of_functions, in_order("functions"), functions_by_sums,
        ),
    },
    "functions": {
        "a draw modulo": ("multiply_high(which, np.uint64(size))", "which % np.uint64(size)", rejection),
        "the number of a trial in vain again": (
            "np.uint64(made * a.trials + trial)", "np.uint64(made * a.trials)", rejection,
        ),
    },
    "functions_walk": {
        "a draw modulo in walks": ("multiply_high(numbers[j], np.uint64(size))", "numbers[j] % np.uint64(size)", walks),
        "a draw modulo in walks by sums": (
            "multiply_high(numbers[j], np.uint64(a.sums[high]))", "numbers[j] % np.uint64(a.sums[high])", walks_by_sums,
        ),
        "a draw modulo in walks by rejection": (
            "multiply_high(drawn, np.uint64(sizes[j]))", "drawn % np.uint64(sizes[j])", walks_by_rejection,
        ),
        "CTPS off by one": ("a.sums[middle] > digit", "a.sums[middle] >= digit", walks_by_sums),
        "one generator for all walks": (
            "philox(of_edge, np.uint64(first + block + j), np.uint64(step), _0)",
            "philox(of_edge, _0, np.uint64(step), _0)", walks, walks_by_sums,
        ),
        "one generator for all steps": (
            "philox(of_edge, np.uint64(first + block + j), np.uint64(step), _0)",
            "philox(of_edge, np.uint64(first + block + j), _0, _0)", walks, walks_by_sums,
        ),
    },
    "walk_ends": {
        "a draw modulo": (
            "multiply_high(word[j], np.uint64(degree[j]))", "word[j] % np.uint64(degree[j])", check_ends,
        ),
        "one generator for all walks": (
            "philox(key, np.uint64(a.instance[i]), np.uint64(a.step[i]), _0)",
            "philox(key, _0, np.uint64(a.step[i]), _0)", check_ends,
        ),
        "one generator for two steps": (
            "philox(key, np.uint64(a.instance[i]), np.uint64(a.step[i]), _0)",
            "philox(key, np.uint64(a.instance[i]), np.uint64(a.step[i] >> 1), _0)", check_ends,
        ),
        "one number for two decisions": ("second >> _1 >= a.stop", "first >> _1 >= a.stop", check_ends),
    },
    "frontier": {
        "a draw modulo": ("multiply_high(first, np.uint64(total))", "first % np.uint64(total)", frontier),
        "CTPS off by one": (
            "multiply_high(first, np.uint64(total))", "multiply_high(first, np.uint64(max(total - 1, 1)))", frontier,
        ),
        "one generator for all instances": (
            "philox(key, np.uint64(instance), np.uint64(step), _0)", "philox(key, _0, np.uint64(step), _0)", frontier,
        ),
        "one generator for all steps": (
            "philox(key, np.uint64(instance), np.uint64(step), _0)", "philox(key, np.uint64(instance), _0, _0)",
            frontier,
        ),
    },
}  # fmt: skip
"""Of each module its mutants, by name: what is right, what stands there instead, and the checks that fail."""


@pytest.fixture(scope="module", params=FAMILIES)
def planted(request, tmp_path_factory):
    wrong = {name: pieces[:2] for name, pieces in FAMILIES[request.param].items()}
    return Mutants(tmp_path_factory.mktemp(request.param), request.param, wrong)


@pytest.mark.slow
def test_wrong_draws_are_noticed(planted):
    for name, (_, _, *checks) in FAMILIES[planted.family].items():
        for check in checks:
            with planted.running(None):
                check()
            with planted.running(name):
                noticed = fails(check)
            assert noticed, f"{name}: {check.__name__} does not notice it"
