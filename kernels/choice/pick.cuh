// One edge of a row, drawn with probability bias / (sum of the biases of the row): every edge alike, by rejection, by
// inverse transform in prefix sums, from an alias table, and by exponential keys (Pandey et al., c-saw, Section II-B; M. Vose, "A linear
// algorithm for generating random numbers with a given distribution", 1991). Tables: graphdask/sample/biases.py.
//
// Biases are compared and summed as whole numbers, `units`: of an integer it is the integer itself, of a float the float
// in multiples of 2^-shift, where `shift` belongs to the row. So every way draws an edge with probability units / (sum of
// the units of the row), to within 2^-64 times the row's length, and with the same bits on every device.
//
// Draws: the block of 128 bits of counter (instance, step, draw), of which the first 64 bits say which edge, or where in
// the sum, and the second 64 bits whether it is kept. Each trial takes a block of its own, and `draw` is counted up.
// Twins: pick.py.
#pragma once

#include "choice/keys.cuh"
#include "common/philox.cuh"
#include "common/search.cuh"

#define GD_UNIFORM 0
#define GD_REJECTION 1
#define GD_INVERSE 2
#define GD_ALIAS 3
#define GD_RESERVOIR 6

#define GD_SPARSE 32    // edges for each entry of sparse prefix sums
#define GD_REJECTS 16   // rows whose greatest bias is more than so many mean ones are not drawn by rejection
#define GD_TRIALS 512   // of rejection; then it is the sparse prefix sums after all, which changes no probability

// 2^k, for k from -1022 to 1023.
__device__ __forceinline__ double gd_power(int k) { return __longlong_as_double((long long)(k + 1023) << 52); }

// A float times 2^shift, rounded to the nearest; what is above 0 stays so. Two factors, because 2^shift may be too large
// for a double; the products are exact, but where they are below 1.
__device__ __forceinline__ gd_u64 gd_units(double value, int shift) {
    if (!(value > 0.0)) return 0;
    const int half = shift >> 1;
    const double scaled = __dmul_rn(__dmul_rn(value, gd_power(half)), gd_power(shift - half));
    gd_u64 whole = (gd_u64)scaled;
    if (__dsub_rn(scaled, (double)whole) >= 0.5) whole++;
    return whole ? whole : 1;
}
__device__ __forceinline__ gd_u64 gd_units(float value, int shift) { return gd_units((double)value, shift); }
// An integer is itself; tables that need it halve it -shift times likewise.
__device__ __forceinline__ gd_u64 gd_units(long long value, int shift) {
    if (shift >= 0 || value <= 0) return (gd_u64)value;
    const gd_u64 whole = ((gd_u64)value + (1ULL << (-shift - 1))) >> -shift;
    return whole ? whole : 1;
}
__device__ __forceinline__ gd_u64 gd_units(int value, int shift) { return gd_units((long long)value, shift); }

// What is known of the biases of all edges; `table` is the sparse prefix sums, prefix sums or shares of the alias table,
// after the method, and `shifts` are those of float biases.
template <class Bias> struct gd_biases {
    const Bias *values, *greatest;
    const gd_u64 *totals;
    const int *shifts;
    const gd_u64 *table;
    const int *other;
};
__device__ __forceinline__ int gd_shift(const gd_biases<double> &b, long long row) { return b.shifts[row]; }
__device__ __forceinline__ int gd_shift(const gd_biases<float> &b, long long row) { return b.shifts[row]; }
__device__ __forceinline__ int gd_shift(const gd_biases<long long> &, long long) { return 0; }
__device__ __forceinline__ int gd_shift(const gd_biases<int> &, long long) { return 0; }

// Every edge of [begin, end) alike; -1 where there is none.
__device__ __forceinline__ long long gd_pick_uniform(long long begin, long long end, gd_u64 number) {
    return begin < end ? begin + (long long)gd_digit(number, (gd_u64)(end - begin)) : -1;
}

// By inclusive prefix sums that begin at 0 in each row: the first edge whose sum is above a number below the total.
__device__ __forceinline__ long long gd_pick_inverse(const gd_u64 *prefix, long long begin, long long end,
                                                     gd_u64 number) {
    if (begin >= end || prefix[end - 1] == 0) return -1;
    const gd_u64 total = prefix[end - 1], digit = gd_digit(number, total);
    return gd_first_above(prefix, begin, end - 1, digit, total);
}

