"""The sequential references: the copy model (SCM) and the Barabasi-Albert model (SBA), one vertex after the other.

In both, vertices 0 .. degree-1 are a clique and every later vertex v has `degree` distinct targets F_0(v) ..
F_{degree-1}(v): F_l(v) is the candidate of the first attempt a = 0, 1, 2, ... that is not among F_0(v) .. F_{l-1}(v).
Attempt a of slot e = v*degree + l draws for the number x = e where a = 0, else x = hash(AGAIN; e) + a * GOLDEN modulo
2^64.

Copy model: the hash of x, read as a fraction, gives the digits u in [0, v), k in [0, degree) and the coin; from v =
FAR on, k and the coin come from a second hash of x. The candidate is u if u < degree or the coin says "direct", else
F_k(u).
Barabasi-Albert: the digit in [0, 2m) of the hash of x, where the m edges are those of the vertices before v, picks an
end of an edge from the list of all ends; the candidate is that vertex. For v = degree it is the digit in [0, degree).

An attempt of the copy model finds a free vertex with probability 1/degree at least, since this chance is linear in p,
and the degree-1 vertices taken leave one of the degree targets of any row and one of the clique (p = 0), and v-degree+1
of all v vertices (p = 1). Of Barabasi-Albert it is 1/(2 degree), as a row brings degree distinct targets and degree
times its own vertex into the list. After `attempts` attempts, 64 or 128 times the degree, which all fail with a chance
below e^-64, the target is the first free vertex of s, s+1, ... modulo v, where s is the digit in [0, v) that attempt
number `attempts` draws.

`out` holds the rows of the vertices from `degree` on, `degree` entries each. A scan finds whether a candidate is in a
row of up to SCANNED_DEGREE targets, a hash table in longer ones: a draw costs the same for every degree.

Sources: R. Kumar et al., "Stochastic models for the web graph", FOCS 2000 (copy model); V. Batagelj, U. Brandes,
"Efficient generation of large random networks", Physical Review E 71 (2005), Algorithm 5; M. Alam, K. Perumalla,
P. Sanders, Data Science and Engineering 4 (2019), Sections 2.3 and 2.4.
"""

import numba
import numpy as np

from graphdask.kernels.common.hash import (
    DRAW_AGAIN,
    DRAW_ENDPOINT,
    DRAW_FRACTION,
    DRAW_TARGET,
    GOLDEN,
    hashed,
    key,
    multiply_high,
)
from graphdask.kernels.common.tuning import FAR_VERTEX as FAR
from graphdask.kernels.common.twin import twin

_0, _1 = np.uint64(0), np.uint64(1)

SCANNED_DEGREE = 16
"""Longest rows that are scanned for a candidate: 64 bytes, a cache line, of 32-bit ids."""

_inlined = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
# A call of the loop over the attempts for every slot costs a third of the time.
_within = numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")


@_inlined
def copy_keys(seed):
    return (
        key(seed, DRAW_TARGET, 0),
        key(seed, DRAW_TARGET, 1),
        key(seed, DRAW_FRACTION, 0),
        key(seed, DRAW_FRACTION, 1),
        key(seed, DRAW_AGAIN, 0),
        key(seed, DRAW_AGAIN, 1),
    )


@_inlined
def endpoint_keys(seed):
    return (
        key(seed, DRAW_ENDPOINT, 0),
        key(seed, DRAW_ENDPOINT, 1),
        _0,
        _0,
        key(seed, DRAW_AGAIN, 0),
        key(seed, DRAW_AGAIN, 1),
    )


@_inlined
def number_drawn(keys, slot, attempt):
    """What attempt `attempt` of a slot draws for."""
    if attempt == 0:
        return np.uint64(slot)
    return hashed(keys[4], keys[5], np.uint64(slot)) + np.uint64(attempt) * GOLDEN


@_inlined
def copy_draw(keys, slot, attempt, v, degree, threshold):
    """The vertex u and the slot k of one attempt; k is -1 where the candidate is u itself."""
    x = number_drawn(keys, slot, attempt)
    fraction = hashed(keys[0], keys[1], x)
    u = np.int64(multiply_high(fraction, np.uint64(v)))
    if v < FAR:
        fraction *= np.uint64(v)
    else:
        fraction = hashed(keys[2], keys[3], x)
    k = np.int64(multiply_high(fraction, np.uint64(degree)))
    fraction *= np.uint64(degree)
    if u < degree or (fraction >> _1) < threshold:
        k = np.int64(-1)
    return u, k


@_inlined
def row_table(degree):
    """A table for the targets of one row at a time, which `clear_row` empties: its generation, then for each place of
    a power of two the generation that wrote it and a target. Rows that are scanned have None in its place, which Numba
    compiles apart."""
    places = np.int64(1)
    while places < 2 * degree:
        places *= 2
    return np.zeros(1 + 2 * places, np.int64)


@_inlined
def clear_row(table):
    if table is not None:
        table[0] += 1


