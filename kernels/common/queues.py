"""Queues of walkers by the partition where they stand: twins of queues.cu.

tally     int64, shape (2 * parts + 1,), zeros at first: walkers in each partition, steps of all; then scratch
queue     int64, as long as there are walkers: those of each partition, one partition after the other, in any order

A GPU takes 4 * parts bytes of shared memory to count, and 12 * parts to fill.

Where walkers of a queue have gone on:

queue      int64: their places among all, whose walks, lengths, positions and partitions are changed
path       int32, shape (n, budget): the vertices that each came to, of which `made`, int32, count
target     int32: the vertex that each goes on from elsewhere; -1 where its walk has ended
table      int32: positions by vertex, where these differ (`differ`)
cuts       int64, ascending: the position at which each partition begins
walks      int32, shape (walkers, width): vertices of each
at         int32: positions; of ended walks they stay
tally      int64, shape (parts + 2,), added to: walkers that came to each partition, those that ended, steps of all
"""

from graphdask.kernels.common.queues_pack import QueueEntries
from graphdask.kernels.common.twin import twin

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


@twin
def queues_leave(n, a: QueueEntries):
    """Put down where walkers have been, and where they wait."""
    for i in range(n):
        walker, steps = a.queue[i], a.made[i]
        before = a.lengths[walker] + 1
        for k in range(steps):
            a.walks[walker, before + k] = a.path[i, k]
        a.lengths[walker] += steps
        place = a.parts
        if a.target[i] >= 0:
            position = a.table[a.target[i]] if a.differ else a.target[i]
            low, high = 0, a.parts - 1
            while low < high:
                middle = (low + high + 1) >> 1
                if a.cuts[middle] <= position:
                    low = middle
                else:
                    high = middle - 1
            a.at[walker], place = position, low
        a.places[walker] = place
        a.tally[place] += 1
        a.tally[a.parts + 1] += steps
