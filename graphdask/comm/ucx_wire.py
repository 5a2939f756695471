"""The UCX data plane's messages: header, tags, and what is kept per peer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.comm.protocol import META

HEAD = struct.Struct(f"={8 + META}q")
"""magic, gang, run, exchange, type, payload bytes (-1: none), way, control words, then the META integers."""
WORDS = HEAD.size // 8
MAGIC = 0x6772_6170_6864_0001
DATA, ABORT, GOODBYE = 0, 1, 2
APART, INLINE, GROW = 0, 1, 2
"""Ways of a payload: into the receive that is posted for it; within the header; into a longer receive."""
HEADER_BYTES = 8000
STEP = 64
"""Headers are sent in multiples of this many bytes, so that their ucxx descriptors can be kept."""
HEADER, CONTROL, PAYLOAD = 0, 1, 2
"""Kinds of messages."""
GANG_BITS, RUN_BITS, EXCHANGE_BITS, KIND_BITS, RANK_BITS = 20, 8, 20, 2, 14
FITTING = (HEADER_BYTES - HEAD.size) // 8
"""Control integers that a header holds; more travel in a message of their own."""


def tag_of(gang: int, run: int, exchange: int, kind: int, sender: int) -> int:
    """Return the 64-bit tag: gang 20, run 8, exchange 20, kind 2, sender 14 bits, from the top.

    Headers and payloads carry exchange 0: they are matched in the order in which they were sent.
    """
    tag = gang & ((1 << GANG_BITS) - 1)
    tag = tag << RUN_BITS | run & ((1 << RUN_BITS) - 1)
    tag = tag << EXCHANGE_BITS | exchange & ((1 << EXCHANGE_BITS) - 1)
    return (tag << KIND_BITS | kind) << RANK_BITS | sender


HEADER_MASK = ~(((1 << RUN_BITS + EXCHANGE_BITS) - 1) << KIND_BITS + RANK_BITS) & (1 << 64) - 1
"""Matches headers of one gang and sender, whatever run and exchange."""


class Inbox:
    """Memory for one header that arrives, seen as bytes and as words."""

    __slots__ = ("array", "descriptor", "head", "words")

    def __init__(self, descriptor: Any):
        self.array = np.zeros(HEADER_BYTES, np.uint8)
        self.head, self.words = self.array.data, self.array.view(np.int64)
        self.descriptor = descriptor(self.array)


class Peer:
    """What a communicator keeps per peer: its link, its buffers, and the requests under way."""

    __slots__ = (
        "awaited", "brought", "head", "header_tag", "heads", "held", "inbox", "link", "next", "out", "payload_tag",
        "posted", "rank", "receive", "send", "spare", "state", "words",
    )  # fmt: skip

    ABSENT, ANNOUNCED, DONE = 0, 1, 2
    """States in an exchange: its header is awaited; what the header announced is; all is here."""

    def __init__(self, rank: int, link: Any, descriptor: Any, header_tag: Any, payload_tag: Any):
        self.rank, self.link, self.header_tag, self.payload_tag = rank, link, header_tag, payload_tag
        self.send, self.receive = link.endpoint.tag_send, link.endpoint.tag_recv
        self.out = np.zeros(HEADER_BYTES, np.uint8)
        self.head, self.words = self.out.data, self.out.view(np.int64)
        self.heads: dict[int, Any] = {}
        """Descriptors of the first bytes of `out`, by their number."""
        self.inbox, self.spare = Inbox(descriptor), Inbox(descriptor)
        """Where the next header goes, and where the last one lies."""
        self.next: Any = None
        """The receive of the next header."""
        self.posted: Any = None
        """The receive of the next payload into the link's buffer; it waits as long as payloads go other ways."""
        self.state = Peer.DONE
        self.awaited: tuple[Any, ...] = ()
        """Receives that the header announced."""
        self.brought: Array | None = None
        """The payload, complete once the state is DONE."""
        self.held: Any = None
        """What those receives write to, beside the link's buffer."""

    def post_header(self, mask: Any) -> None:
        """Post the receive of the next header; the inbox of the last one stays as it is."""
        self.inbox, self.spare = self.spare, self.inbox
        self.next = self.receive(self.inbox.descriptor, self.header_tag, mask)

    def post_payload(self) -> None:
        """Post the receive of the next payload, unless it is."""
        if self.posted is None:
            self.posted = self.receive(self.link.descriptor, self.payload_tag)
