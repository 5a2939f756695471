"""A wait is late after seconds without work, not after seconds."""

from __future__ import annotations

import pytest

from graphdask.chaos import patience
from graphdask.chaos.patience import Patience
from graphdask.selftest.cases import Wrong


class Machine:
    """A clock, and processes that use a share of a processor."""

    def __init__(self, clock):
        self.clock, self.used = clock, 0.0

    def passes(self, seconds: float, share: float) -> None:
        self.clock.now += seconds
        self.used += seconds * share


@pytest.fixture
def machine(host) -> Machine:
    return Machine(host.clock(patience))


def test_idle_processes_are_late_after_the_time(machine):
    waits = Patience(30.0, lambda: machine.used)
    for _ in range(5):
        machine.passes(5.0, 0.05)
        assert not waits.late
    machine.passes(5.0, 0.05)
    assert waits.late


def test_processes_at_work_are_late_after_six_times_as_long(machine):
    waits = Patience(30.0, lambda: machine.used)
    for _ in range(35):
        machine.passes(5.0, 0.9)
        assert not waits.late
    machine.passes(5.0, 0.9)
    assert waits.late


def test_work_in_between_begins_the_time_anew(machine):
    waits = Patience(30.0, lambda: machine.used)
    for share in (0.0, 0.0, 0.0, 0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0):
        machine.passes(5.0, share)
        assert not waits.late
    machine.passes(5.0, 0.0)
    assert waits.late


def test_processes_that_end_are_work(machine):
    waits = Patience(10.0, lambda: machine.used)
    machine.used = -3.0
    machine.passes(5.0, 0.0)
    machine.passes(5.0, 0.0)
    assert not waits.late


def test_what_does_not_come_is_wrong(machine):
    waits = Patience(20.0, lambda: machine.used)
    waits.until(lambda: True, "it came")
    with pytest.raises(Wrong, match=r"it did not come: nothing, after 20 s"):
        waits.until(lambda: False, "it did not come", lambda: "nothing")
