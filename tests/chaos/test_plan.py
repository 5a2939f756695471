"""Drills are drawn from a seed: the same seed and number are the same case, and one that fails is made simple."""

from __future__ import annotations

import pytest

from graphdask.chaos.operations import GRAPHS, OPERATIONS
from graphdask.chaos.plan import DIVISIONS, FAULTS, TRANSPORTS, Plan, drawn, simpler
from graphdask.selftest.choices import Choices, drawing
from graphdask.selftest.shrinking import smallest


def case(choices: Choices) -> Plan:
    return drawn(choices, tuple(OPERATIONS), tuple(GRAPHS))


def of(seed: int, number: int) -> Plan:
    return case(Choices(rng=drawing("chaos", seed, number)))


def test_a_case_is_a_function_of_seed_and_number():
    cases = [of(1, number) for number in range(50)]
    assert cases == [of(1, number) for number in range(50)]
    assert len(set(cases)) == 50
    assert cases != [of(2, number) for number in range(50)]


def test_the_choices_of_a_case_repeat_it():
    for number in range(50):
        choices = Choices(rng=drawing("chaos", 3, number))
        assert case(choices) == case(Choices(choices.taken))


def test_everything_is_drawn():
    cases = [of(5, number) for number in range(400)]
    steps = [step for each in cases for step in each.steps]
    assert {each.workers for each in cases} == {1, 2, 3, 4}
    assert {each.transport for each in cases} <= set(TRANSPORTS)
    assert {"tcp", "shm"} <= {each.transport for each in cases}
    assert {step.operation for step in steps} == set(OPERATIONS)
    assert {step.graph for step in steps} == set(GRAPHS)
    assert {step.division for step in steps} == set(DIVISIONS)
    assert {step.fault for step in steps} == set(FAULTS)
    assert min(step.moment for step in steps) == 0.0
    assert max(step.moment for step in steps) == 2.0


def test_an_only_worker_is_not_stopped_for_good():
    """No call could be answered until it goes on."""
    cases = [of(5, number) for number in range(400)]
    alone = {step.fault for each in cases if each.workers == 1 for step in each.steps}
    assert "worker paused" in alone
    assert "worker stopped" not in alone


def test_no_step_follows_the_end_of_a_scheduler():
    cases = [of(5, number) for number in range(200)]
    assert not any(step.scheduler for each in cases for step in each.steps[:-1])
    assert any(each.steps[-1].scheduler for each in cases)


def test_without_ucx_its_cases_use_tcp(host):
    host.without("ucxx")
    assert case(Choices([TRANSPORTS.index("ucx")])).transport == "tcp"


def test_a_case_says_what_it_is():
    said = str(case(Choices([1, 2, 0, 3, 1, 3, 1, 1, 0, 10])))
    assert said == (
        "shm, 3 workers; pagerank of a new attachment graph by metis with all ghosts: worker killed at 0.5 of its time"
    )


@pytest.mark.parametrize("number", range(20))
def test_a_case_that_fails_is_made_simple(number):
    """Where any step of a set of operations with a fault of workers fails, one such step is left, and all else is 0."""
    rng = drawing("chaos", 9, number)
    choices = Choices(rng=rng)
    planned = case(choices)
    last = planned.steps[-1]

    def fails(candidate: list[int]) -> list[int] | None:
        tried = Choices(candidate)
        found = case(tried)
        return tried.taken if any((s.operation, s.fault) == (last.operation, last.fault) for s in found.steps) else None

    found = smallest(choices.taken, fails, 60.0, tries=60, simpler=simpler)
    operation, fault = list(OPERATIONS).index(last.operation), FAULTS.index(last.fault)
    assert found == [0, 0, 0, operation, 0, 0, 0, fault, 0, 0]


def test_simpler_cases_are_of_one_step_first():
    choices = [2, 3, 2, *range(1, 8), *range(11, 18), *range(21, 28)]
    tried = list(simpler(choices))
    assert tried[0] == [2, 3, 0, *range(21, 28)]
    assert tried[3] == [2, 3, 1, *range(11, 18), *range(21, 28)]
    assert all(len(each) <= len(choices) for each in tried)
    assert all(len(each) == 3 + 7 * (each[2] + 1) for each in tried)
    assert not list(simpler([0] * 10))
