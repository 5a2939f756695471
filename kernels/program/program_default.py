"""Twins of program_default.cuh: what the kernels of program.py call, of a program that sends labels and keeps the
smallest. graphdask.program.glue writes such functions for the functions of a caller."""

import numpy as np

from graphdask.kernels.common.twin import twin
from graphdask.kernels.program.program_pack import Program

MACROS = [
    {"index_t": index, "weight_t": "double", "state0_t": "long long", "message0_t": "long long"}
    for index in ("int", "long long")
]
"""What the kernels are compiled for without functions of a caller."""


@twin
def begin(v, field, a: Program):
    """Write a field of the first state of a vertex."""
    a.state0[v] = a.ids[v]


@twin
def value_of(v, a: Program):
    """Write what a vertex sends along all of its edges; return whether it sends anything."""
    a.value0[v] = a.state0[v]
    return True


@twin
def message(u, v, e, a: Program):
    """Return whether a message goes along an edge, and the message, as a tuple."""
    return True, (a.value0[u],)


@twin
def nothing():
    """Return what changes no message that it is combined with."""
    return (np.int64(9223372036854775807),)


@twin
def merge(held, sent):
    """Return two messages combined; of equal ones that are not to be added the first stays."""
    return (min(held[0], sent[0]),)


@twin
def bound(u, held, a: Program):
    """Return what is combined of `held` and of what a vertex sends along all of its edges."""
    return (min(held[0], a.value0[u]),)


KEEPS = False
"""Whether a field of the state keeps the least or greatest of all messages, so that what stands in the place of the
messages of a vertex is that field, and of a ghost what was sent last."""


@twin
def free(v, a: Program):
    """Return what stands in the place of a vertex that has no message yet."""
    return nothing()


@twin
def lowers(v, sent, a: Program):
    """Return whether a message changes what a vertex keeps; without KEEPS it may always."""
    return True


@twin
def spared(v, most, a: Program):
    """Return whether no message changes what a vertex keeps, where none is beyond `most`."""
    return False


@twin
def settled(held, most):
    """Return whether no message changes what it is combined with any more, where none is beyond `most`."""
    return held[0] <= most[0]


@twin
def got(v, a: Program):
    """Return the messages that came to a vertex, combined."""
    return (a.message0[v],)


@twin
def put(v, held, a: Program):
    """Write them."""
    a.message0[v] = held[0]


@twin
def push(v, sent, a: Program):
    """Combine a message with those that came to a vertex, and count it if messages are counted; return whether they
    were as without any."""
    old = a.message0[v]
    if sent[0] < old:
        a.message0[v] = sent[0]
    return old == np.int64(9223372036854775807)


@twin
def take(i, v, a: Program):
    """Combine message i of another rank with those that came to a vertex."""
    a.message0[v] = min(a.message0[v], a.given0[i])


@twin
def clear_sums(a: Program):
    """Make all aggregates those of no vertices."""


@twin
def known(a: Program):
    """Return the values of the aggregates, as tuples: as integers and as floats."""
    return (np.int64(0),), (0.0,)


@twin
def fails(a: Program):
    """Return whether a function of the caller has failed."""
    return a.failure_to_send[0] != 0 or a.failure_to_apply[0] != 0


@twin
def host_looks(active, superstep, a: Program):
    """Write the values of the aggregates where functions read them; return whether the host decides if the run ends.

    `active` vertices changed, and `superstep` is how many supersteps there were.
    """
    return False


@twin
def apply(v, a: Program):
    """Write the new state of a vertex; return whether it differs from the old one."""
    if a.message0[v] < a.state0[v]:
        a.state0[v] = a.message0[v]
        return True
    return False
