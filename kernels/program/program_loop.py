"""Supersteps of a vertex program one after the other in one call, where one rank has the whole graph and messages are
pushed: twins of program_loop.cu.

Lists, messages and bits are those of program.py and program_push.py. When many vertices got a message, they compute
their states in ascending order, so that their rows are read in the order of memory. When the edges of the vertices that
send are PULLED / 4 of all, and rows are those of both directions (`active` is there), each vertex goes over its row
instead: it keeps its messages in registers, and stops when no other message changes them, as none does of those that
are sent after the least of all. Ways to combine that are pushed come to the same bits in any order.

Where the states that a run ends with do not depend on the order in which vertices send (`waits` is there), the best of
those that changed send first (program_buckets.py).

Source: Beamer et al., Direction-optimizing breadth-first search, SC 2012.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.program.program_ahead import fetch_changed, has_all
from graphdask.kernels.program.program_buckets import near_ones, next_bucket
from graphdask.kernels.program.program_default import (
    KEEPS,
    MACROS,
    apply,
    bound,
    clear_sums,
    fails,
    free,
    host_looks,
    lowers,
    merge,
    message,
    nothing,
    push,
    put,
    settled,
    spared,
    value_of,
)
from graphdask.kernels.program.program_length import MANY, ascending
from graphdask.kernels.program.program_pack import BUCKET_EDGES, BUCKET_WIDTH, Program

__all__ = ["MACROS"]

# The functions of the caller stand here.

PULLED = 3
"""Of four edges that vertices would pull along, from which on they do."""
WEIGHED = 16
"""One of so many edges is of a vertex that sends: from then on it is worked out how many vertices would pull along."""
FEW = 1024
"""Edges that are scanned before the messages that lower what vertices keep are sent along them (program_push.py)."""
ENOUGH = 1 << 22
"""Edges along which messages are sent in a call, after which the host checks its deadline."""


@inlined
def _renewed(marked, a: Program):
    """Compute the states of the vertices with messages, and free their places; return how many changed."""
    if marked * MANY > a.owned:
        marked = ascending(a)
    changed = u64(0)
    for i in range(u64(marked)):
        v = u64(a.marked[i])
        if apply(v, a):
            a.changed[changed] = v
            changed += u64(1)
        put(v, free(v, a), a)
        a.received[v] = 0
        a.marks[v >> u64(5)] = 0  # those of other vertices that are listed, too
    return np.int64(changed)


@inlined
def _value(u, a: Program):
    """Write what a vertex sends, where that is the same along all of its edges; return whether it sends that."""
    gives = False
    if a.row_ends is not None:
        gives = a.row_ends[u + u64(1)] > a.row_ends[u] and value_of(u, a)
        if a.sends is not None and gives:
            set_bit(a.sends, u)
    return gives


@inlined
def _pushed(count, everywhere, slots, offered, a: Program):
    """Send along the edges of the vertices that are listed, or of all; return how many got a message."""
    marked = u64(0)
    for i in range(u64(count)):
        u = i if everywhere else u64(a.changed[i])
        if not everywhere:
            fetch_changed(i, u64(count), a)
        _value(u, a)
        if KEEPS and a.active is not None:
            set_bit(a.active, u)
        first, end = u64(a.indptr[u]), u64(a.indptr[u + u64(1)])
        if KEEPS:
            while first < end:
                stop, some = min(first + u64(FEW), end), u64(0)
                for e in range(first, stop):
                    v = u64(a.indices[e])
                    given, sent = message(u, v, e, a)
                    slots[some], offered[some] = v, sent[0]
                    some += u64(given & lowers(v, sent, a))
                first = stop
                for k in range(some):
                    v = u64(slots[k])
                    if push(v, (offered[k],), a) and not has_bit(a.marks, v):
                        set_bit(a.marks, v)
                        a.received[v] = 1
                        a.marked[marked] = v
                        marked += u64(1)
        else:
            for e in range(first, end):
                v = u64(a.indices[e])
                given, sent = message(u, v, e, a)
                if given and push(v, sent, a) and not has_bit(a.marks, v):
                    set_bit(a.marks, v)
                    a.received[v] = max(a.received[v], 1)
                    a.marked[marked] = v
                    marked += u64(1)
    return np.int64(marked)


@inlined
def _most(count, everywhere, a: Program):
    """Write what the vertices send that are listed, or all; return what none of it is beyond."""
    most = nothing()
    for i in range(u64(count)):
        u = i if everywhere else u64(a.changed[i])
        if _value(u, a):
            most = bound(u, most, a)
    return most


@inlined
def _open(most, a: Program):
    """How many vertices there are for which messages may matter, and their edges."""
    vertices, edges = np.int64(0), np.int64(0)
    for v in range(u64(a.owned)):
        spares = spared(v, most, a)
        vertices += 0 if spares else 1
        edges += 0 if spares else a.indptr[v + u64(1)] - a.indptr[v]
    return vertices, edges


@inlined
def _pulled(count, everywhere, most, a: Program):
    """Combine along the row of each vertex what the vertices send that are listed, or all.

    With KEEPS also what vertices have sent before, which changes nothing: a processor cannot predict who sends again.
    """
    marked = u64(0)
    for i in range(u64(count)):
        set_bit(a.active, i if everywhere else u64(a.changed[i]))
    every = has_all(a.active, a.owned)
    for v in range(u64(a.owned)):
        if spared(v, most, a):
            continue
        held, got = free(v, a), 0
        for e in range(u64(a.indptr[v]), u64(a.indptr[v + u64(1)])):
            u = u64(a.indices[e])
            if every or has_bit(a.active, u):
                given, sent = message(u, v, e, a)
                if KEEPS:
                    got += given & lowers(v, sent, a)
                    held = merge(held, sent) if given else held
                elif given:
                    held = merge(held, sent)
                    got += 1
                if given and settled(held, most):
                    break
        if got:
            put(v, held, a)
            a.received[v] = got
            set_bit(a.marks, v)
            a.marked[marked] = v
            marked += u64(1)
    if not KEEPS:
        a.active[:] = 0
    return np.int64(marked)


@inlined
def _sent(count, everywhere, slots, offered, a: Program):
    """Send from `count` vertices, those that are listed or all; return how many got a message, the edges, and whether
    these were pulled along."""
    edges = np.int64(0)
    if everywhere:
        edges = np.int64(a.indptr[a.owned])
    else:
        for i in range(u64(count)):
            u = u64(a.changed[i])
            edges += a.indptr[u + u64(1)] - a.indptr[u]
    pulls, most = False, nothing()
    if a.active is not None:
        if edges > 0 and edges * WEIGHED >= a.indptr[a.owned]:
            most = _most(count, everywhere, a)
            vertices, open_edges = _open(most, a)
            pulls = edges * 4 >= open_edges * PULLED
            if a.waits is not None and a.bucket[BUCKET_WIDTH] == 0.0 and settled(most, most):
                pulls = pulls or edges * (edges / a.indptr[a.owned]) >= vertices  # the first sender ends a row
        if pulls:
            marked = _pulled(count, everywhere, most, a)
    if not pulls:
        marked = _pushed(count, everywhere, slots, offered, a)
    if a.sends is not None:
        if count * MANY > a.owned:
            a.sends[:] = 0
        else:
            for i in range(u64(count)):
                a.sends[(i if everywhere else u64(a.changed[i])) >> u64(5)] = 0
    return marked, edges, pulls


@twin
def program_loop(n, first, steps, given: Program):
    """At most `steps` supersteps. It begins with `first` vertices that send; if that is negative, with messages that
    came."""
    done, edges, count, marked = 0, np.int64(0), first, given.counters.marked
    visited, begins, looks, pushes, pulls = 0, first >= 0, False, 0, 0
    slots, offered = np.empty(FEW, given.indices.dtype), np.empty(FEW, given.message0.dtype)
    while True:
        step = given.superstep + done
        if not begins:
            if looks or fails(given) or done >= steps or edges >= ENOUGH:
                break
            clear_sums(given)
            count = _renewed(marked, Program(given, failure=given.failure_to_apply, superstep=step))
            done, marked = done + 1, 0
            if given.waits is not None:
                count = near_ones(count, given)
                if count == 0:
                    count = next_bucket(given)
            if count == 0:
                break
            looks = host_looks(count, given.superstep + done, given)
        step, everywhere = given.superstep + done, begins and given.everywhere != 0
        if given.waits is not None and begins:
            count = next_bucket(given)
        marked, sent, pulled = _sent(
            count, everywhere, slots, offered, Program(given, failure=given.failure_to_send, superstep=step)
        )
        begins, visited, edges = False, visited + count, edges + sent
        if given.waits is not None:
            given.bucket[BUCKET_EDGES] += sent
        if pulled:
            pulls += 1
        else:
            pushes += 1
    given.counters.changed, given.counters.marked, given.counters.sent = max(count, 0), marked, edges
    given.progress.steps, given.progress.visited = done, visited
    given.progress.pushes, given.progress.pulls = pushes, pulls
