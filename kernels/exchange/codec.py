"""CPU twins of codec.cu: sets of vertex numbers as bits of 32-bit words."""

import numpy as np

from graphdask.kernels.common.bitmap import set_bit
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

SCANNED = 256
"""Words of which a block takes the bits at once (scan.cuh)."""


@twin
def codec_set_bits(n, ids, words, universe):
    for i in range(n):
        v = np.int64(ids[i])
        if v < 0 or v >= universe:
            raise ValueError("an index was out of range")
        set_bit(words, v)


@twin
def codec_or_bits(n, bits, first, universe, words):
    """Set the bits of n words in `words`: bit i, below `universe`, stands for bit `first` + i there."""
    shift, at = np.uint32(first & 31), first >> 5
    for i in range(n):
        left = universe - 32 * i
        word = bits[i] & ((np.uint32(1) << np.uint32(left)) - np.uint32(1)) if left < 32 else bits[i]
        words[at + i] |= word << shift
        if shift != 0 and word >> (np.uint32(32) - shift) != 0:
            words[at + i + 1] |= word >> (np.uint32(32) - shift)


@twin
def _popcount(word):
    """Return the number of set bits of a uint32 (the usual sum by halves)."""
    x = np.uint32(word)
    x = x - ((x >> np.uint32(1)) & np.uint32(0x55555555))
    x = (x & np.uint32(0x33333333)) + ((x >> np.uint32(2)) & np.uint32(0x33333333))
    x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
    return np.int64((np.uint32(x * np.uint32(0x01010101))) >> np.uint32(24))


@twin
def codec_count_bits(n, words, counts):
    for w in range(n):
        counts[w] = _popcount(words[w])


@twin
def codec_rank_bits(n, ids, words, offsets, place):
    for i in range(n):
        v = np.int64(ids[i])
        below = (np.uint32(1) << np.uint32(v & 31)) - np.uint32(1)
        place[i] = offsets[v >> 5] + _popcount(words[v >> 5] & np.uint32(below))


@twin
def codec_count_tiles(n, words, sums):
    for t in range((n + SCANNED - 1) // SCANNED):
        sums[t] = 0
        for w in range(t * SCANNED, min(n, (t + 1) * SCANNED)):
            sums[t] += _popcount(words[w])


@twin
def codec_list_bits(n, words, sums, ids, count, universe, first):
    if sums[: (n + SCANNED - 1) // SCANNED].sum() != count:
        raise ValueError("an index was out of range")
    at = 0
    for w in range(n):
        word = words[w]
        while word != 0:
            low = word & (~word + np.uint32(1))
            v = (np.int64(w) << 5) + _popcount(np.uint32(low - np.uint32(1)))
            if v >= universe:
                raise ValueError("an index was out of range")
            ids[at] = first + v
            at += 1
            word &= word - np.uint32(1)


@twin
def codec_check_ids(n, ids, universe):
    for i in range(n):
        if ids[i] < 0 or ids[i] >= universe:
            raise ValueError("an index was out of range")


@twin
def codec_take_ids(n, narrow, wide, universe, first, slots):
    for i in range(n):
        v = np.int64(0)
        if narrow is not None:
            v = np.int64(narrow[i])
        if wide is not None:
            v = np.int64(wide[i])
        if v < 0 or v >= universe:
            raise ValueError("an index was out of range")
        slots[i] = first + v
