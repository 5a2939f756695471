"""Queues of walkers by the partition where they stand: twins of queues.cu.

places    int32, for each walker: its partition; `parts` where its walk has ended
lengths   int32: steps that each has made
tally     int64, shape (2 * parts + 1,), zeros at first: walkers in each partition, steps of all; then scratch
queue     int64, as long as there are walkers: those of each partition, one partition after the other, in any order

A GPU takes 4 * parts bytes of shared memory to count, and 12 * parts to fill.
"""

from graphdask.kernels.twin import twin

MACROS = [{}]
TILE = 8
"""Walkers that a thread of a GPU takes at a time to fill queues."""


@twin
def queues_count(n, places, lengths, parts, tally):
    """How many walkers stand in each partition, and how many steps all have made."""
    for i in range(n):
        if places[i] < parts:
            tally[places[i]] += 1
        tally[parts] += lengths[i]


@twin
def queues_fill(n, places, parts, tally, queue):
    """Put walkers into the queues of their partitions, after they have been counted."""
    before = 0
    for part in range(parts):
        tally[parts + 1 + part] = before
        before += tally[part]
    for i in range(n):
        if places[i] < parts:
            head = parts + 1 + places[i]
            queue[tally[head]] = i
            tally[head] += 1
