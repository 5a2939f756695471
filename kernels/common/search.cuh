// Where a number is among sums of a row that ascend.
#pragma once
#include "common/hash.cuh"

#define GD_NEAR 16    // places that are halved and halved again
#define GD_GUESSES 3  // before that, at most

// How many binary places a number takes.
__device__ __forceinline__ int gd_bits(gd_u64 value) { return value ? 64 - __clzll((long long)value) : 0; }

// The first place from low to high - 1 whose sum is above a number, else high. Sums of many biases are near a line from 0
// before `low` to `upto` at high, which is above the number. So it is looked on both sides of where the line is, as far
// apart as sums of random numbers are off a line, about the root of their count. What is between them is a window; where
// it is not there, the rest is. That decides how soon the place is found, not which it is.
template <class Sum>
__device__ __forceinline__ long long gd_first_above(const Sum *sums, long long low, long long high, gd_u64 number,
                                                    gd_u64 upto) {
    gd_u64 under = 0;
    for (int i = 0; i < GD_GUESSES && high - low > GD_NEAR; ++i) {
        const long long size = high - low + 1, margin = 1LL << (gd_bits((gd_u64)size) >> 1);
        const float share = (float)(number - under) / (float)(upto - under);
        const long long middle = low + (long long)(share * (float)size);
        const long long a = middle - margin < low ? low : middle - margin < high ? middle - margin : high - 1;
        const long long b = middle + margin < high ? middle + margin : high - 1;
        const gd_u64 at_a = (gd_u64)sums[a], at_b = (gd_u64)sums[b];
        if (at_a > number) {
            high = a;
            upto = at_a;
        } else if (at_b <= number) {
            low = b + 1;
            under = at_b;
        } else {
            low = a + 1;
            under = at_a;
            high = b;
            upto = at_b;
        }
    }
    while (low < high) {
        const long long middle = (low + high) >> 1;
        if ((gd_u64)sums[middle] > number) high = middle;
        else low = middle + 1;
    }
    return low;
}
