"""How an error of one rank becomes the error of its peers.

It travels as text: the rank it began on, the class, the message. A peer raises the same class where it is one of
graphdask's, else PeerLost. Such an error is *secondary*: it carries `origin`, so that whoever collects the errors of
all ranks can find the first cause.
"""

from __future__ import annotations

import json
from typing import Any

from graphdask import errors
from graphdask.errors import GraphdaskError, PeerLost

LIMIT = 3000
"""Bytes of an error that is sent, at most."""


def pack_failure(error: BaseException, rank: int) -> bytes:
    """Return `error` of `rank` as at most `LIMIT` bytes; a secondary error keeps its origin."""
    where, kind, text = getattr(error, "origin", None) or (rank, type(error).__name__, str(error))
    while True:
        packed = json.dumps([int(where), kind, text]).encode()
        if len(packed) <= LIMIT:
            return packed
        text = text[: len(text) * LIMIT // (len(packed) + 64)] + "..."


def unpack_failure(packed: bytes, sender: int) -> GraphdaskError:
    """Return the error that a peer of `sender` raises after `pack_failure`'s bytes arrived."""
    try:
        where, kind, text = json.loads(packed)
    except ValueError:
        where, kind, text = sender, "Exception", "an abort whose reason cannot be read"
    cls: Any = getattr(errors, str(kind), None)
    mine = isinstance(cls, type) and issubclass(cls, GraphdaskError)
    error: Any = cls(f"{text} (on rank {where})") if mine else PeerLost(f"rank {where} failed: {kind}: {text}")
    error.origin = (where, kind, text)
    return error


def is_secondary(error: BaseException) -> bool:
    """Whether `error` reports what began on another rank."""
    return hasattr(error, "origin")
