"""What a host does in the meetings of a kernel, compiled: it waits for the kernel's words, exchanges them and its
messages with the other hosts by calls of UCX's C library, and lets the kernel go on.

In Python the same takes several times as long as the messages are under way. Here nothing is made and nothing is
raised: `carry` returns to Python when it has waited for a while, which looks for peers that are gone and for the
kernel's end, and calls it again. So everything that a meeting has come to stands in arrays.

For each peer a meeting is one message in host memory: HEAD bytes, which are the meeting's number, the length and the
way of a payload and the words that the kernel has written; words for all ranks; and the payload if it is short. A
longer one is a message of its own, from memory of this GPU to memory of the other. All arguments are int64, addresses
too.

Source: the UCX programming interface (ucp.h), `ucp_tag_send_nbx` and `ucp_tag_recv_nbx`, whose parameters begin with a
mask of those that are given: here none.
"""

from __future__ import annotations

from graphdask.kernels.common.addresses import call, load, store
from graphdask.kernels.common.team import (
    BOUNDS,
    HELD,
    OUT,
    SENT_BITS,
    SENT_LISTS,
    SENT_NOTHING,
    TEAM_AT,
    TEAM_FLAG,
    TEAM_GROUP,
    TEAM_MESSAGE,
    TEAM_RANKS,
    TEAM_SHORT,
    TEAM_TO,
    TEAM_WORDS,
)
from graphdask.kernels.common.twin import inlined, twin

SEND, RECEIVE, STATUS, FREE, PROGRESS, YIELD, FUNCTIONS = range(7)
"""Places of the functions that are called."""
RANK, WORKER, PARAMETERS, TAG, LONG_TAG, BOARD, WRITTEN, SHORT, COMMON_AT, COMMON_BYTES, MOST_BYTES, UNDER_WAY, HERE = (
    range(13)
)
"""Places of what a host has: its rank, UCX's worker, an empty structure of parameters, the tags of its messages, the
board that its kernel reads, what its kernel writes, short payloads that it writes, words for all ranks and the bytes of
each, the most bytes of a message, and whether a meeting is under way."""
(
    PEER, STEP, ENDPOINT, PEER_TAG, PEER_LONG_TAG, MESSAGE, INBOX, LONG, LONG_BYTES,
    SENDING, SENDING_LONG, RECEIVING, RECEIVING_LONG, PHASE, PEER_WORDS,
) = range(15)  # fmt: skip
"""Places of what it has for each peer: its rank and step, the endpoint, the tags of its messages, memory for the
message to it, for two from it in turn, and for a long payload from it, with the bytes of that; requests that are under
way; and its phase."""
EXPECTED, ANNOUNCED, THERE = range(3)
"""Phases: the message is awaited; a long payload is; all is there."""
NUMBER, NBYTES, WAY, SAID = range(4)
"""Places in the words of a message; from SAID on those of the kernel."""
HEAD = 256
NOTHING, INLINE, APART = range(3)
"""Ways of a payload."""
WAITS, FAILED, STALE = range(3)
"""What `carry` returns: it has waited for long, a request failed, or a message of another meeting came."""
YIELDS = 16
"""How often it looks before it offers its core to others."""
ERRORS = -100
"""UCX returns an error from here to -1 in the place of a request."""
IN_PROGRESS = 1


@inlined
def _copy(nbytes, source, target):
    for at in range(0, nbytes, 8):
        store(target + at, load(source + at))


@inlined
def _ended(functions, request):
    """1 if a request has ended well, 0 if it is under way, -1 if it failed; the request is let go of unless it is
    under way."""
    if request == 0:
        return 1
    if ERRORS <= request < 0:
        return -1
    status = call(functions[STATUS], (request,)) & 255
    if status == IN_PROGRESS:
        return 0
    call(functions[FREE], (request,))
    return 1 if status == 0 else -1


