"""Twin of cuppa.cu: the copy model with waiting queues (cuPPA), and the check of what it made.

What a target is, is defined in copy_model.py: it depends on the seed alone. The schedule decides when it is found. The
vertices after the clique are cut into segments, processed one after the other; vertex number i of a segment belongs to
thread i modulo the number of threads. Phase one: every thread goes once through its vertices and gives each its targets
in order, until one is a copy of a target that is not known yet; then the vertex goes into the thread's waiting queue.
Phase two: passes over the queues, until they are empty. With one segment this is round-robin partitioning (RRP), with
more it is segmented round-robin partitioning (SRRP). A segment as long as `capacity` vertices for each thread never
overflows a queue: the fixed segment size. With `factor` > 1 the next segment is `factor` times longer if so many times
the longest queue would still fit: the dynamic segment size. It begins with one vertex for each thread, since among the
first vertices nearly all depend on each other, and what waits lets more wait.

Here the threads are logical and run in lockstep: in phase one, each at its i-th vertex, they see what was known before
all of them came there; in a pass of phase two they see what was known before the pass. That is the most that can wait.
On a GPU a thread may also find what another has just written, so less waits there, by chance; the targets are the same.

A row of the log describes phase one of a segment, or a pass, by FIRST .. MOST below. An edge "waits" if what it copies
is not known, as the items of the paper's queue; it is "held" if its own draw is known but an earlier edge of its vertex
waits, with which it must be compared.

Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
scale-free networks", Data Science and Engineering 4 (2019), Section 3 (Algorithm 1, Sections 3.2 to 3.4, 5.5).
"""

import numba
import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.generate.copy_model import (
    SCANNED_DEGREE,
    add_target,
    clear_row,
    copy_draw,
    copy_keys,
    copy_target,
    first_free,
    is_free,
    row_table,
)
from graphdask.kernels.generate.cuppa_pack import CopyTargets

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

FIRST, STOP, PASS, VERTICES, WAITING, HELD, FINISHED, MOST = range(8)
"""Columns of the log: the segment's vertices (counted from the first after the clique); 0 for phase one, else the
number of the pass; what it left: waiting vertices, waiting and held edges; the edges that got their target in it; the
most waiting edges of one thread."""
COLUMNS = 8
"""int64 words of a row of the log."""

ARRIVED, LONGEST, PASSES, SEGMENTS = 0, 1, 4, 5
"""Places in `state`: the barrier's count and three votes on the longest queue (GPU only); the rows that a log of any
length would have; segments."""
STATE = 6
"""int64 words of `state`."""

LOGICAL = 1024
"""Threads where the caller leaves the number to the machine."""
WAVE = 128
"""Vertices whose first draws are made together."""

_inlined = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
# A call for every visit takes as long as many a visit of phase one.
_within = numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")


@_inlined
def _look(out, keys, first, stop, known, degree, threshold, seen):
    """Write what the first draw of every edge of vertices first .. stop-1 finds into `seen`: a target, or -1.

    Rows from `known` on are not read. Without a branch on what was drawn, the reads of many edges overlap.
    """
    limit = known * degree
    place = 0
    for vertex in range(first, stop):
        v = vertex + degree
        for slot in range(v * degree, (v + 1) * degree):
            u, k = copy_draw(keys, slot, 0, v, degree, threshold)
            entry = (u - degree) * degree + k
            found = np.int64(out[entry if (k >= 0) & (entry < limit) else 0])
            seen[place] = u if k < 0 else (found if entry < limit else np.int64(-1))
            place += 1


