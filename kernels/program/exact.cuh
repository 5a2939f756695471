// Exact sums of numbers in words of 32 bits: the order in which numbers are added does not matter. Twin: exact.py, which
// says what the words are.
#pragma once

#define GD_BINS 70

__device__ __forceinline__ void gd_add_word(long long *word, long long x) {
    if (x) atomicAdd((unsigned long long *)word, (unsigned long long)x);
}
// Add words at a place. Of a warp all of whose threads are here, one thread adds for all that add at the same place: they
// would wait for each other.
__device__ __forceinline__ void gd_add_words(long long *place, const long long *words, int count) {
    const unsigned all = 0xffffffffu;
    if (__activemask() != all) {
        for (int i = 0; i < count; i++) gd_add_word(place + i, words[i]);
        return;
    }
    unsigned left = all;
    while (left) {
        const int leader = __ffs(left) - 1;
        long long *const here = (long long *)__shfl_sync(all, (unsigned long long)place, leader);
        const bool mine = place == here;
        for (int i = 0; i < count; i++) {
            long long word = mine ? words[i] : 0;
            for (int step = 16; step; step >>= 1) word += __shfl_xor_sync(all, word, step);
            if ((int)(threadIdx.x & 31) == leader) gd_add_word(here + i, word);
        }
        left &= ~__ballot_sync(all, mine);
    }
}
__device__ __forceinline__ void gd_add_integer(long long *sums, int k, long long x) {
    const long long words[2] = {(long long)((unsigned long long)x & 0xffffffffULL), x >> 32};
    gd_add_words(sums + k * GD_BINS, words, 2);
}
__device__ __forceinline__ void gd_add_float(long long *sums, int k, double x) {
    long long *place = sums + k * GD_BINS;
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    int exponent = (int)(bits >> 52 & 2047);
    if (exponent == 2047) {
        gd_add_word(place + (x > 0.0 ? GD_BINS - 2 : GD_BINS - 1), 1);
        return;
    }
    unsigned long long mantissa = bits & ((1ULL << 52) - 1);
    if (exponent > 0) {
        mantissa |= 1ULL << 52;
        exponent--;
    }
    place += exponent >> 5;
    const int shift = exponent & 31;
    const unsigned long long low = (mantissa & 0xffffffffULL) << shift, high = (mantissa >> 32) << shift;
    const long long sign = x < 0.0 ? -1 : 1;
    const long long words[3] = {sign * (long long)(low & 0xffffffffULL),
                                sign * (long long)((low >> 32) + (high & 0xffffffffULL)), sign * (long long)(high >> 32)};
    gd_add_words(place, words, 3);
}
__device__ __forceinline__ void gd_take_least(long long *sums, int k, long long x) {
    if (x < *(volatile long long *)(sums + k * GD_BINS)) atomicMin(sums + k * GD_BINS, x);
}
// An integer for each float that is not NaN, in the same order.
__device__ __forceinline__ long long gd_ordered(double x) {
    const long long bits = __double_as_longlong(__dadd_rn(x, 0.0));
    return bits >= 0 ? bits : bits ^ 0x7fffffffffffffffLL;
}

__device__ __forceinline__ long long gd_ordered(long long x) { return x; }
__device__ __forceinline__ long long gd_ordered(unsigned char x) { return x; }
__device__ __forceinline__ long long gd_ordered(signed char x) { return x; }

// Minimum and maximum of floats that are not NaN nor -0: of those not below 0 the bits have the same order, of those
// below 0 the opposite one.
__device__ __forceinline__ void gd_atomic_min(double *address, double value) {
    if (value >= 0.0) atomicMin((long long *)address, __double_as_longlong(value));
    else atomicMax((unsigned long long *)address, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void gd_atomic_max(double *address, double value) {
    if (value >= 0.0) atomicMax((long long *)address, __double_as_longlong(value));
    else atomicMin((unsigned long long *)address, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void gd_atomic_max(long long *address, long long value) { atomicMax(address, value); }