// The same by sparse prefix sums: sparse[k] is that of edge GD_SPARSE * (k + 1) - 1. What lies between is summed here.
template <class Bias>
__device__ __forceinline__ long long gd_pick_sparse(const Bias *values, int shift, gd_u64 total, const gd_u64 *sparse,
                                                    long long begin, long long end, gd_u64 number) {
    if (total == 0) return -1;
    const gd_u64 digit = gd_digit(number, total);
    const long long first = begin / GD_SPARSE;
    const long long low = gd_first_above(sparse, first, end / GD_SPARSE, digit, total);
    gd_u64 sum = low == first ? 0 : sparse[low - 1];
    long long e = low == first ? begin : GD_SPARSE * low;
    while (e < end - 1 && (sum += gd_units(values[e], shift)) <= digit) e++;
    return e;
}

// From an alias table: an edge of all alike, and this one or the other that shares its place.
__device__ __forceinline__ long long gd_pick_alias(const gd_u64 *share, const int *other, gd_u64 total,
                                                   long long begin, long long end, gd_u64 first, gd_u64 second) {
    if (total == 0) return -1;
    const long long e = begin + (long long)gd_digit(first, (gd_u64)(end - begin));
    return gd_digit(second, total) < share[e] ? e : begin + other[e];
}

// By rejection: an edge of all alike is kept with probability bias / greatest. Rows of which most would be rejected, and
// draws that were rejected too often, go by the sparse prefix sums.
template <class Bias>
__device__ __forceinline__ long long gd_pick_rejection(const Bias *values, Bias greatest, int shift, gd_u64 total,
                                                       const gd_u64 *sparse, long long begin, long long end,
                                                       gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 &draw) {
    if (total == 0) return -1;
    const gd_u64 degree = (gd_u64)(end - begin), most = gd_units(greatest, shift);
    gd_u64 first, second;
    // totals are below 2^60
    if (__umul64hi(degree, most) == 0 && degree * most <= GD_REJECTS * total) {
        for (int trial = 0; trial < GD_TRIALS; trial++) {
            gd_philox(key, instance, step, draw++, first, second);
            const long long e = begin + (long long)gd_digit(first, degree);
            if (gd_digit(second, most) < gd_units(values[e], shift)) return e;
        }
    }
    gd_philox(key, instance, step, draw++, first, second);
    return gd_pick_sparse(values, shift, total, sparse, begin, end, first);
}

// By exponential keys, of which the smallest is chosen; two edges that follow each other have the numbers of one block.
template <class Bias>
__device__ __forceinline__ long long gd_pick_reservoir(const Bias *values, long long begin, long long end, gd_u64 key,
                                                       gd_u64 instance, gd_u32 step, gd_u32 draw) {
    const gd_u64 of_draw = gd_hash(gd_key(key, GD_DRAW_KEY, 0), gd_key(key, GD_DRAW_KEY, 1), (gd_u64)draw);
    long long chosen = -1;
    double least = 0.0;
    gd_u64 number, second = 0;
    for (long long e = begin; e < end; ++e) {
        if ((e - begin) & 1) number = second;
        else gd_philox(of_draw, instance, step, (gd_u32)((e - begin) >> 1), number, second);
        if (!(values[e] > 0)) continue;
        const double bias = (double)values[e];
        if (chosen >= 0 && !gd_may_be_less(number, bias, least)) continue;
        const double one = gd_exponential_key(number, bias);
        if (chosen < 0 || one < least) chosen = e, least = one;
    }
    return chosen;
}

// One edge of a row by the method of the tables.
template <class Bias>
__device__ __forceinline__ long long gd_pick(long long method, const gd_biases<Bias> &b, long long row, long long begin,
                                             long long end, gd_u64 key, gd_u64 instance, gd_u32 step, gd_u32 &draw) {
    if (begin >= end) return -1;
    if (method == GD_REJECTION)
        return gd_pick_rejection(b.values, b.greatest[row], gd_shift(b, row), b.totals[row], b.table, begin, end, key,
                                 instance, step, draw);
    if (method == GD_RESERVOIR) return gd_pick_reservoir(b.values, begin, end, key, instance, step, draw++);
    gd_u64 first, second;
    gd_philox(key, instance, step, draw++, first, second);
    if (method == GD_INVERSE) return gd_pick_inverse(b.table, begin, end, first);
    if (method == GD_ALIAS) return gd_pick_alias(b.table, b.other, b.totals[row], begin, end, first, second);
    return gd_pick_uniform(begin, end, first);
}
