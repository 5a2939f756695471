// Exponential keys, of which the smallest are kept: choosing in proportion to biases in one pass. Twin: keys.py, where
// the source is.
#pragma once
#include "functions/user.cuh"

// A 64-bit number as one with the exponential law whose rate is the bias.
__device__ __forceinline__ double gd_exponential_key(unsigned long long number, double bias) {
    const double uniform = __dmul_rn((double)(long long)((number >> 11) + 1), 1.1102230246251565e-16);
    return __ddiv_rn(-gd_logarithm(uniform), bias);
}

// Whether the key of a number may be another one or less: without the logarithm, as -log(u) is 1 - u at least.
__device__ __forceinline__ bool gd_may_be_less(unsigned long long number, double bias, double than) {
    const double least = __dmul_rn((double)(long long)(((1ULL << 53) - 1) - (number >> 11)), 1.1102230246251565e-16);
    return __dmul_rn(least, 1.0 - 9.313225746154785e-10) <= __dmul_rn(than, bias);
}

// Keep a key, with its place, among `made` ascending ones, of which there are `count` at most; how many there are then.
// Where there are `count` already, it is less than the last one.
__device__ __forceinline__ long long gd_keep_key(double *keys, long long *places, long long made, long long count,
                                                 double key, long long place) {
    long long at = made - (made == count);
    made = at + 1;
    for (; at > 0 && key < keys[at - 1]; --at) {
        keys[at] = keys[at - 1];
        places[at] = places[at - 1];
    }
    keys[at] = key;
    places[at] = place;
    return made;
}
