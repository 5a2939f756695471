// Sets of vertex numbers as bits of 32-bit words, for graphdask.comm.codec: setting, counting, ranking and listing.
// Rank and select over a bitmap with a prefix sum of word counts (Jacobson 1989, "Space-efficient static trees and
// graphs") orders a dense set without a sort. index_t is int or long long.
#include "common/bitmap.cuh"
#include "common/scan.cuh"

// Set bit ids[i] of words.
extern "C" __global__ void codec_set_bits(long long n, const index_t *ids, unsigned int *words, long long universe) {
    GD_FOR(i, n) {
        long long id = ids[i];
        if (id < 0 || id >= universe) {
            gd_fail(2);
            continue;
        }
        gd_set_bit(words, id);
    }
}

// Set the bits of n words in `words`: bit i, below `universe`, stands for bit `first` + i there.
extern "C" __global__ void codec_or_bits(long long n, const unsigned int *bits, long long first, long long universe,
                                         unsigned int *words) {
    GD_FOR(w, n) gd_set_word(words, first, universe, bits, w);
}

// counts[w] = set bits of words[w].
extern "C" __global__ void codec_count_bits(long long n, const unsigned int *words, int *counts) {
    GD_FOR(w, n) counts[w] = __popc(words[w]);
}

// place[i] = how many set bits lie below ids[i]; offsets[w] is that number for the first bit of word w.
extern "C" __global__ void codec_rank_bits(long long n, const index_t *ids, const unsigned int *words,
                                           const long long *offsets, long long *place) {
    GD_FOR(i, n) {
        long long id = ids[i];
        place[i] = offsets[id >> 5] + __popc(words[id >> 5] & ((1u << (id & 31)) - 1u));
    }
}

// sums[t] = set bits of words GD_SCANNED t and following, as many as a block has threads.
extern "C" __global__ void codec_count_tiles(long long n, const unsigned int *words, int *sums) {
    for (long long t = blockIdx.x; t * GD_SCANNED < n; t += gridDim.x) {
        const long long w = t * GD_SCANNED + threadIdx.x;
        int all;
        gd_block_scan(w < n ? __popc(words[w]) : 0, &all);
        if (threadIdx.x == 0) sums[t] = all;
    }
}

// Write the set bits of words as ids, plus `first`; `sums` are those of codec_count_tiles, which every block adds up as
// far as it needs. The bits must be `count` in number and below `universe`; where they are not, `first` stands for what
// is missing or too large, so that nobody meets a bad id.
extern "C" __global__ void codec_list_bits(long long n, const unsigned int *words, const int *sums, index_t *ids,
                                           long long count, long long universe, long long first) {
    long long before = 0, summed = 0;
    for (long long t = blockIdx.x; t * GD_SCANNED < n; t += gridDim.x) {
        long long mine = 0, in_tiles;
        for (long long s = summed + threadIdx.x; s < t; s += GD_SCANNED) mine += sums[s];
        gd_block_scan(mine, &in_tiles);
        before += in_tiles;
        summed = t;
        const long long w = t * GD_SCANNED + threadIdx.x;
        unsigned int word = w < n ? words[w] : 0;
        int in_tile;
        long long at = before + gd_block_scan(__popc(word), &in_tile);
        while (word) {
            const long long id = (w << 5) + __ffs(word) - 1;
            if (at >= count || id >= universe) gd_fail(2);
            if (at >= count) break;
            ids[at++] = (index_t)(first + (id < universe ? id : 0));
            word &= word - 1;
        }
        if (w == n - 1 && at < count) {
            gd_fail(2);
            while (at < count) ids[at++] = (index_t)first;
        }
    }
}

// Fail unless every id lies in [0, universe); 0 takes the place of one that does not.
extern "C" __global__ void codec_check_ids(long long n, index_t *ids, long long universe) {
    GD_FOR(i, n) {
        if (ids[i] < 0 || (long long)ids[i] >= universe) {
            gd_fail(2);
            ids[i] = 0;
        }
    }
}

// The same for ids of 4 bytes (`narrow`) or 8 (`wide`; the other one is null), which become slots from `first` on.
extern "C" __global__ void codec_take_ids(long long n, const int *narrow, const long long *wide, long long universe,
                                          long long first, index_t *slots) {
    GD_FOR(i, n) {
        long long id = narrow ? narrow[i] : wide[i];
        if (id < 0 || id >= universe) {
            gd_fail(2);
            id = 0;
        }
        slots[i] = (index_t)(first + id);
    }
}
