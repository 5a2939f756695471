"""Supersteps of a vertex program one after the other in one call, where one rank has the whole graph and messages are
pushed: twins of program_loop.cu.

Lists, messages and bits are those of program.py and program_push.py. When many vertices got a message, they compute
their states in ascending order, so that their rows are read in the order of memory. When the edges of the vertices that
send are PULLED / 4 of all, and rows are those of both directions (`active` is there), each vertex goes over its row
instead: it keeps its messages in registers, and stops when no other message changes them, as none does of those that
are sent after the least of all. Ways to combine that are pushed come to the same bits in any order.

Source: Beamer et al., Direction-optimizing breadth-first search, SC 2012.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit, u64
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.program.program_default import (
    MACROS,
    apply,
    bound,
    clear_sums,
    fails,
    host_looks,
    merge,
    message,
    nothing,
    push,
    put,
    settled,
    value_of,
)
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.

MANY = 16
"""One of so many vertices got a message: they are visited in ascending order."""
PULLED = 3
"""Of four edges, from which on vertices pull."""
ENOUGH = 1 << 22
"""Edges along which messages are sent in a call, after which the host checks its deadline."""


@inlined
def _renewed(marked, a: Program):
    """Compute the states of the vertices with messages, and free their places; return how many changed."""
    if marked * MANY > a.owned:
        marked = u64(0)
        for word in range(u64(len(a.marks))):
            bits, v = u64(a.marks[word]), word << u64(5)
            while bits:
                if bits & u64(1):
                    a.marked[marked] = v
                    marked += u64(1)
                bits >>= u64(1)
                v += u64(1)
    changed, none = u64(0), nothing()
    for i in range(u64(marked)):
        v = u64(a.marked[i])
        if apply(v, a):
            a.changed[changed] = v
            changed += u64(1)
        put(v, none, a)
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
def _pushed(count, everywhere, a: Program):
    """Send along the edges of the vertices that are listed, or of all; return how many got a message."""
    marked = u64(0)
    for i in range(u64(count)):
        u = i if everywhere else u64(a.changed[i])
        _value(u, a)
        for e in range(u64(a.indptr[u]), u64(a.indptr[u + u64(1)])):
            v = u64(a.indices[e])
            given, sent = message(u, v, e, a)
            if given and push(v, sent, a) and not has_bit(a.marks, v):
                set_bit(a.marks, v)
                a.received[v] = max(a.received[v], 1)
                a.marked[marked] = v
                marked += u64(1)
    return np.int64(marked)


@inlined
def _pulled(count, everywhere, a: Program):
    """Combine along the row of each vertex what the vertices send that are listed, or all."""
    marked, most = u64(0), nothing()
    for i in range(u64(count)):
        u = i if everywhere else u64(a.changed[i])
        if _value(u, a):
            most = bound(u, most, a)
        set_bit(a.active, u)
    for v in range(u64(a.owned)):
        held, got = nothing(), 0
        for e in range(u64(a.indptr[v]), u64(a.indptr[v + u64(1)])):
            u = u64(a.indices[e])
            if has_bit(a.active, u):
                given, sent = message(u, v, e, a)
                if given:
                    held = merge(held, sent)
                    got += 1
                    if settled(held, most):
                        break
        if got:
            put(v, held, a)
            a.received[v] = got
            set_bit(a.marks, v)
            a.marked[marked] = v
            marked += u64(1)
    a.active[:] = 0
    return np.int64(marked)


@inlined
def _sent(count, everywhere, a: Program):
    """Send from `count` vertices, those that are listed or all; return how many got a message, the edges, and whether
    these were pulled along."""
    edges = np.int64(0)
    if everywhere:
        edges = np.int64(a.indptr[a.owned])
    else:
        for i in range(u64(count)):
            u = u64(a.changed[i])
            edges += a.indptr[u + u64(1)] - a.indptr[u]
    pulls = False
    if a.active is not None:
        pulls = edges > 0 and edges * 4 >= a.indptr[a.owned] * PULLED
        if pulls:
            marked = _pulled(count, everywhere, a)
    if not pulls:
        marked = _pushed(count, everywhere, a)
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
    while True:
        step = given.superstep + done
        if not begins:
            if looks or fails(given) or done >= steps or edges >= ENOUGH:
                break
            clear_sums(given)
            count = _renewed(marked, Program(given, failure=given.failure_to_apply, superstep=step))
            done, marked = done + 1, 0
            if count == 0:
                break
            looks = host_looks(count, given.superstep + done, given)
        step, everywhere = given.superstep + done, begins and given.everywhere != 0
        marked, sent, pulled = _sent(count, everywhere, Program(given, failure=given.failure_to_send, superstep=step))
        begins, visited, edges = False, visited + count, edges + sent
        if pulled:
            pulls += 1
        else:
            pushes += 1
    given.counters.changed, given.counters.marked, given.counters.sent = max(count, 0), marked, edges
    given.progress.steps, given.progress.visited = done, visited
    given.progress.pushes, given.progress.pulls = pushes, pulls