@_within
def _visit_row(out, keys, vertex, edge, seen, known, passing, table, degree, threshold, attempts):
    """Give `vertex` (counted from the clique's end) its targets from `edge` on; return the edge that must wait.

    In phase one `seen` holds what its first draws find, and rows from `known` on count as unknown. In a pass, targets
    are written as -2 - target, which others take for unknown.
    """
    v, row, begun = vertex + degree, vertex * degree, edge if passing else degree
    compared = False
    while edge < degree:
        slot = v * degree + edge
        target = np.int64(-1)
        for attempt in range(attempts):
            if attempt == 0 and not passing:
                candidate = seen[edge]
            else:
                u, k = copy_draw(keys, slot, attempt, v, degree, threshold)
                candidate = u
                if k >= 0:
                    candidate = np.int64(out[(u - degree) * degree + k]) if u - degree < known else np.int64(-1)
            if candidate < 0:
                return edge
            if not compared:  # only now, since most visits of a pass end before
                compared = True
                clear_row(table)
                for entry in range(row, row + edge):
                    add_target(table, np.int64(out[entry]))
            if _is_free(table, out, row, begun, edge, candidate):
                target = candidate
                break
        if target < 0:
            target = _first_free(keys, slot, attempts, v, table, out, row, edge)
        out[row + edge] = -2 - target if passing else target
        add_target(table, target)
        edge += 1
    return edge


@_within
def _visit(out, keys, vertex, edge, seen, known, passing, table, degree, threshold, attempts):
    """`_visit_row`, with a scan of short rows."""
    if degree <= SCANNED_DEGREE:
        return _visit_row(out, keys, vertex, edge, seen, known, passing, None, degree, threshold, attempts)
    return _visit_row(out, keys, vertex, edge, seen, known, passing, table, degree, threshold, attempts)


@_inlined
def _is_free(table, out, row, begun, edge, candidate):
    """`is_free` for a row whose targets from `begun` on, if there are any, are written as -2 - target."""
    if not is_free(table, out, row, edge, candidate):
        return False
    return table is not None or edge <= begun or is_free(None, out, row + begun, edge - begun, -2 - candidate)


@_inlined
def _first_free(keys, slot, attempts, v, table, out, row, taken):
    """`first_free` for a row of which some targets are written as -2 - target."""
    plain = np.empty(taken, np.int64)
    for i in range(taken):
        plain[i] = out[row + i] if out[row + i] >= 0 else -2 - out[row + i]
    return first_free(keys, slot, attempts, v, table, plain, 0, taken)


@_inlined
def _begin_unknown(unknown, slots, counts, out, keys, vertex, place, edge, known, degree, threshold):
    """List what the first draws of the edges after `edge`, at which `vertex` waits, copy that is not known.

    Rows from `known` on count as unknown. Entries of `out` and slots of edges go to row `place` of the lists.
    """
    v, row, count = vertex + degree, place * degree, 0
    for later in range(edge + 1, degree):
        u, k = copy_draw(keys, v * degree + later, 0, v, degree, threshold)
        entry = (u - degree) * degree + k
        if k >= 0 and (u - degree >= known or out[entry] < 0):
            unknown[row + count], slots[row + count] = entry, later
            count += 1
    counts[place] = count


@_inlined
def _still_unknown(unknown, slots, counts, out, place, edge, degree):
    """Keep of a list those after `edge` that are not known yet."""
    row, count = place * degree, 0
    for i in range(row, row + counts[place]):
        if slots[i] > edge and out[unknown[i]] < 0:
            unknown[row + count], slots[row + count] = unknown[i], slots[i]
            count += 1
    counts[place] = count


@_inlined
def _describe(out, keys, queued, edges, lists, first, stop, number, threads, degree, threshold):
    """Return VERTICES, WAITING, HELD and MOST of the vertices that were visited, before others know their targets."""
    unknown, slots, counts = lists
    vertices = waiting = held = 0
    of_thread = np.zeros(min(threads, stop - first), np.int64)
    for i in range(len(queued)):
        vertex, edge = np.int64(queued[i]), np.int64(edges[i])
        if edge < degree:
            place = vertex - first
            thread = place % threads
            if number == 0:
                known = vertex - thread
                _begin_unknown(unknown, slots, counts, out, keys, vertex, place, edge, known, degree, threshold)
            else:
                _still_unknown(unknown, slots, counts, out, place, edge, degree)
            count = 1 + counts[place]
            vertices += 1
            waiting += count
            held += degree - edge - count
            of_thread[thread] += count
    return vertices, waiting, held, of_thread.max()


