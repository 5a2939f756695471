// What choosing from groups of candidates shares: the key of a group, whole numbers for biases, and what users'
// functions ask about a graph. Twins: selection.py.
#pragma once

#include "common/philox.cuh"

typedef long long gd_i64;

// Why a run ends that no user's function has failed in; those failures are above 0 (user.cuh).
#define GD_NO_BIAS -1
#define GD_ABOVE_BOUND -2
#define GD_NO_VERTEX -3
#define GD_NO_SIZE -4
#define GD_LARGE_SUM -5

// The key of the draws for one of the groups of an instance, say a place in its pool.
__device__ __forceinline__ gd_u64 gd_group_key(gd_u64 seed, int what, gd_i64 tag) {
    return gd_hash(gd_key(seed, what, 0), gd_key(seed, what, 1), (gd_u64)tag);
}

// How many of some candidates are chosen at most; `asked` is -1 for all.
__device__ __forceinline__ gd_i64 gd_wanted(gd_i64 size, gd_i64 asked, gd_i64 replace) {
    if (replace) return size > 0 ? asked : 0;
    return asked < 0 || asked > size ? size : asked;
}

__device__ __forceinline__ int gd_bit_length(gd_u64 value) { return value ? 64 - __clzll((gd_i64)value) : 0; }
__device__ __forceinline__ int gd_exponent(gd_i64 bits) {
    const int exponent = (int)(bits >> 52) & 2047;
    return exponent ? exponent : 1;
}

// A float above 0, given by its bits, in units of which the greatest of `count` has so many that their sum is below
// 2^62: rounded to the nearest, and 1 at least.
__device__ __forceinline__ gd_i64 gd_units_of_float(gd_i64 bits, gd_i64 greatest, gd_i64 count) {
    if (bits == 0) return 0;
    gd_u64 value = (gd_u64)bits & ((1ULL << 52) - 1);
    if (bits >> 52) value |= 1ULL << 52;
    const int by = 8 - gd_bit_length((gd_u64)count) - (gd_exponent(greatest) - gd_exponent(bits));
    if (by >= 0) return (gd_i64)(value << by);
    if (by < -54) return 1;
    value = (value + (1ULL << (-by - 1))) >> -by;
    return value ? (gd_i64)value : 1;
}

// 53 bits of a number as a fraction in [0, 1).
__device__ __forceinline__ double gd_fraction(gd_u64 number) {
    return __dmul_rn((double)(gd_i64)(number >> 11), 1.1102230246251565e-16);
}

__device__ __forceinline__ gd_i64 row_length(const gd_i64 *indptr, gd_i64 row) { return indptr[row + 1] - indptr[row]; }

// How many edges the vertex of a slot has: in a partition, of which only some slots have rows, by a table.
__device__ __forceinline__ gd_i64 length_of(const gd_i64 *indptr, const gd_i64 *degrees, gd_i64 mapped, gd_i64 slot) {
    return mapped ? degrees[slot] : row_length(indptr, slot);
}

// What the caller calls a vertex: by the table of names, or where base is 0 or more, that and its number.
__device__ __forceinline__ gd_i64 caller_id(const gd_i64 *names, gd_i64 base, gd_i64 vertex) {
    return vertex < 0 ? -1 : base < 0 ? names[vertex] : vertex + base;
}
// The number of a vertex that the caller names; -1 for -1, -2 where there is none.
__device__ __forceinline__ gd_i64 vertex_of(const gd_i64 *names, gd_i64 base, gd_i64 count, gd_i64 identity) {
    if (identity == -1) return -1;
    if (base >= 0) return identity >= base && identity < base + count ? identity - base : -2;
    gd_i64 low = 0, high = count;
    while (low < high) {
        const gd_i64 middle = (low + high) >> 1;
        if (names[middle] < identity) low = middle + 1;
        else high = middle;
    }
    return low < count && names[low] == identity ? low : -2;
}

// Whether a row, in ascending order, has a neighbour; row -1 has none.
template <class Index>
__device__ __forceinline__ bool has_edge(const gd_i64 *indptr, const Index *indices, gd_i64 row, gd_i64 neighbour) {
    if (row < 0) return false;
    gd_i64 low = indptr[row], high = indptr[row + 1];
    const gd_i64 end = high;
    while (low < high) {
        const gd_i64 middle = (low + high) >> 1;
        if ((gd_i64)indices[middle] < neighbour) low = middle + 1;
        else high = middle;
    }
    return low < end && (gd_i64)indices[low] == neighbour;
}
