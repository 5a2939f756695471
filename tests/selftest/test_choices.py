"""Cases are lists of choices: the same list is the same case, and a list that fails is made small."""

from __future__ import annotations

import pytest

from graphdask.selftest.choices import Choices, drawing
from graphdask.selftest.damage import damaged
from graphdask.selftest.shrinking import smallest


def case(choices: Choices) -> tuple[int, ...]:
    return tuple(choices.below(1 + 10 * k) for k in range(choices.below(9)))


def test_a_case_is_a_function_of_target_seed_and_number():
    def drawn(*key):
        return case(Choices(rng=drawing(*key)))

    assert drawn("readers", 1, 7) == drawn("readers", 1, 7)
    others = {drawn("readers", seed, number) for seed in range(20) for number in range(20)}
    assert len(others) > 200
    assert any(drawn("readers", 1, number) != drawn("programs", 1, number) for number in range(5))


def test_the_choices_that_were_taken_are_the_case():
    for number in range(50):
        choices = Choices(rng=drawing("any", 3, number))
        drawn = case(choices)
        again = Choices(choices.taken)
        assert case(again) == drawn
        assert again.taken == choices.taken


def test_given_choices_are_below_their_bounds_and_end_in_zeros():
    choices = Choices([12, 5])
    assert [choices.below(10), choices.below(3), choices.below(9), choices.among("ab"), choices.one_in(2)] == [
        2, 2, 0, "a", False,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_failing_list_is_made_as_small_as_it_can_be(seed):
    rng = drawing("list", seed, 0)
    first = [rng.randrange(1000) for _ in range(40)] + [900, 800]

    def fails(values):
        return list(values) if sum(value >= 500 for value in values) >= 2 else None

    assert smallest(first, fails, 60.0) == [500, 500]


def test_making_small_ends_after_its_time_or_tries():
    assert smallest([5, 5, 5], list, 0.0) == [5, 5, 5]
    tried = []

    def fails(values):
        tried.append(values)
        return None

    assert smallest([5, 5, 5], fails, 60.0, tries=4) == [5, 5, 5]
    assert len(tried) == 4


def test_damage_is_a_function_of_the_choices():
    data = b"# a\n1 2\n3 4\n10 20 0.5\n"
    for number in range(300):
        choices = Choices(rng=drawing("damage", 0, number))
        found = damaged(data, choices, number % 2 == 0)
        assert damaged(data, Choices(choices.taken), number % 2 == 0) == found
    assert damaged(b"", Choices([0] * 9), True) == b""
