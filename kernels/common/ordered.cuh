// Integers that are in the order of floats, and back. Twin: ordered.py.
#pragma once

// An integer for each float that is not NaN, in the same order; 0.0 and -0.0 have the same one.
__device__ __forceinline__ long long gd_ordered(double x) {
    const long long bits = __double_as_longlong(__dadd_rn(x, 0.0));
    return bits >= 0 ? bits : bits ^ 0x7fffffffffffffffLL;
}

// The float of such an integer; of one that no float has, `none`.
__device__ __forceinline__ double gd_of_ordered(long long key, double none) {
    const double value = __longlong_as_double(key >= 0 ? key : key ^ 0x7fffffffffffffffLL);
    return value == value ? value : none;
}
