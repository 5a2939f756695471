"""The UCX data plane's messages: header, tags, and what is kept per peer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphdask.comm.protocol import META

HEAD = struct.Struct(f"={8 + META}q")
"""magic, gang, run, exchange, type, payload bytes (-1: none), inline, control words, then the META integers."""
MAGIC = 0x6772_6170_6864_0001
DATA, ABORT, GOODBYE = 0, 1, 2
HEADER_BYTES = 8000
STEP = 64
"""Headers are sent in multiples of this many bytes, so that their ucxx descriptors can be kept."""
HEADER, CONTROL, PAYLOAD, DONE = 0, 1, 2, 3
"""Kinds of messages, and states of a peer."""
GANG_BITS, RUN_BITS, EXCHANGE_BITS, KIND_BITS, RANK_BITS = 20, 8, 20, 2, 14
FITTING = (HEADER_BYTES - HEAD.size) // 8
"""Control integers that a header holds; more travel in a message of their own."""


def tag_of(gang: int, run: int, exchange: int, kind: int, sender: int) -> int:
    """Return the 64-bit tag: gang 20, run 8, exchange 20, kind 2, sender 14 bits, from the top."""
    tag = gang & ((1 << GANG_BITS) - 1)
    tag = tag << RUN_BITS | run & ((1 << RUN_BITS) - 1)
    tag = tag << EXCHANGE_BITS | exchange & ((1 << EXCHANGE_BITS) - 1)
    return (tag << KIND_BITS | kind) << RANK_BITS | sender


HEADER_MASK = ~(((1 << RUN_BITS + EXCHANGE_BITS) - 1) << KIND_BITS + RANK_BITS) & (1 << 64) - 1
"""Matches headers of one gang and sender, whatever run and exchange."""


class Peer:
    """What a communicator keeps per peer: its link, its buffers, and the requests under way."""

    __slots__ = (
        "arrays", "control", "head", "inboxes", "inline", "link", "nbytes", "next", "out", "payload", "rank", "state",
        "tag", "turn",
    )  # fmt: skip

    def __init__(self, rank: int, link: Any, descriptor: Any, tag: Any):
        self.rank, self.link, self.tag = rank, link, tag
        self.out = np.zeros(HEADER_BYTES, np.uint8)
        self.head = self.out.data
        self.arrays = [descriptor(self.out[:n]) for n in range(STEP, HEADER_BYTES + 1, STEP)]
        inboxes = [np.zeros(HEADER_BYTES, np.uint8) for _ in range(2)]
        self.inboxes = [(inbox.data, inbox, descriptor(inbox)) for inbox in inboxes]
        self.turn = 0
        """Which inbox the next header goes to."""
        self.next: Any = None
        """The receive of the next header."""
        self.state = DONE
        """HEADER: its header is awaited; PAYLOAD: what the header announced is; DONE."""
        self.nbytes = -1
        self.inline: Any = None
        """The payload that came with the header."""
        self.control: Any = None
        self.payload: Any = None
        """Receives under way, (request, descriptor, array)."""
