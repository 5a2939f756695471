"""A superstep of a vertex program in which many vertices send, on one rank that has the whole undirected graph: twins
of program_pull.cu. Edges stand in slices, as kernels/pagerank/slices.py explains them."""

from graphdask.kernels.common.bitmap import has_bit, set_bit
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.program.program_default import MACROS, apply, clear_sums, merge, message, nothing, put, value_of
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.


@twin
def program_place(n, marked, a: Program):
    """Write what vertices send, in the order of places: those that are listed, those with a bit in `marks`, or all. The
    words of aggregates begin anew."""
    clear_sums(a)
    for i in range(n):
        v = i if a.listed is None else a.listed[i]
        if marked and not has_bit(a.marks, v):
            continue
        at, sends = a.place[v], True
        if a.row_ends is not None:
            sends = a.row_ends[v + 1] > a.row_ends[v] and value_of(v, a)
            if sends:
                a.placed_value[at] = a.value0[v]
        if a.placed0 is not None:
            a.placed0[at] = a.state0[v]
        if a.placed1 is not None:
            a.placed1[at] = a.state1[v]
        if a.placed2 is not None:
            a.placed2[at] = a.state2[v]
        if a.placed3 is not None:
            a.placed3[at] = a.state3[v]
        if a.placed4 is not None:
            a.placed4[at] = a.state4[v]
        if a.placed5 is not None:
            a.placed5[at] = a.state5[v]
        if a.placed6 is not None:
            a.placed6[at] = a.state6[v]
        if a.placed7 is not None:
            a.placed7[at] = a.state7[v]
        if sends and not a.everywhere:
            set_bit(a.active, at)


@inlined
def _pulled(begin, end, step, lanes, a: Program):
    """Combine what comes along the entries from `begin` on, `step` apart, and as many lanes beside them; return that
    and how many messages came. Weights are not codes here."""
    held, count = nothing(), 0
    for k in range(begin, end, step):
        for e in range(k, k + lanes):
            at = a.indices[e]
            if at >= 0 and (a.everywhere or has_bit(a.active, at)):
                given, sent = message(
                    at, 0, e,
                    Program(
                        a, state0=a.placed0, state1=a.placed1, state2=a.placed2, state3=a.placed3, state4=a.placed4,
                        state5=a.placed5, state6=a.placed6, state7=a.placed7, value0=a.placed_value, ids=a.placed_ids,
                        out_degree=a.placed_out_degree, in_degree=a.placed_in_degree, sends=a.active,
                    ),
                )  # fmt: skip
                if given:
                    held, count = merge(held, sent), count + 1
    return held, count


@inlined
def _renewed(v, held, count, a: Program):
    """Compute the state of a vertex to which messages came."""
    if count == 0:
        return
    put(v, held, a)
    a.received[v] = count
    if apply(v, Program(a, failure=a.failure_to_apply)):
        a.changed[a.counters.changed] = v
        a.counters.changed += 1
        set_bit(a.marks, v)
        a.progress.edges += a.indptr[v + 1] - a.indptr[v]
    put(v, nothing(), a)
    a.received[v] = 0


@twin
def program_pull_chunks(n, given: Program):
    """Of rows of many edges: combine messages along each chunk, and renew the vertex where its row is one chunk."""
    for c in range(given.items):
        begin, end, v = given.slices[c // 4] + c % 4 * 8, given.slices[c // 4 + 1], given.targets[c]
        held, count = _pulled(begin, end, 32, 8, given)
        if v >= 0:
            _renewed(v, held, count, given)
        else:
            given.parts[-1 - v], given.part_counts[-1 - v] = held[0], count


@twin
def program_pull_rows(n, given: Program):
    """Of rows of few edges: combine messages along each, and renew its vertex."""
    for row in range(given.items):
        begin, end = given.slices[row // 32] + row % 32, given.slices[row // 32 + 1]
        held, count = _pulled(begin, end, 32, 1, given)
        _renewed(given.targets[row], held, count, given)


@twin
def program_pull_parts(n, given: Program):
    """Of rows of several chunks: combine what came to their parts, and renew their vertices."""
    for row in range(given.items):
        held, count = nothing(), 0
        for k in range(given.first_part[row], given.first_part[row + 1]):
            if given.part_counts[k]:
                held, count = merge(held, (given.parts[k],)), count + given.part_counts[k]
        _renewed(given.targets[row], held, count, given)
