// Draws by bias, one after the other, for an item of up to GD_FEW neighbours, or with replacement.
//
// Sources: Pandey et al., c-saw, Section IV-B, whose bipartite region search is exact with a fresh number for the two
// regions, and when it starts anew after that.
#pragma once
#include "neighbors/neighbors.cuh"
#include "common/search.cuh"

#define GD_REDRAWS 8
#define GD_MOST_REDRAWS 128
#define GD_REPEATED 1
#define GD_UPDATED 2
#define GD_BIPARTITE 3
#define GD_METHOD 7  // of a method's number; with GD_BITMAP or one more, what is chosen is seen by bits
#define GD_BITMAP 8

// The biases of a row by their sums; without sums, all are 1.
struct Row {
    const gd_i64 *sums;
    gd_i64 degree;

    __device__ __forceinline__ gd_u64 below(gd_i64 place) const {
        return sums ? (place ? (gd_u64)sums[place - 1] : 0) : (gd_u64)place;
    }
    __device__ __forceinline__ gd_u64 total() const { return below(degree); }
    // The place whose bias takes in a number: below(place) <= number < below(place + 1).
    __device__ __forceinline__ gd_i64 find(gd_u64 number) const {
        return sums ? gd_first_above(sums, 0, degree - 1, number, total()) : (gd_i64)number;
    }
    // A place of the two regions on either side of one, in proportion to the biases there.
    __device__ __forceinline__ gd_i64 find_beside(gd_i64 place, gd_u64 all, gd_u64 word) const {
        const gd_u64 low = below(place), width = below(place + 1) - low;
        const gd_u64 number = gd_digit(word, all - width);
        return find(number >= low ? number + width : number);
    }
};

__device__ __forceinline__ bool gd_among(const gd_i64 *chosen, int count, gd_i64 place) {
    for (int i = 0; i < count; ++i)
        if (chosen[i] == place) return true;
    return false;
}

// Put a place among `count` that ascend.
__device__ __forceinline__ void gd_keep_in_order(gd_i64 *chosen, int count, gd_i64 place) {
    int at = count;
    for (; at > 0 && chosen[at - 1] > place; --at) chosen[at] = chosen[at - 1];
    chosen[at] = place;
}

// What is chosen of a row as 64 bits in a register, each for one place of a row of up to 64, else for some that follow
// each other or, strided, for every 64th; then a bit that is set says that a search may find it.
template <bool BITS> struct Seen {
    gd_u64 bits;
    int shift;

    __device__ __forceinline__ Seen(gd_i64 method, gd_i64 degree) : bits(0), shift(0) {
        if (degree > 64 && (method & GD_BITMAP)) shift = gd_bits((gd_u64)degree - 1) - 6;
    }
    __device__ __forceinline__ gd_u64 bit(gd_i64 place) const { return 1ULL << ((place >> shift) & 63); }
    __device__ __forceinline__ bool has(const Row &row, const gd_i64 *chosen, int count, gd_i64 place) const {
        return (bits & bit(place)) && (row.degree <= 64 || gd_among(chosen, count, place));
    }
    __device__ __forceinline__ void add(gd_i64 place) { bits |= bit(place); }
};

template <> struct Seen<false> {
    __device__ __forceinline__ Seen(gd_i64, gd_i64) {}
    __device__ __forceinline__ bool has(const Row &, const gd_i64 *chosen, int count, gd_i64 place) const {
        return gd_among(chosen, count, place);
    }
    __device__ __forceinline__ void add(gd_i64) {}
};

// The place of a number among the biases that are left: those chosen, in ascending order, are skipped.
__device__ __forceinline__ gd_i64 gd_find_left(const Row &row, const gd_i64 *chosen, int count, gd_u64 number) {
    for (int i = 0; i < count; ++i) {
        const gd_u64 low = row.below(chosen[i]);
        if (number < low) break;
        number += row.below(chosen[i] + 1) - low;
    }
    return row.find(number);
}

template <bool BITS>
__device__ __forceinline__ gd_i64 gd_choose(const Row &row, const Seen<BITS> &seen, const gd_i64 *chosen, int count,
                                            gd_u64 left, gd_i64 method, Words &words) {
    const int redraws = method == GD_UPDATED || (!method && row.degree <= GD_FEW) ? 0
                        : method                                                  ? GD_MOST_REDRAWS
                                                                                  : GD_REDRAWS;
    const bool bipartite = method == GD_BIPARTITE;
    const gd_u64 total = row.total();
    for (int i = 0; i < redraws; ++i) {
        gd_u64 word = words.take();
        gd_i64 place = row.find(gd_digit(word, total));
        bool again = seen.has(row, chosen, count, place);
        if (bipartite && again) {
            word = words.take();
            place = row.find_beside(place, total, word);
            again = seen.has(row, chosen, count, place);
        } else if (bipartite) {
            words.skip();
        }
        if (!again) return place;
    }
    gd_u64 word = words.take();
    if (bipartite) words.skip();
    return gd_find_left(row, chosen, count, gd_digit(word, left));
}

// Draw s of an item, to be told apart from those before, which are in `chosen` in ascending order; it is put there.
template <bool BITS>
__device__ __forceinline__ gd_i64 gd_next(const Row &row, Seen<BITS> &seen, gd_i64 *chosen, int s, gd_u64 &left,
                                          gd_i64 method, Words &words) {
    const gd_i64 found = gd_choose(row, seen, chosen, s, left, method, words);
    seen.add(found);
    left -= row.below(found + 1) - row.below(found);
    gd_keep_in_order(chosen, s, found);
    return found;
}

// Of a row, all neighbours, or `count` with replacement, or up to GD_FEW without; as gd_draw_alike gives them. BITS:
// whether the method says by which bits what is chosen is seen.
template <bool BITS, class Read, class Emit>
__device__ __forceinline__ void gd_draw_by_bias(gd_u64 key, gd_u64 instance, const Row &row, gd_i64 count, bool replace,
                                                gd_i64 method, Read read, Emit emit) {
    if (!replace && count == row.degree) {
        gd_give(count, [](gd_i64 s) { return s; }, read, emit);
        return;
    }
    Words words(key, instance, 0);
    gd_u64 left = row.total();
    if (replace) {
        const auto place = [&](gd_i64) {
            gd_u64 word = words.take();
            return row.find(gd_digit(word, left));
        };
        gd_give_drawn(count, place, read, emit);
        return;
    }
    gd_i64 chosen[GD_FEW];
    Seen<BITS> seen(method, row.degree);
    const auto place = [&](gd_i64 s) { return gd_next(row, seen, chosen, (int)s, left, method & GD_METHOD, words); };
    gd_give_drawn(count, place, read, emit);
}
