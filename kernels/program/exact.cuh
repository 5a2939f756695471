// Exact sums of numbers in words of 32 bits: the order in which numbers are added does not matter. Twin: exact.py, which
// says what the words are.
#pragma once
#include "common/ordered.cuh"

#define GD_BINS 70

__device__ __forceinline__ void gd_add_word(long long *word, long long x) {
    if (x) atomicAdd((unsigned long long *)word, (unsigned long long)x);
}
// Add words at a place. Of a warp all of whose threads are here, one thread adds for all that add at the same place: they
// would wait for each other. Threads whose words are 0 only help.
__device__ __forceinline__ void gd_add_words(long long *place, const long long *words, int count) {
    const unsigned all = 0xffffffffu;
    if (__activemask() != all) {
        for (int i = 0; i < count; i++) gd_add_word(place + i, words[i]);
        return;
    }
    bool adds = false;
    for (int i = 0; i < count; i++) adds = adds || words[i];
    unsigned left = __ballot_sync(all, adds);
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
// The float nearest to an exact sum of floats, of two that are as near the even one.
__device__ inline double gd_exact_value(const long long *sum) {
    const bool above = sum[GD_BINS - 2], below = sum[GD_BINS - 1];
    if (above || below) return above && below ? gd_infinity() - gd_infinity() : above ? gd_infinity() : -gd_infinity();
    unsigned digits[GD_BINS];  // of 32 bits, the lowest one first: the sum, or if it is below 0 its opposite
    long long carry = 0;
    for (int i = 0; i < GD_BINS; i++) {
        const long long word = carry + (i < GD_BINS - 2 ? sum[i] : 0);
        digits[i] = (unsigned)word;
        carry = word >> 32;
    }
    const bool negative = carry < 0;
    unsigned long long more = 1;
    for (int i = 0; negative && i < GD_BINS; i++) {
        more += (unsigned)~digits[i];
        digits[i] = (unsigned)more;
        more >>= 32;
    }
    int top = GD_BINS - 1;
    while (top > 0 && digits[top] == 0) top--;
    if (digits[top] == 0) return 0.0;
    const int least = 32 * top + 31 - __clz(digits[top]) - 52;  // the bit of the sum that is the last one of 53
    unsigned long long bits;
    if (least <= 0) {
        bits = (unsigned long long)digits[1] << 32 | digits[0];  // a float counts the same multiples
    } else {
        const int word = least >> 5, shift = least & 31;
        unsigned long long mantissa = (unsigned long long)digits[word] | (unsigned long long)digits[word + 1] << 32;
        mantissa = mantissa >> shift;
        if (shift && word + 2 < GD_BINS) mantissa |= (unsigned long long)digits[word + 2] << (64 - shift);
        const int next = least - 1;
        const bool half = digits[next >> 5] >> (next & 31) & 1;
        bool rest = digits[next >> 5] & ((1u << (next & 31)) - 1);
        for (int i = 0; i < next >> 5; i++) rest = rest || digits[i];
        bits = ((unsigned long long)least << 52) + mantissa + (half && (rest || (mantissa & 1)));
        if (least > 2046 || bits >> 52 > 2046) bits = 2047ULL << 52;
    }
    return __longlong_as_double((long long)(bits | (unsigned long long)negative << 63));
}

// Integers are in their own order.
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
