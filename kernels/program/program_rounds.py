"""Supersteps in which all vertices send one float, along all of its edges alike, and add up what comes, one after the
other in a call on a CPU that has the whole graph: PageRank, for example. A GPU launches kernels for each step.

The rows stand in the order of `place`, as their sums do (graphdask.program.row_sums). After the sums each vertex is
visited once: it gets its sum, computes its state, and writes what it sends next.
"""

import numpy as np

from graphdask.kernels.common.bitmap import u64
from graphdask.kernels.common.lanes import sum_rows
from graphdask.kernels.common.twin import inlined, twin
from graphdask.kernels.program.program_default import MACROS, apply, clear_sums, fails, host_looks, known, value_of
from graphdask.kernels.program.program_pack import Program

__all__ = ["MACROS"]

# The functions of the caller stand here.


@inlined
def _give(v, a: Program):
    """Write what a vertex sends, where the sums read it: 0 where it sends nothing."""
    gives = a.row_ends[v + u64(1)] > a.row_ends[v] and value_of(v, a)
    a.x[u64(a.place[v])] = a.value0[v] if gives else 0.0


@inlined
def _first(n, a: Program):
    for v in range(u64(n)):
        _give(v, a)


@inlined
def _renewed(n, step, integers, floats, a: Program):
    """Compute all states from the sums; return how many changed. The aggregates are handed over as tuples, not in
    arrays, so that what functions compute of them alone is computed once."""
    changed = 0
    for v in range(u64(n)):
        a.message0[v] = a.gathered[u64(a.place[v])]
        if apply(v, Program(a, failure=a.failure_to_apply, superstep=step, integers=integers, floats=floats)):
            changed += 1
        _give(v, Program(a, failure=a.failure_to_send, superstep=step + 1))
    return np.int64(changed)


@twin
def program_rounds(n, begins, steps, given: Program):
    """At most `steps` supersteps of n vertices; before them, where it `begins`, what vertices send first."""
    done, changed, looks = 0, np.int64(0), False
    if begins:
        _first(n, Program(given, failure=given.failure_to_send))
    while done < steps and not looks and not fails(given):
        sum_rows(n, None, given.indptr, None, given.indices, given.x, given.place, False, given.gathered)
        clear_sums(given)
        integers, floats = known(given)
        changed = _renewed(n, given.superstep + done, integers, floats, given)
        done += 1
        looks = host_looks(changed, given.superstep + done, given)
    given.counters.changed = changed
    given.progress.steps = done
