"""The UCX data plane's messages: header, tags, and what is kept per peer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphdask.comm.failure import unpack_failure
from graphdask.comm.protocol import META
from graphdask.device.backend import Array
from graphdask.errors import PeerLost, StaleMessage

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
HEADER, CONTROL, PAYLOAD, RELAYED = range(4)
"""Kinds of messages. Those that are relayed for kernels carry exchange 0 if they are short, and 1 if they are long."""
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

    def __init__(self, descriptor: Any, memory: np.ndarray):
        self.array = memory
        self.head, self.words = self.array.data, self.array.view(np.int64)
        self.descriptor = descriptor(self.array)

    def judge(self, sender: int, gang: int, run: int, exchange: int) -> tuple[int, int, int] | None:
        """Return payload bytes, way and number of control integers; None for a header of an older run, to be dropped.

        Raises
        ------
        StaleMessage
            It is of another gang, a newer run or another exchange.
        PeerLost
            `sender` closed its communicator, or failed; then it may be the error of `sender` instead.
        """
        magic, its_gang, its_run, number, kind, nbytes, way, controls, *_ = HEAD.unpack_from(self.head)
        if magic != MAGIC or its_gang != gang:
            raise StaleMessage(f"rank {sender} sent a message of gang {its_gang:#x}, this is gang {gang:#x}")
        if its_run < run:
            return None
        if its_run > run:
            raise StaleMessage(f"rank {sender} is in run {its_run} of the gang, this rank still in run {run}")
        if kind == ABORT:
            raise unpack_failure(bytes(self.head[HEAD.size : HEAD.size + nbytes]), sender)
        if kind == GOODBYE:
            raise PeerLost(f"rank {sender} left after {number} exchanges, this rank is at exchange {exchange}")
        if number != exchange:
            raise StaleMessage(f"rank {sender} is at exchange {number}, this rank at {exchange}")
        return nbytes, way, controls


class Peer:
    """What a communicator keeps per peer: its link, its buffers, and the requests under way."""

    __slots__ = (
        "_descriptor", "awaited", "brought", "head", "header_tag", "heads", "held", "inbox", "link", "next", "out",
        "payload_tag", "posted", "rank", "receive", "send", "spare", "state", "way", "words",
    )  # fmt: skip

    ABSENT, ANNOUNCED, DONE = 0, 1, 2
    """States in an exchange: its header is awaited; what the header announced is; all is here."""

    def __init__(self, rank: int, link: Any, descriptor: Any, header_tag: Any, payload_tag: Any):
        self._descriptor = descriptor
        self.rank, self.link, self.header_tag, self.payload_tag = rank, link, header_tag, payload_tag
        self.send, self.receive = link.endpoint.tag_send, link.endpoint.tag_recv
        self.out = np.zeros(HEADER_BYTES, np.uint8)
        self.head, self.words = self.out.data, self.out.view(np.int64)
        self.heads: dict[int, Any] = {}
        """Descriptors of the first bytes of `out`, by their number."""
        self.way = APART
        """Of the payload to this peer."""
        self.inbox, self.spare = (Inbox(descriptor, link.new_header()) for _ in range(2))
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

    def write(
        self, identity: tuple[int, ...], part: Array | None, meta: list[int], control: np.ndarray, end: int
    ) -> Any:
        """Write the header, whose control integers end at byte `end`; return its descriptor."""
        nbytes, c = -1 if part is None else part.nbytes, len(control)
        HEAD.pack_into(self.head, 0, *identity, nbytes, self.way, c, *meta)
        if end > HEAD.size:
            self.words[WORDS : WORDS + c] = control
        if self.way == INLINE:
            self.out[end : end + nbytes] = part  # type: ignore[assignment]  # not None: it has bytes
            end += nbytes
        step = (end - 1) // STEP
        head = self.heads.get(step)
        if head is None:
            head = self.heads[step] = self._descriptor(self.out[: (step + 1) * STEP])
        return head

    def post_header(self, mask: Any) -> None:
        """Post the receive of the next header; the inbox of the last one stays as it is."""
        self.inbox, self.spare = self.spare, self.inbox
        self.next = self.receive(self.inbox.descriptor, self.header_tag, mask)

    def post_payload(self) -> None:
        """Post the receive of the next payload; not while there is one."""
        self.posted = self.receive(self.link.descriptor, self.payload_tag)