@_inlined
def _make_known(out, queued, edges, degree):
    """Turn -2 - target into target in the rows of `queued`; keep those that still wait and return their number."""
    left = 0
    for i in range(len(queued)):
        vertex, edge = np.int64(queued[i]), np.int64(edges[i])
        entry = vertex * degree + edge - 1
        while entry >= vertex * degree and out[entry] < 0:  # the last ones of the row, from where this pass began
            out[entry] = -2 - out[entry]
            entry -= 1
        if edge < degree:
            queued[left], edges[left] = vertex, edge
            left += 1
    return left


@twin
def cuppa_targets(n, threads, segment, factor, capacity, rows, a: CopyTargets):
    """Write the targets of vertices degree .. degree+n-1 into `out`, shape (n * degree,), which holds -1 before.

    `threshold` is uint64, p * 2^63; `seed` is uint64. `threads` is their number, 0 for as many as the machine has;
    `segment` a number of vertices, 0 for `capacity` of each thread or, with `factor` > 1, one of each; `capacity`
    counts vertices that fit the queue of one thread. `state` holds STATE zeros; `log`, shape (rows * COLUMNS,), zeros.
    """
    keys, table = copy_keys(a.seed), row_table(a.degree)
    threads = min(threads if threads > 0 else LOGICAL, n)
    size = min(segment if segment > 0 else threads if factor > 1 else capacity * threads, n)
    seen = np.empty(min(WAVE, n) * a.degree, np.int64)
    first = 0
    while first < n:
        stop = min(first + size, n)
        queued, edges = np.empty(stop - first, a.out.dtype), np.empty(stop - first, a.out.dtype)
        listed = stop - first if a.state[PASSES] < rows else 0
        lists = (
            np.empty(listed * a.degree, np.int64),
            np.empty(listed * a.degree, a.out.dtype),
            np.empty(listed, np.int64),
        )
        in_queue = np.zeros(threads, np.int64)
        length = finished = number = 0
        for step in range(first, stop, threads):
            for wave in range(step, min(step + threads, stop), WAVE):
                end = min(wave + WAVE, step + threads, stop)
                _look(a.out, keys, wave, end, step, a.degree, a.threshold, seen)
                for vertex in range(wave, end):
                    row = seen[(vertex - wave) * a.degree :]
                    edge = _visit(a.out, keys, vertex, 0, row, step, False, table, a.degree, a.threshold, a.attempts)
                    finished += edge
                    if edge < a.degree:
                        queued[length], edges[length] = vertex, edge
                        length += 1
                        in_queue[vertex - step] += 1
        longest = in_queue.max()
        while True:
            if listed > 0 and a.state[PASSES] < rows:
                entry = a.log[a.state[PASSES] * COLUMNS : (a.state[PASSES] + 1) * COLUMNS]
                entry[FIRST], entry[STOP], entry[PASS], entry[FINISHED] = first, stop, number, finished
                entry[VERTICES], entry[WAITING], entry[HELD], entry[MOST] = _describe(
                    a.out, keys, queued[:length], edges, lists, first, stop, number, threads, a.degree, a.threshold
                )
            a.state[PASSES] += 1
            if number > 0:
                length = _make_known(a.out, queued[:length], edges, a.degree)
            if length == 0:
                break
            number += 1
            finished = 0
            for i in range(length):
                vertex, edge = np.int64(queued[i]), np.int64(edges[i])
                reached = _visit(
                    a.out, keys, vertex, edge, seen, n, True, table, a.degree, a.threshold, a.attempts
                )  # fmt: skip
                finished += reached - edge
                edges[i] = reached
        a.state[SEGMENTS] += 1
        first = stop
        if factor > 1 and longest * factor <= capacity:
            size = n if size > n // factor else size * factor


@twin
def cuppa_check(n, degree, threshold, seed, attempts, out, first_bad):
    """Lower `first_bad[0]` to the first entry of `out` that is not what its slot draws from the entries before it."""
    keys, table = copy_keys(seed), row_table(degree)
    for v in range(degree, degree + n):
        clear_row(table)
        for edge in range(degree):
            entry = (v - degree) * degree + edge
            if copy_target(keys, v, edge, degree, threshold, attempts, table, out) != out[entry]:
                first_bad[0] = min(first_bad[0], entry)
                return
            add_target(table, np.int64(out[entry]))