@inlined
def _length(words, row, peers, k):
    """Bytes of what the kernel has written for a peer."""
    coded = load(words + 8 * TEAM_MESSAGE)
    kind, step = coded & 255, peers[k, STEP]
    if kind == SENT_NOTHING:
        return 0
    if kind == SENT_LISTS:
        entries = load(words + 8 * (TEAM_TO + peers[k, PEER]))
        return (entries + TEAM_GROUP - 1) // TEAM_GROUP * (coded >> 16)
    bits = row[HELD + step] if kind == SENT_BITS else row[BOUNDS + step + 1] - row[BOUNDS + step]
    return 4 * ((bits + 31) // 32)


@inlined
def _inbox(meeting, here, peers, k):
    """Where the message of a peer arrives."""
    return peers[k, INBOX] + meeting % 2 * here[MOST_BYTES]


@inlined
def _common(meeting, rank, here, peers):
    """Where the words stand that a rank writes for all."""
    return here[COMMON_AT] + (meeting % 2 * (len(peers) + 1) + rank) * here[COMMON_BYTES]


@inlined
def _begin(meeting, words, functions, here, peers, row):
    """Post what is to be received, and send what the kernel has written."""
    coded, parameters = load(words + 8 * TEAM_MESSAGE), here[PARAMETERS]
    for k in range(len(peers)):
        arrives, tag = _inbox(meeting, here, peers, k), peers[k, PEER_TAG]
        peers[k, RECEIVING] = call(functions[RECEIVE], (here[WORKER], arrives, here[MOST_BYTES], tag, -1, parameters))
        peers[k, RECEIVING_LONG] = peers[k, SENDING_LONG] = 0
        peers[k, PHASE] = EXPECTED
    for k in range(len(peers)):
        endpoint, step, message, way = peers[k, ENDPOINT], peers[k, STEP], peers[k, MESSAGE], NOTHING
        nbytes, length = _length(words, row, peers, k), HEAD + here[COMMON_BYTES]
        if nbytes:
            short = coded >> 15 & 1 or (coded & 255 != SENT_LISTS and nbytes <= TEAM_SHORT)
            way = INLINE if short else APART
        if way == INLINE:
            _copy(nbytes, here[SHORT] + step * TEAM_SHORT, message + length)
            length += nbytes
        elif way == APART:
            source = row[OUT + (coded >> 8 & 127) * TEAM_RANKS + step]
            peers[k, SENDING_LONG] = call(functions[SEND], (endpoint, source, nbytes, here[LONG_TAG], parameters))
        store(message + 8 * NUMBER, meeting)
        store(message + 8 * NBYTES, nbytes)
        store(message + 8 * WAY, way)
        _copy(8 * TEAM_WORDS, words, message + 8 * SAID)
        _copy(here[COMMON_BYTES], _common(meeting, here[RANK], here, peers), message + HEAD)
        peers[k, SENDING] = call(functions[SEND], (endpoint, message, length, here[TAG], parameters))


@inlined
def _go_on(meeting, functions, here, peers, k):
    """Take in what has come from a peer, and let go of what has left; return 1 if all is there and has left, 0 if not
    yet, -1 if that failed, -2 if it is of another meeting."""
    if peers[k, PHASE] == EXPECTED:
        ended, arrived = _ended(functions, peers[k, RECEIVING]), _inbox(meeting, here, peers, k)
        if ended < 0:
            return -1
        if ended:
            peers[k, RECEIVING] = 0
            if load(arrived + 8 * NUMBER) != meeting:
                return -2
            peers[k, PHASE] = THERE
            if load(arrived + 8 * WAY) == APART:
                peers[k, PHASE] = ANNOUNCED
                nbytes, tag = load(arrived + 8 * NBYTES), peers[k, PEER_LONG_TAG]
                if not 0 < nbytes <= peers[k, LONG_BYTES]:
                    return -1
                peers[k, RECEIVING_LONG] = call(
                    functions[RECEIVE], (here[WORKER], peers[k, LONG], nbytes, tag, -1, here[PARAMETERS])
                )
    if peers[k, PHASE] == ANNOUNCED:
        ended = _ended(functions, peers[k, RECEIVING_LONG])
        if ended < 0:
            return -1
        if ended:
            peers[k, RECEIVING_LONG] = 0
            peers[k, PHASE] = THERE
    left = 1
    for place in (SENDING, SENDING_LONG):
        ended = _ended(functions, peers[k, place])
        if ended < 0:
            return -1
        if ended:
            peers[k, place] = 0
        left &= ended
    return left & (peers[k, PHASE] == THERE)


@inlined
def _release(meeting, here, peers):
    """Write down what came from whom, and let the kernel go on."""
    for k in range(len(peers)):
        arrived = _inbox(meeting, here, peers, k)
        slot, way = here[BOARD] + 8 * TEAM_WORDS * (2 * peers[k, PEER] + meeting % 2), load(arrived + 8 * WAY)
        _copy(8 * TEAM_FLAG, arrived + 8 * SAID, slot)
        _copy(here[COMMON_BYTES], arrived + HEAD, _common(meeting, peers[k, PEER], here, peers))
        short = arrived + HEAD + here[COMMON_BYTES]
        store(slot + 8 * TEAM_AT, short if way == INLINE else peers[k, LONG] if way == APART else 0)
        store(slot + 8 * TEAM_FLAG, meeting)  # last: then the kernel goes on


@twin
def carry(meeting, most, most_under_way, functions, here, peers, row):
    """Carry the messages of this meeting and the next ones; return the number of the next one, and why it stops.

    Parameters
    ----------
    meeting : int
    most, most_under_way : int
        How often it looks for the kernel's words, and for those of the others, before it returns.
    functions, here, row : int64 array
        The addresses of functions, what this host has, and what describes the rank to its kernel.
    peers : int64 array, shape (ranks - 1, PEER_WORDS)
    """
    looks = 0
    while True:
        if not here[UNDER_WAY]:
            words = here[WRITTEN] + 8 * TEAM_WORDS * (2 * here[RANK] + meeting % 2)
            while load(words + 8 * TEAM_FLAG) != meeting:
                call(functions[PROGRESS], (here[WORKER],))
                looks += 1
                if looks > most:
                    return meeting, WAITS
                if looks % YIELDS == 0:
                    call(functions[YIELD], (0,))
            _begin(meeting, words, functions, here, peers, row)
            here[UNDER_WAY] = 1
            looks = 0
        left = len(peers)
        while left:
            call(functions[PROGRESS], (here[WORKER],))
            left = 0
            for k in range(len(peers)):
                done = _go_on(meeting, functions, here, peers, k)
                if done < 0:
                    return meeting, STALE if done == -2 else FAILED
                left += 1 - done
            looks += 1
            if left and looks > most_under_way:
                return meeting, WAITS
            if left and looks % YIELDS == 0:
                call(functions[YIELD], (0,))
        _release(meeting, here, peers)
        here[UNDER_WAY] = 0
        meeting += 1
        looks = 0
