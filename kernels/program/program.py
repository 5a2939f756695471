"""Supersteps of a vertex program, with functions of the caller in them: twins of program.cu.

program_default.py says which functions these kernels call, and what they do where no caller has given any:
graphdask.program.glue writes them for a program. Messages to a vertex are combined over its row in the order of ids, as
eight lanes do (kernels/common/lanes.py): the order of additions depends on nothing but the row. Other ways to combine
do not depend on the order.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.ordered import of_ordered
from graphdask.kernels.common.tuning import ROW_CHUNK as CHUNK
from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.exact import exact_value
from graphdask.kernels.program.program_default import (
    MACROS,
    apply,
    begin,
    fails,
    free,
    got,
    host_looks,
    merge,
    message,
    nothing,
    put,
    value_of,
)
from graphdask.kernels.program.program_length import MANY, ascending, length
from graphdask.kernels.program.program_pack import (
    ANY,
    BINS,
    KIND_BITS,
    LEAST,
    LEAST_FLOAT,
    MARKED,
    MOST,
    MOST_FLOAT,
    SUM,
    Program,
)

__all__ = ["MACROS"]

# The functions of the caller stand here.


@twin
def program_begin(n, field, a: Program):
    """The field of the state with this number, which a function of the vertex gives."""
    for v in range(n):
        begin(v, field, a)


@twin
def program_values(n, a: Program):
    """What each vertex sends, where that is the same along all of its edges."""
    for i in range(length(n, a)):
        v = u64(i if a.listed is None else a.listed[i])
        edges = a.row_ends[v + u64(1)] - a.row_ends[v]
        if a.other_ends is not None:
            edges += a.other_ends[v + u64(1)] - a.other_ends[v]
        if edges > 0 and value_of(v, a) and a.sends is not None:
            set_bit(a.sends, v)
        if a.x is not None:
            a.x[a.place[v]] = a.value0[v]


@twin
def program_gather(n, a: Program):
    """Combine the messages along the edges of each row."""
    for i in range(n):
        v = i + a.first if a.listed is None else a.listed[i]
        row = v - a.first
        held, count = nothing(), 0
        if a.merges:
            held, count = got(v, a), a.received[v]
        for e in range(a.indptr[row], a.indptr[row + 1]):
            u = a.indices[e]
            if a.everywhere or has_bit(a.active, u):
                given, sent = message(u, v, e, a)
                if given:
                    held = merge(held, sent)
                    count += 1
        put(v, held, a)
        a.received[v] = count


@twin
def program_sum(n, a: Program):
    """The same where messages are added up as floats."""
    for i in range(n):
        v = i + a.first if a.listed is None else a.listed[i]
        row = v - a.first
        count, chunk = 0, 0
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = nothing()
        first, last = a.indptr[row], a.indptr[row + 1]
        for head in range(first, last, CHUNK):
            t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = nothing()
            for e in range(head, min(head + CHUNK, last)):
                u = a.indices[e]
                if not a.everywhere and not has_bit(a.active, u):
                    continue
                given, sent = message(u, v, e, a)
                if not given:
                    continue
                count += 1
                lane = (e - head) & 7
                if lane == 0:
                    t0 = merge(t0, sent)
                elif lane == 1:
                    t1 = merge(t1, sent)
                elif lane == 2:
                    t2 = merge(t2, sent)
                elif lane == 3:
                    t3 = merge(t3, sent)
                elif lane == 4:
                    t4 = merge(t4, sent)
                elif lane == 5:
                    t5 = merge(t5, sent)
                elif lane == 6:
                    t6 = merge(t6, sent)
                else:
                    t7 = merge(t7, sent)
            whole = merge(merge(merge(t0, t4), merge(t2, t6)), merge(merge(t1, t5), merge(t3, t7)))
            lane = chunk & 7
            chunk += 1
            if lane == 0:
                s0 = merge(s0, whole)
            elif lane == 1:
                s1 = merge(s1, whole)
            elif lane == 2:
                s2 = merge(s2, whole)
            elif lane == 3:
                s3 = merge(s3, whole)
            elif lane == 4:
                s4 = merge(s4, whole)
            elif lane == 5:
                s5 = merge(s5, whole)
            elif lane == 6:
                s6 = merge(s6, whole)
            else:
                s7 = merge(s7, whole)
        held = merge(merge(merge(s0, s4), merge(s2, s6)), merge(merge(s1, s5), merge(s3, s7)))
        if a.merges:
            held, count = merge(got(v, a), held), count + a.received[v]
        put(v, held, a)
        a.received[v] = count


@twin
def program_apply(n, a: Program):
    """New states of own vertices, all or those that got a message; list those that differ."""
    changed = a.counters.changed
    if a.marks is not None and a.limit == MARKED and a.counters.marked * MANY > a.owned:
        ascending(a)
    for i in range(length(n, a)):
        v = u64(i if a.listed is None else a.listed[i])
        if (a.everyone or a.received[v] > 0) and apply(v, a):
            if not a.everyone:  # else all send again
                a.changed[changed] = v
            changed += 1
    a.counters.changed = changed


@twin
def program_between(n, aggregates, functions, kinds, failures, values, a: Program):
    """Put the values of the aggregates where functions read them, and clear their words; note a function that failed,
    the first one in their order, unless one had failed before.

    On a GPU this comes between two supersteps that follow each other without the host.
    """
    for k in range(aggregates):
        kind, first = kinds >> (KIND_BITS * k) & ((1 << KIND_BITS) - 1), a.sums[k * BINS]
        if kind == SUM:
            values[k] = np.float64(exact_value(a.sums, k)).view(np.int64)
        elif kind == LEAST:
            values[k] = first
        elif kind == MOST:
            values[k] = ~first
        elif kind == LEAST_FLOAT:
            values[k] = np.float64(of_ordered(first, np.inf)).view(np.int64)
        elif kind == MOST_FLOAT:
            values[k] = np.float64(of_ordered(~first, -np.inf)).view(np.int64)
        else:
            count = first + (a.sums[k * BINS + 1] << 32)
            values[k] = np.int64(count > 0) if kind == ANY else count
        for i in range(k * BINS, (k + 1) * BINS):
            a.sums[i] = 0
        if kind >= LEAST:
            a.sums[k * BINS] = 0x7FFFFFFFFFFFFFFF
    a.counters.changed = 0
    for f in range(functions):
        if a.progress.failed == 0 and failures[f] != 0:
            a.progress.failed = f + 1
            a.progress.failure = failures[f]


@twin
def program_judge(n, superstep, a: Program):
    """Write the values of the aggregates, and whether the run goes on after so many supersteps."""
    looks = host_looks(a.counters.changed, superstep, a)
    a.progress.goes = not (looks or fails(a))


@twin
def program_clear(n, a: Program):
    """Free the places of messages for the next superstep."""
    for i in range(length(n, a)):
        v = u64(a.listed[i])
        put(v, free(v, a), a)
        a.received[v] = 0
        a.marks[v >> u64(5)] &= ~(np.uint32(1) << np.uint32(v & u64(31)))