@_inlined
def add_target(table, target):
    """Put a target that is free into the table of its row."""
    if table is not None:
        at = _first_place(table, target)
        while table[at] == table[0]:
            at = _next_place(table, at)
        table[at], table[at + 1] = table[0], target


@_inlined
def is_free(table, out, row, taken, candidate):
    """Whether none of the first `taken` targets of a row, which `table` holds if there is one, is `candidate`."""
    if table is not None:
        at = _first_place(table, candidate)
        while table[at] == table[0] and table[at + 1] != candidate:
            at = _next_place(table, at)
        return table[at] != table[0]
    i = row
    while i < row + taken and out[i] != candidate:
        i += 1
    return i == row + taken


@_inlined
def _first_place(table, target):
    return 1 + 2 * np.int64(multiply_high(np.uint64(target) * GOLDEN, np.uint64(len(table) >> 1)))


@_inlined
def _next_place(table, at):
    return at + 2 if at + 2 < len(table) else np.int64(1)


@_inlined
def first_free(keys, slot, attempts, v, table, out, row, taken):
    """The target of a slot whose attempts all failed."""
    number = hashed(keys[0], keys[1], number_drawn(keys, slot, attempts))
    candidate = np.int64(multiply_high(number, np.uint64(v)))
    while not is_free(table, out, row, taken, candidate):
        candidate += 1
        if candidate == v:
            candidate = np.int64(0)
    return candidate


@_within
def copy_target(keys, v, edge, degree, threshold, attempts, table, out):
    """F_edge(v), from the rows of the vertices before v and the targets of v before this one."""
    row, slot = (v - degree) * degree, v * degree + edge
    for attempt in range(attempts):
        u, k = copy_draw(keys, slot, attempt, v, degree, threshold)
        candidate = u if k < 0 else np.int64(out[(u - degree) * degree + k])
        if is_free(table, out, row, edge, candidate):
            return candidate
    return first_free(keys, slot, attempts, v, table, out, row, edge)


@_within
def endpoint_target(keys, v, edge, degree, attempts, table, out):
    """The target of slot `edge` of v by the degrees of the vertices before v."""
    row, slot = (v - degree) * degree, v * degree + edge
    clique = degree * (degree - 1)
    ends = degree if v == degree else clique + 2 * row
    for attempt in range(attempts):
        number = hashed(keys[0], keys[1], number_drawn(keys, slot, attempt))
        end = np.int64(multiply_high(number, np.uint64(ends)))
        if v == degree:
            candidate = end
        elif end < clique:
            candidate = end // (degree - 1)
        elif (end - clique) & 1:
            candidate = np.int64(out[(end - clique) >> 1])
        else:
            candidate = degree + ((end - clique) >> 1) // degree
        if is_free(table, out, row, edge, candidate):
            return candidate
    return first_free(keys, slot, attempts, v, table, out, row, edge)


@twin
def scm_targets(n, degree, threshold, seed, attempts, out):
    """Write the targets of vertices degree .. degree+n-1 of the copy model into `out`, shape (n * degree,).

    `threshold` is uint64, p * 2^63; `seed` is uint64.
    """
    if degree <= SCANNED_DEGREE:
        _scm(n, degree, threshold, seed, attempts, None, out)
    else:
        _scm(n, degree, threshold, seed, attempts, row_table(degree), out)


@_inlined
def _scm(n, degree, threshold, seed, attempts, table, out):
    keys = copy_keys(seed)
    for v in range(degree, degree + n):
        clear_row(table)
        for edge in range(degree):
            target = copy_target(keys, v, edge, degree, threshold, attempts, table, out)
            out[(v - degree) * degree + edge] = target
            add_target(table, target)


@twin
def sba_targets(n, degree, seed, attempts, out):
    """Write the targets of vertices degree .. degree+n-1 of the Barabasi-Albert model into `out`.

    Of the list of ends only the targets are stored: where a vertex of the clique or a source stands is known.
    """
    if degree <= SCANNED_DEGREE:
        _sba(n, degree, seed, attempts, None, out)
    else:
        _sba(n, degree, seed, attempts, row_table(degree), out)


@_inlined
def _sba(n, degree, seed, attempts, table, out):
    keys = endpoint_keys(seed)
    for v in range(degree, degree + n):
        clear_row(table)
        for edge in range(degree):
            target = endpoint_target(keys, v, edge, degree, attempts, table, out)
            out[(v - degree) * degree + edge] = target
            add_target(table, target)


@twin
def sba_check(n, degree, seed, attempts, out, first_bad):
    """Set `first_bad[0]` to the first entry of `out` that is not what its slot draws from the others."""
    keys, table = endpoint_keys(seed), row_table(degree)
    for v in range(degree, degree + n):
        clear_row(table)
        for edge in range(degree):
            entry = (v - degree) * degree + edge
            if endpoint_target(keys, v, edge, degree, attempts, table, out) != out[entry]:
                first_bad[0] = entry
                return
            add_target(table, np.int64(out[entry]))
