"""Bitmaps over the slots of a partition: uint32 words with a bit for each slot."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.messages import Inbox, Received
from graphdask.partition.part import Part

SPARSE = 64
"""Fewer than 1/SPARSE of the slots are cleared one by one."""


def has_bits(slots: Array, bits: Array) -> Array:
    """Return whether the bits of slots are set.

    Parameters
    ----------
    slots : array
        int32 or int64, shape (n,).
    bits : array
        uint32, a bit for each slot.

    Returns
    -------
    array
        bool, shape (n,).
    """
    return (bits[slots >> 5] >> (slots & 31).astype(np.uint32)) & 1 != 0


def clear_bits(bits: Array, listed: Array | None) -> bool:
    """Clear a bitmap, and return whether only the words of listed slots were cleared.

    Parameters
    ----------
    bits : array
        uint32, a bit for each slot, which is changed.
    listed : array, optional
        Slots among which are all whose bits are set. Default: any may be.
    """
    if listed is None or len(listed) * SPARSE > 32 * len(bits):
        bits.fill(0)
        return False
    bits[listed >> 5] = 0
    return True


def set_bits(message: Received | Inbox, bits: Array, part: Part, env: Environment) -> None:
    """Set the bits of the slots in a message. A message that is a bitmap itself is not listed first.

    Parameters
    ----------
    message : Received or Inbox
        From one rank, or from all.
    bits : array
        uint32, a bit for each slot, which is changed.
    part : Part
    env : Environment
    """
    kernels = env.kernels("codec", index_t=part.vertex_map.dtype)
    if isinstance(message, Inbox) or message.bits is None:
        kernels.codec_set_bits(len(message), message.slots, bits, part.num_slots)
    else:
        words = (message.universe + 31) // 32
        kernels.codec_or_bits(words, message.bits, message.first, message.universe, bits)
