// Sets of vertex numbers as bits of 32-bit words, for graphdask.comm.codec: setting, counting, ranking and listing.
// Rank and select over a bitmap with a prefix sum of word counts (Jacobson 1989, "Space-efficient static trees and
// graphs") orders a dense set without a sort. index_t is int or long long.
#include "common.cuh"

// Set bit ids[i] of words; the ids are distinct, words start at zero.
extern "C" __global__ void codec_set_bits(long long n, const index_t *ids, unsigned int *words, long long universe) {
    GD_FOR(i, n) {
        long long id = ids[i];
        if (id < 0 || id >= universe) {
            gd_fail(2);
            continue;
        }
        atomicOr(&words[id >> 5], 1u << (id & 31));
    }
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

// Write the set bits of word w as ids from offsets[w] on. The bits must be `count` in number and below `universe`.
extern "C" __global__ void codec_list_bits(long long n, const unsigned int *words, const long long *offsets,
                                           index_t *ids, long long count, long long universe) {
    GD_FOR(w, n) {
        unsigned int word = words[w];
        long long at = offsets[w];
        if (w == n - 1 && at + __popc(word) != count) gd_fail(2);
        while (word) {
            long long id = (w << 5) + __ffs(word) - 1;
            if (at >= count || id >= universe) {
                gd_fail(2);
                break;
            }
            ids[at++] = (index_t)id;
            word &= word - 1;
        }
    }
}

// Fail unless every id lies in [0, universe).
extern "C" __global__ void codec_check_ids(long long n, const index_t *ids, long long universe) {
    GD_FOR(i, n) {
        if (ids[i] < 0 || (long long)ids[i] >= universe) gd_fail(2);
    }
}
