"""Copies on a stream of their own: what waits for what, with streams and events that only know when they are done."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from graphdask.stream.copies import CudaCopies

COPY, KERNEL = 10, 7


class Stream:
    """What it is given takes place one after the other."""

    def __init__(self, non_blocking=False):
        self.now = 0

    def wait_event(self, event):
        self.now = max(self.now, event.at)

    def spend(self, time):
        self.now += time
        return self.now - time, self.now

    def synchronize(self):
        pass


class Machine:
    """A device whose copies and kernels leave behind what they did with which place, and when."""

    def __init__(self):
        self.kernels, self.done = Stream(), []
        machine = self

        class Event:
            made = 0
            done = True

            def __init__(self):
                Event.made += 1

            def record(self, stream):
                self.at = stream.now

            def synchronize(self):
                pass

        self.events = Event
        cuda = SimpleNamespace(
            Stream=Stream, Event=Event, get_current_stream=lambda: machine.kernels,
            get_elapsed_time=lambda a, b: 1e3 * (b.at - a.at),
        )  # fmt: skip
        self.xp = SimpleNamespace(cuda=cuda)

    def place(self, number):
        """What copies write to."""
        return SimpleNamespace(set=lambda array, stream: self.done.append(("copy", number, *stream.spend(COPY))))

    def launch(self, number):
        self.done.append(("kernel", number, *self.kernels.spend(KERNEL)))


@pytest.mark.parametrize("settling", [1, 7])
def test_kernels_find_what_was_copied_and_copies_replace_nothing_that_is_read(rng, settling):
    machine = Machine()
    copies = CudaCopies(machine)
    stay, buffers, coming, nothing = [0, 1, 2], [3, 4, 5], [], np.zeros(1)
    for number in stay:
        copies.copy(number, machine.place(number), nothing)
    for turn in range(200):
        replaced = int(rng.integers(0, 20))  # sometimes a place that stays gets something else
        if replaced < len(stay):
            copies.copy(replaced, machine.place(replaced), nothing)
        while buffers:
            coming.append(buffers.pop(0))
            copies.copy(coming[-1], machine.place(coming[-1]), nothing)
        number = int(rng.choice(stay)) if rng.random() < 0.5 else coming.pop(0)
        copies.visit(number)
        machine.launch(number)
        if turn % settling == 0:
            copies.settle()
        copies.visited(number, number in stay)
        buffers += [] if number in stay else [number]
    copies.finish()
    copies.settle()
    for number in range(6):
        of_place = [(what, begin, end) for what, place, begin, end in machine.done if place == number]
        assert {what for what, _, _ in of_place} == {"copy", "kernel"}
        for (_, _, end), (_, begin, _) in pairwise(of_place):
            assert end <= begin
    count = [sum(what == kind for what, *_ in machine.done) for kind in ("copy", "kernel")]
    assert copies.copying == COPY * count[0]
    assert copies.computing >= KERNEL * count[1]


def test_what_stays_is_visited_without_events():
    machine = Machine()
    copies = CudaCopies(machine)
    copies.copy(0, machine.place(0), np.zeros(1))
    for turn in range(50):
        copies.visit(0)
        machine.launch(0)
        copies.visited(0, True)
        if turn % 10 == 9:
            copies.settle()
    assert copies.computing == 50 * KERNEL
    assert machine.events.made < 12
